"""The elements of a transform plan: relations, their columns and tests, and what proves them.

A build's SQL is the one source of truth. It's plain DuckDB that anyone can run: ``source.<id>`` is
a table of the source and ``model.<name>`` another build. Nothing else is ever qualified by these
two names, so the writer of a dbt project finds them by reading the text. Columns of the source are
quoted, with their own spelling; our own names are snake_case, legal on every target, and unquoted.

The load date is ``getvariable('load_date')``, a TIMESTAMP that the runner sets once a run.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import ConfigDict, Field

from fluid_build.decisions.conventions import DEFAULT_CONVENTIONS, ColumnNames
from fluid_build.modeling.conceptual import KeyKind, RelationshipCardinality
from fluid_build.modeling.element import Element, ModelPart
from fluid_build.modeling.logical import Technique
from fluid_build.modeling.measures import MeasureRole
from fluid_build.profiling.profile import Evidence, ForeignKeyEvidence

Layer = Literal[
    "deliveries", "quarantine", "staging", "flat", "raw_vault", "business_vault", "mart"
]
OF_THE_LOAD: frozenset[Layer] = frozenset({"deliveries", "quarantine", "staging"})
"""The layers that only serve the load: what a model is for is in the others."""
Materialization = Literal["view", "table", "incremental"]
TestKind = Literal["not_null", "unique", "accepted_values", "relationships"]
Severity = Literal["error", "warn", "info"]
LOAD_DATE = "CAST(getvariable('load_date') AS TIMESTAMP)"
BEFORE_ANY_LOAD = "TIMESTAMP '1900-01-01 00:00:00'"
"""The load date of the ghost record of a satellite: it was there before anything was loaded."""
CALLED_ROWS = "called_rows"
"""What stands for a call in the outline of a build."""
GHOST = "ghost record"
"""The record source of the rows that the zero key refers to."""


class PlanColumn(Element):
    """A column of a built relation.

    ``type`` is DuckDB's type, ``contract_type`` the contract's (text may have a declared length
    there). ``required`` means that it's never null. ``measure`` says how it's aggregated, None
    where it isn't a measure. ``title`` is the name that a decision gave it, as it was written.
    ``tags`` say what it's for: primary-key, foreign-key, unique, hash-key, business-key, measure,
    degenerate-dimension, technical, applied-date.
    """

    name: str
    title: str = ""
    type: str
    contract_type: str
    required: bool = False
    description: str = ""
    semantic_type: str | None = None
    pii: bool = False
    measure: MeasureRole | None = None
    tags: tuple[str, ...] = ()


class RowScope(ModelPart):
    """The rows of a relation that a claim is about: all of them by default.

    ``latest_of`` selects, of the rows that agree in these columns, the one loaded last, unless it
    says that the source has deleted it: by the columns ``loaded`` and ``deleted``. ``current`` is a
    column that must be true, ``gone`` one that must be false, ``filled`` are columns that may not
    be null, ``blank`` is one that must be, and ``other_than`` pairs a column with the value that
    means "none" there.
    """

    latest_of: tuple[str, ...] = ()
    current: str = ""
    gone: str = ""
    filled: tuple[str, ...] = ()
    blank: str = ""
    other_than: tuple[tuple[str, str], ...] = ()
    loaded: str = DEFAULT_CONVENTIONS.columns.load_date
    deleted: str = DEFAULT_CONVENTIONS.columns.is_deleted


EVERY_ROW = RowScope()


class Relation(str):
    """The name of another build, as an argument."""

    __slots__ = ()


class SourceTable(str):
    """The id of a table of the source, as an argument."""

    __slots__ = ()


class Query(str):
    """A query as an argument, by whose rows it's called."""

    __slots__ = ()


class Sql(str):
    """An SQL expression as an argument."""

    __slots__ = ()


class SqlType(str):
    """DuckDB's name of a type as an argument."""

    __slots__ = ()


