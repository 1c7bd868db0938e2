"""Nested documents of any shape come back from the tables that they are split into."""

import json
import tempfile
from pathlib import Path
from typing import Any

import duckdb
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.sources import open_source
from fluid_build.sources.sql import literal
from fluid_build.transform.proof.nested_documents import prove_nested
from fluid_build.transform.proof.row_comparison import between, count, describe
from tests.examples import dear_property

NAMES = st.sampled_from(
    ["id", "name", "value", "position", "present", "a__b", "a", "b", "it's", 'q"', "x.y", "é", "$k"]
)
SCALARS = st.sampled_from(["int", "text", "double", "bool"])


def shapes(depth: int) -> st.SearchStrategy[Any]:
    """Return types of documents: the name of a scalar, a list of one type, or fields."""
    if depth == 0:
        return SCALARS
    inner = shapes(depth - 1)
    fields = st.dictionaries(NAMES, inner, min_size=1, max_size=3)
    return st.one_of(SCALARS, fields, inner.map(lambda shape: [shape]))


def values(shape: Any) -> st.SearchStrategy[Any]:
    """Return values of a type, any of which may be null."""
    if isinstance(shape, dict):
        return st.one_of(st.none(), st.fixed_dictionaries({k: values(v) for k, v in shape.items()}))
    if isinstance(shape, list):
        return st.one_of(st.none(), st.lists(values(shape[0]), max_size=3))
    scalars: dict[str, st.SearchStrategy[Any]] = {
        "int": st.integers(-5, 5),
        "text": st.sampled_from(["", "x", "null", "2024-01-01", "it's", "[1]"]),
        "double": st.sampled_from([0.5, -1.25, 1e300]),
        "bool": st.booleans(),
    }
    return st.one_of(st.none(), scalars[shape])


def duckdb_type(shape: Any) -> str:
    if isinstance(shape, dict):
        fields = ", ".join(
            '"' + name.replace('"', '""') + '" ' + duckdb_type(field)
            for name, field in shape.items()
        )
        return f"STRUCT({fields})"
    if isinstance(shape, list):
        return f"{duckdb_type(shape[0])}[]"
    return {"int": "BIGINT", "text": "VARCHAR", "double": "DOUBLE", "bool": "BOOLEAN"}[shape]


@st.composite
def documents(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a type, and documents of it."""
    shape = draw(st.dictionaries(NAMES, shapes(3), min_size=1, max_size=3))
    rows = st.fixed_dictionaries({name: values(field) for name, field in shape.items()})
    return shape, draw(st.lists(rows, min_size=1, max_size=6))


def check_round_trip(place: Path) -> None:
    """Every split table is flat, and gives its documents back, here and read again."""
    with open_source(place) as source:
        for table in source.tables:
            assert not any(column.type.endswith("]") for column in table.columns)
            assert not any(column.type.startswith("STRUCT") for column in table.columns)
            names = [column.alias.lower() for column in table.columns]
            assert len(set(names)) == len(names)
            proof = prove_nested(source, table)
            assert proof is None or proof.holds
            if table.split is not None:
                again = table.split.before + table.split.documents.table.relation
                queries = f"FROM {table.relation}", f"FROM {again}{table.split.after}"
                ours, theirs = (describe(source.connection, query) for query in queries)
                counts = count(source.connection, between(queries[0], ours, queries[1], theirs))
                assert ours == theirs
                assert not (counts.missing or counts.unexpected)


@dear_property
@given(documents())
def test_documents_in_duckdb_survive_being_split(
    generated: tuple[dict[str, Any], list[dict[str, Any]]],
) -> None:
    """Structs and lists of any depth are split, and nothing of them is lost."""
    shape, rows = generated
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "t.duckdb"
        with duckdb.connect(str(place)) as connection:
            text = literal(json.dumps(rows))
            connection.execute(
                f"CREATE TABLE t AS SELECT unnest(from_json_strict({text},"
                f" {literal(json.dumps([_structure(shape)]))}), max_depth := 2)"
            )
        check_round_trip(place)


ANY_JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**20), 10**20),
        st.sampled_from([1.5, 2.0, 1e300, "x", "", "2024-01-01", "a@example.com"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["a", "A", "", "b.c", "d]", "a@example.com", 'q"']), inner, max_size=3
        ),
    ),
    max_leaves=8,
)


@dear_property
@given(st.lists(ANY_JSON, min_size=1, max_size=5))
def test_json_of_any_structure_survives(rows: list[Any]) -> None:
    """JSON is split as far as its values have a structure in common, and loses nothing."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "t.duckdb"
        with duckdb.connect(str(place)) as connection:
            connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, document JSON)")
            connection.executemany(
                "INSERT INTO t VALUES (?, ?)",
                [(number, json.dumps(row)) for number, row in enumerate(rows)],
            )
        check_round_trip(place)


@dear_property
@given(documents())
def test_json_columns_survive_being_split(
    generated: tuple[dict[str, Any], list[dict[str, Any]]],
) -> None:
    """Columns of JSON text are split in the same way."""
    _, rows = generated
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "t.duckdb"
        with duckdb.connect(str(place)) as connection:
            connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, document JSON)")
            connection.executemany(
                "INSERT INTO t VALUES (?, ?)",
                [(number, json.dumps(row)) for number, row in enumerate(rows)],
            )
        check_round_trip(place)


def _structure(shape: Any) -> Any:
    if isinstance(shape, dict):
        return {name: _structure(field) for name, field in shape.items()}
    if isinstance(shape, list):
        return [_structure(shape[0])]
    return duckdb_type(shape)
