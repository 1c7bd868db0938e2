"""Pydantic models among an agent's notes, as JSON that says which class to load.

A class or a function is found again by its import path. A model is saved as that of its class and
its fields. Nothing but a subclass of ``BaseModel`` is loaded, from packages that the program has
imported, and its fields are validated.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json

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
    _refuse_foreign_module(path)
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


_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_IMPORT_PATH = re.compile(f"({_NAME}):({_NAME})")


def import_path(value: object) -> str | None:
    """Return ``module:qualified.name`` of a class or function; None if it can't be imported.

    ``__main__`` is a different module in every program.
    """
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if module is None or name is None or module == "__main__":
        return None
    path = f"{module}:{name}"
    try:
        return path if import_member(path) is value else None
    except StaleCheckpointError:
        return None


def import_member(path: str) -> Any:
    """Return the class or function at an import path. Raises ``StaleCheckpointError``.

    Importing a module runs it, so whoever can write to the store of a run can run what can be
    imported in the process that resumes it.
    """
    names = _IMPORT_PATH.fullmatch(path)
    if names is None:
        raise _missing(path)
    try:
        member: Any = importlib.import_module(names[1])
        for part in names[2].split("."):
            member = getattr(member, part)
    except (ImportError, AttributeError):
        raise _missing(path) from None
    except Exception as error:  # a module's own code may raise anything
        raise StaleCheckpointError(
            f"{path}, which a saved run needs, can't be imported: {type(error).__name__}.",
            hint="Import its module yourself to see the error.",
        ) from error
    return member


def _refuse_foreign_module(path: str) -> None:
    """Raise ``StaleCheckpointError`` for a module of a package that this program hasn't loaded."""
    package = path.partition(":")[0].partition(".")[0]
    if package not in sys.modules:
        raise StaleCheckpointError(
            f"{path}, which a saved run needs, is of a package that this program hasn't imported.",
            hint="Import it before you resume the run, if you trust the store.",
        )


def _missing(path: str) -> StaleCheckpointError:
    return StaleCheckpointError(
        f"{path}, which a saved run needs, doesn't exist any more.",
        hint="Resume with the code that started the run.",
    )
