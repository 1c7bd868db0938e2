"""What files of a megabyte that were made to hurt cost: processor time, memory, and how each ends.

    python bench/hostile.py                          # every input, as a Data Vault
    python bench/hostile.py --only ddl/ --only json/deep
    python bench/hostile.py --technique star --technique flat --only cyclic
    python bench/hostile.py --jobs 2 --seed 7 --slowest 40 --keep DIR

Each input (``bench/hostile_files.py``) is written to a temporary folder, and forged by
``fluid forge`` in a process of its own, which is ended above ``--seconds`` of processor time or
``--gigabytes`` of memory. It prints the slowest by processor time and by peak memory with the exit
code, and what the command came to: ``done``, ``note`` (with something left out, and said so),
``lost`` (the proof says that it isn't whole), ``error`` (a typed error, with its message),
``crash`` (a traceback, a bug or a signal) or ``ended`` (by a limit).

The goal: no input above 20 s of processor time or 1.5 GB, and no crash. The exit code is 1 where
one misses it. ``crash`` and ``ended`` are listed whole.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.hostile_files import Maker, makers  # noqa: E402

GOAL_SECONDS = 20.0
GOAL_GIGABYTES = 1.5
_BUG = "A bug in Fluid Forge"
_LOOKED = 0.05
"""Seconds between two looks at a process."""
_MOST_SHOWN = 90
"""Characters of a message."""
_GROUPS: set[int] = set()
"""The process groups of the forges that run."""
_TECHNIQUES = {"vault": "dv2", "star": "dimensional", "flat": "flat"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one forge ended: processor seconds, gigabytes at the peak, and the message."""

    name: str
    seconds: float
    gigabytes: float
    code: int
    kind: str
    message: str

    @property
    def misses_goal(self) -> bool:
        """Whether it took too much, or ended in a way that no input may end."""
        if self.kind in ("crash", "ended"):
            return True
        return self.seconds > GOAL_SECONDS or self.gigabytes > GOAL_GIGABYTES

    def __str__(self) -> str:
        figures = f"{self.seconds:7.1f} {self.gigabytes:6.2f} {self.code:4}  {self.kind:5}"
        return f"{self.name:32} {figures}  {self.message}"


@dataclass(frozen=True, slots=True)
class Limits:
    """Above which processor seconds and gigabytes a process is ended."""

    seconds: float
    gigabytes: float


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="PART")
    parser.add_argument("--technique", action="append", choices=[*_TECHNIQUES], default=[])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--slowest", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--gigabytes", type=float, default=4.0)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep inputs and results there")
    options = parser.parse_args()
    limits = Limits(options.seconds, options.gigabytes)
    chosen = {
        name: maker
        for name, maker in makers().items()
        if not options.only or any(part in name for part in options.only)
    }
    outcomes = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with (
        tempfile.TemporaryDirectory() as temporary,
        ThreadPoolExecutor(options.jobs) as pool,
        _ending(pool),
    ):
        root = options.keep or Path(temporary)
        tasks = [
            pool.submit(
                try_input, name, maker, technique, root, options.seed, limits, bool(options.keep)
            )
            for technique in options.technique or ["vault"]
            for name, maker in chosen.items()
        ]
        for task in tasks:
            outcomes.append(task.result())
            print(outcomes[-1], file=sys.stderr, flush=True)
    report(outcomes, options.slowest)
    return 1 if any(outcome.misses_goal for outcome in outcomes) else 0


@contextmanager
def _ending(pool: ThreadPoolExecutor) -> Iterator[None]:
    """End what runs and what waits when the bench is interrupted; each forge has its session."""
    try:
        yield
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for group in [*_GROUPS]:
            os.killpg(group, signal.SIGKILL)
        raise


def try_input(
    name: str, maker: Maker, technique: str, root: Path, seed: int, limits: Limits, keep: bool
) -> Outcome:
    """Make an input, forge it, and say how that ended."""
    folder = root / f"{name.replace('/', '-')}-{technique}"
    folder.mkdir(parents=True)
    try:
        place = maker(folder, random.Random(f"{seed} {name}"))
        label = name if technique == "vault" else f"{name} ({technique})"
        return forge(label, place, folder, technique, limits)
    finally:
        if not keep:
            shutil.rmtree(folder)


