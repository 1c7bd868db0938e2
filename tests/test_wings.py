"""Each wing's tests import only their own wing and those below it.

So a wing is changed with the tests of ``make test-<wing>`` alone, and one that goes on to a room
above is a test of that room. What a test starts as a process of its own is no import.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WINGS = {
    "sources": ("lexicon", "sources"),
    "forge": (
        *("profiling", "changes", "observations", "decisions", "modeling", "transform"),
        *("contract", "report", "demo", "forging", "verification", "evolution", "automation"),
    ),
    "agents": ("copilot", "monitoring", "pipeline", "assistants", "agent_loop"),
}
"""The rooms of each wing, from the lowest; ``Makefile`` has the folders of its tests."""
ABOVE = {"api", "cli"}
DOCUMENTED = {
    "agents": ("fluid_build.cli.forge_tool", "fluid_build.cli.forge_copilot_agent_loop"),
}
"""Import paths of the wing below that the documents name, though they're in a room above."""


def folders(wing: str) -> list[str]:
    """Return the folders of tests that ``make test-<wing>`` runs."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(rf"^test-{wing}:.*\n((?:\t.*\n)+)", makefile, re.M)
    assert recipe is not None
    return re.findall(r"tests/\w+", recipe[1])


def may_import(wing: str) -> set[str]:
    """Return the rooms of a wing and of those below it, and the modules of the ground."""
    order = list(WINGS)
    rooms = {room for below in order[: order.index(wing) + 1] for room in WINGS[below]}
    return rooms | {path.stem for path in (ROOT / "fluid_build").glob("[!_]*.py")}


def imported(module: Path) -> Iterator[str]:
    """Yield the names that a module imports, wherever in it, by their full paths."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def reached(module: Path, root: Path, seen: set[Path]) -> Iterator[str]:
    """Yield what a module of the tests imports of the product, also through others of them."""
    seen.add(module)
    for name in imported(module):
        if name.split(".")[0] == "fluid_build":
            yield name
        elif name.split(".")[0] == "tests":
            for path in (name, name.rpartition(".")[0]):
                support = root / f"{path.replace('.', '/')}.py"
                if support.is_file() and support not in seen:
                    yield from reached(support, root, seen)


def from_above(wing: str, places: list[str], root: Path = ROOT) -> list[str]:
    """Return the imports of rooms above a wing by its tests, as ``path: name``."""
    rooms = may_import(wing)
    return [
        f"{module.relative_to(root)}: {name}"
        for place in places
        for module in sorted((root / place).rglob("*.py"))
        for name in sorted(set(reached(module, root, set())))
        if f"{name}.".split(".")[1] not in rooms
        and not f"{name}.".startswith(tuple(f"{path}." for path in DOCUMENTED.get(wing, ())))
    ]


@pytest.mark.parametrize("wing", WINGS)
def test_tests_import_only_their_own_wing_and_those_below(wing: str) -> None:
    places = folders(wing)
    assert places
    assert from_above(wing, places) == []


def test_every_room_is_in_a_wing_or_above() -> None:
    rooms = {path.parent.name for path in (ROOT / "fluid_build").glob("*/__init__.py")}
    assert rooms == {room for wing in WINGS.values() for room in wing} | ABOVE


def test_the_tests_of_each_room_of_a_wing_are_run_with_it() -> None:
    for wing, rooms in WINGS.items():
        tested = {f"tests/{room}" for room in rooms if (ROOT / "tests" / room).is_dir()}
        assert tested - {"tests/demo"} <= set(folders(wing))


@pytest.mark.parametrize("name", [name for names in DOCUMENTED.values() for name in names])
def test_the_exceptions_are_documented(name: str) -> None:
    pages = (path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
    assert any(name in page for page in pages)


@pytest.mark.parametrize(
    ("line", "is_above"),
    [
        ("from fluid_build.sources import open_source", False),
        ("from fluid_build.errors import FluidError", False),
        ("from fluid_build import lexicon", False),
        ("from fluid_build.profiling import profile_source", True),
        ("import fluid_build.api", True),
        ("import fluid_build", True),
        ("def test() -> None:\n    from fluid_build import forging", True),
        ("from tests.support import forged", True),
        ("from tests import support", True),
    ],
)
def test_an_import_from_above_is_named(tmp_path: Path, line: str, is_above: bool) -> None:
    """Wherever it stands, and through a module of the tests as well."""
    (tmp_path / "tests/sources").mkdir(parents=True)
    (tmp_path / "tests/support.py").write_text("from fluid_build.forging import forge as forged\n")
    (tmp_path / "tests/sources/test_it.py").write_text(f"{line}\n")
    found = from_above("sources", ["tests/sources"], tmp_path)
    assert [entry.partition(":")[0] for entry in found] == ["tests/sources/test_it.py"] * is_above
