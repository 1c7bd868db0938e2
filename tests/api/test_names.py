"""The names of the API: offered by the package, typed, documented, and imported late."""

import subprocess
import sys
from pathlib import Path

import fluid_build
from fluid_build import api

ROOT = Path(__file__).parents[2]


def test_the_package_offers_what_the_api_does() -> None:
    offered = set(dir(fluid_build))
    assert set(api.__all__) <= offered
    for name in api.__all__:
        assert getattr(fluid_build, name) is getattr(api, name)


def test_every_name_is_documented() -> None:
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    missing = [name for name in api.__all__ if f"`{name}`" not in text and f"`{name}(" not in text]
    assert missing == []


def test_importing_the_package_imports_nothing_that_takes_time() -> None:
    code = (
        "import sys, fluid_build as fluid; fluid.__version__; dir(fluid);"
        " heavy = {'duckdb', 'pydantic', 'pandas', 'rich', 'jinja2', 'fluid_build.api'};"
        " sys.exit(bool(heavy & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_forge_stays_a_function_whatever_is_imported() -> None:
    """A submodule of that name would take its place on import."""
    modules = "fluid_build.cli.forging.commands, fluid_build.forging"
    code = f"import fluid_build as f, {modules}; f.forge.__call__"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_everything_may_be_imported_without_hiding_a_builtin() -> None:
    code = (
        "from fluid_build import *; import builtins; assert open is builtins.open; profile, forge"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(fluid_build, "profiel")
