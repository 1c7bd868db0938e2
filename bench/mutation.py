"""Which of 64 faults, chosen by hand, the tests notice.

    python bench/mutation.py [--fault ID ...] [--suite TREE] [--jobs N] [--select OPTIONS]

``faults.toml`` has the faults: a text in a file, and what takes its place. Each is injected into a
copy of the checkout, where the tests nearest to it run first and, if these pass, all that `make
test` runs. The first test that fails has caught it. The nearest tests must pass without the fault,
and a test further away that fails is run again without it. A hang counts as caught, and is named
as one. Whatever else goes wrong, such as a crash of pytest, is an error and no catch.

``--suite`` takes the tests of another checkout, ``--nearest`` stops after the nearest tests. The
exit code is 2 after an error. All 64 faults take about as long as 64 runs of the nearest tests, and
one of `make test` for each fault that survives these.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypeAlias

ROOT = Path(__file__).resolve().parents[1]
FAULTS = Path(__file__).with_name("faults.toml")
OWN_TEST = "tests/test_faults.py"
"""It looks for the text of each fault, so it would catch all of them."""
PACKAGE = "fluid_build"
SUITE = ("tests", "pyproject.toml", "Makefile")
"""What ``--suite`` takes from the other checkout: the tests, and which of them are run."""

_WORKERS = 2
"""Processes for all tests, as in the Makefile."""
_SLOWEST = 10
"""How many times as long as without a fault the nearest tests may take, on a busy machine."""
_LEAST_LIMIT = 120
"""Seconds that they may take in any case."""
_FULL_LIMIT = 3600
"""Seconds that all tests may take."""
_PATIENCE = 30
"""Seconds that pytest has to stop the servers of its tests once it's interrupted."""
_NOT_COPIED = shutil.ignore_patterns(
    *(".git", ".venv", ".hypothesis", ".*_cache", "__pycache__", "*.duckdb", "demo-shop")
)
_PASSED, _FAILED, _INTERRUPTED, _NONE_SELECTED = 0, 1, 2, 5
_BROKEN = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", re.MULTILINE)

Outcome: TypeAlias = Literal["caught", "hang", "survived", "error"]
_MARKS: Mapping[Outcome, str] = {
    "caught": "caught",
    "hang": "caught by the time limit",
    "survived": "SURVIVED",
    "error": "ERROR",
}


class FaultError(Exception):
    """A fault that can't be injected or judged; the text says which one and why."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A change of a file's text that does harm, with the tests nearest to it."""

    id: str
    file: str
    kind: str
    old: str
    new: str
    wrong: str
    tests: tuple[str, ...]

    @property
    def room(self) -> str:
        return self.file.split("/")[1].removesuffix(".py")

    @property
    def module(self) -> str:
        return self.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a fault; ``by`` is the test that caught it, ``note`` what went wrong."""

    fault: str
    room: str
    outcome: Outcome
    by: str = ""
    step: str = ""
    note: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Run:
    """How pytest ended; ``code`` is None if it was stopped at the time limit."""

    code: int | None
    output: str
    seconds: float

    @property
    def broken(self) -> str:
        """The first test that failed, or the module that couldn't be collected; "" for none."""
        match = _BROKEN.search(self.output)
        return match[1] if match else ""

    @property
    def ending(self) -> str:
        """How it ended, and the last line that it printed."""
        lines = [line for line in self.output.splitlines() if line.strip()]
        return f"exit code {self.code}: {lines[-1][:200] if lines else 'no output'}"


def read_faults(file: Path = FAULTS) -> tuple[Fault, ...]:
    """Return the faults of a file. Raises FaultError where two have one id."""
    entries = tomllib.loads(file.read_text(encoding="utf-8"))["fault"]
    faults = tuple(Fault(**{**entry, "tests": tuple(entry["tests"])}) for entry in entries)
    ids = [fault.id for fault in faults]
    for id_ in ids:
        if ids.count(id_) > 1:
            raise FaultError(f"{id_}: two faults have this id.")
    return faults


