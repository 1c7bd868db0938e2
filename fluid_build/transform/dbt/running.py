"""Running dbt on a project, in a process of its own, and reading its results.

dbt keeps state in its process and holds the DuckDB file open, so it never runs in ours. Apart from
the database, it writes to a temporary folder. Its messages are read as JSON
(https://docs.getdbt.com/reference/events-logging), its results from ``run_results.json``
(https://docs.getdbt.com/reference/artifacts/run-results-json).
"""

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from fluid_build.errors import DbtError, DbtFailedError, DbtMissingError
from fluid_build.extras import install_command, python_for, runs_here
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.secrets import redact, secrets_of_environment
from fluid_build.sources.addresses.kinds import KINDS, ServerKind
from fluid_build.sources.text_values.personal_text import without_values
from fluid_build.transform.dbt.guard_macros import stopped_delivery
from fluid_build.transform.dbt.portable_paths import DSN_VARIABLE
from fluid_build.transform.dbt.promise_macros import BrokenPromise, broken_promise

DbtStatus = Literal["built", "passed", "warned", "failed", "skipped"]
DBT = (
    "-c",
    "import os, threading; "
    "threading.Thread(target=lambda: os.read(0, 1) or os._exit(1), daemon=True).start(); "
    "from dbt.cli.main import cli; cli()",
)
"""What Python is started with to run dbt. Its end comes with ours, when the pipe on its stdin
closes: a dbt that outlived us would go on loading what the next one loads again."""
_STATUSES: Mapping[str, DbtStatus] = {
    "success": "built",
    "pass": "passed",
    "warn": "warned",
    "fail": "failed",
    "error": "failed",
    "runtime error": "failed",
    "partial success": "failed",
    "skipped": "skipped",
}
# Results of tests and models are in run_results.json; of the messages we want only the others.
_RESULT_EVENTS = {"LogTestResult", "LogModelResult", "RunResultWarning", "RunResultWarningMessage"}
_FAILED_IMPORT = "mashumaro.exceptions.UnserializableField"
"""What the import of dbt ends with on a Python that is too new for it."""
_LONGEST_MESSAGE = 1000
"""Characters of dbt's own words in an error: a traceback of dbt has many thousands."""
_KNOWN = re.compile(r"configured to (?:fail|warn) if >(\d+)")
"""How dbt says in the message of a test up to how many failures it passes over."""
_PRIVATE_VARIABLES = (
    DSN_VARIABLE,
    *(kind.password_variable for kind in KINDS.values() if isinstance(kind, ServerKind)),
)
"""Variables that our projects read and that may hold a password, whoever set them."""


@dataclass(frozen=True, slots=True)
class DbtNode:
    """A model or a test that dbt ran.

    ``failures`` is how many rows a test found; ``broken`` are the promises that they break. A test
    of a single promise is named like it. ``stopped_delivery`` is the table that was stopped because
    its delivery lacks keys. ``reads`` are the models that it reads, known where any was skipped.
    """

    name: str
    kind: str
    status: DbtStatus
    message: str
    failures: int | None
    seconds: float
    broken: tuple[BrokenPromise, ...] = ()
    stopped_delivery: str = ""
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DbtResult:
    """The result of a ``dbt build``.

    ``warnings`` are messages apart from the results: deprecations, unused configuration.
    """

    nodes: tuple[DbtNode, ...]
    warnings: tuple[str, ...] = ()

    def of(self, status: DbtStatus) -> tuple[DbtNode, ...]:
        """Return the nodes that ended like this."""
        return tuple(node for node in self.nodes if node.status == status)

    @property
    def built(self) -> tuple[DbtNode, ...]:
        """The models that were built."""
        return self.of("built")

    @property
    def passed(self) -> tuple[DbtNode, ...]:
        """The tests that passed."""
        return self.of("passed")

    @property
    def warned(self) -> tuple[DbtNode, ...]:
        """The tests that found more than is known, and only warn."""
        return self.of("warned")

    @property
    def failed(self) -> tuple[DbtNode, ...]:
        """The models that couldn't be built, and the tests that failed."""
        return self.of("failed")

    @property
    def skipped(self) -> tuple[DbtNode, ...]:
        """What dbt skipped because something before it failed."""
        return self.of("skipped")

    @property
    def ok(self) -> bool:
        """Whether something was built and nothing failed or was skipped."""
        return bool(self.built) and not self.failed and not self.skipped