def forge(name: str, place: Path, folder: Path, technique: str, limits: Limits) -> Outcome:
    """Run ``fluid forge`` on a source within limits."""
    command = [sys.executable, "-m", "fluid_build", "forge", "data-model"]
    is_ddl = name.startswith("ddl/") and place.is_file()
    command += ["from-ddl", str(place)] if is_ddl else ["from-source", "--uri", str(place)]
    command += ["--technique", _TECHNIQUES[technique], "--json", "--debug"]
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        process = subprocess.Popen(
            [*command, "-o", str(folder / "out")],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)},
            start_new_session=True,
        )
        _GROUPS.add(process.pid)
        status, seconds, gigabytes, limit = _watch(process, limits)
    code = os.waitstatus_to_exitcode(status)
    stdout = (folder / "stdout").read_text(errors="replace")
    stderr = (folder / "stderr").read_text(errors="replace")
    kind, message = ("ended", limit) if limit else _kind(code, stdout, stderr)
    message = message.replace(f"{folder}/", "")
    return Outcome(name, seconds, gigabytes, code, kind, message[:_MOST_SHOWN])


def _watch(process: subprocess.Popen[bytes], limits: Limits) -> tuple[int, float, float, str]:
    """Wait for a process; its status, seconds, gigabytes, and the limit that ended it, or ""."""
    limit = ""
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            _GROUPS.discard(pid)
            process.returncode = os.waitstatus_to_exitcode(status)
            seconds = usage.ru_utime + usage.ru_stime
            return status, seconds, usage.ru_maxrss / 1024**2, limit
        if not limit and (limit := _limit_met(process.pid, limits)):
            os.killpg(process.pid, signal.SIGKILL)
        time.sleep(_LOOKED)


def _limit_met(pid: int, limits: Limits) -> str:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # It has ended meanwhile.
        return ""
    if (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK") > limits.seconds:
        return f"more than {limits.seconds:g} s"
    if int(stat[21]) * os.sysconf("SC_PAGE_SIZE") > limits.gigabytes * 1024**3:
        return f"more than {limits.gigabytes:g} GB"
    return ""


def _kind(code: int, stdout: str, stderr: str) -> tuple[str, str]:
    """Return what a command that ended by itself came to, and its message."""
    lines = stderr.splitlines()
    said = next((line for line in reversed(lines) if line.startswith("Error: ")), "")
    if code < 0 or _BUG in stderr or code not in (0, 1, 2):
        error = next((line for line in reversed(lines) if ": " in line and line != said), said)
        return "crash", f"{_signal(code)}{said.removeprefix('Error: ')} {error}"
    if code == 2:
        # A typed error has its traceback too, which --debug asks for.
        return "error", said.removeprefix("Error: ")
    result = json.loads(stdout)
    if code == 1:
        return "lost", str(result.get("proof"))
    notes = [*result["notes"], *result["skipped"]]
    return ("note", _first(notes)) if notes else ("done", "")


def _signal(code: int) -> str:
    return f"{signal.Signals(-code).name} " if code < 0 else ""


def _first(notes: Sequence[Any]) -> str:
    more = f" (and {len(notes) - 1} more)" if len(notes) > 1 else ""
    return (" ".join(str(notes[0]).split()))[: _MOST_SHOWN - len(more)] + more


def report(outcomes: Sequence[Outcome], most: int) -> None:
    """Print the most expensive inputs, those that crashed or were ended, and a summary."""
    title = f"{'input':32} {'cpu s':>7} {'GB':>6} {'exit':>4}  kind   message"
    _table("By processor time", title, sorted(outcomes, key=lambda o: -o.seconds)[:most])
    _table("By memory", title, sorted(outcomes, key=lambda o: -o.gigabytes)[:most])
    _table(
        "Crashed, or ended by a limit", title, (o for o in outcomes if o.kind in ("crash", "ended"))
    )
    kinds = sorted({outcome.kind for outcome in outcomes})
    counts = ", ".join(f"{sum(o.kind == kind for o in outcomes)} {kind}" for kind in kinds)
    missed = sum(outcome.misses_goal for outcome in outcomes)
    goal = f"{GOAL_SECONDS:g} s, {GOAL_GIGABYTES:g} GB and no crash"
    print(f"\n{len(outcomes)} inputs: {counts}; {missed} miss the goal ({goal})")


def _table(heading: str, title: str, outcomes: Iterable[Outcome]) -> None:
    rows = [*outcomes]
    if rows:
        print(f"\n{heading}\n{title}", *rows, sep="\n")


if __name__ == "__main__":
    sys.exit(main())
