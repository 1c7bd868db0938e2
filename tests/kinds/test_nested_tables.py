"""What nested columns are split into: tables, keys, names and notes."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb
import pytest

from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.base import DeclaredForeignKey, Source, Table
from fluid_build.transform.proof.nested_documents import prove_nested


@contextmanager
def database(folder: Path, *statements: str) -> Iterator[Source]:
    """Open a DuckDB file that statements made; each document in it can be rebuilt."""
    path = folder / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    with open_source(path) as source:
        yield source
        assert_rebuilt(source)


def assert_rebuilt(source: Source) -> None:
    for table in source.tables:
        proof = prove_nested(source, table)
        assert proof is None or proof.holds


def named(source: Source, name: str) -> Table:
    return next(table for table in source.tables if table.name == name)


def columns(source: Source, name: str) -> list[str]:
    return [column.name for column in named(source, name).columns]


def rows(source: Source, name: str) -> list[tuple[object, ...]]:
    return source.connection.execute(f"FROM {named(source, name).relation} ORDER BY ALL").fetchall()


def test_lists_become_tables_and_structs_become_columns(tmp_path: Path) -> None:
    """A child has the key of its document and the position in the list; its key is both."""
    with database(
        tmp_path,
        "CREATE TABLE orders AS SELECT 7 AS id, {'name': 'A', 'at': {'city': 'X'}} AS customer,"
        " [{'sku': 'a', 'parts': [1, 2]}, {'sku': 'b', 'parts': [3]}] AS lines, ['x'] AS tags",
    ) as source:
        assert rows(source, "orders") == [(7, "A", "X")]
        assert columns(source, "orders") == ["id", "customer__name", "customer__at__city"]
        assert rows(source, "orders__lines") == [(7, 1, "a"), (7, 2, "b")]
        assert columns(source, "orders__lines") == ["orders__id", "position", "sku"]
        assert rows(source, "orders__tags") == [(7, 1, "x")]
        assert rows(source, "orders__lines__parts") == [(7, 1, 1, 1), (7, 1, 2, 2), (7, 2, 1, 3)]
        parts = named(source, "orders__lines__parts")
        assert parts.primary_key == ("orders__id", "lines__position", "position")
        assert parts.foreign_keys == (
            DeclaredForeignKey(
                ("orders__id", "lines__position"), "orders__lines", ("orders__id", "position")
            ),
        )
        assert named(source, "orders").notes == (
            "Its lists became the tables orders__lines, orders__lines__parts, orders__tags.",
        )


def test_what_is_missing_is_stated_only_where_it_could_be_mistaken(tmp_path: Path) -> None:
    """A column says whether a list is there where null lists and empty ones both occur."""
    with database(
        tmp_path,
        "CREATE TABLE t (id INTEGER, nulls INT[], empties INT[], either INT[], s STRUCT(a INT))",
        "INSERT INTO t VALUES (1, NULL, [], [], NULL), (2, [1], [1], NULL, {'a': NULL}),"
        " (3, [1], [1], [1], {'a': 5})",
    ) as source:
        assert columns(source, "t") == ["id", "either__present", "s__present", "s__a"]
        assert rows(source, "t") == [(1, True, False, None), (2, False, True, None),
                                     (3, True, True, 5)]  # fmt: skip


def test_a_declared_key_goes_before_a_likely_name(tmp_path: Path) -> None:
    """The primary key identifies a document, even of several columns."""
    with database(
        tmp_path,
        "CREATE TABLE t (id INTEGER, a INTEGER, b INTEGER, l INT[], PRIMARY KEY (a, b))",
        "INSERT INTO t VALUES (1, 1, 1, [5]), (2, 1, 2, [6])",
        "COMMENT ON COLUMN t.l IS 'what it weighs'",
    ) as source:
        child = named(source, "t__l")
        assert child.primary_key == ("t__a", "t__b", "position")
        assert child.comment == "what it weighs"
        assert named(source, "t").primary_key == ("a", "b")


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ("1 + i % 2 AS id, 'k' || i AS order_no, [i] AS l", "orders__order_no"),
        ("{'$oid': 'x' || i} AS _id, [i] AS l", "orders___id__$oid"),
        ("i AS order_id, i AS other_id, [i] AS l", "orders__order_id"),
        ("i / 2 AS id, [i] AS l", "orders__row_number"),
        ("CASE WHEN i > 0 THEN i END AS id, [i] AS l", "orders__row_number"),
        ("i AS weight, [i] AS l", "orders__row_number"),
    ],
)
def test_a_document_is_identified_by_a_column_that_names_and_counts_it(
    tmp_path: Path, fields: str, key: str
) -> None:
    """A name alone is no key, and neither is chance: without both, rows are numbered."""
    with database(tmp_path, f"CREATE TABLE orders AS SELECT {fields} FROM range(6) r(i)") as source:
        assert columns(source, "orders__l")[0] == key
        is_numbered = key.endswith("row_number")
        assert (named(source, "orders").primary_key == ("row_number",)) == is_numbered


def test_the_entries_of_a_map_are_rows_of_keys_and_values(tmp_path: Path) -> None:
    """Keys are data; they never become names."""
    with database(
        tmp_path, "CREATE TABLE t AS SELECT 1 AS id, MAP {'x': {'n': 1}, 'y': NULL} AS m"
    ) as source:
        assert columns(source, "t__m") == ["t__id", "position", "key", "value__n"]
        assert rows(source, "t__m") == [(1, 1, "x", 1), (1, 2, "y", None)]


def test_names_that_clash_are_told_apart(tmp_path: Path) -> None:
    """Columns and tables that exist keep their names, and generated ones give way."""
    with database(
        tmp_path,
        "CREATE TABLE t AS SELECT 1 AS id, 2 AS a__b, {'b': 3, 'B__c': 4} AS a,"
        " [{'position': 'p', 't__id': 'q', 'value': 5}] AS l",
        "CREATE TABLE T__L AS SELECT 9 AS id",
    ) as source:
        assert rows(source, "t") == [(1, 2, 3, 4)]
        assert columns(source, "t") == ["id", "a__b", "a__b_2", "a__B__c"]
        assert columns(source, "t__l_2") == ["t__id_2", "position_2", "position", "t__id", "value"]
        assert rows(source, "T__L") == [(9,)]


def test_json_text_is_split_like_a_struct(tmp_path: Path) -> None:
    """A column of type JSON has the structure that all of its documents share."""
    with database(
        tmp_path,
        "CREATE TABLE events (id INTEGER, body JSON)",
        """INSERT INTO events VALUES (1, '{"kind": "a", "at": 1.50, "to": ["x", "y"]}'),"""
        """ (2, '{"at": 2, "kind": null, "n": 12345678901}'), (3, NULL)""",
    ) as source:
        assert rows(source, "events") == [
            (1, "a", 1.5, None),
            (2, None, 2.0, 12345678901),
            (3, None, None, None),
        ]
        assert rows(source, "events__body__to") == [(1, 1, "x"), (1, 2, "y")]


def test_json_without_a_structure_stays_json_with_a_note(tmp_path: Path) -> None:
    """What differs from document to document isn't forced into one type."""
    with database(
        tmp_path,
        "CREATE TABLE t (id INTEGER, j JSON, k JSON, big JSON)",
        """INSERT INTO t VALUES (1, '{"a": 1, "b": [1]}', '"x"', '{"n": 0.1234567890123456789}'),"""
        """ (2, '{"a": 2, "b": {"c": 2}}', '[1]', '{"n": 1.5}')""",
    ) as source:
        types = {column.name: column.type for column in named(source, "t").columns}
        assert types == {"id": "INTEGER", "j__a": "BIGINT", "j__b": "JSON", "k": "JSON",
                         "big": "JSON"}  # fmt: skip
        notes = {column.name: column.notes for column in named(source, "t").columns}
        assert notes["j__b"] == ("Its JSON values have no structure in common, so they stay JSON.",)
        assert notes["id"] == ()


