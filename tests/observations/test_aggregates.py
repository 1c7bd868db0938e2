"""Tables that hold the totals of another."""

from pathlib import Path

import pytest

from fluid_build.observations.aggregate_candidates import Part
from fluid_build.observations.aggregates import Aggregate
from tests.observations.sources import observed

_STAR = (
    """
    CREATE TABLE product_class AS
    SELECT i AS product_class_id, 'Family ' || (i % 3) AS product_family,
      'Class ' || i AS class_name
    FROM range(10) AS t(i)
    """,
    """
    CREATE TABLE product AS
    SELECT i AS product_id, i % 10 AS product_class_id, 'Product ' || i AS product_name
    FROM range(60) AS t(i)
    """,
    """
    CREATE TABLE time_by_day AS
    SELECT 300 + i AS time_id, DATE '1997-01-01' + CAST(i AS INTEGER) AS the_date,
      month(the_date) AS month_of_year, 'Q' || quarter(the_date) AS quarter,
      year(the_date) AS the_year
    FROM range(730) AS t(i)
    """,
    """
    CREATE TABLE sales AS
    SELECT 300 + (i * 7919) % 730 AS time_id, (i * 31) % 60 AS product_id,
      (i * 17) % 200 AS customer_id,
      CAST((i * 37) % 1000 / 100 + 1 AS DECIMAL(10, 2)) AS store_sales,
      1 + (i * 13) % 5 AS unit_sales
    FROM range(8000) AS t(i)
    """,
)


def _aggregates(folder: Path, totals: str) -> tuple[Aggregate, ...]:
    return observed(folder, *_STAR, totals).aggregates


def test_totals_by_columns_of_referenced_tables_are_recognised(tmp_path: Path) -> None:
    """A month and a family are reached over one reference and over two."""
    (aggregate,) = _aggregates(
        tmp_path,
        """
        CREATE TABLE agg_month_family AS
        SELECT month_of_year, the_year, product_family, sum(store_sales) AS store_sales,
          sum(unit_sales) AS unit_sales, count(DISTINCT product_id) AS product_count,
          count(*) AS fact_count
        FROM sales JOIN time_by_day USING (time_id) JOIN product USING (product_id)
          JOIN product_class USING (product_class_id)
        GROUP BY ALL
        """,
    )
    assert (aggregate.table, aggregate.detail) == ("agg_month_family", "sales")
    assert {column.column: column.function for column in aggregate.columns} == {
        "month_of_year": "group",
        "the_year": "group",
        "product_family": "group",
        "store_sales": "sum",
        "unit_sales": "sum",
        "product_count": "count_distinct",
        "fact_count": "count",
    }
    assert aggregate.is_exact
    assert "GROUP BY ALL" in aggregate.query


@pytest.mark.parametrize(
    ("day", "part"),
    [
        ("sold_on", "day"),
        ("date_trunc('month', sold_on)", "month"),
        ("year(sold_on)", "year_number"),
    ],
)
def test_totals_by_parts_of_a_date_are_recognised(tmp_path: Path, day: str, part: str) -> None:
    """A day, a first day of a month, and the number of a year."""
    aggregates = observed(
        tmp_path,
        """
        CREATE TABLE orders AS
        SELECT i AS order_id, TIMESTAMP '1990-01-01' + INTERVAL (i * 7) HOUR AS sold_on,
          (i * 37) % 1000 / 10 AS amount
        FROM range(8000) AS t(i)
        """,
        f"""
        CREATE TABLE totals AS
        SELECT CAST({day} AS {"INTEGER" if "year(" in day else "DATE"}) AS period_year,
          round(sum(amount), 1) AS amount, count(*) AS number_of_orders
        FROM orders
        GROUP BY ALL
        """,
    ).aggregates
    assert [column.of.part for a in aggregates for column in a.columns[:1] if column.of] == [part]
    assert all(aggregate.is_exact for aggregate in aggregates)


def test_totals_that_differ_in_a_row_are_reported_as_inexact(tmp_path: Path) -> None:
    """One wrong total is enough."""
    (aggregate,) = observed(
        tmp_path,
        *_STAR,
        """
        CREATE TABLE agg_product AS
        SELECT product_id, sum(store_sales) AS store_sales FROM sales GROUP BY ALL
        """,
        "UPDATE agg_product SET store_sales = store_sales + 1 WHERE product_id = 7",
    ).aggregates
    assert not aggregate.is_exact
    assert (aggregate.rows, aggregate.matched, aggregate.missing) == (60, 59, 0)


def test_a_column_that_is_not_derived_makes_a_table_of_its_own(tmp_path: Path) -> None:
    """A target per product isn't a total of its sales."""
    assert not _aggregates(
        tmp_path,
        """
        CREATE TABLE target AS
        SELECT product_id, sum(store_sales) AS store_sales, product_id * 97 % 89 AS target_units
        FROM sales GROUP BY ALL
        """,
    )


