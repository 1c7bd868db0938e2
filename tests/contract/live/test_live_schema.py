"""The schema of an expose on live data: its table, columns, types and what is required."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from fluid_build.errors import SourceNotFoundError, UsageError
from tests.contract.live.promises import check, column, database, expose, held, rule


def statuses(place: Path, *columns: dict[str, Any], **more: Any) -> dict[str, str]:
    result = held(place, expose("t", columns, **more))
    return {found.id.removeprefix("t."): found.status for found in result.checks}


@pytest.fixture
def typed(tmp_path: Path) -> Path:
    """A table of some types, with one row of nulls."""
    return database(
        tmp_path / "w.duckdb",
        "CREATE TABLE t (n INTEGER, d DECIMAL(8,2), s VARCHAR, day DATE, f DOUBLE, big HUGEINT)",
        "INSERT INTO t VALUES (1, 1.25, 'four', '2024-01-01', 1.5, 7), "
        "(NULL, NULL, NULL, NULL, NULL, NULL)",
    )


@pytest.mark.parametrize(
    ("name", "type_", "status"),
    [
        ("n", "integer", "passed"),
        ("n", "INT", "passed"),
        ("n", "bigint", "passed"),
        ("n", "decimal(12,2)", "passed"),
        ("n", "double", "passed"),
        ("n", "smallint", "failed"),
        ("n", "decimal(11,2)", "failed"),
        ("n", "string", "failed"),
        ("d", "decimal(8,2)", "passed"),
        ("d", "NUMERIC(10, 2)", "passed"),
        ("d", "decimal", "passed"),
        ("d", "decimal(8,3)", "failed"),
        ("d", "decimal(8,1)", "failed"),
        ("d", "double", "failed"),
        ("s", "text", "passed"),
        ("s", "varchar(4)", "passed"),
        ("s", "char(3)", "failed"),
        ("s", "date", "failed"),
        ("day", "date", "passed"),
        ("day", "timestamp", "passed"),
        ("day", "timestamptz", "failed"),
        ("f", "double precision", "passed"),
        ("f", "real", "failed"),
        ("big", "bigint", "failed"),
    ],
)
def test_a_live_type_fits_unless_it_is_wider(
    typed: Path, name: str, type_: str, status: str
) -> None:
    """Every value of the live type must be one of the promised type."""
    assert statuses(typed, column(name, type_))[f"{name}.type"] == status


def test_a_column_that_is_not_there_fails(typed: Path) -> None:
    """And a column that nobody promised is a note."""
    result = held(typed, expose("t", [column("n", "integer"), column("gone")]))
    assert check(result, "t.gone.column").fails
    extra = check(result, "t.s.extra_column")
    assert (extra.status, extra.severity) == ("failed", "info")
    assert not extra.fails


def test_required_columns_hold_no_null(typed: Path) -> None:
    """One null breaks the promise."""
    assert statuses(typed, column("n", "integer", required=True))["n.required"] == "failed"
    assert "n.required" not in statuses(typed, column("n", "integer", required=False))


def test_a_rule_of_its_own_says_how_grave_a_null_is(typed: Path) -> None:
    """What is required and held by a rule is tested once, in the rule's severity."""
    warns = rule("completeness", "n", severity="warn")
    required = [column("n", "integer", required=True)]
    result = held(typed, expose("t", required, warns))
    assert "t.n.required" not in {found.id for found in result.checks}
    assert result.passed
    lenient = rule("completeness", "n", threshold=0.5)
    assert not held(typed, expose("t", required, lenient)).passed


def test_a_table_that_lost_its_rows_is_warned_of(tmp_path: Path) -> None:
    """An empty table breaks no rule, so that it has to be said."""
    place = database(tmp_path / "w.duckdb", "CREATE TABLE t (n INTEGER)")
    assert statuses(place, column("n", "integer"), labels={"rows": "12"})["rows"] == "failed"
    assert "rows" not in statuses(place, column("n", "integer"), labels={"rows": "0"})
    assert held(place, expose("t", [column("n", "integer")], labels={"rows": "12"})).passed


@pytest.mark.parametrize(
    "how",
    [
        {"binding": {"platform": "local", "format": "other", "location": {"table": "LIVE_NAME"}}},
        {"labels": {"source-table": "live_name"}},
        {"exposeId": "live_name"},
    ],
)
def test_a_table_is_found_by_its_binding_its_id_or_its_source(
    tmp_path: Path, how: dict[str, Any]
) -> None:
    """In whatever case it is spelled."""
    place = database(tmp_path / "w.duckdb", 'CREATE TABLE "Live_Name" (n INTEGER)')
    result = held(place, {**expose("other", [column("n", "integer")]), **how})
    assert result.exposes[0].table == "Live_Name"
    assert result.passed


def test_a_missing_table_fails_and_its_rules_are_not_checked(typed: Path) -> None:
    """The tables that are there are tested all the same."""
    gone = expose("gone", [column("n")], rule("completeness", "n"))
    result = held(typed, expose("t", [column("n", "integer")]), gone)
    assert check(result, "gone.table").fails
    assert check(result, "completeness").status == "not_checked"
    assert check(result, "t.n.type").status == "passed"


def test_an_expose_that_is_not_a_table_is_not_missed(typed: Path) -> None:
    """An interface or a stream is not looked for among tables."""
    interface = expose("orders_api", [column("n")], kind="api")
    result = held(typed, expose("t", [column("n", "integer")]), interface)
    assert check(result, "orders_api.table").status == "not_checked"
    assert result.passed


