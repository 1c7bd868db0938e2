"""Whether a document is a FLUID 0.7.2 contract, and if not, precisely why.

The verdict agrees with the official JSON schema's (2020-12, ``format`` being an annotation): a
document is JSON data, so dicts with text keys, lists, text, numbers, booleans and None. Only the
words of the findings are ours.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from fluid_build import limits
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.fluid.common import Problem, named
from fluid_build.contract.printable import escaped, kind_shown, path_shown, shown
from fluid_build.contract.structure import Allowed, Path, keys_of, required_keys, resolve
from fluid_build.errors import ContractError
from fluid_build.text import nearest

# Pydantic's errors about a key of a mapping, which its location marks as such.
_OF_KEYS = {"string_type": "every key must be text", "string_unicode": "must be Unicode text"}


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem in a document.

    ``path`` says where (``exposes[0].contract.schema[2].type``), ``message`` what is wrong in one
    sentence without a full stop, ``found`` what is there, ``allowed`` what could be, ``nearest``
    the allowed word most like the one found, ``line`` the line of the file (from 1) if known.
    All of it may be printed: it is escaped, short, and holds no secret.
    """

    path: str
    message: str
    found: str
    allowed: str
    nearest: str | None = None
    line: int | None = None
    level: Literal["error", "warning"] = "error"


@dataclass(frozen=True, slots=True)
class _Placed:
    """A finding and the path it's about; ``missing`` is the key that is missing."""

    path: Path
    finding: Finding
    missing: str | None = None


def validate(document: object, *, lines: Mapping[Path, int] | None = None) -> tuple[Finding, ...]:
    """Return what keeps the document from being a FLUID contract, in the document's order.

    Empty where it is one. ``lines`` gives the line of each path, as ``read_located`` returns it.
    Of very many, those that were met first, and one that counts the others (``limits.FINDINGS``).
    """
    try:
        _parse(document)
    except ValidationError as error:
        details = error.errors(include_url=False)[: limits.FINDINGS.value]
        more = error.error_count() - len(details)
    else:
        return ()
    placed = _without_echoes([finding for detail in details for finding in _findings(detail)])
    return capped(in_document_order(placed, document, lines or {}), more)


def capped(findings: tuple[Finding, ...], more: int = 0) -> tuple[Finding, ...]:
    """Return the first findings and a count of the others, ``more`` of which weren't made."""
    most = limits.FINDINGS.value
    more += max(0, len(findings) - most)
    if not more:
        return findings
    message = f"there are {more:,} more; correct these first, or raise {limits.FINDINGS.variable}"
    count_of_others = Finding("", message, "", "", level=findings[0].level if findings else "error")
    return (*findings[:most], count_of_others)


def parse_contract(document: object) -> FluidContract:
    """Return the document as a contract.

    ContractError where it isn't valid, with the first finding and how many there are.
    """
    try:
        return _parse(document)
    except ValidationError as error:
        findings = validate(document)
        first = findings[0]
        many = len(findings) > limits.FINDINGS.value
        count = error.error_count() if many else len(findings)
        more = f" (and {count - 1:,} more)" if count > 1 else ""
        raise ContractError(
            f"This isn't a valid FLUID 0.7.2 contract: {first.path}: {first.message}{more}.",
            hint="Run `fluid validate` on the file to see every finding.",
        ) from None


def _parse(document: object) -> FluidContract:
    return FluidContract.model_validate(document, strict=True, by_alias=True, by_name=False)


def _findings(detail: ErrorDetails) -> Iterable[_Placed]:
    value = detail["input"]
    location = detail["loc"]
    if detail["type"] in _OF_KEYS and location and location[-1] == "[key]":
        yield _value_finding(resolve(location[:-2])[0], _OF_KEYS[detail["type"]], value, "text")
        return
    path, here, above = resolve(location)
    context: dict[str, Any] = detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            yield _missing(path, here)
        case "extra_forbidden":
            yield _unknown_key(path, above)
        case "repeated":
            yield _repeated((*path, context["index"]), value)
        case "rules":
            for problem in context["problems"]:
                yield _broken_rule(path, problem)
        case "too_short":
            yield _value_finding(path, "must not be empty", value, "at least one item")
        case "invalid_key":
            yield _value_finding(path[:-1], "every key must be text", value, "text")
        case "string_unicode":
            yield _value_finding(path, _OF_KEYS["string_unicode"], value, "Unicode text")
        case _:
            yield _wrong_value(path, value, here, above)


