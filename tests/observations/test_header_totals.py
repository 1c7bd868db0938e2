"""Columns of a header that are totals of its lines."""

from pathlib import Path

import duckdb

from fluid_build.observations.header_totals import HeaderTotal
from fluid_build.observations.observe import observe
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source

_LINES = """
CREATE TABLE line AS
SELECT i AS line_id, CAST((i * i // 97) % 40 AS INTEGER) + 100 AS order_id, 1 + i % 5 AS qty,
  CAST(3 + (i * 37 % 101) / 4.0 AS DECIMAL(8,2)) AS price
FROM range(400) AS t(i)
"""
_HEADERS = """
CREATE TABLE orders AS
SELECT order_id, {total} AS figure FROM line GROUP BY order_id
UNION ALL SELECT 100 + i, 0 FROM range(40) AS t(i) WHERE 100 + i NOT IN (SELECT order_id FROM line)
"""


def _totals(folder: Path, total: str) -> list[HeaderTotal]:
    database = folder / "orders.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(_LINES)
        connection.execute(_HEADERS.format(total=total))
        connection.execute("ALTER TABLE orders ADD PRIMARY KEY (order_id)")
    with open_source(str(database)) as source:
        return list(observe(source, profile_source(source)).header_totals)


def test_a_total_is_the_sum_of_a_column_of_the_lines(tmp_path: Path) -> None:
    (total,) = _totals(tmp_path, "sum(price)")
    assert (total.header, total.total, total.line) == ("orders", "figure", "line")
    assert total.amounts == ("price",)
    assert total.rows == total.matches > 10


def test_a_total_is_the_sum_of_quantities_times_prices(tmp_path: Path) -> None:
    (total,) = _totals(tmp_path, "sum(qty * price)")
    assert total.amounts == ("qty", "price")


def test_a_total_may_count_the_lines(tmp_path: Path) -> None:
    (total,) = _totals(tmp_path, "count(*)")
    assert total.amounts == ()


def test_a_figure_with_about_the_same_sum_is_no_total(tmp_path: Path) -> None:
    assert _totals(tmp_path, "sum(price) + order_id % 3 - 1") == []
