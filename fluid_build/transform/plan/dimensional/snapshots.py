"""Snapshots of dimensions: what the members were at each load, one day after another.

Each load adds the members of its day, and leaves the days before as they are. A second load on the
same day replaces that day, so no member is in it twice.
"""

from collections.abc import Iterator

from fluid_build.modeling.dimensional.elements import Dimension, DimensionReference, Fact
from fluid_build.modeling.dimensional.facts.snapshots import SNAPSHOT_DATE
from fluid_build.transform.plan.dimensional.mart_calls import Arguments
from fluid_build.transform.plan.dimensional.shared_rows import from_source, shared_rows
from fluid_build.transform.plan.dimensional.star import Star, referred_key
from fluid_build.transform.plan.elements import Check, Relation
from fluid_build.transform.plan.sql_layout import join, nested, query


def snapshot_days(fact: Fact) -> Arguments:
    """Return where the days of a snapshot are, for the calendar."""
    return {"in": Relation(fact.name), "columns": [SNAPSHOT_DATE]}


def snapshot_checks(star: Star, fact: Fact) -> Iterator[Check]:
    """Return the checks of a snapshot: the last day is the source, and each key leads somewhere."""
    entity = fact.entity_name
    source = [attribute.attribute for attribute in fact.attributes]
    source += [measure.column for measure in fact.measures]
    built = [attribute.name for attribute in fact.attributes]
    built += [measure.name for measure in fact.measures]
    expected = from_source(star, entity, (), [f"own.{star.column(entity, n)}" for n in source])
    last_day = f"(SELECT MAX({SNAPSHOT_DATE}) FROM model.{fact.name})"
    actual = query(built, f"model.{fact.name}", where=(f"{SNAPSHOT_DATE} = {last_day}",))
    yield Check(
        name=f"last day of {fact.name}",
        kind="rows",
        table=entity,
        expected=f"SELECT COUNT(*) FROM {star.source(entity)}",
        actual=shared_rows(expected, actual, width=len(built)),
        differing=f"{expected}\nEXCEPT ALL\n{actual}",
        of_arrived=True,
        reason="The last snapshot has each member with its measures as the source has them.",
    )
    for reference in fact.dimensions:
        yield _one_row(fact, reference, star.dimensions[reference.dimension])


def _one_row(fact: Fact, reference: DimensionReference, dimension: Dimension) -> Check:
    """Check that each key, of every day, finds one row of its dimension; null finds none."""
    key = referred_key(fact, dimension)
    times = query([key, ("COUNT(*)", "times")], f"model.{dimension.name}", group_by=[key])
    return Check(
        name=f"{fact.name}.{reference.key} finds one row of {dimension.name}",
        kind="reference",
        table=fact.entity_name,
        expected="SELECT CAST(0 AS BIGINT)",
        actual=query(
            ["COUNT(*)"],
            f"model.{fact.name} AS built",
            join(
                "LEFT JOIN", nested(times), "referred", [f"built.{reference.key} = referred.{key}"]
            ),
            where=["COALESCE(referred.times, 0) <> 1"],
        ),
        reason="Every member of every day is counted, however it is grouped.",
    )
