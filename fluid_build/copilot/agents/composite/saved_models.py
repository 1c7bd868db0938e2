"""Pydantic models among an agent's notes, as JSON that says which class to load.

A model is saved as the import path of its class and its fields. Nothing but a subclass of
``BaseModel`` is loaded, from packages that the program has imported, and its fields are validated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from fluid_build.copilot.agents.composite.import_paths import (
    import_member,
    import_path,
    refuse_foreign_module,
)
from fluid_build.copilot.errors import StaleCheckpointError, StoreError

_CLASS = "$model"
"""The key for the import path of a model's class; null marks a mapping with that key itself."""
_FIELDS = "fields"

_PLAIN = frozenset({str, int, float, bool, type(None)})


def dump_models(value: Any) -> Any:
    """Return ``value`` with every model in it as JSON. Raises ``StoreError``."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, BaseModel):
        return _dump_model(value)
    if isinstance(value, Mapping):
        dumped = {key: dump_models(inner) for key, inner in value.items()}
        return {_CLASS: None, _FIELDS: dumped} if _CLASS in dumped else dumped
    if isinstance(value, list | tuple):
        return [dump_models(inner) for inner in value]
    return value


def load_models(dumped: Any) -> Any:
    """Return what ``dump_models`` returned, with its models. Raises ``StaleCheckpointError``."""
    if isinstance(dumped, Mapping):
        if _CLASS not in dumped:
            return {key: load_models(inner) for key, inner in dumped.items()}
        path, fields = dumped[_CLASS], dumped.get(_FIELDS)
        if path is None:
            return {key: load_models(inner) for key, inner in (fields or {}).items()}
        return _load_model(_model_class(str(path)), fields)
    if isinstance(dumped, list):
        return [load_models(inner) for inner in dumped]
    return dumped


def _dump_model(model: BaseModel) -> dict[str, Any]:
    path = import_path(type(model))
    if path is None:
        raise _unsavable(
            model,
            "its class can't be imported",
            "Define the class at the top level of a module, or write dump_internal.",
        )
    try:
        fields = model.model_dump(mode="json", by_alias=False, round_trip=True)
        is_same = _load_model(type(model), fields) == model
    except (PydanticSerializationError, StaleCheckpointError):
        is_same = False
    if not is_same:
        raise _unsavable(
            model, "its values change when they are written as JSON", "Write dump_internal."
        )
    return {_CLASS: path, _FIELDS: fields}


def _model_class(path: str) -> type[BaseModel]:
    refuse_foreign_module(path)
    member = import_member(path)
    if isinstance(member, type) and issubclass(member, BaseModel):
        return member
    raise StaleCheckpointError(
        f"{path}, which a saved run needs, isn't a Pydantic model.",
        hint="Resume with the code that started the run.",
    )


def _load_model(cls: type[BaseModel], fields: object) -> BaseModel:
    try:
        model = cls.model_validate_json(to_json(fields), by_alias=False, by_name=True)
    except ValidationError:
        model = None
    if model is None or not _covers(
        model.model_dump(mode="json", by_alias=False, round_trip=True), fields
    ):
        raise StaleCheckpointError(
            f"The fields of {cls.__qualname__} don't fit what the run saved: they have changed.",
            hint="Resume with the code that started the run, or write load_internal.",
        )
    return model


def _covers(current: object, saved: object) -> bool:
    """Return whether every saved field is still there; there may be new ones with defaults."""
    if isinstance(saved, Mapping):
        return isinstance(current, Mapping) and all(
            key in current and _covers(current[key], inner) for key, inner in saved.items()
        )
    if isinstance(saved, Sequence) and not isinstance(saved, str):
        return (
            isinstance(current, Sequence)
            and len(current) == len(saved)
            and all(map(_covers, current, saved))
        )
    return True


def _unsavable(model: BaseModel, reason: str, hint: str) -> StoreError:
    return StoreError(f"A {type(model).__qualname__} can't be saved: {reason}.", hint=hint)
