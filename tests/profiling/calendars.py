"""A calendar, and sales that refer to its days by numbers such as 20240131."""

CALENDAR = (
    "CREATE TABLE dim_date AS SELECT CAST(strftime(d, '%Y%m%d') AS INTEGER) AS date_key,"
    " CAST(d AS DATE) AS full_date, year(d) AS year, month(d) AS month, quarter(d) AS quarter"
    " FROM range(DATE '2023-11-01', DATE '2024-05-01', INTERVAL 1 DAY) AS t (d)"
)
SALES = (
    "CREATE TABLE sales AS SELECT i + 700 AS sale_id, CAST(strftime(DATE '2023-11-01'"
    " + CAST(i * 7 % 180 AS INTEGER), '%Y%m%d') AS INTEGER) AS date_key,"
    " CAST(i % 19 + 0.5 AS DECIMAL(8,2)) AS amount FROM range(400) AS t (i)"
)
