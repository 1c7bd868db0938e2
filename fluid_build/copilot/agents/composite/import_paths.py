"""Import paths of classes and functions, by which another process finds them again."""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any

from fluid_build.copilot.errors import StaleCheckpointError

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


def refuse_foreign_module(path: str) -> None:
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
