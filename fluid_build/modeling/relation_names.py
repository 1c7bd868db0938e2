"""The names of relations in the parts of a layer, and other names in their place."""

import re
from collections.abc import Mapping
from typing import Annotated, TypeAlias, TypeVar

from fluid_build.modeling.element import ModelPart

_MARK = "relation"
RelationName: TypeAlias = Annotated[str, _MARK]
"""The name of a relation: an element's own, or that of another one that it refers to."""

_PROSE = frozenset({"description", "reason", "variant_reason", "grain"})
"""Fields whose sentences may mention relations."""

P = TypeVar("P", bound=ModelPart)


def with_relation_names(part: P, names: Mapping[str, str]) -> P:
    """Return a part of a layer with the new names of relations, wherever it refers to them."""
    if not names:
        return part
    mentions = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
    return _renamed(part, names, mentions)


def _renamed(part: P, names: Mapping[str, str], mentions: re.Pattern[str]) -> P:
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
