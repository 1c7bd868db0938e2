"""The transform plan: every relation that a model is built of, in the order of building.

A build's SQL is the one source of truth. It is plain DuckDB that anyone can run: ``source.<id>``
stands for a table of the source and ``model.<name>`` for another build, and nothing else is ever
qualified by these two names, so that the writer of a dbt project finds each of them by reading
the text. Columns of the source are quoted, with their own spelling; the names that we give are
snake_case, legal on every target without quotes, and unquoted.

The load date is ``getvariable('load_date')``, a TIMESTAMP that the runner sets once a run.
"""

from typing import Literal

from fluid_build.modeling.conceptual import KeyKind, RelationshipCardinality
from fluid_build.modeling.element import Element, ModelPart
from fluid_build.modeling.logical import Technique
from fluid_build.modeling.measures import MeasureRole
from fluid_build.profiling.profile import Evidence, ForeignKeyEvidence

Layer = Literal["staging", "flat", "raw_vault", "mart"]
Materialization = Literal["view", "table", "incremental"]
TestKind = Literal["not_null", "unique", "accepted_values", "relationships"]
Severity = Literal["error", "warn", "info"]
LOAD_DATE = "CAST(getvariable('load_date') AS TIMESTAMP)"


class PlanColumn(Element):
    """A column of a built relation.

    ``type`` is DuckDB's name of it, ``contract_type`` the contract's (a text may have a declared
    length there). ``required`` means that it is never null. ``measure`` says how it is added up,
    None where it is no measure. ``tags`` say what it is for:
    primary-key, foreign-key, unique, hash-key, business-key, measure, degenerate-dimension,
    technical.
    """

    name: str
    type: str
    contract_type: str
    required: bool = False
    description: str = ""
    semantic_type: str | None = None
    pii: bool = False
    measure: MeasureRole | None = None
    tags: tuple[str, ...] = ()


class RowScope(ModelPart):
    """The rows of a relation that a claim is about: all of them where nothing is said.

    ``latest_of`` leaves of the rows that agree in these columns the one loaded last, and none where
    that one says the source no longer has it. Then ``current`` names a column that is true,
    ``gone`` one that is false, ``filled`` columns that aren't null, and ``other_than`` pairs a
    column with the value that stands for "none" there.
    """

    latest_of: tuple[str, ...] = ()
    current: str = ""
    gone: str = ""
    filled: tuple[str, ...] = ()
    other_than: tuple[tuple[str, str], ...] = ()


EVERY_ROW = RowScope()


class BuildTest(ModelPart):
    """A claim about a built relation that dbt tests and the contract promises.

    ``columns`` are the relation's own. A ``relationships`` test pairs them with ``to_columns`` of
    the build ``to_model``; ``values`` are the accepted ones. ``allowed`` is how many violations
    were measured in the source: so many are known and neither warned of nor failed on. ``scope``
    says which rows it is about, ``promise`` which promise of the source it keeps. A ``unique`` test
    may say which kind of key it checks, a ``relationships`` test how sure it is, and in which role
    the other build is referred to; one without a cardinality is about values, and not a way to
    join.
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
        """Whether it says how the relation is joined with another."""
        return self.kind == "relationships" and self.cardinality is not None


class Build(Element):
    """One relation: how it is made, what it holds, and what must be true of it.

    ``sql`` selects all of its rows, its columns in the order and with the types of ``columns``.
    Where the relation is there already, ``incremental`` follows ``sql`` (on a new line) and reads
    it as ``model.<its own name>``: of an incremental one only the rows to add come out then, of a
    table all rows, those among them that stay although the source has lost them. ``key``
    identifies a row, empty where nothing does. ``entity`` is the title for people.
    """

    name: str
    layer: Layer
    materialization: Materialization
    title: str
    description: str = ""
    sql: str
    incremental: str | None = None
    ref_models: tuple[str, ...] = ()
    ref_sources: tuple[str, ...] = ()
    columns: tuple[PlanColumn, ...]
    key: tuple[str, ...] = ()
    tests: tuple[BuildTest, ...] = ()

    def column(self, name: str) -> PlanColumn:
        """Return the column of that exact name; KeyError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


class PlanSource(ModelPart):
    """A table of the source: ``source.<id>`` in SQL. Columns with the types that they are read as.

    ``columns`` are the source's own names, apart where two differ in case alone.
    """

    id: str
    table: str
    columns: tuple[tuple[str, str], ...]


class Renaming(ModelPart):
    """A name of a table or column that had to be changed in more than its spelling, and why."""

    kind: Literal["table", "column"]
    table: str
    source_name: str
    name: str
    reason: str


class Rebuild(ModelPart):
    """A query that makes a source table anew out of builds alone: same names, types and rows.

    ``original`` selects the same from ``source.<source>``. It is the table as it is but for the
    columns ``by_value``, of which the model keeps the value and not the spelling (a number in
    text, ``1.50``): there both sides give the value.
    """

    table: str
    source: str
    sql: str
    original: str
    by_value: tuple[str, ...] = ()


class UnstatedPromise(ModelPart):
    """A promise of the source that no relation of the technique can make, and why."""

    promise: str
    reason: str


class TransformPlan(ModelPart):
    """Every relation of a model in the order of building, each after those that it refers to."""

    name: str
    technique: Technique
    sources: tuple[PlanSource, ...]
    builds: tuple[Build, ...]
    renamed: tuple[Renaming, ...] = ()
    unstated: tuple[UnstatedPromise, ...] = ()

    def build(self, name: str) -> Build:
        """Return the build of that exact name; KeyError if there is none."""
        for build in self.builds:
            if build.name == name:
                return build
        raise KeyError(name)

    def source(self, table: str) -> PlanSource:
        """Return the source table of that name (the source's own); KeyError if there is none."""
        for source in self.sources:
            if source.table == table:
                return source
        raise KeyError(table)

    @property
    def published(self) -> tuple[Build, ...]:
        """What the model is for: every build but the staging."""
        return tuple(build for build in self.builds if build.layer != "staging")


CheckKind = Literal["rows", "sum", "reference", "lost", "doubled"]


class Check(ModelPart):
    """A figure that must be the same in the source and in what was built of it.

    ``expected`` reads the source alone and ``actual`` the builds alone (or both, where a join is
    what is checked); each gives one row of one value. ``differing`` selects the rows that show
    a difference. ``table`` is the source table that the figure speaks of.
    """

    name: str
    kind: CheckKind
    table: str
    expected: str
    actual: str
    differing: str = ""
    reason: str = ""
