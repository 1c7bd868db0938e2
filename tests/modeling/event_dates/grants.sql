-- A foundation that gives grants.
-- application: submitted_on
-- disbursement: paid_date
-- site_visit: visit_date
CREATE TABLE applicant AS SELECT i AS applicant_id, 'Organisation ' || i AS applicant_name, 'Country ' || i % 20 AS country_name FROM range(1, 161) t(i);
CREATE TABLE programme AS SELECT i AS programme_id, 'Programme ' || i AS programme_name, 1000000 + i * 50000 AS budget FROM range(1, 21) t(i);
CREATE TABLE application AS SELECT i AS application_id, 1 + i % 160 AS applicant_id, 1 + i * 7 % 20 AS programme_id, DATE '2023-01-02' + (i * 37 % 700)::INT AS submitted_on, CASE WHEN DATE '2023-01-02' + (i * 37 % 700)::INT < DATE '2024-10-20' THEN DATE '2023-01-02' + (i * 37 % 700)::INT + 30 END AS reviewed_on, CASE WHEN DATE '2023-01-02' + (i * 37 % 700)::INT < DATE '2024-09-01' THEN DATE '2023-01-02' + (i * 37 % 700)::INT + (60 + i % 30)::INT END AS decided_on, ['in review', 'granted', 'refused'][1 + i % 3] AS status, 5000 + i * 173 % 90000 AS amount_requested FROM range(1, 901) t(i);
CREATE TABLE disbursement AS SELECT i AS disbursement_id, 1 + i * 3 % 900 AS application_id, DATE '2023-01-02' + (i * 37 % 700)::INT - (i % 6)::INT AS scheduled_date, DATE '2023-01-02' + (i * 37 % 700)::INT AS paid_date, (DATE '2023-01-02' + (i * 37 % 700)::INT) + INTERVAL (26 + i % 9) HOUR AS entered_at, 500 + i * 71 % 9000 AS amount FROM range(1, 601) t(i);
CREATE TABLE site_visit AS SELECT i AS visit_id, 1 + i * 7 % 900 AS application_id, DATE '2023-01-02' + (i * 37 % 700)::INT - 21 AS announced_on, DATE '2023-01-02' + (i * 37 % 700)::INT AS visit_date, DATE '2023-01-02' + (i * 37 % 700)::INT + (3 + i % 10)::INT AS report_received_on, 1 + i % 5 AS rating FROM range(1, 301) t(i);
