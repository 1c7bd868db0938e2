"""Back-filling the dialects of OSI expressions, in our own models and in mutable ones."""

import copy
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from types import SimpleNamespace
from typing import TypeVar, cast

from pydantic import BaseModel

from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.osi import Dialect, OsiDocument
from fluid_build.modeling.osi_dialects import (
    check_dialects,
    missing_expressions,
    with_dialects,
)
from fluid_build.pipeline.conformance.documents import osi_part

Logical = TypeVar("Logical")


def map_dialects(logical: Logical, dialects: Iterable[str]) -> Logical:
    """Return a model whose OSI expressions have the dialects that they lacked.

    A frozen model is copied, a mutable object or mapping is filled in place. Raises ValueError for
    a dialect that isn't SQL in OSI 0.1.1.
    """
    requested = check_dialects(dialects)
    osi = osi_part(logical)
    if not isinstance(osi, OsiDocument):
        for expressions in _expression_lists(osi):
            _fill(expressions, requested)
        return logical
    mapped = with_dialects(osi, requested).document
    if isinstance(logical, LogicalModel):
        return logical.model_copy(update={"osi": mapped})
    if isinstance(logical, MutableMapping):
        logical["osi"] = mapped
    else:
        logical.osi = mapped  # type: ignore[attr-defined]  # any object that has the layer
    return logical


def _expression_lists(value: object) -> Iterator[list[object]]:
    """Yield every list of expressions by dialect, wherever it is."""
    if isinstance(value, SimpleNamespace | BaseModel):
        value = vars(value)
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "dialects" and isinstance(item, list) and any(map(_entry, item)):
                yield item
            else:
                yield from _expression_lists(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _expression_lists(item)


def _fill(expressions: list[object], requested: tuple[Dialect, ...]) -> None:
    existing = dict(entry for item in expressions if (entry := _entry(item)))
    added, _ = missing_expressions(cast("Mapping[Dialect, str]", existing), requested)
    expressions.extend(_like(expressions[0], dialect, text) for dialect, text in added.items())


def _entry(item: object) -> tuple[str, str] | None:
    """Return the dialect and the expression of an item, None where it has neither."""
    fields = vars(item) if isinstance(item, SimpleNamespace | BaseModel) else item
    if not isinstance(fields, Mapping):
        return None
    dialect, expression = fields.get("dialect"), fields.get("expression")
    if isinstance(dialect, str) and isinstance(expression, str):
        return dialect, expression
    return None


def _like(item: object, dialect: Dialect, expression: str) -> object:
    """Return an expression in the form of the others in its list."""
    fields = {"dialect": dialect, "expression": expression}
    if isinstance(item, BaseModel):
        return item.model_copy(update=fields)
    if isinstance(item, SimpleNamespace):
        return SimpleNamespace(**vars(copy.copy(item)) | fields)
    return fields
