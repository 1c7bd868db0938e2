"""What an evaluation asks: cases, written in Python or in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from fluid_build.errors import DecisionProblem, FaultyFileError, UsageError
from fluid_build.regular_files import read_regular

_MOST_BYTES = 64 * 1024 * 1024
"""Of a file of cases: a hundred thousand long prompts."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its answer: ``input`` is an agent's prompt, or a function's argument."""

    name: str
    input: Any
    expected: Any = None


Case.__pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[attr-defined]
_CASES = TypeAdapter(list[Case])


def read_cases(path: Path | str) -> list[Case]:
    """Return the cases of a YAML or JSON file: a list of ``name``, ``input`` and ``expected``.

    Raises FaultyFileError with everything that is wrong, or SourceError for what is no file.
    """
    # imported on use: cases in Python need no YAML
    import yaml

    place = Path(path)
    try:
        text = read_regular(place, _MOST_BYTES, too_large="Split it.").decode("utf-8-sig")
        cases = _CASES.validate_python(yaml.safe_load(text))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise _faulty(place, [f"it can't be read: {reason}."]) from None
    except UnicodeDecodeError:
        raise _faulty(place, ["it isn't UTF-8 text."]) from None
    except yaml.YAMLError as error:
        raise _faulty(place, [f"it isn't YAML: {' '.join(str(error).split())}."]) from None
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        raise _faulty(place, [_sentence(each["loc"], each["msg"]) for each in faults]) from None
    check_cases(cases)
    return cases


def check_cases(cases: Sequence[Case]) -> None:
    """Raise UsageError where there are no cases, or two of one name."""
    names = [case.name for case in cases]
    if not names:
        raise UsageError("There are no cases.", hint="Write at least one.")
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise UsageError(
            f"Two cases are called {repeated!r}.",
            hint="Give each a name of its own: runs are compared case by case.",
        )


def _sentence(place: tuple[int | str, ...], fault: str) -> str:
    """Return what is wrong with a case, by its number in the file."""
    first, *rest = place or ("the file",)
    case = f"case {first + 1}" if isinstance(first, int) else str(first)
    return f"{' '.join([case, *map(str, rest)])}: {fault}."


def _faulty(path: Path, faults: Sequence[str]) -> FaultyFileError:
    return FaultyFileError(str(path), [DecisionProblem(fault) for fault in faults])
