"""Columns that the Parquet files of one table store in different types.

DuckDB reads such files together in a type that it finds for all of them, whether or not that holds
every value: a DECIMAL beside a DOUBLE loses digits, TRUE beside 5 becomes 1.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import duckdb

from fluid_build.sources.files.parquet_columns import MOST_DIGITS, ParquetColumn
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.uri import as_pattern

_WHOLE_DIGITS: Mapping[str, int] = {
    "TINYINT": 3, "UTINYINT": 3, "SMALLINT": 5, "USMALLINT": 5,
    "INTEGER": 10, "UINTEGER": 10, "BIGINT": 19, "UBIGINT": 20,
}  # fmt: skip
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_FLOATING = frozenset({"FLOAT", "DOUBLE"})
_NAIVE = frozenset({"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"})
_NULL = '"NULL"'
_ZONED = "TIMESTAMP WITH TIME ZONE"
_SPELLED_ALIKE = frozenset({"VARCHAR", "BOOLEAN", "DATE", "TIME", *_NAIVE, *_FLOATING})
"""Types that DuckDB itself makes text beside text, and whose text depends on no setting."""

FileColumns: TypeAlias = Mapping[str, ParquetColumn]
"""The columns of a file, by the names that DuckDB gives them."""


@dataclass(frozen=True, slots=True)
class Unions:
    """What becomes of columns whose type differs among files, by name in lower case.

    ``as_text`` are those that have to be cast to text in each file, ``notes`` say why.
    """

    as_text: frozenset[str] = frozenset()
    notes: Mapping[str, str] | None = None

    def note(self, name: str) -> str | None:
        """Return what is said of a column, None where nothing is."""
        return (self.notes or {}).get(name.lower())


def unions_of(
    connection: duckdb.DuckDBPyConnection,
    files: Mapping[Path, FileColumns],
    place: Callable[[Path], str],
) -> Unions:
    """Return what becomes of the columns of a table's files; nothing is read where types agree.

    Whole numbers and decimals beside floating ones are looked at: they stay numbers if every value
    comes back. Raises ValueError where values can't be kept apart even as text.
    """
    notes: dict[str, str] = {}
    as_text = set()
    for name, columns in _differing(files):
        if units := _durations_note(name, columns.values()):
            notes[name] = units
        if any(column.is_nested for column in columns.values()):
            if note := _nested_note(name, columns.values()):
                notes[name] = note
            continue
        types = {column.type for column in columns.values()}
        if len(types) < 2:
            continue
        if _is_exact(types) or (
            _are_numbers(types) and _come_back(connection, name, columns, types, place)
        ):
            if _is_decimal_made_floating(types):
                notes[name] = (
                    f"Its files store it in different types ({_listed(types)}); its decimals are"
                    " read as floating numbers, which are equal to them in all their digits."
                )
            continue
        as_text.add(name)
        notes[name] = (
            f"Its files store it in different types ({_listed(types)}); it's read as text, so that"
            " no value changes."
        )
    return Unions(frozenset(as_text), notes)


def text_of(name: str, column: ParquetColumn) -> str:
    """Return the SQL of a column's values as text, whatever the session's time zone is."""
    if column.type == _ZONED:
        return f"CAST({quote(name)} AT TIME ZONE 'UTC' AS VARCHAR) || '+00'"
    return f"CAST({quote(name)} AS VARCHAR)"


def _differing(
    files: Mapping[Path, FileColumns],
) -> Iterator[tuple[str, Mapping[Path, ParquetColumn]]]:
    """Yield the columns that aren't alike in all files that give them a type, file by file."""
    if len({tuple(columns.items()) for columns in files.values()}) < 2:
        return
    by_name: dict[str, dict[Path, ParquetColumn]] = {}
    for path, columns in files.items():
        for name, column in columns.items():
            if not column.is_null:
                by_name.setdefault(name.lower(), {})[path] = column
    for name, found in by_name.items():
        if len({(column.leaves, column.duration) for column in found.values()}) > 1:
            yield name, found


