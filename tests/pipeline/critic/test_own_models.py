"""What the critic finds in the models that a forge makes: no error, and nothing twice."""

import pytest

from fluid_build.copilot.agents.critic_agent import CriticAgent
from fluid_build.copilot.scratchpad import Scratchpad
from fluid_build.forging.options import ForgeOptions
from fluid_build.forging.stages import Decided, design, look_closer, measure, write_contract
from fluid_build.sources import open_source
from tests.shared import CORPUS, on_databases


@on_databases(
    "chinook jaffle_shop sakila",
    thorough="adventureworks northwind tpcc openflights pubs world",
)
@pytest.mark.parametrize("technique", ["flat", "data_vault_2", "dimensional"])
def test_own_models_have_no_errors(name: str, technique: str) -> None:
    options = ForgeOptions(technique=technique)
    with open_source(CORPUS / name / "data") as source:
        profile = measure(source)
        designed = design(Decided(profile), look_closer(source, profile), options)
    contract = write_contract(designed, options)
    critic, scratchpad = CriticAgent(), Scratchpad()
    critic.review_logical(designed.model, scratchpad=scratchpad)
    critic.review_contract(contract, scratchpad=scratchpad)
    critic.review_transform(designed.plan, designed.model, scratchpad=scratchpad)
    findings = scratchpad.critic_findings
    assert [finding for finding in findings if finding.severity == "error"] == []
    assert len(findings) < 15
    assert len(findings) == len(set(findings))
