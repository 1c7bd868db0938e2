"""A lock between processes, on a file, which is released when its holder ends in any way."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
    import time

    _WAIT_SECONDS = 0.01

    def _acquire(descriptor: int) -> None:
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except OSError:
                time.sleep(_WAIT_SECONDS)
            else:
                return
else:
    import fcntl

    def _acquire(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold the lock on ``path`` during the block; wait for it as long as it takes."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _acquire(descriptor)
        yield
    finally:
        os.close(descriptor)
