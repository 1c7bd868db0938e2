"""Inclusion has the figures of a join: matched rows and orphans, distinct values, coverage."""

from collections.abc import Sequence
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fluid_build.profiling import profile_source
from fluid_build.profiling.measure.value_cache import ValueCache
from fluid_build.profiling.references.inclusion import Inclusion, measure_inclusion
from tests.profiling.databases import database, tables_of

Pair = tuple[int | None, int | None]


def included(script: str, child: Sequence[str], parent: Sequence[str]) -> Inclusion:
    """Return the inclusion of columns of table ``child`` in columns of table ``parent``."""
    with database(script) as source:
        by_name = {table.name: table for table in tables_of(source)}
        ours = [by_name["child"].by_name[name] for name in child]
        theirs = [by_name["parent"].by_name[name] for name in parent]
        return measure_inclusion(ValueCache(source.connection), ours, theirs)


def values(rows: Sequence[Sequence[object]]) -> str:
    shown = (", ".join("NULL" if v is None else str(v) for v in row) for row in rows)
    return ", ".join(f"({row})" for row in shown)


def filled(name: str, columns: str, rows: Sequence[Sequence[object]]) -> str:
    create = f"CREATE TABLE {name} ({columns});"
    return create + (f"INSERT INTO {name} VALUES {values(rows)};" if rows else "")


CHILD = st.lists(st.one_of(st.none(), st.integers(-2, 9)), max_size=12)
PARENT = st.sets(st.integers(-1, 8), min_size=1, max_size=9)


@given(CHILD, PARENT)
def test_one_column_agrees_with_counting_by_hand(child: list[int | None], parent: set[int]) -> None:
    """Rows, matches and coverage of a column equal Python's, with a dense key or not."""
    script = filled("child", "c INTEGER", [(v,) for v in child])
    script += filled("parent", "p INTEGER", [(v,) for v in sorted(parent)])
    inclusion = included(script, ["c"], ["p"])
    present = [v for v in child if v is not None]
    orphans = [v for v in present if v not in parent]
    none = sum(v in {0, -1} for v in orphans)
    assert (inclusion.rows, inclusion.standing_for_none) == (len(present) - none, none)
    assert inclusion.matched == sum(v in parent for v in present)
    assert inclusion.orphans == len(orphans) - none
    assert inclusion.distinct_matched == len(set(present) & parent)
    assert inclusion.coverage == pytest.approx(len(set(present) & parent) / len(parent))


@given(
    least=st.integers(-3, 5),
    size=st.integers(1, 6),
    child=st.lists(st.integers(-8, 14), min_size=1, max_size=8),
)
@example(least=5, size=5, child=[1, 5])
@example(least=-3, size=3, child=[-1, 0])
def test_values_around_a_key_without_gaps_agree_with_counting_by_hand(
    least: int, size: int, child: list[int]
) -> None:
    """What is less than the least key is an orphan, as what is more than the greatest."""
    keys = range(least, least + size)
    script = filled("child", "c INTEGER", [(v,) for v in child])
    script += filled("parent", "p INTEGER", [(v,) for v in keys])
    inclusion = included(script, ["c"], ["p"])
    orphans = [v for v in child if v not in keys]
    none = [v for v in orphans if v in {0, -1}]
    assert (inclusion.orphans, inclusion.standing_for_none) == (
        len(orphans) - len(none), len(none)
    )  # fmt: skip
    assert (inclusion.distinct, inclusion.distinct_matched) == (
        len(set(child) - set(none)),
        len(set(child) & set(keys)),
    )


PAIR = st.tuples(st.one_of(st.none(), st.integers(0, 3)), st.one_of(st.none(), st.integers(0, 3)))


@given(st.lists(PAIR, max_size=10), st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3))))
def test_two_columns_agree_with_counting_by_hand(
    child: list[Pair], parent: set[tuple[int, int]]
) -> None:
    """Columns are compared pair by pair, and a null in either leaves the row out."""
    script = filled("child", "a INTEGER, b INTEGER", child)
    script += filled("parent", "x INTEGER, y INTEGER", sorted(parent))
    inclusion = included(script, ["a", "b"], ["x", "y"])
    present = [pair for pair in child if None not in pair]
    assert inclusion.rows == len(present)
    assert inclusion.matched == sum(pair in parent for pair in present)


