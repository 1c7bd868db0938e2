"""The receipt on the screen: short, and only what there is to say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from fluid_build.cli.forging.stage_lines import dollars
from fluid_build.cli.invocation import fluid
from fluid_build.decisions.language import DECISION
from fluid_build.decisions.subjects import decision_line
from fluid_build.pipeline.receipt import DecisionRow, FindingRow, Receipt
from fluid_build.report.terminal.screen_parts import Part, heading, indented, lines, more
from fluid_build.text import as_sentence, clip, counted

_SHOWN = {"error": "red", "warning": "yellow"}
"""Remarks are only counted here; `fluid runs show RUN --json` has them."""
SEVERITY_LABELS = {"error": "error", "warning": "warning", "info": "remark"}
_LONGEST_DECISION = 60
"""Characters: a description is recognized by its beginning, and the reason must stay in sight."""
_MOST_LEFT_OUT = 5
"""Of a model's proposals: enough to see what it gets wrong."""
_STATUSES = ("accepted", "insisted", "asked", "refused", "unused")


def receipt_section(receipt: Receipt) -> Iterator[Part]:
    """Yield what became of decisions, what the critic found, and what the model did and cost."""
    yield from _decisions(receipt)
    yield from _findings(receipt)
    yield from _conformance(receipt)
    if receipt.catalog_fetch_ms:
        yield heading("Catalog", _catalog_times(receipt))
    yield from lines([*_lint_warnings(receipt)], "yellow")
    if receipt.model is None:
        return
    yield heading("Language model", f"{receipt.provider} {receipt.model}, run {receipt.run}")
    if receipt.fallback_used:
        yield from lines([f"Failed: {reason}" for reason in receipt.fallback_reasons], "red")
    yield indented(_contribution(receipt))
    left_out = [entry for entry in receipt.proposed if entry.status in {"asked", "refused"}]
    yield from lines([_verdict_line(entry) for entry in left_out[:_MOST_LEFT_OUT]], "yellow")
    show_run = fluid("runs", "show", receipt.run, "--json")
    yield from more(len(left_out) - _MOST_LEFT_OUT, f": see `{show_run}`")
    invalid = len(receipt.invalid_proposals) + receipt.unread_proposals
    if invalid:
        yield indented(f"{counted(invalid, 'further entry', 'further entries')} made no sense.")
    yield from lines([f"Repaired: {reason}" for reason in receipt.repair_reasons], "yellow")
    yield indented(_cost(receipt), "dim")
    if receipt.cost.missing_usage_calls:
        missing = counted(receipt.cost.missing_usage_calls, "call")
        warning = f"No provider reported the tokens of {missing}: their cost is the most it may be."
        yield indented(warning, "yellow")


def _decisions(receipt: Receipt) -> Iterator[Part]:
    """Yield what became of recorded decisions; those that were followed are only counted."""
    recorded = [
        entry
        for entry in receipt.decisions
        if receipt.model is None or entry.decision.get("by") == "person"
    ]
    if not recorded:
        return
    yield heading("Decisions", _status_figures(recorded))
    # What a person decided is reported in full: nobody else says that it isn't followed.
    unfollowed = [_verdict_line(entry) for entry in recorded if entry.status != "accepted"]
    yield from lines(unfollowed, "yellow", most=len(unfollowed))


def _verdict_line(entry: DecisionRow) -> str:
    decision = decision_line(DECISION.validate_python(entry.decision))
    return f"{entry.status.capitalize()} {clip(decision, _LONGEST_DECISION)}: {entry.message}"


def _status_figures(entries: Sequence[DecisionRow]) -> str:
    statuses = Counter(entry.status for entry in entries)
    return ", ".join(f"{statuses[status]:,} {status}" for status in _STATUSES if statuses[status])


def _findings(receipt: Receipt) -> Iterator[Part]:
    if not receipt.findings:
        return
    yield heading("Critic", severity_figures(entry.severity for entry in receipt.findings))
    for severity, style in _SHOWN.items():
        findings = [entry for entry in receipt.findings if entry.severity == severity]
        yield from lines([_finding_line(finding) for finding in findings], style)


def severity_figures(severities: Iterable[str]) -> str:
    """Return how many findings there are of each severity: ``5 warnings, 3 remarks``."""
    counts = Counter(severities)
    return ", ".join(
        counted(counts[severity], label)
        for severity, label in SEVERITY_LABELS.items()
        if counts[severity]
    )


def _finding_line(finding: FindingRow) -> str:
    message, advice = as_sentence(finding.message), finding.suggestion or ""
    return f"{message} {as_sentence(advice[0].upper() + advice[1:])}" if advice else message


def _conformance(receipt: Receipt) -> Iterator[Part]:
    broken = [
        f"{name}: {verdict}" for name, verdict in receipt.conformance.items() if verdict != "ok"
    ]
    if broken:
        yield heading("Conformance", counted(len(broken), "standard"))
        yield from lines(broken, "yellow")
        yield from lines(receipt.conformance_errors, "red")


def _lint_warnings(receipt: Receipt) -> Iterator[str]:
    """Yield what the validator warns of, for each variant of the model that it does."""
    validate = fluid("validate", receipt.folder)
    for variant, warnings in receipt.variant_lint.items():
        if warnings:
            found = counted(warnings, "warning")
            yield f"The validator has {found} about the {variant} model: see `{validate}`."


def _contribution(receipt: Receipt) -> str:
    if not receipt.proposed:
        return "It proposed no decisions."
    figures = _status_figures(receipt.proposed)
    return f"{counted(len(receipt.proposed), 'decision')} proposed: {figures}."


def _catalog_times(receipt: Receipt) -> str:
    times = receipt.catalog_fetch_ms.items()
    return ", ".join(f"{name} read in {duration:,.0f} ms" for name, duration in times)


def _cost(receipt: Receipt) -> str:
    cost = receipt.cost
    tokens = cost.input_tokens + cost.output_tokens
    cached = f", {counted(cost.cache_hits, 'answer')} from the cache" if cost.cache_hits else ""
    limit = "" if cost.limit_usd is None else f" of {dollars(cost.limit_usd)}"
    calls = counted(cost.calls, "call")
    return f"{calls}{cached}, {counted(tokens, 'token')}, {dollars(cost.total_usd)}{limit}"
