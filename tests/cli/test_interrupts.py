"""A command that is asked to stop does so within a second, in good order."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from fluid_build.cli.interrupts import MESSAGE
from tests.cli.running import COMMAND


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that takes seconds to profile."""
    path = tmp_path_factory.mktemp("large") / "large.duckdb"
    columns = ", ".join(f"hash(i + {n})::VARCHAR AS c{n}" for n in range(6))
    with duckdb.connect(str(path)) as database:
        database.execute(f"CREATE TABLE large AS SELECT {columns} FROM range(500000) AS t(i)")
    return path


@contextmanager
def started(*arguments: str | Path, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The command at work in a folder, with temporary files in ``folder/tmp``."""
    (folder / "tmp").mkdir()
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A test runner in the background may have SIGINT ignored, which children inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(process: subprocess.Popen[str], stage: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(stage):
            return
    pytest.fail(f"the command ended before {stage!r}")


def stop(process: subprocess.Popen[str], number: signal.Signals) -> str:
    """Send the signal and return what the command said; it's a failure if it goes on."""
    process.send_signal(number)
    out, err = process.communicate(timeout=10)
    assert out == ""
    return err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_profile_within_a_second(
    tmp_path: Path, large: Path, number: signal.Signals
) -> None:
    """Deep in a query: two sentences, exit code 2, no temporary file left."""
    with started("profile", large, folder=tmp_path) as process:
        wait_for(process, "Measuring columns")
        time.sleep(0.1)
        output = stop(process, number)
    assert process.returncode == 2
    assert f"Error: {MESSAGE}\n" in output
    assert "Traceback" not in output
    assert list((tmp_path / "tmp").iterdir()) == []


def test_an_interrupt_ends_the_wait_for_a_silent_server(tmp_path: Path) -> None:
    """In a call that knows no signals: the process is ended all the same."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"postgresql://me@127.0.0.1:{silent.getsockname()[1]}/shop"
        with started("profile", uri, folder=tmp_path) as process:
            connection, _ = silent.accept()
            with connection:
                time.sleep(0.1)
                output = stop(process, signal.SIGINT)
    assert process.returncode == 2
    assert MESSAGE in output
    assert list((tmp_path / "tmp").iterdir()) == []


def test_an_interrupted_demo_leaves_no_part_of_a_database(tmp_path: Path) -> None:
    """While the shop is made: neither the file nor its folder is left."""
    with started("demo", folder=tmp_path) as process:
        wait_for(process, "Making")
        time.sleep(0.3)
        stop(process, signal.SIGINT)
    assert process.returncode == 2
    assert [path.name for path in tmp_path.iterdir()] == ["tmp"]


def test_an_interrupted_forge_leaves_older_files_as_they_were(tmp_path: Path, large: Path) -> None:
    """Files of an earlier run are not touched before the new ones are whole."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "model.json").write_text("of yesterday")
    arguments = ("forge", "data-model", "from-source", "--uri", large, "-o", "out")
    with started(*arguments, folder=tmp_path) as process:
        wait_for(process, "Measuring columns")
        stop(process, signal.SIGINT)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["model.json"]
    assert (tmp_path / "out" / "model.json").read_text() == "of yesterday"


def test_a_job_that_was_told_to_ignore_interrupts_ignores_them(
    tmp_path: Path, sqlite_shop: Path
) -> None:
    """As in a background job of a script: the work goes on to its end."""
    process = subprocess.Popen(
        [*COMMAND, "profile", str(sqlite_shop), "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    with process:
        wait_for(process, "Reading tables")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert out.startswith("{")
