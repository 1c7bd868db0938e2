"""Answers out of all proportion, and answers that never come: the run ends on the draft."""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from fluid_build.copilot.errors import CostLimitExceeded
from fluid_build.copilot.llm.answers import Usage
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.pipeline.requests import ModelUse
from tests.fault_server import (
    Fault,
    LoopbackServer,
    Reply,
    silence,
    trickle,
)
from tests.pipeline.hostile_runs import Scene, forge_with
from tests.pipeline.small_runs import forge_run, request_for, small_shop

pytestmark = pytest.mark.timeout(60)
"""What no run on two small tables takes, whatever its model answers, on the slowest machine."""


def set_key(**fields: object) -> dict[str, object]:
    return {"decision": "set_key", "table": "orders", "columns": ["total"], "reason": "x", **fields}


def answer(*proposals: object) -> str:
    return json.dumps({"decisions": proposals})


UNREADABLE: dict[str, Callable[[], str]] = {
    "nested lists": lambda: '{"decisions": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "nested objects": lambda: '{"decisions": [' + '{"a":' * 50_000 + "1" + "}" * 50_000 + "]}",
    "five megabytes of a key": lambda: '{"' + "a" * 5_000_000 + '": 1}',
    "five megabytes of nothing": lambda: " " * 5_000_000,
    "no decisions": lambda: "{}",
    "another kind of value": lambda: "[1, 2, 3]",
}
READABLE: dict[str, Callable[[], str]] = {
    "five megabytes of a reason": lambda: answer({"reason": "x" * 5_000_000}),
    "twenty thousand proposals": lambda: answer(*[set_key()] * 20_000),
    "fifty thousand columns": lambda: answer(set_key(columns=["order_id"] * 50_000)),
    "long names": lambda: answer(set_key(table="orders" * 20_000, columns=["c" * 100_000])),
    "long texts": lambda: answer(
        set_key(decision="describe", columns=[], value="v" * 100_000, reason="r" * 100_000)
    ),
    "long numbers": lambda: '{"decisions": [' + "9" * 4_000 + ", 1e999999]}",
    "entries of every type": lambda: answer(None, True, 1, 1.5, "x", [], {}, [[]], {"": {}}),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("shop")
    return Scene(small_shop(folder / "shop.db"), folder)


@pytest.mark.parametrize("name", UNREADABLE)
def test_an_answer_that_cant_be_read_leaves_the_draft_and_is_reported(
    shop: Scene, tmp_path: Path, name: str
) -> None:
    text = UNREADABLE[name]()
    result = forge_with(shop, "flat", lambda _: Reply(text), tmp_path)
    assert result.faults == []
    assert result.receipt.fallback_used
    assert result.receipt.fallback_reasons
    assert not (tmp_path / "out" / "decisions.yaml").exists()


@pytest.mark.parametrize("name", READABLE)
def test_proposals_out_of_all_proportion_come_to_nothing(
    shop: Scene, tmp_path: Path, name: str
) -> None:
    text = READABLE[name]()
    result = forge_with(shop, "flat", lambda _: Reply(text), tmp_path)
    assert result.faults == []
    assert not result.receipt.fallback_used
    assert result.receipt.invalid_proposals or result.receipt.count_proposed("refused")
    assert not result.receipt.count_proposed("accepted")
    assert len(result.receipt.model_dump_json()) < 500_000
    folder_size = sum(p.stat().st_size for p in (tmp_path / "out").rglob("*") if p.is_file())
    assert folder_size < 500_000


@pytest.mark.parametrize("endless", [silence(300), trickle(300)], ids=["silence", "trickle"])
def test_an_answer_that_never_ends_is_given_up(
    shop: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endless: Fault
) -> None:
    monkeypatch.setenv("FLUID_LLM_TIMEOUT_SECONDS", "0.3")
    result = forge_with(shop, "flat", lambda _: endless, tmp_path)
    assert result.faults == []
    assert result.receipt.fallback_used


def test_a_model_that_claims_millions_of_tokens_isnt_asked_again(
    shop: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = Reply(answer(set_key()), usage=Usage(900_000, 32_000))
    with LoopbackServer(lambda _: reply) as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        use = ModelUse(provider="openai", model="gpt-4.1", endpoint=server.base_url("openai"))
        request = request_for(shop.source, tmp_path / "out", model_use=use)
        request = request.model_copy(update={"max_cost": Decimal("0.50")})
        with pytest.raises(CostLimitExceeded):
            forge_run(SqliteBackend(tmp_path / "fluid.db"), request)
        assert len(server.requests) == 1
    assert not (tmp_path / "out").exists()
