-- Payments between accounts, and their balances at the end of each month.

CREATE TABLE client AS
SELECT
  i AS client_id,
  'Name ' || i AS full_name,
  DATE '1950-01-01' + (i * 37)::INT AS birth_date,
  ['Prague', 'Brno', 'Plzen'][1 + i % 3] AS city
FROM range(1, 301) t(i);

CREATE TABLE account AS
SELECT
  i AS account_id,
  1 + (i * 7) % 300 AS client_id,
  'CZ' || lpad((i * 7919)::VARCHAR, 10, '0') AS iban,
  DATE '2020-01-01' + (i % 700)::INT AS opened_on,
  ['checking', 'savings'][1 + i % 2] AS account_type,
  round((i * 7919 % 1000 / 1000) * 10000, 2)::DECIMAL(12, 2) AS credit_limit
FROM range(1, 401) t(i);

CREATE TABLE payment AS
SELECT
  i AS payment_id,
  1 + (i * 13) % 400 AS from_account_id,
  1 + (i * 29 + 5) % 400 AS to_account_id,
  TIMESTAMP '2023-01-01' + INTERVAL (i * 17) MINUTE AS booked_at,
  (10 + (i * 7919 % 1000 / 1000) * 990)::DECIMAL(10, 2) AS amount,
  ['card', 'wire', 'cash'][1 + i % 3] AS method,
  ['EUR', 'CZK'][1 + i % 2] AS currency
FROM range(1, 20001) t(i);

CREATE TABLE account_balance AS
SELECT
  a.account_id,
  d::DATE AS balance_date,
  (1000 + ((a.account_id * 31 + month(d) * 97) * 7919 % 1000 / 1000) * 5000)::DECIMAL(12, 2) AS balance,
  (((a.account_id * 31 + month(d) * 97) * 7919 % 1000 / 1000) * 50)::DECIMAL(12, 2) AS blocked_amount
FROM account a, range(DATE '2023-01-31', DATE '2024-01-31', INTERVAL 1 MONTH) t(d);
