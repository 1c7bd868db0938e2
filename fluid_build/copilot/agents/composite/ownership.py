"""The owner of a run: a process that may still live, or has left the run to others."""

from __future__ import annotations

import os
import socket
import sys
import uuid
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fluid_build.json_types import JsonValue

_RUNNING_HERE: set[str] = set()
"""The tokens of the runs that this process owns at the moment."""


@dataclass(frozen=True, slots=True)
class RunOwner:
    """A run's owner: machine, process (with its start, because ids are reused) and token."""

    host: str
    pid: int
    born: str
    token: str

    @classmethod
    @contextmanager
    def here(cls) -> Generator[RunOwner]:
        """Make this process an owner during the block."""
        pid = os.getpid()
        owner = cls(socket.gethostname(), pid, _birth(pid), uuid.uuid4().hex)
        _RUNNING_HERE.add(owner.token)
        try:
            yield owner
        finally:
            _RUNNING_HERE.discard(owner.token)

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> RunOwner:
        """Return the owner that ``dump`` returned."""
        return cls(saved["host"], saved["pid"], saved["born"], saved["token"])

    def dump(self) -> dict[str, JsonValue]:
        """Return the owner as JSON."""
        return asdict(self)

    def lives(self) -> bool | None:
        """Return whether the owner still runs; None if this process can't know."""
        if self.host != socket.gethostname():
            return None
        if self.pid == os.getpid() and self.born == _birth(self.pid):
            return self.token in _RUNNING_HERE
        if sys.platform == "win32":
            return None
        return _is_running(self.pid) and self.born == _birth(self.pid)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _birth(pid: int) -> str:
    """Return when a process began, in clock ticks since the machine did; empty if unknown."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    # The second field is the command in parentheses, which may hold anything.
    fields = status.rpartition(")")[2].split()
    return "" if fields[0] == "Z" else fields[19]
