"""The record of a suite's time: only of whole runs that passed, by the controller alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A project whose suite has a test that passes and one that is left out by its marker."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\ntestpaths = tests\nmarkers =\n    thorough: more\naddopts = -m 'not thorough'\n"
    )
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tests_suite_time"]\n')
    (tmp_path / "tests_suite_time.py").write_bytes((ROOT / "tests/suite_time.py").read_bytes())
    (tmp_path / "tests/test_one.py").write_text(
        "import pytest\ndef test_one(): ...\n@pytest.mark.thorough\ndef test_more(): assert False\n"
    )
    return tmp_path


def recorded(suite: Path, *arguments: str) -> dict[str, float] | None:
    """Run the suite, and return what it recorded."""
    command = [sys.executable, "-m", "pytest", "--suite-time", "test", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(suite), "PYTEST_ADDOPTS": ""}
    for name in [name for name in environment if name.startswith("PYTEST_XDIST")]:
        del environment[name]
    process = subprocess.run(
        command, cwd=suite, env=environment, capture_output=True, text=True, check=False
    )
    assert process.returncode in (0, 1), process.stdout + process.stderr
    path = suite / ".pytest_cache/v/suite_time/test"
    return json.loads(path.read_text()) if path.exists() else None


@pytest.mark.parametrize("arguments", [(), ("-n", "1")])
def test_a_whole_run_is_recorded(suite: Path, arguments: tuple[str, ...]) -> None:
    record = recorded(suite, *arguments)
    assert record is not None
    assert record["processors"] == 1
    assert record["ratio"] >= 0
    assert record["busy"] >= 0.9


@pytest.mark.parametrize("arguments", [("-k", "one"), ("tests/test_one.py",), ("-m", "")])
def test_a_selection_and_a_failure_are_not_recorded(
    suite: Path, arguments: tuple[str, ...]
) -> None:
    """The test that ``-m ""`` adds fails."""
    assert recorded(suite, *arguments) is None
