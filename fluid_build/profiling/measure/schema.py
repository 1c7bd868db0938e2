"""The measured tables and columns, from which keys and references are chosen.

The figures (``column_stats``), the names (``names``) and the candidate keys of a whole schema come
together here.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from fluid_build.profiling.measure.candidate_keys import CandidateKeys
from fluid_build.profiling.measure.figures import ColumnStats, TableStats
from fluid_build.profiling.measure.key_forms import reads_like_prose
from fluid_build.profiling.names.concepts import read_concepts
from fluid_build.profiling.names.key_names import own_key_score
from fluid_build.profiling.names.parsing import ParsedColumnName, ParsedTableName, parse_names
from fluid_build.profiling.weights import DEFAULT_WEIGHTS, NameWeights
from fluid_build.sources.sql import quote
from fluid_build.sources.text_values.conventions import NUMBER_CONFLICT, NUMBER_QUESTION

KeyKind = Literal["integer", "text", "uuid", "date", ""]

_LONGEST_KEY_TEXT = 64.0
"""Text of more characters on average isn't a key: codes and names are shorter, and a SHA-256 digest
has just 64."""
NAMED_AS_KEY = 0.7
"""From this ``own_key_score`` on, a name says plainly that the column is its table's own key: above
a name that only shares a word with its table, below one that abbreviates it."""
_FEWEST_OF_HABIT = 5
"""Tables that must start with a unique column of one name before that is a habit of the system."""
_HABIT_SHARE = 0.9
"""The share of the tables that start with a column of this name in which it must be unique."""
_NOT_AN_AMOUNT = frozenset({"id", "key", "kind", "flag", "date"})
"""Concepts that turn a word for money: ``price_type`` and ``amount_id`` hold no amounts."""


@dataclass(slots=True, eq=False)
class MeasuredColumn:
    """One column: its figures and its parsed name.

    ``key_kind`` is the kind of key values it holds, "" if it can neither be a key nor refer to one;
    only columns of one kind are compared. ``own_key_score`` says how well the name marks its own
    table's key, 0 to 1. ``is_habitual`` says that many tables start with a unique column of this
    name.
    """

    table: "MeasuredTable"
    stats: ColumnStats
    parsed_name: ParsedColumnName
    position: int
    key_kind: KeyKind
    own_key_score: float
    is_habitual: bool = False

    def __str__(self) -> str:
        return f"{self.table.name}.{self.name}"

    @property
    def name(self) -> str:
        """The column's name in the source."""
        return self.stats.column.name

    @property
    def sql(self) -> str:
        """The column as an SQL expression, in the form in which it is compared."""
        quoted = quote(self.stats.column.alias)
        if self.key_kind == "integer" and self.stats.kind != "integer":
            return f"TRY_CAST({quoted} AS BIGINT)"
        if self.key_kind == "uuid" and self.stats.kind != "uuid":
            return f"TRY_CAST({quoted} AS UUID)"
        if self.key_kind == "text" and self.stats.kind == "integer":
            return f"CAST({quoted} AS VARCHAR)"
        return quoted

    @property
    def is_plain(self) -> bool:
        """Whether the column is compared as it is read."""
        return self.sql == quote(self.stats.column.alias)

    @property
    def low(self) -> int | None:
        """The least value of a column of integer keys."""
        bounds = self.stats.bounds
        return bounds[0] if bounds and self.key_kind == "integer" else None

    @property
    def high(self) -> int | None:
        """The greatest value of a column of integer keys."""
        bounds = self.stats.bounds
        return bounds[1] if bounds and self.key_kind == "integer" else None

    @property
    def is_primary_key(self) -> bool:
        """Whether the column alone is its table's primary key."""
        return self.table.primary_key == (self.name,)

    @property
    def amount_concepts(self) -> frozenset[str]:
        """What the words of the name mean; nothing if one says that it isn't an amount."""
        concepts = read_concepts(self.name).concepts
        return frozenset() if concepts & _NOT_AN_AMOUNT else frozenset(concepts)

    @property
    def is_measure(self) -> bool:
        """Whether the values are amounts: numbers with decimals, or numbers named as money.

        So are numbers of which nobody knows yet whether they have decimals. Of 40 salaries, no two
        may be equal, and all may be in another table: they neither identify a row nor refer to one.
        """
        if self.stats.column.spelling == ",":
            # Nobody writes an id with marks between its thousands.
            return True
        if self.own_key_score >= NAMED_AS_KEY:
            return False
        if self.stats.kind in {"float", "decimal"} and not self.stats.is_integral:
            return True
        if {NUMBER_QUESTION, NUMBER_CONFLICT} & set(self.stats.column.notes):
            return True
        numeric = self.stats.kind in {"integer", "float", "decimal"}
        if not numeric and self.stats.measured_type not in {"BIGINT", "DOUBLE"}:
            return False
        # A ``cost_element`` is no cost where a table of that name lists them.
        names_table = self.parsed_name.names_table and len(self.parsed_name.entity) > 1
        return "money" in self.amount_concepts and not names_table

    @property
    def is_dense(self) -> bool:
        """Whether an integer key takes every value between its bounds, as surrogate keys do."""
        low, high = self.low, self.high
        return (
            low is not None
            and high is not None
            and self.stats.is_unique
            and high - low + 1 == self.stats.distinct
        )


