-- A bank's cards and loans.
-- card_transaction: auth_ts
-- repayment: value_date booking_date
-- cheque: written_date deposited_date
CREATE TABLE card AS SELECT i AS card_id, 'Holder ' || i AS holder_name, ['debit', 'credit'][1 + i % 2] AS card_type, DATE '2020-01-01' + (i * 13 % 800)::INT AS issued_on FROM range(1, 251) t(i);
CREATE TABLE merchant AS SELECT i AS merchant_id, 'Shop ' || i AS merchant_name, 'Category ' || i % 12 AS category FROM range(1, 91) t(i);
CREATE TABLE loan AS SELECT i AS loan_id, 1 + i % 250 AS card_id, 'Loan ' || i AS loan_name, 1000 + i * 91 % 20000 AS principal_sum FROM range(1, 121) t(i);
CREATE TABLE card_transaction AS SELECT i AS txn_id, 1 + i % 250 AS card_id, 1 + i * 7 % 90 AS merchant_id, CASE WHEN a < TIMESTAMP '2024-11-28' THEN a::DATE + (1 + i % 3)::INT END AS settlement_date, CASE WHEN a < TIMESTAMP '2024-11-28' THEN a::DATE + (1 + i % 4)::INT END AS posting_date, a AS auth_ts, 1 + i * 37 % 5000 / 10.0 AS amount FROM (SELECT i, (DATE '2023-01-02' + (i * 37 % 700)::INT) + INTERVAL (i * 23 % 1440) MINUTE AS a FROM range(1, 2501) t(i));
CREATE TABLE repayment AS SELECT i AS repayment_id, 1 + i % 120 AS loan_id, DATE '2023-01-02' + (i * 37 % 700)::INT - (i % 5)::INT AS due_date, DATE '2023-01-02' + (i * 37 % 700)::INT AS value_date, DATE '2023-01-02' + (i * 37 % 700)::INT + (i % 3)::INT AS booking_date, 50 + i * 13 % 300 AS principal, 1 + i % 40 AS interest FROM range(1, 1001) t(i);
CREATE TABLE cheque AS SELECT i AS cheque_id, 1 + i * 3 % 250 AS card_id, DATE '2023-01-02' + (i * 37 % 700)::INT AS written_date, DATE '2023-01-02' + (i * 37 % 700)::INT + (1 + i % 9)::INT AS deposited_date, CASE WHEN i % 12 THEN DATE '2023-01-02' + (i * 37 % 700)::INT + (3 + i % 12)::INT END AS cleared_date, 20 + i * 19 % 900 AS amount FROM range(1, 401) t(i);
