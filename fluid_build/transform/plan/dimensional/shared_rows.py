"""Rows by the source alone, and how many of them a query on the star has too."""

from collections.abc import Sequence

from fluid_build.modeling.dimensional.elements import Join
from fluid_build.transform.plan.dimensional.star import Star, join_clauses
from fluid_build.transform.plan.sql_layout import nested, query, select_list


def from_source(star: Star, entity: str, joins: Sequence[Join], columns: Sequence[str]) -> str:
    """Return a query on the source alone, with our names: an entity and what it refers to."""
    clauses = join_clauses(
        star,
        joins,
        lambda _, attribute: f"own.{star.column(entity, attribute)}",
        relation=lambda name: nested(star.selects[name]),
    )
    return query(columns, f"{nested(star.selects[entity])} AS own", *clauses)


def shared_rows(expected: str, actual: str, *, width: int) -> str:
    """Return a query for how many rows two queries of ``width`` columns share, repeats counted.

    ``INTERSECT ALL`` gives the same number, but numbers the rows of both sides in windows first,
    which takes half as long again.
    """
    keys = ", ".join(f"k{number}" for number in range(1, width + 1))
    both = "\nUNION ALL\n".join(
        (
            f"SELECT TRUE, *\nFROM {nested(expected)} AS ours",
            f"SELECT FALSE, *\nFROM {nested(actual)} AS theirs",
        )
    )
    counted = query(
        [
            ("COUNT(*) FILTER (WHERE is_expected)", "expected"),
            ("COUNT(*) FILTER (WHERE NOT is_expected)", "actual"),
        ],
        f"{nested(both)} AS both_sides (is_expected, {keys})\nGROUP BY {keys}",
    )
    total = "CAST(COALESCE(SUM(LEAST(expected, actual)), 0) AS BIGINT)"
    return f"SELECT\n{select_list([total])}\nFROM {nested(counted)} AS counted"
