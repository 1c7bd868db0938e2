"""What the overlap of two sources' keys says: the same key, the same rows, or nothing.

Values decide, and names say where to look. Where a number of one source is also one of the other,
it has the same meaning only if numbers lie far apart, or if other columns agree in rows with the
same number.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.modeling.conceptual import CandidateRelationship, ConceptualModel, Entity
from fluid_build.modeling.data_vault.column_purposes import is_naming
from fluid_build.observations.key_overlaps import KeyOverlap
from fluid_build.observations.key_uses import KeyUse
from fluid_build.profiling.profile import ForeignKeyEvidence
from fluid_build.text import counted

_AGREEING = 0.5
"""Share of rows with the same key in which a telling column must agree: two systems spell a name
differently here and there, and by accident hardly any row agrees."""
_FEWEST_AGREEING = 5
"""Rows with the same key that must be comparable; in fewer, accidents are possible."""
_SOME = 0.05
"""Share of the shorter list of keys that's enough where names say that both are the same."""
_MOST = 0.5
"""Share that's needed where names don't say so."""
_FEWEST_SHARED = 3
"""Shared values that are needed where names say that both are the same, unless there are fewer."""
_FEWEST_SHARED_UNNAMED = 20
"""Shared values that are needed where names don't say so."""
_SHORTEST_UNNAMED = 4.0
"""Characters that keys must have on average where names don't say that both are the same: codes of
one or two letters are met in lists of anything."""
_UNDECIDED = 0.5
"""The confidence of a question that the figures leave open."""


@dataclass(frozen=True, slots=True)
class SharedHub:
    """Tables whose rows are instances of one hub, each by its own column, the first one's first.

    ``overlaps`` are what was measured of these columns.
    """

    columns: Mapping[str, str]
    overlaps: tuple[KeyOverlap, ...]

    @property
    def is_numbered(self) -> bool:
        """Whether the shared keys are numbers that a source assigns in order."""
        return all(overlap.is_dense for overlap in self.overlaps)


def same_as_overlaps(
    entities: Mapping[str, Entity], overlaps: Sequence[KeyOverlap], uses: Sequence[KeyUse]
) -> Iterator[KeyOverlap]:
    """Return the attributes that are no shared key but say which rows are the same, best first.

    A column that is named for the other table's key refers to its rows, so they aren't the same.
    """
    referring = {frozenset({(u.table, u.column), (u.to_table, u.to_column)}) for u in uses}
    telling = [
        overlap
        for overlap in overlaps
        if not overlap.is_dense
        and _is_plausible(overlap)
        and (overlap.are_columns_alike or overlap.share >= _MOST)
        and frozenset(ends(overlap)) not in referring
        and not any(is_naming(entities[table].attribute(name)) for table, name in ends(overlap))
    ]
    yield from sorted(telling, key=lambda overlap: -overlap.shared)


def open_questions(
    conceptual: ConceptualModel, overlaps: Sequence[KeyOverlap]
) -> Iterator[CandidateRelationship]:
    """Return the keys of two sources that may mean the same, which the figures can't decide."""
    primary = {
        (entity.name, entity.primary_key.attributes)
        for entity in conceptual.entities
        if entity.primary_key is not None
    }
    for overlap in overlaps:
        is_key = all((table, (column,)) in primary for table, column in ends(overlap))
        if is_key and overlap.are_tables_alike and overlap.is_dense and _agreement(overlap) is None:
            most_rows = max((agreement.rows for agreement in overlap.agreements), default=0)
            compared = (
                f"other columns could be compared in only {counted(most_rows, 'row')}"
                if most_rows
                else "no other column could be compared"
            )
            reason = (
                f"{describe(overlap)}. Numbers that two sources assign in order agree by accident,"
                f" and {compared}, so each source has a hub of its own."
            )
            yield CandidateRelationship(
                from_entity=overlap.right,
                from_attributes=(overlap.right_column,),
                to_entity=overlap.left,
                to_attributes=(overlap.left_column,),
                confidence=_UNDECIDED,
                evidence=ForeignKeyEvidence(
                    origin="measured",
                    rows=overlap.right_keys,
                    distinct=overlap.right_keys,
                    violations=overlap.right_keys - overlap.shared,
                    matched=overlap.shared,
                    orphans=overlap.right_keys - overlap.shared,
                    coverage=overlap.shared / overlap.left_keys,
                    reason=reason,
                    sql=overlap.sql,
                ),
                mapped_source_tables=(overlap.left, overlap.right),
                reason=reason,
            )


def describe(overlap: KeyOverlap) -> str:
    """Return the figures of an overlap as a clause."""
    fewer, more = (
        (overlap.left, overlap.right)
        if overlap.left_keys <= overlap.right_keys
        else (overlap.right, overlap.left)
    )
    keys = min(overlap.left_keys, overlap.right_keys)
    return f"{overlap.shared:,} of {counted(keys, 'value')} in {fewer} are in {more} too"


def describe_shared(overlap: KeyOverlap) -> str:
    """Return the figures of a shared key as a clause, with what agrees where it is a number."""
    agreement = _agreement(overlap)
    if not overlap.is_dense or agreement is None:
        return describe(overlap)
    column, rows, agreeing = agreement
    return (
        f"{describe(overlap)}, and {column} agrees in {agreeing:,} of {counted(rows, 'row')} with"
        " the same number"
    )


def why_apart(overlap: KeyOverlap) -> str:
    """Return why numbers that are in both tables don't make them one hub, "" where they may."""
    agreement = _agreement(overlap)
    if not overlap.is_dense or not overlap.are_tables_alike or _agrees(overlap):
        return ""
    figures = f"{describe(overlap)}, but such numbers are assigned in order, so they prove nothing"
    if agreement is None:
        return f"{figures}."
    return (
        f"{figures}: {agreement[0]} agrees in {agreement[2]:,} of"
        f" {counted(agreement[1], 'row')} with the same number."
    )


def ends(overlap: KeyOverlap) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return both columns of an overlap, each with its table."""
    return (overlap.left, overlap.left_column), (overlap.right, overlap.right_column)


def is_same_key(overlap: KeyOverlap) -> bool:
    """Return whether equal values of two columns mean the same."""
    return _agrees(overlap) if overlap.is_dense else _is_plausible(overlap)


def _is_plausible(overlap: KeyOverlap) -> bool:
    """Return whether enough values are shared, given what the names say.

    Customers of a shop and of a billing system have a tenth of their codes in common; lists of
    letters and of grades have all of theirs.
    """
    if overlap.are_tables_alike:
        fewest = min(_FEWEST_SHARED, overlap.left_keys, overlap.right_keys)
        return overlap.shared >= fewest and overlap.share >= _SOME
    is_long = overlap.average_length >= _SHORTEST_UNNAMED
    return is_long and overlap.shared >= _FEWEST_SHARED_UNNAMED and overlap.share >= _MOST


def _agrees(overlap: KeyOverlap) -> bool:
    agreement = _agreement(overlap)
    return agreement is not None and agreement[2] >= _AGREEING * agreement[1]


def _agreement(overlap: KeyOverlap) -> tuple[str, int, int] | None:
    """Return the column that agrees most in rows with the same key, the rows, and the agreeing."""
    comparable = [each for each in overlap.agreements if each.rows >= _FEWEST_AGREEING]
    if not comparable:
        return None
    best = max(comparable, key=lambda each: each.agreeing / each.rows)
    return best.left_column, best.rows, best.agreeing
