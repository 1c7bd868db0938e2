"""The next semantic version that changes ask for (https://semver.org)."""

import re
from collections.abc import Iterable
from typing import Literal

from fluid_build.contract.differences.change import DocumentChange

Bump = Literal["none", "patch", "minor", "major"]
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


def bump_of(changes: Iterable[DocumentChange]) -> Bump:
    """Return major where something breaks, minor where something is added, else patch."""
    levels = {change.level for change in changes if change.field != "version"}
    if "breaking" in levels:
        return "major"
    if "additive" in levels:
        return "minor"
    return "patch" if levels else "none"


def next_version(version: str, bump: Bump) -> str | None:
    """Return the version after a bump, without pre-release and build; None for a non-version."""
    match = _VERSION.fullmatch(version)
    if match is None or max(map(len, match.groups()[:3])) > 18:
        return None
    major, minor, patch = (int(part) for part in match.groups()[:3])
    if bump == "major":
        return f"{major + 1}.0.0"
    if bump == "minor":
        return f"{major}.{minor + 1}.0"
    return f"{major}.{minor}.{patch + 1}" if bump == "patch" else version
