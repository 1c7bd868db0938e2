"""The run: what it proved, which stages it had, what it cost, and what was proposed and found."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from fluid_build.report.page.content import PageContent
from fluid_build.report.page.run_facts import (
    CostFacts,
    FindingFacts,
    ProposalFacts,
    RunFacts,
    UsageFacts,
)
from fluid_build.report.page.run_proof import ProofPart, proof_part
from fluid_build.report.page.run_timeline import Timeline, duration, timeline
from fluid_build.text import counted

_T = TypeVar("_T")

_MOST_OF_A_KIND = 150
"""Findings of a severity and proposals of a status that are listed: more than anybody reads."""
_MOST_AT_FIRST = 20
"""Entries of a list that is shown whole at first; of a longer one it's the kind that matters."""
_SEVERITIES = {"error": ("Error", "bad"), "warning": ("Warning", "warn"), "info": ("Remark", "")}
_STATUSES = {
    "refused": ("Refused", "bad"),
    "insisted": ("Insisted", "warn"),
    "asked": ("Asked", "warn"),
    "unused": ("Unused", ""),
    "accepted": ("Accepted", "good"),
}
"""Labels and styles, in the order in which they are read."""


@dataclass(frozen=True, slots=True)
class EntryGroup:
    """A severity or a status, with how many entries it has."""

    id: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class FindingList:
    """Findings by severity, errors first; ``left`` of them aren't listed."""

    kinds: tuple[EntryGroup, ...]
    entries: tuple[tuple[FindingFacts, str, str], ...]
    left: int


@dataclass(frozen=True, slots=True)
class ProposalList:
    """Decisions by what became of them, the refused first; ``left`` of them aren't listed.

    ``id`` is the list's id in the page.
    """

    id: str
    kinds: tuple[EntryGroup, ...]
    entries: tuple[tuple[ProposalFacts, str, str], ...]
    left: int

    @property
    def count(self) -> int:
        """Return how many there are in all."""
        return sum(kind.count for kind in self.kinds)


@dataclass(frozen=True, slots=True)
class RunCosts:
    """What a run cost: labelled totals, and its use by model and by agent."""

    totals: tuple[tuple[str, str], ...]
    uses: tuple[tuple[str, tuple[tuple[UsageFacts, str], ...]], ...]


@dataclass(frozen=True, slots=True)
class RunPage:
    """The view of a run; ``run`` is None where none is recorded, ``proof`` where nothing was built.

    ``participation`` says whether a language model took part.
    """

    run: RunFacts | None
    participation: str
    proof: ProofPart | None
    timeline: Timeline | None
    seconds: str
    spending: RunCosts | None
    findings: FindingList
    proposals: ProposalList
    decisions: ProposalList
    steps: tuple[tuple[str, str], ...]
    most_at_first: int = _MOST_AT_FIRST

    @property
    def errors(self) -> int:
        """Return how many errors the results still have."""
        if self.run is None:
            return 0
        findings = sum(finding.severity == "error" for finding in self.run.findings)
        return findings + len(self.run.conformance_errors)

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """Return the parts that there are, each as its id and its title."""
        parts = (
            ("run-next", "Next", bool(self.steps)),
            ("run-stages", "Stages", self.timeline is not None),
            ("run-cost", "Cost", self.spending is not None),
            ("run-proposals", "Proposals", bool(self.proposals.entries)),
            ("run-decisions", "Decisions", bool(self.decisions.entries)),
            ("run-findings", "Findings", self.run is not None),
            ("run-conformance", "Conformance", self.run is not None and bool(self.run.conformance)),
            ("run-proof", "Proof", self.proof is not None),
        )
        return tuple((id_, title) for id_, title, is_there in parts if is_there)


def run_page(content: PageContent) -> RunPage:
    """Return the view of the run that a page is about."""
    run, proof = content.run, content.view.proof
    return RunPage(
        run,
        "" if run is None else _participation(run),
        None if proof is None else proof_part(content, proof),
        None if run is None or not run.stages else timeline(run.stages),
        "" if run is None else duration(timeline(run.stages).seconds),
        None if run is None or not run.model else _spending(run.cost),
        _findings(() if run is None else run.findings),
        _proposals("proposal-list", () if run is None else run.proposals),
        _proposals("decision-list", () if run is None else run.decisions),
        content.next_steps,
    )


def dollars(amount: Decimal | None) -> str:
    """Return US dollars with as many decimals as a cheap call needs."""
    return "unknown" if amount is None else f"${amount:.4f}"


def _participation(run: RunFacts) -> str:
    if not run.model:
        return "No language model took part: everything is measured."
    if not run.proposals:
        return (
            f"{run.model} was asked and failed, so this is the draft without it."
            if run.failures
            else f"{run.model} took part and proposed no decisions."
        )
    failure = " before it failed" if run.failures else ""
    return (
        f"{run.model} took part and proposed {counted(len(run.proposals), 'decision')}{failure}:"
        " what the data can contradict was measured before it went in."
    )


def _spending(cost: CostFacts) -> RunCosts:
    total = dollars(cost.total_usd)
    totals = [
        ("Cost", total if cost.limit_usd is None else f"{total} of {dollars(cost.limit_usd)}"),
        ("Tokens in", f"{cost.input_tokens:,}"),
        ("Tokens out", f"{cost.output_tokens:,}"),
        ("Calls", f"{cost.calls:,}"),
        ("Answers from the cache", f"{cost.cache_hits:,}"),
    ]
    if cost.unconfirmed_usd:
        totals.append(("Not reported by the provider", dollars(cost.unconfirmed_usd)))
    uses = (("Model", cost.models), ("Agent", cost.agents))
    return RunCosts(
        tuple(totals),
        tuple(
            (label, tuple((use, dollars(use.cost_usd)) for use in rows))
            for label, rows in uses
            if rows
        ),
    )


def _findings(findings: Sequence[FindingFacts]) -> FindingList:
    kinds, entries = _by_kind(findings, lambda finding: finding.severity, _SEVERITIES)
    return FindingList(kinds, entries, len(findings) - len(entries))


def _proposals(list_id: str, proposals: Sequence[ProposalFacts]) -> ProposalList:
    kinds, entries = _by_kind(proposals, lambda proposal: proposal.status, _STATUSES)
    return ProposalList(list_id, kinds, entries, len(proposals) - len(entries))


def _by_kind(
    entries: Sequence[_T], kind_of: Callable[[_T], str], labels: dict[str, tuple[str, str]]
) -> tuple[tuple[EntryGroup, ...], tuple[tuple[_T, str, str], ...]]:
    """Return the kinds that there are, and the first entries of each with its label and style."""
    counts = Counter(map(kind_of, entries))
    kinds = tuple(
        EntryGroup(id_, label, counts[id_]) for id_, (label, _) in labels.items() if counts[id_]
    )
    chosen = [
        (entry, *labels[kind.id])
        for kind in kinds
        for entry in [entry for entry in entries if kind_of(entry) == kind.id][:_MOST_OF_A_KIND]
    ]
    return kinds, tuple(chosen)
