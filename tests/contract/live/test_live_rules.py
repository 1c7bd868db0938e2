"""Quality rules on live data: what is counted, and what is said of it."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fluid_build.contract.live import check_live
from fluid_build.sources import open_source
from tests.contract.live.promises import (
    NOW,
    check,
    column,
    database,
    expose,
    held,
    of_rule,
    promised,
    rule,
)


def one_table(folder: Path, *rows: str, columns: str = "a INTEGER, b VARCHAR") -> Path:
    inserts = [f"INSERT INTO t VALUES {row}" for row in rows]
    return database(folder / "w.duckdb", f"CREATE TABLE t ({columns})", *inserts)


def counted(place: Path, rule_: dict[str, Any]) -> tuple[str, int | None, int | None]:
    result = of_rule(place, rule_)
    return result.status, result.rows, result.violations


def test_completeness_counts_rows_with_a_null(tmp_path: Path) -> None:
    """A row breaks the rule where any of its columns is null."""
    place = one_table(tmp_path, "(1, 'x')", "(NULL, 'y')", "(3, NULL)", "(4, 'z')")
    assert counted(place, rule("completeness", "a")) == ("failed", 4, 1)
    assert counted(place, rule("completeness", "a, b")) == ("failed", 4, 2)


def test_uniqueness_counts_every_row_beyond_the_first(tmp_path: Path) -> None:
    """Three rows of one key are two too many; a null isn't a value and repeats nothing."""
    place = one_table(tmp_path, "(1, 'x')", "(1, 'x')", "(1, 'y')", "(NULL, 'x')", "(NULL, 'x')")
    assert counted(place, rule("uniqueness", "a")) == ("failed", 3, 2)
    listed = rule("uniqueness", "whatever", labels={"columns": '["a", "b"]'})
    assert counted(place, listed) == ("failed", 3, 1)


def test_accepted_values_are_compared_as_text_and_by_value(tmp_path: Path) -> None:
    """A quote in a value is a character, a decimal is accepted however it is spelled."""
    place = one_table(
        tmp_path,
        "(1.50, 'it''s')",
        "(2.00, 'no')",
        "(NULL, NULL)",
        columns="a DECIMAL(8,2), b TEXT",
    )
    labels = {"accepted-values": json.dumps(["1.5", "2"])}
    assert counted(place, rule("valid_values", "a", labels=labels)) == ("passed", 2, 0)
    labels = {"accepted-values": json.dumps(["it's"])}
    assert counted(place, rule("valid_values", "b", labels=labels)) == ("failed", 2, 1)


def test_orphans_are_counted_in_rows(tmp_path: Path) -> None:
    """A row refers to something where all of its columns are filled, and may find no parent."""
    place = database(
        tmp_path / "w.duckdb",
        "CREATE TABLE parent (id INTEGER, part VARCHAR)",
        "INSERT INTO parent VALUES (1, 'a'), (1, 'b'), (2, 'a')",
        "CREATE TABLE t (id BIGINT, part VARCHAR)",
        "INSERT INTO t VALUES (1, 'a'), (1, 'c'), (1, 'c'), (2, NULL), (NULL, 'a')",
    )
    labels = {"to-table": "parent", "to-columns": '["id", "part"]'}
    assert counted(place, rule("accuracy", "id, part", labels=labels)) == ("failed", 3, 2)


def test_a_reference_between_unlike_types_is_compared_as_text(tmp_path: Path) -> None:
    """Numbers in text are found among numbers, and other text is an orphan, not an error."""
    place = database(
        tmp_path / "w.duckdb",
        "CREATE TABLE parent (id INTEGER)",
        "INSERT INTO parent VALUES (1), (2)",
        "CREATE TABLE t (id VARCHAR)",
        "INSERT INTO t VALUES ('1'), ('x')",
    )
    labels = {"to-table": "parent", "to-columns": '["id"]'}
    assert counted(place, rule("accuracy", "id", labels=labels)) == ("failed", 2, 1)


