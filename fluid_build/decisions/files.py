"""``decisions.yaml``, read: typed entries, or everything that is wrong with it at once."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails, to_json

from fluid_build import limits
from fluid_build.decisions.faults import explain_fault
from fluid_build.decisions.language import DECISION, DECISION_NAMES, DECISION_TYPES, AnyDecision
from fluid_build.decisions.nodes import DecisionNodes, decision_nodes
from fluid_build.errors import DecisionError, DecisionProblem
from fluid_build.regular_files import read_regular
from fluid_build.text import did_you_mean

DECISIONS_FILE = "decisions.yaml"
SCHEMA_FILE = "decisions.schema.json"
MAX_BYTES = 8 * 1024 * 1024
"""Ten thousand entries, each with a query in its evidence, take some five megabytes."""

_TYPES = dict(zip(DECISION_NAMES, DECISION_TYPES, strict=True))
_DOCUMENT_FIELDS = ("version", "decisions")


@dataclass(frozen=True, slots=True)
class RecordedDecisions:
    """A file of decisions: its text as somebody wrote it, and what it says."""

    text: str = ""
    decisions: tuple[AnyDecision, ...] = ()


NOTHING_RECORDED = RecordedDecisions()


def recorded_decisions(out: Path | None, file: Path | None = None) -> RecordedDecisions:
    """Return the decisions of ``file`` or else of the output folder, with their text.

    A folder without a file has none. Raises DecisionError where a file isn't valid, or where
    ``file`` doesn't exist.
    """
    if file is not None:
        return read_decision_file(file)
    place = None if out is None else out / DECISIONS_FILE
    if place is None or not place.exists():
        return NOTHING_RECORDED
    return read_decision_file(place)


def read_decision_file(path: Path) -> RecordedDecisions:
    """Return what a file of decisions says; raise DecisionError, or SourceError for a device."""
    too_large = "Split it, or remove what isn't needed."
    try:
        raw = read_regular(path, MAX_BYTES, too_large=too_large)
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        problem = DecisionProblem("it isn't UTF-8 text.", line)
        raise DecisionError(str(path), [problem], hint="Save the file as UTF-8.") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problem = DecisionProblem(f"it can't be read: {reason}.")
        raise DecisionError(str(path), [problem], hint="Check the path.") from None
    return RecordedDecisions(text, parse_decisions(text, str(path)))


def parse_decisions(text: str, file: str = DECISIONS_FILE) -> tuple[AnyDecision, ...]:
    """Return the decisions in a text; raise DecisionError with every problem in it."""
    return checked_decisions(decision_nodes(text, file), file)


def checked_decisions(nodes: DecisionNodes, file: str) -> tuple[AnyDecision, ...]:
    """Return the decisions of a file's entries; raise DecisionError with every problem."""
    entries = [_Entry(entry.value, entry.line, entry.lines) for entry in nodes.entries]
    return _checked_entries(entries, [*_document_problems(nodes)], file)


def decisions_of(values: Iterable[object]) -> tuple[AnyDecision, ...]:
    """Return decisions that a program passed as entries; DecisionError with every problem."""
    return _checked_entries([_Entry(value) for value in values], [], "decisions")


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry, and where it and its fields are if it's in a file."""

    value: object
    line: int | None = None
    lines: Mapping[str, int] = field(default_factory=dict)


def _checked_entries(
    entries: Iterable[_Entry], problems: list[DecisionProblem], file: str
) -> tuple[AnyDecision, ...]:
    decisions: list[AnyDecision] = []
    for number, entry in enumerate(entries, start=1):
        checked = _checked_entry(number, entry)
        if isinstance(checked, list):
            problems += checked
        else:
            decisions.append(checked)
    if problems:
        raise DecisionError(file, problems)
    return tuple(decisions)


def _document_problems(nodes: DecisionNodes) -> Iterator[DecisionProblem]:
    for name, (value, line) in nodes.fields.items():
        if name not in _DOCUMENT_FIELDS:
            guess = did_you_mean(name, _DOCUMENT_FIELDS)
            fields = "The document has `version` and `decisions`."
            yield DecisionProblem(f"unknown field {name!r}.", line, allowed=f"{guess}{fields}")
        elif value != 1:
            yield DecisionProblem("this version isn't known.", line, allowed="Write `version: 1`.")
    most = limits.DECISIONS.value
    if len(nodes.entries) > most:
        raise_limit = limits.DECISIONS.how_to_raise
        message = f"{len(nodes.entries):,} entries; the limit is {most:,}."
        yield DecisionProblem(message, allowed=raise_limit)


def _checked_entry(number: int, entry: _Entry) -> AnyDecision | list[DecisionProblem]:
    if not isinstance(entry.value, dict):
        allowed = "An entry is a mapping, such as `decision: ignore` and `table: orders`."
        return [DecisionProblem("not a mapping.", entry.line, number, allowed=allowed)]
    kind = entry.value.get("decision")
    if not isinstance(kind, str) or kind not in _TYPES:
        return [_unknown_kind(number, entry, kind)]
    try:
        return DECISION.validate_json(to_json(entry.value, fallback=str), strict=True)
    except ValidationError as error:
        return [
            _problem(number, entry, kind, detail)
            for detail in error.errors(include_url=False, include_input=False)
        ]


def _unknown_kind(number: int, entry: _Entry, kind: object) -> DecisionProblem:
    line = entry.lines.get("decision", entry.line)
    known = f"Known decisions: {', '.join(DECISION_NAMES)}."
    if not isinstance(kind, str):
        return DecisionProblem("`decision` is missing.", line, number, allowed=known)
    guess = did_you_mean(kind.replace("-", "_"), DECISION_NAMES)
    return DecisionProblem(f"unknown decision {kind!r}.", line, number, allowed=f"{guess}{known}")


def _problem(number: int, entry: _Entry, kind: str, detail: ErrorDetails) -> DecisionProblem:
    path = [*detail["loc"]][1:]  # The first part is the kind itself.
    field = str(path[0]) if path else ""
    known = ("decision", *(name for name in _TYPES[kind].model_fields if name != "decision"))
    message, allowed = explain_fault(path, detail, known, f"Fields of {kind}")
    return DecisionProblem(message, entry.lines.get(field, entry.line), number, kind, allowed)
