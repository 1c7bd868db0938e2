"""The flat technique: the tables as they are, one entity a table, under their own names."""

from fluid_build.modeling.entities import conceptual_model
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.semantic_layer import osi_document
from fluid_build.profiling.profile import Profile


def build(profile: Profile) -> LogicalModel:
    """The flat model of a profile."""
    conceptual = conceptual_model(profile)
    return LogicalModel(
        name=profile.source_name,
        technique="flat",
        source_kind=profile.source_kind,
        conceptual=conceptual,
        osi=osi_document(profile, conceptual),
    )
