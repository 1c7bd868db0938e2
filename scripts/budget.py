"""How large the rooms are and how long the tests take, held against ``budget.toml``.

    python scripts/budget.py             # compare; exit code 1 where something is over its budget
    python scripts/budget.py --update    # write today's figures, and keep the reasons

A room is a package directly below ``fluid_build``, the modules beside them (``ground``), or one of
the folders ``tests``, ``bench`` and ``scripts``. Three figures are counted in its ``.py`` files:

- ``lines``: lines of code. Blank lines, comments and docstrings are free, those of attributes
  included, so that nobody saves on explaining. Each line of any other string counts, unless blank.
- ``modules``: the files, ``__init__.py`` included.
- ``names``: names without a leading underscore that are defined at the top of a module by
  ``def``, ``class``, an assignment or a ``type`` statement, under an ``if``, ``try`` or ``with``
  too. Imports don't count, and neither do the names of tests, bench and scripts.

How long the tests take is recorded by a whole run of them (``tests/suite_time.py``), in units of a
fixed piece of work, so that it may be compared between machines.
"""

import argparse
import ast
import json
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).parent.parent
BUDGET_FILE = "budget.toml"
PACKAGE = "fluid_build"
GROUND = "ground"
FOLDERS = ("tests", "bench", "scripts")
"""Rooms of the repository that nobody imports: their names are nobody's burden."""

FREE_PERCENT = 5
"""Less than this much below its budget, a room needs no lower one. It's room for a correction or
two; what is larger has been made on purpose, and would be taken again in silence."""

TIME_TOLERANCE = 0.20
"""How far a suite may be over its time. The piece of work that it's compared with takes a tenth
more or less from one run to the next, and a suite's waiting for disks and servers varies by itself.
"""

BUSIEST = 1.3
"""Above it, other programs took more of the machine's time than the tolerance allows for."""

SUITE_TIMES = Path(".pytest_cache/v/suite_time")
"""Where ``tests/suite_time.py`` keeps what it records, a file for each suite."""

_HEADER = """\
# How large each room may be, and how long the tests may take. `make check` compares, and says what
# to do. scripts/budget.py says what is counted, and rewrites the figures with --update. Write the
# reason of a figure next to it, as `why`: it's kept.
"""

Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Entry:
    """The figures of a room or a suite in the budget, and why they are what they are."""

    figures: Figures
    why: str = ""


@dataclass(frozen=True, slots=True)
class Budget:
    """What each room and each suite of tests may have."""

    rooms: Mapping[str, Entry] = field(default_factory=dict)
    suites: Mapping[str, Entry] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SuiteTime:
    """How long a suite took, on the clock and in units of the piece of work."""

    seconds: float
    processors: int
    ratio: float
    busy: float
    finished: float


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence on what was compared. ``fails`` where the check does."""

    sentence: str
    fails: bool = False


def count_lines(source: str) -> int:
    """Return how many lines of a module hold code."""
    lines = source.split("\n")
    free, quoted = set[int](), set[int]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and _is_string(node.value):
            # What a docstring's first line holds before it is code: `class Absent: """..."""`.
            shares = bool(lines[node.lineno - 1].encode()[: node.col_offset].strip())
            free.update(range(node.lineno + shares, (node.end_lineno or 0) + 1))
        elif _is_string(node):
            quoted.update(range(node.lineno + 1, (node.end_lineno or 0) + 1))
    return sum(
        bool(line.strip()) and row not in free and (row in quoted or line.lstrip()[0] != "#")
        for row, line in enumerate(lines, start=1)
    )


def _is_string(node: ast.AST) -> TypeGuard[ast.Constant | ast.JoinedStr]:
    is_plain = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return is_plain or isinstance(node, ast.JoinedStr)


def public_names(source: str) -> set[str]:
    """Return the names without underscore that a module defines at its top."""
    return {name for name in _defined(ast.parse(source).body) if not name.startswith("_")}


def _defined(body: Iterable[ast.stmt]) -> Iterator[str]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Assign(targets=targets):
                yield from (name for target in targets for name in _bound(target))
            case ast.AnnAssign(target=target):
                yield from _bound(target)
            case ast.If(body=inner, orelse=orelse):
                yield from _defined([*inner, *orelse])
            case ast.Try(body=inner, handlers=handlers, orelse=orelse, finalbody=final):
                handled = [statement for handler in handlers for statement in handler.body]
                yield from _defined([*inner, *handled, *orelse, *final])
            case ast.With(body=inner):
                yield from _defined(inner)
            case _ if type(node).__name__ == "TypeAlias":  # from Python 3.12 on
                yield from _bound(node.name)  # type: ignore[attr-defined]


def _bound(target: ast.expr) -> Iterator[str]:
    """Return the names that an assignment binds, without attributes and items of others."""
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            yield from (name for part in parts for name in _bound(part))
        case ast.Starred(value=value):
            yield from _bound(value)


def measure_rooms(root: Path) -> dict[str, Figures]:
    """Return the figures of each room below a folder, by its name."""
    package = root / PACKAGE
    folders = sorted(path for path in package.iterdir() if path.is_dir())
    rooms: dict[str, Figures] = {GROUND: _measured(sorted(package.glob("*.py")), named=True)}
    for folder in folders:
        if modules := sorted(folder.rglob("*.py")):
            rooms[folder.name] = _measured(modules, named=True)
    for name in FOLDERS:
        if modules := sorted((root / name).rglob("*.py")):
            rooms[name] = _measured(modules, named=False)
    return rooms


def _measured(modules: Sequence[Path], *, named: bool) -> Figures:
    sources = [module.read_text(encoding="utf-8") for module in modules]
    figures = {"lines": sum(map(count_lines, sources)), "modules": len(modules)}
    if named:
        figures["names"] = sum(len(public_names(source)) for source in sources)
    return figures


def read_suite_times(root: Path) -> dict[str, SuiteTime]:
    """Return what whole runs of the tests recorded last, by the suite's name."""
    return {
        path.name: SuiteTime(**json.loads(path.read_text(encoding="utf-8")))
        for path in sorted((root / SUITE_TIMES).glob("*"))
    }


