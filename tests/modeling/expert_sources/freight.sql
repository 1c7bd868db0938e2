-- Bookings of containers that were built years before, invoiced in several currencies.

CREATE TEMP MACRO chance(x) AS (hash(x) % 1000000007)::INTEGER;

CREATE TABLE currency (code VARCHAR PRIMARY KEY, currency_name VARCHAR);
INSERT INTO currency VALUES ('USD', 'Dollar'), ('EUR', 'Euro'), ('CNY', 'Yuan');

CREATE TABLE party (
  party_id INTEGER PRIMARY KEY,
  party_name VARCHAR,
  credit_limit DECIMAL(12, 2),
  credit_ccy VARCHAR REFERENCES currency,
  created_at TIMESTAMP
);
INSERT INTO party
SELECT
  i,
  'Trader ' || i,
  1000 * (1 + chance(i) % 90),
  ['USD', 'EUR', 'CNY'][1 + i % 3],
  TIMESTAMP '2018-01-01' + INTERVAL (chance(i) % 1500) DAY
FROM range(1, 61) t(i);

CREATE TABLE container_type (iso_code VARCHAR PRIMARY KEY, type_name VARCHAR);
INSERT INTO container_type VALUES ('22G1', 'Dry'), ('42G1', 'Long dry'), ('45R1', 'Reefer');

CREATE TABLE container (
  container_no VARCHAR PRIMARY KEY,
  iso_code VARCHAR REFERENCES container_type,
  owner_id INTEGER REFERENCES party,
  tare_kg INTEGER,
  manufactured DATE
);
INSERT INTO container
SELECT
  'MSKU' || 1000000 + i * 7,
  ['22G1', '42G1', '45R1'][1 + i % 3],
  1 + chance(i) % 60,
  [2200, 3800, 3900, 4600][1 + i % 4],
  DATE '2005-01-01' + (chance(i * 5) % 6500)
FROM range(1, 301) t(i);

CREATE TABLE booking (
  booking_no VARCHAR PRIMARY KEY,
  shipper_id INTEGER REFERENCES party,
  booked_at TIMESTAMP,
  confirmed_at TIMESTAMP,
  loaded_at TIMESTAMP,
  discharged_at TIMESTAMP,
  status VARCHAR,
  ccy VARCHAR REFERENCES currency,
  quoted_amount DECIMAL(12, 2),
  updated_at TIMESTAMP
);
INSERT INTO booking
WITH booked AS (
  SELECT i, TIMESTAMP '2023-01-01' + INTERVAL (i * 500 + chance(i) % 300) MINUTE AS booked_at
  FROM range(1, 901) t(i)
)
SELECT
  'BK' || 2300000 + i * 3,
  1 + chance(i * 3) % 60,
  booked_at,
  booked_at + INTERVAL (10 + chance(i) % 40) HOUR,
  CASE WHEN i <= 840 AND i % 40 > 0 THEN booked_at + INTERVAL (15 + chance(i) % 9) DAY END,
  CASE WHEN i <= 800 AND i % 40 > 0 THEN booked_at + INTERVAL (30 + chance(i) % 9) DAY END,
  CASE WHEN i % 40 = 0 THEN 'CANCELLED' WHEN i <= 800 THEN 'DONE' ELSE 'OPEN' END,
  ['USD', 'EUR', 'CNY'][1 + chance(i) % 3],
  (800 + chance(i * 11) % 1900000 / 100)::DECIMAL(12, 2),
  booked_at + INTERVAL 40 DAY
FROM booked;

CREATE TABLE booking_line (
  booking_no VARCHAR REFERENCES booking,
  line_no INTEGER,
  packages INTEGER,
  declared_value DECIMAL(12, 2),
  declared_ccy VARCHAR REFERENCES currency,
  PRIMARY KEY (booking_no, line_no)
);
INSERT INTO booking_line
SELECT
  'BK' || 2300000 + i * 3,
  k,
  1 + chance(i * 13 + k) % 400,
  (1000 + chance(i * 17 + k) % 19000000 / 100)::DECIMAL(12, 2),
  ['USD', 'EUR', 'CNY'][1 + chance(i + k) % 3]
