"""What is decided about a vault before any of its relations is described."""

from collections.abc import Mapping
from dataclasses import dataclass

from fluid_build.modeling.data_vault.elements import HashKeyStrategy, Hub
from fluid_build.modeling.data_vault.own_hubs import OwnHub
from fluid_build.modeling.data_vault.placements import Placement
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.data_vault.vault_names import TableStems, VaultNames
from fluid_build.modeling.sql_names import SqlNames


@dataclass(frozen=True, slots=True)
class VaultDecisions:
    """Where each table goes, and the hubs and names that everything else refers to.

    ``hubs`` are by their entity, ``placements`` and ``own_hubs`` by their table.
    """

    tables: SourceTables
    placements: Mapping[str, Placement]
    own_hubs: Mapping[str, OwnHub]
    hubs: Mapping[str, Hub]
    names: SqlNames
    stems: TableStems
    vault_names: VaultNames
    strategy: HashKeyStrategy

    def relation(self, prefix: str, table: str, *more: str) -> str:
        """Return a new name for a relation of a table; ``more`` stems follow the table's own."""
        stems = dict.fromkeys((self.stems.plain[table], *more))
        return self.vault_names.relation(prefix, *stems, self.stems.sources[table])

    def hub_of(self, table: str) -> Hub:
        """Return the hub that a table's rows are instances of; raise KeyError if there is none."""
        return self.hubs[self.own_hubs[table].hub_entity]
