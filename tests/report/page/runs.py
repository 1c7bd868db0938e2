"""Runs and proofs for tests of the page, in a line or two."""

from dataclasses import replace
from typing import Any

from fluid_build.report.page.content import PageContent
from fluid_build.report.page.run_facts import FindingFacts, ProposalFacts, RunFacts, StageFacts
from fluid_build.report.view import source_view
from fluid_build.transform.proof.proof import Proof, TableProof
from tests.modeling.profiles import column, profile, table


def table_proof(name: str, **more: Any) -> TableProof:
    """The proof of a table of 100 rows that were rebuilt exactly unless told."""
    exact = {"rebuilt": 100, "missing": 0, "unexpected": 0, "types_equal": True}
    facts = {"table": name, "id": name, "rows": 100, "verdict": "proven", **exact, **more}
    return TableProof.model_validate(facts)


def proof_of(*tables: TableProof, verdict: str = "proven", reason: str = "So it is.") -> Proof:
    facts = {"name": "shop", "technique": "flat", "verdict": verdict, "reason": reason}
    return Proof.model_validate({**facts, "tables": tables})


def content_with(
    proof: Proof | None = None, run: RunFacts | None = None, **more: Any
) -> PageContent:
    """The page of a source with the tables of a proof."""
    names = ("orders",) if proof is None else [each.table for each in proof.tables]
    view = source_view(profile(*(table(name, column("id")) for name in names), **more))
    return PageContent(replace(view, proof=proof), None, run)


def finding(severity: str, message: str = "It's odd.") -> FindingFacts:
    return FindingFacts(severity, message)


def proposal(status: str, decision: str = "ignore orders", **more: str) -> ProposalFacts:
    return ProposalFacts(decision, "model", status, "1 of 9 rows repeats a value.", **more)


def stage(name: str, *spans: tuple[float, float]) -> StageFacts:
    return StageFacts(name, sum(end - start for start, end in spans), spans)
