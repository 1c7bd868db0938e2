"""The types of text in JSON files, which has none for dates, times and ids.

DuckDB takes text for a date wherever it can read one: it cuts digits, drops offsets, and decides
whether the day or the month comes first. So all text is read as text here, and becomes what DuckDB
took it for only where every value comes back, by the rules for delimited text (``conventions``).
"""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import duckdb
from duckdb.sqltypes import DuckDBPyType

from fluid_build.sources.base import ENTRY
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_values.decimals import Settled
from fluid_build.sources.text_values.moment_texts import DATES_AND_MOMENTS, MomentClass, settle_text

_Path: TypeAlias = tuple[str, ...]
"""The column and the fields that lead to a value, with ``ENTRY`` for lists and maps."""

_CLASSES: Mapping[str, tuple[MomentClass, ...]] = {
    "date": ("date",),
    "timestamp": DATES_AND_MOMENTS,
    "time": ("time",),
    "uuid": (),
}
"""What DuckDB takes text for, by the ids of its types, and the classes that the text may be of."""


def as_text(type_: DuckDBPyType) -> str:
    """Return a type that DuckDB found, as SQL, with the text that it has as VARCHAR."""
    return _typed(type_, (), {})


def has_nameless(type_: DuckDBPyType) -> bool:
    """Return whether there is a field without a name in a type: it can't be spelled in SQL."""
    steps = list(_steps(type_))
    return any(not step or has_nameless(child) for step, child in steps)


def settle_texts(
    connection: duckdb.DuckDBPyConnection, relation: str, found: Mapping[str, DuckDBPyType]
) -> dict[str, tuple[str, ...]]:
    """Give the texts of a table, which was read with them as text, the types that they have.

    ``found`` are the types of its columns as DuckDB found them. Returns notes by column.
    """
    notes = {}
    for name, type_ in found.items():
        verdicts = {
            path: _settled(connection, _values(relation, path, type_), leaf)
            for path, leaf in _texts(type_, (name,))
        }
        settled = _typed(type_, (name,), verdicts)
        if any(verdict.type != "VARCHAR" for verdict in verdicts.values()):
            connection.execute(f"ALTER TABLE {relation} ALTER {quote(name)} TYPE {settled}")
        notes[name] = tuple(
            _of_field(path, verdict.note) for path, verdict in verdicts.items() if verdict.note
        )
    return notes


def _of_field(path: _Path, note: str) -> str:
    fields = ".".join(part for part in path[1:] if part != ENTRY)
    return f"{fields}: {note}" if fields else note


def _texts(type_: DuckDBPyType, path: _Path) -> Iterator[tuple[_Path, DuckDBPyType]]:
    """Yield the texts in a value that DuckDB takes for something else, with what it's taken for."""
    if type_.id in _CLASSES:
        yield path, type_
    for step, child in _steps(type_):
        yield from _texts(child, (*path, step))


def _steps(type_: DuckDBPyType) -> Iterator[tuple[str, DuckDBPyType]]:
    """Yield the values inside of a type, each with the step that leads to it."""
    if type_.id in ("struct", "list", "map"):
        for name, child in type_.children:
            # The keys of a map are text, whatever they look like.
            if isinstance(child, DuckDBPyType) and (type_.id, name) != ("map", "key"):
                yield (name if type_.id == "struct" else ENTRY), child


def _typed(type_: DuckDBPyType, path: _Path, verdicts: Mapping[_Path, Settled]) -> str:
    """Return a type as SQL, its texts with the types of their verdicts."""
    if type_.id in _CLASSES:
        return verdicts.get(path, _TEXT).type
    if not any(_texts(type_, path)):
        return str(type_)
    inner = [(step, _typed(child, (*path, step), verdicts)) for step, child in _steps(type_)]
    match type_.id:
        case "struct":
            return f"STRUCT({', '.join(f'{quote(name)} {child}' for name, child in inner)})"
        case "map":
            return f"MAP(VARCHAR, {inner[0][1]})"
        case _:
            return f"{inner[0][1]}[]"


def _values(relation: str, path: _Path, type_: DuckDBPyType) -> str:
    """Return a query for all values of a text, as ``v``."""
    query = f"SELECT {quote(path[0])} AS v FROM {relation}"
    for step in path[1:]:
        if type_.id == "struct":
            value = f"struct_extract(v, {literal(step)})"
        else:
            value = "unnest(map_values(v))" if type_.id == "map" else "unnest(v)"
        query = f"SELECT {value} AS v FROM ({query})"
        type_ = dict(_steps(type_))[step]
    return query


def _settled(connection: duckdb.DuckDBPyConnection, values: str, taken: DuckDBPyType) -> Settled:
    if taken.id != "uuid":
        return settle_text(connection, values, _CLASSES[taken.id])
    row = connection.execute(
        "SELECT bool_and(CAST(TRY_CAST(v AS UUID) AS VARCHAR) IS NOT DISTINCT FROM v)"
        f" FROM ({values}) WHERE v IS NOT NULL"
    ).fetchone()
    return Settled("UUID") if row and row[0] else _TEXT


_TEXT = Settled("VARCHAR")
