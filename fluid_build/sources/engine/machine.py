"""What of the machine DuckDB may use: memory, threads, and the disk for what doesn't fit.

A container's bounds count as the machine's. DuckDB itself asks neither for them nor for the cores
that the process is bound to.
"""

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from fluid_build.errors import UsageError

MEMORY_VARIABLE = "FLUID_MEMORY_LIMIT"
THREADS_VARIABLE = "FLUID_THREADS"

SHARE = 0.5
"""How much of the memory is used by default: Python, its copies and other programs need theirs."""

_IF_UNKNOWN = 2 * 1024**3
_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUPS = Path("/proc/self/cgroup")


def memory_limit(asked: str | None = None) -> str:
    """Return how much memory the engine may use, in DuckDB's words: as asked, or a share."""
    return asked or os.environ.get(MEMORY_VARIABLE) or f"{int(_memory() * SHARE)}B"


def threads() -> int:
    """Return how many threads the engine may use: as asked, or the cores that there are.

    Raises UsageError where what's asked for is no number of threads.
    """
    asked = os.environ.get(THREADS_VARIABLE)
    if not asked:
        return _cores()
    if not asked.isdecimal() or int(asked) < 1:
        raise UsageError(f"{asked!r} isn't a number of threads.", hint="Use --threads 4.")
    return int(asked)


def _memory() -> int:
    found: list[int] = []
    with suppress(AttributeError, ValueError, OSError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for name in ("memory.max", "memory.limit_in_bytes"):
        found += (int(text) for text in _bounds("memory", name) if text.isdecimal())
    # Without a bound, the first version of cgroups says the largest number that it has.
    return min(found, default=_IF_UNKNOWN)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    quotas = [text.split() for text in _bounds("cpu", "cpu.max")]
    for quota, period in zip(
        _bounds("cpu", "cpu.cfs_quota_us"), _bounds("cpu", "cpu.cfs_period_us"), strict=False
    ):
        quotas.append([quota, period])
    for quota, period in (each for each in quotas if len(each) == 2):
        if quota.isdecimal() and period.isdecimal() and int(period):
            cores = min(cores, max(1, math.ceil(int(quota) / int(period))))
    return cores


def _bounds(controller: str, name: str) -> Iterator[str]:
    """Yield what a file says in the cgroups that the process is in, of both versions."""
    lines: list[str] = []
    with suppress(OSError):
        lines = _OWN_CGROUPS.read_text(encoding="utf-8", errors="replace").splitlines()
    for line in lines:
        _, controllers, own = (*line.split(":", 2), "", "")[:3]
        if controllers and controller not in controllers.split(","):
            continue
        root = _CGROUPS / controller if controllers else _CGROUPS
        # Each group bounds those in it. In a container, the first one may be out of sight.
        place = root / own.strip("/")
        for folder in (place, *place.parents):
            if folder == _CGROUPS.parent:
                break
            with suppress(OSError):
                yield (folder / name).read_text(encoding="utf-8").strip()
