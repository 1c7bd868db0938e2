"""A program that runs a forge in processes which SIGKILL ends, one stage event later each time.

Called with a source, an output folder and a store's file; prints how many processes died.
"""

import os
import signal
import sys
from pathlib import Path

from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.pipeline.running import Watching
from fluid_build.pipeline.runs import RunLog
from fluid_build.pipeline.stages import StageEvent
from tests.pipeline.small_runs import forge_run, request_for, resume


def _dying_after(events: int) -> Watching:
    left = [events]

    def on_stage(_: StageEvent) -> None:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return Watching(on_stage=on_stage)


def _work(source: Path, out: Path, file: Path, events: int) -> None:
    store = SqliteBackend(file)
    records = RunLog(store).records()
    if records:
        resume(store, records[0].id, _dying_after(events))
    else:
        forge_run(store, request_for(source, out, technique="dv2"), _dying_after(events))


def main() -> None:
    """Fork a process for the start and for each resumption, until one isn't killed."""
    source, out, file = map(Path, sys.argv[1:])
    died = 0
    while True:
        child = os.fork()
        if child == 0:
            # A parallel group is saved as a whole, so some processes must outlive its six events.
            _work(source, out, file, events=2 + died % 6)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            break
        died += 1
    sys.stdout.write(f"{died} {os.waitstatus_to_exitcode(status)}\n")


if __name__ == "__main__":
    main()
