"""What every element of a logical model has: its sources, and the reason why it is there."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict


class ModelPart(BaseModel):
    """A part of a logical model: immutable and without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceColumn(ModelPart):
    """A column of a source table, both by their names at the source."""

    table: str
    column: str


class Element(ModelPart):
    """A part of a model that was made of something in the source.

    ``mapped_source_tables`` are the tables that it represents, ``source_columns`` the columns that
    it's made of. ``reason`` says in one sentence why it's there and why it looks as it does.
    """

    mapped_source_tables: tuple[str, ...] = ()
    source_columns: tuple[SourceColumn, ...] = ()
    reason: str = ""


class Alternative(ModelPart):
    """What else an element could have been, and why it isn't.

    ``choice`` is a noun phrase and ``reason`` a clause: "a dimension", "each row has a date".
    """

    choice: str
    reason: str


class DecidedElement(Element):
    """An element that a judgement made what it is; ``alternatives`` are the choices that lost.

    Nothing stands there where an expert would see no other choice.
    """

    alternatives: tuple[Alternative, ...] = ()


def source_columns(table: str, columns: tuple[str, ...]) -> tuple[SourceColumn, ...]:
    """Return columns of one table, as the sources of an element."""
    return tuple(_source_column(table, column) for column in columns)


@lru_cache(maxsize=65_536)
def _source_column(table: str, column: str) -> SourceColumn:
    """Return a column of a source table; a dozen elements of a vault share the same one."""
    return SourceColumn(table=table, column=column)


_MARK = "relation"
RelationName: TypeAlias = Annotated[str, _MARK]
"""The name of a relation: an element's own, or that of another one that it refers to."""
NoOrRelationName: TypeAlias = Annotated[str | None, _MARK]
"""The name of a relation, or None."""

_PROSE = frozenset({"description", "reason", "variant_reason", "grain"})
"""Fields whose sentences may mention relations."""

_P = TypeVar("_P", bound=ModelPart)


def with_relation_names(part: _P, names: Mapping[str, str]) -> _P:
    """Return a part of a layer with the new names of relations, wherever it refers to them."""
    if not names:
        return part
    mentions = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
    return _renamed(part, names, mentions)


def _renamed(part: _P, names: Mapping[str, str], mentions: re.Pattern[str]) -> _P:
    changes: dict[str, object] = {}
    for name, field in type(part).model_fields.items():
        value = getattr(part, name)
        if isinstance(value, str):
            if _MARK in field.metadata:
                changes[name] = names.get(value, value)
            elif name in _PROSE:
                changes[name] = mentions.sub(lambda match: names[match[0]], value)
        else:
            changes[name] = _renamed_value(value, names, mentions)
    return part.model_copy(update=changes)


def _renamed_value(value: object, names: Mapping[str, str], mentions: re.Pattern[str]) -> object:
    if isinstance(value, ModelPart):
        return _renamed(value, names, mentions)
    if isinstance(value, tuple) and any(isinstance(item, ModelPart) for item in value):
        return tuple(_renamed_value(item, names, mentions) for item in value)
    return value
