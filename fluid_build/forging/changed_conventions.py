"""Whether a folder was forged with other conventions: what is loaded then isn't continued."""

from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import from_json

from fluid_build.decisions.conventions import (
    DEFAULT_CONVENTIONS,
    ColumnNames,
    Conventions,
    Hashing,
    Prefixes,
)
from fluid_build.modeling.logical import LogicalModel
from fluid_build.text import listed

MODEL_FILE = "model.json"
P = TypeVar("P", Prefixes, ColumnNames, Hashing)


def changed_conventions(out: Path, model: LogicalModel) -> str:
    """Return what the conventions of a model mean for what was loaded by the one in a folder.

    "" where they are the same, where there's no model of the same technique, and where it isn't
    as a forge wrote it.
    """
    earlier = _conventions(out / MODEL_FILE, model.technique)
    now = model.conventions or DEFAULT_CONVENTIONS
    if earlier is None or earlier == now:
        return ""
    hashing = _differences(earlier.hashing, now.hashing) if model.dv2 is not None else ()
    if hashing:
        return (
            f"The conventions differ from the earlier forge of this folder in {listed(hashing)}. If"
            " its vault is loaded, every key and row has another hash, and the next load begins a"
            " new history beside the old one. Set the earlier conventions to continue it, or load"
            " into an empty schema."
        )
    names = (
        *_differences(earlier.prefixes, now.prefixes),
        *_differences(earlier.columns, now.columns),
    )
    if not names:
        return ""
    return (
        f"The conventions differ from the earlier forge of this folder in {listed(names)}. If it's"
        " loaded, rename its relations and columns alike, or the next load begins a new history."
    )


def _conventions(file: Path, technique: str) -> Conventions | None:
    """Return the conventions of a model in a file; None where it's none of that technique."""
    try:
        document = from_json(file.read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(document, dict) or document.get("technique") != technique:
        return None
    try:
        return Conventions.model_validate(document.get("conventions") or {})
    except ValidationError:
        return None


def _differences(earlier: P, now: P) -> tuple[str, ...]:
    names = type(now).model_fields
    return tuple(name for name in names if getattr(earlier, name) != getattr(now, name))
