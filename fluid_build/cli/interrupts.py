"""Interruption: Ctrl-C and similar signals end the process cleanly, and within a second.

Python runs a signal's handler only between two steps of its own code. A thread deep inside a
database engine, or waiting for a server, may take no such step for minutes. So a second thread
listens for the signal as well: it gives the work a moment to end by itself, and then ends the
process.
"""

import os
import shutil
import signal
import socket
import sys
import threading
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self

_GRACE_SECONDS = 0.6
_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
MESSAGE = "Interrupted before the work was done; no half-written files were left."
HINT = "Run the command again to start over."

EXIT_CODE = 2

_SHOW_CURSOR = "\x1b[?25h"


class Interrupts:
    """A context in which a signal to stop raises KeyboardInterrupt, once, in the main thread.

    ``received`` is the signal's number, 0 before there was one. Signals that the process was
    started to ignore (a job in the background, nohup) stay ignored.
    """

    def __init__(self) -> None:
        self.received = 0
        self._temporary: list[Path] = []
        self._ended = threading.Event()

    def remove_at_the_end(self, folder: Path) -> None:
        """Register a temporary folder to be removed even if the process is ended by force."""
        self._temporary.append(folder)

    def __enter__(self) -> Self:
        self._listener, self._wakeup = socket.socketpair()
        self._wakeup.setblocking(False)
        self._old_wakeup = signal.set_wakeup_fd(self._wakeup.fileno(), warn_on_full_buffer=False)
        self._old_handlers = {
            number: signal.signal(number, self._stop)
            for number in _SIGNALS
            if signal.getsignal(number) != signal.SIG_IGN
        }
        threading.Thread(target=self._watch, name="fluid-interrupts", daemon=True).start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_wakeup)
        self._wakeup.close()

    def _stop(self, number: int, _: FrameType | None) -> None:
        if not self.received:
            self.received = number
            raise KeyboardInterrupt

    def _watch(self) -> None:
        with self._listener:
            received = self._listener.recv(1)
            while received and received[0] not in _SIGNALS:
                received = self._listener.recv(1)
        if received and not self._ended.wait(_GRACE_SECONDS):
            self._end_by_force()

    def _end_by_force(self) -> None:
        for folder in self._temporary:
            shutil.rmtree(folder, ignore_errors=True)
        cursor = _SHOW_CURSOR if sys.stderr.isatty() else ""
        os.write(2, f"{cursor}\nError: {MESSAGE}\n       {HINT}\n".encode())
        os._exit(EXIT_CODE)
