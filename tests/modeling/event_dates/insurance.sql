-- An insurer's motor claims.
-- claim: loss_date notified_date
-- reserve_change: effective_date
-- survey: survey_date
-- premium_invoice: invoice_date
CREATE TABLE policy AS SELECT i AS policy_id, 'POL' || (10000 + i) AS policy_no, 'Holder ' || i AS holder_name, 'Tariff ' || i % 6 AS tariff FROM range(1, 301) t(i);
CREATE TABLE surveyor AS SELECT i AS surveyor_id, 'Surveyor ' || i AS surveyor_name, 'Region ' || i % 7 AS region FROM range(1, 41) t(i);
CREATE TABLE claim AS SELECT i AS claim_id, 1 + i % 300 AS policy_id, DATE '2023-01-02' + (i * 37 % 700)::INT + (1 + i % 12)::INT AS notified_date, DATE '2023-01-02' + (i * 37 % 700)::INT AS loss_date, CASE WHEN DATE '2023-01-02' + (i * 37 % 700)::INT < DATE '2024-08-01' THEN DATE '2023-01-02' + (i * 37 % 700)::INT + (40 + i % 90)::INT END AS settled_date, ['open', 'settled', 'denied'][1 + i % 3] AS status, 200 + i * 113 % 9000 AS incurred FROM range(1, 901) t(i);
CREATE TABLE reserve_change AS SELECT i AS change_id, 1 + i * 7 % 900 AS claim_id, (DATE '2023-01-02' + (i * 37 % 700)::INT) + INTERVAL (25 + i % 20) HOUR AS entered_at, DATE '2023-01-02' + (i * 37 % 700)::INT AS effective_date, 100 + i * 29 % 4000 AS amount FROM range(1, 1201) t(i);
CREATE TABLE survey AS SELECT i AS survey_id, 1 + i * 3 % 900 AS claim_id, 1 + i % 40 AS surveyor_id, DATE '2023-01-02' + (i * 37 % 700)::INT - (4 + i % 8)::INT AS ordered_on, DATE '2023-01-02' + (i * 37 % 700)::INT AS survey_date, DATE '2023-01-02' + (i * 37 % 700)::INT + (1 + i % 5)::INT AS report_date, 100 + i * 47 % 5000 AS damage_amount FROM range(1, 501) t(i);
CREATE TABLE premium_invoice AS SELECT i AS invoice_id, 1 + i % 300 AS policy_id, DATE '2023-01-02' + (i * 37 % 700)::INT + 14 AS cover_from, DATE '2023-01-02' + (i * 37 % 700)::INT + 378 AS cover_to, DATE '2023-01-02' + (i * 37 % 700)::INT AS invoice_date, DATE '2023-01-02' + (i * 37 % 700)::INT + 30 AS due_date, CASE WHEN DATE '2023-01-02' + (i * 37 % 700)::INT < DATE '2024-10-15' THEN DATE '2023-01-02' + (i * 37 % 700)::INT + (9 + i % 30)::INT END AS paid_date, 90 + i * 31 % 700 AS amount FROM range(1, 701) t(i);
