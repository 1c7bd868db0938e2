"""A decision as the command line that writes it: ``fluid decide DIR set-key orders order_no``."""

import re
import shlex
from collections.abc import Sequence
from typing import Literal

from fluid_build.decisions.language import (
    AddRelationship,
    AnyDecision,
    BusinessKey,
    Classify,
    Describe,
    Domain,
    DropRelationship,
    Exposure,
    Grain,
    Ignore,
    Measure,
    Merge,
    OneTable,
    Owner,
    PersonalData,
    ProductName,
    Rename,
    Renamed,
    Separate,
    SetConventions,
    SetDelivery,
    SetKey,
    SetValidity,
    Split,
    TextType,
)
from fluid_build.text import not_an_option

_TIME_DIRECTIVE = re.compile(r"%[HIMSfpTX]")
_PLAIN_NAME = re.compile(r"[^\W\d][\w ]*\w|[^\W\d]")
"""Names that need no quotes in ``TABLE.COLUMN,COLUMN``; other rules would only save quotes."""


def decide_command(decision: AnyDecision, folder: str) -> str:
    """Return the line for a POSIX shell that makes a decision about a folder.

    The author and the evidence aren't in a command line: whoever runs it decides, and the data is
    measured again. Returns "" where no command line says the same: for text that is read as a date
    or a number without saying how it's written, and for conventions that aren't a preset's.
    """
    if isinstance(decision, TextType) and not _has_option(decision):
        return ""
    if isinstance(decision, SetConventions) and not _is_preset(decision):
        return ""
    words = _words(decision)
    if any(word.startswith("-") for word in words):
        words = ("--", *words)
    kind = decision.decision.replace("_", "-")
    return shlex.join(("fluid", "decide", not_an_option(folder), kind, *_options(decision), *words))


def date_type(date_format: str) -> Literal["date", "timestamp"]:
    """Return what text of a format in strptime's words is read as."""
    return "timestamp" if _TIME_DIRECTIVE.search(date_format) else "date"


def _words(decision: AnyDecision) -> tuple[str, ...]:
    """Return the arguments of a decision's subcommand without its options."""
    match decision:
        case SetKey() | BusinessKey() | Grain():
            return (_name(decision.table), *map(_name, decision.columns))
        case AddRelationship() | DropRelationship():
            child = _reference(decision.from_table, decision.from_columns)
            return (child, _reference(decision.to_table, decision.to_columns))
        case Merge():
            rows = _reference(decision.table, decision.columns)
            return (rows, _reference(decision.into_table, decision.into_columns))
        case Split():
            rows = _reference(decision.table, decision.columns)
            return (rows, decision.entity, *map(_name, decision.attributes))
        case Classify():
            return (_name(decision.table), decision.role)
        case Measure():
            return (_reference(decision.table, [decision.column]), decision.additivity)
        case TextType() | PersonalData():
            return (_reference(decision.table, [decision.column]),)
        case Rename():
            return (_target(decision), decision.new_name)
        case Describe():
            return (_target(decision), decision.text)
        case Renamed():
            if decision.column is None:
                return (_name(decision.was), _name(decision.table))
            return (_reference(decision.table, [decision.was]), _name(decision.column))
        case SetDelivery():
            return (_name(decision.table), decision.delivers)
        case SetValidity():
            return (_name(decision.table), decision.follows)
        case Ignore() | Separate():
            return (_name(decision.table),)
        case OneTable():
            return (_name(decision.table), *map(_name, decision.parts))
        case Domain():
            return (decision.domain,)
        case Owner():
            return (decision.team,)
        case ProductName():
            return (decision.name,)
        case SetConventions():
            return (decision.preset or "",)
        case Exposure():
            return (decision.name, *decision.models)


def _options(decision: AnyDecision) -> tuple[str, ...]:
    options: list[str] = []
    match decision:
        case TextType(date_format=str(date_format)):
            options.append(f"--date-format={date_format}")
        case TextType(decimal=str(decimal)):
            options.append(f"--decimal={decimal}")
        case TextType():
            options.append("--text")
        case PersonalData(is_personal=False) | Renamed(is_renamed=False):
            options.append("--not")
        case Rename(element=str()) | Describe(element=str()):
            options.append("--element")
        case Owner(email=str(email)):
            options.append(f"--email={email}")
        case SetDelivery(deleted_column=str(column)):
            values = decision.deleted_values or ()
            options.append(f"--deleted={_name(column)}")
            options += [f"--deleted-value={value}" for value in values]
        case SetValidity(column=str(column)):
            options.append(f"--column={_name(column)}")
        case Exposure():
            options += [f"--type={decision.type}", f"--owner={decision.owner}"]
            given = ("email", "title", "text", "url")
            filled = ((each, getattr(decision, each)) for each in given)
            options += [f"--{each}={value}" for each, value in filled if value is not None]
        case _:
            pass
    if decision.reason:
        options.append(f"--reason={decision.reason}")
    if getattr(decision, "despite_violations", False):
        options.append("--despite-violations")
    return tuple(options)


def _has_option(decision: TextType) -> bool:
    """Return whether an option says how text is read: a format, a decimal mark or as text."""
    match decision:
        case TextType(read_as="text", date_format=None, decimal=None):
            return True
        case TextType(read_as="number", date_format=None, decimal=str()):
            return True
        case TextType(date_format=str(date_format), decimal=None):
            return decision.read_as == date_type(date_format)
        case _:
            return False


def _is_preset(decision: SetConventions) -> bool:
    given = (decision.prefixes, decision.columns, decision.hashing)
    return decision.preset is not None and not any(given)


def _target(decision: Rename | Describe) -> str:
    if decision.element is not None:
        return _name(decision.element)
    assert decision.table is not None
    if decision.column is None:
        return _name(decision.table)
    return _reference(decision.table, [decision.column])


def _reference(table: str, columns: Sequence[str]) -> str:
    """Return ``TABLE.COLUMN,COLUMN``, where a dot or a comma of a name can't be taken for ours."""
    if all(map(_PLAIN_NAME.fullmatch, columns)):
        label = _quoted(table) if table.startswith('"') else table
        return f"{label}.{','.join(columns)}"
    return f"{_quoted(table)}.{','.join(map(_quoted, columns))}"


def _name(name: str) -> str:
    """Return a name that is an argument of its own: only one in quotes needs further ones."""
    return _quoted(name) if name.startswith('"') else name


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))
