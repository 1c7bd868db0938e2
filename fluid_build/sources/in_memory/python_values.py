"""Columns of Python objects, as text that the engine makes the values of again.

Of nested values one type is decided by all of them together. Those that have none in common, or
parts that couldn't be told apart, stay JSON.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from fluid_build.sources.in_memory.scalar_types import (
    NESTED,
    ScalarType,
    checked_text,
    families_of,
    is_missing,
    scalar_type,
)
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_values.personal_text import holds_personal

_DEEPEST = 100
"""Lists in lists and dicts in dicts: a value that contains itself ends here."""


@dataclass(frozen=True, slots=True)
class _Items:
    """Lists of values of one type."""

    item: "_Type"

    @property
    def sql(self) -> str:
        return f"{self.item.sql}[]"

    def carried(self) -> object:
        return [self.item.carried()]

    def write(self, value: Any) -> object:
        """Return a list as JSON, with text for its plain values."""
        write = self.item.write
        return [None if is_missing(each) else write(each) for each in _items(value, {}, _DEEPEST)]


@dataclass(frozen=True, slots=True)
class _Fields:
    """Dicts whose values have one type for each key."""

    fields: dict[str, "_Type"]

    @property
    def sql(self) -> str:
        fields = ", ".join(f"{quote(key)} {type_.sql}" for key, type_ in self.fields.items())
        return f"STRUCT({fields})"

    def carried(self) -> object:
        return {key: type_.carried() for key, type_ in self.fields.items()}

    def write(self, value: Any) -> object:
        """Return a dict as JSON, with text for its plain values."""
        return {
            key: None if is_missing(each) else self.fields[key].write(each)
            for key, each in _entries(value, {}, _DEEPEST)
        }


_Type: TypeAlias = ScalarType | _Items | _Fields


@dataclass(frozen=True, slots=True)
class TextColumn:
    """The values of a column as text, the SQL type that they have, and notes on them.

    ``carried`` is the structure of nested values with text for each plain one, as JSON.
    """

    texts: list[str | None]
    type: str
    notes: tuple[str, ...]
    carried: str = ""

    def expression(self, name: str) -> str:
        """Return the values as SQL over a column of this name, which holds the texts."""
        text = quote(name)
        if self.carried:
            text = f"from_json({text}, {literal(self.carried)})"
        return text if self.type == "VARCHAR" else f"CAST({text} AS {self.type})"


def text_column(name: str, values: Sequence[object]) -> TextColumn:
    """Return the Python objects of a column as text; a missing value is None.

    Raises ValueError for what has no text of its own: half of a character, a dict with the keys 1
    and "1", and values that are nested too deeply.
    """
    with _named(name):
        return _text_column(values, [value for value in values if value is not None])


def check_texts(name: str, texts: Iterable[str]) -> None:
    """Raise ValueError if a text of a column isn't Unicode."""
    with _named(name):
        for text in texts:
            checked_text(text)


@contextmanager
def _named(name: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"Its column {name} has {error}") from None


def _text_column(values: Sequence[object], present: list[object]) -> TextColumn:
    families = families_of(present)
    if not families or not families <= NESTED:
        scalar = scalar_type(present, families)
        texts = [None if value is None else scalar.write(value) for value in values]
        return TextColumn(texts, scalar.sql, (scalar.note,) if scalar.note else ())
    notes: dict[str, None] = {}
    type_ = _type(present, notes, _DEEPEST)
    # The keys of an object become part of the type, which is no secret.
    if type_ is None or holds_personal(carried := json.dumps(type_.carried(), ensure_ascii=False)):
        notes.clear()
        texts = _dumped(values, lambda value: _json(value, notes, _DEEPEST))
        return TextColumn(texts, "JSON", tuple(notes))
    return TextColumn(_dumped(values, type_.write), type_.sql, tuple(notes), carried)


def _dumped(values: Sequence[object], write: Callable[[Any], object]) -> list[str | None]:
    return [
        None if value is None else json.dumps(write(value), ensure_ascii=False, allow_nan=False)
        for value in values
    ]


def _type(present: list[Any], notes: dict[str, None], depth: int) -> _Type | None:
    """Return the type that values have in common; None where there's none that keeps them all."""
    families = families_of(present)
    if families == {"list"}:
        items = [item for value in present for item in _items(value, notes, depth)]
        item = _type([each for each in items if not is_missing(each)], notes, depth - 1)
        return None if item is None else _Items(item)
    if families == {"dict"}:
        return _fields(present, notes, depth)
    if len(families) > 1 and not families <= {"whole number", "number"}:
        return None
    scalar = scalar_type(present, families)
    if len(families) > 1 and scalar.note:
        return None
    if scalar.note:
        notes[scalar.note] = None
    return scalar


def _fields(present: list[Any], notes: dict[str, None], depth: int) -> _Fields | None:
    values: dict[str, list[Any]] = {}
    for value in present:
        for key, each in _entries(value, notes, depth):
            values.setdefault(key, []).append(each)
    # DuckDB takes keys for one that differ in case only.
    are_fields = values and len({key.casefold() for key in values}) == len(values)
    if not are_fields or any("\0" in key or not key for key in values):
        return None
    types: dict[str, _Type] = {}
    for key, those in values.items():
        type_ = _type([each for each in those if not is_missing(each)], notes, depth - 1)
        if type_ is None:
            return None
        types[key] = type_
    return _Fields(types)


def _items(value: Any, notes: dict[str, None], depth: int) -> list[Any]:
    """Return the items of a list, tuple or array, and those of a set in an order of their own."""
    _check_depth(depth)
    if isinstance(value, set | frozenset):
        notes["Its sets are read as lists."] = None
        return sorted(value, key=repr)
    return list(value)


def _entries(value: Any, notes: dict[str, None], depth: int) -> list[tuple[str, Any]]:
    """Return the keys of a dict, as text, with their values."""
    _check_depth(depth)
    entries = [(checked_text(_key(key)), each) for key, each in value.items()]
    if not all(isinstance(key, str) for key in value):
        notes["The keys of its dicts are read as text."] = None
        if len({key for key, _ in entries}) < len(entries):
            raise ValueError("a dict with two keys that are the same as text.")
    return entries


def _key(key: object) -> str:
    return str.__str__(key) if isinstance(key, str) else str(key)


def _check_depth(depth: int) -> None:
    if depth == 0:
        raise ValueError(f"values that are nested more than {_DEEPEST} levels deep.")


def _json(value: Any, notes: dict[str, None], depth: int) -> object:
    """Return a value as JSON has it; what JSON hasn't is text in it, with a note."""
    if is_missing(value):
        return None
    families = families_of([value])
    if families == {"list"}:
        return [_json(item, notes, depth - 1) for item in _items(value, notes, depth)]
    if families == {"dict"}:
        return {key: _json(each, notes, depth - 1) for key, each in _entries(value, notes, depth)}
    if families == {"boolean"}:
        return bool(value)
    if families == {"whole number"}:
        return int(value)
    scalar = scalar_type([value], families)
    if scalar.sql == "DOUBLE" and math.isfinite(value):
        return float(value)
    if families != {"text"}:
        notes[f"Its {type(value).__name__} values are text in its JSON."] = None
    return scalar.write(value)
