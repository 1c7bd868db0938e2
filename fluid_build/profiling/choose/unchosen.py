"""The references that were judged and not chosen: questions to a person, and rivals of the chosen.

Of each column (or group of columns) only the best is kept.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from fluid_build.profiling.choose.calibration import Role
from fluid_build.profiling.measure.schema import MeasuredColumn
from fluid_build.profiling.references.composites import CompositeReference
from fluid_build.profiling.references.single_columns import ColumnReference
from fluid_build.profiling.weights import CompositeWeights, ReferenceWeights

Reference: TypeAlias = ColumnReference | CompositeReference
_AnyReference = TypeVar("_AnyReference", ColumnReference, CompositeReference)


@dataclass(frozen=True, slots=True)
class UnchosenReference:
    """A judged reference that isn't believed; ``rival`` is the one that was chosen instead.

    ``is_credible`` says that its own evidence would be enough.
    """

    reference: Reference
    rival: Reference | None
    is_credible: bool

    @property
    def is_ruled_out(self) -> bool:
        """Return whether something other than its own evidence speaks against it."""
        return self.rival is not None or self.is_credible

    @property
    def role(self) -> Role:
        """Return the role in which the judgement is calibrated."""
        return "ruled_out" if self.is_ruled_out else role_of(self.reference)

    @property
    def reason(self) -> str:
        """Return why it isn't believed, as a clause."""
        if self.rival is None:
            speaks_against = "the rest of the schema contradicts it"
            return speaks_against if self.is_credible else "the evidence isn't strong enough"
        parent = reference_columns(self.reference)[1]
        rival_child, rival_parent = reference_columns(self.rival)
        if set(rival_parent) == set(parent):
            return f"{_place(rival_child)} refers to it"
        if rival_child[0].table is parent[0].table:
            return "the reference in the other direction is more credible"
        return f"{_place(rival_parent)} is more credible"


def reference_columns(
    reference: Reference,
) -> tuple[tuple[MeasuredColumn, ...], tuple[MeasuredColumn, ...]]:
    """Return the columns of the child and those of the parent."""
    if isinstance(reference, CompositeReference):
        return reference.child, reference.parent
    return (reference.child,), (reference.parent,)


def role_of(reference: Reference) -> Role:
    """Return the role of a reference without a rival."""
    return "composite" if isinstance(reference, CompositeReference) else "single"


def unchosen_references(
    judged: Iterable[ColumnReference], chosen: Sequence[ColumnReference], weights: ReferenceWeights
) -> list[UnchosenReference]:
    """Return the best reference of each column that was judged and not chosen."""
    by_child = {id(reference.child): reference for reference in chosen}
    by_parent = {(id(r.parent), id(r.child)): r for r in chosen}
    best: dict[Hashable, ColumnReference] = {}
    for reference in judged:
        rival = by_child.get(id(reference.child))
        if rival is None or rival.parent is not reference.parent:
            _keep_better(best, id(reference.child), reference)
    return [
        UnchosenReference(
            reference,
            by_child.get(id(reference.child))
            or by_parent.get((id(reference.child), id(reference.parent))),
            reference.is_credible(weights),
        )
        for reference in best.values()
    ]


def unchosen_composites(
    judged: Iterable[CompositeReference],
    chosen: Sequence[CompositeReference],
    weights: CompositeWeights,
) -> list[UnchosenReference]:
    """Return the best reference of each group of columns that was judged and not chosen."""
    chosen_pairs = {_pairs(reference) for reference in chosen}
    best: dict[Hashable, CompositeReference] = {}
    for reference in judged:
        if _pairs(reference) not in chosen_pairs:
            _keep_better(best, frozenset(map(id, reference.child)), reference)
    return [
        UnchosenReference(
            reference, _composite_rival(reference, chosen), reference.log_odds >= weights.accepted
        )
        for reference in best.values()
    ]


def _keep_better(
    best: dict[Hashable, _AnyReference], group: Hashable, reference: _AnyReference
) -> None:
    if group not in best or reference.log_odds > best[group].log_odds:
        best[group] = reference


def _pairs(reference: CompositeReference) -> frozenset[tuple[int, int]]:
    return frozenset(zip(map(id, reference.child), map(id, reference.parent), strict=True))


def _composite_rival(
    reference: CompositeReference, chosen: Sequence[CompositeReference]
) -> CompositeReference | None:
    """Return the chosen reference that rules this one out: it uses its columns, or reverses it.

    Two tables with the key (order, line) include each other; only one of them refers.
    """
    columns = set(reference.child)
    ends = reference.child[0].table, reference.parent[0].table
    for rival in chosen:
        rival_ends = rival.child[0].table, rival.parent[0].table
        is_double = rival_ends == ends and not columns.isdisjoint(rival.child)
        if is_double or columns == set(rival.child) or rival_ends == ends[::-1]:
            return rival
    return None


def _place(columns: Sequence[MeasuredColumn]) -> str:
    return f"{columns[0].table.name} ({', '.join(column.name for column in columns)})"
