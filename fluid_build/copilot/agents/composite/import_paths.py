"""Import paths of classes and functions, by which another process finds them again."""

from __future__ import annotations

import importlib
from typing import Any

from fluid_build.copilot.errors import StaleCheckpointError


def import_path(value: object) -> str | None:
    """Return ``module:qualified.name`` of a class or function; None if it can't be imported.

    The module that a program starts with is another one in another program.
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
    """Return the class or function at an import path. Raises ``StaleCheckpointError``."""
    module, _, name = path.partition(":")
    try:
        member: Any = importlib.import_module(module)
        for part in name.split("."):
            member = getattr(member, part)
    except (ImportError, AttributeError):
        raise StaleCheckpointError(
            f"{path}, which a saved run needs, doesn't exist any more.",
            hint="Resume with the code that started the run.",
        ) from None
    return member
