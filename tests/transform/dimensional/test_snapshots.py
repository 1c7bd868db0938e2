"""Snapshots of levels that the source overwrites: one row for each member and day of loading."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from fluid_build.transform.dbt.semantic_names import stated_role
from fluid_build.transform.plan.execution import statement
from tests.modeling.profiles import reference
from tests.transform.dimensional.stars import Star, fact, star

_COMPANY = (
    "CREATE TABLE department (id INTEGER PRIMARY KEY, name VARCHAR, town VARCHAR)",
    "CREATE TABLE employee (id INTEGER PRIMARY KEY, first_name VARCHAR, job VARCHAR,"
    " department_id INTEGER, salary DECIMAL(10, 2))",
    "CREATE TABLE trip (id INTEGER PRIMARY KEY, employee_id INTEGER, dep INTEGER, started DATE,"
    " cost DECIMAL(9, 2))",
    "INSERT INTO department SELECT i, 'dep ' || i, 'town ' || i FROM range(1, 6) r(i)",
    "INSERT INTO employee SELECT i, 'name ' || i, 'job ' || (i % 3), 1 + i % 5, 1000 + i * 7.5"
    " FROM range(1, 31) r(i)",
    "INSERT INTO trip SELECT i, 1 + i % 30, 1 + i % 5, DATE '2024-01-01' + i::INTEGER, i * 1.25"
    " FROM range(1, 61) r(i)",
)

_REFERENCES = (
    reference("employee", "department_id", "department", "id"),
    reference("trip", "employee_id", "employee", "id"),
    reference("trip", "dep", "department", "id"),
)


@pytest.fixture
def company(tmp_path: Path) -> Iterator[Star]:
    with star(tmp_path, _COMPANY, _REFERENCES) as found:
        found.day = datetime(2024, 3, 1)
        yield found


def _days(company: Star) -> list[tuple[object, ...]]:
    return company.rows(
        "SELECT snapshot_date_key, count(*), sum(salary) FROM model.fct_employee_snapshot"
        " GROUP BY ALL ORDER BY ALL"
    )


def test_a_load_on_another_day_adds_a_snapshot(company: Star) -> None:
    """The days before stay as they were, and each day is in the calendar."""
    first = _days(company)
    company.change("UPDATE shop.employee SET salary = salary + 100 WHERE id = 7")
    company.load()
    assert _days(company)[:-1] == first
    assert _days(company)[-1][1:] == (30, first[-1][2] + 100)  # type: ignore[operator]
    assert company.broken_tests() == []
    assert company.failures() == []


def test_a_level_says_once_how_far_it_adds_up(tmp_path: Path) -> None:
    """Also where the number of the source is no level, or no measure at all."""
    statements = (
        "CREATE TABLE account (id INTEGER PRIMARY KEY, name VARCHAR, credit_limit INTEGER)",
        "CREATE TABLE booking (id INTEGER PRIMARY KEY, account_id INTEGER, day DATE,"
        " amount DECIMAL(9, 2))",
        "INSERT INTO account SELECT i, 'account ' || i, 1000 * (1 + i % 7) FROM range(1, 41) r(i)",
        "INSERT INTO booking SELECT i, 1 + i % 40, DATE '2024-01-01' + i::INTEGER, i * 1.25"
        " FROM range(1, 201) r(i)",
    )
    with star(tmp_path, statements, [reference("booking", "account_id", "account", "id")]) as found:
        measure = found.plan.build("fct_account_snapshot").column("credit_limit").measure
    assert measure is not None
    assert stated_role(measure) == "Semi-additive: a level adds up over members, but not over time."


def test_a_second_load_on_the_same_day_replaces_its_snapshot(company: Star) -> None:
    """No member is in a day twice, and the day has what was loaded last."""
    company.load()
    before = _days(company)
    company.change("UPDATE shop.employee SET salary = salary + 100 WHERE id = 7")
    company.change("DELETE FROM shop.trip WHERE employee_id = 8")
    company.change("DELETE FROM shop.employee WHERE id = 8")
    company.day -= timedelta(days=1) - timedelta(hours=1)
    company.load()
    assert [day[:2] for day in _days(company)] == [
        *(d[:2] for d in before[:-1]),
        (before[-1][0], 29),
    ]
    assert company.broken_tests() == []
    assert company.failures() == []


def test_a_snapshot_refers_to_the_versions_of_its_day(company: Star) -> None:
    """A move to another department doesn't change what was recorded before."""
    company.change("UPDATE shop.employee SET department_id = 1, job = 'boss' WHERE id = 7")
    company.load()
    assert company.rows(
        "SELECT d.id, e.job FROM model.fct_employee_snapshot f"
        " JOIN model.dim_employee e USING (employee_key)"
        " JOIN model.dim_department d ON d.department_key = f.department_key"
        " WHERE f.id = 7 ORDER BY snapshot_date"
    ) == [(3, "job 1"), (1, "boss")]


def test_rebuilding_a_history_is_red_where_past_days_refer_to_its_versions(company: Star) -> None:
    """The project's README says so."""
    company.change("UPDATE shop.employee SET job = 'boss' WHERE id = 7")
    company.load()
    company.load()
    for build in company.plan.builds:
        company.change(statement(build, again=build.name == "fct_employee_snapshot"))
    assert company.broken_tests() == ["fct_employee_snapshot_employee_key_reference"]


def test_a_snapshot_that_differs_from_the_source_is_red(company: Star) -> None:
    company.rows("UPDATE model.fct_employee_snapshot SET salary = 1 WHERE id = 7 RETURNING id")
    assert [table.table for table in company.proof().tables if table.verdict == "lost"] == [
        "employee"
    ]


@pytest.mark.parametrize(
    "statements",
    [
        ("UPDATE model.fct_employee_snapshot SET department_key = NULL WHERE id = 7",),
        (
            "UPDATE model.fct_employee_snapshot SET department_key = 'lost' WHERE id = 7",
            "INSERT INTO model.dim_department (department_key) VALUES (NULL)",
        ),
        ("INSERT INTO model.dim_department FROM model.dim_department WHERE id = 3",),
    ],
)
def test_a_key_of_a_snapshot_that_doesnt_find_one_row_is_red(
    company: Star, statements: tuple[str, ...]
) -> None:
    company.change(*statements)
    checks = [check for table in company.proof().tables for check in table.checks]
    assert "fct_employee_snapshot.department_key finds one row of dim_department" in {
        check.name for check in checks if not check.holds
    }


def test_a_level_in_a_snapshot_is_semi_additive_there(company: Star) -> None:
    build = company.plan.build("fct_employee_snapshot")
    measure = build.column("salary").measure
    assert measure is not None
    assert measure.additivity == "semi-additive"
    assert build.key == ("id", "snapshot_date")
    assert fact(company.star, "fct_employee_snapshot").snapshot_of == "dim_employee"
