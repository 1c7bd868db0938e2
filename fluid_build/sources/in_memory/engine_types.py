"""Types of DuckDB as trees: rewritten leaf by leaf, and judged by whether tables can have them."""

from collections.abc import Callable

from duckdb.sqltypes import DuckDBPyType

from fluid_build.sources.sql import quote

_NESTED = ("list", "array", "struct", "map")


def rewritten(type_: DuckDBPyType, leaf: Callable[[DuckDBPyType], str]) -> str:
    """Return a type as SQL, in which a function has chosen the type of each plain value."""
    if type_.id not in _NESTED:
        return leaf(type_)
    parts = [rewritten(part, leaf) for part in _parts(type_)]
    if type_.id == "struct":
        names = [quote(name) for name, _ in type_.children]
        return f"STRUCT({', '.join(map(' '.join, zip(names, parts, strict=True)))})"
    if type_.id == "map":
        return f"MAP({', '.join(parts)})"
    return f"{parts[0]}[{dict(type_.children).get('size', '')}]"


def _parts(type_: DuckDBPyType) -> list[DuckDBPyType]:
    """Return the types that a type consists of; the size of an array is none."""
    return [part for _, part in type_.children if isinstance(part, DuckDBPyType)]


def json_note(name: str, type_: DuckDBPyType) -> str:
    """Return the note on a column that can only be read as JSON; "" for all others.

    Tables can't be built of it otherwise, or queries would take one field for another. Raises
    ValueError for a struct whose fields can't be told apart at all.
    """
    part = _unbuildable_part(name, type_)
    return f"It holds {part}; read as JSON." if part else ""


def _unbuildable_part(name: str, type_: DuckDBPyType) -> str:
    if type_.id in ("union", "variant"):
        return f"a {type_.id.upper()}"
    if type_.id not in _NESTED:
        return ""
    if type_.id == "struct":
        fields = [field for field, _ in type_.children]
        if len(set(fields)) < len(fields) or "" in fields:
            raise ValueError(f"Its column {name} has fields of the same name, or without one.")
        if len({field.casefold() for field in fields}) < len(fields):
            return "fields whose names differ in case only"
    return next(filter(None, (_unbuildable_part(name, part) for part in _parts(type_))), "")
