"""The rounds of the logical stage: asking, judging, correcting once."""

import asyncio
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from fluid_build.copilot.agents.base import StageSession
from fluid_build.copilot.agents.logical_agent import LogicalAgent
from fluid_build.copilot.errors import (
    AnswerCutOffError,
    ContextOverflowError,
    CostLimitExceeded,
    ProviderServerError,
    UnknownPriceError,
)
from fluid_build.copilot.llm.base import LlmConfig, LlmPrompt
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.llm.testing import ScriptedProvider
from fluid_build.copilot.scratchpad import CriticFinding, RetrievalResult, StageFeedback
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.decisions.language import AnyDecision, Classify, Describe, Ignore, Owner, SetKey
from fluid_build.decisions.verdicts import Verdict
from fluid_build.pipeline.logical.draft import LogicalOutcome
from fluid_build.pipeline.logical.improving import improve
from fluid_build.pipeline.logical.proposals import MOST_PROPOSALS
from tests.copilot.llm.characters import attacker, liar, random_model
from tests.fault_server import LoopbackServer
from tests.pipeline.logical.drafts import (
    answer,
    describe,
    document,
    draft,
    large_profile,
    refuse,
    run,
    session,
)

SET_KEY = {"decision": "set_key", "table": "orders", "columns": ["total"], "reason": "R."}
BUSINESS_KEY = {**SET_KEY, "decision": "business_key"}


def test_accepted_proposals_are_decisions_of_a_model() -> None:
    """They have its reason, and are in the order of the answer."""
    model = ScriptedProvider([answer(describe("orders"), describe("customers"))])
    outcome = run(model)
    expected = [
        Describe(table=table, text="Rows of it.", by="model", reason="R.")
        for table in ("orders", "customers")
    ]
    assert list(outcome.decisions) == expected
    assert (outcome.chunks, outcome.rounds, outcome.failed_chunks) == (1, 1, ())
    assert model.callers == [("logical", "LogicalAgent")]


def test_a_refusal_goes_back_once_with_its_figure() -> None:
    """The model sees what it proposed, why not, and the tables concerned."""
    model = ScriptedProvider([answer(SET_KEY, describe("customers")), answer(describe("orders"))])
    outcome = run(model, judge=refuse("set_key"))
    correction = document(model.prompts[1])
    assert correction["refused"] == [
        {
            "decision": "set_key",
            "table": "orders",
            "columns": ["total"],
            "why": "12 of 830 rows repeat a value.",
        }
    ]
    assert list(correction["tables"]) == ["orders"]
    assert [decision.decision for decision in outcome.decisions] == ["describe", "describe"]
    assert [verdict.status for verdict in outcome.verdicts] == ["refused", "accepted", "accepted"]
    assert outcome.rounds == 2


def test_what_is_refused_again_is_dropped_and_reported() -> None:
    """There is no third question."""
    model = ScriptedProvider([answer(SET_KEY), answer(BUSINESS_KEY)])
    outcome = run(model, judge=refuse("set_key", "business_key"))
    assert outcome.decisions == ()
    assert [verdict.status for verdict in outcome.verdicts] == ["refused", "refused"]
    assert len(model.prompts) == 2


def test_a_replacement_is_judged_next_to_what_was_accepted() -> None:
    """Both have to hold together."""
    judged: list[list[str]] = []

    def judge(decisions: Sequence[AnyDecision]) -> list[Verdict]:
        judged.append([decision.decision for decision in decisions])
        return refuse("set_key")(decisions)

    run(ScriptedProvider([answer(SET_KEY, describe("orders")), answer(BUSINESS_KEY)]), judge=judge)
    assert judged == [["set_key", "describe"], ["describe", "business_key"]]


def test_an_accepted_proposal_that_is_repeated_is_not_refused() -> None:
    """Many models answer a correction with their whole answer; a new reason changes nothing."""
    repeated = {**describe("customers"), "reason": "As before."}
    model = ScriptedProvider(
        [answer(SET_KEY, describe("customers")), answer(describe("orders"), repeated)]
    )
    outcome = run(model, judge=refuse("set_key"))
    assert [verdict.decision.decision for verdict in outcome.verdicts] == [
        "set_key",
        "describe",
        "describe",
    ]
    assert [verdict.status for verdict in outcome.verdicts] == ["refused", "accepted", "accepted"]


def test_a_person_has_the_last_word_without_a_question() -> None:
    """What contradicts a person's decision is dropped, and never measured."""
    person = (SetKey(table="orders", columns=("id",)), Ignore(table="lines"))
    model = ScriptedProvider([answer(SET_KEY, describe("lines"))])
    outcome = run(model, draft(decisions=person), judge=lambda decisions: [1 / 0])  # type: ignore[list-item]
    assert [verdict.message for verdict in outcome.verdicts] == [
        "A person has decided that already.",
        "The table is ignored.",
    ]
    assert len(model.prompts) == 1
    assert document(model.prompts[0])["decided"] == ["set_key orders", "ignore lines"]


