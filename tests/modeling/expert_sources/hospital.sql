-- Measurements that carry the same moment twice, and orders that pass through stages.

CREATE TABLE patients AS
SELECT
  i AS patient_id,
  ['M', 'F'][1 + i % 2] AS gender,
  DATE '1940-01-01' + (i * 29)::INT AS dob,
  CASE WHEN i % 7 = 0 THEN DATE '2020-01-01' + i::INT END AS dod
FROM range(1, 301) t(i);

CREATE TABLE admissions AS
SELECT
  10000 + i AS admission_id,
  1 + (i * 7) % 300 AS patient_id,
  TIMESTAMP '2018-01-01' + INTERVAL (i * 311) MINUTE AS admittime,
  TIMESTAMP '2018-01-01' + INTERVAL (i * 311 + 5000) MINUTE AS dischtime,
  CASE WHEN i % 11 = 0 THEN TIMESTAMP '2018-01-01' + INTERVAL (i * 311 + 4900) MINUTE END AS deathtime,
  ['EMERGENCY', 'ELECTIVE'][1 + i % 2] AS admission_type,
  'DIAG ' || i % 90 AS diagnosis
FROM range(1, 801) t(i);

CREATE TABLE d_labitems AS
SELECT
  50000 + i AS itemid,
  'Lab ' || i AS label,
  ['Blood', 'Urine'][1 + i % 2] AS fluid
FROM range(1, 61) t(i);

CREATE TABLE labevents AS
SELECT
  i AS row_id,
  1 + ((1 + hash(i * 3) % 800) * 7) % 300 AS patient_id,
  10001 + hash(i * 3) % 800 AS admission_id,
  50001 + hash(i) % 60 AS itemid,
  TIMESTAMP '2018-01-01' + INTERVAL (i * 7) MINUTE AS charttime,
  (TIMESTAMP '2018-01-01' + INTERVAL (i * 7) MINUTE)::DATE AS chartdate,
  TIMESTAMP '2018-01-01' + INTERVAL (i * 7 + 30) MINUTE AS storetime,
  CASE WHEN i % 9 = 0 THEN NULL ELSE round((i * 7919 % 1000 / 1000) * 200, 1) END AS valuenum,
  ['mg/dL', 'mmol/L'][1 + i % 2] AS valueuom,
  CASE WHEN i % 15 = 0 THEN 'abnormal' END AS flag
FROM range(1, 20001) t(i);

CREATE TABLE orders AS
SELECT
  i AS order_id,
  1 + (i * 7) % 300 AS patient_id,
  TIMESTAMP '2019-01-01' + INTERVAL (i * 60) MINUTE AS requested_at,
  CASE WHEN i % 10 < 8 THEN TIMESTAMP '2019-01-01' + INTERVAL (i * 60 + 100) MINUTE END AS approved_at,
  CASE WHEN i % 10 < 6 THEN TIMESTAMP '2019-01-01' + INTERVAL (i * 60 + 300) MINUTE END AS shipped_at,
  CASE WHEN i % 10 < 4 THEN TIMESTAMP '2019-01-01' + INTERVAL (i * 60 + 900) MINUTE END AS delivered_at,
  ((i * 7919 % 1000 / 1000) * 300)::DECIMAL(8, 2) AS total_amount
FROM range(1, 1001) t(i);
