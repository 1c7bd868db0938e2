-- A secondary school.
-- attendance: lesson_date
-- exam_result: sat_on
-- detention: incident_date issued_date
-- enrolment: enrolled_on
CREATE TABLE student AS SELECT i AS student_id, 'First' || i % 60 AS first_name, 'Last' || i AS last_name, DATE '2006-01-01' + (i * 7 % 1500)::INT AS date_of_birth FROM range(1, 201) t(i);
CREATE TABLE section AS SELECT i AS section_id, 'Section ' || i AS section_name, 'Room ' || i % 12 AS room FROM range(1, 26) t(i);
CREATE TABLE exam AS SELECT i AS exam_id, 'Exam ' || i AS exam_title, 'Subject ' || i % 9 AS subject FROM range(1, 31) t(i);
CREATE TABLE attendance AS SELECT s AS student_id, DATE '2024-09-02' + d::INT AS lesson_date, 1 + (s * 3 + d) % 25 AS section_id, ['present', 'absent', 'late'][1 + (s * d) % 3] AS mark, (DATE '2024-09-02' + d::INT) + INTERVAL (600 + s % 400) MINUTE AS recorded_at FROM range(1, 201) a(s), range(0, 12) b(d);
CREATE TABLE exam_result AS SELECT i AS result_id, 1 + i % 200 AS student_id, 1 + i * 7 % 30 AS exam_id, DATE '2023-01-02' + (i * 37 % 700)::INT + 20 AS published_on, DATE '2023-01-02' + (i * 37 % 700)::INT AS sat_on, DATE '2023-01-02' + (i * 37 % 700)::INT + (5 + i % 8)::INT AS marked_on, 20 + i * 13 % 80 AS score FROM range(1, 901) t(i);
CREATE TABLE detention AS SELECT i AS detention_id, 1 + i * 3 % 200 AS student_id, DATE '2023-01-02' + (i * 37 % 700)::INT AS incident_date, DATE '2023-01-02' + (i * 37 % 700)::INT + (i % 3)::INT AS issued_date, CASE WHEN i % 5 THEN DATE '2023-01-02' + (i * 37 % 700)::INT + (4 + i % 6)::INT END AS served_date, 15 * (1 + i % 4) AS minutes FROM range(1, 301) t(i);
CREATE TABLE enrolment AS SELECT i AS enrolment_id, 1 + i % 200 AS student_id, 1 + i * 11 % 25 AS section_id, DATE '2023-01-02' + (i * 37 % 700)::INT AS enrolled_on, CASE WHEN i % 20 = 0 THEN DATE '2023-01-02' + (i * 37 % 700)::INT + 40 END AS withdrawn_on FROM range(1, 801) t(i);
