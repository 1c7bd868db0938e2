"""Further links and satellites, where the source drops a part of what others are loaded by.

A link whose table loses one of its references can't be loaded any more, and keeps what rows were
related to. A further link takes what is left, under a hash key of its own, so that no row that was
loaded changes. Where nothing tells the rows apart any more, it holds whole rows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from fluid_build.modeling.data_vault.described_rows import of_hub_rows
from fluid_build.modeling.data_vault.elements import (
    DataVaultModel,
    HubReference,
    KeylessTable,
    Link,
    Satellite,
)
from fluid_build.modeling.data_vault.remaining import Has, RemainingVault, is_of_table
from fluid_build.modeling.element import source_columns
from fluid_build.modeling.sql_names import fit, free_identifier
from fluid_build.text import listed

_FEWEST_ENDS = 2
"""Ends of a link of what the rows of a hub's table refer to: themselves, and something else."""


def with_further_links(
    vault: DataVaultModel, has: Has, identities: Mapping[str, Sequence[str]]
) -> DataVaultModel:
    """Return the vault with links and satellites of what the source still has of others.

    ``identities`` are the columns that identify the rows of tables. A table that has lost what its
    hub is loaded by gets nothing: no satellite could say of which row it speaks.
    """
    for link in vault.links:
        if not RemainingVault(vault, has).has_link(link):
            vault = _with_rest_of(vault, link, has, identities.get(link.table, ()))
    for table in dict.fromkeys(satellite.table for satellite in vault.satellites):
        vault = _with_rehoused(vault, table, has)
    return vault


def free_name(name: str, used: set[str]) -> str:
    """Return the next free one of a name and its numbered followers, and take it."""
    base, _, number = name.rpartition("_")
    free = free_identifier(base if number.isdigit() and base in used else name, used)
    used.add(free)
    return free


# Links.


def _with_rest_of(
    vault: DataVaultModel, link: Link, has: Has, identity: Sequence[str]
) -> DataVaultModel:
    """Return the vault with a relation of what is left of a link, unless it has one."""
    remaining = RemainingVault(vault, has)
    hubs = tuple(hub for hub in link.hubs if remaining.has_reference(link.table, hub))
    if _relates(remaining, link.table, hubs):
        return vault
    if not is_of_table(vault, link):
        is_one = len(hubs) >= _FEWEST_ENDS and hubs[0] == link.hubs[0]
        return _with_link(vault, link, _rest(vault, link, hubs, has)) if is_one else vault
    known = tuple(_known(vault, link.table))
    if _has_whole_rows(vault, link.table) or not any(has(link.table, each) for each in known):
        return vault
    if identity and hubs and has(link.table, *identity):
        children = tuple(c for c in link.dependent_child_keys if has(link.table, c))
        return _with_link(vault, link, _rest(vault, link, hubs, has, children))
    # Whole rows hold what comes back later, too.
    if not hubs:
        return _with_keyless(vault, link, known)
    described, given = _described(vault, link.table), set(_referring(hubs))
    payload = tuple(column for column in known if column in described or column not in given)
    of_rows = {"of_rows": True, "columns": payload, "dependent_child_keys": ()}
    rest = _rest(vault, link, hubs, has, payload).model_copy(update=of_rows)
    return _with_link(vault, link, rest)


def _relates(remaining: RemainingVault, table: str, hubs: Sequence[HubReference]) -> bool:
    """Whether a link of a table that gets rows relates all of some hubs."""
    return any(
        link.table == table and remaining.has_link(link) and set(link.hubs).issuperset(hubs)
        for link in remaining.vault.links
    )


def _rest(
    vault: DataVaultModel,
    link: Link,
    hubs: tuple[HubReference, ...],
    has: Has,
    children: tuple[str, ...] = (),
) -> Link:
    """Return a link of some of another one's hubs and of the columns that tell its rows apart."""
    named = (*(c for hub in link.hubs for c in hub.columns), *link.dependent_child_keys)
    gone = [column for column in dict.fromkeys(named) if not has(link.table, column)]
    what = f"{listed(gone)} of {link.table}" if gone else "what a key is looked up by"
    entities = dict.fromkeys(vault.hub(hub.hub).entity_name for hub in hubs)
    columns = tuple(dict.fromkeys((*(c for hub in hubs for c in hub.columns), *children)))
    return link.model_copy(
        update={
            "description": f"What each row of {link.table} still relates: {listed(entities)}.",
            "hubs": hubs,
            "dependent_child_keys": children,
            "source_columns": source_columns(link.table, columns),
            "instead_of": link.name,
            "reason": f"The source dropped {what}: {link.name} keeps its rows and gets no more,"
            " and this link goes on with the rest.",
            "alternatives": (),
        }
    )


def _with_link(vault: DataVaultModel, link: Link, rest: Link) -> DataVaultModel:
    """Return the vault with the rest of a link, and for how long each of its rows was there."""
    used = set(vault.relation_names)
    key = free_name(link.hash_key, {each.hash_key for each in vault.links})
    rest = rest.model_copy(update={"name": free_name(link.name, used), "hash_key": key})
    # That of a table's own link holds what the table says, and is made with its other columns.
    ended = () if is_of_table(vault, link) else vault.satellites
    satellites = (
        _beside(satellite, free_name(satellite.name, used), (), rest)
        for satellite in ended
        if satellite.parent == link.name
    )
    return vault.model_copy(
        update={
            "links": (*vault.links, rest),
            "satellites": (*vault.satellites, *satellites),
        }
    )


