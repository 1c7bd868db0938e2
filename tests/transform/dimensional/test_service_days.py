"""Service days: each service and day on which it runs, worked out again in Python."""

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pytest
import sqlglot

from fluid_build.modeling.dimensional.calendars.settings import calendar_settings
from fluid_build.modeling.logical import LogicalModel, model_json
from fluid_build.transform.dbt.dialects import dialect_of
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.targets import check_target
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.dbt.projects import TARGETS, duckdb_access, load, written
from tests.transform.dimensional.stars import Star, fact, star

FLAGS = "monday tuesday wednesday thursday friday saturday sunday"
SERVICE = (
    f"CREATE TABLE service (service_id VARCHAR PRIMARY KEY, {' INTEGER, '.join(FLAGS.split())}"
    " INTEGER, start_date INTEGER, end_date INTEGER)"
)
EXCEPTION = (
    "CREATE TABLE exception (service_id VARCHAR, date INTEGER, kind INTEGER,"
    " PRIMARY KEY (service_id, date))"
)
TRIP = (
    "CREATE TABLE trip (trip_id INTEGER PRIMARY KEY, service_id VARCHAR, headsign VARCHAR)",
    "INSERT INTO trip SELECT i, 'S' || (i % 40), 'to ' || i FROM range(200) t(i)",
)
SERVICES = [
    (
        f"S{number}",
        [int((number + day) % 3 == 0) for day in range(7)],
        date(2023, 11, 1) + timedelta(days=number),
        date(2023, 11, 1) + timedelta(days=number + 10 * number),
    )
    for number in range(40)
]


def runs(flags: Sequence[int], start: date, end: date, day: date) -> bool:
    return start <= day <= end and bool(flags[day.weekday()])


EXCEPTIONS = {
    (name, day): 2 if runs(flags, start, end, day) else 1
    for name, flags, start, end in SERVICES[:30]
    for day in (date(2023, 12, 25), date(2024, 1, 1), date(2024, 2, 29), date(2026, 1, 1))
}


def statements() -> list[str]:
    services = ", ".join(
        f"('{name}', {', '.join(map(str, flags))}, {start:%Y%m%d}, {end:%Y%m%d})"
        for name, flags, start, end in SERVICES
    )
    exceptions = ", ".join(
        f"('{name}', {day:%Y%m%d}, {kind})" for (name, day), kind in EXCEPTIONS.items()
    )
    return [
        SERVICE,
        f"INSERT INTO service VALUES {services}",
        EXCEPTION,
        f"INSERT INTO exception VALUES {exceptions}",
        *TRIP,
    ]


def expected_days() -> set[tuple[str, date]]:
    days = set()
    for name, flags, start, end in SERVICES:
        for n in range((end - start).days + 1):
            day = start + timedelta(days=n)
            if runs(flags, start, end, day) and (name, day) not in EXCEPTIONS:
                days.add((name, day))
    return days | {key for key, kind in EXCEPTIONS.items() if kind == 1}


def built_days(found: Star) -> list[tuple[object, ...]]:
    # The member in all of its versions, since its days follow from the latest one.
    key = found.star.dimension("dim_service").member_key
    return found.rows(
        "SELECT s.service_id, d.full_date FROM model.fct_service_days f"
        f" JOIN (SELECT DISTINCT {key}, service_id FROM model.dim_service) s USING ({key})"
        " JOIN model.dim_date d ON f.service_date_key = d.date_key"
    )


def test_every_service_has_the_days_on_which_it_runs(tmp_path: Path) -> None:
    """Exceptions are applied, and every day is in the calendar, also of years in between."""
    with star(tmp_path, statements()) as found:
        days = built_days(found)
        (rows,) = found.rows("SELECT count(*) FROM model.fct_service_days")
        assert found.failures() == []
    assert len(days) == len(set(days)) == rows[0]
    assert set(days) == expected_days()


def test_without_exceptions_the_weekdays_alone_count(tmp_path: Path) -> None:
    with star(tmp_path, [*statements()[:2], *TRIP]) as found:
        assert found.failures() == []
        assert set(built_days(found)) == {
            (name, start + timedelta(days=n))
            for name, flags, start, end in SERVICES
            for n in range((end - start).days + 1)
            if flags[(start + timedelta(days=n)).weekday()]
        }


def test_the_fact_says_how_its_days_follow(tmp_path: Path) -> None:
    with star(tmp_path, statements()) as found:
        result = fact(found.star, "fct_service_days")
        assert (result.fact_type, result.grain_columns) == (
            "factless",
            (found.star.dimension("dim_service").member_key, "service_date_key"),
        )
        assert "kind 1 adds a day and kind 2 leaves one out" in result.reason
        assert [r.dimension for r in result.dimensions] == ["dim_service", "dim_date"]
        assert len(result.alternatives) == 2
        # The exceptions are still a fact of their own, from which their table is rebuilt.
        assert fact(found.star, "fct_exception").entity_name == "exception"


