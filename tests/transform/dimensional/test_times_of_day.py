"""The times of a day: a dimension of minutes, which a fact refers to beside its day."""

from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from fluid_build.transform.dbt.dialects import dialect_of
from fluid_build.transform.dbt.targets import check_target
from tests.transform.dbt.projects import TARGETS
from tests.transform.dimensional.stars import fact, star

ORDERS = (
    "CREATE TABLE orders (order_id INTEGER PRIMARY KEY, placed_at TIMESTAMP, total DECIMAL(9, 2))",
    "INSERT INTO orders SELECT i, TIMESTAMP '2024-01-01' + i * INTERVAL 37 MINUTE, i"
    " FROM range(400) r(i)",
    "INSERT INTO orders VALUES (900, NULL, 1), (901, 'infinity', 2), (902, '-infinity', 3)",
)
LINES = (
    "CREATE TABLE order_lines (order_id INTEGER REFERENCES orders, line INTEGER,"
    " quantity INTEGER, PRIMARY KEY (order_id, line))",
    "INSERT INTO order_lines SELECT order_id, n, n FROM orders, range(1, 3) lines(n)",
)


def test_a_fact_refers_to_the_minute_beside_its_day(tmp_path: Path) -> None:
    with star(tmp_path, ORDERS) as found:
        keys = [reference.key for reference in fact(found.star, "fct_orders").dimensions]
        assert keys == ["placed_date_key", "placed_time_key"]
        rows = found.rows(
            "SELECT order_id, placed_time_key, time_of_day, hour_of_day, minute_of_hour,"
            " hour_label, part_of_day FROM model.fct_orders"
            " JOIN model.dim_time_of_day ON time_key = placed_time_key"
            " WHERE order_id IN (0, 25, 900, 901) ORDER BY 1"
        )
        assert rows == [
            (0, 0, "00:00", 0, 0, "00:00 to 00:59", "Night"),
            (25, 1525, "15:25", 15, 25, "15:00 to 15:59", "Afternoon"),
            (900, -1, None, None, None, None, None),
            (901, -1, None, None, None, None, None),
        ]
        assert found.failures() == []


def test_the_day_has_1440_minutes_and_an_unknown_one(tmp_path: Path) -> None:
    with star(tmp_path, ORDERS) as found:
        rows = found.rows(
            "SELECT COUNT(*), COUNT(time_of_day), MAX(time_key),"
            " COUNT(*) FILTER (WHERE time_key <> 100 * hour_of_day + minute_of_hour)"
            " FROM model.dim_time_of_day"
        )
        assert rows == [(1441, 1440, 2359, 0)]
        assert found.rows(
            "SELECT part_of_day, COUNT(*) FROM model.dim_time_of_day"
            " WHERE time_key >= 0 GROUP BY 1 ORDER BY 1"
        ) == [("Afternoon", 360), ("Evening", 360), ("Morning", 360), ("Night", 360)]


def test_lines_have_the_time_of_their_header(tmp_path: Path) -> None:
    with star(tmp_path, (*ORDERS, *LINES)) as found:
        assert found.rows(
            "SELECT COUNT(*) FROM model.fct_order_lines AS lines JOIN model.fct_orders AS orders"
            " USING (order_id) WHERE lines.placed_time_key = orders.placed_time_key"
        ) == [(806,)]
        assert found.failures() == []


def test_a_wide_fact_has_the_hour_itself(tmp_path: Path) -> None:
    with star(tmp_path, ORDERS, variant="wide") as found:
        assert found.rows(
            "SELECT placed_time_hour_of_day, placed_time_part_of_day FROM model.fct_orders"
            " WHERE order_id = 25"
        ) == [(15, "Afternoon")]
        assert found.failures() == []


def test_only_the_event_itself_has_a_time(tmp_path: Path) -> None:
    """The milestones that follow it have a day each."""
    orders = (
        "CREATE TABLE orders (order_id INTEGER PRIMARY KEY, status TEXT, placed_at TIMESTAMP"
        " NOT NULL, shipped_at TIMESTAMP, total DECIMAL(9, 2))",
        "INSERT INTO orders SELECT i, CASE WHEN i < 300 THEN 'shipped' ELSE 'open' END,"
        " TIMESTAMP '2024-01-01' + i * INTERVAL 37 MINUTE,"
        " CASE WHEN i < 300 THEN TIMESTAMP '2024-01-02 00:11' + i * INTERVAL 37 MINUTE END, i"
        " FROM range(400) r(i)",
    )
    with star(tmp_path, orders) as found:
        keys = [reference.key for reference in fact(found.star, "fct_orders").dimensions]
        assert "shipped_date_key" in keys
        assert [key for key in keys if "time" in key] == ["placed_time_key"]


def test_days_and_snapshots_have_no_times(tmp_path: Path) -> None:
    levels = (
        "CREATE TABLE sensor (sensor_id INTEGER PRIMARY KEY, name TEXT)",
        "INSERT INTO sensor SELECT i, 'sensor ' || i FROM range(4) r(i)",
        "CREATE TABLE sensor_level (sensor_id INTEGER REFERENCES sensor, measured_at TIMESTAMP,"
        " level DOUBLE, PRIMARY KEY (sensor_id, measured_at))",
        "INSERT INTO sensor_level SELECT s, TIMESTAMP '2024-01-01' + d * INTERVAL 37 MINUTE, d"
        " FROM range(4) a(s), range(200) b(d)",
    )
    with star(tmp_path, levels) as found:
        assert fact(found.star, "fct_sensor_level").fact_type == "periodic_snapshot"
        assert "dim_time_of_day" not in found.sizes()


@pytest.mark.parametrize("target", TARGETS)
def test_the_times_of_a_day_are_written_for_every_target(tmp_path: Path, target: str) -> None:
    with star(tmp_path, ORDERS) as found:
        (times,) = (build for build in found.plan.builds if build.name == "dim_time_of_day")
    sql = dialect_of(check_target(target)).query(times.sql)
    tree = sqlglot.parse_one(sql, read=target)
    assert isinstance(tree, exp.Query)
    assert {"time_key", "time_of_day", "part_of_day"} <= {s.alias for s in tree.selects}
