"""The next load of a history: what it adds follows from what was there and what arrives, alone."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.modeling.data_vault.elements import HashKeyStrategy
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.elements import MacroCall, Relation, SqlType
from fluid_build.transform.plan.macro_calls import called_sql, macro_call

Key = tuple[str | None, int | None]
Row = tuple[Key, str | None, float | None]
Load = tuple[int, list[Row]]
Stored = tuple[Key, str | None, float | None, datetime, bool]

STRATEGY = HashKeyStrategy()
FIRST = datetime(2024, 1, 1)
_PAYLOAD = {"columns": ["name", "amount"], "text": ["name"]}
HISTORIES = {
    "multi-active satellite": macro_call(
        "vault_satellite",
        staging=Relation("arrived"),
        key="part_1",
        multi_active=["part_2"],
        **_PAYLOAD,
    ),
    "satellite with a ghost": macro_call(
        "vault_satellite",
        staging=Relation("arrived"),
        key="part_1",
        has_ghost=True,
        ghost={"name": SqlType("VARCHAR"), "amount": SqlType("DOUBLE")},
        **_PAYLOAD,
    ),
    "code list": macro_call(
        "vault_reference_table",
        staging=Relation("arrived"),
        keys=["part_1", "part_2"],
        record_source="'shop.arrived'",
        **_PAYLOAD,
    ),
    "versions": macro_call(
        "dimension_versions", staging=Relation("arrived"), keys=["part_1", "part_2"], **_PAYLOAD
    ),
    "effectivity": macro_call("vault_satellite", staging=Relation("arrived"), key="part_1"),
}

_parts = st.sampled_from(["a", "b", "c", "d"])
_rows = st.tuples(
    st.tuples(_parts | st.none(), st.none() | st.integers(1, 2)),
    st.none() | st.sampled_from(["", "x", "y", "^^"]),
    st.none() | st.sampled_from([0.0, 1.5]),
)
_loads = st.lists(st.tuples(st.integers(0, 3), st.lists(_rows, max_size=6)), min_size=2, max_size=6)
"""Loads on a few days in any order, several of them on some, of rows whose keys may be broken."""


@contextmanager
def _database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("CREATE SCHEMA model")
        connection.execute(
            "CREATE TABLE model.arrived (part_1 VARCHAR, part_2 INTEGER, name VARCHAR,"
            " amount DOUBLE, record_source VARCHAR)"
        )
        yield connection


def _load(
    connection: duckdb.DuckDBPyConnection, call: MacroCall, load: Load, *, again: bool
) -> None:
    day, rows = load
    moment = (FIRST + timedelta(days=day)).isoformat(" ")
    connection.execute(f"SET VARIABLE load_date = TIMESTAMP {literal(moment)}")
    connection.execute("DELETE FROM model.arrived")
    for (part_1, part_2), name, amount in rows:
        connection.execute(
            "INSERT INTO model.arrived VALUES (?, ?, ?, ?, 'shop')", [part_1, part_2, name, amount]
        )
    made = called_sql(call, "history", STRATEGY)
    connection.execute(
        f"INSERT INTO model.history {made.next_load}"
        if again
        else f"CREATE TABLE model.history AS {made.sql}"
    )


def _added(stored: Sequence[Stored], load: Load, compared: int = 2) -> Iterator[Stored]:
    """What a load adds: all rows of a key that isn't as it was, and all of one that is gone.

    ``compared`` is how many columns of the payload tell rows apart.
    """
    moment = FIRST + timedelta(days=load[0])
    keys = dict.fromkeys([row[0] for row in stored] + [row[0] for row in load[1]])
    for key in keys:
        of_key = [row for row in stored if row[0] == key]
        latest = max((row[3] for row in of_key), default=moment)
        was = [row for row in of_key if row[3] == latest and not row[4]]
        now = [row for row in load[1] if row[0] == key]
        end = 1 + compared
        if Counter(row[1:end] for row in now) != Counter(row[1:end] for row in was):
            yield from ((*row, moment, False) for row in now)
            yield from ((*row[:3], moment, True) for row in was if not now)


def _arriving(kind: str, load: Load) -> Load:
    """The rows as the relation knows them: without a key or a payload that it doesn't have."""
    day, rows = load
    if kind in ("satellite with a ghost", "multi-active satellite", "effectivity"):
        rows = [row for row in rows if row[0][0] is not None]
    if kind in ("satellite with a ghost", "effectivity"):
        rows = [((part_1, None), name, amount) for (part_1, _), name, amount in rows]
    if kind == "effectivity":
        rows = [(key, None, None) for key, _, _ in rows]
    return day, rows


