"""An intent, read from a file or an argument, or everything that is wrong with it at once."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from fluid_build.contract.read.located import LocatedDocument
from fluid_build.contract.read.parsers import read_yaml
from fluid_build.decisions.faults import explain_fault
from fluid_build.decisions.language import DECISION_NAMES, DECISION_TYPES
from fluid_build.errors import DecisionProblem, IntentError, UsageError
from fluid_build.pipeline.intent.intent import (
    MAX_BYTES,
    Intent,
    IntentAttribute,
    IntentEntity,
    IntentOwner,
    IntentReference,
    contradictions,
)
from fluid_build.regular_files import read_regular
from fluid_build.text import did_you_mean

_PARTS: dict[str, tuple[type[BaseModel], str]] = {
    "owner": (IntentOwner, "an owner"),
    "entities": (IntentEntity, "an entity"),
    "attributes": (IntentAttribute, "an attribute"),
    "references": (IntentReference, "a reference"),
}


def read_intent(argument: str) -> Intent:
    """Return an intent: the content of a file, or the argument itself.

    A YAML mapping is read as an ``Intent``, everything else as a goal. Raises IntentError for a
    mapping with faults, and UsageError for an empty text or a file that can't be read.
    """
    path = Path(argument)
    try:
        is_file = path.is_file()
    except (OSError, ValueError):  # a text may be too long for a path, or no path at all
        is_file = False
    if is_file:
        return _parse(_text_of(path), str(path))
    if not argument.strip():
        raise UsageError("The intent is empty.", hint="Say what you want, or name a file.")
    if " " not in argument.strip() and path.suffix in {".yaml", ".yml", ".md", ".txt", ".json"}:
        raise UsageError(f"The file '{path}' doesn't exist.", hint="Check the path.")
    return _parse(argument, "the intent")


def _text_of(path: Path) -> str:
    try:
        return read_regular(path, MAX_BYTES, too_large="Shorten it.").decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path} isn't UTF-8 text.", hint="Save it as UTF-8.") from None
    except OSError as error:
        raise UsageError(
            f"{path} can't be read: {error.strerror}.", hint="Check its permissions."
        ) from None


def _parse(text: str, place: str) -> Intent:
    located = read_yaml(text, place) if _looks_like_mapping(text) else None
    if located is None:
        return Intent(goal=text.strip())
    try:
        return Intent.model_validate(located.document)
    except ValidationError as error:
        raise IntentError(place, _problems(located, error)) from None


def _problems(located: LocatedDocument, error: ValidationError) -> list[DecisionProblem]:
    """Return everything that is wrong in a document, by line."""
    problems = [
        _problem(located, detail)
        for detail in error.errors(include_url=False, include_input=False)
        if detail["loc"]
    ]
    document = located.document if isinstance(located.document, dict) else {}
    problems += [
        DecisionProblem(c.message, _line(located, c.path), allowed=c.allowed)
        for c in contradictions(document)
    ]
    return sorted(problems, key=lambda problem: problem.line or 0)


def _problem(located: LocatedDocument, detail: ErrorDetails) -> DecisionProblem:
    path = [*detail["loc"]]
    decision = ""
    if path[0] == "decisions" and len(path) > 2:
        decision = str(path.pop(2))  # Pydantic puts the kind of a decision into the path.
    line = _line(located, path)
    if detail["type"].startswith("union_tag"):
        known = f"Known decisions: {', '.join(DECISION_NAMES)}."
        tag = (detail.get("ctx") or {}).get("tag")
        message = f"unknown decision {tag!r}." if tag else "`decision` is missing."
        guess = did_you_mean(str(tag), DECISION_NAMES) if tag else ""
        return DecisionProblem(message, line, allowed=f"{guess}{known}")
    known_fields, label = _known_fields(path, detail, decision)
    message, allowed = explain_fault(path, detail, known_fields, label)
    return DecisionProblem(message, line, decision=decision, allowed=allowed)


def _known_fields(
    path: Sequence[str | int], detail: ErrorDetails, decision: str
) -> tuple[tuple[str, ...], str]:
    """Return the fields of the part at a path, and what they are fields of."""
    if decision:
        fields = next(
            kind.model_fields
            for kind in DECISION_TYPES
            if kind.model_fields["decision"].default == decision
        )
        return tuple(fields), f"Fields of {decision}"
    parents = path[:-1] if detail["type"] == "extra_forbidden" else path
    part = next((str(name) for name in reversed(parents) if isinstance(name, str)), "")
    model, label = _PARTS.get(part, (Intent, "an intent"))
    return tuple(model.model_fields), f"Fields of {label}"


def _line(located: LocatedDocument, path: Sequence[str | int]) -> int | None:
    """Return the line of the innermost part of a path that the document has."""
    places = (tuple(path[:length]) for length in range(len(path), 0, -1))
    return next((located.lines[place] for place in places if place in located.lines), None)


def _looks_like_mapping(text: str) -> bool:
    """Return whether the first line that says anything begins with a key of an intent."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith(("#", "---"))), "")
    return first.partition(":")[0].strip("\"' {") in Intent.model_fields and ":" in first