def test_a_reference_leads_to_the_expose_of_that_id(tmp_path: Path) -> None:
    """The exposed table is meant, whatever it is called at the source."""
    place = database(
        tmp_path / "w.duckdb",
        "CREATE TABLE Clients (ClientId INTEGER)",
        "INSERT INTO Clients VALUES (1)",
        "CREATE TABLE t (client INTEGER)",
        "INSERT INTO t VALUES (1), (2)",
    )
    clients = expose(
        "customer",
        [column("customer_id", "integer", labels={"source-column": "ClientId"})],
        labels={"source-table": "Clients"},
    )
    labels = {"to-table": "customer", "to-columns": '["customer_id"]'}
    orders = expose("t", [column("client", "integer")], rule("accuracy", "client", labels=labels))
    found = check(held(place, clients, orders), "accuracy")
    assert (found.status, found.rows, found.violations) == ("failed", 2, 1)


@pytest.mark.parametrize(
    ("newest", "window", "status"),
    [
        ("2024-06-15 11:00:00", "PT2H", "passed"),
        ("2024-06-15 09:00:00", "PT2H", "failed"),
        ("2024-05-15 12:00:00", "P1M", "passed"),
        ("2024-05-15 11:59:59", "P1M", "failed"),
        ("2024-06-15 23:00:00", "PT1S", "passed"),
        ("2024-06-16 11:59:59", "PT1S", "passed"),
        ("2024-06-16 12:00:01", "PT1S", "failed"),
    ],
)
def test_freshness_is_the_age_of_the_newest_value(
    tmp_path: Path, newest: str, window: str, status: str
) -> None:
    """The newest timestamp lies within the window, or it does not."""
    place = one_table(
        tmp_path, "('2020-01-01')", f"('{newest}')", "(NULL)", columns="seen TIMESTAMP"
    )
    assert of_rule(place, rule("freshness", "seen", window=window)).status == status


def test_a_window_longer_than_all_calendars_is_kept(tmp_path: Path) -> None:
    """However many digits it has."""
    place = one_table(tmp_path, "('2020-01-01')", columns="seen TIMESTAMP")
    for window in ("P9999Y", f"P{'9' * 5000}D"):
        assert of_rule(place, rule("freshness", "seen", window=window)).status == "passed"


def test_a_reference_to_any_of_several_tables_is_not_checked(tmp_path: Path) -> None:
    """The other rules are tested all the same."""
    place = database(
        tmp_path / "w.duckdb",
        "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)",
        "CREATE SCHEMA x; CREATE TABLE x.p (id INTEGER)",
        "CREATE SCHEMA y; CREATE TABLE y.p (id INTEGER)",
    )
    labels = {"to-table": "p", "to-columns": '["id"]'}
    rules = [rule("accuracy", "a", labels=labels), rule("completeness", "a")]
    result = held(place, expose("t", [column("a", "integer")], *rules))
    assert check(result, "accuracy").reason == "several tables match its label to-table"
    assert check(result, "completeness").status == "passed"


def test_a_date_is_fresh_until_its_day_ends(tmp_path: Path) -> None:
    """At noon, the data of yesterday is half a day old; a date far ahead says nothing."""
    place = one_table(tmp_path, "('2024-06-14')", "('9999-12-31')", columns="seen DATE")
    assert of_rule(place, rule("freshness", "seen", window="PT13H")).status == "passed"
    assert of_rule(place, rule("freshness", "seen", window="PT11H")).status == "failed"


def test_the_age_of_personal_data_is_not_shown(tmp_path: Path) -> None:
    """Of a personal column only the verdict is said."""
    place = one_table(tmp_path, "('1990-05-17')", columns="born DATE")
    personal = [column("born", "date", sensitivity="pii")]
    found = of_rule(place, rule("freshness", "born", window="P1D"), personal)
    assert (found.status, found.observed) == ("failed", "older")


def test_a_schema_rule_counts_columns(tmp_path: Path) -> None:
    """Of three promised columns one is missing and one is of another type."""
    place = one_table(tmp_path, "(1, 'x')")
    columns = [column("a", "integer"), column("b", "date"), column("c", "string")]
    found = of_rule(place, rule("schema", threshold=0.3), columns)
    assert (found.status, found.observed) == ("passed", "2 of 3 columns differ")
    assert of_rule(place, rule("schema"), columns).status == "failed"