def _durations_note(name: str, columns: Collection[ParquetColumn]) -> str:
    """Say which numbers have no unit, though others do. Raises ValueError if there are two units.

    A column of the Null type has none either, and isn't among the columns.
    """
    units = {column.duration for column in columns}
    named = sorted(unit for unit in units if unit)
    if len(named) > 1:
        raise ValueError(
            f"{name} holds durations in {' and '.join(named)}, each in other files. Write"
            " them in one unit."
        )
    if not named or None not in units:
        return ""
    return f"Only some of its files say that its numbers are {named[0]}; the others say no unit."


def _nested_note(name: str, columns: Collection[ParquetColumn]) -> str | None:
    """Say what becomes of lists or objects of different types. Raises ValueError if values change.

    DuckDB finds the type of each of their parts.
    """
    parts: dict[tuple[str, ...], set[str]] = {}
    for column in columns:
        for path, type_ in column.leaves:
            parts.setdefault(path, set()).update({type_} - {_NULL})
    groups = {path[:length] for path in parts for length in range(len(path))}
    if any(parts.get(group) for group in groups):
        raise ValueError(f"A part of {name} is nested in some files, and a single value in others.")
    mixed = list(parts.values())
    mixed = [types for types in mixed if len(types) > 1 and not _is_exact(types)]
    for types in mixed:
        if "VARCHAR" not in types or not all(map(_is_spelled_alike, types)):
            raise ValueError(
                f"{name} holds values of different types in its files ({_listed(types)}), and their"
                " type in common would change some. Write them in one type."
            )
    if not mixed:
        return None
    return f"Its files store parts of it in different types ({_listed(mixed[0])}), read as text."


def _listed(types: Collection[str]) -> str:
    return ", ".join(sorted(types))


def _is_spelled_alike(type_: str) -> bool:
    return type_ in _SPELLED_ALIKE or _digits(type_) is not None


def _is_exact(types: Collection[str]) -> bool:
    """Return whether the type that DuckDB finds for them holds every value of each."""
    floating = _FLOATING & set(types)
    if _NAIVE.issuperset(types) or len(floating) == len(set(types)):
        return True
    exact = [_digits(type_) for type_ in types if type_ not in floating]
    numbers = [digits for digits in exact if digits]
    if len(numbers) < len(exact):
        return False
    if floating:
        # 15 digits come back from a DOUBLE, and all 32 bits of a whole number.
        most = 15 if "DOUBLE" in floating else 6
        return all(whole + scale <= most for whole, scale in numbers)
    return max(whole for whole, _ in numbers) + max(scale for _, scale in numbers) <= MOST_DIGITS


def _digits(type_: str) -> tuple[int, int] | None:
    """Return how many digits an exact number has before and after the point."""
    if type_ in _WHOLE_DIGITS:
        return _WHOLE_DIGITS[type_], 0
    decimal = _DECIMAL.fullmatch(type_)
    return (int(decimal[1]) - int(decimal[2]), int(decimal[2])) if decimal else None


def _is_decimal_made_floating(types: Collection[str]) -> bool:
    return not _FLOATING.isdisjoint(types) and any(map(_DECIMAL.fullmatch, types))


def _are_numbers(types: Collection[str]) -> bool:
    return not _FLOATING.isdisjoint(types) and all(
        type_ in _FLOATING or _digits(type_) for type_ in types
    )


def _come_back(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    columns: Mapping[Path, ParquetColumn],
    types: Collection[str],
    place: Callable[[Path], str],
) -> bool:
    """Return whether each exact number is the same after it was a floating one."""
    joint = "DOUBLE" if "DOUBLE" in types else "FLOAT"
    value = quote(name)
    for type_ in sorted(set(types) - _FLOATING):
        places = [place(path) for path, column in columns.items() if column.type == type_]
        back = f"TRY_CAST(CAST({value} AS {joint}) AS {type_})"
        found = connection.execute(
            f"SELECT 1 FROM read_parquet([{_patterns(places)}], union_by_name=true,"
            f" hive_partitioning=false) WHERE {back} IS DISTINCT FROM {value} LIMIT 1"
        ).fetchone()
        if found:
            return False
    return True


def _patterns(places: Sequence[str]) -> str:
    return ", ".join(literal(as_pattern(place)) for place in places)
