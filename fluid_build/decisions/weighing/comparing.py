"""Columns of two tables as their values are compared, and how many rows match."""

from collections.abc import Sequence
from dataclasses import dataclass

from fluid_build.decisions.weighing.claims import Claims, query_figures
from fluid_build.decisions.weighing.names import label
from fluid_build.profiling import checks
from fluid_build.profiling.measure.figures import kind_of
from fluid_build.profiling.profile import ColumnProfile, is_code
from fluid_build.profiling.references.inclusion import Inclusion
from fluid_build.sources.sql import quote

_KINDS = {"integer": "numbers", "decimal": "numbers", "float": "numbers", "uuid": "UUIDs"}
_MEASURED_KINDS = {"BIGINT": "numbers", "UUID": "UUIDs"}


@dataclass(frozen=True, slots=True)
class ColumnPairs:
    """Columns of two tables that pair by position."""

    from_table: str
    from_columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]

    @property
    def names(self) -> set[tuple[str, str]]:
        """The names of the columns, in pairs."""
        return set(zip(self.from_columns, self.to_columns, strict=True))

    def orphans_sql(self, claims: Claims, compared: "Sequence[ComparedColumns]") -> str:
        """Return a query for the rows without a match in the other table."""
        return checks.orphans(
            claims.table(self.from_table).sql,
            self.from_columns,
            claims.table(self.to_table).sql,
            self.to_columns,
            tuple(pair.forms for pair in compared),
        )


@dataclass(frozen=True, slots=True)
class ComparedColumns:
    """A pair of columns in the form in which their values are compared.

    ``from_sql`` and ``to_sql`` have a place for the column's quoted name; ``forms`` say the same
    in the words of ``checks``.
    """

    from_sql: str
    to_sql: str
    forms: tuple[checks.Form, checks.Form]


def compared_columns(claims: Claims, pairs: ColumnPairs) -> tuple[ComparedColumns, ...] | str:
    """Return the pairs of columns as they're compared, or why they can't be."""
    child, parent = claims.table(pairs.from_table), claims.table(pairs.to_table)
    compared = []
    for name, key_name in zip(pairs.from_columns, pairs.to_columns, strict=True):
        column, key = child.column(name), parent.column(key_name)
        if value_kind(column) != value_kind(key):
            return (
                f"{label(child.name, name)} holds {value_kind(column)} and"
                f" {label(parent.name, key_name)} {value_kind(key)}, which can't be compared."
            )
        compared.append(_compared(column, key))
    return tuple(compared)


def measure_values(
    claims: Claims, pairs: ColumnPairs, compared: Sequence[ComparedColumns]
) -> Inclusion:
    """Measure on every row how the values occur among those of the other table."""
    child, parent = claims.tables[pairs.from_table], claims.tables.get(pairs.to_table)
    aliases = [f"v{index}" for index in range(len(compared))]
    froms = [
        pair.from_sql.format(quote(child.aliases[name]))
        for pair, name in zip(compared, pairs.from_columns, strict=True)
    ]
    if parent is None:
        tos, parent_relation = ["NULL"] * len(compared), "(SELECT 1)"
    else:
        tos = [
            pair.to_sql.format(quote(parent.aliases[name]))
            for pair, name in zip(compared, pairs.to_columns, strict=True)
        ]
        parent_relation = parent.relation
    matches = " AND ".join(f"p.{alias} = c.{alias}" for alias in aliases)
    rows, matched, distinct, distinct_matched, keys = query_figures(
        claims,
        f"WITH child AS (SELECT {_aliased(froms, aliases)}, count(*) AS n"
        f" FROM {child.relation} WHERE {_present(froms)} GROUP BY ALL),"
        f" parent AS (SELECT DISTINCT {_aliased(tos, aliases)}"
        f" FROM {parent_relation} WHERE {_present(tos)}),"
        f" judged AS (SELECT n, EXISTS (FROM parent AS p WHERE {matches}) AS is_key"
        " FROM child AS c)"
        " SELECT sum(n), sum(n) FILTER (is_key), count(*), count(*) FILTER (is_key),"
        " (SELECT count(*) FROM parent) FROM judged",
    )
    return Inclusion(rows, matched, distinct, distinct_matched, keys, parent_near=0)


def _aliased(values: Sequence[str], aliases: Sequence[str]) -> str:
    return ", ".join(f"{value} AS {alias}" for value, alias in zip(values, aliases, strict=True))


def _present(values: Sequence[str]) -> str:
    return " AND ".join(f"{value} IS NOT NULL" for value in values)


def value_kind(column: ColumnProfile) -> str:
    """Return the kind of values that a column is compared by, as the profiler compares them."""
    kind = kind_of(column.type)
    measured = None if kind == "text" and is_code(column) else column.measured_type
    if measured in _MEASURED_KINDS:
        return _MEASURED_KINDS[measured]
    if measured is not None or kind == "temporal":
        return measured or column.type
    return _KINDS.get(kind, kind)


def _compared(column: ColumnProfile, key: ColumnProfile) -> ComparedColumns:
    are_text = kind_of(column.type) == kind_of(key.type) == "text"
    if are_text and column.reversible and key.reversible:
        return ComparedColumns(_value(column), _value(key), ("plain", "plain"))
    return ComparedColumns(_value(column), _value(key), (_form(column, key), _form(key, column)))


def _value(column: ColumnProfile) -> str:
    is_text = kind_of(column.type) == "text"
    if is_text and value_kind(column) in {"numbers", "UUIDs"}:
        return f"TRY_CAST({{}} AS {column.measured_type})"
    return "{}"


def _form(column: ColumnProfile, partner: ColumnProfile) -> checks.Form:
    if value_kind(column) == "UUIDs":
        both_uuid = kind_of(column.type) == kind_of(partner.type) == "uuid"
        return "plain" if both_uuid else "letters"
    is_number_in_text = value_kind(column) == "numbers" and kind_of(column.type) == "text"
    return "number" if is_number_in_text else "plain"