def test_of_two_proposals_about_the_same_the_first_counts() -> None:
    """The second is reported, and doesn't go back."""
    model = ScriptedProvider([answer(describe("orders", "A."), describe("orders", "B."))])
    outcome = run(model)
    assert [getattr(decision, "text", None) for decision in outcome.decisions] == ["A."]
    assert outcome.verdicts[1].message == "An earlier suggestion decides that."
    assert len(model.prompts) == 1


def test_an_unused_proposal_is_reported_and_left_out() -> None:
    """It's right, but says nothing about this technique."""
    role = {"decision": "classify", "table": "orders", "value": "hub", "reason": "R."}

    def judge(decisions: Sequence[AnyDecision]) -> list[Verdict]:
        return [Verdict(decision, "unused", "It's about a vault.") for decision in decisions]

    outcome = run(ScriptedProvider([answer(role)]), judge=judge)
    assert outcome.decisions == ()
    assert isinstance(outcome.verdicts[0].decision, Classify)
    assert outcome.rounds == 1


def test_an_invalid_entry_goes_back_and_is_reported() -> None:
    """The others of its answer stay."""
    wrong = {"decision": "rename", "table": "orders", "value": "a b", "reason": "R."}
    model = ScriptedProvider([answer(wrong, describe("orders")), answer()])
    outcome = run(model)
    assert "new_name" in document(model.prompts[1])["refused"][0]["why"]
    assert len(outcome.decisions) == 1
    assert "new_name" in outcome.invalid[0].fault


def test_merging_ignores_the_order_of_completion() -> None:
    """Decisions are in the order of the chunks, then of the answer."""
    profile = large_profile(200)

    def run_delayed(delays: Sequence[float]) -> list[str]:
        waits = iter(delays)

        async def reply(prompt: LlmPrompt) -> dict[str, Any]:
            await asyncio.sleep(next(waits))
            return answer(*(describe(table) for table in list(document(prompt)["tables"])[:2]))

        outcome = run(ScriptedProvider(reply), draft(profile, "flat"))
        assert outcome.chunks == 2
        return [str(getattr(decision, "table", "")) for decision in outcome.decisions]

    assert run_delayed([0.02, 0]) == run_delayed([0, 0.02])


def test_a_failed_chunk_is_reported_and_the_others_count() -> None:
    """The caller records the fallback."""

    def reply(prompt: LlmPrompt) -> Any:
        tables = list(document(prompt)["tables"])
        if "erp_table_0" in tables:
            return ProviderServerError("Overloaded.", provider="anthropic")
        return answer(describe(tables[0]))

    outcome = run(ScriptedProvider(reply), draft(large_profile(200), "flat"))
    (failed,) = outcome.failed_chunks
    assert "erp_table_0" in failed.tables
    assert (failed.error, failed.is_correction) == ("ProviderServerError", False)
    assert len(outcome.decisions) == 1


def test_a_failed_correction_leaves_the_first_round() -> None:
    """It's reported as what it is."""
    failure = ProviderServerError("Overloaded.", provider="anthropic")
    model = ScriptedProvider([answer(SET_KEY, describe("orders")), failure])
    outcome = run(model, judge=refuse("set_key"))
    assert len(outcome.decisions) == 1
    assert outcome.failed_chunks[0].is_correction


def test_the_cost_limit_stops_the_stage() -> None:
    """Chunks that wait aren't asked any more."""

    def reply(_prompt: LlmPrompt) -> Any:
        return CostLimitExceeded(Decimal(2), Decimal(1))

    model = ScriptedProvider(reply)
    with pytest.raises(CostLimitExceeded):
        run(model, draft(large_profile(1_000, columns=4), "flat"))
    assert len(model.prompts) == 1


def test_an_error_of_the_set_up_is_raised_as_it_is() -> None:
    """It's for the user, and not a failure of the provider."""
    model = ScriptedProvider(lambda _: UnknownPriceError("anthropic", "m"))
    with pytest.raises(UnknownPriceError):
        run(model, draft(large_profile(200, columns=4), "flat"))


@pytest.mark.parametrize(
    "error",
    [
        ContextOverflowError("Too long."),
        AnswerCutOffError("Cut off."),
    ],
)
def test_a_chunk_that_is_too_long_is_halved_once(error: Exception) -> None:
    """Each half is asked by itself, and only the first one for the product's name."""

    def reply(prompt: LlmPrompt) -> Any:
        tables = list(document(prompt)["tables"])
        return error if len(tables) > 2 else answer(describe(tables[0]))

    model = ScriptedProvider(reply)
    outcome = run(model)
    assert [list(document(prompt)["tables"]) for prompt in model.prompts[1:]] == [
        ["customers", "orders"],
        ["lines"],
    ]
    assert ["product" in document(prompt) for prompt in model.prompts] == [True, True, False]
    assert len(outcome.decisions) == 2
    always = run(ScriptedProvider(lambda _: error))
    assert [failed.tables for failed in always.failed_chunks] == [
        ("customers", "orders"),
        ("lines",),
    ]