class MacroCall(ModelPart):
    """A call by the macro's name and its named arguments, each without its default value.

    An argument is text of our own, one of the classes above, a truth value, or a list or a mapping
    of arguments.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    macro: str
    arguments: Mapping[str, object]


class BuildTest(ModelPart):
    """A claim about a built relation that dbt tests and the contract promises.

    ``columns`` are the relation's own. A ``relationships`` test pairs them with ``to_columns`` of
    the build ``to_model``; ``values`` are the accepted ones. ``allowed`` is how many violations
    were measured in the source: up to that number the test passes. ``scope`` says which rows it's
    about, ``promise`` which promise of the source it keeps. A ``unique`` test may say which kind of
    key it checks, a ``relationships`` test how confident it is and in which role it refers to the
    other build; without a cardinality it's about values, and not a way to join.
    """

    name: str
    kind: TestKind
    columns: tuple[str, ...]
    to_model: str | None = None
    to_columns: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    severity: Severity = "error"
    allowed: int = 0
    scope: RowScope = EVERY_ROW
    promise: str = ""
    evidence: Evidence | ForeignKeyEvidence | None = None
    confidence: float | None = None
    key_kind: KeyKind | None = None
    cardinality: RelationshipCardinality | None = None
    role: str = ""
    reason: str = ""

    @property
    def is_join(self) -> bool:
        """Whether the test says how the relation is joined with another."""
        return self.kind == "relationships" and self.cardinality is not None


class Filling(ModelPart):
    """Columns that joined a history after its first rows: ``rows`` has their present values.

    It's a relation with the ``keys`` that the history is of.
    """

    rows: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]


class Guard(ModelPart):
    """What is held of a table, which a delivery of it is compared with before it's loaded.

    The rows of ``relation`` in ``scope`` were there at the last load. ``keys`` pair its columns
    with those of the staging. Unless they're ``exact``, they don't tell which row is which, and are
    only counted; rows are where there are none. Where all deliveries of a table are kept
    (``is_kept``), none may be missing but those that rows of ``delivered`` say are deleted, by the
    condition ``marked``. Where the staging is without the rows in ``quarantine``, these have
    arrived too: ``types`` are those of its key, and empty where rows are only counted.
    """

    table: str
    relation: str
    scope: RowScope
    keys: tuple[tuple[str, str], ...]
    exact: bool = True
    is_kept: bool = False
    delivered: str = ""
    marked: str = ""
    quarantine: str = ""
    types: Mapping[str, str] = {}


class Build(Element):
    """A relation: how it's built, what it contains, and what must be true of it.

    ``sql`` selects all of its rows, with the columns and types of ``columns`` in order. If the
    relation exists already, ``next_load`` is selected in its place, which reads it as
    ``model.<its own name>``: an incremental relation's has only the rows to add, a table's all
    rows, including those that it keeps although the source has deleted them. Before an incremental
    relation gets rows, those that meet the condition ``replaced`` are taken out: they're of the
    period that is loaded. ``key`` identifies a row, and is empty where nothing does. Where ``call``
    is given, it's what both were rendered from, but for a relation that ``is_retired``: it keeps
    its rows and gets none, because the source lacks what it's loaded from. One that
    ``follows_source`` has the source's rows alone, which keep what the source no longer says of
    them. ``filling`` says which
    columns take their present value in the open rows of a history, once. ``guard`` is what the
    staging of a table is compared with. In ``outline``, if there is one, what ``call`` renders to
    stands as ``called_rows``.
    """

    name: str
    layer: Layer
    materialization: Materialization
    title: str
    description: str = ""
    sql: str
    next_load: str | None = None
    replaced: str = ""
    is_retired: bool = False
    follows_source: bool = False
    filling: Filling | None = None
    guard: Guard | None = None
    call: MacroCall | None = Field(default=None, exclude=True)
    outline: str = Field(default="", exclude=True)
    ref_models: tuple[str, ...] = ()
    ref_sources: tuple[str, ...] = ()
    columns: tuple[PlanColumn, ...]
    key: tuple[str, ...] = ()
    tests: tuple[BuildTest, ...] = ()

    @property
    def next_sql(self) -> str:
        """The query where the relation exists already."""
        return self.sql if self.next_load is None else self.next_load

    def column(self, name: str) -> PlanColumn:
        """Return the column of that exact name; raise KeyError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


