-- Staff whose cost is shared out, their leave month by month, and candidates who apply.

CREATE TEMP MACRO chance(x) AS (hash(x) % 1000000007)::INTEGER;

CREATE TABLE calendar AS
SELECT
  DATE '2022-01-01' + i::INT AS cal_date,
  year(DATE '2022-01-01' + i::INT) AS cal_year,
  month(DATE '2022-01-01' + i::INT) AS cal_month,
  isodow(DATE '2022-01-01' + i::INT) < 6 AS is_workday
FROM range(0, 1461) t(i);

CREATE TABLE cost_center AS
SELECT 'CC' || 10 + i AS cc_code, 'Cost center ' || i AS cc_name, i % 7 > 0 AS is_active
FROM range(1, 31) t(i);

CREATE TABLE employee AS
SELECT
  100000 + i * 3 AS emp_no,
  'First' || i % 70 AS first_name,
  'Last' || i AS last_name,
  DATE '1965-01-01' + (chance(i) % 13000) AS birth_date,
  DATE '2022-01-01' + (chance(i * 3) % 300) AS hire_date,
  ['S', 'M', 'D'][1 + i % 3] AS marital_status
FROM range(1, 401) t(i);

CREATE TABLE cc_allocation AS
SELECT
  100000 + i * 3 AS emp_no,
  'CC' || 10 + 1 + (i + k * 11) % 30 AS cc_code,
  DATE '2023-01-01' + (chance(i) % 300) AS valid_from,
  CASE WHEN i % 3 > 0 THEN 100 WHEN k = 0 THEN 50 + 10 * (i % 4) ELSE 50 - 10 * (i % 4) END
    AS alloc_pct
FROM range(1, 401) t(i), range(0, 2) u(k)
WHERE k = 0 OR i % 3 = 0;

CREATE TABLE leave_balance AS
WITH taken AS (
  SELECT i, m, [0, 0, 1, 2, 5][1 + chance(i * 12 + m) % 5] AS taken
  FROM range(1, 301) t(i), range(1, 13) u(m)
),
moved AS (
  SELECT *, 10 + i % 9 + sum(2.08 - taken) OVER (PARTITION BY i ORDER BY m) AS closing FROM taken
)
SELECT
  100000 + i * 3 AS emp_no,
  '2024-' || lpad(m::VARCHAR, 2, '0') AS year_month,
  (closing - 2.08 + taken)::DECIMAL(6, 2) AS opening_days,
  2.08::DECIMAL(6, 2) AS accrued_days,
  taken::DECIMAL(6, 2) AS taken_days,
  closing::DECIMAL(6, 2) AS closing_days
FROM moved;

CREATE TABLE candidate AS
SELECT 900000 + i AS candidate_id, 'Name' || i || ' Sur' || i % 90 AS full_name,
  ['Agency', 'Website'][1 + i % 2] AS source
FROM range(1, 601) t(i);

CREATE TABLE requisition AS
SELECT 'REQ' || 1000 + i AS req_no, 'Job ' || i % 20 AS job_title,
  DATE '2023-01-01' + (i * 4)::INT AS opened_on
FROM range(1, 121) t(i);

CREATE TABLE application AS
WITH step AS (
  SELECT i, DATE '2023-02-01' + (chance(i) % 600) AS applied_on, chance(i * 5) % 4 AS steps
  FROM range(1, 1501) t(i)
)
SELECT
  900000 + 1 + i % 600 AS candidate_id,
  'REQ' || 1000 + 1 + (i * 7) // 10 % 120 AS req_no,
  applied_on,
  CASE WHEN steps >= 1 THEN applied_on + (3 + chance(i) % 9) END AS interviewed_on,
  CASE WHEN steps >= 2 THEN applied_on + (14 + chance(i) % 9) END AS offered_on,
  CASE WHEN steps >= 3 THEN applied_on + (25 + chance(i) % 9) END AS hired_on,
  ['APPLIED', 'INTERVIEWED', 'OFFERED', 'HIRED'][1 + steps] AS stage
FROM step;


CREATE TABLE timesheet AS
SELECT DISTINCT 100000 + (1 + chance(i) % 400) * 3 AS emp_no,
  DATE '2024-01-01' + (chance(i * 3) % 365) AS work_date,
  'P' || 2000 + chance(i * 5) % 40 AS project_code,
  [1, 2, 4, 7.5, 8][1 + chance(i * 7) % 5]::DECIMAL(4, 2) AS hours
FROM range(1, 3001) t(i);
