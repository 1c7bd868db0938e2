"""The logical model: one description of the data, in as many layers as its technique fills."""

from typing import Literal

from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.data_vault.elements import DataVaultModel
from fluid_build.modeling.dimensional.elements import DimensionalModel
from fluid_build.modeling.element import ModelPart
from fluid_build.modeling.osi import OsiDocument

Technique = Literal["flat", "data_vault_2", "dimensional"]


class LogicalModel(ModelPart):
    """A model of one source.

    ``conceptual`` is always there. ``dv2`` and ``dimensional`` are filled by the technique of that
    name and None otherwise; ``osi`` is None only where there is no table to describe.
    """

    name: str
    technique: Technique
    source_kind: str
    conceptual: ConceptualModel
    dv2: DataVaultModel | None = None
    dimensional: DimensionalModel | None = None
    osi: OsiDocument | None = None


def model_json(model: LogicalModel) -> str:
    """The model as ``model.json`` holds it: the documents' field names, absent fields left out."""
    return model.model_dump_json(by_alias=True, exclude_none=True, indent=2) + "\n"
