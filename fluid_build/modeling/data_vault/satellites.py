"""The satellites of a vault: at least one for each table whose rows are told apart."""

from collections.abc import Iterator, Sequence, Set

from fluid_build.modeling.conceptual import Entity
from fluid_build.modeling.data_vault.elements import HubReference, Link, RateOfChange, Satellite
from fluid_build.modeling.data_vault.hub_references import (
    VaultDecisions,
    kept_by_hub,
    own_reference,
    reached,
)
from fluid_build.modeling.data_vault.rates_of_change import fast_columns
from fluid_build.modeling.element import source_columns


def satellites(draft: VaultDecisions, links: Sequence[Link]) -> Iterator[Satellite]:
    """All satellites, in the order of the source; those of a table's links follow its own."""
    by_table: dict[str, list[Link]] = {}
    for link in links:
        by_table.setdefault(link.table, []).append(link)
    for name, shape in draft.shapes.items():
        entity, own = draft.schema.entities[name], by_table.get(name, [])
        if shape.kind in {"hub", "extension"}:
            yield from _of_a_hub(draft, entity, own)
            yield from (_effectivity(draft, link) for link in own)
        elif shape.kind in {"link", "transaction"}:
            yield _of_a_link(draft, entity, own[0])
        elif shape.kind == "multi-active":
            yield _multi_active(draft, entity)


def _of_a_hub(draft: VaultDecisions, entity: Entity, links: Sequence[Link]) -> Iterator[Satellite]:
    via = own_reference(draft, entity.name)
    others = [hub for link in links for hub in link.hubs if hub.hash_key != via.hash_key]
    columns = _left(draft, entity, (via, *others))
    fast = set(fast_columns([entity.attribute(column) for column in columns]))
    slow = tuple(column for column in columns if column not in fast)
    shape = draft.shapes[entity.name]
    reason = shape.reason if shape.kind == "extension" else "What the table says of its rows."
    if not fast:
        yield _satellite(draft, entity, via, columns, (), f"{reason} {_UNKNOWN}")
        return
    parted = tuple(column for column in columns if column in fast)
    why = f"What happens moves {', '.join(parted)}, what is corrected the other columns."
    yield _satellite(draft, entity, via, slow, (), f"{reason} {why}", rate="slow")
    yield _satellite(draft, entity, via, parted, ("state",), f"{reason} {why}", rate="fast")


_UNKNOWN = "No column shows another rate of change than the rest."


def _satellite(
    draft: VaultDecisions,
    entity: Entity,
    via: HubReference,
    columns: tuple[str, ...],
    stems: tuple[str, ...],
    reason: str,
    rate: RateOfChange = "unknown",
) -> Satellite:
    return Satellite(
        name=draft.given.relation(_prefix(columns), draft.names.table(entity.name), *stems),
        table=entity.name,
        kind="descriptive" if columns else "effectivity",
        description=entity.description or f"What {entity.name} says of its {via.hub}.",
        parent=via.hub,
        hash_key=via.hash_key,
        via=via,
        columns=columns,
        rate_of_change=rate,
        mapped_source_tables=(entity.name,),
        source_columns=source_columns(entity.name, columns),
        reason=reason,
    )


def _multi_active(draft: VaultDecisions, entity: Entity) -> Satellite:
    via = _parent(draft, entity)
    within = set(via.columns) if via.lookup is None else set()
    identity = draft.schema.identity(entity.name)
    parts = tuple(column for column in identity if column not in within)
    columns = tuple(c for c in _left(draft, entity, (via,)) if c not in parts)
    return Satellite(
        name=draft.given.relation("msat", draft.names.table(entity.name)),
        table=entity.name,
        kind="descriptive" if columns else "effectivity",
        description=entity.description or f"The rows of {entity.name} that belong to a {via.hub}.",
        parent=via.hub,
        hash_key=via.hash_key,
        via=via,
        columns=columns,
        multi_active_keys=parts,
        mapped_source_tables=(entity.name,),
        source_columns=source_columns(entity.name, (*parts, *columns)),
        reason=draft.shapes[entity.name].reason,
    )


def _parent(draft: VaultDecisions, entity: Entity) -> HubReference:
    """The reference that a multi-active satellite hangs on; an orphan hangs on the ghost."""
    wanted = draft.shapes[entity.name].parent
    (found,) = (one.hub for one in reached(draft, entity.name) if one.relationship == wanted)
    return found.model_copy(update={"optional": found.lookup is not None})


def _of_a_link(draft: VaultDecisions, entity: Entity, link: Link) -> Satellite:
    kept = set(link.dependent_child_keys)
    columns = tuple(c for c in _left(draft, entity, link.hubs) if c not in kept)
    return Satellite(
        name=draft.given.relation(_prefix(columns), draft.names.table(entity.name)),
        table=entity.name,
        kind="descriptive" if columns else "effectivity",
        description=entity.description or f"What {entity.name} says of its rows.",
        parent=link.name,
        hash_key=link.hash_key,
        columns=columns,
        mapped_source_tables=(entity.name,),
        source_columns=source_columns(entity.name, columns),
        reason=(
            "What the table holds beside its references."
            if columns
            else "The table holds its references alone; this tells since when and until when."
        ),
    )


def _effectivity(draft: VaultDecisions, link: Link) -> Satellite:
    _, _, stem = link.name.partition("_")
    return Satellite(
        name=draft.given.relation("eff_sat", stem),
        table=link.table,
        kind="effectivity",
        description=f"Since when, and until when, each row of {link.name} was there.",
        parent=link.name,
        hash_key=link.hash_key,
        columns=(),
        mapped_source_tables=(link.table,),
        source_columns=link.source_columns,
        reason="A reference can be changed: this ends the old one and begins the new one.",
    )


def _prefix(columns: tuple[str, ...]) -> str:
    """Return the prefix of a satellite: without columns it only says when a row was there."""
    return "sat" if columns else "eff_sat"


def _left(
    draft: VaultDecisions, entity: Entity, references: Sequence[HubReference]
) -> tuple[str, ...]:
    """The columns of a table that no hub gives back."""
    kept: Set[str] = frozenset().union(*(kept_by_hub(draft, entity, r) for r in references))
    return tuple(attribute.name for attribute in entity.attributes if attribute.name not in kept)
