"""Vaults of several small DuckDB files, built and proven."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from fluid_build.modeling.data_vault.elements import DataVaultModel
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.techniques import build_model
from fluid_build.observations.observe import Observations, observe_combined
from fluid_build.profiling.profiler import profile_combined
from fluid_build.sources.combined import SourceRequest, open_several
from fluid_build.sources.uri import locate
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.building import build_and_prove
from fluid_build.transform.proof.proof import Proof


@dataclass(frozen=True)
class Modelled:
    """What was made of several sources."""

    observations: Observations
    model: LogicalModel
    proof: Proof

    @property
    def vault(self) -> DataVaultModel:
        """The vault of all sources."""
        assert self.model.dv2 is not None
        return self.model.dv2

    @property
    def hubs(self) -> dict[str, tuple[str, ...]]:
        """The tables that have a satellite on each hub, by the hub's name."""
        return {
            hub.name: tuple(s.table for s in self.vault.satellites if s.parent == hub.name)
            for hub in self.vault.hubs
        }


def modelled(folder: Path, sources: Mapping[str, Sequence[str]]) -> Modelled:
    """Make a DuckDB file of each source by its SQL, and build and prove the vault of all."""
    requests = []
    for name, statements in sources.items():
        path = folder / f"{name}.duckdb"
        path.unlink(missing_ok=True)
        with duckdb.connect(str(path)) as connection:
            for statement in statements:
                connection.execute(statement)
        requests.append(SourceRequest(locate(str(path)), name))
    with open_several(requests) as source:
        profile = profile_combined(source)
        observations = observe_combined(source, profile)
        model = build_model(profile, "data_vault_2", observations=observations)
        proof = build_and_prove(source, transform_plan(model), model)
    return Modelled(observations, model, proof)
