"""Optional packages: what to install where one is missing.

An extra is named by the requirements behind it, never as ``fluid-forge[...]``: on the package index
that name belongs to another project.
"""

import importlib.metadata
import re
import shlex
from collections.abc import Generator
from contextlib import contextmanager

from fluid_build.errors import MissingExtraError

_DISTRIBUTION = "fluid-forge"


def install_command(extra: str) -> str:
    """Return the command that installs the packages of an extra.

    Without the metadata of an installation it is the one for a clone of the repository.
    """
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


def packages_of(extra: str) -> list[str]:
    """Return what is installed for an extra: its requirements, or the extra of a clone."""
    try:
        lines = importlib.metadata.requires(_DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        lines = []
    marker = re.compile(rf"""extra\s*==\s*['"]{re.escape(extra)}['"]""")
    split = (line.partition(";") for line in lines)
    requirements = [name.strip() for name, _, condition in split if marker.search(condition)]
    return requirements or [f".[{extra}]"]
