-- A star schema: sales, stocks, and the sums of the sales.

CREATE TABLE DimDate AS
SELECT
  strftime(d, '%Y%m%d')::INT AS DateKey,
  d::DATE AS FullDate,
  year(d) AS CalendarYear,
  month(d) AS MonthNumber,
  monthname(d) AS MonthName,
  dayname(d) AS DayName,
  quarter(d) AS CalendarQuarter
FROM range(DATE '2022-01-01', DATE '2024-01-01', INTERVAL 1 DAY) t(d);

CREATE TABLE DimProduct AS
SELECT
  i AS ProductKey,
  'P-' || lpad(i::VARCHAR, 5, '0') AS ProductAlternateKey,
  'Product ' || i AS ProductName,
  ['red', 'blue', 'green'][1 + i % 3] AS Color,
  ((i * 7919 % 1000 / 1000) * 100)::DECIMAL(8, 2) AS ListPrice
FROM range(1, 121) t(i);

CREATE TABLE DimCustomer AS
SELECT
  i AS CustomerKey,
  'AW' || lpad(i::VARCHAR, 8, '0') AS CustomerAlternateKey,
  'First ' || i AS FirstName,
  'Last ' || i AS LastName,
  ['Berlin', 'Paris', 'Rome', 'Oslo'][1 + i % 4] AS City
FROM range(1, 501) t(i);

CREATE TABLE DimPromotion AS
SELECT
  i AS PromotionKey,
  'Promo ' || i AS PromotionName,
  (i * 0.05)::DECIMAL(4, 2) AS DiscountPct,
  DATE '2022-01-01' + (i * 20)::INT AS StartDate,
  DATE '2022-02-01' + (i * 20)::INT AS EndDate
FROM range(1, 17) t(i);

CREATE TABLE FactSales AS
SELECT
  'SO' || (40000 + i // 3) AS SalesOrderNumber,
  1 + i % 3 AS SalesOrderLineNumber,
  1 + (i * 7) % 120 AS ProductKey,
  1 + ((i // 3) * 11) % 500 AS CustomerKey,
  1 + (i * 5) % 16 AS PromotionKey,
  strftime(DATE '2022-01-01' + ((i // 3) % 700)::INT, '%Y%m%d')::INT AS OrderDateKey,
  strftime(DATE '2022-01-08' + ((i // 3) % 700)::INT, '%Y%m%d')::INT AS ShipDateKey,
  1 + (i % 5)::INT AS OrderQuantity,
  (5 + (i * 7) % 120)::DECIMAL(8, 2) AS UnitPrice,
  ((1 + (i % 5)) * (5 + (i * 7) % 120))::DECIMAL(10, 2) AS SalesAmount,
  (((1 + (i % 5)) * (5 + (i * 7) % 120)) * 0.08)::DECIMAL(10, 2) AS TaxAmt
FROM range(0, 15000) t(i);

CREATE TABLE AggSalesByProductMonth AS
SELECT
  ProductKey,
  OrderDateKey // 100 AS MonthKey,
  sum(OrderQuantity)::BIGINT AS TotalQuantity,
  sum(SalesAmount)::DECIMAL(14, 2) AS TotalSales
FROM FactSales GROUP BY ALL;

CREATE TABLE FactInventory AS
SELECT
  p.ProductKey,
  strftime(d, '%Y%m%d')::INT AS DateKey,
  (((p.ProductKey * 31 + month(d) * 97) * 7919 % 1000 / 1000) * 500)::INT AS UnitsBalance,
  (((p.ProductKey * 31 + month(d) * 97) * 7919 % 1000 / 1000) * 50)::INT AS UnitsIn,
  (((p.ProductKey * 31 + month(d) * 97) * 7919 % 1000 / 1000) * 50)::INT AS UnitsOut,
  p.ListPrice AS UnitCost
FROM DimProduct p, range(DATE '2022-01-31', DATE '2023-12-31', INTERVAL 1 MONTH) t(d);
