-- A hierarchy with its closure, and expenses with codes made of digits.

CREATE TABLE unit AS
SELECT
  i AS unit_id,
  'Unit ' || i AS unit_name,
  CASE WHEN i > 1 THEN i // 2 END AS parent_unit_id
FROM range(1, 64) t(i);

CREATE TABLE unit_closure AS
WITH RECURSIVE closure AS (
  SELECT unit_id AS ancestor_id, unit_id AS descendant_id, 0 AS depth
  FROM unit
  UNION ALL
  SELECT closure.ancestor_id, unit.unit_id, closure.depth + 1
  FROM closure
  JOIN unit ON unit.parent_unit_id = closure.descendant_id
)
SELECT * FROM closure;

CREATE TABLE expense AS
SELECT
  i AS expense_id,
  1 + hash(i) % 63 AS unit_id,
  DATE '2023-01-01' + (i % 365)::INT AS spent_on,
  ((i * 7919 % 1000 / 1000) * 900)::DECIMAL(10, 2) AS amount,
  100000 + (i * 7919) % 900000 AS source_code_1,
  (i % 2)::INT AS is_reimbursed
FROM range(1, 3001) t(i);
