"""The receipt on the screen: short, and only what there is to say."""

from __future__ import annotations

from collections.abc import Iterator

from fluid_build.cli.stage_lines import dollars
from fluid_build.pipeline.receipt import Receipt
from fluid_build.report.terminal.screen_parts import Part, heading, indented, lines
from fluid_build.text import counted

_SHOWN = {"error": "red", "warning": "yellow"}
"""Remarks are only counted here; `fluid runs show RUN --json` has them."""


def receipt_section(receipt: Receipt) -> Iterator[Part]:
    """Yield what the critic found, and what the run's model did and cost."""
    yield from _findings(receipt)
    yield from _conformance(receipt)
    if receipt.model is None:
        return
    yield heading("Language model", f"{receipt.provider} {receipt.model}, run {receipt.run}")
    if receipt.fallback_used:
        yield from lines([f"Failed: {reason}" for reason in receipt.fallback_reasons], "red")
    yield indented(_contribution(receipt))
    refused = (entry.message for entry in receipt.proposed if entry.status == "refused")
    yield from lines([f"Refused: {message}" for message in dict.fromkeys(refused)], "yellow")
    invalid = len(receipt.invalid_proposals) + receipt.unread_proposals
    if invalid:
        yield indented(f"{counted(invalid, 'further entry', 'further entries')} made no sense.")
    yield from lines([f"Repaired: {reason}" for reason in receipt.repair_reasons], "yellow")
    yield indented(_cost(receipt), "dim")


def _findings(receipt: Receipt) -> Iterator[Part]:
    if not receipt.findings:
        return
    counted_findings = [
        counted(receipt.count_findings(severity), label)
        for severity, label in (("error", "error"), ("warning", "warning"), ("info", "remark"))
        if receipt.count_findings(severity)
    ]
    yield heading("Critic", ", ".join(counted_findings))
    for severity, style in _SHOWN.items():
        found = [entry.message for entry in receipt.findings if entry.severity == severity]
        yield from lines(found, style)


def _conformance(receipt: Receipt) -> Iterator[Part]:
    broken = [
        f"{name}: {verdict}" for name, verdict in receipt.conformance.items() if verdict != "ok"
    ]
    if broken:
        yield heading("Conformance", counted(len(broken), "standard"))
        yield from lines(broken, "yellow")
        yield from lines(receipt.conformance_errors, "red")


def _contribution(receipt: Receipt) -> str:
    if not receipt.proposed:
        return "It proposed no decisions."
    figures = ", ".join(
        f"{receipt.count_proposed(status):,} {status}"
        for status in ("accepted", "insisted", "refused", "unused")
        if receipt.count_proposed(status)
    )
    return f"{counted(len(receipt.proposed), 'decision')} proposed: {figures}."


def _cost(receipt: Receipt) -> str:
    cost = receipt.cost
    tokens = cost.input_tokens + cost.output_tokens
    cached = f", {counted(cost.cache_hits, 'answer')} from the cache" if cost.cache_hits else ""
    limit = "" if cost.limit_usd is None else f" of {dollars(cost.limit_usd)}"
    calls = counted(cost.calls, "call")
    return f"{calls}{cached}, {counted(tokens, 'token')}, {dollars(cost.total_usd)}{limit}"
