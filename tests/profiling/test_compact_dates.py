"""Dates of eight digits in whole numbers and text are distinguished from ids of eight digits."""

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pytest

from fluid_build.profiling.measure.compact_dates import adopt_notations, keep_references_comparable
from fluid_build.profiling.measure.figures import ColumnStats
from fluid_build.profiling.measure.tables import measure_table
from fluid_build.profiling.profile import ForeignKey, ForeignKeyEvidence
from fluid_build.profiling.profiler import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.base import Column, Table
from fluid_build.sources.sql import quote
from tests.profiling.calendars import CALENDAR, SALES

DATE = "DATE (%Y%m%d)"
MONTHS = [100 * year + month for year in (2017, 2018) for month in range(1, 13)]
DAYS = [int(f"{date(2023, 11, 5) + timedelta(days=3 * n):%Y%m%d}") for n in range(60)]


def measured(name: str, type_: str, values: Sequence[object]) -> ColumnStats:
    """Return the figures of a column in a table of its own."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t ({quote(name)} {type_})")
        connection.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
        return measure_table(connection, Table("t", (Column(name, type_),), "t")).columns[0]


@pytest.mark.parametrize("type_", ["INTEGER", "BIGINT", "DECIMAL(8,0)", "VARCHAR"])
def test_days_in_a_column_named_as_a_date_are_dates(type_: str) -> None:
    """Numbers and text count alike, and a null does no harm."""
    stats = measured("order_date", type_, [*DAYS[:5], None])
    assert (stats.measured_type, stats.reversible) == (DATE, True)


@pytest.mark.parametrize("name", ["date_key", "DateKey", "dt_sk", "created", "ymd", "BIRTH_DAY"])
def test_date_keys_and_timestamps_are_named_as_dates(name: str) -> None:
    """A date's key is a date, and so is the time of creation."""
    assert measured(name, "INTEGER", DAYS).measured_type == DATE


def test_many_repeated_days_need_no_name() -> None:
    """Ids don't repeat over months, nor stay within the calendar."""
    assert measured("x", "INTEGER", DAYS * 2).measured_type == DATE


@pytest.mark.parametrize(("days", "type_"), [(39, None), (40, DATE), (41, DATE)])
def test_without_a_name_forty_repeated_days_are_dates(days: int, type_: str | None) -> None:
    assert measured("x", "INTEGER", DAYS[:days] * 2).measured_type == type_


@pytest.mark.parametrize(
    ("name", "values", "type_"),
    [
        ("x", MONTHS[:13] * 2, "DATE (%Y%m)"),
        ("x", MONTHS[:12] * 2, None),
        ("x", MONTHS, None),
        ("x", [*MONTHS, 201813] * 2, None),
        ("batch_no", MONTHS * 2, None),
    ],
    ids=["more than a year", "a year", "unique", "no such month", "named as number"],
)
def test_without_a_name_thirteen_repeated_months_are_months(
    name: str, values: Sequence[int], type_: str | None
) -> None:
    """Numbers that are counted up hit a thirteenth month."""
    assert measured(name, "INTEGER", values).measured_type == type_


@pytest.mark.parametrize(("days", "type_"), [(2, None), (3, DATE)])
def test_with_a_name_three_days_are_dates(days: int, type_: str | None) -> None:
    assert measured("order_date", "INTEGER", DAYS[:days]).measured_type == type_


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("order_date", [*DAYS, 20230230]),
        ("order_date", [*DAYS, 29991231]),
        ("order_date", [*DAYS, 0]),
        ("order_date", DAYS[:2]),
        ("order_id", range(20240101, 20240129)),
        ("order_id", DAYS * 2),
        ("x", DAYS),
        ("x", range(20240101, 20240201)),
    ],
    ids=["no such day", "far future", "zero", "two", "ids", "named as id", "unique", "in a row"],
)
def test_other_numbers_of_eight_digits_stay_numbers(name: str, values: Sequence[int]) -> None:
    """One value that isn't a day, a name of ids, or a lack of repeats rules dates out."""
    assert measured(name, "INTEGER", list(values)).measured_type is None
    assert measured(name, "VARCHAR", list(values)).measured_type in (None, "BIGINT")


def test_the_end_of_time_is_a_day() -> None:
    assert measured("valid_to", "INTEGER", DAYS).measured_type is None
    assert measured("end_date", "INTEGER", [*DAYS, 99991231]).measured_type == DATE


