"""The logical model: one description of the data in several layers."""

from typing import Literal

from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.data_vault.elements import DataVaultModel
from fluid_build.modeling.dimensional.elements import DimensionalModel
from fluid_build.modeling.element import ModelPart
from fluid_build.modeling.osi import OsiDocument

Technique = Literal["flat", "data_vault_2", "dimensional"]


class LogicalModel(ModelPart):
    """A model of one source.

    Every model has the ``conceptual`` layer, and ``osi`` unless the source has no tables. ``dv2``
    and ``dimensional`` are the layers of the technique of that name, else None.
    """

    name: str
    technique: Technique
    source_kind: str
    conceptual: ConceptualModel
    dv2: DataVaultModel | None = None
    dimensional: DimensionalModel | None = None
    osi: OsiDocument | None = None


def model_json(model: LogicalModel) -> str:
    """Return the model as ``model.json``: by the documents' field names, without absent fields."""
    return model.model_dump_json(by_alias=True, exclude_none=True, indent=2) + "\n"