def test_an_answer_in_another_form_is_asked_for_once_more() -> None:
    """The second request says so."""
    model = ScriptedProvider(["No.", answer(describe("orders"))])
    assert len(run(model).decisions) == 1
    assert "fault" in document(model.prompts[1])
    outcome = run(ScriptedProvider(["No.", "No."]))
    assert outcome.failed_chunks[0].error == "SchemaValidationError"


def test_tiered_runs_have_the_fast_model_write_the_words() -> None:
    """The run's model settles the judgement calls."""

    def reply(prompt: LlmPrompt) -> Any:
        is_fast = prompt.model == "claude-haiku-5-5"
        return answer(describe("orders")) if is_fast else answer(BUSINESS_KEY, describe("lines"))

    model = ScriptedProvider(reply)
    outcome = run(model, session_=session(tiered=True))
    assert [prompt.model for prompt in model.prompts[:2]] == [
        "claude-sonnet-4-6",
        "claude-haiku-5-5",
    ]
    assert [decision.decision for decision in outcome.decisions] == ["business_key", "describe"]
    assert outcome.invalid[0].fault == "describe wasn't asked for"


def test_a_provider_without_a_fast_model_is_asked_once() -> None:
    """One pass does everything."""
    model = ScriptedProvider([answer()])
    run(model, session_=session(LlmConfig("lmstudio", "m"), tiered=True))
    assert len(model.prompts) == 1


def test_only_a_repair_sees_findings_and_similar_models() -> None:
    """A first run has nothing to repair."""
    stage = session()
    scratchpad = stage.get_scratchpad()
    scratchpad.add_critic_finding(CriticFinding("logical", "error", "hub_x has no key"))
    scratchpad.add_retrieval(RetrievalResult("memory/semantic", "1", 0.9, text="a shop"))
    model = ScriptedProvider([answer(), answer()])
    run(model, session_=stage)
    run(model, session_=stage, feedback=[StageFeedback("validator", "logical", "3 errors")])
    first, repair = map(document, model.prompts)
    assert not {"feedback", "findings", "similar"} & first.keys()
    assert repair["feedback"] == ["3 errors"]
    assert repair["findings"] == ["error: hub_x has no key"]
    assert repair["similar"] == ["a shop"]


def test_answers_are_paid_for_once(tmp_path: Any) -> None:
    """A run that was killed asks nothing again."""
    config = LlmConfig("anthropic", "claude-sonnet-4-6")
    store = SqliteBackend(tmp_path / "store.db")
    script = [answer(SET_KEY), answer(describe("orders"))]
    first = run(
        ScriptedProvider(script), judge=refuse("set_key"), session_=StageSession(store, config)
    )
    again = run(ScriptedProvider([]), judge=refuse("set_key"), session_=StageSession(store, config))
    assert first == again


def test_thousands_of_proposals_are_bounded() -> None:
    """The rest is counted."""
    proposals = [describe("orders", f"Text {number}.") for number in range(5_000)]
    outcome = run(ScriptedProvider([answer(*proposals)]))
    assert len(outcome.verdicts) == MOST_PROPOSALS
    assert outcome.unread == 5_000 - MOST_PROPOSALS


def test_an_answer_of_five_megabytes_ends() -> None:
    """Its one entry is refused with a short quotation."""
    model = ScriptedProvider([answer(describe("orders", "x" * 5_000_000)), answer()])
    outcome = run(model)
    assert outcome.decisions == ()
    assert len(outcome.invalid[0].entry) <= 201
    assert len(str(model.prompts[1].messages)) < 5_000


async def improve_over(server: LoopbackServer) -> LogicalOutcome:
    """Improve a draft with the model of a server."""
    provider = make_provider("anthropic", server.base_url("anthropic"))
    async with LlmClient(provider, api_key=server.key) as client:
        return await improve(draft(), session(), refuse("set_key"), client=client)


@pytest.mark.parametrize("character", [random_model, liar, attacker])
def test_models_of_bad_character_come_to_an_end(character: Any) -> None:
    """Over a real socket, the outcome is decisions of a model, or a reported failure."""
    for seed in range(5):
        with LoopbackServer(character(seed)) as server:
            outcome = asyncio.run(improve_over(server))
        assert outcome.rounds <= 2
        assert not any(isinstance(decision, Ignore | Owner) for decision in outcome.decisions)
        assert all(decision.by == "model" for decision in outcome.decisions)
        assert len(server.requests) <= 4


def test_the_documented_import_path_has_the_agent() -> None:
    """The face hands the name on."""
    assert LogicalAgent.__module__ == "fluid_build.pipeline.logical.agent"
