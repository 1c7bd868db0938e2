"""The dimensional layer: facts at a stated grain, and the dimensions that they're grouped by.

Rules: Ralph Kimball and Margy Ross, "The Data Warehouse Toolkit", third edition.

Names of tables and columns are those of the built relations; ``attribute``, ``column`` and
``columns`` are the source's. Where an element takes something from another entity than its own,
``source`` names the join to that entity; "" is the element's own entity.
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from fluid_build.modeling.element import DecidedElement, Element, ModelPart, RelationName
from fluid_build.modeling.measures import Additivity, Aggregation
from fluid_build.observations.aggregate_candidates import AggregateColumn, Part

Variant = Literal["star", "snowflake", "galaxy", "wide"]
FactType = Literal["transaction", "periodic_snapshot", "accumulating_snapshot", "factless"]
DimensionType = Literal["standard", "date", "time", "junk", "mini", "outrigger"]
ScdType = Literal[0, 1, 2]
CalendarName: TypeAlias = Annotated[str, Field(max_length=80)]
UNKNOWN_KEY = "0" * 32
"""The surrogate key of the unknown member. No natural key ever hashes to it."""


class CalendarSettings(ModelPart):
    """How the generated calendar names months and days, and when its fiscal year starts.

    ``fiscal_year_start`` is a month; None where there is no fiscal year. A fiscal year is named
    after the calendar year in which it ends. ``day_names`` start on Monday.
    """

    language: str
    month_names: tuple[CalendarName, ...] = Field(min_length=12, max_length=12)
    day_names: tuple[CalendarName, ...] = Field(min_length=7, max_length=7)
    fiscal_year_start: Annotated[int, Field(ge=1, le=12)] | None = None


DEFAULT_CALENDAR = CalendarSettings(
    language="English",
    month_names=(
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ),
    day_names=("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
)  # fmt: skip


class Join(ModelPart):
    """An entity that is joined, by the ``relationship`` of that name in the conceptual layer.

    ``parent`` is the join that it starts from, "" for the element's own entity. The joined entity
    is the one that is referred to. With ``backwards`` it's the referring one, which has at most
    one row for each. ``complete`` means that every row of the entity is in the result with all of
    its columns.
    """

    name: str
    entity: str
    relationship: str
    parent: str = ""
    backwards: bool = False
    complete: bool = False


class Measure(DecidedElement):
    """A number of a fact, and how to aggregate it.

    ``name`` is the column of the built fact, ``column`` the one of the source. ``weighted_by`` is
    the measure by which an average is weighted, ``within`` the source's column of the currency
    within which an amount adds up.
    """

    name: str
    column: str
    aggregation: Aggregation
    additivity: Additivity
    weighted_by: str = ""
    within: str = ""
    description: str = ""


class DimensionReference(ModelPart):
    """How a fact refers to a dimension: in which role, by which of the source's columns.

    ``key`` is the column of the fact. ``columns`` are looked up in ``to_columns`` of the dimension,
    pair by pair; without any, the key is that of the day of the load. With ``optional``, a null or
    an orphan gets the dimension's unknown member. ``carried`` are columns of the dimension that the
    fact has too, each with its name there.
    """

    dimension: RelationName
    role: str = ""
    columns: tuple[str, ...]
    optional: bool = False
    key: str = ""
    source: str = ""
    to_columns: tuple[str, ...] = ()
    carried: tuple[tuple[str, str], ...] = ()
    reason: str = ""


class FactAttribute(Element):
    """A column of a fact or bridge that is neither a measure nor the key of a dimension."""

    name: str
    type: str
    source: str = ""
    attribute: str
    description: str = ""


class FactDate(ModelPart):
    """The date of an event, which decides the version of a member that the event refers to.

    ``alternatives`` are the other dates that it could be, as ``--event-date`` takes them.
    """

    source: str = ""
    attribute: str
    reason: str = ""
    alternatives: tuple[str, ...] = ()


class ServiceWeekday(ModelPart):
    """The column that says whether a service runs on a weekday, 1 for Monday to 7.

    ``yes`` are the spellings of a text that mean it does; () where it's a boolean, or 1 and 0.
    """

    weekday: Annotated[int, Field(ge=1, le=7)]
    attribute: str
    yes: tuple[str, ...] = ()


class ServiceChanges(ModelPart):
    """The entity whose rows add days to a service or leave some out.

    ``columns`` refer to ``to_columns`` of the service. By its values as text, ``effect`` says
    whether a day is ``added`` or ``removed``; where it's "", every day is removed.
    """

    entity_name: str
    columns: tuple[str, ...]
    to_columns: tuple[str, ...]
    date: str
    effect: str = ""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class ServiceKey(ModelPart):
    """An attribute that identifies a service, and the column by which its row is found.

    ``is_day`` says that the column is a key of the calendar.
    """

    attribute: str
    column: str
    is_day: bool = False


class ServiceDays(ModelPart):
    """How the days of services follow from their weekdays, the period, and the exceptions.

    ``held_by`` is the dimension or fact that has a row for each service, found by ``key``. The
    fact of the days copies its keys from there.
    """

    entity_name: str
    held_by: RelationName
    key: tuple[ServiceKey, ...]
    weekdays: tuple[ServiceWeekday, ...]
    start: str
    end: str
    changes: ServiceChanges | None = None


class Fact(DecidedElement):
    """A measured event or state. ``grain`` says in words what one row is.

    ``grain_columns`` identify a row; they're empty where nothing does. ``degenerate_dimensions``
    are the ``attributes`` that identify or number the event, or its header, and the status of the
    header. A fact of
    ``service_days`` has no entity of its own: its rows follow from others. ``snapshot_of`` is the
    dimension whose members a fact records at each load; it's "" where the source records the event.
    """

    name: RelationName
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
    service_days: ServiceDays | None = None
    snapshot_of: RelationName = ""


class DimensionAttribute(Element):
    """A column of a dimension; ``scd_type`` says what happens when it changes.

    ``attribute`` is "" for a flag that says whether the joined entity has a row for the member.
    ``unknown`` is the unknown member's value, "" for a null.
    """

    name: str
    type: str
    scd_type: ScdType = 1
    description: str = ""
    source: str = ""
    attribute: str = ""
    unknown: str = ""


class DimensionLink(ModelPart):
    """A dimension's reference to an outrigger, or to itself: the parent in a hierarchy.

    ``key`` is the column. It's the hash of ``attributes``, the natural key of the other dimension,
    which the join ``source`` leads to.
    """

    dimension: RelationName
    key: str
    source: str
    attributes: tuple[str, ...]
    role: str = ""
    reason: str = ""


class Dimension(DecidedElement):
    """What facts are grouped and filtered by.

    ``conformed`` means that several facts share it; ``roles`` are the roles in which they do. A
    dimension of a fact's own columns (junk) has that fact's entity and every combination of
    values once. A date dimension has a day for each date in ``source_columns``; a generated one is
    described by ``calendar``. A time dimension has each minute of the day.

    Where an attribute is of SCD type 2, ``history`` is the relation that holds the versions,
    ``surrogate_key`` identifies a version and ``durable_key`` the member. Without one, the
    surrogate key identifies the member, and both others are "".
    """

    name: RelationName
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
    history: RelationName = ""
    calendar: CalendarSettings | None = None

    @property
    def is_generated(self) -> bool:
        """Whether no table of the source has its members: the calendar, and the times of a day."""
        return self.dimension_type in {"date", "time"} and not self.entity_name

    @property
    def member_key(self) -> str:
        """Return the column that is the same in all versions of a member."""
        return self.durable_key or self.surrogate_key


class HierarchyPairs(ModelPart):
    """Which hierarchy a bridge has the pairs of: that of its dimension's members.

    They refer to their parent by the ``relationship`` of that name, and ``parent_key`` is its key
    in the dimension. A path names a member by its column ``named_by``, "" for its natural key.
    """

    relationship: str
    parent_key: str
    named_by: str = ""


class Bridge(DecidedElement):
    """A many-to-many relationship between a fact or dimension and a dimension.

    ``references`` are its ends that are dimensions. Where the left end is a fact, ``attributes``
    hold the number that identifies the event. A bridge of ``hierarchy_pairs`` has no entity of its
    own: it pairs each member of a dimension with all that are above it, and with itself.
    """

    name: RelationName
    entity_name: str = ""
    description: str = ""
    left: RelationName
    right: RelationName
    left_columns: tuple[str, ...]
    right_columns: tuple[str, ...]
    grain: str = ""
    grain_columns: tuple[str, ...] = ()
    references: tuple[DimensionReference, ...] = ()
    attributes: tuple[FactAttribute, ...] = ()
    hierarchy_pairs: HierarchyPairs | None = None


class LeftOut(Element):
    """A source table that isn't built, since each of its rows is computed from another table.

    ``name`` is the table's at the source. Each of ``columns`` is a group or a total of the rows of
    ``detail``, or of a ``part`` of them; ``query`` computes the table on the source.
    """

    name: str
    detail: str
    columns: tuple[AggregateColumn, ...]
    part: Part | None = None
    query: str = ""


class DimensionalModel(ModelPart):
    """The dimensional model as a whole; ``variant_reason`` says why this variant was chosen."""

    variant: Variant
    variant_reason: str = ""
    facts: tuple[Fact, ...] = ()
    dimensions: tuple[Dimension, ...] = ()
    bridges: tuple[Bridge, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def relation_names(self) -> tuple[str, ...]:
        """The names of all relations of the star."""
        return (
            *(fact.name for fact in self.facts),
            *(dimension.name for dimension in self.dimensions),
            *(dimension.history for dimension in self.dimensions if dimension.history),
            *(bridge.name for bridge in self.bridges),
        )

    def dimension(self, name: str) -> Dimension:
        """Return the dimension of that exact name; raise KeyError if there is none."""
        for dimension in self.dimensions:
            if dimension.name == name:
                return dimension
        raise KeyError(name)
