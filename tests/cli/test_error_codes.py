"""The errors of the command: as JSON, and each with a section that can be printed."""

import ast
import json
from pathlib import Path

import pytest

from fluid_build.cli.error_pages import BUG, SECTIONS, code_of, errors_page
from fluid_build.errors import FluidError, UsageError
from tests.cli.running import Fluid

ROOT = Path(__file__).parents[2]
OF_ONE_ROOM = {"FluidError", "UnnamedColumnsError", "QueryFailedError", "ModelOutdatedError"}
"""The root, and classes that no command raises by themselves: they have the code of their base."""


def error_classes() -> set[str]:
    """Return the names of all classes of errors, wherever they are defined."""
    bases: dict[str, list[str]] = {}
    for path in (ROOT / "fluid_build").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = [each.id for each in node.bases if isinstance(each, ast.Name)]

    def is_error(name: str, seen: tuple[str, ...] = ()) -> bool:
        return name == "FluidError" or any(
            is_error(base, (*seen, name)) for base in bases.get(name, ()) if base not in seen
        )

    return {name for name in bases if is_error(name)}


def test_each_class_of_errors_has_a_section() -> None:
    classes = error_classes()
    assert classes - OF_ONE_ROOM <= set(SECTIONS)
    assert len(set(SECTIONS) - classes) == 4


def test_the_page_has_the_sections() -> None:
    assert (ROOT / "docs/errors.md").read_text(encoding="utf-8") == errors_page()


@pytest.mark.parametrize("code", [*SECTIONS][::9])
def test_help_prints_the_section_of_an_error(fluid: Fluid, code: str) -> None:
    for word in (code, code.lower()):
        result = fluid("help", word)
        assert result.code == 0
        assert result.out.startswith(f"## {code}\n")
        assert SECTIONS[code].remedy in result.out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("profile", "missing.db"), "SourceNotFoundError"),
        (("profile", "notes.md"), "UnknownSourceError"),
        (("profile", "--no-such-option"), "UsageError"),
        (("runs", "show", "nothing"), None),
    ],
)
def test_an_error_is_json_where_that_is_asked_for(
    fluid: Fluid,
    arguments: tuple[str, ...],
    code: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.md").write_text("# Notes\n")
    result = fluid(*arguments, "--json")
    document = json.loads(result.out)
    assert set(document) == {"error", "message", "hint", "commands", "exit_code"}
    assert document["exit_code"] == result.code == 2
    assert document["error"] in SECTIONS
    assert code is None or document["error"] == code
    assert document["message"].rstrip(".") in " ".join(result.err.split())
    assert fluid(*arguments).out == ""


def test_an_error_without_a_section_of_its_own_has_the_code_of_its_base() -> None:
    class OfOursError(FluidError):
        pass

    class FurtherError(UsageError):
        pass

    assert code_of(FurtherError("x")) == "UsageError"
    assert code_of(ValueError("x")) == BUG
    assert code_of(OfOursError("x")) == BUG
