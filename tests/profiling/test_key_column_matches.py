"""The search for members of composite keys misses no name that is alike."""

from hypothesis import given
from hypothesis import strategies as st

from fluid_build.profiling.candidate_keys import CandidateKeys
from fluid_build.profiling.column_stats import ColumnStats, TableStats
from fluid_build.profiling.key_column_matches import LEAST_ALIKE, KeyColumnSearch, name_likeness
from fluid_build.profiling.measured_tables import MeasuredTable, build_schema
from fluid_build.sources.base import Column, Table
from tests.profiling.databases import database, schema_of
from tests.profiling.domains import DOMAINS
from tests.profiling.spelling import STYLES, respelled

WORDS = (
    "order orders line lines item customer cust client staff employee person people by author id"
    " no code key date number type name product prod sales ord ol status address ship to department"
    " dept currency unit"
).split()
NAME = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)
GLUE = st.sampled_from(["_", ""])
COLUMNS = st.lists(NAME, min_size=2, max_size=5, unique_by="_".join)
TABLE = st.tuples(NAME, COLUMNS)
SCHEMA = st.lists(TABLE, min_size=2, max_size=4, unique_by=lambda table: "_".join(table[0]))


def named(schema: list[tuple[list[str], list[list[str]]]], glue: str) -> list[MeasuredTable]:
    """Tables of two rows with those names, all columns alike in their values."""
    stats = []
    for table, columns in schema:
        names = dict.fromkeys(glue.join(words) for words in columns)
        made = tuple(Column(name, "INTEGER") for name in names)
        figures = [
            ColumnStats(column, "integer", rows=2, distinct=2, integral=True, bounds=(0, 1))
            for column in made
        ]
        stats.append(TableStats(Table(glue.join(table), made, "t"), 2, figures, complete=True))
    return build_schema(stats, [CandidateKeys() for _ in stats])


def check(entities: list[MeasuredTable]) -> None:
    """Every pair of a column and a member is found just if its likeness is enough."""
    search = KeyColumnSearch(entities, {})
    nodes = [node for entity in entities for node in entity.nodes if node.comparable]
    for member in nodes:
        alike = search.alike(member).values()
        found = {(id(node), score) for choices in alike for score, node in choices}
        wanted = {
            (id(node), score)
            for node in nodes
            if node.comparable == member.comparable
            and node.table is not member.table
            and (score := name_likeness(node.name, member)) >= LEAST_ALIKE
        }
        assert found == wanted


@given(SCHEMA, GLUE)
def test_every_name_that_is_alike_is_found(
    schema: list[tuple[list[str], list[list[str]]]], glue: str
) -> None:
    """Filing names by their beginnings and ends loses none that the likeness would accept."""
    check(named(schema, glue))


def test_every_name_of_the_domains_is_found_in_every_style() -> None:
    """In everyday schemas, however spelled, the search and comparing all pairs agree."""
    for name in ("clinic", "logistics"):
        for style in STYLES:
            with database(respelled(DOMAINS[name], style).script) as source:
                check(schema_of(source))


def test_columns_that_refer_to_the_same_key_may_stand_for_it() -> None:
    """What two columns refer to makes them alike, whatever they are called."""
    script = (
        "CREATE TABLE hub AS SELECT i AS hub_id FROM range(9) t(i);"
        "CREATE TABLE a AS SELECT i AS foo, i AS bar FROM range(9) t(i);"
        "CREATE TABLE b AS SELECT i AS quux, i AS zed FROM range(9) t(i)"
    )
    with database(script) as source:
        a, b, hub = sorted(schema_of(source), key=lambda entity: entity.name)
        targets = {id(a.by_name["foo"]): hub.nodes[0], id(b.by_name["quux"]): hub.nodes[0]}
        search = KeyColumnSearch([a, b, hub], targets)
        assert search.alike(a.by_name["foo"])[b.index] == [(0.85, b.by_name["quux"])]
        assert b.index not in search.alike(a.by_name["bar"])
        (score, node), *_ = search.alike(hub.nodes[0])[a.index]
        assert (score, node) == (0.85, a.by_name["foo"])
