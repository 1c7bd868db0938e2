"""What of a vault can still be loaded, where its source has lost tables and columns.

A link takes all that it relates, and a satellite what its rows are found by. What lacks a part of
that keeps its rows, and gets none.
"""

from collections.abc import Callable, Set
from dataclasses import dataclass
from functools import cached_property

from fluid_build.modeling.data_vault.elements import DataVaultModel, HubReference, Link, Satellite
from fluid_build.modeling.element import SourceColumn, source_columns

Has = Callable[..., bool]
"""Says of a table and any number of its columns whether the source has all of them."""


def has_all_but(gone: Set[SourceColumn]) -> Has:
    """Return what says that a source has all columns but some."""
    return lambda table, *columns: gone.isdisjoint(source_columns(table, columns))


def is_of_table(vault: DataVaultModel, link: Link) -> bool:
    """Return whether a link is made of a table, and not of a reference of a hub's table."""
    return all(hub.entity_name != link.table for hub in vault.hubs) and not any(
        satellite.table == link.table and satellite.via is not None
        for satellite in vault.satellites
    )


@dataclass(frozen=True)
class RemainingVault:
    """A vault with what its source still has of each table."""

    vault: DataVaultModel
    has: Has

    def has_reference(self, table: str, reference: HubReference) -> bool:
        """Whether the source still says what the rows of a table refer to."""
        lookup = reference.lookup
        return self.has(table, *reference.columns) and (
            lookup is None or self.has(lookup.table, *lookup.match, *lookup.found)
        )

    def has_link(self, link: Link) -> bool:
        """Whether a link gets rows; one of whole rows does as long as its table is there."""
        if link.of_rows:
            return self.has(link.table)
        return self.has(link.table, *link.dependent_child_keys) and all(
            self.has_reference(link.table, hub) for hub in link.hubs
        )

    def has_satellite(self, satellite: Satellite) -> bool:
        """Whether a satellite gets rows: the source has what they are found by."""
        link, via = self._links.get(satellite.parent), satellite.via
        return (
            self.has(satellite.table, *satellite.multi_active_keys)
            and (via is None or self.has_reference(satellite.table, via))
            and (link is None or self.has_link(link))
        )

    def is_read(self, satellite: Satellite) -> bool:
        """Whether what a table's rows are today is read from a satellite of it."""
        own = self.link_of_table(satellite.table)
        return self.has_satellite(satellite) and own in (None, self._links.get(satellite.parent))

    def link_of_table(self, table: str) -> Link | None:
        """Return the link that holds the rows of a table: of those that get rows, the widest.

        None where the table has none by a key, as those of hubs do.
        """
        links = [
            link
            for link in self.vault.links
            if link.table == table and not link.of_rows and is_of_table(self.vault, link)
        ]
        loaded = [link for link in links if self.has_link(link)] or links[:1]
        return max(loaded, key=lambda link: len(link.hubs), default=None)

    @cached_property
    def _links(self) -> dict[str, Link]:
        return {link.name: link for link in self.vault.links}
