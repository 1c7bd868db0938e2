-- A recruiter.
-- job_application: applied_at
-- interview: interview_date
-- reference_check: completed_on requested_on
CREATE TABLE candidate AS SELECT i AS candidate_id, 'First' || i % 70 AS first_name, 'Last' || i AS last_name, 'c' || i || '@example.org' AS email FROM range(1, 401) t(i);
CREATE TABLE vacancy AS SELECT i AS vacancy_id, 'Position ' || i AS job_title, 'Department ' || i % 9 AS department FROM range(1, 61) t(i);
CREATE TABLE recruiter AS SELECT i AS recruiter_id, 'Recruiter ' || i AS recruiter_name, 'Office ' || i % 5 AS office FROM range(1, 31) t(i);
CREATE TABLE job_application AS SELECT i AS application_id, 1 + i % 400 AS candidate_id, 1 + i * 7 % 60 AS vacancy_id, a AS applied_at, CASE WHEN a < TIMESTAMP '2024-11-15' THEN a + INTERVAL (2 + i % 6) DAY END AS screened_at, CASE WHEN a < TIMESTAMP '2024-10-15' AND i % 2 THEN a + INTERVAL (12 + i % 9) DAY END AS interviewed_at, CASE WHEN a < TIMESTAMP '2024-09-01' AND i % 8 = 1 THEN a + INTERVAL (30 + i % 9) DAY END AS offered_at, ['new', 'screened', 'rejected', 'offer'][1 + i % 4] AS status FROM (SELECT i, (DATE '2023-01-02' + (i * 37 % 700)::INT) + INTERVAL (i * 13 % 1440) MINUTE AS a FROM range(1, 1201) t(i));
CREATE TABLE interview AS SELECT i AS interview_id, 1 + i * 3 % 1200 AS application_id, 1 + i % 30 AS recruiter_id, DATE '2023-01-02' + (i * 37 % 700)::INT - (3 + i % 6)::INT AS invited_on, DATE '2023-01-02' + (i * 37 % 700)::INT AS interview_date, (DATE '2023-01-02' + (i * 37 % 700)::INT) + INTERVAL (30 + i % 40) HOUR AS feedback_at, 1 + i * 7 % 10 AS score FROM range(1, 601) t(i);
CREATE TABLE reference_check AS SELECT i AS check_id, 1 + i * 11 % 1200 AS application_id, 1 + i * 7 % 30 AS recruiter_id, DATE '2023-01-02' + (i * 37 % 700)::INT AS requested_on, CASE WHEN i % 3 THEN DATE '2023-01-02' + (i * 37 % 700)::INT + (4 + i % 9)::INT END AS completed_on FROM range(1, 301) t(i);