FROM range(1, 901) t(i), range(1, 4) u(k);

CREATE TABLE container_move (
  move_id INTEGER PRIMARY KEY,
  container_no VARCHAR REFERENCES container,
  booking_no VARCHAR REFERENCES booking,
  moved_at TIMESTAMP
);
INSERT INTO container_move
SELECT
  i * 4 + k,
  'MSKU' || 1000000 + (1 + chance(i) % 300) * 7,
  booking_no,
  booked_at + INTERVAL (k * 9 + 5) DAY
FROM
  (SELECT row_number() OVER (ORDER BY booking_no) AS i, booking_no, booked_at FROM booking) b,
  range(0, 4) u(k);

CREATE TABLE invoice (
  invoice_no VARCHAR PRIMARY KEY,
  booking_no VARCHAR REFERENCES booking,
  issued_on DATE,
  paid_on DATE,
  ccy VARCHAR REFERENCES currency,
  net_amount DECIMAL(12, 2),
  status VARCHAR
);
CREATE TABLE invoice_line (
  invoice_no VARCHAR REFERENCES invoice,
  line_no INTEGER,
  container_no VARCHAR REFERENCES container,
  quantity INTEGER,
  unit_price DECIMAL(12, 2),
  amount DECIMAL(12, 2),
  PRIMARY KEY (invoice_no, line_no)
);
CREATE TEMP TABLE line AS
SELECT
  'INV-' || 100000 + i AS invoice_no,
  k AS line_no,
  CASE WHEN k < 4 THEN 'MSKU' || 1000000 + (1 + chance(i) % 300) * 7 END AS container_no,
  1 + chance(i * 19 + k) % 6 AS quantity,
  (100 + chance(i * 23 + k) % 300000 / 100)::DECIMAL(12, 2) AS unit_price
FROM range(1, 801) t(i), range(1, 5) u(k);
INSERT INTO invoice
SELECT
  'INV-' || 100000 + i,
  booking_no,
  (booked_at + INTERVAL 20 DAY)::DATE,
  CASE WHEN i < 760 THEN (booked_at + INTERVAL (25 + chance(i) % 30) DAY)::DATE END,
  ccy,
  (
    SELECT sum(quantity * unit_price) FROM line
    WHERE line.invoice_no = 'INV-' || 100000 + i
  ),
  CASE WHEN i < 760 THEN 'PAID' ELSE 'OPEN' END
FROM (SELECT row_number() OVER (ORDER BY booking_no) AS i, * FROM booking)
WHERE i <= 800;
INSERT INTO invoice_line
SELECT invoice_no, line_no, container_no, quantity, unit_price, quantity * unit_price FROM line;
DROP TABLE line;

CREATE TABLE yard_stock_daily (
  snapshot_date DATE,
  iso_code VARCHAR,
  load_status VARCHAR,
  containers INTEGER,
  teu DOUBLE,
  arrivals INTEGER,
  PRIMARY KEY (snapshot_date, iso_code, load_status)
);
INSERT INTO yard_stock_daily
WITH arrival AS (
  SELECT d, k, s, chance(d * 31 + k * 7 + s) % 31 AS arrivals
  FROM range(0, 90) t(d), range(0, 6) u(k), range(0, 2) v(s)
),
stock AS (
  SELECT
    *,
    300 + 40 * k
    + sum(arrivals - 15) OVER (PARTITION BY k, s ORDER BY d) AS containers
  FROM arrival
)
SELECT
  DATE '2024-09-01' + d::INT,
  'T' || k,
  ['FULL', 'EMPTY'][1 + s],
  containers,
  containers * (1 + k % 2),
  arrivals
FROM stock;
