"""The budget: what counts as a line and as a name, and what a comparison says."""

import json
import time
from pathlib import Path

import pytest

from scripts import budget

MODULE = '''"""A docstring,
over two lines."""

import os  # a comment after code

LIMIT = 3
"""What the limit is for."""

# A comment.
def read(path):
    """Read it."""
    # Another.
    return """SELECT 1

# no comment, but a line of the text
"""


class Absent: """It is absent."""


_hidden, (first, *rest) = 0, (1, 2)
if os.name == "nt":
    SEPARATOR = ";"
else:
    SEPARATOR = ":"
os.environ["A"] = "b"
'''


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two rooms, a module of the ground and a test, and a budget of exactly that."""
    for name in ("__init__", "rooms/__init__", "rooms/kitchen", "hall/__init__"):
        path = tmp_path / "fluid_build" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "fluid_build/rooms/kitchen.py").write_text(MODULE)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_kitchen.py").write_text("def test_it(): ...\n")
    assert budget.main(["--update", "--root", str(tmp_path)]) == 0
    return tmp_path


def record(root: Path, *, ratio: float, busy: float = 1.0) -> None:
    """Write what a run of the tests records."""
    folder = root / budget.SUITE_TIMES
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "seconds": 60.0,
        "processors": 2,
        "ratio": ratio,
        "busy": busy,
        "finished": time.time() - 600,
    }
    (folder / "test").write_text(json.dumps(document))


def check(root: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    code = budget.main(["--root", str(root)])
    return code, capsys.readouterr().out


def test_lines_are_code_without_comments_docstrings_and_blanks() -> None:
    assert budget.count_lines(MODULE) == 13


@pytest.mark.parametrize(
    "free", ["# comment", "", '"""Loose text."""', '"""Over\n\ntwo lines."""', "    # indented"]
)
def test_explaining_costs_nothing(free: str) -> None:
    assert budget.count_lines(f"a = 1\n{free}\nb = 2\n") == 2


def test_names_are_those_defined_at_the_top() -> None:
    assert budget.public_names(MODULE) == {"LIMIT", "read", "Absent", "first", "rest", "SEPARATOR"}


def test_a_repository_within_its_budget_passes(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(repository, capsys) == (0, "Within the budget: 14 lines in 4 rooms.\n")


def test_a_room_over_its_budget_fails_by_name(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "fluid_build/hall/mirror.py").write_text("def look(): ...\n")
    code, out = check(repository, capsys)
    assert code == 1
    assert "hall has 1 lines, 1 over its budget of 0. Raise it in budget.toml" in out
    assert "hall has 2 modules, 1 over its budget of 1." in out
    assert "hall has 1 names, 1 over its budget of 0." in out
    assert "rooms" not in out


def test_room_that_was_made_is_to_be_kept(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "fluid_build/rooms/kitchen.py").write_text("def cook(): ...\n")
    code, out = check(repository, capsys)
    assert code == 0
    assert "rooms has 1 lines, and a budget of 13. Lower it in budget.toml" in out


def test_a_room_without_a_budget_fails(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "fluid_build/attic").mkdir()
    (repository / "fluid_build/attic/__init__.py").write_text("")
    assert check(repository, capsys) == (1, "attic has no budget. Run --update to give it one.\n")


def test_a_budget_without_its_room_fails(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "fluid_build/hall/__init__.py").unlink()
    code, out = check(repository, capsys)
    assert (code, out.startswith("hall is gone.")) == (1, True)


def test_an_update_keeps_the_reasons(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = repository / "budget.toml"
    reason = 'why = "Cooking \\"well\\" takes recipes: é"'
    path.write_text(path.read_text().replace("[rooms.rooms]\n", f"[rooms.rooms]\n{reason}\n"))
    (repository / "fluid_build/rooms/cellar.py").write_text("WINE = 1\n")
    assert check(repository, capsys)[0] == 1
    budget.main(["--update", "--root", str(repository)])
    assert f"modules = 3\nnames = 7\n{reason}\n" in path.read_text()
    assert check(repository, capsys)[0] == 0


@pytest.mark.parametrize(
    ("ratio", "busy", "code", "sentence"),
    [
        (110, 1.0, 0, "a ratio of 110 with 2 processors. The budget is 100."),
        (130, 1.0, 1, "and 30% over it is too much."),
        (130, 1.9, 0, "too busy to compare"),
        (70, 1.0, 0, "Lower it in budget.toml"),
    ],
)
def test_the_last_whole_run_is_held_against_its_time(
    repository: Path,
    capsys: pytest.CaptureFixture[str],
    ratio: float,
    busy: float,
    code: int,
    sentence: str,
) -> None:
    record(repository, ratio=100)
    budget.main(["--update", "--root", str(repository)])
    record(repository, ratio=ratio, busy=busy)
    found, out = check(repository, capsys)
    assert (found, "make test took 60 s 10 min ago" in out) == (code, True)
    assert sentence in out


def test_without_a_recorded_run_the_time_is_not_checked(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(repository, ratio=100)
    budget.main(["--update", "--root", str(repository)])
    (repository / budget.SUITE_TIMES / "test").unlink()
    code, out = check(repository, capsys)
    assert (code, "make test: no whole run is recorded here" in out) == (0, True)


def test_a_busy_run_sets_no_budget(repository: Path) -> None:
    record(repository, ratio=100, busy=2.0)
    budget.main(["--update", "--root", str(repository)])
    assert "suites" not in (repository / "budget.toml").read_text()