def run_dbt(
    project: Path,
    *,
    variables: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    selection: Sequence[str] = (),
    python: str = sys.executable,
    on_progress: OnProgress = ignore,
) -> DbtResult:
    """Run ``dbt build`` in the folder of a project that holds its own ``profiles.yml``.

    ``variables`` are dbt's (``load_date``), ``environment`` is added to ours; a secret in it, or in
    what our projects read from the environment, is masked wherever dbt repeats it. ``selection``
    are dbt's arguments for a part of the project, which may turn out to be nothing. Failed models
    and tests are in the result. Raises DbtMissingError where dbt is not installed, and
    DbtFailedError where it builds nothing.
    """
    secrets = _secrets(environment or {})
    with tempfile.TemporaryDirectory(prefix="fluid-dbt-") as name:
        folder = Path(name)
        command = [python, *_arguments(folder, variables or {}, "build", *selection)]
        with (folder / "stderr").open("w", encoding="utf-8") as stderr:
            log = _run(command, project, environment or {}, stderr, on_progress)
        results = folder / "target" / "run_results.json"
        if not results.is_file():
            stderr_text = (folder / "stderr").read_text(encoding="utf-8", errors="replace")
            raise _gave_up(_masked("\n".join([*log.warnings, stderr_text]), secrets))
        document = json.loads(results.read_text(encoding="utf-8"))
        is_whole = all(result["status"] != "skipped" for result in document["results"])
        reads = {} if is_whole else _reads(folder / "target" / "manifest.json")
    return DbtResult(
        nodes=tuple(
            _node(result, log.broken, secrets, reads)
            for result in document["results"]
            if not _runs_nothing(result)
        ),
        warnings=tuple(_masked(warning, secrets) for warning in log.warnings),
    )


def run_operation(
    project: Path,
    macro: str,
    *,
    environment: Mapping[str, str] | None = None,
    python: str = sys.executable,
) -> None:
    """Run a macro of a project, in the same way and by the same variables as ``run_dbt``.

    Raises DbtMissingError where dbt is not installed, and DbtFailedError, with what dbt said, where
    the macro ended with an error.
    """
    with tempfile.TemporaryDirectory(prefix="fluid-dbt-") as name:
        command = [python, *_arguments(Path(name), {}, "run-operation", macro)]
        code, said = _said(command, project, Path(name), environment or {})
    if code:
        raise _gave_up(said, f"couldn't run {macro}")


def write_manifest(
    project: Path,
    folder: Path,
    *,
    environment: Mapping[str, str] | None = None,
    python: str = sys.executable,
) -> Path:
    """Write what dbt reads of a project to a folder, and return where dbt finds it as a state.

    Nothing is connected to. Raises DbtMissingError and DbtFailedError as ``run_operation`` does.
    """
    command = [python, *_arguments(folder, {}, "parse")]
    _, said = _said(command, project, folder, environment or {})
    if not (folder / "target" / "manifest.json").is_file():
        raise _gave_up(said, "couldn't read the project")
    return folder / "target"


def changed_since(state: Path) -> tuple[str, ...]:
    """Return the selection of what differs from a project of before, and of what depends on it.

    A view shows its source as it is now, so a load that reads one has its guard run again. Tests
    of relations that aren't built, and aren't read by those that are, say nothing new.
    """
    views = "@state:modified,config.materialized:view"
    return (
        *("--select", "state:modified+", views, "--state", str(state)),
        *("--indirect-selection", "buildable"),
    )


def _said(
    command: Sequence[str], project: Path, folder: Path, environment: Mapping[str, str]
) -> tuple[int, str]:
    """Run dbt, and return the code that it ended with and what it had to say, without secrets."""
    with (folder / "stderr").open("w", encoding="utf-8") as stderr:
        log = _run(command, project, environment, stderr, ignore)
    stderr_text = (folder / "stderr").read_text(encoding="utf-8", errors="replace")
    return log.code, _masked("\n".join([*log.warnings, stderr_text]), _secrets(environment))


@dataclass(slots=True)
class _Log:
    """What dbt logged apart from its results: warnings, and which promises are broken.

    ``code`` is the one that it ended with.
    """

    warnings: list[str] = field(default_factory=list)
    broken: list[BrokenPromise] = field(default_factory=list)
    code: int = 0


def _arguments(folder: Path, variables: Mapping[str, object], *command: str) -> list[str]:
    return [
        *(*DBT, "--log-format", "json", "--no-use-colors"),
        *("--log-path", str(folder / "logs"), "--log-level-file", "none"),
        *("--no-partial-parse", "--no-send-anonymous-usage-stats", *command),
        # Run in the folder itself: dbt-duckdb ends a path at a # or ?.
        *("--project-dir", ".", "--profiles-dir", "."),
        *("--target-path", str(folder / "target"), "--vars", json.dumps(dict(variables))),
    ]


