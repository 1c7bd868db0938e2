"""The dimensional layer: facts at a stated grain, the dimensions they are looked at by.

Rules: Ralph Kimball and Margy Ross, "The Data Warehouse Toolkit", third edition.
"""

from typing import Literal

from fluid_build.modeling.element import Element, ModelPart

Variant = Literal["star", "snowflake", "galaxy", "flat"]
FactType = Literal["transaction", "periodic_snapshot", "accumulating_snapshot", "factless"]
DimensionType = Literal["standard", "date", "junk", "mini", "outrigger"]
Additivity = Literal["additive", "semi-additive", "non-additive"]
Aggregation = Literal["sum", "avg", "count", "count_distinct", "min", "max", "median"]


class Measure(Element):
    """A number of a fact that may be aggregated, and how."""

    name: str
    column: str
    aggregation: Aggregation
    additivity: Additivity
    description: str = ""


class DimensionReference(ModelPart):
    """How a fact reaches a dimension: in which role, by which of the fact's source columns.

    Where ``optional``, a null or an orphan lands on the dimension's unknown member.
    """

    dimension: str
    role: str = ""
    columns: tuple[str, ...]
    optional: bool = False


class Fact(Element):
    """A measured event or state. ``grain`` says in words what one row is."""

    name: str
    entity_name: str
    description: str = ""
    fact_type: FactType
    grain: str
    grain_columns: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = ()
    dimensions: tuple[DimensionReference, ...] = ()
    degenerate_dimensions: tuple[str, ...] = ()


class DimensionAttribute(Element):
    """A column of a dimension; ``scd_type`` says what becomes of its history."""

    name: str
    type: str
    scd_type: Literal[0, 1, 2] = 1
    description: str = ""


class Dimension(Element):
    """What facts are grouped and filtered by.

    ``conformed`` means that several facts share it, ``roles`` the names under which they do.
    """

    name: str
    entity_name: str
    description: str = ""
    dimension_type: DimensionType = "standard"
    surrogate_key: str
    natural_key_columns: tuple[str, ...]
    attributes: tuple[DimensionAttribute, ...] = ()
    conformed: bool = False
    roles: tuple[str, ...] = ()
    has_unknown_member: bool = True


class Bridge(Element):
    """A many-to-many relationship between a fact or dimension and a dimension."""

    name: str
    description: str = ""
    left: str
    right: str
    left_columns: tuple[str, ...]
    right_columns: tuple[str, ...]


class DimensionalModel(ModelPart):
    """The dimensional model as a whole; ``variant_reason`` says why this shape was chosen."""

    variant: Variant
    variant_reason: str = ""
    facts: tuple[Fact, ...] = ()
    dimensions: tuple[Dimension, ...] = ()
    bridges: tuple[Bridge, ...] = ()
