"""The tracker of the run that this code is part of: by default, the process is one run.

Source: Agentic Primitives, "RunCostTracker", a "module-level singleton" so that any thread can
write to it.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from fluid_build.copilot.cost.tracker import RunCostTracker

_DEFAULT = RunCostTracker()
_CURRENT: ContextVar[RunCostTracker | None] = ContextVar("fluid_cost_tracker", default=None)


def get_cost_tracker() -> RunCostTracker:
    """Return the tracker of this context's run, or the process's default."""
    return _CURRENT.get() or _DEFAULT


@contextmanager
def use_cost_tracker(tracker: RunCostTracker) -> Generator[RunCostTracker]:
    """Use ``tracker`` in this context and the tasks that it starts.

    A thread that the caller starts itself needs ``contextvars.copy_context`` to inherit it.
    """
    token = _CURRENT.set(tracker)
    try:
        yield tracker
    finally:
        _CURRENT.reset(token)