@given(st.lists(PAIR, max_size=10), st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3))))
@example(child=[(None, 1), (1, None), (1, 1)], parent={(1, 1)})
def test_columns_of_two_types_agree_with_counting_by_hand(
    child: list[Pair], parent: set[tuple[int, int]]
) -> None:
    """They're compared by a join, as columns of large tables are."""
    script = filled("child", "a VARCHAR, b INTEGER", child)
    script += filled("parent", "x INTEGER, y INTEGER", sorted(parent))
    inclusion = included(script, ["a", "b"], ["x", "y"])
    present = [pair for pair in child if None not in pair]
    assert inclusion.rows == len(present)
    assert inclusion.matched == sum(pair in parent for pair in present)


def test_columns_pair_by_position() -> None:
    """In reverse order nothing matches."""
    script = filled("child", "a INTEGER, b INTEGER", [(1, 20), (2, 30)])
    script += filled("parent", "x INTEGER, y INTEGER", [(1, 20), (2, 30)])
    assert included(script, ["a", "b"], ["x", "y"]).matched == 2
    assert included(script, ["a", "b"], ["y", "x"]).matched == 0


def test_numbers_in_text_are_compared_as_numbers() -> None:
    """Text of digits and whole floats match integer keys."""
    script = (
        "CREATE TABLE child AS SELECT CAST(1 + i % 9 AS VARCHAR) AS t,"
        " CAST(1 + i % 9 AS DOUBLE) AS f FROM range(40) r(i);"
        "CREATE TABLE parent AS SELECT 1 + i AS p FROM range(8) r(i)"
    )
    for column in ("t", "f"):
        inclusion = included(script, [column], ["p"])
        assert (inclusion.rows, inclusion.matched) == (40, 36)


def test_a_column_without_values_has_no_inclusion() -> None:
    """A column without values has no share and covers nothing."""
    script = filled("child", "c INTEGER", [(None,)]) + filled("parent", "p INTEGER", [(1,)])
    inclusion = included(script, ["c"], ["p"])
    assert (inclusion.rows, inclusion.share, inclusion.coverage) == (0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("type_", "parents", "children", "none"),
    [
        ("INTEGER", [1, 2, 5], [0, 1, 5, 0], 2),
        ("INTEGER", [1, 2, 5], [-1, 1, 7], 1),
        ("INTEGER", [0, 1, 5], [0, 1, 5], 0),
        ("INTEGER", [1, 2, 5], [9999, 1, 9999], 2),
        ("INTEGER", [1, 2, 5], [9999, 1, 7], 0),
        ("INTEGER", [1, 2, 5], [9, 1], 0),
        ("VARCHAR", ["'a'", "'b'"], ["'N/A'", "'a'", "''", "'c'"], 2),
        ("UUID", [f"'{UUID(int=8)}'"], [f"'{UUID(int=8)}'", f"'{UUID(int=0)}'"], 1),
        ("DATE", ["'2024-01-01'"], ["'2024-01-01'", "'9999-12-31'"], 1),
        ("VARCHAR", ["'a'", "'n/a'"], ["'n/a'", "'a'"], 0),
    ],
)
@pytest.mark.parametrize("can_hold", [True, False])
def test_values_for_none_are_counted_among_the_orphans(
    monkeypatch: pytest.MonkeyPatch,
    type_: str,
    parents: Sequence[object],
    children: Sequence[object],
    none: int,
    can_hold: bool,
) -> None:
    """0 or N/A says that there's no parent, unless one has it as its key; read or joined alike.

    So do 9999 and a UUID of zeros, where they alone have none.
    """
    monkeypatch.setattr(ValueCache, "can_hold", lambda *_: can_hold)
    script = filled("child", f"c {type_}", [(v,) for v in children])
    script += filled("parent", f"p {type_}", [(v,) for v in parents])
    inclusion = included(script, ["c"], ["p"])
    assert inclusion.standing_for_none == none
    assert inclusion.orphans == len([v for v in children if v not in parents]) - none


def test_a_root_with_a_supervisor_of_zero_breaks_nothing() -> None:
    rows = [(n, n // 4) for n in range(1, 200)]
    script = filled("staff", "staff_id INTEGER, supervisor_id INTEGER", rows)
    with database(script) as source:
        (key,) = profile_source(source).foreign_keys
    evidence = key.evidence
    assert (evidence.orphans, evidence.standing_for_none, evidence.broken) == (3, 3, 0)
    assert "in 3 rows the value stands for none" in evidence.reason
