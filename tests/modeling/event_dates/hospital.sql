-- A hospital's emergency department and pharmacy.
-- emergency_visit: arrival_ts
-- prescription: prescribed_date
-- lab_result: collected_ts
CREATE TABLE patient AS SELECT i AS patient_id, 'First' || i % 40 AS first_name, 'Last' || i AS last_name, DATE '1950-01-01' + (i * 91 % 20000)::INT AS birth_date FROM range(1, 201) t(i);
CREATE TABLE drug AS SELECT i AS drug_id, 'Drug ' || i AS drug_name, 'Form ' || i % 4 AS form FROM range(1, 41) t(i);
CREATE TABLE lab_test AS SELECT i AS test_id, 'Test ' || i AS test_name, 'mg' AS unit_name FROM range(1, 31) t(i);
CREATE TABLE emergency_visit AS SELECT i AS visit_id, 1 + i % 200 AS patient_id, a AS arrival_ts, a + INTERVAL (5 + i % 20) MINUTE AS triage_ts, a + INTERVAL (40 + i % 90) MINUTE AS seen_ts, CASE WHEN i % 700 > 60 THEN a + INTERVAL (200 + i % 600) MINUTE END AS discharge_ts, ['home', 'ward', 'transfer'][1 + i % 3] AS disposition FROM (SELECT i, (DATE '2024-12-01' - (i % 700)::INT) + INTERVAL (i * 7 % 1440) MINUTE AS a FROM range(1, 1201) t(i));
CREATE TABLE prescription AS SELECT i AS rx_id, 1 + i * 3 % 200 AS patient_id, 1 + i % 40 AS drug_id, DATE '2023-01-02' + (i * 37 % 700)::INT AS prescribed_date, DATE '2023-01-02' + (i * 37 % 700)::INT + (i % 3)::INT AS start_date, CASE WHEN i % 4 THEN DATE '2023-01-02' + (i * 37 % 700)::INT + (10 + i % 30)::INT END AS end_date, 1 + i % 90 AS days_supply, 5 + i % 60 AS quantity FROM range(1, 901) t(i);
CREATE TABLE lab_result AS SELECT i AS result_id, 1 + i * 5 % 1200 AS visit_id, 1 + i % 30 AS test_id, r + INTERVAL 90 MINUTE AS resulted_ts, r AS collected_ts, r + INTERVAL 30 MINUTE AS received_ts, round(i * 17 % 997 / 7.0, 2) AS result_value FROM (SELECT i, (DATE '2023-01-02' + (i * 37 % 700)::INT) + INTERVAL (i * 11 % 1440) MINUTE AS r FROM range(1, 1501) t(i));
