"""What the source's and the conceptual diagram share: groups of entities, and the ends of edges."""

import re
from collections.abc import Collection

from fluid_build.modeling.conceptual import Entity, Relationship
from fluid_build.report.diagrams.diagram import Count, Mark, Row

_QUOTED_NAME = re.compile(r'"(?:[^"]|"")*"')
_ORDER: tuple[Mark, ...] = ("PK", "FK", "BK", "UK")


def entity_groups(entities: Collection[Entity]) -> dict[str, str]:
    """Return the group of each entity by its name: its source or its schema.

    Where all of them would be in the same group, there's none.
    """
    groups = {entity.name: entity.source or _schema(entity.place) for entity in entities}
    return groups if len(set(groups.values())) > 1 else dict.fromkeys(groups, "")


def child_count(relationship: Relationship) -> Count:
    """Return how many children a parent has."""
    is_mandatory = relationship.to_participation == "mandatory"
    if relationship.cardinality == "one-to-one":
        return "one" if is_mandatory else "zero-or-one"
    return "many" if is_mandatory else "zero-or-many"


def parent_count(relationship: Relationship) -> Count:
    """Return how many parents a child has."""
    return "one" if relationship.from_participation == "mandatory" else "zero-or-one"


def keys_first(rows: Collection[Row]) -> tuple[Row, ...]:
    """Return rows with the parts of the primary key first, then references and other keys."""
    return tuple(sorted(rows, key=_rank))


def _rank(row: Row) -> int:
    return min((_ORDER.index(mark) for mark in row.marks), default=len(_ORDER))


def _schema(place: str) -> str:
    """Return the schema in a name that is quoted for SQL, "" where it has none."""
    parts = _QUOTED_NAME.findall(place)
    return parts[-2][1:-1].replace('""', '"') if len(parts) > 1 else ""
