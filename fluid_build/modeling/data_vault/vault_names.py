"""The names of a vault's relations and hash keys, no two of them the same.

Prefixes are the ones that the Data Vault community uses: ``hub_``, ``lnk_`` (``hal_``, ``sal_`` and
``tl_`` for hierarchical, same-as and transactional links), ``sat_``, ``msat_`` for multi-active and
``eff_sat_`` for effectivity satellites, ``ref_`` for reference tables, and ``psa_``, persistent
staging area, for tables that no key identifies. The hash key of a hub ends in ``_hk``, that of a
link in ``_lk``.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from fluid_build.lexicon import terms
from fluid_build.modeling.conceptual import Entity
from fluid_build.modeling.data_vault.elements import LinkType
from fluid_build.modeling.identifiers import LONGEST_IDENTIFIER, identifier
from fluid_build.modeling.sql_names import TECHNICAL, SqlNames, fit, free_identifier

LINK_PREFIXES: dict[LinkType, str] = {
    "standard": "lnk",
    "hierarchical": "hal",
    "same-as": "sal",
    "transactional": "tl",
}
_HUB_KEY = "_hk"
_LINK_KEY = "_lk"


@dataclass(frozen=True, slots=True)
class TableStems:
    """What each table is called in the names of relations: by itself, and by its source.

    The name of its source is "" unless several are combined. Relations that are loaded from one
    table end in it (``sat_customers_crm``); a hub does where two of them would have one name.
    """

    plain: Mapping[str, str]
    sources: Mapping[str, str]


def table_stems(entities: Iterable[Entity], names: SqlNames) -> TableStems:
    """Return the stems of all tables."""
    listed_entities = list(entities)
    return TableStems(
        plain={
            entity.name: _without_layer(
                identifier(entity.own_name)
                if entity.source and entity.new_name is None
                else names.stem(entity.name)
            )
            for entity in listed_entities
        },
        sources={entity.name: entity.source or "" for entity in listed_entities},
    )


def _without_layer(name: str) -> str:
    """Return a table's name without the word for the layer that it was in at the source."""
    first, *more = name.split("_")
    if more and first in terms("layer"):
        return "_".join(more)
    *more, last = name.split("_")
    return "_".join(more) if more and last in terms("layer") else name


class VaultNames:
    """A giver of names: whoever asks first gets the plain one."""

    def __init__(self, names: SqlNames) -> None:
        self._used_relations = set(names.stagings.values())
        # A hash key is a column next to the source columns of any table that refers to its hub.
        columns = {column for table in names.columns.values() for column in table.values()}
        self._used_hash_keys = {*columns, *TECHNICAL}

    def relation(self, prefix: str, *stems: str) -> str:
        """Return a new name for a relation."""
        # The underscore that sets a reserved word apart isn't needed after a prefix.
        plain = (stem.rstrip("_") for stem in stems if stem)
        name = free_identifier(fit(prefix, *plain), self._used_relations)
        self._used_relations.add(name)
        return name

    def hub_key(self, hub: str) -> str:
        """Return a new name for the hash key of a hub."""
        return self._hash_key(hub, _HUB_KEY)

    def link_key(self, link: str) -> str:
        """Return a new name for the hash key of a link."""
        return self._hash_key(link, _LINK_KEY)

    def hub_key_in_role(self, hash_key: str, role: str, used_names: Collection[str]) -> str:
        """Return the name of a hub's hash key where a table refers to the hub in a role.

        ``used_names`` are the other hash keys of that table.
        """
        if not role and hash_key not in used_names:
            return hash_key
        stem = hash_key.removesuffix(_HUB_KEY)
        name = _with_suffix(f"{stem}_{role}" if role else stem, _HUB_KEY)
        return free_identifier(name, {*self._used_hash_keys, *used_names})

    def _hash_key(self, relation: str, suffix: str) -> str:
        _, _, stem = relation.partition("_")
        name = free_identifier(_with_suffix(stem, suffix), self._used_hash_keys)
        self._used_hash_keys.add(name)
        return name


def _with_suffix(stem: str, suffix: str) -> str:
    if len(stem) + len(suffix) <= LONGEST_IDENTIFIER:
        return stem + suffix
    digest = hashlib.sha256(stem.encode()).hexdigest()[:8]
    room = LONGEST_IDENTIFIER - len(suffix) - len(digest) - 1
    return f"{stem[:room].rstrip('_')}_{digest}{suffix}"
