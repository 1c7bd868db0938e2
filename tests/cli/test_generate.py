"""``fluid generate``: its scripts are run in a repository, with the real command."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import COMMAND, Fluid, run
from tests.forges import forged

SHOP = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, city VARCHAR(20))",
    "CREATE TABLE sale (id INTEGER PRIMARY KEY, customer INTEGER, paid DECIMAL(9, 2))",
    "INSERT INTO customer SELECT i, 'Town ' || i % 5 FROM generate_series(1, 40) s(i)",
    "INSERT INTO sale SELECT i, 1 + i % 40, i * 1.5 FROM generate_series(1, 90) s(i)",
)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fluid: Fluid) -> Path:
    """A repository with a star and its CI, and commands on the path that install nothing."""
    monkeypatch.setenv("FLUID_HOME", str(tmp_path / "home"))
    repository = tmp_path / "repository"
    repository.mkdir()
    run(tmp_path / "shop.duckdb", *SHOP)
    forged(tmp_path / "shop.duckdb", repository / "my shop", "dimensional")
    source = ("--uri", tmp_path / "shop.duckdb")
    command = ("generate", "ci", repository / "my shop", "--for", "gitlab", "-o", repository)
    assert fluid(*command).code == 2
    outcome = fluid(*command, *source)
    assert outcome.code == 0, outcome.err
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, line in (("fluid", f'{shlex.join(COMMAND)} "$@"'), ("python", ":")):
        (commands / name).write_text(f"#!/bin/sh\n{line}\n")
        (commands / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, sys.path)))
    git(repository, "init", "--quiet", "--initial-branch=main")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=The shop")
    return repository


def git(repository: Path, *words: str) -> None:
    who = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    subprocess.run(["git", *who, *words], cwd=repository, check=True, capture_output=True)


def script(repository: Path, name: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["sh", f"ci/my-shop-{name}.sh", *words]
    return subprocess.run(command, cwd=repository, check=False, capture_output=True, text=True)


def test_a_review_passes_what_can_be_applied_and_stops_at_what_must_be_decided(
    repository: Path,
) -> None:
    outcome = script(repository, "review", "main")
    assert outcome.returncode == 0, outcome.stderr
    assert "everything is created" in (repository / "review.txt").read_text()
    run(repository.parent / "shop.duckdb", "ALTER TABLE customer RENAME COLUMN city TO town")
    outcome = script(repository, "review", "main")
    assert outcome.returncode == 1
    assert "town" in (repository / "review.txt").read_text()


def test_a_night_loads_and_says_how_it_is(repository: Path, dbt: str) -> None:
    outcome = script(repository, "nightly")
    assert outcome.returncode == 0, outcome.stderr
    assert "all is well" in outcome.stdout
    run(repository.parent / "shop.duckdb", "ALTER TABLE customer RENAME COLUMN city TO town")
    outcome = script(repository, "nightly")
    assert outcome.returncode == 4
    assert "nobody has decided" in "\n".join(outcome.stderr.splitlines()[-10:])


def test_a_file_that_somebody_edited_is_kept(fluid: Fluid, repository: Path) -> None:
    folder = repository / "my shop"
    edited = repository / ".gitlab" / "my-shop.yml"
    edited.write_text("ours: 1\n")
    command = ("generate", "ci", folder, "--for", "gitlab", "-o", repository)
    source = ("--uri", repository.parent / "shop.duckdb")
    outcome = fluid(*command, *source)
    assert (outcome.code, edited.read_text()) == (2, "ours: 1\n")
    fluid(*command, *source, "--force")
    assert edited.read_text() != "ours: 1\n"


def test_a_folder_outside_of_the_repository_is_refused(fluid: Fluid, repository: Path) -> None:
    elsewhere = repository.parent / "elsewhere"
    elsewhere.mkdir()
    command = ("generate", "ci", repository / "my shop", "--for", "github", "-o", elsewhere)
    assert fluid(*command).code == 2
