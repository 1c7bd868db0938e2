"""From a profile to a Data Vault model: ``LogicalModel.dv2``, with a reason for each element."""

from fluid_build.modeling.data_vault.elements import HashKeyStrategy
from fluid_build.modeling.data_vault.vault import vault
from fluid_build.modeling.entities import conceptual_model
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.semantic_layer import osi_document
from fluid_build.profiling.profile import Profile


def build(profile: Profile, strategy: HashKeyStrategy | None = None) -> LogicalModel:
    """The Data Vault model of a profile; hash keys are made as the strategy says, or by MD5."""
    conceptual = conceptual_model(profile)
    return LogicalModel(
        name=profile.source_name,
        technique="data_vault_2",
        source_kind=profile.source_kind,
        conceptual=conceptual,
        dv2=vault(profile, conceptual, strategy or HashKeyStrategy()),
        osi=osi_document(profile, conceptual),
    )
