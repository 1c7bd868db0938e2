"""The measured schema: tables, columns and keys side by side, for the search for relations."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fluid_build.profiling.candidate_keys import CandidateKeys, reads_like_prose
from fluid_build.profiling.column_stats import ColumnStats, TableStats
from fluid_build.profiling.name_similarity import explains, kin, refers_within, same_name
from fluid_build.profiling.names import ParsedColumnName, ParsedNames, name_tables
from fluid_build.profiling.semantic_types.name_concepts import read_name
from fluid_build.sources.sql import quote

_WIDE_TEXT = 64.0
NAMED_AS_KEY = 0.7
"""From here on a name says plainly that the column is the key of its own table."""
_NOT_AN_AMOUNT = frozenset({"id", "key", "kind", "flag", "date"})
"""What an amount's word may stand beside: a ``price_type`` or ``amount_id`` is no amount."""


@dataclass(slots=True, eq=False)
class MeasuredColumn:
    """One column of the schema.

    ``comparable`` names the values it can be compared with; ``self_explaining`` says how well its
    name tells that it is its own table's key, 0 to 1.
    """

    table: "MeasuredTable"
    stats: ColumnStats
    name: ParsedColumnName
    position: int
    comparable: str
    self_explaining: float

    def __str__(self) -> str:
        return f"{self.table.name}.{self.stats.name}"

    @property
    def sql(self) -> str:
        """The column as an SQL expression, in the form that it is compared in."""
        quoted = quote(self.stats.column.alias)
        if self.comparable == "integer" and self.stats.kind != "integer":
            return f"TRY_CAST({quoted} AS BIGINT)"
        if self.comparable == "uuid" and self.stats.kind != "uuid":
            return f"TRY_CAST({quoted} AS UUID)"
        return quoted

    @property
    def is_plain(self) -> bool:
        """Whether the column is compared as it is read."""
        return self.sql == quote(self.stats.column.alias)

    @property
    def low(self) -> int | None:
        """The least value of an integer column."""
        return self.stats.bounds[0] if self.stats.bounds and self.comparable == "integer" else None

    @property
    def high(self) -> int | None:
        """The greatest value of an integer column."""
        return self.stats.bounds[1] if self.stats.bounds and self.comparable == "integer" else None

    @property
    def amounts(self) -> frozenset[str]:
        """What the words of the name mean, or nothing where one says that it is no amount."""
        concepts = read_name(self.stats.name).concepts
        return frozenset() if concepts & _NOT_AN_AMOUNT else frozenset(concepts)

    @property
    def is_measure(self) -> bool:
        """Whether the values are amounts: numbers with decimals, or numbers named as money.

        A measure may be unique by chance, and two columns of salaries may hold the same ones, but
        neither identifies anything nor refers to it.
        """
        if self.self_explaining >= NAMED_AS_KEY:
            return False
        if self.stats.kind in {"float", "decimal"} and not self.stats.integral:
            return True
        numeric = self.stats.kind in {"integer", "float", "decimal"}
        if not numeric and self.stats.measured_type not in {"BIGINT", "DOUBLE"}:
            return False
        return "money" in self.amounts

    @property
    def dense(self) -> bool:
        """Whether an integer key takes every value between its bounds, as surrogates do."""
        low, high = self.low, self.high
        return (
            low is not None
            and high is not None
            and self.stats.unique
            and high - low + 1 == self.stats.distinct
        )


@dataclass(eq=False)
class MeasuredTable:
    """One table of the schema: figures, names, candidate keys, and the primary key once chosen."""

    stats: TableStats
    names: ParsedNames
    candidates: CandidateKeys
    index: int
    nodes: list[MeasuredColumn] = field(default_factory=list)
    primary_key: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The table's name in the source."""
        return self.stats.table.name

    @cached_property
    def by_name(self) -> dict[str, MeasuredColumn]:
        """The columns by their exact names."""
        return {node.stats.name: node for node in self.nodes}

    def __str__(self) -> str:
        return self.name


def build_schema(stats: Sequence[TableStats], keys: Sequence[CandidateKeys]) -> list[MeasuredTable]:
    """Join figures, keys and names of all tables."""
    names = name_tables([(s.table.name, [c.name for c in s.columns]) for s in stats])
    entities = []
    for index, (table, candidates, named) in enumerate(zip(stats, keys, names, strict=True)):
        entity = MeasuredTable(table, named, candidates, index)
        entity.nodes = [
            MeasuredColumn(
                entity, column, name, position, comparable(column), explains(name, named.table)
            )
            for position, (column, name) in enumerate(
                zip(table.columns, named.columns, strict=True)
            )
        ]
        entities.append(entity)
    return entities


def comparable(column: ColumnStats) -> str:
    """What a column's values can be compared with as keys: integer, text, uuid, date, or "".

    Floating point numbers count as integers if all of them are whole, as a nullable key read from
    a file often is; so does text in which every value is a whole number.
    """
    if column.kind == "integer" or (column.kind == "float" and column.integral):
        return "integer"
    if column.kind == "uuid" or column.measured_type == "UUID":
        return "uuid"
    if column.kind == "text":
        if column.measured_type == "BIGINT":
            return "integer"
        wide = (column.avg_length or 0) > _WIDE_TEXT or reads_like_prose(column)
        return "" if wide else "text"
    return "date" if column.kind == "temporal" and column.column.type == "DATE" else ""


def group_by_table(nodes: Iterable[MeasuredColumn]) -> dict[int, list[MeasuredColumn]]:
    """Columns by the index of their table."""
    groups: dict[int, list[MeasuredColumn]] = defaultdict(list)
    for node in nodes:
        groups[node.table.index].append(node)
    return groups


def name_refers(child: MeasuredColumn, parent: MeasuredColumn, known: float) -> float:
    """How well a column's name says that it refers to another column; 0 to 1.

    ``known`` is what the names alone say (``refers``); where the columns are of one table, or the
    child's table is named after the parent's, they say more.
    """
    named = parent.table.names.table
    if child.table is parent.table:
        return refers_within(child.name, parent.name, named)
    if same_name(child.name, parent.name) and kin(child.table.names.table, named):
        return max(known, 0.9)
    return known
