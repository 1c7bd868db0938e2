"""Where an optional package is missing, an error names what to install."""

import importlib.metadata
import json
import subprocess
import sys

import pytest

from fluid_build.errors import MissingExtraError
from fluid_build.extras import install_command, needs_extra


def test_the_packages_of_the_extra_are_named(monkeypatch):
    """Those of the installed distribution, not its name, which another project has on PyPI."""
    requirements = ["duckdb==1.5.5", "httpx>=0.28; extra == 'llm'", 'mcp>=2.3; extra == "mcp"']
    monkeypatch.setattr(importlib.metadata, "requires", lambda _: requirements)
    assert install_command("llm") == "pip install 'httpx>=0.28'"
    assert install_command("mcp") == "pip install 'mcp>=2.3'"


def test_without_metadata_the_clone_is_installed(monkeypatch):
    """Code that runs from a folder has no distribution."""

    def refuse(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", refuse)
    assert install_command("llm") == "pip install '.[llm]'"


def test_a_bug_of_ours_is_not_a_missing_extra():
    """A module of this package that doesn't exist is no package to install."""
    with pytest.raises(ModuleNotFoundError), needs_extra("llm", "This"):
        raise ModuleNotFoundError(name="fluid_build.nothing")
    with pytest.raises(MissingExtraError), needs_extra("llm", "This"):
        raise ModuleNotFoundError(name="httpx")


_WITHOUT_PACKAGES = """
import importlib, json, sys
from fluid_build.errors import MissingExtraError

sys.modules.update(dict.fromkeys(["httpx", "mcp", "opentelemetry"]))
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
        "llm.client": "llm",
        "llm.litellm_backend": "llm",
        "mcp.connection": "mcp",
        "mcp.serving": "mcp",
        "tools.otel": "otel",
    }
    command = [sys.executable, "-c", _WITHOUT_PACKAGES, *extras]
    completed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(completed.stdout) == extras