def _missing(path: Path, here: Allowed | None) -> _Placed:
    key = str(path[-1])
    meaning = here.meaning if here is not None else ""
    finding = Finding(path_shown(path[:-1]), f"`{key}` is missing", "nothing", meaning)
    return _Placed(path[:-1], finding, missing=key)


def _unknown_key(path: Path, above: Allowed | None) -> _Placed:
    key = str(path[-1])
    part = above.part if above is not None else None
    known = tuple(keys_of(part)) if part is not None else ()
    close = nearest(key, known)
    hint = f"; did you mean `{close}`?" if close else ""
    message = f"`{escaped(key)}` isn't a known key here{hint}"
    found = f"the key `{escaped(key)}`"
    return _Placed(path, Finding(path_shown(path), message, found, named(known), close))


def _repeated(path: Path, value: object) -> _Placed:
    index = path[-1]
    item = value[index] if isinstance(value, list) and isinstance(index, int) else None
    return _value_finding(path, "is already in the list", item, "each value once")


def _broken_rule(path: Path, problem: Problem) -> _Placed:
    where = (*path, *problem.under)
    return _Placed(
        where, Finding(path_shown(where), problem.message, problem.found, problem.allowed)
    )


def _wrong_value(path: Path, value: object, here: Allowed | None, above: Allowed | None) -> _Placed:
    if here is None:
        return _value_finding(path, "isn't allowed here", value, "")
    key = next((part for part in reversed(path) if isinstance(part, str)), None)
    found, meaning = shown(value, key), here.meaning
    words = here.words or (here.shape.words if here.shape else ())
    close = nearest(value, words) if isinstance(value, str) else None
    if close:
        message = f"{found} isn't allowed here; did you mean `{close}`?"
    elif value is None and _may_be_left_out(path, above):
        message = f"must not be null; leave the key out, or use {meaning}"
    elif _is_text(here) and isinstance(value, int | float):
        message = f"must be text, but is read as {kind_shown(value)}; put it in quotes"
    else:
        message = f"must be {meaning}"
    return _Placed(path, Finding(path_shown(path), message, found, meaning, close))


def _value_finding(path: Path, message: str, value: object, meaning: str) -> _Placed:
    key = next((part for part in reversed(path) if isinstance(part, str)), None)
    return _Placed(path, Finding(path_shown(path), message, shown(value, key), meaning))


def _may_be_left_out(path: Path, above: Allowed | None) -> bool:
    part = above.part if above is not None else None
    return part is not None and path[-1] not in required_keys(part)


def _is_text(here: Allowed) -> bool:
    return here.type is str or bool(here.words)


def _without_echoes(placed: list[_Placed]) -> list[tuple[Path, Finding]]:
    """Leave out the missing keys that are there under a misspelt name."""
    misspelt = {(item.path[:-1], item.finding.nearest) for item in placed if item.finding.nearest}
    return [
        (item.path, item.finding) for item in placed if (item.path, item.missing) not in misspelt
    ]


def in_document_order(
    placed: Iterable[tuple[Path, Finding]], document: object, lines: Mapping[Path, int]
) -> tuple[Finding, ...]:
    """Return the findings in the order of the document, each with its line if it's known."""
    orders: dict[int, dict[object, int]] = {}

    def position(item: tuple[Path, Finding]) -> list[int]:
        where, at = [], document
        for part in item[0]:
            if isinstance(at, dict):
                order = orders.setdefault(id(at), {})
                if not order:
                    order.update({key: index for index, key in enumerate(at)})
                where.append(order.get(part, -1))
                at = at.get(part)
            elif isinstance(at, list) and isinstance(part, int) and part < len(at):
                where.append(part)
                at = at[part]
        return where

    ordered = sorted(placed, key=position)
    return tuple(replace(finding, line=line_of(path, lines)) for path, finding in ordered)


def line_of(path: Path, lines: Mapping[Path, int]) -> int | None:
    """Return the line of a path, or of the nearest part around it that has one."""
    for end in range(len(path), -1, -1):
        line = lines.get(path[:end])
        if line is not None:
            return line
    return None
