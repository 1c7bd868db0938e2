"""Same-as links between what was loaded by an earlier key and what is loaded by the next one.

The earlier hub stays with its satellites, and the next one begins beside it: a business key is
never changed in place. Dan Linstedt and Michael Olschimke, "Building a Scalable Data Warehouse with
Data Vault 2.0", on same-as links.
"""

from collections.abc import Iterator, Sequence

from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.data_vault.elements import DataVaultModel, Hub, HubReference, Link
from fluid_build.modeling.data_vault.vault_names import LINK_PREFIXES
from fluid_build.modeling.element import source_columns
from fluid_build.modeling.evolution import RekeyedTable
from fluid_build.modeling.sql_names import fit, free_identifier, sql_names
from fluid_build.text import listed


def with_same_as_links(
    vault: DataVaultModel, rekeyed: Sequence[RekeyedTable], conceptual: ConceptualModel
) -> DataVaultModel:
    """Return the vault with a link for each rekeyed table that came, where rows have both keys."""
    hubs = {hub.entity_name: hub for hub in vault.hubs}
    links, used = list(vault.links), set(vault.relation_names)
    columns = sql_names(conceptual).columns
    keys = {*_keys_of(vault)}.union(*(names.values() for names in columns.values()))
    for each in rekeyed:
        before, now = hubs.get(each.was), hubs.get(each.table)
        if before is None or now is None:
            continue
        if columns[each.table].keys() >= set(before.business_key_columns):
            name = free_identifier(fit(LINK_PREFIXES["same-as"], _stem(before.name)), used)
            used.add(name)
            links.append(_link(each, name, before, now, keys))
    return vault.model_copy(update={"links": tuple(links)})


def _stem(name: str) -> str:
    """Return the name of a relation or key without its prefix."""
    return name.partition("_")[2] or name


def _keys_of(vault: DataVaultModel) -> Iterator[str]:
    for hub in vault.hubs:
        yield hub.hash_key
    for link in vault.links:
        yield link.hash_key
        yield from (hub.hash_key for hub in link.hubs)


def _link(rekeyed: RekeyedTable, name: str, before: Hub, now: Hub, keys: set[str]) -> Link:
    own = HubReference(hub=now.name, columns=now.business_key_columns, hash_key=now.hash_key)
    stem = before.hash_key.removesuffix("_hk")
    earlier = free_identifier(f"{stem}_before_hk", keys)
    key = free_identifier(f"{_stem(name)}_lk", {*keys, earlier})
    keys |= {earlier, key}
    table = rekeyed.table
    columns = listed(before.business_key_columns)
    return Link(
        name=name,
        table=table,
        description=f"Which row of {rekeyed.was} each row of {table} was, by its earlier key.",
        link_type="same-as",
        hubs=(
            own,
            HubReference(hub=before.name, columns=before.business_key_columns, hash_key=earlier),
        ),
        hash_key=key,
        mapped_source_tables=(table,),
        source_columns=source_columns(
            table, tuple(dict.fromkeys((*own.columns, *before.business_key_columns)))
        ),
        reason=f"The key of {rekeyed.was} was {columns}, which rows still have beside the next one:"
        " where one row has a value that the earlier hub knows, the two are the same.",
    )
