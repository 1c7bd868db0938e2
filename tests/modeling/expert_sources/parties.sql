-- Persons and companies that share one range of numbers.

CREATE TABLE person AS
SELECT
  i * 2 AS party_id,
  'F' || i AS first_name,
  'L' || i AS last_name,
  DATE '1960-01-01' + (i * 31)::INT AS birth_date
FROM range(1, 201) t(i);

CREATE TABLE company AS
SELECT
  i * 2 + 1 AS party_id,
  'Company ' || i AS company_name,
  'DE' || (100000000 + i * 7919) AS vat_no
FROM range(1, 151) t(i);

CREATE TABLE contract AS
SELECT
  'C' || lpad(i::VARCHAR, 6, '0') AS contract_no,
  2 + (i * 7) % 300 AS party_id,
  DATE '2021-01-01' + (i % 800)::INT AS signed_on,
  ((i * 7919 % 1000 / 1000) * 9000)::DECIMAL(10, 2) AS premium
FROM range(1, 1001) t(i);
