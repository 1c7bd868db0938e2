"""A progress bar for those who ask for one: in a notebook, on a terminal, or as lines in a log."""

import sys
import threading
from contextlib import ExitStack
from html import escape
from types import TracebackType
from typing import Any, Self, TextIO

from fluid_build.progress import OnProgress, Progress, stage_label
from fluid_build.report.terminal.progress_bars import bars, in_lines, on_bars
from fluid_build.report.terminal.visible_text import visible

_BAR = (
    '<div style="font-size:90%">{label} <progress max="{total}" value="{done}"'
    ' style="vertical-align:middle"></progress> {count} {detail}</div>'
)


class ProgressBar:
    """A callback that shows how far the work is, and goes away when the work ends.

    It may be passed to several calls, one after another. ``close`` takes it away.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._stack = ExitStack()
        self._update: OnProgress | None = None
        self._lock = threading.Lock()

    def __call__(self, report: Progress) -> None:
        """Show a report."""
        with self._lock:
            if self._update is None:
                self._update = self._start()
            self._update(report)

    def close(self) -> None:
        """Take the bar away; the next report shows it again."""
        with self._lock:
            self._update = None
            self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _start(self) -> OnProgress:
        if self._stream is None and _is_notebook():
            return self._in_notebook()
        stream = self._stream or sys.stderr
        if stream.isatty():
            return on_bars(self._stack.enter_context(bars(stream)))
        return in_lines(stream)

    def _in_notebook(self) -> OnProgress:
        display = sys.modules["IPython.display"]
        handle = display.display(display.HTML(""), display_id=True)
        self._stack.callback(handle.update, display.HTML(""))

        def update(report: Progress) -> None:
            handle.update(display.HTML(_html(report)))

        return update


def show_progress(stream: TextIO | None = None) -> ProgressBar:
    """Return a progress bar to pass as ``on_progress``.

    In a notebook it's part of the cell's output. On a terminal it's drawn on ``stream`` (default:
    stderr), and elsewhere each stage is a line there.
    """
    return ProgressBar(stream)


def _is_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPython.display" in sys.modules and hasattr(shell, "kernel")


def _html(report: Progress) -> str:
    return _BAR.format(
        label=escape(stage_label(report)),
        total=max(report.total, 1),
        done=round(report.done + report.part, 3),
        count=f"{report.done}/{report.total}" if report.total else "",
        detail=escape(visible(report.detail)),
    )
