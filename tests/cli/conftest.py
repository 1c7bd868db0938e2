"""Fixtures that run the command, and small real sources to run it on."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from fluid_build.cli.interrupts import Interrupts
from fluid_build.cli.main import run
from tests.cli.running import COMMAND, STATEMENTS, Fluid, Outcome


@pytest.fixture
def fluid(capsys: pytest.CaptureFixture[str]) -> Fluid:
    """Run a command line in this process: quick, and the same code as the real command's."""

    def call(*arguments: str | Path) -> Outcome:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments], Interrupts())
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture
def fluid_process(tmp_path: Path) -> Fluid:
    """Run a command line as its own process, in an empty folder."""
    folder = tmp_path / "where-it-runs"
    folder.mkdir()

    def call(*arguments: str | Path, **environment: str) -> Outcome:
        process = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            cwd=folder,
            env={**os.environ, **environment},
            capture_output=True,
            timeout=60,
            check=False,
        )
        encoding = environment.get("PYTHONIOENCODING", "utf-8")
        return Outcome(
            process.returncode, process.stdout.decode(encoding), process.stderr.decode(encoding)
        )

    return call


@pytest.fixture(scope="session")
def _shops(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the two tables in files, of which each test gets a copy."""
    folder = tmp_path_factory.mktemp("shops")
    with closing(sqlite3.connect(folder / "two.sqlite")) as database, database:
        for statement in STATEMENTS:
            database.execute(statement)
    with duckdb.connect(str(folder / "two.duckdb")) as connection:
        connection.execute(";".join(STATEMENTS))
    return folder


@pytest.fixture
def sqlite_shop(_shops: Path, tmp_path: Path) -> Path:
    """The two tables in an SQLite file."""
    return Path(shutil.copy(_shops / "two.sqlite", tmp_path))


@pytest.fixture
def duckdb_shop(_shops: Path, tmp_path: Path) -> Path:
    """The two tables in a DuckDB file."""
    return Path(shutil.copy(_shops / "two.duckdb", tmp_path))


@pytest.fixture
def unwritable(tmp_path: Path) -> Iterator[Path]:
    """A folder that nobody may write to; root may, so it is asked for a file in a file's place."""
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):
        (tmp_path / "in-the-way").write_text("a file")
        folder = tmp_path / "in-the-way" / "folder"
    yield folder
    if folder.is_dir():
        folder.chmod(0o700)