OPENING = (
    "CREATE TABLE shop (shop_id INTEGER PRIMARY KEY, shop_name VARCHAR, town VARCHAR)",
    "INSERT INTO shop SELECT i, 'Shop ' || i, 'Town ' || i % 4 FROM range(1, 21) t(i)",
    f"CREATE TABLE opening (shop_id INTEGER, valid_from DATE, valid_to DATE,"
    f" {', '.join(f'open_{day} BOOLEAN' for day in FLAGS.split())},"
    " PRIMARY KEY (shop_id, valid_from))",
    "INSERT INTO opening SELECT i, DATE '2024-01-01' + n * INTERVAL 3 MONTH,"
    " DATE '2024-03-31' + n * INTERVAL 3 MONTH, i % 2 = 0, n % 2 = 0, TRUE, i % 3 = 0, n < 3,"
    " i % 5 = 0, NULL FROM range(1, 21) t(i), range(4) r(n)",
)


def test_the_days_of_services_that_are_facts_have_their_dimensions(tmp_path: Path) -> None:
    """A key with a date is found by the calendar's key, which the fact has in its place."""
    with star(tmp_path, OPENING) as found:
        result = fact(found.star, "fct_opening_days")
        assert {r.dimension for r in result.dimensions} == {"dim_shop", "dim_date"}
        assert found.failures() == []
        built = found.rows(
            "SELECT town, count(*) FROM model.fct_opening_days"
            " JOIN model.dim_shop USING (shop_key) GROUP BY town ORDER BY town"
        )
        listed = found.rows(
            "SELECT town, count(*) FROM (SELECT *, unnest(range(valid_from, valid_to"
            " + INTERVAL 1 DAY, INTERVAL 1 DAY)) AS day FROM source.opening)"
            " JOIN source.shop USING (shop_id) WHERE list_value(open_monday, open_tuesday,"
            " open_wednesday, open_thursday, open_friday, open_saturday, open_sunday)"
            "[isodow(day)] GROUP BY town ORDER BY town"
        )
        assert built == listed and len(built) == 4


def test_a_day_that_is_missing_or_made_up_is_noticed(tmp_path: Path) -> None:
    with star(tmp_path, statements()) as found:
        found.change("DELETE FROM model.fct_service_days WHERE service_date_key = 20240102")
        (table,) = (t for t in found.proof().tables if t.table == "service")
        assert table.verdict == "lost"


def test_a_second_load_follows_the_source(tmp_path: Path) -> None:
    """A service that ends earlier runs on fewer days; one that the source deletes on none."""
    with star(tmp_path, statements()) as found:
        found.change("UPDATE shop.service SET end_date = start_date WHERE service_id = 'S39'")
        found.change("DELETE FROM shop.exception WHERE service_id = 'S2'")
        found.change("DELETE FROM shop.service WHERE service_id = 'S2'")
        found.load()
        days = built_days(found)
    assert not [day for name, day in days if name == "S2"]
    assert len([day for name, day in days if name == "S39"]) <= 1


def test_the_wide_variant_has_service_days_too(tmp_path: Path) -> None:
    with star(tmp_path, statements(), variant="wide") as found:
        assert found.failures() == []
        assert set(built_days(found)) == expected_days()


def test_the_plan_follows_from_the_model_alone(tmp_path: Path) -> None:
    with star(tmp_path, statements(), calendar=calendar_settings("7", "de")) as found:
        read_back = LogicalModel.model_validate_json(model_json(found.model))
        assert transform_plan(read_back) == found.plan


@pytest.mark.parametrize("target", TARGETS)
def test_service_days_are_written_for_every_target(tmp_path: Path, target: str) -> None:
    with star(tmp_path, statements()) as found:
        builds = [b for b in found.plan.builds if b.name in {"fct_service_days", "dim_date"}]
    for build in builds:
        tree = sqlglot.parse_one(dialect_of(check_target(target)).query(build.sql), read=target)
        assert isinstance(tree, sqlglot.exp.Query)
    assert len(builds) == 2


@pytest.mark.usefixtures("dbt")
def test_dbt_builds_the_same_days(tmp_path: Path) -> None:
    with star(tmp_path, statements()) as found:
        model, plan = found.model, found.plan
    access = duckdb_access(plan, tmp_path / "shop.duckdb")
    project = written(dbt_project(plan, model, access=access), tmp_path / "dbt")
    load(project, "2024-01-01 00:00:00")
    with duckdb.connect(str(project / "shop.duckdb"), read_only=True) as connection:
        days = connection.execute("SELECT count(*) FROM main.fct_service_days").fetchone()
    assert days == (len(expected_days()),)
