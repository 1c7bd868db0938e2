"""Where an optional package is missing, an error names what to install."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fluid_build.errors import MissingExtraError
from fluid_build.extras import (
    DISTRIBUTION,
    NEWEST_PYTHON,
    foreign_distributions,
    install_command,
    needs_extra,
    python_for,
    runs_here,
)
from tests.distributions import install_distribution

ROOT = Path(__file__).parent.parent


@pytest.fixture
def site_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages that is the only one, except for Python's own modules."""
    own = [path for path in sys.path if "site-packages" not in path and Path(path) != ROOT]
    monkeypatch.setattr(sys, "path", [str(tmp_path), *own])
    return tmp_path


def test_an_extra_is_one_of_the_installed_distribution(site_packages: Path) -> None:
    """Which satisfies its own name, so that pip doesn't ask the index for it."""
    install_distribution(site_packages, DISTRIBUTION)
    assert install_command("llm") == "pip install 'fluid-build[llm]'"


@pytest.mark.usefixtures("site_packages")
def test_without_metadata_the_clone_is_installed() -> None:
    """Code that runs from a folder has no distribution."""
    assert install_command("llm") == "pip install '.[llm]'"


def test_other_distributions_with_a_package_of_our_name_are_found(site_packages: Path) -> None:
    for name in ("data-product-forge", "fluid_build", "fluid-forge"):
        install_distribution(site_packages, name)
    assert foreign_distributions() == ["data-product-forge", "fluid-forge"]


def test_a_distribution_of_other_packages_is_not_foreign(site_packages: Path) -> None:
    install_distribution(site_packages, DISTRIBUTION)
    install_distribution(site_packages, "duckdb", "duckdb")
    assert foreign_distributions() == []


@pytest.mark.parametrize(
    ("python", "runs"), [((3, 11, 2), True), ((3, 13), True), ((3, 14), False)]
)
def test_dbt_runs_up_to_a_version_of_python(
    monkeypatch: pytest.MonkeyPatch, python: tuple[int, ...], runs: bool
) -> None:
    monkeypatch.setattr(sys, "version_info", python)
    assert runs_here("dbt") is runs
    assert runs_here("llm")
    assert python_for("dbt") == "Python 3.13 or earlier"


def test_the_metadata_leaves_out_dbt_where_it_does_not_run() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    major, minor = NEWEST_PYTHON["dbt"]
    marker = f"python_version < '{major}.{minor + 1}'"
    assert all(r.endswith(marker) for r in project["optional-dependencies"]["dbt"])


def test_a_bug_of_ours_is_not_a_missing_extra():
    """A module of this package that doesn't exist is no package to install."""
    with pytest.raises(ModuleNotFoundError), needs_extra("llm", "This"):
        raise ModuleNotFoundError(name="fluid_build.nothing")
    with pytest.raises(MissingExtraError), needs_extra("llm", "This"):
        raise ModuleNotFoundError(name="httpx")


_WITHOUT_PACKAGES = """
import importlib, json, sys
from fluid_build.errors import MissingExtraError

sys.modules.update(dict.fromkeys(["dbos", "httpx", "mcp", "opentelemetry"]))
messages = {}
for name in sys.argv[1:]:
    try:
        importlib.import_module(f"fluid_build.copilot.{name}")
    except MissingExtraError as error:
        messages[name] = error.extra
print(json.dumps(messages))
"""


def test_each_part_of_the_runtime_names_its_extra():
    """Importing the module is enough to learn it."""
    extras = {
        "agents.dbos_workflows": "dbos",
        "llm.client": "llm",
        "llm.litellm_backend": "llm",
        "llm.litellm_transport": "llm",
        "mcp.connection": "mcp",
        "mcp.serving": "mcp",
        "tools.otel": "otel",
    }
    command = [sys.executable, "-c", _WITHOUT_PACKAGES, *extras]
    completed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(completed.stdout) == extras
