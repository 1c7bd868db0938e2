"""The satellites of a vault: at least one for each table whose rows have an identity."""

from collections.abc import Iterator, Sequence, Set

from fluid_build.lexicon import terms
from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.data_vault.column_purposes import is_change_stamp
from fluid_build.modeling.data_vault.elements import (
    HubReference,
    Link,
    RateOfChange,
    Satellite,
    SatelliteKind,
)
from fluid_build.modeling.data_vault.entity_evidence import steps
from fluid_build.modeling.data_vault.hub_references import (
    ResolvedReference,
    VaultDecisions,
    identifies_alike,
    own_reference,
    payload_columns,
    resolved_references,
)
from fluid_build.modeling.data_vault.personal_data import personal_columns
from fluid_build.modeling.element import Alternative, source_columns
from fluid_build.modeling.types import family
from fluid_build.profiling.names.words import last_word, words
from fluid_build.text import listed

# Which columns of a table change more often than the others, as far as that can be known.
# A single look at the data shows no rate of change. What a column is can be known, though: every
# transaction changes a balance or a stock, a process changes a status, and the time of the last
# change follows both. And the rows show which dates are filled in later, those of the youngest
# rows last. Where a table has no balance, stock, status or such a date, its rate is unknown.

_ENDS_OF_REFERENCE = 2
"""Ends of a link that is made of one reference: the row that refers, and what it refers to."""
_FEWEST_SLOW = 3
"""Slow columns that make a satellite of their own worth its load and its join: with fewer, keeping
their old values once more with each change costs less."""


def fast_columns(attributes: Sequence[Attribute], later: Set[str] = frozenset()) -> tuple[str, ...]:
    """Return the columns for a satellite of their own, in order; none where it isn't worth it.

    ``later`` are the dates that are filled in as things go on.
    """
    states = [each.name for each in attributes if _is_state(each) or each.name in later]
    stamps = [attribute.name for attribute in attributes if is_change_stamp(attribute)]
    if not states or len(attributes) - len(states) - len(stamps) < _FEWEST_SLOW:
        return ()
    return tuple(attribute.name for attribute in attributes if attribute.name in {*states, *stamps})


def _is_state(attribute: Attribute) -> bool:
    """Return whether an attribute is a level (balance, stock) or the status of a process.

    Every booking changes an account's balance, and an order's status says how far it is. A marital
    status changes as seldom as a name, and how much a ship holds never does.
    """
    if attribute.measure is not None:
        is_property = terms("property") & set(words(attribute.name))
        return attribute.measure.additivity == "semi-additive" and not is_property
    if family(attribute.type) not in {"text", "integer", "boolean"}:
        return False
    # In one word or two: marital_status, maritalstatus.
    before_status = "".join(words(attribute.name)).split("status")
    return bool(last_word(attribute.name, {"status"})) and not terms("of_a_person") & set(
        before_status
    )


def satellites(decisions: VaultDecisions, links: Sequence[Link]) -> Iterator[Satellite]:
    """Return all satellites, in the order of the source; those of links follow their table's."""
    links_by_table: dict[str, list[Link]] = {}
    for link in links:
        links_by_table.setdefault(link.table, []).append(link)
    for name, placement in decisions.placements.items():
        entity, table_links = decisions.tables.entities[name], links_by_table.get(name, [])
        if name in decisions.tables.homes:
            yield from _split_satellites(decisions, name)
            continue
        own_hub = decisions.own_hubs.get(name)
        if own_hub is not None and own_hub.rows_by:
            # Each row of one key may have other references, so no link could give them back.
            via = own_reference(decisions, entity.name)
            keys = own_hub.rows_by
            reason = (
                f"{entity.name} has several rows for one {listed(via.columns)};"
                f" {listed(keys)} {'tells' if len(keys) == 1 else 'tell'} them apart."
            )
            yield _several_rows(decisions, entity, via, keys, reason)
        elif placement.kind in {"hub", "subtype"}:
            yield from _hub_satellites(decisions, entity, table_links)
            yield from (_reference_satellite(decisions, link) for link in table_links)
        elif placement.kind in {"link", "transaction"} and not table_links[0].of_rows:
            yield from _link_satellites(decisions, entity, table_links[0])
        elif placement.kind == "multi-active":
            yield _multi_active_satellite(decisions, entity)


