"""A contract as JSON data and as YAML."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from pydantic import BaseModel

from fluid_build.block_yaml import block_yaml
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.fluid.common import TaggedModel

LINE_WIDTH = 120
"""Characters of a line: what fits into one is one line of a review."""


def contract_yaml(contract: FluidContract) -> str:
    """Return the contract as YAML: keys in the order of the types, short parts on one line."""
    return block_yaml(as_document(contract), LINE_WIDTH)


def as_document(contract: BaseModel) -> dict[str, Any]:
    """Return the contract, or a part of it, as JSON data under the document's own keys.

    A field that is None is left out; tags and labels come after a part's own keys.
    """
    document = {key: _as_json(value) for key, value in _items(contract)}
    extra = contract.model_extra
    if not extra:
        return document
    return document | {key: _as_json(value) for key, value in extra.items()}


def _items(part: BaseModel) -> Iterator[tuple[str, object]]:
    for name, key, is_anything in _keys(type(part)):
        value = getattr(part, name)
        # Where anything is allowed, null is a value of its own.
        if value is not None or (is_anything and name in part.model_fields_set):
            yield key, value


@cache
def _keys(part: type[BaseModel]) -> tuple[tuple[str, str, bool], ...]:
    """Return the fields in the document's order: name, key, whether anything is allowed."""
    fields = part.model_fields
    common = TaggedModel.model_fields if issubclass(part, TaggedModel) else {}
    ordered = [*(name for name in fields if name not in common), *common]
    return tuple(
        (name, fields[name].alias or name, fields[name].annotation is Any) for name in ordered
    )


def _as_json(value: object) -> object:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, BaseModel):
        return as_document(value)
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    return value