def test_keys_that_are_personal_values_become_rows(tmp_path: Path) -> None:
    """An object by e-mail address is a map: its keys are data in a column of their own."""
    for ending in ("json", "duckdb"):
        record = {"id": 1, "fans": {"zoe@example.org": 1, "max@example.org": 2}}
        folder = tmp_path / ending
        folder.mkdir()
        if ending == "json":
            (folder / "t.json").write_text(json.dumps([record]))
        else:
            with duckdb.connect(str(folder / "t.duckdb")) as connection:
                connection.execute("CREATE TABLE t (id INTEGER, fans JSON)")
                connection.execute("INSERT INTO t VALUES (1, ?)", [json.dumps(record["fans"])])
        with open_source(folder / f"t.{ending}") as source:
            assert columns(source, "t__fans") == ["t__id", "position", "key", "value"]
            assert_rebuilt(source)


def test_json_in_sqlite_is_split_where_it_is_declared(tmp_path: Path) -> None:
    """A column declared JSON is; other text is left alone, whatever it looks like."""
    with closing(sqlite3.connect(tmp_path / "t.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, j JSON, s TEXT)")
        connection.execute("""INSERT INTO t VALUES (1, '{"a": [1]}', '{"a": [1]}')""")
    with open_source(tmp_path / "t.sqlite") as source:
        assert rows(source, "t") == [(1, '{"a": [1]}')]
        assert rows(source, "t__j__a") == [(1, 1, 1)]


def test_limits_leave_the_rest_nested_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is too deep, or too much, stays as it is, and the note says how to allow more."""
    monkeypatch.setenv("FLUID_MAX_NESTED_TABLES", "1")
    with database(tmp_path, "CREATE TABLE t AS SELECT 1 AS id, [1] AS a, [2] AS b") as source:
        assert [table.name for table in source.tables] == ["t", "t__a"]
        assert named(source, "t").column("b").type == "INTEGER[]"
        assert named(source, "t").notes[-1] == (
            "b stays nested: 1 others became tables. Set the environment variable"
            " FLUID_MAX_NESTED_TABLES to allow more."
        )
    monkeypatch.setenv("FLUID_MAX_NESTED_DEPTH", "2")
    (tmp_path / "deep").mkdir()
    deep = "CREATE TABLE t AS SELECT 1 AS id, {'a': {'b': {'c': 1}}} AS s"
    with database(tmp_path / "deep", deep) as source:
        assert columns(source, "t") == ["id", "s__a__b"]


def test_vectors_and_flat_tables_stay_as_they_are(tmp_path: Path) -> None:
    """An array of a fixed size is one value; a table without nested columns isn't touched."""
    with database(
        tmp_path,
        "CREATE TABLE v AS SELECT 1 AS id, [1.5, 2]::FLOAT[2] AS embedding",
        "CREATE TABLE flat AS SELECT 1 AS id",
        "CREATE TABLE empty (id INTEGER, l INTEGER[])",
    ) as source:
        assert [table.name for table in source.tables] == ["empty", "empty__l", "flat", "v"]
        assert named(source, "v").split is None
        assert named(source, "v").column("embedding").type == "FLOAT[2]"
        assert rows(source, "empty__l") == []


def test_references_to_a_split_table_still_hold(tmp_path: Path) -> None:
    """Declared keys of plain columns are those of the table with a row for each document."""
    with database(
        tmp_path,
        "CREATE TABLE a (id INTEGER PRIMARY KEY, l INTEGER[])",
        "CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INTEGER REFERENCES a (id), l INTEGER[])",
        "INSERT INTO a VALUES (1, [1])",
        "INSERT INTO b VALUES (1, 1, [2])",
    ) as source:
        assert named(source, "b").foreign_keys == (DeclaredForeignKey(("a_id",), "a", ("id",)),)


def test_positions_in_two_lists_of_a_document_are_no_reference(tmp_path: Path) -> None:
    """The positions in a list inside a list are among those in the outer one by chance."""
    lines = "[{'n': i, 'codes': ['a']}, {'n': i + 1, 'codes': []}]"
    rows = f"SELECT i AS id, {lines} AS lines FROM range(60) t(i)"
    with database(tmp_path, f"CREATE TABLE orders AS {rows}") as source:
        profile = profile_source(source)
    references = [(key.from_table, key.from_columns) for key in profile.foreign_keys]
    assert ("orders__lines__codes", ("orders__id", "lines__position")) in references
    assert ("orders__lines__codes", ("orders__id", "position")) not in references


def test_keys_that_splitting_makes_are_not_called_declared_by_the_source(tmp_path: Path) -> None:
    """The reason says where they come from."""
    with database(tmp_path, "CREATE TABLE t AS SELECT unnest([[1, 2], [3]]) AS l") as source:
        profile = profile_source(source)
    root, child = profile.tables
    assert root.primary_key_reason == "it numbers the rows in the order that they were read"
    assert child.primary_key_reason == (
        "the key of the row that it was nested in, and the position there"
    )
    (reference,) = profile.foreign_keys
    assert reference.evidence.reason == "its rows were nested in those of t"