def mutated(fault: Fault, root: Path) -> str:
    """Return the text of a fault's file with the fault in it.

    Raises FaultError where the text to replace isn't there exactly once, where the result of a
    module isn't Python, and where one of the nearest tests is gone.
    """
    path = root / fault.file
    if not path.is_file():
        raise FaultError(f"{fault.id}: {fault.file} doesn't exist.")
    text = path.read_text(encoding="utf-8")
    times = text.count(fault.old)
    if times != 1:
        raise FaultError(f"{fault.id}: its text is in {fault.file} {times} times, not once.")
    changed = text.replace(fault.old, fault.new)
    if path.suffix == ".py":
        try:
            compile(changed, fault.file, "exec")
        except SyntaxError as error:
            raise FaultError(f"{fault.id}: {fault.file} isn't Python with it: {error}") from None
    if changed == text:
        raise FaultError(f"{fault.id}: it changes nothing.")
    return changed


def usual_selection(tree: Path) -> str:
    """Return the options of pytest by which `make test` chooses its tests, from the Makefile."""
    recipe = re.search(
        r"^test:.*\n\t@?\$\(PYTEST\)(.*)$", (tree / "Makefile").read_text(), re.MULTILINE
    )
    if recipe is None:
        raise FaultError(f"{tree / 'Makefile'} has no recipe of `test` that runs $(PYTEST).")
    return recipe[1].strip()


class Copy:
    """A copy of the checkout in which faults are injected one at a time.

    The databases beside the checkout are beside the copy too.
    """

    def __init__(self, root: Path, suite: Path, folder: Path) -> None:
        self.tree = folder / "checkout"
        shutil.copytree(root, self.tree, ignore=_NOT_COPIED)
        if suite != root:
            for name in SUITE:
                _replace(suite / name, self.tree / name)
        shared = root.parent / "shared"
        if shared.exists():
            (folder / "shared").symlink_to(shared.resolve())
        self._writes = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """End the tests that run here, and run no others."""
        self._is_stopped = True
        if self._process is not None:
            _end(self._process)

    @contextmanager
    def injected(self, fault: Fault) -> Iterator[None]:
        """Have a fault in the copy for the time of the block."""
        path = self.tree / fault.file
        original, times = path.read_bytes(), path.stat()
        changed = mutated(fault, self.tree)
        self._writes += 1
        path.write_text(changed, encoding="utf-8", newline="")
        # Python takes a compiled module for current by the second and the size of its source.
        os.utime(path, (self._writes, self._writes))
        try:
            yield
        finally:
            path.write_bytes(original)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def check_imported(self, fault: Fault) -> None:
        """Raise FaultError unless a process elsewhere imports the fault from this copy.

        A module that fails to be imported is the tests' to notice.
        """
        code = (
            "import importlib.util, sys\n"
            f"print(importlib.util.find_spec({PACKAGE!r}).origin)\n"
            f"print(importlib.util.find_spec({fault.module!r}).origin)"
        )
        found = subprocess.run(
            [sys.executable, "-c", code],
            cwd=self.tree.parent,
            env=self._environment,
            capture_output=True,
            text=True,
        )
        expected = [str(self.tree / PACKAGE / "__init__.py"), str(self.tree / fault.file)]
        if found.returncode == 0 and found.stdout.split("\n")[:2] != expected:
            raise FaultError(f"{fault.id}: {fault.module} is imported from {found.stdout!r}.")

    def run(self, tests: Sequence[str], select: str, *, workers: int, limit: float) -> Run:
        """Run tests until one fails, and no longer than the limit in seconds."""
        if self._is_stopped:
            raise FaultError("stopped")
        distribution = ["--dist", "loadgroup"] if workers else []
        command = [
            *(
                sys.executable,
                "-m",
                "pytest",
                *tests,
                "-x",
                *shlex.split(select),
                "-n",
                str(workers),
            ),
            *distribution,
            *("-p", "no:cacheprovider", "--color=no", "--tb=line", "-rfE"),
            f"--ignore={OWN_TEST}",
        ]
        start = time.monotonic()
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            process = subprocess.Popen(
                command,
                cwd=self.tree,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._process = process
            try:
                code: int | None = process.wait(limit)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                _end(process)
            output.seek(0)
            return Run(code, output.read(), time.monotonic() - start)

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.tree), "PYTHONDONTWRITEBYTECODE": ""}


