-- A mobile operator.
-- call_record: start_ts
-- bill: issued_on
-- topup: credited_at
-- number_port: requested_on
CREATE TABLE subscriber AS SELECT i AS subscriber_id, '+4479' || (1000000 + i * 37) AS msisdn, 'Plan ' || i % 8 AS plan_name, DATE '2019-01-01' + (i * 11 % 900)::INT AS activated_on FROM range(1, 301) t(i);
CREATE TABLE cell AS SELECT i AS cell_id, 'Site ' || i AS site_name, 'Region ' || i % 9 AS region FROM range(1, 61) t(i);
CREATE TABLE call_record AS SELECT i AS call_id, 1 + i % 300 AS subscriber_id, 1 + i * 7 % 60 AS cell_id, s + INTERVAL (3 + i % 400) MINUTE AS rated_at, s AS start_ts, CASE WHEN i % 5 THEN s + INTERVAL 6 SECOND END AS answer_ts, s + INTERVAL (10 + i % 900) SECOND AS end_ts, 10 + i % 900 AS duration_s, i % 97 / 100.0 AS charge FROM (SELECT i, (DATE '2023-01-02' + (i * 37 % 700)::INT) + INTERVAL (i * 29 % 86400) SECOND AS s FROM range(1, 2001) t(i));
CREATE TABLE bill AS SELECT i AS bill_id, 1 + i % 300 AS subscriber_id, m AS period_start, m + 29 AS period_end, m + (31 + i % 3)::INT AS issued_on, m + 45 AS due_on, CASE WHEN m < DATE '2024-10-01' THEN m + (33 + i % 11)::INT END AS paid_on, 10 + i * 17 % 60 AS amount FROM (SELECT i, DATE '2023-01-01' + 30 * (i % 24)::INT AS m FROM range(1, 1201) t(i));
CREATE TABLE topup AS SELECT i AS topup_id, 1 + i * 11 % 300 AS subscriber_id, c - INTERVAL (i % 4) MINUTE AS created_at, c AS credited_at, 5 * (1 + i % 6) AS amount FROM (SELECT i, (DATE '2023-01-02' + (i * 37 % 700)::INT) + INTERVAL (i * 31 % 1440) MINUTE AS c FROM range(1, 801) t(i));
CREATE TABLE number_port AS SELECT i AS port_id, 1 + i * 13 % 300 AS subscriber_id, DATE '2023-01-02' + (i * 37 % 700)::INT AS requested_on, DATE '2023-01-02' + (i * 37 % 700)::INT + 5 AS scheduled_for, CASE WHEN i % 6 AND DATE '2023-01-02' + (i * 37 % 700)::INT < DATE '2024-11-01' THEN DATE '2023-01-02' + (i * 37 % 700)::INT + (5 + i % 4)::INT END AS completed_on, CASE WHEN i % 6 = 0 THEN DATE '2023-01-02' + (i * 37 % 700)::INT + 2 END AS rejected_on, ['open', 'done', 'rejected'][1 + i % 3] AS status FROM range(1, 401) t(i);
