"""Columns of several sources, each with its name as its own source means it, made comparable."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fluid_build.observations.observed_tables import ObservedTable
from fluid_build.profiling.names.parsing import ParsedColumnName, ParsedNames, parse_names
from fluid_build.profiling.names.similarity import ABBREVIATED, phrase_similarity
from fluid_build.profiling.profile import ColumnProfile
from fluid_build.sources.sql import quote

WORLDWIDE = frozenset("bic card_number ean email iban isbn national_id uuid vin".split())
"""Meanings of values that one authority assigns for everybody: equal ones mean the same, however
close together they lie."""
_DENSE = 0.1
"""Share of the numbers between the least and the greatest key that are keys. Above it, every tenth
number of another source would be a key by accident."""
_LONGEST = 80
"""Characters of text on average; longer text is no key."""
_NEVER = "bool_or(FALSE)"
_CLASSES = {
    "VARCHAR": "text", "UUID": "uuid",
    **dict.fromkeys(
        "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT".split(),
        "number",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class NamedColumn:
    """A column that may hold keys. ``kind`` is the kind of its values: text, uuid or number.

    ``names`` are those of its whole table. ``is_unique`` says that no value repeats,
    ``is_identifier`` that it's a key of its table.
    """

    table: ObservedTable
    column: ColumnProfile
    name: ParsedColumnName
    names: ParsedNames
    kind: str
    is_unique: bool
    is_identifier: bool

    @property
    def source(self) -> str | None:
        """The name of its source."""
        return self.table.profile.source

    @property
    def sql(self) -> str:
        """Return SQL for its values."""
        return self.of("")

    def of(self, alias: str) -> str:
        """Return SQL for its values in a table's alias, as a vault has them.

        Text that can't be restored from another type stays text.
        """
        name = quote(self.table.aliases[self.column.name])
        name = f"{alias}.{name}" if alias else name
        type_ = vault_type(self.column)
        return name if type_ == self.column.type else f"TRY_CAST({name} AS {type_})"


def named_columns(tables: Sequence[ObservedTable]) -> Iterator[NamedColumn]:
    """Return the columns that may hold keys; names are parsed for each source by itself."""
    by_source: dict[str | None, list[ObservedTable]] = defaultdict(list)
    for table in tables:
        by_source[table.profile.source].append(table)
    for of_source in by_source.values():
        names = parse_names(
            [(t.profile.name, [c.name for c in t.profile.columns]) for t in of_source]
        )
        for table, parsed in zip(of_source, names, strict=True):
            for column, name in zip(table.profile.columns, parsed.columns, strict=True):
                kind = _CLASSES.get(vault_type(column), "")
                if kind and (column.avg_length or 0) <= _LONGEST:
                    is_identifier = (column.name,) in _identifying(table)
                    is_unique = is_identifier or _never_repeats(column)
                    yield NamedColumn(table, column, name, parsed, kind, is_unique, is_identifier)


def vault_type(column: ColumnProfile) -> str:
    """Return DuckDB's type of a column in a vault."""
    if column.reversible and column.measured_type and "(" not in column.measured_type:
        return column.measured_type
    return column.type


def are_tables_alike(left: NamedColumn, right: NamedColumn) -> bool:
    """Return whether the names of the tables mean the same entity."""
    return phrase_similarity(left.names.table.entity, right.names.table.entity) >= ABBREVIATED


def are_columns_alike(left: NamedColumn, right: NamedColumn) -> bool:
    """Return whether the columns mean the same by their names or their values."""
    return mean_the_same(left.column, left.name, right.column, right.name)


def mean_the_same(
    left: ColumnProfile,
    left_name: ParsedColumnName,
    right: ColumnProfile,
    right_name: ParsedColumnName,
) -> bool:
    """Return whether two columns mean the same by their names or their values.

    ``cust_no`` of a table whose columns all begin with ``cust`` is just a ``no``, as many are.
    """
    if left.semantic_type and left.semantic_type == right.semantic_type:
        return True
    return left_name.full == right_name.full or (
        left_name.bare == right_name.bare and not left_name.is_generic
    )


def dense_sql(kind: str, semantic_types: frozenset[str | None]) -> str:
    """Return SQL for whether keys ``v`` are numbers that lie close together, as those in order do.

    ``semantic_types`` are those of the columns that have such keys.
    """
    if kind == "uuid" or semantic_types <= WORLDWIDE:
        return _NEVER
    if kind == "number":
        return f"count(*) > {_DENSE} * (CAST(max(v) AS DOUBLE) - CAST(min(v) AS DOUBLE) + 1)"
    # In codes such as INV-0042, the last number counts, and all else is the same.
    number = "TRY_CAST(regexp_extract(v, '([0-9]+)[^0-9]*$', 1) AS DOUBLE)"
    return (
        "coalesce(count(DISTINCT regexp_replace(v, '[0-9]+', '#', 'g')) = 1"
        f" AND count(*) > {_DENSE} * (max({number}) - min({number}) + 1), FALSE)"
    )


def is_dense_by_bounds(column: ColumnProfile) -> bool:
    """Return whether the profile shows that a column of numbers is dense; it may not say so."""
    try:
        low, high = int(column.min or ""), int(column.max or "")
    except ValueError:
        return False
    return column.distinct > _DENSE * (high - low + 1)


def _identifying(table: ObservedTable) -> set[tuple[str, ...] | None]:
    profile = table.profile
    declared = (claim.columns for claim in profile.declared_keys if claim.holds)
    return {*profile.candidate_keys, *declared, profile.primary_key}


def _never_repeats(column: ColumnProfile) -> bool:
    return column.distinct_exact and column.distinct == column.rows - column.nulls > 1
