"""Data Vault 2.0: the builds of a vault on its staging, and the way back to the source tables."""

from collections.abc import Iterator, Sequence

from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import SqlNames
from fluid_build.transform.plan.carried_tests import Carriers
from fluid_build.transform.plan.data_vault.carriers import reference_tests, vault_carriers
from fluid_build.transform.plan.data_vault.hashed_staging import hashed_staging
from fluid_build.transform.plan.data_vault.histories import (
    keyless_builds,
    reference_builds,
    satellite_builds,
)
from fluid_build.transform.plan.data_vault.hubs import hub_builds
from fluid_build.transform.plan.data_vault.keys import vault_keys
from fluid_build.transform.plan.data_vault.links import link_builds
from fluid_build.transform.plan.data_vault.rebuilds import vault_rebuilds
from fluid_build.transform.plan.data_vault.sources import vault_sources
from fluid_build.transform.plan.elements import Build, BuildTest
from fluid_build.transform.plan.relied_keys import ReliedKey
from fluid_build.transform.plan.staging import by_spelling, staging_builds

__all__ = [
    "vault_builds",
    "vault_orphan_tests",
    "vault_rebuilds",
    "vault_relation_carriers",
    "vault_relied_keys",
]


def vault_builds(
    model: LogicalModel, names: SqlNames, staging: Sequence[Build]
) -> tuple[Build, ...]:
    """Everything that a vault is built of beyond the staging views, in the order of building.

    ``staging`` has one build for each entity. Raises KeyError where the model's vault speaks of a
    table or column that its conceptual layer lacks.
    """
    sources = vault_sources(model, names, staging)
    return (
        *hashed_staging(sources),
        *reference_builds(sources),
        *hub_builds(sources),
        *keyless_builds(sources),
        *link_builds(sources),
        *satellite_builds(sources),
    )


def vault_relation_carriers(
    model: LogicalModel, names: SqlNames, staging: Sequence[Build]
) -> Carriers:
    """Which relations hold the columns of each table; ``staging`` as for ``vault_builds``."""
    return vault_carriers(vault_sources(model, names, staging))


def vault_orphan_tests(model: LogicalModel, names: SqlNames) -> dict[str, tuple[BuildTest, ...]]:
    """By relation the tests of what it refers to, within what was measured."""
    staging = staging_builds(model.conceptual, names, by_spelling)
    return reference_tests(vault_sources(model, names, staging), model.conceptual)


def vault_relied_keys(
    model: LogicalModel, names: SqlNames, staging: Sequence[Build]
) -> Iterator[ReliedKey]:
    """The keys of the source that a vault is loaded by; ``staging`` as for ``vault_builds``."""
    return vault_keys(vault_sources(model, names, staging))
