-- A district court.
-- case_filing: filed_date
-- hearing: scheduled_date
-- fine_payment: paid_on
CREATE TABLE judge AS SELECT i AS judge_id, 'Judge ' || i AS judge_name, 'Chamber ' || i % 6 AS chamber FROM range(1, 31) t(i);
CREATE TABLE courtroom AS SELECT i AS room_id, 'Room ' || i AS room_name, 20 + i % 60 AS seats FROM range(1, 25) t(i);
CREATE TABLE case_filing AS SELECT i AS case_id, 1 + i % 30 AS judge_id, CASE WHEN DATE '2023-01-02' + (i * 37 % 700)::INT < DATE '2024-11-01' THEN DATE '2023-01-02' + (i * 37 % 700)::INT + (20 + i % 25)::INT END AS first_hearing_date, DATE '2023-01-02' + (i * 37 % 700)::INT AS filed_date, CASE WHEN DATE '2023-01-02' + (i * 37 % 700)::INT < DATE '2024-06-01' AND i % 9 THEN DATE '2023-01-02' + (i * 37 % 700)::INT + (90 + i % 70)::INT END AS closed_date, ['civil', 'penal', 'family'][1 + i % 3] AS case_type, ['pending', 'heard', 'closed'][1 + i % 3] AS status FROM range(1, 1001) t(i);
CREATE TABLE hearing AS SELECT i AS hearing_id, 1 + i % 1000 AS case_id, 1 + i * 7 % 24 AS room_id, DATE '2023-01-02' + (i * 37 % 700)::INT AS scheduled_date, CASE WHEN i % 4 THEN DATE '2023-01-02' + (i * 37 % 700)::INT + (i % 8 = 0)::INT END AS held_date, CASE WHEN i % 4 THEN 15 + i * 7 % 200 END AS duration_min FROM range(1, 1501) t(i);
CREATE TABLE fine_payment AS SELECT i AS payment_id, 1 + i * 3 % 1000 AS case_id, DATE '2023-01-02' + (i * 37 % 700)::INT + (1 + i % 4)::INT AS cleared_on, DATE '2023-01-02' + (i * 37 % 700)::INT AS paid_on, 30 + i * 17 % 500 AS amount FROM range(1, 601) t(i);
