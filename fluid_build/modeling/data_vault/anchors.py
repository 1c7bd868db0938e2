"""How tables reach hubs: each table's own hub, and the references that lead to others.

A reference reaches a hub directly where its columns hold the hub's business key, in a type that is
written the same. Otherwise the business key is looked up in the table that is referred to, and the
referring columns are kept beside, so that nothing hangs on the lookup's success.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.data_vault.business_keys import BusinessKey, business_key
from fluid_build.modeling.data_vault.elements import Lookup
from fluid_build.modeling.data_vault.key_types import kept_type, written_alike
from fluid_build.modeling.data_vault.placements import Placement
from fluid_build.modeling.data_vault.source_tables import SourceTables


@dataclass(frozen=True, slots=True)
class Anchor:
    """The hub that a table's rows are instances of: whose it is, and which columns lead there.

    ``columns`` are the table's, in the order of the hub's business key.
    """

    hub_entity: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """How a reference reaches a hub; ``columns`` as in ``HubReference``."""

    hub_entity: str
    columns: tuple[str, ...]
    lookup: Lookup | None = None


def chosen_business_keys(
    schema: SourceTables, shapes: Mapping[str, Placement]
) -> dict[str, BusinessKey]:
    """The business key of every hub, by its entity."""
    sharing: dict[str, list[str]] = {}
    for name, shape in shapes.items():
        if shape.kind == "extension" and shape.parent is not None:
            sharing.setdefault(shape.parent.to_entity, []).append(name)
    chosen = {}
    for name, entity in schema.entities.items():
        identity = schema.identities[name]
        if shapes[name].kind == "hub" and identity is not None:
            chosen[name] = business_key(entity, identity, sharing.get(name, ()))
    return chosen


def anchors(
    schema: SourceTables, shapes: Mapping[str, Placement], keys: Mapping[str, BusinessKey]
) -> dict[str, Anchor]:
    """The anchor of every table that is a hub or hangs on one by its whole key."""
    found = {name: Anchor(name, key.key.attributes) for name, key in keys.items()}

    for name in schema.entities:
        if shapes[name].kind == "extension":
            _settle(name, shapes, found)
    return found


def _settle(name: str, shapes: Mapping[str, Placement], found: dict[str, Anchor]) -> None:
    """Anchor a table, after those above it whose keys it shares."""
    above: list[Relationship] = []
    while name not in found:
        parent = shapes[name].parent
        assert parent is not None, f"{name} shares a key with nothing"
        above.append(parent)
        name = parent.to_entity
    for reference in reversed(above):
        anchor = found[reference.to_entity]
        columns = _paired(reference, anchor.columns)
        found[reference.from_entity] = Anchor(anchor.hub_entity, columns)


def way(
    schema: SourceTables, anchors_: Mapping[str, Anchor], reference: Relationship
) -> Way | None:
    """How a reference reaches its hub; None where the parent has none."""
    anchor = anchors_.get(reference.to_entity)
    if anchor is None:
        return None
    if set(reference.to_attributes) == set(anchor.columns):
        columns = _paired(reference, anchor.columns)
        if _written_alike(schema, reference.from_entity, columns, anchors_[anchor.hub_entity]):
            return Way(anchor.hub_entity, columns)
    lookup = Lookup(table=reference.to_entity, match=reference.to_attributes, found=anchor.columns)
    return Way(anchor.hub_entity, reference.from_attributes, lookup)


def _paired(reference: Relationship, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The referring columns in the order of the parent's columns that are wanted."""
    pairs = dict(zip(reference.to_attributes, reference.from_attributes, strict=True))
    return tuple(pairs[column] for column in wanted)


def _written_alike(
    schema: SourceTables, child: str, columns: tuple[str, ...], anchor: Anchor
) -> bool:
    ours, theirs = schema.entities[child], schema.entities[anchor.hub_entity]
    return written_alike(
        [kept_type(ours.attribute(column)) for column in columns],
        [kept_type(theirs.attribute(column)) for column in anchor.columns],
    )