def _hub_satellites(
    decisions: VaultDecisions, entity: Entity, links: Sequence[Link]
) -> Iterator[Satellite]:
    """Return the satellites of a table's own hub.

    Its slow and its fast columns have one each where that's worth it, and so has personal data.
    """
    via = own_reference(decisions, entity.name)
    linked_hubs = [hub for link in links for hub in link.hubs if hub.hash_key != via.hash_key]
    split_off = _split_attributes(decisions, entity.name)
    payload = [
        column
        for column in payload_columns(decisions, entity, (via, *linked_hubs))
        if column not in split_off
    ]
    columns, personal = _apart(decisions, entity, payload)
    placement = decisions.placements[entity.name]
    is_subtype = placement.kind == "subtype"
    subtype_reason = f"{placement.reason} " if is_subtype else ""
    # A table with a hub of its own has them there.
    alternatives = placement.alternatives if is_subtype else ()
    carried = frozenset(columns)
    fast = fast_columns(
        [column for column in entity.attributes if column.name in carried],
        steps(decisions.tables, entity),
    )
    slow = tuple(column for column in columns if column not in fast)
    if fast:
        reason = (
            f"{subtype_reason}The {'other ' if personal else ''}descriptive columns of"
            f" {entity.name}, split by the rate of change that they're expected to have:"
            f" {listed(fast)} with events, the others less often."
        )
    else:
        reason = f"{subtype_reason}{_undivided_reason(entity, columns, personal)}"
    rate: RateOfChange = "slow" if fast else "unknown"
    main = _hub_satellite(decisions, entity, via, slow, reason, alternatives, rate=rate)
    yield main
    if fast:
        yield _hub_satellite(
            decisions, entity, via, fast, reason, alternatives, rate="fast", suffix="state"
        )
    if personal:
        yield _personal_satellite(decisions, main, entity.name, personal)