class PlanSource(ModelPart):
    """A table of the source: ``source.<id>`` in SQL. Columns have the types that they're read as.

    ``columns`` have the source's own names, made distinct where two differ in case alone. The
    source calls the table ``now`` what the model calls ``table``; "" where that's the same.
    """

    id: str
    table: str
    now: str = ""
    columns: tuple[tuple[str, str], ...]

    @property
    def at_source(self) -> str:
        """What the source calls the table."""
        return self.now or self.table


class Renaming(ModelPart):
    """A name of a table or column that had to change beyond its spelling, and why."""

    kind: Literal["table", "column"]
    table: str
    source_name: str
    name: str
    reason: str


class ValueColumn(ModelPart):
    """A column of text of which a model keeps the value and not the spelling (``1.50``).

    ``type`` is DuckDB's name of the value's type, and ``spelling`` how its text is read, as
    ``Conversion`` has it. ``decided`` says that a person reads it so.
    """

    name: str
    type: str
    spelling: str = ""
    decided: bool = False


class Rebuild(ModelPart):
    """A query that rebuilds a source table from builds alone: same names, types and rows.

    ``original`` selects the same from ``source.<source>``. In the columns ``by_value``, it has the
    text and the rebuilt one the value; what the text says is compared with what the value says
    (``canonical_text``). Where a delivery isn't whole, ``original`` is what was ever delivered, and
    ``delivered`` what the source has of it today.
    """

    table: str
    source: str
    sql: str
    original: str
    delivered: str = ""
    by_value: tuple[ValueColumn, ...] = ()


class UnstatedPromise(ModelPart):
    """A promise of the source that no relation of the technique can keep, and why."""

    promise: str
    reason: str


class TransformPlan(ModelPart):
    """Every relation of a model in the order of building, each after those that it reads.

    ``column_names`` are those of the columns that loads add.
    """

    name: str
    technique: Technique
    sources: tuple[PlanSource, ...]
    builds: tuple[Build, ...]
    renamed: tuple[Renaming, ...] = ()
    unstated: tuple[UnstatedPromise, ...] = ()
    column_names: ColumnNames = Field(default=DEFAULT_CONVENTIONS.columns, exclude=True)

    def build(self, name: str) -> Build:
        """Return the build of that exact name; raise KeyError if there is none."""
        for build in self.builds:
            if build.name == name:
                return build
        raise KeyError(name)

    def source(self, table: str) -> PlanSource:
        """Return the source table of that name in the source; raise KeyError if there is none."""
        for source in self.sources:
            if source.table == table:
                return source
        raise KeyError(table)

    @property
    def quarantine(self) -> Build | None:
        """The view of all rows that break a key; None where the model relies on no key."""
        views = (build for build in self.builds if build.materialization == "view")
        return next((build for build in views if build.layer == "quarantine"), None)

    @property
    def quarantines(self) -> tuple[Build, ...]:
        """The relations of the rows of each table that break a key of it."""
        return tuple(
            build
            for build in self.builds
            if build.layer == "quarantine" and build.materialization != "view"
        )

    @property
    def published(self) -> tuple[Build, ...]:
        """Every build that doesn't only serve the load: what the model is for."""
        return tuple(build for build in self.builds if build.layer not in OF_THE_LOAD)

    @property
    def lasting(self) -> tuple[Build, ...]:
        """Every build except the staging: what a warehouse holds from load to load."""
        return tuple(build for build in self.builds if build.layer != "staging")

    @property
    def designed(self) -> tuple[Build, ...]:
        """What lasts except the quarantines, of which each load makes the ones that it needs."""
        return tuple(build for build in self.lasting if build.layer != "quarantine")


CheckKind = Literal["rows", "sum", "reference", "lost", "doubled"]


class Check(ModelPart):
    """A figure that must be the same in the source and in what was built from it.

    ``expected`` reads the source alone and ``actual`` the builds alone (or both, to check a join);
    each selects one value. ``differing`` selects rows that show a difference. ``table`` is the
    source table that the figure is about. ``of_arrived`` figures are of rows that arrived alone: a
    member of whom none is sound is in its dimension as it was, and not among them.
    """

    name: str
    kind: CheckKind
    table: str
    expected: str
    actual: str
    differing: str = ""
    of_arrived: bool = Field(default=False, exclude=True)
    reason: str = ""
