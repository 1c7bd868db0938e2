"""What the pages of the tests show: real sources, modelled as a forge does it."""

from decimal import Decimal
from pathlib import Path

from fluid_build.contract.write.yaml_text import contract_yaml
from fluid_build.forging.options import ForgeOptions
from fluid_build.forging.stages import Decided, design, look_closer, measure, prove, write_contract
from fluid_build.report.judgements.open_judgements import open_judgements
from fluid_build.report.page.content import BuiltContent, PageContent
from fluid_build.report.page.page import report_page
from fluid_build.report.page.run_facts import (
    CostFacts,
    FindingFacts,
    ProposalFacts,
    RunFacts,
    StageFacts,
    UsageFacts,
)
from fluid_build.report.profile_json import profile_json
from fluid_build.report.view import source_view
from fluid_build.sources import open_source

NEXT_STEPS = (("fluid review out", "settle the judgement calls that are open"),)


def forged_content(
    source: str | Path, technique: str, run: RunFacts | None = None, *, is_proven: bool = False
) -> PageContent:
    """Return what the page of a forged source shows; proving it takes the most time."""
    options = ForgeOptions(technique=technique)
    with open_source(source) as opened:
        profile = measure(opened)
        designed = design(Decided(profile), look_closer(opened, profile), options)
        proof = prove(opened, designed, options) if is_proven else None
    model, plan = designed.model, designed.plan
    built = BuiltContent(
        model,
        plan,
        contract_yaml(write_contract(designed, options)),
        {build.name: build.sql for build in plan.builds},
        open_judgements(profile_json(profile), model),
        "out",
    )
    return PageContent(source_view(profile, model, plan, proof), built, run, NEXT_STEPS)


def write_page(content: PageContent, folder: Path) -> Path:
    """Write a page to a folder, and return its file."""
    file = folder / "report.html"
    file.write_text(report_page(content), encoding="utf-8")
    return file


def example_run(text: str = "orders") -> RunFacts:
    """Return the facts of a run with a language model; ``text`` is in all that is said in it."""
    usage = UsageFacts("example/model-1", 7, 48_211, 3_907, 12_000, Decimal("0.1834"))
    return RunFacts(
        id="20260102-0304-abcd",
        model="example/model-1",
        stages=(
            StageFacts("profile", 2.5, ((0.0, 2.5),), "measure the source"),
            StageFacts(
                "logical", 11.25, ((2.5, 13.75),), "model it", 48_211, 3_907, Decimal("0.1834")
            ),
            StageFacts("prove", 4.0, ((13.75, 17.75),), "compare with the source"),
        ),
        findings=(
            FindingFacts("error", f"{text} has no key.", f"Give {text} a key.", text),
            FindingFacts("warning", f"{text} has orphans."),
            FindingFacts("info", f"{text} is wide."),
        ),
        proposals=(
            ProposalFacts(f"relationship {text}", "model", "accepted", "All rows match.", text),
            ProposalFacts(f"key {text}", "model", "refused", f"3 {text} repeat.", sql="SELECT 3"),
        ),
        conformance=((f"names of {text}", "passed"),),
        notes=(f"{text} was asked twice.",),
        cost=CostFacts(
            total_usd=Decimal("0.1834"),
            limit_usd=Decimal("1.00"),
            calls=7,
            input_tokens=48_211,
            output_tokens=3_907,
            models=(usage,),
        ),
    )
