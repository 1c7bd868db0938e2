"""References that no key of their source shows: to wholes of parts, and to another source's keys.

The points of a shape have the shape's identifier as a part of their key. A trip that has it too
refers to the shape, though to none of its points.

And a source that only books what happens to the customers of another one names them by their key.
Its rows then lead to that one's hub.
"""

from collections.abc import Sequence

from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.data_vault.known_keys import key_of_parts
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.identifiers import identifier
from fluid_build.observations.key_uses import KeyUse
from fluid_build.observations.shared_identifiers import PartOfKeyReference
from fluid_build.profiling.profile import ForeignKeyEvidence
from fluid_build.text import counted

_CONFIDENCE = 0.9
"""How sure such a reference is: the names say so, and the values aren't there by accident."""
_MOST_STRAY = 0.05
"""Share of rows whose value may be missing among the parts."""


def with_observed_references(tables: SourceTables) -> SourceTables:
    """Return the tables with the observed references to what other tables have parts of."""
    known = [r for r in tables.observations.part_of_key_references if _leads_to_whole(tables, r)]
    wholes = {observed.to_column: _largest(tables, known, observed.to_column) for observed in known}
    added = [_part_reference(r) for r in known if r.to_table == wholes[r.to_column]]
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


def _part_reference(observed: PartOfKeyReference) -> Relationship:
    found = observed.rows - observed.orphans
    return _reference(
        (observed.table, observed.column),
        (observed.to_table, observed.to_column),
        ForeignKeyEvidence(
            origin="measured", rows=observed.rows, matched=found, orphans=observed.orphans
        ),
        f"Named alike, and {counted(found, 'row')} of {observed.rows:,} have a value that occurs"
        " there.",
    )


def _reference(
    child: tuple[str, str], parent: tuple[str, str], evidence: ForeignKeyEvidence, reason: str
) -> Relationship:
    """Return the reference of a column, with its table, to another one."""
    (table, column), (to_table, to_column) = child, parent
    return Relationship(
        name=identifier(f"{table} {column} to {to_table}"),
        from_entity=table,
        from_attributes=(column,),
        to_entity=to_table,
        to_attributes=(to_column,),
        cardinality="many-to-one",
        from_participation="optional",
        to_participation="optional",
        origin="measured",
        confidence=_CONFIDENCE,
        evidence=evidence,
        mapped_source_tables=(table, to_table),
        reason=reason,
    )


_FEWEST_VALUES = 3
"""Different values that must be keys of the other source, unless there are fewer."""
_MATCHED = 0.5
"""Share of rows that must have a key of the other source: the other rows may be of what only this
source knows, but a column that mostly holds something else isn't named for that key."""


def with_foreign_references(tables: SourceTables) -> SourceTables:
    """Return the tables with the references that lead from one source to another's keys."""
    best: dict[tuple[str, str], KeyUse] = {}
    for use in tables.observations.key_uses:
        known = best.get((use.table, use.column))
        if _is_reference(tables, use) and (known is None or use.matched > known.matched):
            best[use.table, use.column] = use
    return tables.with_references([_foreign_reference(use) for use in best.values()])


def _is_reference(tables: SourceTables, use: KeyUse) -> bool:
    if not {use.table, use.to_table} <= tables.entities.keys():
        return False
    keys = tables.entities[use.to_table].keys
    is_key = any(key.attributes == (use.to_column,) and key.holds for key in keys)
    fewest = min(_FEWEST_VALUES, use.values)
    is_meant = use.matched_values >= fewest and use.matched >= _MATCHED * use.rows
    return is_key and tables.identities[use.to_table] is not None and is_meant


def _foreign_reference(use: KeyUse) -> Relationship:
    orphans = use.rows - use.matched
    return _reference(
        (use.table, use.column),
        (use.to_table, use.to_column),
        ForeignKeyEvidence(
            origin="measured",
            rows=use.rows,
            distinct=use.values,
            violations=orphans,
            matched=use.matched,
            orphans=orphans,
            sql=use.sql,
        ),
        f"Named for a key of another source, and {counted(use.matched, 'row')} of {use.rows:,} have"
        " one.",
    )
