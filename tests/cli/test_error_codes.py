"""The errors of the command: as JSON, and each with a section that can be printed."""

import ast
import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from fluid_build.cli import main
from fluid_build.cli.error_pages import BUG, SECTIONS, code_of, errors_page
from fluid_build.cli.interrupts import Interrupts
from fluid_build.errors import (
    DecisionProblem,
    FaultyFileError,
    FluidError,
    MissingExtraError,
    UndecidedError,
    UsageError,
    VersionsLostError,
)
from tests.cli.running import Fluid

ROOT = Path(__file__).parents[2]
OF_ONE_ROOM = {"FluidError", "UnnamedColumnsError", "QueryFailedError", "ModelOutdatedError"}
"""The root, and classes that no command raises by themselves: they have the code of their base."""

FIELDS = {"error", "message", "hint", "commands", "details", "exit_code"}


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
    assert set(document) == FIELDS
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


def subclasses(kind: type[FluidError]) -> Iterator[type[FluidError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from subclasses(each)


def an_error(kind: type[FluidError]) -> FluidError:
    """Return an error of a class as it's raised, whatever its own arguments are."""
    if issubclass(kind, FaultyFileError):
        return kind("f.yaml", [DecisionProblem("a"), DecisionProblem("b")])
    error = kind.__new__(kind)
    FluidError.__init__(error, "It went wrong.", hint="Do this.", details=["a", "b"])
    if isinstance(error, UndecidedError):
        error.commands = ("fluid decide x",)
    if isinstance(error, MissingExtraError):
        error.extra = "mcp"
    return error


def the_only_document(text: str) -> dict[str, object]:
    """Return the JSON object that stdout holds, and nothing beside it."""
    document, end = json.JSONDecoder().raw_decode(text)
    assert text[end:] == "\n"
    assert set(document) == FIELDS
    assert document["error"] in SECTIONS
    return document


def test_every_error_ends_as_one_object(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("copilot.errors", "copilot.mcp.errors", "verification.changes"):
        importlib.import_module(f"fluid_build.{module}")
    kinds = {kind for kind in subclasses(FluidError) if kind.__module__.startswith("fluid_build")}
    raised = [*map(an_error, kinds), OSError(28, "full"), MemoryError(), ValueError("x")]
    assert len(raised) > 60
    for error in raised:

        def fail(*_: object, error: Exception = error) -> int:
            raise error

        monkeypatch.setattr(main, "_invoke", fail)
        code = main.run(["profile", "x", "--json"], Interrupts())
        document = the_only_document(capsys.readouterr().out)
        expected = {UndecidedError: 4, VersionsLostError: 1}.get(type(error), 2)
        assert document["exit_code"] == code == expected
        assert document["error"] == code_of(error)
        assert document["details"] == (["a", "b"] if isinstance(error, FluidError) else [])


def commands_with_json() -> Iterator[tuple[str, ...]]:
    """Yield the words of each command that has ``--json``."""

    def below(command: object, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        real = command.load() if hasattr(command, "load") else command
        inner = getattr(real, "list_commands", None)
        if inner is not None:
            context = typer.Context(real)  # type: ignore[arg-type]
            for name in inner(context):
                yield from below(real.get_command(context, name), (*words, name))  # type: ignore[union-attr]
        elif any("--json" in parameter.opts for parameter in real.params):  # type: ignore[union-attr]
            yield words

    return below(main.command_tree(), ())


def test_every_command_with_json_says_an_error_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    commands = [*commands_with_json()]
    assert {("apply",), ("plan",), ("rollback",), ("verify",), ("runs", "show")} <= {*commands}
    for words in commands:
        assert main.run([*words, "--json", "--no-such-option"], Interrupts()) == 2
        assert the_only_document(capsys.readouterr().out)["error"] == "UsageError"


def test_no_command_tells_a_failure_in_its_own_way() -> None:
    """``failures.tell`` knows about JSON, so whatever a command catches goes there too."""
    for path in (ROOT / "fluid_build/cli").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert path.name == "failures.py" or not re.search(
            r"failures\.(show|_show_json)\(", text
        ), path