def test_totals_of_some_groups_only_are_no_aggregate(tmp_path: Path) -> None:
    """A year of two can't be computed from the details without knowing which."""
    assert not _aggregates(
        tmp_path,
        """
        CREATE TABLE agg_1997 AS
        SELECT time_id, sum(store_sales) AS store_sales FROM sales WHERE time_id < 665 GROUP BY ALL
        """,
    )


@pytest.mark.parametrize(
    ("totals", "column"),
    [("agg_sales_1997", "period"), ("agg_sales", "period"), ("agg_1997_sales", "channel")],
)
def test_totals_of_one_part_are_recognised(tmp_path: Path, totals: str, column: str) -> None:
    """Of the part that their own name says, or of any one period."""
    other = "1998" if column == "period" else "other"
    (aggregate,) = observed(
        tmp_path,
        *_STAR,
        f"ALTER TABLE sales ADD COLUMN {column} VARCHAR",
        f"UPDATE sales SET {column} = CASE WHEN time_id < 665 THEN '1997' ELSE '{other}' END",
        f"""
        CREATE TABLE {totals} AS
        SELECT time_id, sum(store_sales) AS store_sales, count(*) AS fact_count
        FROM sales WHERE {column} = '1997' GROUP BY ALL
        """,
    ).aggregates
    assert aggregate.is_exact
    assert aggregate.part == Part(column, "1997")
    assert aggregate.summed == f"sales where {column} is 1997"
    assert aggregate.query.count("= '1997'") == 1


def test_totals_of_a_part_that_no_name_says_are_no_aggregate(tmp_path: Path) -> None:
    """Any column divides rows; only a period, or what the name says, is a part by itself."""
    assert not observed(
        tmp_path,
        *_STAR,
        "ALTER TABLE sales ADD COLUMN channel VARCHAR",
        "UPDATE sales SET channel = CASE WHEN time_id < 665 THEN 'web' ELSE 'shop' END",
        """
        CREATE TABLE agg_website AS
        SELECT time_id, sum(store_sales) AS store_sales, count(*) AS fact_count
        FROM sales WHERE channel = 'web' GROUP BY ALL
        """,
    ).aggregates


def test_no_more_than_a_number_of_comparisons_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fluid_build.observations.aggregates._MOST_COMPARISONS", 0)
    totals = """
        CREATE TABLE agg_product AS
        SELECT product_id, sum(unit_sales) AS unit_sales, count(*) AS fact_count
        FROM sales GROUP BY ALL
    """
    assert _aggregates(tmp_path, totals) == ()
    monkeypatch.undo()
    (tmp_path / "source.duckdb").unlink()
    assert [a.table for a in _aggregates(tmp_path, totals)] == ["agg_product"]


@pytest.mark.parametrize("name", ["g0", "t0", "c0", "is_group"])
def test_totals_are_recognised_whatever_their_columns_are_called(tmp_path: Path, name: str) -> None:
    """The query that compares them has names of its own."""
    orders = f"""
        CREATE TABLE orders AS
        SELECT i AS order_no, DATE '2024-01-01' + CAST(i % 200 AS INTEGER) AS {name},
          CAST(i * 7919 % 1000 / 10 AS DECIMAL(10, 2)) AS amount
        FROM range(1, 2001) AS t(i)
        """
    daily = f"""
        CREATE TABLE daily AS
        SELECT {name}, CAST(sum(amount) AS DECIMAL(12, 2)) AS amount
        FROM orders
        GROUP BY {name}
        """
    (aggregate,) = observed(tmp_path, orders, daily).aggregates
    assert aggregate.is_exact


@pytest.mark.parametrize(("average", "is_recognised"), [("{}", False), ("round({}, 2)", True)])
def test_an_average_of_floats_is_recognised_once_it_is_rounded(
    tmp_path: Path, average: str, is_recognised: bool
) -> None:
    """Its last digits depend on the order in which rows are read."""
    sales = """
        CREATE TABLE sales AS
        SELECT i AS sale_id, 'Store ' || i * 7919 % 20 AS store_name, 1 + i % 7 AS quantity,
          sqrt(i * 31 % 997) AS amount
        FROM range(1, 2001) AS t(i)
        """
    totals = f"""
        CREATE TABLE sales_by_store AS
        SELECT store_name, CAST(sum(quantity) AS BIGINT) AS quantity,
          {average.format("avg(amount)")} AS average_amount
        FROM sales
        GROUP BY store_name
        """
    assert bool(observed(tmp_path, sales, totals).aggregates) == is_recognised