def _replace(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.rmtree(target)
        shutil.copytree(source, target, ignore=_NOT_COPIED)
    else:
        shutil.copy2(source, target)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt pytest, so that it stops the servers of its tests, and then what's left of it."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@dataclass(frozen=True, slots=True)
class Options:
    """How faults are tried: which tests are selected, and how long all of them may take."""

    select: str
    nearest_only: bool
    full_limit: float
    workers: int


class Trials:
    """Faults tried one after the other, or several at a time, each in a copy of its own."""

    def __init__(self, root: Path, suite: Path, folder: Path, options: Options) -> None:
        self._root, self._suite, self._folder, self._options = root, suite, folder, options
        self._local = threading.local()
        self._lock = threading.Lock()
        self._copies = 0
        self._known: dict[str, Run] = {}
        self._all_copies: list[Copy] = []

    def stop(self) -> None:
        """End the tests that run."""
        for copy in self._all_copies:
            copy.stop()

    def result(self, fault: Fault) -> Result:
        """Return what becomes of a fault."""
        start = time.monotonic()
        try:
            result = self._tried(fault)
        except FaultError as error:
            note = str(error).removeprefix(f"{fault.id}: ")
            result = Result(fault.id, fault.room, "error", note=note)
        seconds = round(time.monotonic() - start, 1)
        return Result(**{**asdict(result), "seconds": seconds})

    def _tried(self, fault: Fault) -> Result:
        copy = self._copy()
        options = self._options
        missing = [name for name in fault.tests if not (copy.tree / name.split("::")[0]).exists()]
        if missing:
            raise FaultError(f"{fault.id}: {missing[0]} doesn't exist.")
        seconds = self._without_fault(copy, fault)
        with copy.injected(fault):
            copy.check_imported(fault)
            if seconds is not None:
                limit = _LEAST_LIMIT + _SLOWEST * seconds
                run = copy.run(fault.tests, options.select, workers=0, limit=limit)
                judged = _judged(fault, run, "nearest")
                if judged is not None:
                    return judged
            if options.nearest_only:
                note = "none of the nearest tests is selected" if seconds is None else ""
                return Result(fault.id, fault.room, "survived", step="nearest", note=note)
            run = copy.run((), options.select, workers=options.workers, limit=options.full_limit)
        judged = _judged(fault, run, "all")
        if judged is None:
            return Result(fault.id, fault.room, "survived", step="all")
        if judged.outcome == "caught":
            # All cases of it: the line that names a test may have cut its parameters.
            test = judged.by.partition("[")[0]
            again = copy.run((test,), options.select, workers=0, limit=options.full_limit)
            if again.code != _PASSED:
                raise FaultError(f"{fault.id}: {judged.by} fails without it too.")
        return judged

    def _without_fault(self, copy: Copy, fault: Fault) -> float | None:
        """Return the seconds that the nearest tests take without the fault; None if none is run.

        Raises FaultError where one of them fails.
        """
        runs = []
        for name in fault.tests:
            with self._lock:
                run = self._known.get(name)
            if run is None:
                options = self._options
                run = copy.run((name,), options.select, workers=0, limit=options.full_limit)
                with self._lock:
                    self._known[name] = run
            if run.code not in (_PASSED, _NONE_SELECTED):
                failed = run.broken or run.ending
                raise FaultError(f"{fault.id}: its nearest tests fail without it: {failed}")
            runs.append(run)
        selected = any(run.code == _PASSED for run in runs)
        return sum(run.seconds for run in runs) if selected else None

    def _copy(self) -> Copy:
        """Return this thread's own copy."""
        if not hasattr(self._local, "copy"):
            with self._lock:
                self._copies += 1
                folder = self._folder / str(self._copies)
            folder.mkdir()
            self._local.copy = Copy(self._root, self._suite, folder)
            self._all_copies.append(self._local.copy)
        copy: Copy = self._local.copy
        return copy


def _judged(fault: Fault, run: Run, step: str) -> Result | None:
    """Return that a run caught a fault; None if all of its tests passed. Else FaultError."""
    if run.code == _PASSED:
        return None
    if run.code is None:
        note = f"stopped after {run.seconds:.0f} s"
        return Result(fault.id, fault.room, "hang", by=run.broken, step=step, note=note)
    # With -x, pytest is interrupted by the first failure in a worker or while tests are collected.
    if run.code in (_FAILED, _INTERRUPTED) and run.broken:
        return Result(fault.id, fault.room, "caught", by=run.broken, step=step)
    raise FaultError(f"{fault.id}: pytest ended with {run.ending}")


def table(results: Sequence[Result], wrongs: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of the report: each fault, then the share that was caught by room."""
    for result in results:
        remark = " ".join(filter(None, (result.by, f"({result.note})" if result.note else "")))
        yield f"{result.fault:<36} {_MARKS[result.outcome]:<9} {remark}".rstrip()
        if result.outcome == "survived":
            yield f"{'':<36} {wrongs[result.fault]}"
    yield ""
    rooms = dict.fromkeys(result.room for result in results)
    for room in rooms:
        yield _share(room, [result for result in results if result.room == room])
    yield _share("all", results)


def _share(name: str, results: Sequence[Result]) -> str:
    judged = [result for result in results if result.outcome != "error"]
    caught = sum(result.outcome != "survived" for result in judged)
    errors = len(results) - len(judged)
    share = f"{100 * caught / len(judged):.0f} %" if judged else "-"
    remark = f", {errors} not judged" if errors else ""
    return f"{name:<14} {caught:>2} of {len(judged):>2} caught ({share}){remark}"


def _chosen(ids: Sequence[str]) -> tuple[Fault, ...]:
    faults = read_faults()
    unknown = set(ids) - {fault.id for fault in faults}
    if unknown:
        raise FaultError(f"There are no faults called {', '.join(sorted(unknown))}.")
    return tuple(fault for fault in faults if not ids or fault.id in ids)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Which of the faults the tests notice.")
    parser.add_argument("--fault", nargs="+", default=[], metavar="ID", help="only these faults")
    parser.add_argument(
        "--suite", type=Path, default=ROOT, metavar="TREE", help="take the tests of this checkout"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="faults at a time")
    parser.add_argument(
        "--select", metavar="OPTIONS", help="of pytest; those of `make test` if not given"
    )
    parser.add_argument("--nearest", action="store_true", help="run the nearest tests alone")
    parser.add_argument(
        "--limit", type=float, default=_FULL_LIMIT, metavar="SECONDS", help="for all tests"
    )
    parser.add_argument(
        "--workers", type=int, default=_WORKERS, metavar="N", help="processes for all tests"
    )
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    return parser.parse_args()


def main() -> int:
    arguments = _arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    suite = arguments.suite.resolve()
    try:
        select = usual_selection(suite) if arguments.select is None else arguments.select
        faults = _chosen(arguments.fault)
        for fault in faults:
            mutated(fault, ROOT)
    except FaultError as error:
        print(error, file=sys.stderr)
        return 2
    options = Options(select, arguments.nearest, arguments.limit, arguments.workers)
    results: list[Result] = []
    with (
        tempfile.TemporaryDirectory(prefix="fluid-mutation-") as folder,
        ThreadPoolExecutor(arguments.jobs) as pool,
    ):
        trials = Trials(ROOT, suite, Path(folder), options)
        try:
            for result in pool.map(trials.result, faults):
                results.append(result)
                print(
                    f"{len(results)}/{len(faults)} {result.fault}: {_MARKS[result.outcome]}"
                    f" {result.by} {result.note} ({result.seconds:.0f} s)",
                    file=sys.stderr,
                    flush=True,
                )
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            trials.stop()
            return 130
    if arguments.json:
        print(json.dumps({"select": select, "faults": [asdict(r) for r in results]}, indent=2))
    else:
        print("\n".join(table(results, {fault.id: fault.wrong for fault in faults})))
    return 2 if any(result.outcome == "error" for result in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())
