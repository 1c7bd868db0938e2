"""The profile: what is true in the data, each claim with its evidence.

Modeling, contract and command line read these types, and ``profile.json`` holds them. The public
JSON shapes are in ``docs/json.md``.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from fluid_build.sources.declarations.catalog_facts import CatalogFacts
from fluid_build.sources.sql import quote
from fluid_build.text import counted

Origin = Literal["declared", "measured", "llm"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Evidence(_Frozen):
    """The origin of a claim, its figures, and the query that checks it.

    ``rows`` counts the rows that the claim is about (those without a null in its columns),
    ``nulls`` those left out for a null, ``violations`` the rows that contradict it. ``exact`` is
    False if only ``sample`` rows were read, of ``sample_of`` if that is known: then nothing is
    proven of the others. ``sql`` runs on the source and returns the violations.
    """

    origin: Origin
    rows: int
    nulls: int = 0
    distinct: int | None = None
    violations: int = 0
    exact: bool = True
    sample: int | None = None
    sample_of: int | None = None
    sql: str = ""

    @property
    def is_sampled(self) -> bool:
        """Whether the claim was measured on a part of the rows only."""
        return self.sample is not None


class KeyClaim(_Frozen):
    """The claim that some columns are never null and, taken together, never repeat."""

    columns: tuple[str, ...]
    evidence: Evidence

    @property
    def holds(self) -> bool:
        """Whether the data that was read confirms the claim."""
        return self.evidence.violations == 0 and self.evidence.nulls == 0


class ValueCount(_Frozen):
    """A value, as text, and how many rows have it."""

    value: str
    count: int


class Quantiles(_Frozen):
    """The values, as text, that 5, 25, 50, 75 and 95 % of a column's values don't exceed."""

    p05: str
    p25: str
    p50: str
    p75: str
    p95: str


class HistogramBin(_Frozen):
    """How many rows have a value from ``low`` to below ``high``; the last bin includes ``high``."""

    low: str
    high: str
    count: int


class ColumnProfile(_Frozen):
    """A column as measured.

    ``type`` is DuckDB's name for the type as read, ``declared_type`` the source's own word.
    ``measured_type`` is the type that every value of a text column really has, or a date format
    that all of a column's whole numbers follow; None if the values are what ``type`` says.
    ``reversible`` says that each value, read as that type and written again, has the same spelling,
    and ``reading_decided`` that a person chose the type.
    ``min`` and ``max`` are text; lengths are characters, of text columns. ``top_values`` is counted
    over the whole column, or over ``sample`` rows. ``mean``, ``quantiles`` and ``histogram`` are
    of numbers, dates and times, as text like the bounds; infinity and NaN count in none of them.
    They are counted over the whole column, or over ``statistics_sample`` rows that are spread
    evenly over the table. No values, bounds and statistics are kept of columns with personal,
    nested or binary data, and none of any column that isn't ``presentable``.
    """

    name: str
    type: str
    declared_type: str = ""
    nullable: bool = True
    rows: int
    nulls: int
    distinct: int
    distinct_exact: bool = True
    min: str | None = None
    max: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    avg_length: float | None = None
    top_values: tuple[ValueCount, ...] = ()
    sample: int | None = None
    mean: str | None = None
    quantiles: Quantiles | None = None
    histogram: tuple[HistogramBin, ...] = ()
    statistics_sample: int | None = None
    measured_type: str | None = None
    reversible: bool = False
    reading_decided: bool = False
    semantic_type: str | None = None
    semantic_reason: str = ""
    pii: bool = False
    comment: str | None = None
    notes: tuple[str, ...] = ()


class TableSample(_Frozen):
    """The part of a table that was read: ``rows`` of ``total``, which is None if nobody knows.

    ``is_estimate`` says that the server only estimates the total.
    """

    rows: int
    total: int | None = None
    is_estimate: bool = False

    def __str__(self) -> str:
        """The sample in words: ``a sample of 1,000 of about 2,500,000 rows``."""
        about = "about " if self.is_estimate else ""
        of_total = "" if self.total is None else f" of {about}{self.total:,}"
        return f"a sample of {self.rows:,}{of_total} rows"


class TableProfile(_Frozen):
    """A table as measured.

    ``place`` is its name at the source, quoted for SQL, with its schema if needed. ``primary_key``
    is the declared one or else the one chosen among the candidates, None if no columns identify a
    row. ``candidate_keys`` are all minimal keys of up to four columns that hold in the data.
    ``declared_keys`` are the declared primary and unique keys, including those that the data
    violates. ``source`` is the name of its source where several are combined. ``sample`` is set
    where only a part of the rows was read, which ``rows`` counts then.
    """

    name: str
    place: str = ""
    rows: int
    columns: tuple[ColumnProfile, ...]
    primary_key: tuple[str, ...] | None = None
    primary_key_origin: Origin | None = None
    primary_key_reason: str = ""
    primary_key_evidence: Evidence | None = None
    candidate_keys: tuple[tuple[str, ...], ...] = ()
    declared_keys: tuple[KeyClaim, ...] = ()
    comment: str | None = None
    notes: tuple[str, ...] = ()
    source: str | None = None
    sample: TableSample | None = None

    @property
    def rows_read(self) -> str:
        """The rows that claims about the table rest on, in words."""
        return str(self.sample) if self.sample else counted(self.rows, "row")

    @property
    def sql(self) -> str:
        """The table's name in a query on its source."""
        return self.place or quote(self.name)

    def column(self, name: str) -> ColumnProfile:
        """Return the column of that exact name; KeyError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


class ForeignKeyEvidence(Evidence):
    """The evidence for a foreign key; ``matched`` and ``orphans`` add up to ``rows``.

    ``distinct`` counts the child's values but for those that stand for none. ``coverage`` is the
    share of the parent's keys that some child row refers to. ``name_score`` (0 to 1) says how well
    the names speak for it.
    ``reason`` is the judgement in one sentence. ``is_measured`` is False where only a part of the
    parent was read, so that the rows say nothing. ``by_collation`` are the orphans that have a
    parent as the source compares text, but not byte by byte. ``standing_for_none`` are those whose
    value means that there's no parent: 0, -1, N/A; where no other has none, also 9999 and the like.
    """

    matched: int = 0
    orphans: int = 0
    coverage: float | None = None
    name_score: float | None = None
    reason: str = ""
    is_measured: bool = True
    by_collation: int = 0
    standing_for_none: int = 0

    @property
    def broken(self) -> int:
        """How many rows refer to a parent that isn't there."""
        return self.orphans - self.by_collation - self.standing_for_none


