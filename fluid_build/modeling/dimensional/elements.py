"""The dimensional layer: facts at a stated grain, the dimensions they are looked at by.

Rules: Ralph Kimball and Margy Ross, "The Data Warehouse Toolkit", third edition.

Names of tables and columns are those of the built relations; ``attribute``, ``column`` and
``columns`` are the source's own. Where an element takes something from another entity than its
own, ``source`` names the join that leads there, "" being the element's own entity.
"""

from typing import Literal

from fluid_build.modeling.element import Element, ModelPart
from fluid_build.modeling.measures import Additivity, Aggregation

Variant = Literal["star", "snowflake", "galaxy", "wide"]
FactType = Literal["transaction", "periodic_snapshot", "accumulating_snapshot", "factless"]
DimensionType = Literal["standard", "date", "junk", "mini", "outrigger"]
ScdType = Literal[0, 1, 2]
UNKNOWN_KEY = "0" * 32
"""The surrogate key of the unknown member: no hash, so that no natural key ever has it."""
UNKNOWN_DATE_KEY = -1
"""The key of the unknown date, which no day of the calendar has."""


class Join(ModelPart):
    """An entity that is joined in, by the key that ``relationship`` of the conceptual layer names.

    ``parent`` is the join that it hangs on, "" the element's own entity. The joined entity is the
    referred one; where ``backwards``, it is the referring one, of which there is at most one.
    ``complete`` means that every row of the entity is met here, and its columns taken over.
    """

    name: str
    entity: str
    relationship: str
    parent: str = ""
    backwards: bool = False
    complete: bool = False


class Measure(Element):
    """A number of a fact that may be aggregated, and how.

    ``name`` is the column of the built fact, ``column`` the one of the source.
    """

    name: str
    column: str
    aggregation: Aggregation
    additivity: Additivity
    description: str = ""


class DimensionReference(ModelPart):
    """How a fact reaches a dimension: in which role, by which of the source's columns.

    ``key`` is the column of the fact, ``to_columns`` are the columns of the dimension that
    ``columns`` are looked up in, pair by pair. Where ``optional``, a null or an orphan lands on
    the dimension's unknown member. ``carried`` are columns of the dimension that stand in the
    fact as well, each under its name there.
    """

    dimension: str
    role: str = ""
    columns: tuple[str, ...]
    optional: bool = False
    key: str = ""
    source: str = ""
    to_columns: tuple[str, ...] = ()
    carried: tuple[tuple[str, str], ...] = ()
    reason: str = ""


class FactAttribute(Element):
    """A column of a fact or bridge that is neither measure nor key of a dimension."""

    name: str
    type: str
    source: str = ""
    attribute: str
    description: str = ""


class FactDate(ModelPart):
    """The date of an event: which version of a dimension's member was the one of the day."""

    source: str = ""
    attribute: str


class Fact(Element):
    """A measured event or state. ``grain`` says in words what one row is.

    ``grain_columns`` identify a row, empty where nothing does. ``degenerate_dimensions`` are
    those ``attributes`` that number or name the event itself.
    """

    name: str
    entity_name: str
    description: str = ""
    fact_type: FactType
    grain: str
    grain_columns: tuple[str, ...] = ()
    joins: tuple[Join, ...] = ()
    measures: tuple[Measure, ...] = ()
    dimensions: tuple[DimensionReference, ...] = ()
    degenerate_dimensions: tuple[str, ...] = ()
    attributes: tuple[FactAttribute, ...] = ()
    dated_by: FactDate | None = None


class DimensionAttribute(Element):
    """A column of a dimension; ``scd_type`` says what becomes of its history.

    ``attribute`` is "" for a flag that says whether the joined entity has a row of the member.
    ``unknown`` is what the unknown member has there, "" for a null.
    """

    name: str
    type: str
    scd_type: ScdType = 1
    description: str = ""
    source: str = ""
    attribute: str = ""
    unknown: str = ""


class DimensionLink(ModelPart):
    """A dimension's reference to another one, or to itself: the parent, or an outrigger.

    ``key`` is the column, ``source`` the join to the referred entity, of which ``attributes``
    (the referred dimension's natural key) are hashed.
    """

    dimension: str
    key: str
    source: str
    attributes: tuple[str, ...]
    role: str = ""
    reason: str = ""


class Dimension(Element):
    """What facts are grouped and filtered by.

    ``conformed`` means that several facts share it, ``roles`` the names under which they do. A
    dimension of a fact's own columns (junk) has that fact's entity and every combination of
    values once. A date dimension has a day for each date in ``source_columns``.

    Where an attribute is of type 2, ``history`` is the relation that keeps the versions,
    ``surrogate_key`` names a version and ``durable_key`` the member; else both are the same and
    ``durable_key`` is "".
    """

    name: str
    entity_name: str
    description: str = ""
    dimension_type: DimensionType = "standard"
    surrogate_key: str
    durable_key: str = ""
    natural_key_columns: tuple[str, ...]
    joins: tuple[Join, ...] = ()
    attributes: tuple[DimensionAttribute, ...] = ()
    links: tuple[DimensionLink, ...] = ()
    conformed: bool = False
    roles: tuple[str, ...] = ()
    has_unknown_member: bool = True
    history: str = ""

    @property
    def member_key(self) -> str:
        """The column that stays the same through all versions of a member."""
        return self.durable_key or self.surrogate_key


class Bridge(Element):
    """A many-to-many relationship between a fact or dimension and a dimension.

    ``references`` are its ends that are dimensions; where the left one is a fact, ``attributes``
    hold the number by which the fact is found.
    """

    name: str
    entity_name: str = ""
    description: str = ""
    left: str
    right: str
    left_columns: tuple[str, ...]
    right_columns: tuple[str, ...]
    grain: str = ""
    grain_columns: tuple[str, ...] = ()
    references: tuple[DimensionReference, ...] = ()
    attributes: tuple[FactAttribute, ...] = ()


class DimensionalModel(ModelPart):
    """The dimensional model as a whole; ``variant_reason`` says why this shape was chosen."""

    variant: Variant
    variant_reason: str = ""
    facts: tuple[Fact, ...] = ()
    dimensions: tuple[Dimension, ...] = ()
    bridges: tuple[Bridge, ...] = ()

    def dimension(self, name: str) -> Dimension:
        """The dimension of that exact name; KeyError if there is none."""
        for dimension in self.dimensions:
            if dimension.name == name:
                return dimension
        raise KeyError(name)
