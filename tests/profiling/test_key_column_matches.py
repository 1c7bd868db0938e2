"""What is compared by name is found by indexes and shapes, which miss no similar name."""

from hypothesis import given
from hypothesis import strategies as st

from fluid_build.profiling.measure.figures import ColumnStats, TableStats
from fluid_build.profiling.measure.schema import MeasuredColumn, MeasuredTable, build_tables
from fluid_build.profiling.names.key_names import reference_score
from fluid_build.profiling.names.name_shapes import NameShapes, could_mean, key_shape
from fluid_build.profiling.references.column_matches import KeyColumnSearch, match_score
from fluid_build.profiling.weights import DEFAULT_WEIGHTS
from fluid_build.sources.base import Column, Table
from tests.profiling.databases import database, tables_of
from tests.profiling.domains import DOMAINS
from tests.profiling.spelling import STYLES, respelled

WORDS = (
    "order orders line lines item customer cust client staff employee person people by author id"
    " no code key date number type name product prod sales ord ol status address ship to department"
    " dept currency unit member membership s custaddr"
).split()
NAME = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)
GLUE = st.sampled_from(["_", ""])
COLUMNS = st.lists(NAME, min_size=2, max_size=5, unique_by="_".join)
TABLE = st.tuples(NAME, COLUMNS)
SCHEMA = st.lists(TABLE, min_size=2, max_size=4, unique_by=lambda table: "_".join(table[0]))
WEIGHTS = DEFAULT_WEIGHTS.names


def tables_named(schema: list[tuple[list[str], list[list[str]]]], glue: str) -> list[MeasuredTable]:
    """Return tables of two rows with those names, whose columns all have the same values."""
    stats = []
    for table, columns in schema:
        names = dict.fromkeys(glue.join(words) for words in columns)
        table_columns = tuple(Column(name, "INTEGER") for name in names)
        figures = [
            ColumnStats(column, "integer", rows=2, distinct=2, is_integral=True, bounds=(0, 1))
            for column in table_columns
        ]
        stats.append(
            TableStats(Table(glue.join(table), table_columns, "t"), 2, figures, is_complete=True)
        )
    return build_tables(stats)


def check(tables: list[MeasuredTable]) -> None:
    """Assert that the search returns exactly the columns whose match score is high enough."""
    search = KeyColumnSearch(tables, {}, WEIGHTS)
    columns = [column for table in tables for column in table.columns if column.key_kind]
    for key_column in columns:
        by_table = search.matches(key_column).values()
        matches = {(id(column), score) for options in by_table for score, column in options}
        assert matches == {
            (id(column), score)
            for column in columns
            if column.key_kind == key_column.key_kind
            and column.table is not key_column.table
            and (score := match_score(column.parsed_name, key_column, WEIGHTS))
            >= WEIGHTS.key_column_least
        }
        namesakes = search.namesakes([key_column])
        assert [column.table.index for (column,) in namesakes] == sorted(
            index for index, options in search.matches(key_column).items() if options[0][0] == 1
        )
    check_shapes(columns)


def check_shapes(columns: list[MeasuredColumn]) -> None:
    """Assert that shapes rule out no pair whose names score."""
    keys = [(key, key_shape(key.parsed_name, key.table.parsed_name)) for key in columns]
    shapes = NameShapes(shape for _, shape in keys)
    for child in columns:
        name = shapes.of(child.parsed_name)
        missed = [
            f"{child} {key}"
            for key, shape in keys
            if not could_mean(name, shape)
            and reference_score(
                child.parsed_name,
                key.parsed_name,
                key.table.parsed_name,
                key.own_key_score,
                WEIGHTS,
            )
        ]
        assert not missed


@given(SCHEMA, GLUE)
def test_every_similar_name_is_found(
    schema: list[tuple[list[str], list[list[str]]]], glue: str
) -> None:
    """Indexing names by their beginnings and ends loses none with a high enough score."""
    check(tables_named(schema, glue))


def test_every_name_of_the_domains_is_found_in_every_style() -> None:
    """In everyday schemas, in every spelling, the search agrees with comparing all pairs."""
    for name in ("clinic", "logistics"):
        for style in STYLES:
            with database(respelled(DOMAINS[name], style).script) as source:
                check(tables_of(source))


def test_columns_that_refer_to_the_same_key_match() -> None:
    """Columns with the same target match whatever they are called."""
    script = (
        "CREATE TABLE hub AS SELECT i AS hub_id FROM range(9) t(i);"
        "CREATE TABLE a AS SELECT i AS foo, i AS bar FROM range(9) t(i);"
        "CREATE TABLE b AS SELECT i AS quux, i AS zed FROM range(9) t(i)"
    )
    with database(script) as source:
        a, b, hub = sorted(tables_of(source), key=lambda table: table.name)
        targets = {id(a.by_name["foo"]): hub.columns[0], id(b.by_name["quux"]): hub.columns[0]}
        search = KeyColumnSearch([a, b, hub], targets, WEIGHTS)
        assert search.matches(a.by_name["foo"])[b.index] == [(0.85, b.by_name["quux"])]
        assert b.index not in search.matches(a.by_name["bar"])
        (score, column), *_ = search.matches(hub.columns[0])[a.index]
        assert (score, column) == (0.85, a.by_name["foo"])
