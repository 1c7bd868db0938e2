"""What sources have in common, as described in a vault: matching keys, and same-as links."""

from collections.abc import Iterator, Mapping
from itertools import chain

from fluid_build.modeling.data_vault.elements import HubReference, KeyMatch, Link, Lookup
from fluid_build.modeling.data_vault.hub_references import (
    VaultDecisions,
    own_reference,
    resolved_references,
)
from fluid_build.modeling.data_vault.source_overlaps import describe, same_as_overlaps, why_apart
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.data_vault.vault_names import LINK_PREFIXES
from fluid_build.modeling.element import source_columns
from fluid_build.observations.key_overlaps import KeyOverlap


def key_matches(tables: SourceTables, columns: Mapping[str, str]) -> tuple[KeyMatch, ...] | None:
    """Return the evidence for a hub whose key is in these columns, by table; None for one table."""
    matches = tuple(
        _key_match(overlap)
        for hub in tables.shared_hubs
        for overlap in hub.overlaps
        if {overlap.left, overlap.right} <= columns.keys()
    )
    return matches or None


def reasons_apart(tables: SourceTables, table: str) -> Iterator[str]:
    """Return why numbers that a table has in common with another don't make them one hub."""
    identity = tables.identity(table)
    for overlap in tables.observations.key_overlaps:
        own = {(overlap.left, (overlap.left_column,)), (overlap.right, (overlap.right_column,))}
        other = overlap.right if overlap.left == table else overlap.left
        are_apart = tables.shared_hub(table) is None or tables.shared_hub(other) is None
        if (table, identity) in own and (other, tables.identity(other)) in own and are_apart:
            reason = why_apart(overlap)
            if reason:
                yield f"{other} isn't part of it: {reason}"


def same_as_links(decisions: VaultDecisions) -> Iterator[Link]:
    """Return a link for each two hubs of different sources whose rows an attribute matches.

    The attribute is unique on both sides. Each row of the later source is linked to the row of the
    earlier one that has the same value; both keep their own business key.
    """
    linked: set[frozenset[str]] = set()
    used: dict[str, set[str]] = {}
    observed = decisions.tables.observations
    entities = decisions.tables.entities
    for overlap in same_as_overlaps(entities, observed.key_overlaps, observed.key_uses):
        if not {overlap.left, overlap.right} <= decisions.own_hubs.keys():
            continue
        hubs = frozenset(decisions.hub_of(table).name for table in (overlap.left, overlap.right))
        if len(hubs) == 2 and hubs not in linked:
            linked.add(hubs)
            yield _same_as_link(decisions, overlap, used)


def _same_as_link(
    decisions: VaultDecisions, overlap: KeyOverlap, used: dict[str, set[str]]
) -> Link:
    table, other = overlap.right, overlap.left
    own = own_reference(decisions, table)
    master = decisions.hub_of(other)
    references = (each.hub for each in resolved_references(decisions, table))
    hash_keys = {own.hash_key, *(hub.hash_key for hub in references), *used.get(table, ())}
    reference = HubReference(
        hub=master.name,
        columns=(overlap.right_column,),
        hash_key=decisions.vault_names.hub_key_in_role(master.hash_key, "", hash_keys),
        lookup=Lookup(
            table=other, match=(overlap.left_column,), found=decisions.own_hubs[other].columns
        ),
    )
    used.setdefault(table, set()).add(reference.hash_key)
    stems = dict.fromkeys(decisions.stems.plain[name] for name in (table, other))
    name = decisions.vault_names.relation(LINK_PREFIXES["same-as"], *stems)
    return Link(
        name=name,
        table=table,
        description=f"Which row of {other} each row of {table} is the same as.",
        link_type="same-as",
        hubs=(own, reference),
        hash_key=decisions.vault_names.link_key(name),
        key_match=_key_match(overlap),
        mapped_source_tables=(table, other),
        source_columns=tuple(
            chain(
                source_columns(table, (*own.columns, overlap.right_column)),
                source_columns(other, (overlap.left_column,)),
            )
        ),
        reason=(
            f"The sources identify their rows by different keys, and {overlap.right_column} says"
            f" which are the same: {describe(overlap)}."
        ),
    )


def _key_match(overlap: KeyOverlap) -> KeyMatch:
    return KeyMatch(
        table=overlap.left,
        column=overlap.left_column,
        keys=overlap.left_keys,
        other_table=overlap.right,
        other_column=overlap.right_column,
        other_keys=overlap.right_keys,
        shared=overlap.shared,
        sql=overlap.sql,
    )