@dataclass(eq=False)
class MeasuredTable:
    """One table: figures, parsed name, candidate keys, and the primary key once it is chosen.

    ``index`` is its place among the tables of the source.
    """

    stats: TableStats
    parsed_name: ParsedTableName
    index: int
    candidates: CandidateKeys = field(default_factory=CandidateKeys)
    columns: list[MeasuredColumn] = field(default_factory=list)
    primary_key: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The table's name in the source."""
        return self.stats.table.name

    @property
    def relation(self) -> str:
        """The table in a query on its connection."""
        return self.stats.table.relation

    @property
    def is_sampled(self) -> bool:
        """Whether only a part of the rows was read, so that a value may be in the others."""
        return self.stats.table.sampled is not None

    @cached_property
    def by_name(self) -> dict[str, MeasuredColumn]:
        """The columns by their exact names."""
        return {column.name: column for column in self.columns}


def build_tables(
    stats: Sequence[TableStats], weights: NameWeights = DEFAULT_WEIGHTS.names
) -> list[MeasuredTable]:
    """Join the figures and names of all tables of a source; candidate keys are found later."""
    names = parse_names([(s.table.name, [c.name for c in s.columns]) for s in stats])
    tables = []
    for index, (figures, parsed) in enumerate(zip(stats, names, strict=True)):
        table = MeasuredTable(figures, parsed.table, index)
        table.columns = [
            MeasuredColumn(
                table,
                stats,
                name,
                position,
                key_kind_of(stats),
                own_key_score(name, table.parsed_name, weights),
            )
            for position, (stats, name) in enumerate(
                zip(table.stats.columns, parsed.columns, strict=True)
            )
        ]
        tables.append(table)
    _tell_bridges(tables)
    _compare_as_namesakes(tables)
    _mark_habitual_keys(tables)
    return tables


def _tell_bridges(tables: Iterable[MeasuredTable]) -> None:
    """Take no column for a table's own key that is called like one of the two tables it joins.

    ``case`` of ``detective_case`` is a case, where there are detectives and cases.
    """
    entities = {table.parsed_name.entity for table in tables}
    for table in tables:
        words = table.parsed_name.entity
        for cut in range(1, len(words)):
            joined = {words[:cut], words[cut:]}
            for column in table.columns if joined <= entities else ():
                if column.parsed_name.entity in joined:
                    column.own_key_score = 0.0


def _compare_as_namesakes(tables: Iterable[MeasuredTable]) -> None:
    """Compare text of digits as text where other text has the same name, and not only digits.

    A few rows may happen to have only codes without letters, such as those of one region.
    """
    namesakes: dict[str, list[MeasuredColumn]] = defaultdict(list)
    for table in tables:
        for column in table.columns:
            if column.stats.kind == "text" and not column.parsed_name.is_generic:
                namesakes[column.parsed_name.squashed].append(column)
    for columns in namesakes.values():
        if any(column.key_kind == "text" for column in columns):
            for column in columns:
                column.key_kind = "text" if column.key_kind == "integer" else column.key_kind


def _mark_habitual_keys(tables: Iterable[MeasuredTable]) -> None:
    """Mark the columns that lead many tables under one name and are unique in nearly all of them.

    Such a column (``row_id``) numbers the rows of every table by the habit of one system.
    """
    leading: dict[str, list[MeasuredColumn]] = defaultdict(list)
    for table in tables:
        if table.stats.rows > 1:
            leading[table.columns[0].parsed_name.squashed].append(table.columns[0])
    for namesakes in leading.values():
        keys = [column for column in namesakes if column.stats.is_key]
        if len(keys) >= _FEWEST_OF_HABIT and len(keys) >= _HABIT_SHARE * len(namesakes):
            for column in keys:
                is_code = column.parsed_name.has_key_word or column.key_kind != "text"
                column.is_habitual = is_code and not column.is_measure


def key_kind_of(stats: ColumnStats) -> KeyKind:
    """Return the kind of key values that a column holds, "" if it can't be a key.

    Floating point numbers count as integers if all of them are whole, as in a nullable key read
    from a file; so does text if every value is a whole number.
    """
    if stats.kind == "integer" or (stats.kind == "float" and _are_whole(stats)):
        return "integer"
    if stats.kind == "uuid" or stats.measured_type == "UUID":
        return "uuid"
    if stats.kind == "text":
        if stats.measured_type == "BIGINT":
            return "integer"
        long = (stats.avg_length or 0) > _LONGEST_KEY_TEXT or reads_like_prose(stats)
        return "" if long else "text"
    return "date" if stats.kind == "temporal" and stats.column.type == "DATE" else ""


def _are_whole(stats: ColumnStats) -> bool:
    """Return whether all floating point numbers are whole and none is beyond a BIGINT."""
    return stats.is_integral and stats.bounds is not None and max(map(abs, stats.bounds)) < 2**63


def group_by_table(columns: Iterable[MeasuredColumn]) -> dict[int, list[MeasuredColumn]]:
    """Group columns by the index of their table."""
    groups: dict[int, list[MeasuredColumn]] = defaultdict(list)
    for column in columns:
        groups[column.table.index].append(column)
    return groups


def group_by_key_kind(columns: Iterable[MeasuredColumn]) -> dict[str, list[MeasuredColumn]]:
    """Group columns by their kind of key values, without those that can't be keys."""
    groups: dict[str, list[MeasuredColumn]] = defaultdict(list)
    for column in columns:
        if column.key_kind:
            groups[column.key_kind].append(column)
    return groups
