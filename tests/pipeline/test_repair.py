"""The repair: what a model's decisions broke is repeated with feedback, then without them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fluid_build.contract import validation
from fluid_build.contract.validation import Finding
from fluid_build.copilot.llm.testing import ScriptedProvider
from fluid_build.copilot.scratchpad import CriticFinding
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.pipeline.conformance import agent
from fluid_build.pipeline.conformance.report import ConformanceFinding, Standard
from fluid_build.pipeline.critic.agent import CriticAgent
from fluid_build.pipeline.running import Watching
from fluid_build.pipeline.stages import StageEvent
from tests.folders import artifacts_of
from tests.pipeline.small_runs import forge_run, request_for, small_shop
from tests.pipeline.test_runs_with_a_model import ANSWER, MODEL


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return small_shop(tmp_path / "shop.db")


@pytest.fixture
def store(tmp_path: Path) -> SqliteBackend:
    return SqliteBackend(tmp_path / "home" / "fluid.db")


def complain(monkeypatch: pytest.MonkeyPatch, word: str | None) -> None:
    """Let the critic find an error in models with a description of that word, or in all."""
    review = CriticAgent.review_contract

    def stricter(self: CriticAgent, contract: object, **options: object) -> list[CriticFinding]:
        findings = review(self, contract, **options)  # type: ignore[arg-type]
        if word is None or word in str(contract):
            finding = CriticFinding("logical", "error", "the description is nonsense")
            pad = options.get("scratchpad")
            if pad is not None:
                pad.add_critic_finding(finding)  # type: ignore[attr-defined]
            findings.append(finding)
        return findings

    monkeypatch.setattr(CriticAgent, "review_contract", stricter)


def test_an_error_that_decisions_caused_goes_back_once_and_then_they_are_dropped(
    monkeypatch: pytest.MonkeyPatch, store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    forge_run(store, request_for(shop, tmp_path / "draft"))
    complain(monkeypatch, "An order.")
    client = ScriptedProvider(lambda _: ANSWER)
    stages: list[StageEvent] = []
    request = request_for(shop, tmp_path / "out", model_use=MODEL)
    receipt = forge_run(store, request, Watching(on_stage=stages.append), client).receipt
    started = [event.name for event in stages if event.state == "started"]
    assert started.count("logical") == 3
    assert started.count("profile") == started.count("write") == 1
    assert receipt.repair_reasons == ("the description is nonsense",) * 2
    assert not [f for f in receipt.findings if f.severity == "error"], (
        "the findings are those of the last attempt"
    )
    assert "the description is nonsense" in str(client.prompts[-1].messages)
    assert artifacts_of(tmp_path / "out") == artifacts_of(tmp_path / "draft")
    assert receipt.count_proposed("refused") == len(receipt.proposed) > 0
    assert "the description is nonsense" in receipt.proposed[0].message


def test_feedback_that_helps_keeps_the_new_decisions(
    monkeypatch: pytest.MonkeyPatch, store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    complain(monkeypatch, "An order.")
    better = {"decisions": [{**ANSWER["decisions"][0], "value": "A customer's purchase."}]}
    client = ScriptedProvider(
        lambda prompt: better if "nonsense" in str(prompt.messages) else ANSWER
    )
    request = request_for(shop, tmp_path / "out", model_use=MODEL)
    receipt = forge_run(store, request, client=client).receipt
    assert len(receipt.repair_reasons) == 1
    assert receipt.count_proposed("accepted") == 1
    assert "A customer's purchase." in (tmp_path / "out" / "decisions.yaml").read_text()


def test_an_error_of_the_draft_itself_is_reported_and_not_repeated(
    monkeypatch: pytest.MonkeyPatch, store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    complain(monkeypatch, None)
    client = ScriptedProvider(lambda _: ANSWER)
    request = request_for(shop, tmp_path / "out", model_use=MODEL)
    receipt = forge_run(store, request, client=client).receipt
    assert not receipt.repair_used
    assert len([f for f in receipt.findings if f.severity == "error"]) == 1
    assert receipt.count_proposed("accepted") == 2


def test_a_contract_that_decisions_made_invalid_is_repaired(
    monkeypatch: pytest.MonkeyPatch, store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    check = validation.validate

    def stricter(document: object) -> list[Finding]:
        fault = Finding("$.description", "no such description", "", "")
        return [*check(document), *([fault] if "An order." in str(document) else [])]

    monkeypatch.setattr("fluid_build.forging.documents.validate", stricter)
    client = ScriptedProvider(lambda _: ANSWER)
    request = request_for(shop, tmp_path / "out", model_use=MODEL)
    receipt = forge_run(store, request, client=client).receipt
    assert "no such description" in receipt.repair_reasons[0]
    assert "An order." not in (tmp_path / "out" / "contract.fluid.yaml").read_text()


def test_an_export_that_decisions_made_impossible_is_repaired(
    monkeypatch: pytest.MonkeyPatch, store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    standard: Standard = "odcs_translation_readiness"

    def refuse(document: object) -> Iterator[ConformanceFinding]:
        if "An order." in str(document):
            yield ConformanceFinding(standard, "error", "exposes", "no such description")

    monkeypatch.setitem(agent._OF_CONTRACTS, standard, refuse)  # type: ignore[index]
    client = ScriptedProvider(lambda _: ANSWER)
    request = request_for(shop, tmp_path / "out", model_use=MODEL)
    receipt = forge_run(store, request, client=client).receipt
    assert receipt.repair_reasons == (f"{standard}: exposes: no such description",) * 2
    assert receipt.errors == ()
