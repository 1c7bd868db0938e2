"""One change of a source: a typed value with its evidence and a sentence."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class ChangeKind(StrEnum):
    """What has changed."""

    COLUMN_ADDED = "column_added"
    COLUMN_DROPPED = "column_dropped"
    COLUMN_RENAMED = "column_renamed"
    TYPE_WIDENED = "type_widened"
    TYPE_NARROWED = "type_narrowed"
    TYPE_CHANGED = "type_changed"
    VALUES_MISFIT = "values_misfit"
    TABLE_ADDED = "table_added"
    TABLE_DROPPED = "table_dropped"
    TABLE_UNREADABLE = "table_unreadable"
    TABLE_RENAMED = "table_renamed"
    TABLE_SPLIT = "table_split"
    TABLE_EMPTIED = "table_emptied"
    TABLE_SHRUNK = "table_shrunk"
    TABLE_UNDELIVERED = "table_undelivered"
    KEY_BROKEN = "key_broken"
    KEY_WIDENED = "key_widened"
    REFERENCE_BROKEN = "reference_broken"
    REFERENCE_NEW = "reference_new"
    NULLS_NEW = "nulls_new"
    NULLS_GONE = "nulls_gone"
    NEWLY_PERSONAL = "newly_personal"


class Effect(StrEnum):
    """What a change means for what is loaded from the source.

    A ``safe`` one loses nothing and asks nothing. A ``needs_decision`` has more than one meaning,
    and the data doesn't say which. A ``breaks`` can't be loaded as before.
    """

    SAFE = "safe"
    NEEDS_DECISION = "needs_decision"
    BREAKS = "breaks"


STRUCTURAL = frozenset(
    {
        ChangeKind.COLUMN_ADDED,
        ChangeKind.COLUMN_DROPPED,
        ChangeKind.COLUMN_RENAMED,
        ChangeKind.TYPE_WIDENED,
        ChangeKind.TYPE_NARROWED,
        ChangeKind.TYPE_CHANGED,
        ChangeKind.TABLE_ADDED,
        ChangeKind.TABLE_DROPPED,
        ChangeKind.TABLE_UNREADABLE,
        ChangeKind.TABLE_RENAMED,
        ChangeKind.TABLE_SPLIT,
    }
)
"""Kinds after which a model of the earlier source can't be built as it is."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ChangeEvidence(_Frozen):
    """The figures of a change, None where none is known, and the query that shows its rows.

    ``rows_before`` and ``rows`` count the table's rows; ``nulls`` of them have a null, and
    ``distinct`` are their different values. ``violations`` are the rows that contradict what held
    before. ``is_sampled`` says that a part of the rows was read, now or then. ``sql`` runs on the
    source.
    """

    rows_before: int | None = None
    rows: int | None = None
    nulls: int | None = None
    distinct: int | None = None
    violations: int | None = None
    is_sampled: bool = False
    sql: str = ""


class OtherName(_Frozen):
    """A new name that something may have now, how likely that is (0 to 1), and why."""

    name: str
    likelihood: float
    reason: str


class SourceChange(_Frozen):
    """A change of a table, or of some of its columns.

    ``table`` and ``columns`` have the names of the earlier profile, those of something new today's.
    ``before`` and ``after`` are what changed, as text: types, names, keys, figures. A reference
    also has what it refers to, a key that no longer holds the ``to_columns`` of one that does, and
    a table that was split its ``parts``. ``other_names`` are the candidates of a renaming, most
    likely first; the first is ``after``. ``sentence`` says all of it, without a full stop.
    """

    kind: ChangeKind
    table: str
    columns: tuple[str, ...] = ()
    to_table: str | None = None
    to_columns: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    before: str | None = None
    after: str | None = None
    other_names: tuple[OtherName, ...] = ()
    effect: Effect
    sentence: str
    evidence: ChangeEvidence = ChangeEvidence()

    @property
    def is_structural(self) -> bool:
        """Whether a model of the earlier source can't be built after it."""
        return self.kind in STRUCTURAL

    def __str__(self) -> str:
        return self.sentence
