"""The relationships of ODCS as references between the tables of one document."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fluid_build.contract.exports.odcs.custom_properties import read_custom_properties
from fluid_build.contract.exports.tracking import TrackedMapping

_BY_ID = re.compile(r"/?schema/([^/]+)/properties/([^/]+)")

Spot = tuple[int, str]
"""A table by its index in the document, and the name of a column of it."""


@dataclass(frozen=True, slots=True)
class ReadReference:
    """Columns of a table, and the columns of the table at an index that they refer to."""

    columns: tuple[str, ...]
    target: int
    to_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReferenceTargets:
    """Every column of a document by the ways to point at it: ``table.column``, or by ids."""

    spots: Mapping[tuple[str, str], Spot]
    ids: Mapping[tuple[str, str], Spot]

    @classmethod
    def of(cls, tables: Sequence[TrackedMapping]) -> "ReferenceTargets":
        """Return the columns of tables; of two of one name, the first."""
        spots: dict[tuple[str, str], Spot] = {}
        ids: dict[tuple[str, str], Spot] = {}
        for index, table in enumerate(tables):
            for column in table.parts("properties"):
                spot = (index, str(column.peek("name")))
                spots.setdefault((str(table.peek("name")), spot[1]), spot)
                ids.setdefault((str(table.peek("id")), str(column.peek("id"))), spot)
        return cls(spots, ids)

    def find(self, pointer: str) -> Spot | None:
        """Return the column that a pointer means, None if it's none of this document."""
        by_id = _BY_ID.fullmatch(pointer)
        if by_id is not None:
            return self.ids.get((by_id[1], by_id[2]))
        table, _, column = pointer.partition(".")
        return self.spots.get((table, column))


def read_references(
    part: TrackedMapping, index: int, targets: ReferenceTargets, column: str | None = None
) -> list[ReadReference]:
    """Take the relationships of a table, or of a column, that stay in the document."""
    references = []
    for relationship in part.parts("relationships"):
        starts = _find_all(relationship.peek("from"), targets)
        if column is not None and "from" not in relationship.value:
            starts = [(index, column)]
        ends = _find_all(relationship.peek("to"), targets)
        tables = {table for table, _ in ends}
        if not starts or len(starts) != len(ends) or len(tables) != 1:
            continue
        if {table for table, _ in starts} != {index}:
            continue
        for key in ("type", "from", "to"):
            relationship.take(key)
        read_custom_properties(relationship, ("rule",))
        columns, to_columns = (tuple(name for _, name in spots) for spots in (starts, ends))
        references.append(ReadReference(columns, tables.pop(), to_columns))
    return references


def _find_all(pointers: object, targets: ReferenceTargets) -> list[Spot]:
    """Return the columns that pointers mean; none where one of them means none."""
    texts = pointers if isinstance(pointers, list) else [pointers]
    spots = [targets.find(text) if isinstance(text, str) else None for text in texts]
    return [spot for spot in spots if spot is not None] if None not in spots else []
