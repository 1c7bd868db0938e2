-- A haulier.
-- consignment: booked_at
-- scan_event: scanned_at
-- freight_invoice: invoice_date
CREATE TABLE party AS SELECT i AS party_id, 'Company ' || i AS party_name, 'Town ' || i % 50 AS town FROM range(1, 151) t(i);
CREATE TABLE depot AS SELECT i AS depot_id, 'Depot ' || i AS depot_name, 'Zone ' || i % 5 AS zone FROM range(1, 31) t(i);
CREATE TABLE consignment AS SELECT i AS consignment_id, 1 + i % 150 AS shipper_id, 1 + i * 7 % 150 AS consignee_id, b + INTERVAL 1 DAY AS planned_pickup, b AS booked_at, b + INTERVAL (20 + i % 20) HOUR AS collected_at, b + INTERVAL 3 DAY AS planned_delivery, CASE WHEN b < TIMESTAMP '2024-11-15' THEN b + INTERVAL (50 + i % 60) HOUR END AS delivered_at, 10 + i * 37 % 900 AS weight_kg FROM (SELECT i, (DATE '2023-01-02' + (i * 37 % 700)::INT) + INTERVAL (i * 17 % 1440) MINUTE AS b FROM range(1, 1201) t(i));
CREATE TABLE scan_event AS SELECT i AS scan_id, 1 + i % 1200 AS consignment_id, 1 + i * 11 % 30 AS depot_id, s + INTERVAL (1 + i % 300) MINUTE AS uploaded_at, s AS scanned_at FROM (SELECT i, (DATE '2023-01-02' + (i * 37 % 700)::INT) + INTERVAL (i * 19 % 1440) MINUTE AS s FROM range(1, 3001) t(i));
CREATE TABLE freight_invoice AS SELECT 70000 + i AS invoice_no, 1 + i * 3 % 150 AS shipper_id, DATE '2023-01-02' + (i * 37 % 700)::INT - 3 AS service_date, DATE '2023-01-02' + (i * 37 % 700)::INT + 30 AS due_date, DATE '2023-01-02' + (i * 37 % 700)::INT AS invoice_date, DATE '2023-01-02' + (i * 37 % 700)::INT + (i % 3)::INT AS posted_date, 100 + i * 41 % 2000 AS amount FROM range(1, 701) t(i);
