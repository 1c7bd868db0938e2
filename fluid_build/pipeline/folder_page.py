"""The page of a forged folder, made again of its files and of the run that wrote them."""

import os
from pathlib import Path

from pydantic import ValidationError

from fluid_build.contract.read.files import CONTRACT_FILE, read_contract
from fluid_build.contract.validation import parse_contract
from fluid_build.copilot.errors import StoreError
from fluid_build.copilot.store.base import Store
from fluid_build.copilot.store.configured import open_store
from fluid_build.errors import ContractError, SourceUnreadableError
from fluid_build.modeling.logical import LogicalModel
from fluid_build.pipeline.conformance.agent import ConformanceAgent
from fluid_build.pipeline.conformance.report import conformance_errors, verdicts_by_standard
from fluid_build.pipeline.critic.agent import review_everything
from fluid_build.pipeline.run_facts import run_facts
from fluid_build.pipeline.runs import RunLog, RunRecord
from fluid_build.report.page.page_file import check_page_place, write_page
from fluid_build.report.page.run_facts import FindingFacts, RunFacts
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.verification.page_sources import read_page_sources


def make_page(folder: Path, path: Path) -> RunFacts | None:
    """Write the page of a folder, and return the run that is recorded for it, if there is one."""
    sources = read_page_sources(folder)
    check_page_place(path)
    run = recorded_facts(open_store(), folder, sources.plan)
    facts = run or reviewed_facts(folder, sources.model, sources.plan)
    write_page(path, sources.page(facts))
    return run


# What a page says of the run that wrote a folder: from its record, or else by reviewing again.


def recorded_facts(store: Store, folder: Path, plan: TransformPlan) -> RunFacts | None:
    """Return the facts of the newest finished run of a folder.

    None where there is none, where its relations aren't those of the plan, and where the store
    can't be read.
    """
    try:
        records = RunLog(store).records()
    except StoreError:
        return None
    newest = next((record for record in records if _wrote(record, folder)), None)
    if newest is None or newest.receipt is None:
        return None
    relations = tuple(build.name for build in plan.published)
    if (newest.receipt.technique, newest.receipt.relations) != (plan.technique, relations):
        return None  # The folder was written again since, by a program.
    try:
        return run_facts(newest.receipt)
    except ValidationError:  # Another version recorded its decisions differently.
        return None


def reviewed_facts(folder: Path, model: LogicalModel, plan: TransformPlan) -> RunFacts:
    """Return what a review of a folder finds: the facts of no run, so without an id.

    An invalid contract is a finding, and the only one.
    """
    try:
        document = read_contract(folder / CONTRACT_FILE)
        parse_contract(document)
    except (ContractError, SourceUnreadableError) as error:
        return RunFacts(id="", findings=(FindingFacts("error", error.message, error.hint or ""),))
    report = ConformanceAgent().run(logical=model, contract=document)
    return RunFacts(
        id="",
        findings=tuple(
            FindingFacts(
                finding.severity, finding.message, finding.suggestion or "", finding.target or ""
            )
            for finding in review_everything(model, document, plan)
        ),
        conformance=tuple(verdicts_by_standard(report).items()),
        conformance_errors=tuple(conformance_errors(report)),
    )


def _wrote(record: RunRecord, folder: Path) -> bool:
    request = record.request
    if record.state != "finished" or request.is_preview:
        return False
    return os.path.realpath(request.folder / request.out) == os.path.realpath(folder)