def test_no_table_at_all_says_what_to_look_for(typed: Path) -> None:
    """The error names tables of both sides."""
    with pytest.raises(SourceNotFoundError) as error:
        held(typed, expose("orders", [column("n")]))
    assert "orders" in error.value.message
    assert "has t." in error.value.message


def test_a_name_in_two_schemas_asks_for_one(tmp_path: Path) -> None:
    """The binding's schema decides; without one the user has to."""
    place = database(
        tmp_path / "w.duckdb",
        "CREATE SCHEMA a; CREATE TABLE a.t (n INTEGER)",
        "CREATE SCHEMA b; CREATE TABLE b.t (m INTEGER)",
    )
    promise = expose("t", [column("n", "integer")])
    with pytest.raises(UsageError, match="could be any of"):
        held(place, promise)
    assert held(place, promise, schemas=["a"]).passed
    location = {"schema": "a", "table": "t"}
    bound = promise | {"binding": {"platform": "local", "format": "other", "location": location}}
    assert held(place, bound).passed


def test_ddl_cannot_be_tested(tmp_path: Path) -> None:
    """There is nothing to test on it."""
    file = tmp_path / "schema.sql"
    file.write_text("CREATE TABLE t (n INTEGER);")
    with pytest.raises(UsageError, match="no data to test"):
        held(file, expose("t", [column("n", "integer")]))


@pytest.mark.parametrize(
    ("rows", "type_", "status"),
    [
        (("1", "2"), "integer", "passed"),
        (("1", "3000000000"), "integer", "failed"),
        (("1", "2"), "decimal(4,2)", "passed"),
        (("1", "200"), "decimal(4,2)", "failed"),
        (("1.5", "2.25"), "decimal(5,1)", "failed"),
        (("1.5", "2"), "bigint", "failed"),
        (("2024-01-01", "x"), "date", "failed"),
        (("2024-01-01", "2024-01-02"), "date", "passed"),
        (("", ""), "date", "not_checked"),
        (("ab", "abcde"), "varchar(4)", "failed"),
        (("1234", "5678"), "string", "passed"),
        (("1234", "5678"), "varchar(4)", "passed"),
        (("1234", "56789"), "varchar(4)", "failed"),
    ],
)
def test_files_without_types_are_judged_by_their_values(
    tmp_path: Path, rows: tuple[str, ...], type_: str, status: str
) -> None:
    """A CSV column has the type that its values happen to have today."""
    lines = "".join(f"{number},{value}\n" for number, value in enumerate(rows))
    (tmp_path / "t.csv").write_text(f"id,v\n{lines}")
    promise = expose("t", [column("id", "bigint"), column("v", type_)])
    assert check(held(tmp_path, promise), "t.v.type").status == status


def test_parquet_files_have_types_of_their_own(tmp_path: Path) -> None:
    """A column of whole numbers isn't text there, however it's written."""
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1 AS v) TO '{tmp_path / 't.parquet'}'")
    assert statuses(tmp_path, column("v", "integer"))["v.type"] == "passed"
    assert statuses(tmp_path, column("v", "string"))["v.type"] == "failed"
    assert statuses(tmp_path, column("v", "smallint"))["v.type"] == "failed"


def test_the_original_of_a_table_may_store_text(tmp_path: Path) -> None:
    """Where dates were made of text, the text of the source must spell dates, in its own way."""
    place = database(
        tmp_path / "w.duckdb",
        "CREATE TABLE t (day VARCHAR)",
        "INSERT INTO t VALUES ('31.12.2023'), ('01.02.2024')",
    )
    reason = "Stored as VARCHAR; every value is a DATE (%d.%m.%Y)."
    promise = [column("day", "date", labels={"type-reason": reason})]
    assert statuses(place, *promise, labels={"source-table": "t"})["day.type"] == "passed"
    assert statuses(place, *promise)["day.type"] == "failed"
    plain = [column("day", "date")]
    assert statuses(place, *plain, labels={"source-table": "t"})["day.type"] == "failed"


def test_the_result_has_no_values_of_rows(tmp_path: Path) -> None:
    """Whatever breaks, the result speaks of counts."""
    place = database(
        tmp_path / "w.duckdb",
        "CREATE TABLE t (mail VARCHAR, born DATE)",
        "INSERT INTO t VALUES ('secret@example.org', '1990-05-17'), ('secret@example.org', NULL)",
    )
    rules = [
        rule("uniqueness", "mail"),
        rule("valid_values", "mail", labels={"accepted-values": '["x"]'}),
        rule("freshness", "born", window="P1D"),
        rule("completeness", "born"),
    ]
    promise = expose("t", [column("mail", "varchar(3)"), column("born", "date")], *rules)
    result = held(place, promise)
    said = json.dumps([repr(found) for found in result.checks])
    assert sum(found.fails for found in result.checks) == 5
    assert "secret" not in said
    assert "1990" not in said


def test_nested_columns_are_tested_as_the_contract_has_them(tmp_path: Path) -> None:
    """A contract may promise the nested column itself, or the tables that it's split into."""
    place = database(
        tmp_path / "w.duckdb", "CREATE TABLE t AS SELECT 1 AS id, [1, 2] AS l, {'a': 1} AS s"
    )
    kept = (column("id", "integer"), column("l", "array"), column("s", "struct"))
    assert set(statuses(place, *kept).values()) == {"passed"}
    split = (column("id", "integer"), column("s__a", "integer"))
    assert statuses(place, *split)["s__a.type"] == "passed"
