"""Whether a quality rule promises more or less than before."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from fluid_build.contract.differences.change import DocumentChange, Level
from fluid_build.contract.differences.comparing import (
    ABSENT,
    Document,
    Fields,
    Place,
    cosmetic,
    promise,
    ranked,
    values_list,
)
from fluid_build.contract.durations import moment_before
from fluid_build.contract.fluid import DqRule
from fluid_build.contract.rule_limits import MEASURED, RuleLimit, UnclearLimitError, limit_of

_SEVERITIES = ("info", "warn", "error", "critical")
_ACCEPTED = "accepted-values"
ACCEPTED_VALUES = f"labels.{_ACCEPTED}"
"""The field of a rule that has the values which a column may have."""
_STRUCTURE = ("to-table", "to-columns", "rule")
_LIMITED = frozenset({"completeness", "uniqueness", "valid_values", "accuracy", "schema"})
_LOOSER = "The rule is looser: data that used to violate it can occur now."
_TIGHTER = "The rule is tighter: it promises more."
_COUNTED = "The rows that break it were counted anew."
_OPEN = "accuracy"
"""Of references: rows come before what they refer to, and go after it, so how many do is no promise
that readers count on. A key or a value that is missing changes what a row is."""
_FROM = datetime(2000, 1, 1)


def severity_rank(severity: Any) -> float:
    """Return how severe a breach is; ValueError for a word that FLUID doesn't know."""
    return _SEVERITIES.index(severity)


def shortness(duration: Any) -> float:
    """Rank a duration, the shorter the higher; ValueError for what isn't a duration."""
    earlier = moment_before(_FROM, str(duration))
    return float("-inf") if earlier is None else -(_FROM - earlier).total_seconds()


def limits(place: Place, old: Document, new: Document) -> Iterator[DocumentChange]:
    """Compare how much of the data must keep a rule: threshold, operator, ``max-violations``."""
    before, after = _limit_text(old), _limit_text(new)
    if before == after:
        return
    level = _level(old, new)
    if _is_counted_anew(old, new):
        yield place.at("limit").change("cosmetic", before, after, _COUNTED)
    elif level is not None:
        reason = _TIGHTER if level == "additive" else _LOOSER
        yield place.at("limit").change(level, before, after, reason)


def severity(place: Place, old: Document, new: Document) -> Iterator[DocumentChange]:
    """Compare how severe a breach is; of a reference, that follows from the rows of the day."""
    before, after = (rule.get("severity", ABSENT) for rule in (old, new))
    if before == after:
        return
    at = place.at("severity")
    if _is_counted_anew(old, new):
        yield at.change("cosmetic", before, after, _COUNTED)
    else:
        yield from ranked(severity_rank, "The severity of a violation has changed.")(
            at, before, after
        )


def _is_counted_anew(old: Document, new: Document) -> bool:
    """Return whether both limits are what was counted, and say the same of what readers rely on."""
    if old.get("type") == new.get("type") == _OPEN and _is_measured(old) and _is_measured(new):
        return True
    return _is_measured(old) and not _is_strict(old) and (_is_measured(new) or _is_strict(new))


def _is_measured(rule: Document) -> bool:
    """Return whether a forge measured a rule's limit; earlier releases counted what broke it."""
    labels = rule.get("labels") or {}
    counts = labels.get("violations"), labels.get("max-violations")
    if counts != (None, None):
        return counts[0] == counts[1]
    return labels.items() >= MEASURED.items() or (rule.get("type") == _OPEN and "rule" in labels)


def _is_strict(rule: Document) -> bool:
    try:
        return limit_of(DqRule.model_validate(rule)).is_strict
    except UnclearLimitError:
        return True


def _limit_text(rule: Document) -> str:
    words = [str(rule[name]) for name in ("operator", "threshold") if name in rule]
    most = (rule.get("labels") or {}).get("max-violations")
    return " ".join(words) + ("" if most is None else f", violations: at most {most}")


def _level(old: Document, new: Document) -> Level | None:
    """Return what a change of limit means; None where both limits allow the same."""
    if old.get("type") not in _LIMITED:
        numbers = [(rule.get("operator"), rule.get("threshold")) for rule in (old, new)]
        return None if numbers[0] == numbers[1] else "breaking"
    try:
        before, after = (limit_of(DqRule.model_validate(rule)) for rule in (old, new))
    except UnclearLimitError:
        return "breaking"
    if before.is_strict and after.is_strict:
        return None
    order = (*_compared(before, after), *_compared_rows(before.most, after.most))
    if "breaking" in order:
        return "breaking"
    return "additive" if order else None


def _compared(old: RuleLimit, new: RuleLimit) -> tuple[Level, ...]:
    if new.is_strict or old.is_strict:
        return ("additive" if new.is_strict else "breaking",)
    if (old.comparison, old.share) == (new.comparison, new.share):
        return ()
    if old.comparison[0] != new.comparison[0] or old.comparison in ("==", "!="):
        return ("breaking",)
    up = old.comparison[0] == ">"
    if old.share != new.share:
        return ("additive" if (new.share > old.share) == up else "breaking",)
    return ("additive" if new.comparison == old.comparison[0] else "breaking",)


def _compared_rows(old: int | None, new: int | None) -> tuple[Level, ...]:
    if old == new:
        return ()
    if old is None or new is None:
        return ("additive" if old is None else "breaking",)
    return ("additive" if new < old else "breaking",)


def rule_labels(place: Place, old: Any, new: Any) -> Iterator[DocumentChange]:
    """Compare labels: some say what a rule compares with, the others are figures."""
    before, after = old or {}, new or {}
    for name in _STRUCTURE:
        if before.get(name) != after.get(name):
            pair = (before.get(name, ABSENT), after.get(name, ABSENT))
            yield from promise("The rule applies to something else.")(place.at(name), *pair)
    listed = [_label_values(labels.get(_ACCEPTED)) for labels in (before, after)]
    if listed[0] != listed[1]:
        at = place.at(_ACCEPTED)
        yield from values_list("The values that can occur have changed.")(at, *listed)
    compared = (*_STRUCTURE, _ACCEPTED, "max-violations")
    if any(
        before.get(name) != after.get(name) for name in {*before, *after} if name not in compared
    ):
        yield place.change(
            "cosmetic", old, new, "Statistics and notes from when the data was profiled."
        )


def _label_values(text: str | None) -> list[str]:
    if text is None:
        return []
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return [text]
    return [str(item) for item in values] if isinstance(values, list) else [text]


RULE = Fields(
    {
        "severity": lambda _place, _old, _new: iter(()),
        "window": ranked(shortness, "The maximum age of the data has changed."),
        "threshold": lambda _place, _old, _new: iter(()),
        "operator": lambda _place, _old, _new: iter(()),
        "labels": rule_labels,
        "description": cosmetic("Descriptive text only."),
        "tags": cosmetic("Tags only."),
    },
    promise("It's a different rule."),
    (limits, severity),
)
