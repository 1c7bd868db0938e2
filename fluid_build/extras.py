"""Optional packages: what to install where one is missing.

The distribution is called as the import package is. ``fluid-forge`` on the package index is another
project, whose packages overwrite ours: ``foreign_distributions`` finds it.
"""

import importlib.metadata
import re
import shlex
import sys
from collections.abc import Generator
from contextlib import contextmanager

from fluid_build.errors import MissingExtraError

DISTRIBUTION = "fluid-build"
_IMPORTED = "fluid_build"

NEWEST_PYTHON: dict[str, tuple[int, int]] = {"dbt": (3, 13)}
"""Up to which Python an extra runs, where that isn't the newest of ours. dbt-core 1.11 asks for
a mashumaro that fails on Python 3.14 while it's imported."""


def install_command(extra: str) -> str:
    """Return the command that installs the packages of an extra."""
    return shlex.join(["pip", "install", *packages_of(extra)])


def missing_extra(extra: str, purpose: str) -> MissingExtraError:
    """Return the error for a ``purpose`` ("Calling a model") that an extra is missing for."""
    return MissingExtraError(
        f"{purpose} needs the extra {extra}, which isn't installed.",
        extra=extra,
        hint=f"Install it: {install_command(extra)}",
    )


@contextmanager
def needs_extra(extra: str, purpose: str) -> Generator[None]:
    """Import the packages of an extra in this block. Raises ``MissingExtraError``."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("fluid_build"):
            raise
        raise missing_extra(extra, purpose) from error


def runs_here(extra: str) -> bool:
    """Return whether the packages of an extra run on this Python."""
    newest = NEWEST_PYTHON.get(extra)
    return newest is None or sys.version_info[:2] <= newest


def python_for(extra: str) -> str:
    """Return in words which Python an extra runs on that doesn't run on this one."""
    return "Python {}.{} or earlier".format(*NEWEST_PYTHON[extra])


def packages_of(extra: str) -> list[str]:
    """Return what is installed for an extra: that of the installed distribution, or of a clone.

    An installed distribution satisfies its own name, so the index isn't asked for it.
    """
    try:
        importlib.metadata.distribution(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return [f".[{extra}]"]
    return [f"{DISTRIBUTION}[{extra}]"]


def foreign_distributions() -> list[str]:
    """Return the other installed distributions that have files in the import package, by name."""
    providers = importlib.metadata.packages_distributions().get(_IMPORTED, [])
    return sorted({name for name in providers if _normal(name) != DISTRIBUTION})


def _normal(distribution: str) -> str:
    """Return a distribution's name as the index compares names."""
    return re.sub(r"[-_.]+", "-", distribution).lower()