@pytest.mark.parametrize("kind", HISTORIES)
@given(loads=_loads)
def test_a_load_adds_what_changed_and_nothing_else(kind: str, loads: list[Load]) -> None:
    """Whatever the order of loads, with deletions, returns, nulls and broken keys."""
    loads = [_arriving(kind, load) for load in loads]
    expected: list[Stored] = []
    if kind == "satellite with a ghost":
        expected.append((("0" * 32, None), None, None, datetime(1900, 1, 1), True))
    with _database() as connection:
        for number, load in enumerate(loads):
            expected += list(_added(expected, load)) if number else _first(load)
            _load(connection, HISTORIES[kind], load, again=number > 0)
            found = connection.execute(f"SELECT {_columns(kind)} FROM model.history").fetchall()
            assert Counter(((a, b), *rest) for a, b, *rest in found) == Counter(expected)


@pytest.mark.parametrize("kind", [kind for kind in HISTORIES if kind != "effectivity"])
@given(loads=_loads)
def test_a_column_that_the_source_dropped_tells_no_rows_apart(kind: str, loads: list[Load]) -> None:
    """It's null in what arrives, and rows that were loaded with it keep what they had."""
    loads = [_arriving(kind, load) for load in loads]
    loads[1:] = [(day, [(key, name, None) for key, name, _ in rows]) for day, rows in loads[1:]]
    call = HISTORIES[kind]
    without = MacroCall(macro=call.macro, arguments={**call.arguments, "retired": ["amount"]})
    expected: list[Stored] = []
    if kind == "satellite with a ghost":
        expected.append((("0" * 32, None), None, None, datetime(1900, 1, 1), True))
    with _database() as connection:
        for number, load in enumerate(loads):
            expected += list(_added(expected, load, compared=1)) if number else _first(load)
            _load(connection, without if number else call, load, again=number > 0)
            found = connection.execute(f"SELECT {_columns(kind)} FROM model.history").fetchall()
            assert Counter(((a, b), *rest) for a, b, *rest in found) == Counter(expected)


@pytest.mark.parametrize("kind", [kind for kind in HISTORIES if kind != "effectivity"])
@given(loads=_loads)
def test_hashes_of_other_types_make_no_rows(kind: str, loads: list[Load]) -> None:
    """Stored rows are compared by their columns, whatever was stored as their hash."""
    loads = [_arriving(kind, load) for load in loads]
    call = HISTORIES[kind]
    wider = MacroCall(macro=call.macro, arguments={**call.arguments, "other_hashes": True})
    hash_column = "row_hash" if kind == "versions" else "hash_diff"
    expected: list[Stored] = []
    if kind == "satellite with a ghost":
        expected.append((("0" * 32, None), None, None, datetime(1900, 1, 1), True))
    with _database() as connection:
        for number, load in enumerate(loads):
            expected += list(_added(expected, load)) if number else _first(load)
            _load(connection, wider if number else call, load, again=number > 0)
            connection.execute(
                f"UPDATE model.history SET {hash_column} = 'older' WHERE part_1 <> '{'0' * 32}'"
            )
            found = connection.execute(f"SELECT {_columns(kind)} FROM model.history").fetchall()
            assert Counter(((a, b), *rest) for a, b, *rest in found) == Counter(expected)


def _first(load: Load) -> Iterator[Stored]:
    return ((*row, FIRST + timedelta(days=load[0]), False) for row in load[1])


def _columns(kind: str) -> str:
    part_2 = "NULL" if kind in ("satellite with a ghost", "effectivity") else "part_2"
    payload = "NULL, NULL" if kind == "effectivity" else "name, amount"
    return f"part_1, {part_2}, {payload}, load_date, is_deleted"


def test_a_row_that_others_lead_to_comes_with_a_later_load_where_it_is_missing() -> None:
    """A satellite that was loaded before anything led to its ghost gets one."""
    plain = macro_call("vault_satellite", staging=Relation("arrived"), key="part_1", **_PAYLOAD)
    ghost = HISTORIES["satellite with a ghost"]
    with _database() as connection:
        _load(connection, plain, (0, [(("a", None), "x", 1.5)]), again=False)
        for day in (1, 2):
            _load(connection, ghost, (day, [(("a", None), "x", 1.5)]), again=True)
        assert connection.execute(
            "SELECT record_source, is_deleted FROM model.history ORDER BY load_date"
        ).fetchall() == [("ghost record", True), ("shop", False)]
