"""References that lead to no key: columns with the identifier of what another table has parts of.

The points of a shape have the shape's identifier as a part of their key. A trip that has it too
refers to the shape, though to none of its points.
"""

from collections.abc import Sequence

from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.data_vault.known_keys import key_of_parts
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.identifiers import identifier
from fluid_build.observations.shared_identifiers import PartOfKeyReference
from fluid_build.profiling.profile import ForeignKeyEvidence
from fluid_build.text import counted

_CONFIDENCE = 0.9
"""How sure such a reference is: the names are the same, and so are all values but a few."""
_MOST_STRAY = 0.05
"""Share of rows whose value may be missing among the parts."""


def with_observed_references(tables: SourceTables) -> SourceTables:
    """Return the tables with the observed references to what other tables have parts of."""
    known = [r for r in tables.observations.part_of_key_references if _leads_to_whole(tables, r)]
    wholes = {observed.to_column: _largest(tables, known, observed.to_column) for observed in known}
    added = [_relationship(r) for r in known if r.to_table == wholes[r.to_column]]
    return tables.with_references(added)


def _largest(tables: SourceTables, references: Sequence[PartOfKeyReference], column: str) -> str:
    """Return which of the tables that have parts of one thing knows most of them: the hub's."""

    def size(table: str) -> tuple[int, str]:
        return tables.entities[table].attribute(column).evidence.distinct or 0, table

    return max((r.to_table for r in references if r.to_column == column), key=size)


def _leads_to_whole(tables: SourceTables, observed: PartOfKeyReference) -> bool:
    if not {observed.table, observed.to_table} <= tables.entities.keys():
        return False
    whole = key_of_parts(tables, observed.to_table)
    has_values = observed.orphans <= _MOST_STRAY * observed.rows
    return whole is not None and whole.attributes == (observed.to_column,) and has_values


def _relationship(observed: PartOfKeyReference) -> Relationship:
    return Relationship(
        name=identifier(f"{observed.table} {observed.column} to {observed.to_table}"),
        from_entity=observed.table,
        from_attributes=(observed.column,),
        to_entity=observed.to_table,
        to_attributes=(observed.to_column,),
        cardinality="many-to-one",
        from_participation="optional",
        to_participation="optional",
        origin="measured",
        confidence=_CONFIDENCE,
        evidence=ForeignKeyEvidence(
            origin="measured",
            rows=observed.rows,
            matched=observed.rows - observed.orphans,
            orphans=observed.orphans,
        ),
        mapped_source_tables=(observed.table, observed.to_table),
        reason=f"Named alike, and {counted(observed.rows - observed.orphans, 'row')} of"
        f" {observed.rows:,} have a value that occurs there.",
    )
