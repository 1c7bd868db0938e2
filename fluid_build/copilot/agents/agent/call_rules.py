"""Rules about calls by tool and arguments: which are made, which a person is asked about.

The first rule that a call fits decides. A call that fits none is made, unless its tool requires an
approval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from fluid_build.copilot.errors import ToolValidationError
from fluid_build.copilot.tools.calls import Arguments
from fluid_build.copilot.tools.definition import Tool

Verdict: TypeAlias = Literal["allow", "ask", "deny"]

Condition: TypeAlias = str | int | float | bool | Callable[[object], bool] | None
"""What an argument must be: a pattern of its text (``orders_*``), a value, or a function of it."""


@dataclass(frozen=True, slots=True)
class CallRule:
    """What becomes of the calls of a tool whose arguments meet all conditions.

    ``tool`` is a name or a pattern of names. The arguments are judged as the tool gets them, with
    its defaults; those that don't fit its schema meet no condition, and the tool refuses them.
    ``reason`` is what the model is told of a denied call.
    """

    verdict: Verdict
    tool: str
    arguments: Mapping[str, Condition] = field(default_factory=dict)
    reason: str = ""


def allow(tool: str, arguments: Mapping[str, Condition] | None = None) -> CallRule:
    """Return a rule by which calls are made without asking, whatever their tool requires."""
    return CallRule("allow", tool, arguments or {})


def ask(tool: str, arguments: Mapping[str, Condition] | None = None) -> CallRule:
    """Return a rule by which a person is asked before calls are made."""
    return CallRule("ask", tool, arguments or {})


def deny(
    tool: str, arguments: Mapping[str, Condition] | None = None, *, reason: str = ""
) -> CallRule:
    """Return a rule by which calls are never made; the model is told the reason."""
    return CallRule("deny", tool, arguments or {}, reason)


ALLOWED, ASKED = allow("*"), ask("*")
"""What becomes of a call that fits no rule, by what its tool requires."""


def rule_for(rules: Sequence[CallRule], tool: Tool, arguments: Arguments) -> CallRule:
    """Return the rule that decides about a call."""
    checked: Mapping[str, object] | None = None
    for rule in rules:
        if not fnmatchcase(tool.name, rule.tool):
            continue
        if not rule.arguments:
            return rule
        if checked is None:
            checked = _checked(tool, arguments)
        if _fits(rule.arguments, checked):
            return rule
    return ASKED if tool.requires_approval else ALLOWED


def _checked(tool: Tool, arguments: Arguments) -> Mapping[str, object]:
    try:
        return tool.check_arguments(arguments)
    except ToolValidationError:
        return {}


def _fits(conditions: Mapping[str, Condition], arguments: Mapping[str, object]) -> bool:
    return all(
        name in arguments and _meets(condition, arguments[name])
        for name, condition in conditions.items()
    )


def _meets(condition: Condition, value: object) -> bool:
    if callable(condition):
        return condition(value)
    if isinstance(condition, str):
        return value is not None and fnmatchcase(str(value), condition)
    # True is 1 to Python, and not to whoever writes a rule.
    return isinstance(value, bool) == isinstance(condition, bool) and value == condition
