-- Shapes of points, and services by weekday with exceptions.

CREATE TABLE shapes AS
SELECT
  'S' || s AS shape_id,
  p AS shape_pt_sequence,
  40 + ((s * 60 + p) * 7919 % 1000 / 1000) AS shape_pt_lat,
  -73 + ((s * 60 + p) * 7919 % 1000 / 1000) AS shape_pt_lon
FROM range(1, 41) t(s), range(1, 61) u(p);

CREATE TABLE calendar AS
SELECT
  'W' || i AS service_id,
  (i % 2)::INT AS monday,
  1 AS tuesday,
  1 AS wednesday,
  1 AS thursday,
  (i % 2)::INT AS friday,
  (i % 3 = 0)::INT AS saturday,
  (i % 3 = 0)::INT AS sunday,
  20240101 AS start_date,
  20240630 AS end_date
FROM range(1, 9) t(i);

CREATE TABLE calendar_dates AS
SELECT
  'W' || (1 + i % 8) AS service_id,
  strftime(DATE '2024-01-15' + (i * 3)::INT, '%Y%m%d')::INT AS date,
  1 + i % 2 AS exception_type
FROM range(0, 40) t(i);

CREATE TABLE routes AS
SELECT
  'R' || i AS route_id,
  'Line ' || i AS route_long_name,
  3 AS route_type
FROM range(1, 13) t(i);

CREATE TABLE trips AS
SELECT
  'T' || i AS trip_id,
  'R' || (1 + i % 12) AS route_id,
  'W' || (1 + i % 8) AS service_id,
  'S' || (1 + i % 40) AS shape_id,
  i % 2 AS direction_id
FROM range(1, 501) t(i);

CREATE TABLE stops AS
SELECT
  'ST' || i AS stop_id,
  'Stop ' || i AS stop_name,
  40 + (i * 7919 % 1000 / 1000) AS stop_lat,
  -73 + (i * 7919 % 1000 / 1000) AS stop_lon
FROM range(1, 121) t(i);

CREATE TABLE stop_times AS
SELECT
  'T' || t AS trip_id,
  s AS stop_sequence,
  'ST' || (1 + (t * 7 + s * 3) % 120) AS stop_id,
  lpad((6 + s // 6)::VARCHAR, 2, '0') || ':' || lpad(((s * 10) % 60)::VARCHAR, 2, '0') || ':00' AS arrival_time
FROM range(1, 501) a(t), range(1, 21) b(s);
