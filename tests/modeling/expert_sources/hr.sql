-- Employees as they are today, and the jobs they had before.

CREATE TABLE department AS
SELECT
  i AS department_id,
  'Dept ' || i AS department_name,
  ['Berlin', 'Paris', 'Rome'][1 + i % 3] AS city
FROM range(1, 13) t(i);

CREATE TABLE job AS
SELECT
  'J' || lpad(i::VARCHAR, 3, '0') AS job_id,
  'Job ' || i AS job_title,
  1000 * i AS min_salary,
  3000 * i AS max_salary
FROM range(1, 20) t(i);

CREATE TABLE employee AS
SELECT
  i AS employee_id,
  'First' || i % 50 AS first_name,
  'Last' || i AS last_name,
  'e' || i || '@corp.com' AS email,
  DATE '2010-01-01' + (i * 11)::INT AS hire_date,
  'J' || lpad((1 + i % 19)::VARCHAR, 3, '0') AS job_id,
  (2000 + (i * 7919 % 1000 / 1000) * 8000)::DECIMAL(10, 2) AS salary,
  CASE WHEN i>10 THEN 1 + i % 10 END AS manager_id,
  1 + i % 12 AS department_id,
  ['active', 'on leave', 'left'][1 + i % 3] AS status
FROM range(1, 301) t(i);

CREATE TABLE job_history AS
SELECT
  1 + i % 300 AS employee_id,
  DATE '2005-01-01' + (i * 5)::INT AS start_date,
  DATE '2005-06-01' + (i * 5)::INT AS end_date,
  'J' || lpad((1 + i % 19)::VARCHAR, 3, '0') AS job_id,
  1 + i % 12 AS department_id
FROM range(1, 401) t(i);