@pytest.mark.parametrize(
    ("rule_", "why"),
    [
        (rule("anomaly_detection", "a"), "earlier runs"),
        (rule("drift_detection", "a"), "earlier runs"),
        (rule("accuracy", "a"), "to-table"),
        (rule("accuracy", "a", labels={"to-table": "x", "to-columns": '["y"]'}), "doesn't exist"),
        (
            rule("accuracy", "a", labels={"to-table": "t", "to-columns": '["a", "b"]'}),
            "different number of columns",
        ),
        (rule("valid_values", "a"), "accepted-values"),
        (rule("valid_values", "a", labels={"accepted-values": "["}), "accepted-values"),
        (rule("freshness", "a"), "window"),
        (rule("freshness", "a", window="P1D"), "doesn't hold dates"),
        (rule("freshness", "b", window="P1D", threshold=24), "unit"),
        (rule("freshness", window="P1D"), "doesn't name"),
        (rule("completeness"), "names no column"),
        (rule("completeness", "length(b) > 3"), "isn't a list"),
        (rule("completeness", "a", window="P1D"), "window"),
        (rule("completeness", "a", threshold=250), "isn't a share"),
        (rule("completeness", "a", threshold=float("nan")), "isn't a share"),
        (rule("completeness", "a", threshold=10**400), "isn't a share"),
        (rule("uniqueness", "a", labels={"max-violations": "-1"}), "max-violations"),
    ],
)
def test_what_cannot_be_checked_says_why(tmp_path: Path, rule_: dict[str, Any], why: str) -> None:
    """Such a rule neither passes nor fails."""
    found = of_rule(one_table(tmp_path, "(1, 'x')"), rule_)
    assert (found.status, why in found.reason) == ("not_checked", True), found


def test_a_rule_without_rows_in_scope_is_not_checked(tmp_path: Path) -> None:
    """An empty table proves nothing, and neither does a column of nulls."""
    empty = one_table(tmp_path)
    assert of_rule(empty, rule("completeness", "a")).status == "not_checked"
    labels = {"accepted-values": '["x"]'}
    with duckdb.connect(str(empty)) as connection:
        connection.execute("INSERT INTO t VALUES (1, NULL)")
    assert of_rule(empty, rule("valid_values", "b", labels=labels)).status == "not_checked"


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({}, "failed"),
        ({"threshold": 0.75}, "passed"),
        ({"threshold": 75}, "passed"),
        ({"threshold": 0.76}, "failed"),
        ({"threshold": 0.75, "operator": ">"}, "failed"),
        ({"threshold": 0.75, "operator": "=="}, "passed"),
        ({"threshold": 0.75, "operator": "!="}, "failed"),
        ({"threshold": 0.5, "operator": "<="}, "failed"),
        ({"threshold": 0.8, "operator": "<"}, "passed"),
        ({"labels": {"max-violations": "1"}}, "passed"),
        ({"labels": {"max-violations": "0"}}, "failed"),
        ({"threshold": 0.5, "labels": {"max-violations": "0"}}, "failed"),
        ({"threshold": 0.9, "labels": {"max-violations": "3"}}, "failed"),
    ],
)
def test_the_limit_is_a_share_of_rows_and_a_number_of_them(
    tmp_path: Path, more: dict[str, Any], status: str
) -> None:
    """One of four rows breaks the rule: both limits must allow that."""
    place = one_table(tmp_path, "(1, '')", "(2, '')", "(3, '')", "(NULL, '')")
    assert of_rule(place, rule("completeness", "a", **more)).status == status


def test_sql_of_a_contract_is_never_run(tmp_path: Path) -> None:
    """Neither a label nor a selector nor a name gets into a query as SQL."""
    place = one_table(tmp_path, "(1, 'x')")
    nasty = '"a"; DROP TABLE t; --'
    rules = [
        rule("completeness", "a", labels={"sql": "DROP TABLE t"}),
        rule("uniqueness", nasty),
        rule("valid_values", "b", labels={"accepted-values": json.dumps(["'); DROP TABLE t; --"])}),
    ]
    found = held(place, expose("t", [column("a"), column("b"), column(nasty)], *rules))
    assert [check(found, each["id"]).status for each in rules] == [
        "passed",
        "not_checked",
        "failed",
    ]
    with duckdb.connect(str(place)) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (1,)


