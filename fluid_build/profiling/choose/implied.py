"""References that follow from others, so that a model needn't hold them twice."""

from collections.abc import Iterator, Sequence

from fluid_build.profiling.measure.schema import MeasuredColumn
from fluid_build.profiling.references.composites import CompositeReference
from fluid_build.profiling.references.single_columns import ColumnReference


def find_implied(
    references: Sequence[ColumnReference], composites: Sequence[CompositeReference]
) -> set[int]:
    """Return the ids of the references that follow from others.

    One does if its column is part of a composite reference whose key column is, or leads to, the
    same key; if a wider composite reference, followed by another, says the same; or if it leads to
    an attribute of a table that another column already refers to.
    """
    by_child = {id(reference.child): reference for reference in references}
    implied: set[int] = set()
    for composite in composites:
        for child, key_column in zip(composite.child, composite.parent, strict=True):
            reference = by_child.get(id(child))
            if reference is None or child is key_column:
                continue
            onward = by_child.get(id(key_column))
            same_parent = reference.parent is key_column or (
                onward is not None and onward.parent is reference.parent
            )
            if same_parent or _reaches(key_column, reference, references, composites):
                implied.add(id(reference))
    implied.update(id(c) for c in composites if follows_from_wider(c, composites))
    implied.update(id(r) for r in references if _copies_attribute(r, references))
    return implied


def _reaches(
    key_column: MeasuredColumn,
    reference: ColumnReference,
    references: Sequence[ColumnReference],
    composites: Sequence[CompositeReference],
) -> bool:
    """Return whether a key's column leads along composite references to where a reference does.

    The way may not lead in a circle, through the reference's own column.
    """
    target = reference.parent
    waiting, seen = [key_column], {id(key_column), id(reference.child)}
    while waiting:
        column = waiting.pop()
        for parent in _composite_parents(column, composites):
            if id(parent) in seen:
                continue
            seen.add(id(parent))
            if parent is target or any(
                onward.child is parent and onward.parent is target for onward in references
            ):
                return True
            if parent.table is not column.table:
                waiting.append(parent)
    return False


def _composite_parents(
    column: MeasuredColumn, composites: Sequence[CompositeReference]
) -> Iterator[MeasuredColumn]:
    for composite in composites:
        for child, parent in zip(composite.child, composite.parent, strict=True):
            if child is column:
                yield parent


def follows_from_wider(
    composite: CompositeReference, composites: Sequence[CompositeReference]
) -> bool:
    """Return whether a wider composite reference, followed by another, says the same."""
    pairs = dict(zip(map(id, composite.child), composite.parent, strict=True))
    for wider in composites:
        if wider is composite or wider.child[0].table is not composite.child[0].table:
            continue
        step = {id(c): p for c, p in zip(wider.child, wider.parent, strict=True)}
        if not set(pairs) <= set(step):
            continue
        for following in composites:
            if following.child[0].table is not wider.parent[0].table:
                continue
            onward = {id(c): p for c, p in zip(following.child, following.parent, strict=True)}
            if all(onward.get(id(step[child])) is parent for child, parent in pairs.items()):
                return True
    return False


def _copies_attribute(reference: ColumnReference, references: Sequence[ColumnReference]) -> bool:
    """Return whether the child already refers to the same table by its primary key.

    An order with ``customer_id`` and ``customer_email`` has one customer, not two.
    """
    if reference.parent.is_primary_key:
        return False
    return any(
        rival is not reference
        and rival.child.table is reference.child.table
        and rival.parent.table is reference.parent.table
        and rival.parent.is_primary_key
        for rival in references
    )