def read_budget(root: Path) -> Budget:
    """Return the budget of a repository; an empty one where it has no file."""
    path = root / BUDGET_FILE
    if not path.exists():
        return Budget()
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return Budget(_entries(document.get("rooms", {})), _entries(document.get("suites", {})))


def _entries(document: Mapping[str, Mapping[str, float | str]]) -> dict[str, Entry]:
    entries = {}
    for name, values in document.items():
        figures = {key: value for key, value in values.items() if not isinstance(value, str)}
        entries[name] = Entry(figures, str(values.get("why", "")))
    return entries


def compare_rooms(budget: Budget, rooms: Mapping[str, Figures]) -> Iterator[Finding]:
    """Hold the figures of each room against the budget."""
    for name in sorted(budget.rooms.keys() - rooms.keys()):
        yield Finding(f"{name} is gone. Run --update to remove it from {BUDGET_FILE}.", fails=True)
    for name, figures in rooms.items():
        if name not in budget.rooms:
            yield Finding(f"{name} has no budget. Run --update to give it one.", fails=True)
            continue
        for key, figure in figures.items():
            limit = budget.rooms[name].figures.get(key, 0)
            if figure > limit:
                yield Finding(
                    f"{name} has {figure:,} {key}, {figure - limit:,} over its budget of {limit:,}."
                    f" Raise it in {BUDGET_FILE} with the reason in your commit, or make room.",
                    fails=True,
                )
            elif figure < limit * (1 - FREE_PERCENT / 100):
                yield Finding(
                    f"{name} has {figure:,} {key}, and a budget of {limit:,}. Lower it in"
                    f" {BUDGET_FILE}, so that the room that you made stays."
                )


def compare_suites(
    budget: Budget, times: Mapping[str, SuiteTime], *, now: float
) -> Iterator[Finding]:
    """Hold the last whole run of each suite that has a budget against it."""
    for name, entry in budget.suites.items():
        limit = entry.figures["ratio"]
        if (taken := times.get(name)) is None:
            yield Finding(f"make {name}: no whole run is recorded here, so its time isn't checked.")
            continue
        over = taken.ratio / limit - 1
        sentence = (
            f"make {name} took {taken.seconds:.0f} s {_ago(now - taken.finished)}, a ratio of"
            f" {taken.ratio:.0f} with {taken.processors} processors. The budget is {limit:.0f}"
        )
        if taken.busy > BUSIEST:
            yield Finding(f"{sentence}, but the machine was too busy to compare. Run it again.")
        elif over > TIME_TOLERANCE:
            advice = f"Raise it in {BUDGET_FILE} with the reason in your commit, or make it quicker"
            yield Finding(f"{sentence}, and {over:.0%} over it is too much. {advice}.", fails=True)
        elif over < -TIME_TOLERANCE:
            yield Finding(f"{sentence}. Lower it in {BUDGET_FILE}, so that it stays so quick.")
        else:
            yield Finding(f"{sentence}.")


def _ago(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min ago" if minutes < 120 else f"{minutes // 60} h ago"


def budget_text(
    budget: Budget, rooms: Mapping[str, Figures], times: Mapping[str, SuiteTime]
) -> str:
    """Return a budget of the figures, with the reasons of the one before."""
    suites: dict[str, Figures] = {name: entry.figures for name, entry in budget.suites.items()}
    quiet = {name: taken for name, taken in times.items() if taken.busy <= BUSIEST}
    suites |= {name: {"ratio": round(taken.ratio)} for name, taken in quiet.items()}
    sections = [
        *(_section(f"rooms.{name}", rooms[name], budget.rooms.get(name)) for name in rooms),
        *(_section(f"suites.{name}", suites[name], budget.suites.get(name)) for name in suites),
    ]
    return "\n".join([_HEADER, *sections])


def _section(title: str, figures: Figures, entry: Entry | None) -> str:
    lines = [f"[{title}]", *(f"{key} = {figure}" for key, figure in figures.items())]
    if entry and entry.why:
        # What JSON writes of a string is a string of TOML too.
        lines.append(f"why = {json.dumps(entry.why, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compare the repository with its budget.")
    parser.add_argument("--update", action="store_true", help="write today's figures")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    options = parser.parse_args(arguments)
    budget = read_budget(options.root)
    rooms, times = measure_rooms(options.root), read_suite_times(options.root)
    if options.update:
        text = budget_text(budget, rooms, times)
        (options.root / BUDGET_FILE).write_text(text, encoding="utf-8")
        print(f"Wrote {BUDGET_FILE}. Give the reasons in your commit.")
        return 0
    now = time.time()
    findings = [*compare_rooms(budget, rooms), *compare_suites(budget, times, now=now)]
    for finding in findings:
        print(finding.sentence)
    if any(finding.fails for finding in findings):
        return 1
    lines = sum(figures["lines"] for figures in rooms.values())
    print(f"Within the budget: {lines:,} lines in {len(rooms)} rooms.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
