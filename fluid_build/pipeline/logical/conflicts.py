"""Proposals about what is decided already, by a person or by a proposal before them."""

from collections.abc import Iterable, Sequence

from fluid_build.decisions.language import AnyDecision, Ignore
from fluid_build.decisions.subjects import subject
from fluid_build.decisions.verdicts import Verdict, refused


def tables_of(decision: AnyDecision) -> frozenset[str]:
    """Return the tables that a decision names."""
    fields = ("table", "from_table", "to_table", "into_table")
    names = (getattr(decision, field, None) for field in fields)
    return frozenset(name for name in names if name)


def refuse_conflicts(
    proposals: Sequence[AnyDecision], decided: Iterable[AnyDecision]
) -> dict[int, Verdict]:
    """Return the refusals of proposals whose subject is decided already, by position."""
    decided = tuple(decided)
    authors = {subject(decision): decision.by for decision in decided}
    ignored = {decision.table for decision in decided if isinstance(decision, Ignore)}
    refusals: dict[int, Verdict] = {}
    for position, proposal in enumerate(proposals):
        about = subject(proposal)
        if tables_of(proposal) & ignored:
            refusals[position] = refused(proposal, "The table is ignored.")
        elif authors.get(about) == "person":
            refusals[position] = refused(proposal, "A person has decided that already.")
        elif about in authors:
            refusals[position] = refused(proposal, "An earlier suggestion decides that.")
        authors.setdefault(about, "model")
    return refusals


def without_repetitions(
    proposals: Sequence[AnyDecision], accepted: Iterable[AnyDecision]
) -> list[AnyDecision]:
    """Return the proposals that don't repeat an accepted one, whatever their reasons."""
    known = {_claim(decision) for decision in accepted}
    return [proposal for proposal in proposals if _claim(proposal) not in known]


def _claim(decision: AnyDecision) -> str:
    """Return what a decision says, without its reason and evidence."""
    return decision.model_dump_json(exclude={"reason", "evidence"})
