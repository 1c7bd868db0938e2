"""How rules write findings: one each, one for many of a kind, and never too many."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, islice

from fluid_build.copilot.scratchpad import CriticFinding, Severity
from fluid_build.text import clip, counted, listed_up_to

LogicalRule = Callable[[object], Iterable[CriticFinding]]
"""Reviews a logical model."""
ContractRule = Callable[[object], Iterable[CriticFinding]]
"""Reviews a contract, as its document."""
TransformRule = Callable[[object, object], Iterable[CriticFinding]]
"""Reviews a transform plan and the logical model that it builds."""

MOST_FINDINGS = 10
"""Findings that one rule may have: a screen still shows them with those of the other rules."""
_EXAMPLES = 3
_LONGEST_TEXT = 300
"""Characters of a message: names are a stranger's, and may be long."""


def finding(
    stage: str, severity: Severity, message: str, target: str, suggestion: str = ""
) -> CriticFinding:
    """Return a finding, its texts cut to a readable length."""
    return CriticFinding(
        stage,
        severity,
        clip(message, _LONGEST_TEXT),
        clip(suggestion, _LONGEST_TEXT) or None,
        clip(target, _LONGEST_TEXT),
    )


def examples(names: Sequence[str]) -> str:
    """Return a few names of many: "a, b, c and 9 more". Fewer are shown rather than cut."""
    room = _LONGEST_TEXT * _EXAMPLES // (_EXAMPLES + 1)
    shown = max(1, sum(length <= room for length in accumulate(map(len, names[:_EXAMPLES]))))
    return listed_up_to(shown, [clip(name, room) for name in names])


def share_of(names: Sequence[str], total: int, singular: str, plural: str = "") -> str:
    """Return how many of all: "3 of 11 tables"."""
    return f"{len(names):,} of {counted(total, singular, plural)}"


def bounded(findings: Iterable[CriticFinding]) -> list[CriticFinding]:
    """Return the findings of one rule; many of them end with one that counts the others."""
    stream = iter(findings)
    head = list(islice(stream, MOST_FINDINGS + 1))
    if len(head) <= MOST_FINDINGS:
        return head
    shown = head[: MOST_FINDINGS - 1]
    more = [*head[MOST_FINDINGS - 1 :], *stream]
    return [*shown, *_summaries(more)]


def _summaries(more: Sequence[CriticFinding]) -> Iterator[CriticFinding]:
    """Count findings that aren't shown, by severity, so that no error hides among warnings."""
    severities: tuple[Severity, ...] = ("error", "warning", "info")
    for severity in severities:
        alike = [item for item in more if item.severity == severity]
        if alike:
            targets = [item.target or item.message for item in alike]
            message = f"{len(alike):,} more of the same kind: {examples(targets)}"
            yield finding(alike[0].stage, severity, message, targets[0], alike[0].suggestion or "")
