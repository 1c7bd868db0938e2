"""The wheel: it holds the package and nothing else, and runs where nothing else of ours is."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

import fluid_build

ROOT = Path(__file__).parent.parent
TESTED_WHEEL = "TESTED_WHEEL"
"""A variable with the path of a wheel that is to be tested instead of a new one, for a release."""


def run(*command: str | Path, cwd: Path) -> str:
    """Run a program that knows nothing of the repository, and return what it prints."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment = {**inherited, "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this repository."""
    if given := os.environ.get(TESTED_WHEEL):
        return Path(given).resolve()
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own with the wheel, which sees the locked dependencies of ours.

    They're on a path, whose own path files Python doesn't read: so the repository, which is
    installed by such a file, stays unknown.
    """
    folder = tmp_path_factory.mktemp("installed")
    for command in _installing(folder / "env", wheel):
        run(*command, cwd=folder)
    paths = sysconfig.get_paths(vars={"base": str(folder / "env")})
    dependencies = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (Path(paths["purelib"]) / "dependencies.pth").write_text("\n".join(sorted(dependencies)))
    return folder / "env"


def _installing(environment: Path, wheel: Path) -> Sequence[Sequence[str | Path]]:
    """Return the commands that make an environment and install the wheel, without a network."""
    python = environment / "bin" / "python"
    if uv := shutil.which("uv"):
        make: list[str | Path] = [uv, "venv", "--quiet", "--python", sys.executable, environment]
        install = [uv, "pip", "install", "--quiet", "--offline", "--no-deps", "--python", python]
        return (make, [*install, wheel])
    return (
        [sys.executable, "-m", "venv", environment],
        [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel],
    )


_PYDANTIC = (
    "pydantic",
    "pydantic-core",
    "annotated-types",
    "typing-inspection",
    "typing-extensions",
)
"""Pydantic and all that it needs."""

_RUNTIME_ALONE = """
import fluid_build.copilot as runtime
from fluid_build.copilot import (
    Agent, Checkpoint, Composite, CompositeAgent, ScriptedProvider, SqliteBackend, ToolCall,
    completion, forge_tool,
)
from fluid_build.copilot.agents.composite import resume_sync, run_sync
from fluid_build.copilot.context.window_manager import ContextWindowManager
from fluid_build.copilot.errors import AgentExecutionError
from pydantic import BaseModel


class Capital(BaseModel):
    city: str


class Guide(CompositeAgent):
    def init(self, args):
        steps = [completion("ask", "Which city?"), completion("praise", "Praise it.")]
        return Composite(agent=agent, steps=steps)


@forge_tool
def letters(word: str) -> int:
    \"\"\"Count the letters of a word.\"\"\"
    return len(word)


for name in set(runtime.__all__) - {"LlmClient", "make_provider"}:
    getattr(runtime, name)
call, paris = ToolCall("1", "letters", {"word": "abc"}), {"city": "Paris"}
model = ScriptedProvider([call, paris, AgentExecutionError("it is gone"), paris])
agent = Agent(model, tools=[letters], output=Capital, name="guide")
checkpoint = Checkpoint(SqliteBackend("runs.db"), "tour")
assert not run_sync(Guide, {}, checkpoint=checkpoint).ok
again = Checkpoint(SqliteBackend("runs.db"), "tour")
assert resume_sync(Guide, {}, checkpoint=again).response == Capital(city="Paris")
assert len(model.prompts) == 4 and "3" in str(model.prompts[1].messages)
assert ContextWindowManager().create_window([{"role": "user", "content": "hi"}]).current_tokens
try:
    runtime.LlmClient
except Exception as error:
    print(type(error).__name__)
"""


@pytest.fixture(scope="module")
def with_pydantic_alone(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own with the wheel and Pydantic, and no other package."""
    folder = tmp_path_factory.mktemp("pydantic") / "env"
    for command in _installing(folder, wheel):
        run(*command, cwd=folder.parent)
    site = Path(sysconfig.get_paths(vars={"base": str(folder)})["purelib"])
    for name in _PYDANTIC:
        distribution = importlib.metadata.distribution(name)
        for entry in {file.parts[0] for file in distribution.files or ()} - {"__pycache__"}:
            (site / entry).symlink_to(Path(str(distribution.locate_file(entry))))
    return folder


def test_the_runtime_works_with_pydantic_alone(with_pydantic_alone: Path, tmp_path: Path) -> None:
    """Agents, tools and saved composites need nothing else; a client says which extra it needs."""
    python = with_pydantic_alone / "bin" / "python"
    listed = "import importlib.metadata as m; print(*{d.name for d in m.distributions()})"
    found = set(run(python, "-c", listed, cwd=tmp_path).replace("_", "-").split())
    assert found - {"pip", "setuptools"} == {"fluid-build", *_PYDANTIC}
    (tmp_path / "runtime_alone.py").write_text(_RUNTIME_ALONE)
    assert run(python, "-c", "import runtime_alone", cwd=tmp_path) == "MissingExtraError\n"


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    metadata = f"fluid_build-{fluid_build.__version__}.dist-info/"
    package = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "fluid_build").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert {name for name in names if not name.startswith(metadata)} == package
    assert "fluid_build/py.typed" in package
    assert not [name for name in names if "fault_server" in name or "/wire/" in name]
    assert {".html", ".js", ".css", ".toml", ".json"} <= {Path(name).suffix for name in package}


def test_the_demo_is_proven_where_only_the_wheel_is_installed(
    environment: Path, tmp_path: Path
) -> None:
    origin = "import fluid_build; print(fluid_build.__file__)"
    imported = Path(run(environment / "bin/python", "-c", origin, cwd=tmp_path).strip())
    assert imported.is_relative_to(environment)
    out = run(environment / "bin/fluid", "demo", cwd=tmp_path)
    assert "✓ Proven. Every table was rebuilt exactly: no row is missing, none was added." in out
    proof = json.loads((tmp_path / "demo-shop/proof.json").read_text())
    assert proof["verdict"] == "proven"
    assert sum(table["rebuilt"] for table in proof["tables"]) == 200_000
