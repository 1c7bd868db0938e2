"""The names of a vault's relations and hash keys: no two the same.

Relations are told apart by prefixes, the hash keys of hubs and links by ``_hk`` and ``_lk``.
"""

import hashlib
from collections.abc import Collection

from fluid_build.modeling.identifiers import LONGEST_IDENTIFIER
from fluid_build.modeling.sql_names import TECHNICAL, SqlNames, fit, free_identifier

_HUB = "_hk"
_LINK = "_lk"


class VaultNames:
    """Gives out names. The order of asking decides who keeps the plain one."""

    def __init__(self, names: SqlNames) -> None:
        self._relations = set(names.stagings.values())
        # Hash keys stand beside the columns of any table that refers to them.
        columns = {column for table in names.columns.values() for column in table.values()}
        self._hash_keys = {*columns, *TECHNICAL}

    def relation(self, prefix: str, *stems: str) -> str:
        """A name for a relation. After a prefix, no word is reserved any more."""
        plain = (stem.rstrip("_") for stem in stems if stem)
        name = free_identifier(fit(prefix, *plain), self._relations)
        self._relations.add(name)
        return name

    def hub_key(self, hub: str) -> str:
        """A name for the hash key of a hub, of which there is no other in the vault."""
        return self._key(hub, _HUB)

    def link_key(self, link: str) -> str:
        """A name for the hash key of a link, of which there is no other in the vault."""
        return self._key(link, _LINK)

    def role(self, hash_key: str, role: str, taken: Collection[str]) -> str:
        """A name for another hub's hash key in some role; ``taken`` are those of the same table."""
        if not role and hash_key not in taken:
            return hash_key
        stem = hash_key.removesuffix(_HUB)
        wanted = _suffixed(f"{stem}_{role}" if role else stem, _HUB)
        return free_identifier(wanted, {*self._hash_keys, *taken})

    def _key(self, relation: str, suffix: str) -> str:
        _, _, stem = relation.partition("_")
        name = free_identifier(_suffixed(stem, suffix), self._hash_keys)
        self._hash_keys.add(name)
        return name


def _suffixed(stem: str, suffix: str) -> str:
    if len(stem) + len(suffix) <= LONGEST_IDENTIFIER:
        return stem + suffix
    digest = hashlib.sha256(stem.encode()).hexdigest()[:8]
    room = LONGEST_IDENTIFIER - len(suffix) - len(digest) - 1
    return f"{stem[:room].rstrip('_')}_{digest}{suffix}"
