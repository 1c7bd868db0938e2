"""Which of two dates comes first, and which is filled in later."""

from pathlib import Path

import duckdb

from fluid_build.observations.date_orders import DateOrder
from fluid_build.observations.observe import observe
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source


def _orders(folder: Path, statement: str) -> tuple[DateOrder, ...]:
    database = folder / "events.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(statement)
    with open_source(str(database)) as source:
        return observe(source, profile_source(source)).date_orders


def test_the_date_that_comes_first_in_more_rows_is_the_earlier_one(tmp_path: Path) -> None:
    """The youngest rows aren't shipped yet; one was shipped before it was ordered."""
    orders = _orders(
        tmp_path,
        """
        CREATE TABLE orders AS
        SELECT i AS id,
          CASE WHEN i < 90 THEN day + CAST(IF(i = 7, -1, 2) AS INTEGER) END AS shipped,
          day AS ordered
        FROM (SELECT i, DATE '2024-01-01' + CAST(i AS INTEGER) AS day FROM range(100) AS t(i))
        """,
    )
    assert orders == (
        DateOrder("orders", "ordered", "shipped", 90, 89, 10, 0, open_is_recent=True),
    )


def test_a_date_and_a_time_on_the_same_day_are_in_order(tmp_path: Path) -> None:
    """A day has no time, so nothing of that day comes before it."""
    (order,) = _orders(
        tmp_path,
        """
        CREATE TABLE visit AS
        SELECT i AS id, TIMESTAMP '2024-01-01 08:00' + INTERVAL (i) DAY AS seen,
          CAST(seen AS DATE) + CAST(i % 2 AS INTEGER) AS billed
        FROM range(100) AS t(i)
        """,
    )
    assert (order.earlier, order.later, order.in_order) == ("seen", "billed", 100)


def test_a_table_without_two_dates_has_no_order(tmp_path: Path) -> None:
    """An empty date doesn't count."""
    assert not _orders(
        tmp_path,
        "CREATE TABLE t AS SELECT i AS id, DATE '2024-01-01' AS a, NULL::DATE AS b"
        " FROM range(9) AS t(i)",
    )
