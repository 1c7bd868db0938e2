"""The tables and columns that a decision names, looked up in the profile."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.decisions.language import AnyDecision, OneTable, Renamed, Separate
from fluid_build.profiling.profile import Profile, TableProfile
from fluid_build.sources.base import Source
from fluid_build.text import clip, did_you_mean

_COLUMN_FIELDS: Mapping[str, tuple[str, ...]] = {
    "table": ("column", "columns", "attributes"),
    "from_table": ("from_columns",),
    "to_table": ("to_columns",),
    "into_table": ("into_columns",),
}
"""The fields of decisions that name a table, each with those that name columns of it."""
_PLACE_PART = re.compile(r'"((?:[^"]|"")*)"')
_LONGEST_NAME = 80
"""Characters of an unknown name that are repeated; it may be anything."""


class UnknownNameError(ValueError):
    """A decision names something that the profile doesn't have, or names a column twice."""


@dataclass(frozen=True, slots=True)
class SourceNames:
    """The tables of a profile by every spelling that means one, and why others are missing.

    ``renamed`` are decisions on what the source calls otherwise now: earlier names mean the same.
    """

    tables: Mapping[str, TableProfile]
    spellings: Mapping[str, frozenset[str]]
    skipped: Mapping[str, str]
    renamed: tuple[Renamed, ...] = ()

    def table(self, name: str) -> TableProfile:
        """Return the table that a name means; raise UnknownNameError if none or several do."""
        later = {each.was: each.table for each in self.renamed if each.column is None}
        while name in later and not self._is_known(name):
            name = later.pop(name)
        return self._table(name)

    def column(self, table: TableProfile, name: str) -> str:
        """Return the column of a table that a name means; raise UnknownNameError if none does."""
        columns = {column.name: (column.name,) for column in table.columns}
        later = {
            each.was: each.column
            for each in self.renamed
            if each.column is not None and self._means(each.table, table)
        }
        while name in later and not _meant(name, columns):
            name = later.pop(name)
        return _exact_column(table, name)

    def _is_known(self, name: str) -> bool:
        return name in self.tables or bool(_meant(name, self.spellings))

    def _means(self, name: str, table: TableProfile) -> bool:
        try:
            return self.table(name).name == table.name
        except UnknownNameError:
            return False

    def _table(self, name: str) -> TableProfile:
        if name in self.tables:
            return self.tables[name]
        tables = _meant(name, self.spellings)
        if len(tables) == 1:
            return self.tables[tables[0]]
        if tables:
            raise UnknownNameError(f"{label(name)} means several tables: {_name_list(tables)}.")
        if name in self.skipped:
            raise UnknownNameError(f"The table {label(name)} couldn't be read.")
        guess = did_you_mean(name, self.tables).strip()
        raise UnknownNameError(f"There's no table {label(name)}. {guess}".strip())


def source_names(source: Source, profile: Profile, renamed: Sequence[Renamed] = ()) -> SourceNames:
    """Return the names of a profile's tables: with and without their schema and their source."""
    schemas = {table.name: table.schema for table in source.tables}
    spellings: dict[str, set[str]] = {}
    for table in profile.tables:
        for spelling in _spellings(table, schemas.get(table.name, "")):
            spellings.setdefault(spelling, set()).add(table.name)
    return SourceNames(
        tables={table.name: table for table in profile.tables},
        spellings={spelling: frozenset(names) for spelling, names in spellings.items()},
        skipped={table.name: table.reason for table in profile.skipped},
        renamed=tuple(each for each in renamed if each.is_renamed),
    )


def with_exact_names(decision: AnyDecision, names: SourceNames) -> AnyDecision:
    """Return a decision with the exact names of its tables and columns.

    Raises UnknownNameError. An element of the model isn't looked up: it doesn't exist yet. Nor is
    a table that is made of others, or into others, where the source is read.
    """
    if isinstance(decision, OneTable | Separate):
        return decision
    exact: dict[str, object] = {}
    for table_field, column_fields in _COLUMN_FIELDS.items():
        name = getattr(decision, table_field, None)
        if name is None:
            continue
        table = names.table(name)
        exact[table_field] = table.name
        for field in column_fields:
            value = getattr(decision, field, None)
            if isinstance(value, str):
                exact[field] = names.column(table, value)
            elif value is not None:
                exact[field] = _exact_columns(table, value, names)
    resolved = decision.model_copy(update=exact)
    _check_still_distinct(resolved)
    return resolved


