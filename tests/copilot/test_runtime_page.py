"""docs/runtime.md: every block of code on the page runs, and its tables leave nothing out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import fluid_build.cli.forge_copilot_agent_loop  # noqa: F401  Registers the built-in tools, once.
from fluid_build.copilot.llm.providers import PROVIDERS
from fluid_build.copilot.tools.registry import (
    FORGE_TOOL_REGISTRY,
    STAGED_TOOL_REGISTRY,
    TOOL_REGISTRY,
)

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "runtime.md").read_text("utf-8")
BLOCKS = [
    (PAGE.count("\n", 0, block.start()) + 2, block.group(1))
    for block in re.finditer(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
]
VARIABLE = re.compile(r"\bFLUID_[A-Z_]+[A-Z]\b")


@pytest.fixture
def _clean_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder, no settings from outside, and no tools but the page's own."""
    for name in sorted(set(VARIABLE.findall(PAGE))):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    registries: list[dict[str, object]] = [
        FORGE_TOOL_REGISTRY,  # type: ignore[list-item]
        TOOL_REGISTRY,  # type: ignore[list-item]
        STAGED_TOOL_REGISTRY,  # type: ignore[list-item]
    ]
    saved = [dict(registry) for registry in registries]
    for registry in registries:
        registry.clear()
    yield
    for registry, content in zip(registries, saved, strict=True):
        registry.clear()
        registry.update(content)


@pytest.mark.usefixtures("_clean_place")
@pytest.mark.parametrize(("line", "code"), BLOCKS, ids=[f"line {line}" for line, _ in BLOCKS])
def test_every_code_block_runs(line: int, code: str) -> None:
    """Each block is a program of its own; what it asserts holds."""
    exec(compile("\n" * (line - 1) + code, "docs/runtime.md", "exec"), {"__name__": "sample"})


def test_the_page_has_a_sample_for_each_part() -> None:
    """Every section that describes a module has code under it."""
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    without = [text.partition("\n")[0] for text in sections if "```python" not in text]
    assert without == ["Environment variables"]


def test_every_environment_variable_is_in_the_table() -> None:
    """What the runtime reads from the environment is on the page, and nothing else is."""
    sources = (ROOT / "fluid_build" / "copilot").rglob("*.py")
    read = {name for path in sources for name in VARIABLE.findall(path.read_text("utf-8"))}
    keys = {name for provider in PROVIDERS.values() for name in provider.key_variables}
    table = PAGE.partition("## Environment variables")[2]
    assert set(VARIABLE.findall(table)) == read
    assert set(re.findall(r"\b[A-Z_]+_API_KEY\b", table)) == keys
