"""dbt run from another folder than the project's: the same source, the same database."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from fluid_build.forging import forge
from fluid_build.sources import open_source
from fluid_build.transform.dbt.running import run_dbt

HOSTILE = "it's [1] {{ a }} $b"
"""A folder's name that SQL, DuckDB's patterns, Jinja and dbt-duckdb's placeholders all know."""


def of_files(folder: Path) -> Path:
    """A folder of a file that is read where it lies, and one that is read from a copy."""
    data = folder / "data"
    data.mkdir(parents=True)
    (data / "t.csv").write_text("id,name\n1,a\n2,b\n", encoding="utf-8")
    (data / "copied.csv").write_bytes("id,price\n1,5 €\n2,7 €\n".encode("cp1252"))
    return data


def of_sqlite(folder: Path) -> Path:
    """A SQLite file, for which the project has a plugin."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "shop.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT);"
            "INSERT INTO t VALUES (1, 'a'), (2, 'b')"
        )
    connection.close()
    return path


def forged(source: Path, out: Path) -> Path:
    """The dbt project of a source."""
    with open_source(source) as opened:
        forge(opened, out=out)
    return out / "dbt"


def dbt_build(project: str, caller: Path) -> None:
    """Run dbt in one folder on the project in another."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "dbt.cli.main", "build"),
            *("--project-dir", project, "--profiles-dir", project),
        ],
        cwd=caller,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.usefixtures("dbt")
@pytest.mark.parametrize(
    ("source_of", "relative"),
    [(of_files, True), (of_sqlite, False)],
    ids=["files, by a relative path", "sqlite, by an absolute path"],
)
def test_dbt_builds_the_same_from_another_folder(
    tmp_path: Path, source_of: Callable[[Path], Path], relative: bool
) -> None:
    """The database is in the project, and nothing comes into the caller's folder."""
    folder = tmp_path / HOSTILE
    project = forged(source_of(folder), folder / "out")
    caller = tmp_path / "somewhere" / "else"
    caller.mkdir(parents=True)
    dbt_build(os.path.relpath(project, caller) if relative else str(project), caller)
    assert list(caller.iterdir()) == []
    (built,) = tmp_path.rglob("*.duckdb")
    assert built.parent == project
    with duckdb.connect(str(built), read_only=True) as connection:
        rows = connection.execute("SELECT id, name FROM t ORDER BY id").fetchall()
    assert rows == [(1, "a"), (2, "b")]


@pytest.mark.usefixtures("dbt")
def test_dbt_builds_in_a_folder_whose_name_looks_like_a_url(tmp_path: Path) -> None:
    """dbt-duckdb would take what follows a # for no part of the database's path."""
    folder = tmp_path / "C# projects"
    project = forged(of_sqlite(folder), folder / "out")
    assert run_dbt(project).ok
    assert len(list(project.glob("*.duckdb"))) == 1


def test_no_path_of_the_machine_is_in_the_project(tmp_path: Path) -> None:
    """What the project knows of places begins at its own folder, wherever that is."""
    project = forged(of_files(tmp_path / "here"), tmp_path / "here" / "out")
    for path in project.rglob("*"):
        if path.is_file() and path.suffix in {".yml", ".sql", ".md", ".json", ".py"}:
            assert str(tmp_path) not in path.read_text(encoding="utf-8"), path