def test_expressions_are_named_and_not_run(tmp_path: Path) -> None:
    """Rules that are code are listed as not checked."""
    place = one_table(tmp_path, "(1, 'x')")
    promise = {
        "schema": [
            column("a", "integer", validationRules=[{"type": "range", "constraint": "> 0"}])
        ],
        "quality": [{"rule": "positive", "expression": "a > 0", "severity": "warning"}],
    }
    found = held(place, {**expose("t", []), "contract": promise})
    told = {each.id: each.status for each in found.checks if each.subject == "rule"}
    assert told == {"t.positive": "not_checked", "t.a.validation_1": "not_checked"}


def test_the_query_shown_returns_the_rows_that_break_the_rule(tmp_path: Path) -> None:
    """Run on the source as it is, it gives as many rows as were counted."""
    place = one_table(tmp_path, "(1, 'x')", "(NULL, 'y')", "(NULL, 'z')")
    found = of_rule(place, rule("completeness", "a"))
    with duckdb.connect(str(place)) as connection:
        assert len(connection.execute(found.sql).fetchall()) == found.violations == 2


def test_one_query_reads_a_table_whatever_its_rules(tmp_path: Path) -> None:
    """Only keys and references have queries of their own."""
    place = one_table(tmp_path, "(1, 'x')", "(2, 'y')")
    labels = {"accepted-values": '["x", "y"]'}
    rules = [
        rule("completeness", "a", threshold=0.5),
        rule("completeness", "b", threshold=0.5) | {"id": "second"},
        rule("valid_values", "b", labels=labels),
        rule("uniqueness", "a"),
    ]
    columns = [column("a", "integer", required=True), column("b", "varchar(9)", required=True)]
    with open_source(place) as source:
        source.connection.execute("CALL enable_logging('QueryLog')")
        check_live(promised(expose("t", columns, *rules)), source, now=NOW)
        source.connection.execute("CALL disable_logging()")
        logged = source.connection.execute(
            "SELECT message FROM duckdb_logs WHERE message LIKE 'SELECT%'"
        ).fetchall()
    assert len(logged) == 2, logged


@settings(max_examples=12)
@given(
    rows=st.lists(
        st.tuples(st.none() | st.integers(0, 4), st.sampled_from([None, "x", "y", "'"])),
        max_size=12,
    )
)
def test_the_counts_are_those_of_a_plain_count(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int | None, str | None]]
) -> None:
    """Whatever the rows, nulls, repeats, other values and orphans are counted right."""
    path = tmp_path_factory.mktemp("rows") / "w.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER, b VARCHAR)")
        connection.execute("CREATE TABLE p (id INTEGER); INSERT INTO p VALUES (1), (3)")
        if rows:
            connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
    keys = Counter(a for a, _ in rows if a is not None)
    filled = [b for _, b in rows if b is not None]
    expected = {
        "completeness": (len(rows), sum(a is None for a, _ in rows)),
        "uniqueness": (keys.total(), keys.total() - len(keys)),
        "valid_values": (len(filled), sum(b not in ("x", "'") for b in filled)),
        "accuracy": (keys.total(), sum(n for a, n in keys.items() if a not in (1, 3))),
    }
    result = held(
        path,
        expose(
            "t",
            [column("a", "integer"), column("b")],
            rule("completeness", "a"),
            rule("uniqueness", "a"),
            rule("valid_values", "b", labels={"accepted-values": json.dumps(["x", "'"])}),
            rule("accuracy", "a", labels={"to-table": "p", "to-columns": '["id"]'}),
        ),
    )
    for id_, (of_rows, violations) in expected.items():
        found = check(result, id_)
        if of_rows:
            assert (found.rows, found.violations) == (of_rows, violations), id_
            assert found.status == ("failed" if violations else "passed")
        else:
            assert found.status == "not_checked"