Cardinality = Literal["many-to-one", "one-to-one"]


class ForeignKey(_Frozen):
    """``from_table(from_columns)`` refers to ``to_table(to_columns)``; columns pair by position.

    ``implied`` marks a key that follows from others (transitive, or part of a composite one).
    ``role`` is what the column's name adds to the parent's (``ship_to``), or "".
    """

    from_table: str
    from_columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]
    origin: Origin
    implied: bool = False
    confidence: float
    cardinality: Cardinality = "many-to-one"
    role: str = ""
    evidence: ForeignKeyEvidence


class Candidate(_Frozen):
    """A possible foreign key that was judged and isn't believed: a question, not a claim.

    Columns pair by position. ``confidence`` is the probability that it's meant after all, and
    ``reason`` why it isn't believed. ``ruled_out`` says that another reference was chosen instead,
    or that the rest of the schema contradicts it.
    """

    from_table: str
    from_columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]
    confidence: float
    ruled_out: bool = False
    reason: str
    evidence: ForeignKeyEvidence


NO_STATISTICS: Mapping[str, object] = {
    "mean": None,
    "quantiles": None,
    "histogram": (),
    "statistics_sample": None,
}
"""The fields of a column whose values may not be kept."""


class SkippedTable(_Frozen):
    """A table that couldn't be read, and why."""

    name: str
    reason: str


class Profile(_Frozen):
    """Everything measured of one source.

    ``candidates`` are the possible foreign keys that aren't believed, most credible first.
    ``ignored`` are the names of tables that are left out because somebody decided so. ``catalog``
    is what a data catalog says of the tables, None without one.
    """

    source_kind: str
    source_name: str
    has_data: bool = True
    tables: tuple[TableProfile, ...]
    foreign_keys: tuple[ForeignKey, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    skipped: tuple[SkippedTable, ...] = ()
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    catalog: CatalogFacts | None = None

    @property
    def declared_in(self) -> str:
        """What declares a structure that has no rows."""
        return "DDL" if self.catalog is None else self.catalog.catalog

    def table(self, name: str) -> TableProfile:
        """Return the table of that exact name; KeyError if there is none."""
        for table in self.tables:
            if table.name == name:
                return table
        raise KeyError(name)


# Semantic types whose digits name something: a number would drop their leading zeros.
_CODES = frozenset({"ean", "isbn", "vin", "phone", "postal_code", "hash", "version"})
# Personal data is mostly identifiers, which are codes; these are measured.
_PERSONAL_QUANTITIES = frozenset({"date_of_birth", "latitude", "longitude"})


def is_code(column: ColumnProfile) -> bool:
    """Return whether a column's digits belong in text, since they name something."""
    if column.semantic_type in _CODES:
        return True
    return column.pii and column.semantic_type not in _PERSONAL_QUANTITIES
