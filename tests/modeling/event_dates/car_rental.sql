-- A car rental company.
-- rental_contract: booked_on
-- damage_report: reported_on
-- toll_charge: passed_at
CREATE TABLE car AS SELECT i AS car_id, 'Model ' || i % 12 AS model_name, 'PL-' || (1000 + i) AS plate, ['small', 'van', 'large'][1 + i % 3] AS class FROM range(1, 81) t(i);
CREATE TABLE customer AS SELECT i AS customer_id, 'Name ' || i AS customer_name, 'Town ' || i % 30 AS town FROM range(1, 301) t(i);
CREATE TABLE rental_contract AS SELECT i AS contract_id, 1 + i % 80 AS car_id, 1 + i * 7 % 300 AS customer_id, b AS booked_on, b + (3 + i % 20)::INT AS pickup_due, CASE WHEN b < DATE '2024-11-10' THEN b + (3 + i % 20)::INT END AS picked_up_on, b + (6 + i % 20)::INT AS return_due, CASE WHEN b < DATE '2024-10-25' THEN b + (6 + i % 22)::INT END AS returned_on, ['open', 'out', 'closed'][1 + i % 3] AS status, 50 + i * 13 % 400 AS total_price FROM (SELECT i, DATE '2023-01-02' + (i * 37 % 700)::INT AS b FROM range(1, 1001) t(i));
CREATE TABLE damage_report AS SELECT i AS report_id, 1 + i * 3 % 1000 AS contract_id, CASE WHEN i % 3 THEN DATE '2023-01-02' + (i * 37 % 700)::INT - (i % 4)::INT END AS occurred_on, DATE '2023-01-02' + (i * 37 % 700)::INT AS reported_on, CASE WHEN i % 2 THEN DATE '2023-01-02' + (i * 37 % 700)::INT + (5 + i % 9)::INT END AS repaired_on, 20 + i * 31 % 900 AS estimated_cost FROM range(1, 301) t(i);
CREATE TABLE toll_charge AS SELECT i AS charge_id, 1 + i * 7 % 1000 AS contract_id, DATE '2023-01-02' + (i * 37 % 700)::INT + (2 + i % 5)::INT AS posted_on, (DATE '2023-01-02' + (i * 37 % 700)::INT) + INTERVAL (i * 13 % 1440) MINUTE AS passed_at, 1 + i % 90 / 10.0 AS amount FROM range(1, 1501) t(i);