@pytest.mark.parametrize(
    ("name", "type_", "values", "format_"),
    [
        ("month", "INTEGER", [202301, 202302, 202312], "%Y%m"),
        ("mois", "VARCHAR", ["202301", "202302", "202312"], "%Y%m"),
        ("year_month", "VARCHAR", ["2023-01", "2023-02", "2023-12"], "%Y-%m"),
        ("eventDate", "VARCHAR", ["2023-01", "2023-02", "2023-12"], "%Y-%m"),
        ("birth_date", "INTEGER", [17560127, 17701216, 18330507], "%Y%m%d"),
    ],
)
def test_months_and_days_long_ago_are_read_where_a_name_says_so(
    name: str, type_: str, values: Sequence[object], format_: str
) -> None:
    stats = measured(name, type_, values)
    assert (stats.measured_type, stats.reversible) == (f"DATE ({format_})", True)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("month", [202301, 202313, 202302]),
        ("month", [1, 2, 12]),
        ("batch", [202301, 202302, 202312]),
        ("fiscal_month", [202301, 202302, 202312]),
        ("date", [202301, 202302, 202312]),
    ],
    ids=["thirteenth", "of a year", "no such name", "of a fiscal year", "may be weeks"],
)
def test_other_numbers_of_six_digits_stay_numbers(name: str, values: Sequence[int]) -> None:
    assert measured(name, "INTEGER", values).measured_type is None


def types_in(*tables: str) -> dict[str, str | None]:
    """Return the measured types of all columns of a source by ``table.column``."""
    with duckdb.connect() as connection:
        measured_tables = []
        for name, select in (table.split(": ") for table in tables):
            connection.execute(f"CREATE TABLE {name} AS {select}")
            columns = tuple(
                Column(str(column), str(type_))
                for column, type_, *_ in connection.sql(f"DESCRIBE {name}").fetchall()
            )
            measured_tables.append(measure_table(connection, Table(name, columns, name)))
    adopt_notations(column for table in measured_tables for column in table.columns)
    return {
        f"{table.table.name}.{column.name}": column.measured_type
        for table in measured_tables
        for column in table.columns
    }


def test_a_single_day_is_a_date_where_other_columns_write_dates_so() -> None:
    """Two exceptions in a timetable prove nothing by themselves."""
    types = types_in(
        "service: SELECT * FROM (VALUES (1, 20240101, 20241231)) v (id, start_date, end_date)",
        "exception: SELECT * FROM (VALUES (1, 20240704, '20240704')) v (service_id, date, day)",
    )
    assert types == {
        "service.id": None,
        "service.start_date": DATE,
        "service.end_date": DATE,
        "exception.service_id": None,
        "exception.date": DATE,
        "exception.day": DATE,
    }


def test_two_days_in_a_whole_source_prove_nothing() -> None:
    assert types_in("t: SELECT 20240101 AS start_date, 20241231 AS end_date") == {
        "t.start_date": None,
        "t.end_date": None,
    }


def test_a_single_number_that_is_no_day_or_not_named_as_one_stays_a_number() -> None:
    types = types_in(
        "sale: SELECT unnest([20240101, 20240102, 20240103]) AS sale_date",
        "other: SELECT 20240230 AS end_date, 20240101 AS amount, 20240101 AS id",
    )
    assert set(types.values()) == {DATE, None}
    assert [name for name, type_ in types.items() if type_] == ["sale.sale_date"]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Return a database of sales that refer to the days of a calendar by whole numbers."""
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as database:
        database.execute(CALENDAR)
        database.execute(SALES)
    return tmp_path / "shop.duckdb"


def types(path: Path) -> dict[str, str | None]:
    """Return the measured types of the date keys by table, after checking their reference."""
    with open_source(path) as source:
        profile = profile_source(source)
    (key,) = profile.foreign_keys
    assert (key.from_table, key.to_table, key.to_columns) == ("sales", "dim_date", ("date_key",))
    return {table.name: table.column("date_key").measured_type for table in profile.tables}


def test_the_keys_of_a_calendar_and_their_references_are_dates(shop: Path) -> None:
    """Both sides become dates together, and the reference holds."""
    assert types(shop) == {"dim_date": DATE, "sales": DATE}


@pytest.mark.parametrize(
    "spoiled",
    [
        "INSERT INTO dim_date VALUES (-1, NULL, NULL, NULL, NULL)",
        "INSERT INTO sales VALUES (9999, 99999999, 1)",
    ],
    ids=["unknown member", "orphan"],
)
def test_neither_side_is_a_date_if_one_cannot_be(shop: Path, spoiled: str) -> None:
    """A member -1 for "unknown" keeps both the calendar and its facts numbers."""
    with duckdb.connect(str(shop)) as database:
        database.execute(spoiled)
    assert types(shop) == {"dim_date": None, "sales": None}


def test_a_month_that_refers_to_a_day_is_no_date() -> None:
    """Both sides of a reference are read in one format."""
    month = measured("month", "INTEGER", [202301, 202302, 202312])
    day = measured("first_day", "INTEGER", [20230101, 20230201, 20231201])
    assert month.measured_type is not None and day.measured_type == DATE
    reference = ForeignKey(
        from_table="bill",
        from_columns=("month",),
        to_table="period",
        to_columns=("first_day",),
        origin="declared",
        confidence=1.0,
        evidence=ForeignKeyEvidence(origin="declared", rows=3),
    )
    keep_references_comparable(
        [reference], {("bill", "month"): month, ("period", "first_day"): day}
    )
    assert (month.measured_type, day.measured_type) == (None, None)