def _apart(
    decisions: VaultDecisions, entity: Entity, columns: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns of a satellite, and those that have one of their own: personal data.

    Where all columns are personal, one satellite is already all that there is to erase.
    """
    of_persons = personal_columns(
        decisions.tables, entity, decisions.events, decisions.decided_personal
    )
    personal = tuple(column for column in columns if column in of_persons)
    others = tuple(column for column in columns if column not in personal)
    return (others, personal) if others else (personal, ())


def _personal_satellite(
    decisions: VaultDecisions, beside: Satellite, name: str, columns: tuple[str, ...]
) -> Satellite:
    """Return the satellite of the personal data of what another satellite describes.

    What may have to be erased is in no row that must be kept.
    """
    return beside.model_copy(
        update={
            "name": decisions.relation("sat", name, "personal"),
            "description": f"Personal data of {name}, with its history.",
            "columns": columns,
            "rate_of_change": "unknown",
            "source_columns": source_columns(beside.table, columns),
            "reason": f"Personal data of {name} in a satellite of its own, so that a person can be"
            f" erased without losing the history of the other columns: {listed(columns)}.",
            "alternatives": (),
        }
    )


def _split_attributes(decisions: VaultDecisions, table: str) -> set[str]:
    """Return the columns of a table that describe an entity that was split off from it."""
    # In capital letters, two keys with different attributes may become one.
    if decisions.strategy.case == "upper":
        return set()
    return {
        column
        for split in decisions.tables.splits.values()
        if split.table == table
        for column in split.attributes
    }


def _split_satellites(decisions: VaultDecisions, name: str) -> Iterator[Satellite]:
    """Return the satellites of an entity that was split off; none where nothing describes it.

    References stay with the table.
    """
    split = decisions.tables.splits.get(name)
    if split is None:
        return
    entity = decisions.tables.entities[split.table]
    references = resolved_references(decisions, split.table)
    hubs = (own_reference(decisions, split.table), *(each.hub for each in references))
    via = next(each.hub for each in references if each.relationship.to_entity == name)
    payload = [
        column
        for column in payload_columns(decisions, entity, hubs)
        if column in _split_attributes(decisions, split.table) & set(split.attributes)
    ]
    columns, personal = _apart(decisions, entity, payload)
    if columns:
        main = Satellite(
            name=decisions.relation("sat", name),
            table=split.table,
            description=f"What describes each {name}, with its history.",
            parent=via.hub,
            hash_key=via.hash_key,
            via=via,
            columns=columns,
            mapped_source_tables=(split.table,),
            source_columns=source_columns(split.table, columns),
            reason=f"{listed(via.columns)} decides {listed(columns)} in {split.table}."
            f" {split.reason}",
            alternatives=(
                Alternative(choice=f"columns of {split.table}", reason="each of its rows has them"),
            ),
        )
        yield main
        if personal:
            yield _personal_satellite(decisions, main, name, personal)


def _undivided_reason(entity: Entity, columns: tuple[str, ...], personal: tuple[str, ...]) -> str:
    if not columns:
        return _effectivity_reason(entity)
    return (
        f"All {'other ' if personal else ''}descriptive columns of {entity.name} in one satellite:"
        " no column is known to change more often than the others."
    )


def _effectivity_reason(entity: Entity) -> str:
    return (
        f"{entity.name} has no descriptive columns; this records when each row appeared and"
        " disappeared."
    )


def _description(entity: Entity, columns: tuple[str, ...]) -> str:
    if entity.description:
        return entity.description
    if not columns:
        return f"When each row of {entity.name} was present."
    return f"Descriptive columns of {entity.name}, with their history."


def _hub_satellite(
    decisions: VaultDecisions,
    entity: Entity,
    via: HubReference,
    columns: tuple[str, ...],
    reason: str,
    alternatives: tuple[Alternative, ...],
    *,
    rate: RateOfChange = "unknown",
    suffix: str = "",
) -> Satellite:
    return Satellite(
        name=decisions.relation(_prefix(columns), entity.name, suffix),
        table=entity.name,
        kind=_kind(columns),
        description=_description(entity, columns),
        parent=via.hub,
        hash_key=via.hash_key,
        via=via,
        columns=columns,
        rate_of_change=rate,
        mapped_source_tables=(entity.name,),
        source_columns=source_columns(entity.name, columns),
        reason=reason,
        alternatives=alternatives,
    )


def _multi_active_satellite(decisions: VaultDecisions, entity: Entity) -> Satellite:
    parent = decisions.placements[entity.name].parent
    assert parent is not None, f"{entity.name} belongs to nothing"
    # Of two references by the same columns to one hub, only the first is resolved.
    reference = next(
        reference
        for reference in resolved_references(decisions, entity.name)
        if set(reference.relationship.from_attributes) == set(parent.from_attributes)
        and reference.hub.hub == decisions.hub_of(parent.to_entity).name
    )
    hub = reference.hub
    # An orphan gets the ghost record.
    via = hub.model_copy(update={"optional": hub.lookup is not None})
    in_parent = set(via.columns) if _parent_identifies(decisions, reference) else set()
    identity = decisions.tables.identity(entity.name)
    keys = tuple(column for column in identity if column not in in_parent)
    placement = decisions.placements[entity.name]
    satellite = _several_rows(decisions, entity, via, keys, placement.reason)
    return satellite.model_copy(update={"alternatives": placement.alternatives})


def _several_rows(
    decisions: VaultDecisions, entity: Entity, via: HubReference, keys: tuple[str, ...], reason: str
) -> Satellite:
    """Return a multi-active satellite; ``keys`` tell apart the rows of one key of the hub."""
    columns = tuple(c for c in payload_columns(decisions, entity, (via,)) if c not in keys)
    return Satellite(
        name=decisions.relation("msat", entity.name),
        table=entity.name,
        kind=_kind(columns),
        description=entity.description
        or f"The rows of {entity.name}; several can belong to one row of {via.hub}.",
        parent=via.hub,
        hash_key=via.hash_key,
        via=via,
        columns=columns,
        multi_active_keys=keys,
        mapped_source_tables=(entity.name,),
        source_columns=source_columns(entity.name, (*keys, *columns)),
        reason=reason,
    )


def _parent_identifies(decisions: VaultDecisions, reference: ResolvedReference) -> bool:
    """Return whether the parent's hash key distinguishes rows as well as the referring columns.

    Orphans share the ghost record, so a lookup must find a parent for every row.
    """
    is_direct = reference.hub.lookup is None
    finds_all = is_direct or reference.relationship.from_participation == "mandatory"
    return finds_all and identifies_alike(decisions, reference)


def _link_satellites(decisions: VaultDecisions, entity: Entity, link: Link) -> Iterator[Satellite]:
    payload = [
        column
        for column in payload_columns(decisions, entity, link.hubs)
        if column not in link.dependent_child_keys
    ]
    columns, personal = _apart(decisions, entity, payload)
    main = Satellite(
        name=decisions.relation(_prefix(columns), entity.name),
        table=entity.name,
        kind=_kind(columns),
        description=_description(entity, columns),
        parent=link.name,
        hash_key=link.hash_key,
        columns=columns,
        mapped_source_tables=(entity.name,),
        source_columns=source_columns(entity.name, columns),
        reason=(
            f"The columns of {entity.name} other than references"
            f"{', keys and personal data' if personal else ' and keys'}."
            if columns
            else _effectivity_reason(entity)
        ),
    )
    yield main
    if personal:
        yield _personal_satellite(decisions, main, entity.name, personal)


def _reference_satellite(decisions: VaultDecisions, link: Link) -> Satellite:
    """Return the effectivity satellite of a link of what the rows of a hub's table refer to."""
    _, _, stem = link.name.partition("_")
    driving = link.hubs[0].hash_key
    is_of_event = len(link.hubs) > _ENDS_OF_REFERENCE
    return Satellite(
        name=decisions.vault_names.relation("eff_sat", stem),
        table=link.table,
        kind="effectivity",
        description=f"When each row of {link.name} started and stopped being valid.",
        parent=link.name,
        hash_key=link.hash_key,
        columns=(),
        mapped_source_tables=(link.table,),
        source_columns=link.source_columns,
        reason=f"The driving key is {driving}: where "
        + ("one of the others" if is_of_event else "the reference")
        + f" changes, the old {'combination' if is_of_event else 'one'} ends and a new one starts.",
    )


def _kind(columns: tuple[str, ...]) -> SatelliteKind:
    """Return the kind of a satellite: without columns it only says when a row was present."""
    return "descriptive" if columns else "effectivity"


def _prefix(columns: tuple[str, ...]) -> str:
    return "sat" if _kind(columns) == "descriptive" else "eff_sat"
