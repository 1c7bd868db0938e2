"""Options that are stated once: the fields of a frozen dataclass, with what a user types for each.

A field that a user may choose has a ``Flag`` in its annotation. The options of a command line, the
keywords of the Python API, the entries of ``forge.json`` and the command line that does the same
again are derived from it. A field with ``Parts`` is made of the fields of another such dataclass.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


@dataclass(frozen=True, slots=True)
class Flag:
    """How a command line asks for an option: its name, its help, and what stands for its value.

    ``noun`` and ``hint`` refuse a value that is none of a few. ``read`` makes the value of what was
    typed, where that isn't the value itself.
    """

    name: str
    help: str
    value: str | None = None
    noun: str = ""
    hint: str = ""
    read: Callable[[Sequence[str]], object] | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """How the value of a field is made of options of its own, the fields of ``kind``."""

    kind: type[DataclassInstance]
    make: Callable[[Any], object]
    take: Callable[[Any], DataclassInstance]


@dataclass(frozen=True, slots=True)
class StatedOption:
    """An option; ``keyword`` is its name in Python, and ``field`` the field that it belongs to."""

    keyword: str
    type: Any
    default: object
    flag: Flag
    field: str

    @property
    def choices(self) -> tuple[object, ...]:
        """The values that it may have, None among them if it may; none where any text will do."""
        is_union = get_origin(self.type) in (UnionType, Union)
        kinds = get_args(self.type) if is_union else (self.type,)
        named = [value for kind in kinds if get_origin(kind) is Literal for value in get_args(kind)]
        return (*named, None) if named and type(None) in kinds else tuple(named)


@functools.cache
def stated_options(kind: type[DataclassInstance]) -> tuple[StatedOption, ...]:
    """Return the options that a dataclass states, in the order of its fields."""
    found: list[StatedOption] = []
    for name, (type_, default, mark) in _stated_fields(kind).items():
        if isinstance(mark, Parts):
            found += (replace(option, field=name) for option in stated_options(mark.kind))
        else:
            found.append(StatedOption(name, type_, default, mark, name))
    return tuple(found)


def stated_values(options: DataclassInstance) -> dict[str, object]:
    """Return the values of the options, by keyword."""
    values: dict[str, object] = {}
    for name, (_, _, mark) in _stated_fields(type(options)).items():
        value = getattr(options, name)
        values |= stated_values(mark.take(value)) if isinstance(mark, Parts) else {name: value}
    return values


def with_values(kind: type[T], values: Mapping[str, object]) -> T:
    """Return what keywords ask for; whatever they leave out is as by default."""
    made: dict[str, object] = {}
    for name, (_, _, mark) in _stated_fields(kind).items():
        if isinstance(mark, Parts):
            made[name] = mark.make(with_values(mark.kind, values))
        elif name in values:
            made[name] = values[name]
    return kind(**made)


def words(options: DataclassInstance) -> Iterator[str]:
    """Yield the options of a command line that asks for the same.

    Those without a default of their own, whose values only a user knows, are its end.
    """
    values = stated_values(options)
    for option in sorted(stated_options(type(options)), key=lambda each: each.default is None):
        value, name = values[option.keyword], option.flag.name
        if value == option.default:
            continue
        if value is True:
            yield name
        elif isinstance(value, Mapping):
            for key, each in value.items():
                yield from (name, f"{key}={each}")
        elif isinstance(value, tuple):
            for each in value:
                yield from (name, each)
        else:
            yield from (name, str(value))


def field_values(options: DataclassInstance, kind: type[DataclassInstance]) -> dict[str, object]:
    """Return the fields that a dataclass has of its own class or of ``kind`` above it, by name."""
    return {each.name: getattr(options, each.name) for each in fields(kind)}


@functools.cache
def _stated_fields(kind: type[DataclassInstance]) -> dict[str, tuple[Any, object, Flag | Parts]]:
    """Return the fields with a flag or parts: the type, the default and that mark of each."""
    hints = get_type_hints(kind, include_extras=True)
    found: dict[str, tuple[Any, object, Flag | Parts]] = {}
    for each in fields(kind):
        for mark in getattr(hints[each.name], "__metadata__", ()):
            if isinstance(mark, Flag | Parts):
                made = each.default_factory
                default = each.default if made is MISSING else made()
                found[each.name] = (get_args(hints[each.name])[0], default, mark)
    return found