def _run(
    command: Sequence[str],
    project: Path,
    environment: Mapping[str, str],
    stderr: IO[str],
    on_progress: OnProgress,
) -> _Log:
    """Run dbt to its end, and return what it logged apart from the results."""
    log = _Log()
    with subprocess.Popen(
        command,
        cwd=project,
        env={**os.environ, "PYTHONUTF8": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=stderr,
        stdin=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for event in map(_event, process.stdout):
            info = event.get("info", {})
            if info.get("level") in {"warn", "error"} and info.get("name") not in _RESULT_EVENTS:
                log.warnings.append(str(info.get("msg", "")))
            if info.get("name") == "JinjaLogInfo":
                broken = broken_promise(str(info.get("msg", "")))
                log.broken += [broken] if broken is not None else []
            _report(event, on_progress)
        # Its stdin is closed after its end only: it would end with a code of its own.
        log.code = process.wait()
    return log


def _event(line: str) -> Mapping[str, Any]:
    """Return a message of dbt; one that isn't JSON was printed by something that dbt runs."""
    try:
        event = json.loads(line)
    except ValueError:
        event = None
    return event if isinstance(event, dict) else {"info": {"msg": line.strip()}}


def _report(event: Mapping[str, Any], on_progress: OnProgress) -> None:
    data = event.get("data", {})
    if "index" in data and "total" in data and "node_info" in data:
        name = str(data["node_info"].get("node_name", ""))
        on_progress(Progress("dbt", int(data["index"]), int(data["total"]), name))


def _runs_nothing(result: Mapping[str, Any]) -> bool:
    """Return whether a node is a hook that ran, or somebody's exposure, which is only said."""
    is_hook = str(result["unique_id"]).startswith("operation.")
    status = str(result["status"])
    return status == "no-op" or (is_hook and _STATUSES[status] == "built")


def _reads(manifest: Path) -> Mapping[str, tuple[str, ...]]:
    """Return the models that each node of a project reads, by its id."""
    document = json.loads(manifest.read_text(encoding="utf-8"))
    return {
        id_: tuple(read.split(".")[2] for read in parents if read.startswith("model."))
        for id_, parents in document["parent_map"].items()
    }


def _node(
    result: Mapping[str, Any],
    broken: Sequence[BrokenPromise],
    secrets: Sequence[str],
    reads: Mapping[str, tuple[str, ...]],
) -> DbtNode:
    kind, _, name = str(result["unique_id"]).split(".")[:3]
    failures = result.get("failures")
    status = _STATUSES[str(result["status"])]
    named = tuple(promise for promise in broken if promise.test == name)
    if not named and kind == "test" and failures and status in {"failed", "warned"}:
        known = _KNOWN.search(str(result.get("message") or ""))
        named = (BrokenPromise(name, name, int(failures), int(known[1]) if known else 0),)
    return DbtNode(
        name=name,
        kind=kind,
        status=status,
        message=_masked(str(result.get("message") or ""), secrets),
        failures=int(failures) if failures is not None else None,
        seconds=float(result["execution_time"]),
        broken=named,
        stopped_delivery=stopped_delivery(str(result.get("message") or "")),
        reads=reads.get(str(result["unique_id"]), ()),
    )


_HINT = "Run `dbt debug` in the project: it checks the environment variables and the connection."


def _gave_up(output: str, what: str = "built nothing") -> DbtError:
    is_missing = "No module named 'dbt" in output or "No module named dbt" in output
    if not runs_here("dbt") and (is_missing or _FAILED_IMPORT in output):
        return DbtMissingError(
            f"dbt doesn't run on Python {platform.python_version()}",
            hint=f"It needs {python_for('dbt')}: make an environment of that for Fluid Forge.",
        )
    if is_missing:
        return DbtMissingError(
            "dbt isn't installed", hint="Install it:", command=install_command("dbt")
        )
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return DbtFailedError(
        f"dbt {what}: {' '.join(lines)[:_LONGEST_MESSAGE] or 'it gave no reason'}",
        hint=_HINT,
    )


def _secrets(environment: Mapping[str, str]) -> tuple[str, ...]:
    ours = {name: os.environ.get(name, "") for name in _PRIVATE_VARIABLES}
    return secrets_of_environment({**ours, **environment})


def _masked(text: str, secrets: Sequence[str]) -> str:
    return without_values(redact(text, secrets))
