"""The keys of the source that a vault is loaded by, each where it is staged."""

from collections.abc import Iterator

from fluid_build.modeling.data_vault.elements import Link, Satellite
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.hashing import exact
from fluid_build.transform.plan.relied_keys import ReliedKey


def vault_keys(sources: VaultSources) -> Iterator[ReliedKey]:
    """Return what identifies the rows of each table, and what business keys are looked up by.

    The former are tested in the source's own columns, or as the hashes that they become where keys
    that differ may have the same hash and so be one in the vault.
    """
    vault, names = sources.vault, sources.names
    for table in vault.reference_tables:
        yield ReliedKey(names.staging(table.table), table.table, table.key_columns)
    links = {link.name: link for link in vault.links}
    for satellite in vault.satellites:
        link = links.get(satellite.parent)
        # Such a link has the key of the referring row, as has the satellite of its hub.
        is_of_rows = link is None or not sources.is_of_a_hub(link)
        if is_of_rows and satellite.name not in sources.of_references:
            yield _of_a_satellite(sources, satellite, link)
    for references in sources.references.values():
        for reference in references.values():
            if reference.lookup is not None:
                parent, match = reference.lookup.table, reference.lookup.match
                yield ReliedKey(names.staging(parent), parent, match, complete=False)


def _of_a_satellite(sources: VaultSources, satellite: Satellite, link: Link | None) -> ReliedKey:
    table, parts = satellite.table, satellite.multi_active_keys
    columns = row_key(satellite, link)
    hashes = (satellite.hash_key, *sources.names.columns_of(table, parts))
    return ReliedKey(
        relation=sources.names.staging(table),
        table=table,
        columns=columns,
        hashed=() if _has_its_own_hash(sources, satellite, columns) else hashes,
    )


def _has_its_own_hash(
    sources: VaultSources, satellite: Satellite, columns: tuple[str, ...]
) -> bool:
    """Whether keys that differ always differ in their hashes.

    A hash may disregard case, a null counts as a value, and all business keys that a hub's rows
    don't find are one. Of a link, such rows are told apart.
    """
    strategy, via = sources.vault.hash_key_strategy, satellite.via
    primary = sources.conceptual.entity(satellite.table).primary_key
    is_of_primary = primary is not None and primary.holds and set(primary.attributes) <= {*columns}
    return (
        strategy == exact(strategy)
        and (via is None or via.lookup is None)
        and (
            is_of_primary
            or all(column.required for column in sources.columns(satellite.table, columns))
        )
    )


def row_key(satellite: Satellite, link: Link | None) -> tuple[str, ...]:
    """Return the source columns that identify a satellite's rows; ``link`` is its parent, if any.

    A satellite has one row at a time for its parent, or for each of its multi-active keys.
    """
    references = link.hubs if link is not None else (satellite.via,)
    referring = (
        column for reference in references if reference is not None for column in reference.columns
    )
    children = link.dependent_child_keys if link is not None else ()
    return tuple(dict.fromkeys((*referring, *children, *satellite.multi_active_keys)))
