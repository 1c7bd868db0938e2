"""Runs in which a language model takes part: what it adds, costs, and does when it fails."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fluid_build.copilot.agents.base import LLM_CACHE
from fluid_build.copilot.errors import AgentExecutionError, CostLimitExceeded
from fluid_build.copilot.llm.testing import ScriptedProvider
from fluid_build.copilot.retrieval import SEMANTIC_MEMORY
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.decisions.files import DECISIONS_FILE, read_decision_file
from fluid_build.errors import UsageError
from fluid_build.pipeline.memory import EPISODES
from fluid_build.pipeline.requests import ForgeRequest, ModelUse
from fluid_build.pipeline.runs import COSTS, RunLog
from fluid_build.pipeline.values import RunValues, Slot
from tests.fault_server import LoopbackServer, Reply, unauthorized
from tests.folders import artifacts_of
from tests.pipeline.small_runs import (
    Interrupted,
    forge_run,
    request_for,
    resume,
    small_shop,
    stopping_at,
)

MODEL = ModelUse(provider="openai", model="gpt-4.1-mini")
ANSWER = {
    "decisions": [
        {"decision": "describe", "table": "orders", "value": "An order.", "reason": "Its name."},
        {"decision": "domain", "value": "Sales", "reason": "Orders and customers."},
        {"decision": "set_key", "table": "orders", "columns": ["customer_id"], "reason": "Id."},
    ]
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return small_shop(tmp_path / "shop.db")


@pytest.fixture
def store(tmp_path: Path) -> SqliteBackend:
    return SqliteBackend(tmp_path / "home" / "fluid.db")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    with LoopbackServer(lambda _: Reply(json.dumps(ANSWER))) as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        yield server


def asking(server: LoopbackServer, **changes: object) -> ModelUse:
    return MODEL.model_copy(update={"endpoint": server.base_url("openai"), **changes})


def limited(request: ForgeRequest, limit: str | None) -> ForgeRequest:
    return request.model_copy(update={"max_cost": None if limit is None else Decimal(limit)})


def test_accepted_decisions_go_into_the_folder_and_refused_ones_into_the_receipt(
    store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    client = ScriptedProvider(lambda _: ANSWER)
    request = request_for(shop, tmp_path / "out", model_use=MODEL)
    receipt = forge_run(store, request, client=client).receipt
    written = read_decision_file(tmp_path / "out" / DECISIONS_FILE).decisions
    assert [(entry.decision, entry.by) for entry in written] == [
        ("describe", "model"),
        ("domain", "model"),
    ]
    assert receipt.count_proposed("accepted") == 2
    refused = [entry for entry in receipt.proposed if entry.status == "refused"]
    assert "isn't unique" in refused[0].message
    assert refused[0].evidence is not None
    assert refused[0].evidence.sql
    assert {caller for caller, _ in client.callers} == {"logical"}


def test_forging_again_with_the_decisions_and_no_model_writes_the_same_bytes(
    store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    out, again = tmp_path / "out", tmp_path / "again"
    client = ScriptedProvider(lambda _: ANSWER)
    forge_run(store, request_for(shop, out, model_use=MODEL), client=client)
    recorded = read_decision_file(out / DECISIONS_FILE)
    request = request_for(
        shop, again, model_use=ModelUse(deterministic=True), decisions=recorded.decisions
    )
    options = request.options
    object.__setattr__(options, "decisions_text", recorded.text)
    forge_run(store, request)
    assert artifacts_of(out) == artifacts_of(again)


def test_a_model_that_fails_leaves_the_draft_and_a_receipt_that_says_so(
    store: SqliteBackend, shop: Path, tmp_path: Path, server: LoopbackServer
) -> None:
    forge_run(store, request_for(shop, tmp_path / "draft"))
    server_use = asking(server)
    with LoopbackServer([unauthorized()] * 9, key=server.key) as failing:
        use = server_use.model_copy(update={"endpoint": failing.base_url("openai")})
        receipt = forge_run(store, request_for(shop, tmp_path / "out", model_use=use)).receipt
    assert receipt.fallback_used
    assert "ProviderAuthError" in receipt.fallback_reasons[0]
    assert artifacts_of(tmp_path / "out") == artifacts_of(tmp_path / "draft")


def test_a_required_model_that_fails_stops_the_run_which_can_be_resumed(
    store: SqliteBackend, shop: Path, tmp_path: Path, server: LoopbackServer
) -> None:
    with LoopbackServer([unauthorized()] * 9, key=server.key) as failing:
        use = asking(server, endpoint=failing.base_url("openai"), is_required=True)
        request = request_for(shop, tmp_path / "out", model_use=use)
        with pytest.raises(AgentExecutionError, match="ProviderAuthError"):
            forge_run(store, request)
    assert not (tmp_path / "out").exists()
    record = RunLog(store).records()[0]
    assert record.state == "stopped"
    result = resume(store, record.id, client=ScriptedProvider(lambda _: ANSWER))
    assert not result.receipt.fallback_used
    assert result.receipt.count_proposed("accepted") == 2


def test_a_model_that_is_required_and_not_configured_is_wrong_usage(
    store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    for use in (ModelUse(is_required=True), ModelUse(is_required=True, deterministic=True)):
        with pytest.raises(UsageError, match="--require-llm"):
            forge_run(store, request_for(shop, tmp_path / "out", model_use=use))


def test_a_cost_limit_stops_the_run_before_it_is_passed_and_a_higher_one_resumes_it(
    store: SqliteBackend, shop: Path, tmp_path: Path, server: LoopbackServer
) -> None:
    request = request_for(shop, tmp_path / "out", model_use=asking(server))
    with pytest.raises(CostLimitExceeded):
        forge_run(store, limited(request, "0.00001"))
    assert server.requests == []
    log = RunLog(store)
    record = log.records()[0]
    assert "CostLimitExceeded" in (record.error or "")
    raised = record.model_copy(update={"request": limited(record.request, "1")})
    log.save(raised)
    receipt = resume(store, record.id).receipt
    assert receipt.cost.calls == len(server.requests) > 0
    assert 0 < receipt.cost.total_usd < 1
    assert receipt.cost.agents[0].name == "logical: LogicalAgent"


def test_answers_that_arrived_are_not_paid_for_again(
    store: SqliteBackend, shop: Path, tmp_path: Path, server: LoopbackServer
) -> None:
    first = forge_run(store, request_for(shop, tmp_path / "a", model_use=asking(server)))
    asked = len(server.requests)
    second = forge_run(store, request_for(shop, tmp_path / "b", model_use=asking(server)))
    assert len(server.requests) == asked == first.receipt.cost.calls
    assert second.receipt.cost.cache_hits == asked
    assert second.receipt.cost.calls == 0
    assert artifacts_of(tmp_path / "a") == artifacts_of(tmp_path / "b")
    use = asking(server, no_cache=True)
    forge_run(store, request_for(shop, tmp_path / "c", model_use=use))
    assert len(server.requests) == 2 * asked


def test_nothing_of_the_run_is_in_the_folder(
    store: SqliteBackend, shop: Path, tmp_path: Path, server: LoopbackServer
) -> None:
    result = forge_run(store, request_for(shop, tmp_path / "out", model_use=asking(server)))
    text = b"\n".join(artifacts_of(tmp_path / "out").values())
    for word in (result.receipt.run, "gpt-4.1-mini", "openai", server.key, "127.0.0.1"):
        assert word.encode() not in text


def test_a_run_remembers_names_and_no_values(
    store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    first = forge_run(store, request_for(shop, tmp_path / "a"))
    assert store.keys(EPISODES) == [first.receipt.run]
    (key,) = store.keys(SEMANTIC_MEMORY)
    remembered = json.dumps(
        [store.get(SEMANTIC_MEMORY, key), store.get(EPISODES, first.receipt.run)]
    )
    assert "customer_id" in remembered
    assert "someone" not in remembered
    assert "Town" not in remembered
    second = forge_run(store, request_for(shop, tmp_path / "b"))
    assert second.receipt.similar_models == (key,)


def test_a_run_killed_after_its_answers_knows_their_cost_and_asks_nobody_again(
    store: SqliteBackend, shop: Path, tmp_path: Path, server: LoopbackServer
) -> None:
    request = request_for(shop, tmp_path / "out", model_use=asking(server))
    with pytest.raises(Interrupted):
        forge_run(store, request, stopping_at("logical_critic"))
    asked = len(server.requests)
    assert asked > 0
    receipt = resume(store, RunLog(store).records()[0].id).receipt
    assert len(server.requests) == asked == receipt.cost.calls
    assert receipt.cost.total_usd > 0
    assert receipt.count_proposed("accepted") == 2


def test_a_run_killed_before_its_answers_were_used_takes_them_from_the_cache(
    store: SqliteBackend,
    shop: Path,
    tmp_path: Path,
    server: LoopbackServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise Interrupted

    request = request_for(shop, tmp_path / "out", model_use=asking(server))
    with monkeypatch.context() as patch:
        patch.setattr("fluid_build.pipeline.values.RunValues.put", _failing_at("proposed", killed))
        with pytest.raises(Interrupted):
            forge_run(store, request)
    asked = len(server.requests)
    receipt = resume(store, RunLog(store).records()[0].id).receipt
    assert len(server.requests) == asked == receipt.cost.calls
    assert receipt.cost.cache_hits == asked


def _failing_at(slot_name: str, fail: Callable[[], None]) -> Callable[..., object]:
    put = RunValues.put

    def failing(self: RunValues, slot: Slot[object], value: object) -> object:
        if slot.name == slot_name:
            fail()
        return put(self, slot, value)

    return failing


def test_a_resumed_run_has_the_model_and_the_limit_of_its_start_whatever_is_configured_now(
    server: LoopbackServer,
    monkeypatch: pytest.MonkeyPatch,
    store: SqliteBackend,
    shop: Path,
    tmp_path: Path,
) -> None:
    settings = {
        "FLUID_LLM_PROVIDER": "openai",
        "FLUID_LLM_MODEL": "gpt-4.1-mini",
        "FLUID_LLM_BASE_URL": server.base_url("openai"),
        "FLUID_COST_LIMIT_USD": "2",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(Interrupted):
        forge_run(store, request_for(shop, tmp_path / "out"), stopping_at("logical"))
    for name in settings:
        monkeypatch.delenv(name)
    monkeypatch.setenv("FLUID_DETERMINISTIC", "1")
    (record,) = RunLog(store).records()
    receipt = resume(store, record.id).receipt
    assert receipt.model == "gpt-4.1-mini"
    assert receipt.cost.limit_usd == 2
    assert receipt.count_proposed("accepted") == 2


def test_a_run_that_began_without_a_model_ends_without_one(
    monkeypatch: pytest.MonkeyPatch, store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    with pytest.raises(Interrupted):
        forge_run(store, request_for(shop, tmp_path / "out"), stopping_at("logical"))
    monkeypatch.setenv("FLUID_LLM_PROVIDER", "openai")
    monkeypatch.setenv("FLUID_LLM_MODEL", "gpt-4.1-mini")
    (record,) = RunLog(store).records()
    assert resume(store, record.id).receipt.model is None


def test_the_most_that_a_call_can_cost_is_saved_before_it_and_its_answer_before_what_it_cost(
    server: LoopbackServer,
    monkeypatch: pytest.MonkeyPatch,
    store: SqliteBackend,
    shop: Path,
    tmp_path: Path,
) -> None:
    saved: list[str] = []
    put = SqliteBackend.put

    def noting(self: SqliteBackend, namespace: str, key: str, value: object, **more: Any) -> None:
        saved.append(namespace)
        put(self, namespace, key, value, **more)

    monkeypatch.setattr(SqliteBackend, "put", noting)
    forge_run(store, request_for(shop, tmp_path / "out", model_use=asking(server)))
    ours = [name for name in saved if name in {COSTS, LLM_CACHE}]
    assert ours == [COSTS, LLM_CACHE, COSTS] * len(server.requests)


def test_a_call_that_was_under_way_when_the_process_ended_counts_against_the_limit(
    monkeypatch: pytest.MonkeyPatch, store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    at_the_request: list[dict[str, Any]] = []

    def answer(_: object) -> Reply:
        (run,) = store.keys(COSTS)
        at_the_request.append(store.get(COSTS, run))
        return Reply(json.dumps({"decisions": []}))

    with LoopbackServer(answer) as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        request = request_for(shop, tmp_path / "out", model_use=asking(server))
        with pytest.raises(Interrupted):
            forge_run(store, request, stopping_at("logical_critic"))
        record = RunLog(store).records()[0]
        pending = at_the_request[0]
        assert Decimal(pending["reserved_usd"]) > 0
        store.put(COSTS, record.id, pending)  # as a process that was killed then leaves it
        receipt = resume(store, record.id).receipt
    assert (
        receipt.cost.total_usd == receipt.cost.unconfirmed_usd == Decimal(pending["reserved_usd"])
    )


def test_answers_are_forgotten_after_some_months(
    server: LoopbackServer, shop: Path, tmp_path: Path
) -> None:
    now = [1_000_000.0]
    store = SqliteBackend(tmp_path / "home" / "fluid.db", clock=lambda: now[0])
    forge_run(store, request_for(shop, tmp_path / "out", model_use=asking(server)))
    assert store.keys(LLM_CACHE)
    now[0] += 100 * 24 * 3600
    forge_run(store, request_for(shop, tmp_path / "second"))
    with closing(sqlite3.connect(tmp_path / "home" / "fluid.db")) as database:
        query = "SELECT count(*) FROM records WHERE namespace = ?"
        assert database.execute(query, (LLM_CACHE,)).fetchone() == (0,)
