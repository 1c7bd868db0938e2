"""The logical model: one description of the data in several layers."""

from typing import Literal

from fluid_build.decisions.conventions import DEFAULT_CONVENTIONS, ColumnNames, Conventions
from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.data_vault.elements import DataVaultModel
from fluid_build.modeling.dimensional.elements import DimensionalModel
from fluid_build.modeling.element import ModelPart, RelationName
from fluid_build.modeling.evolution import Evolution
from fluid_build.modeling.osi import OsiDocument

Technique = Literal["flat", "data_vault_2", "dimensional"]


class Product(ModelPart):
    """What was decided about the data product as a whole; None where nobody decided.

    ``domain_from`` and ``owner_from`` are the data catalog that declares one that nobody decided.
    """

    name: str | None = None
    domain: str | None = None
    team: str | None = None
    email: str | None = None
    domain_from: str | None = None
    owner_from: str | None = None


class ElementText(ModelPart):
    """What a decision says that a relation is, or a column of it."""

    element: RelationName
    column: str | None = None
    text: str


class PartialDelivery(ModelPart):
    """A table of which the source has only what changed (delta) or what came (append).

    A row says that it's deleted where the column ``mark`` has one of the ``marks``, or without them
    any value.
    """

    table: str
    kind: Literal["delta", "append"]
    mark: str = ""
    marks: tuple[str, ...] = ()


class Validity(ModelPart):
    """A table of which versions hold from what a column says that stamps changes.

    Without a ``column`` they hold from the load, and rows of earlier loads may hold from a stamp.
    """

    table: str
    column: str = ""


class LogicalModel(ModelPart):
    """A model of one source.

    Every model has the ``conceptual`` layer, and ``osi`` unless the source has no tables. ``dv2``
    and ``dimensional`` are the layers of the technique of that name, else None. ``product`` is what
    was decided about the whole, ``texts`` about its elements, ``conventions`` about the names and
    hashes that are given to all; None where nothing was. ``evolution`` says what isn't as in the
    model that relations were first loaded by; None where all of it is. ``deliveries`` are the
    tables that aren't whole in each delivery, None where all are. ``validities`` are those whose
    versions don't hold from when they were loaded, None where all do.
    """

    name: str
    technique: Technique
    source_kind: str
    conceptual: ConceptualModel
    dv2: DataVaultModel | None = None
    dimensional: DimensionalModel | None = None
    osi: OsiDocument | None = None
    product: Product | None = None
    texts: tuple[ElementText, ...] | None = None
    conventions: Conventions | None = None
    evolution: Evolution | None = None
    deliveries: tuple[PartialDelivery, ...] | None = None
    validities: tuple[Validity, ...] | None = None

    @property
    def column_names(self) -> ColumnNames:
        """The names of the columns that loads add."""
        return (self.conventions or DEFAULT_CONVENTIONS).columns

    @property
    def title(self) -> str:
        """Return what the data product is called: by a decision, or else by its source."""
        return (self.product.name if self.product else None) or self.name


def model_json(model: LogicalModel) -> str:
    """Return the model as ``model.json``: by the documents' field names, without absent fields."""
    return model.model_dump_json(by_alias=True, exclude_none=True, indent=2) + "\n"
