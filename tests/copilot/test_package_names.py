"""The names of ``fluid_build.copilot``: imported on first use, and nothing before."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from fluid_build import copilot

LOADED_BY_IMPORT = """
import sys
before = set(sys.modules)
import fluid_build.copilot
assert "LlmClient" in dir(fluid_build.copilot)
print(*sorted(set(sys.modules) - before))
"""


@pytest.mark.parametrize("name", copilot.__all__)
def test_a_name_of_the_package_is_the_one_of_its_module(name: str) -> None:
    member = getattr(copilot, name)
    module = importlib.import_module(f"fluid_build.copilot.{copilot._MODULES[name]}")
    assert member is getattr(module, name)


def test_every_listed_name_has_a_module() -> None:
    assert sorted(copilot._MODULES) == copilot.__all__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"fluid_build\.copilot.*'Agnet'"):
        copilot.Agnet  # noqa: B018


def test_importing_the_package_loads_nothing_else() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", LOADED_BY_IMPORT], capture_output=True, text=True, check=True
    ).stdout.split()
    assert loaded == ["fluid_build", "fluid_build.copilot"]


def test_importing_a_light_part_loads_no_http_client() -> None:
    """Pydantic is all that the tools need."""
    code = "import sys; from fluid_build.copilot import forge_tool; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"httpx", "stamina", "yaml", "numpy", "asyncio"} & set(loaded)


def test_the_runtime_page_lists_every_name() -> None:
    page = (Path(__file__).parents[2] / "docs" / "runtime.md").read_text("utf-8")
    names = page.partition("are in the package itself")[2].partition(".\n")[0]
    assert [name for name in copilot.__all__ if f"`{name}`" not in names] == []
