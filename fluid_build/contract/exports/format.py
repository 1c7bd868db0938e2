"""What a format of contracts is: one record, with its writer, its validator and its reader."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from fluid_build.contract.exports.tracking import Json, TrackedMapping, is_finite
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.printable import path_shown
from fluid_build.contract.structure import Path


@dataclass(frozen=True, slots=True)
class Unsaid:
    """What a format doesn't say: a path with ``[]`` for any index, and how many values it is."""

    path: str
    count: int


@dataclass(frozen=True, slots=True)
class Imported:
    """A valid FLUID contract; ``unsaid`` is what FLUID has no key for, and labels keep."""

    contract: FluidContract
    version: str
    unsaid: tuple[Unsaid, ...]


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format that contracts are written in, and perhaps read from.

    ``title`` follows "Write a contract in"; ``notes`` says in a sentence or two what the document
    holds. ``versions`` end with the newest. ``write`` takes the contract, the same contract as a
    document that tracks what the writer takes, and the version. ``findings`` are what the official
    schema and model have against a document. ``best_version`` returns the version that suits a
    contract best, where that depends on the contract. ``read`` returns the contract of a document.
    """

    name: str
    title: str
    notes: str
    versions: tuple[str, ...]
    write: Callable[[FluidContract, TrackedMapping, str], Json]
    findings: Callable[[str, Json], tuple[str, ...]]
    best_version: Callable[[FluidContract], str] | None = None
    version_note: str = ""
    read: Callable[[object], Imported] | None = None
    readable: str = ""


def summed(paths: Iterable[tuple[Path, int]]) -> tuple[Unsaid, ...]:
    """Sum up paths with their numbers of values; those that differ only in an index are one."""
    counts: Counter[str] = Counter()
    for path, count in paths:
        counts[_without_indexes(path)] += count
    return tuple(Unsaid(path, count) for path, count in counts.items())


def _without_indexes(path: Path) -> str:
    """Return a path as text, with ``[]`` for any index."""
    parts = ("[]" if isinstance(part, int) else f".{path_shown((part,))}" for part in path)
    return "".join(parts).lstrip(".")


def without_infinite(document: Mapping[str, object]) -> tuple[Json, tuple[Path, ...]]:
    """Return the document without infinite numbers and NaN, and their paths; no format has them."""
    if is_finite(document):
        return dict(document), ()
    broken: list[Path] = []
    finite = _finite(dict(document), (), broken)
    return cast(Json, finite), tuple(broken)


def _finite(value: object, path: Path, broken: list[Path]) -> object:
    if isinstance(value, dict):
        inner = {key: _finite(item, (*path, key), broken) for key, item in value.items()}
        return {key: item for key, item in inner.items() if not _is_infinite(item)}
    if isinstance(value, list):
        items = [_finite(item, (*path, at), broken) for at, item in enumerate(value)]
        return [item for item in items if not _is_infinite(item)]
    if _is_infinite(value):
        broken.append(path)
    return value


def _is_infinite(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