def by_other_names(
    decision: AnyDecision, tables: Mapping[str, str], columns: Mapping[tuple[str, str], str]
) -> AnyDecision:
    """Return a decision by other names of its tables, and of its columns by table and column."""
    if isinstance(decision, Renamed | OneTable | Separate):
        return decision
    other: dict[str, object] = {}
    for table_field, column_fields in _COLUMN_FIELDS.items():
        table = getattr(decision, table_field, None)
        if table is None:
            continue
        other[table_field] = tables.get(table, table)
        for field in column_fields:
            value = getattr(decision, field, None)
            if isinstance(value, str):
                other[field] = columns.get((table, value), value)
            elif value is not None:
                other[field] = tuple(columns.get((table, name), name) for name in value)
    return decision.model_copy(update=other)


def named_columns(decision: AnyDecision) -> dict[str, set[str]]:
    """Return the tables that a decision names, each with the columns of it that it names."""
    named: dict[str, set[str]] = {}
    for table_field, column_fields in _COLUMN_FIELDS.items():
        table = getattr(decision, table_field, None)
        if table is not None:
            values = (getattr(decision, field, None) for field in column_fields)
            columns = named.setdefault(table, set())
            for value in values:
                columns.update([value] if isinstance(value, str) else value or ())
    return named


def label(*names: str) -> str:
    """Return a name as it's written in a message: a table, or a table and its column."""
    text = clip(" ".join(".".join(names).split()), _LONGEST_NAME)
    # A model can name anything, and what steers a terminal is no part of a message.
    return f"`{''.join(c if c.isprintable() else '?' for c in text)}`"


def columns_label(table: str, columns: Sequence[str]) -> str:
    """Return columns of a table as they're written in a message."""
    return label(table, columns[0] if len(columns) == 1 else f"({', '.join(columns)})")


def _exact_columns(
    table: TableProfile, names: Iterable[str], source: SourceNames
) -> tuple[str, ...]:
    exact = tuple(source.column(table, name) for name in names)
    if len(set(exact)) < len(exact):
        twice = next(name for name in exact if exact.count(name) > 1)
        raise UnknownNameError(f"{label(table.name, twice)} is named twice.")
    return exact


def _exact_column(table: TableProfile, name: str) -> str:
    columns = [column.name for column in table.columns]
    if name in columns:
        return name
    alike = _meant(name, {column: (column,) for column in columns})
    if len(alike) == 1:
        return alike[0]
    if alike:
        raise UnknownNameError(
            f"{label(table.name, name)} means several columns: {_name_list(alike)}."
        )
    guess = did_you_mean(name, columns).strip()
    raise UnknownNameError(f"{label(table.name)} has no column {label(name)}. {guess}".strip())


def _meant(name: str, spellings: Mapping[str, Iterable[str]]) -> list[str]:
    """Return what a name means as it's spelled, or else whatever the case of its letters."""

    def spelled_alike(fold: Callable[[str], str]) -> list[str]:
        folded = fold(name)
        return sorted(
            {
                meaning
                for spelling, meanings in spellings.items()
                if fold(spelling) == folded
                for meaning in meanings
            }
        )

    return spelled_alike(str) or spelled_alike(str.casefold)


def _spellings(table: TableProfile, schema: str) -> Iterable[str]:
    """Return the table's name, and its place with and without its schema and its source."""
    yield table.name
    parts = [part.replace('""', '"') for part in _PLACE_PART.findall(table.sql)]
    for start in range(len(parts)):
        yield ".".join(parts[start:])
    if schema and parts:
        yield f"{schema}.{parts[-1]}"


def _check_still_distinct(decision: AnyDecision) -> None:
    """Raise UnknownNameError where two spellings turned out to be one name."""
    if decision.decision == "merge" and decision.table == decision.into_table:
        raise UnknownNameError(f"{label(decision.table)} can't be merged into itself.")
    if decision.decision == "split" and (both := {*decision.columns} & {*decision.attributes}):
        column = label(decision.table, min(both))
        raise UnknownNameError(f"{column} can't be both in columns and in attributes.")


def _name_list(names: Sequence[str]) -> str:
    return ", ".join(label(name) for name in names[:5])