def _with_keyless(vault: DataVaultModel, link: Link, columns: tuple[str, ...]) -> DataVaultModel:
    """Return the vault with the rows of a table that refers to nothing any more, as they come."""
    name = free_name(fit("psa", link.name.partition("_")[2]), set(vault.relation_names))
    table = KeylessTable(
        name=name,
        table=link.table,
        description=f"The rows of {link.table}, and how often each occurs.",
        columns=columns,
        mapped_source_tables=(link.table,),
        source_columns=source_columns(link.table, columns),
        reason=f"The source dropped all that {link.name} relates: its rows stay there, and those"
        " that come are stored as they are.",
    )
    return vault.model_copy(update={"keyless_tables": (*vault.keyless_tables, table)})


# What satellites hold that can't be loaded any more, though the source has it.


def _with_rehoused(vault: DataVaultModel, table: str, has: Has) -> DataVaultModel:
    """Return the vault with satellites for the columns that no loaded relation of a table holds."""
    remaining = RemainingVault(vault, has)
    link = remaining.link_of_table(table)
    if _has_whole_rows(vault, table) or (link is not None and not remaining.has_link(link)):
        return vault
    of_table = [satellite for satellite in vault.satellites if satellite.table == table]
    loaded = [each for each in of_table if remaining.is_read(each)]
    beside = _first_of_rows(vault, loaded) if link is None else of_table[0]
    if beside is None:
        return vault
    held = _held(vault, table, loaded, remaining)
    left = [column for column in _known(vault, table) if has(table, column) and column not in held]
    used, found = set(vault.relation_names), []
    for satellite in (each for each in of_table if each not in loaded):
        columns = tuple(column for column in satellite.columns if column in left)
        if columns:
            found.append((satellite.name, columns))
            left = [column for column in left if column not in columns]
    if left:
        name, columns = found[0] if found else (beside.name, ())
        found = [(name, (*columns, *left)), *found[1:]]
    if not found and link is not None and not loaded:
        found = [(beside.name, ())]
    made = (_beside(beside, free_name(name, used), columns, link) for name, columns in found)
    return vault.model_copy(update={"satellites": (*vault.satellites, *made)})


def _beside(
    satellite: Satellite, name: str, columns: tuple[str, ...], link: Link | None
) -> Satellite:
    """Return a satellite of some columns beside another one, or of a link."""
    table, keys = satellite.table, satellite.multi_active_keys
    parent = link.name if link is not None else satellite.parent
    whose = f"Columns of {table}, with their history."
    return satellite.model_copy(
        update={
            "name": name,
            "kind": "descriptive" if columns else "effectivity",
            "description": whose if columns else f"When each row of {parent} was present.",
            "parent": parent,
            "hash_key": link.hash_key if link is not None else satellite.hash_key,
            "columns": columns,
            "rate_of_change": "unknown",
            "source_columns": source_columns(table, (*keys, *columns)),
            "reason": f"The source dropped a part of what {table} was loaded by: what was loaded"
            " stays where it is, and this satellite goes on.",
            "alternatives": (),
        }
    )


def _first_of_rows(vault: DataVaultModel, satellites: Iterable[Satellite]) -> Satellite | None:
    """Return the first satellite of a hub that describes the rows of its table."""
    of_rows = of_hub_rows(vault)
    return next((each for each in satellites if each.name in of_rows), None)


def _held(
    vault: DataVaultModel, table: str, loaded: Sequence[Satellite], remaining: RemainingVault
) -> set[str]:
    """Return the columns of a table that come back of its loaded satellites, links and hubs.

    What a satellite describes, no hub gives back.
    """
    by_keys = {column for each in loaded if each.via is not None for column in each.via.columns}
    own = remaining.link_of_table(table)
    for link in vault.links:
        if link.table == table and remaining.has_link(link) and own in (None, link):
            by_keys.update(_referring(link.hubs), link.dependent_child_keys)
    columns = {c for each in loaded for c in (*each.multi_active_keys, *each.columns)}
    return columns | (by_keys - _described(vault, table))


def _known(vault: DataVaultModel, table: str) -> Iterator[str]:
    """Yield the columns of a table that its links and satellites ever held, each once."""
    links = [link for link in vault.links if link.table == table]
    columns = [c for link in links for c in (*_referring(link.hubs), *link.dependent_child_keys)]
    for satellite in vault.satellites:
        if satellite.table == table:
            columns += [*satellite.multi_active_keys, *satellite.columns]
    yield from dict.fromkeys(columns)


def _described(vault: DataVaultModel, table: str) -> Set[str]:
    return {c for each in vault.satellites if each.table == table for c in each.columns}


def _referring(hubs: Iterable[HubReference]) -> tuple[str, ...]:
    """Return the columns that hold the business keys of hubs."""
    return tuple(column for hub in hubs if hub.lookup is None for column in hub.columns)


def _has_whole_rows(vault: DataVaultModel, table: str) -> bool:
    """Whether a relation holds whole rows of a table, and so all that comes of it."""
    of_rows = (link.table for link in vault.links if link.of_rows)
    return table in {*of_rows, *(each.table for each in vault.keyless_tables)}
