"""Forging with a language model from Python: stages, the cost limit, and resumed runs."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import fluid_build as fluid
from fluid_build.copilot.cost import CostLimitExceeded
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.pipeline.runs import RunLog
from fluid_build.pipeline.stages import StageEvent
from tests.api.conftest import Frames
from tests.fault_server import LoopbackServer, Reply, rate_limit
from tests.folders import artifacts_of

ANSWER = {"decisions": [{"decision": "domain", "value": "Sales", "reason": "It has orders."}]}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLUID_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    failures = iter([rate_limit(retry_after=0)])
    with LoopbackServer(lambda _: next(failures, Reply(json.dumps(ANSWER)))) as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        yield server


def forged(server: LoopbackServer, database: Path, out: Path, **options: Any) -> fluid.ForgeResult:
    endpoint = server.base_url("openai")
    return fluid.forge(database, out=out, model="openai:gpt-4.1", endpoint=endpoint, **options)


def test_a_model_takes_part_and_its_stages_are_told(
    server: LoopbackServer, database: Path, tmp_path: Path, home: Path
) -> None:
    events: list[StageEvent] = []
    result = forged(server, database, tmp_path / "out", max_cost=1, on_stage=events.append)
    assert result.proof.holds
    assert result.receipt is not None
    assert [entry.status for entry in result.receipt.proposed] == ["accepted"]
    assert "Sales" in (tmp_path / "out" / "decisions.yaml").read_text("utf-8")
    assert [(event.name, event.state) for event in events[:2]] == [
        ("profile", "started"),
        ("profile", "finished"),
    ]
    with closing(SqliteBackend(home / "fluid.db")) as store:
        (record,) = RunLog(store).records()
    assert record.state == "finished"
    without = fluid.forge(database, out=tmp_path / "out")
    assert (without.receipt, without.contract.name) == (None, result.contract.name)


def test_a_run_that_stopped_is_resumed_and_pays_for_no_answer_twice(
    server: LoopbackServer, database: Path, tmp_path: Path
) -> None:
    """The folder is that of an undisturbed run."""

    def stop(event: StageEvent) -> None:
        if event.name == "builder":
            raise KeyboardInterrupt

    whole = forged(server, database, tmp_path / "whole", name="shop")
    asked = len(server.requests)
    with pytest.raises(KeyboardInterrupt):
        forged(server, database, tmp_path / "out", run_id="nightly", on_stage=stop, name="shop")
    result = forged(server, database, tmp_path / "out", run_id="nightly", name="shop")
    assert len(server.requests) == asked, "the answers are in the store"
    assert result.contract_yaml == whole.contract_yaml
    assert artifacts_of(tmp_path / "out") == artifacts_of(tmp_path / "whole")


def test_the_cost_limit_stops_the_run_and_a_higher_one_goes_on(
    server: LoopbackServer, database: Path, tmp_path: Path
) -> None:
    with pytest.raises(CostLimitExceeded) as caught:
        forged(server, database, tmp_path / "out", max_cost="0.0000001", run_id="a")
    assert "run_id='a'" in caught.value.__notes__[0]
    assert not (tmp_path / "out").exists()
    assert len(server.requests) == 0
    assert forged(server, database, tmp_path / "out", max_cost=1, run_id="a").proof.holds


def test_a_run_id_is_for_one_run(server: LoopbackServer, database: Path, tmp_path: Path) -> None:
    def stop(_: StageEvent) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        forged(server, database, tmp_path / "out", run_id="a", on_stage=stop)
    with pytest.raises(fluid.UsageError, match="something else"):
        forged(server, database, tmp_path / "out", run_id="a", technique="dv2")
    forged(server, database, tmp_path / "out", run_id="a")
    with pytest.raises(fluid.UsageError, match="is finished"):
        forged(server, database, tmp_path / "out", run_id="a")
    with pytest.raises(fluid.UsageError, match="can't be the id"):
        forged(server, database, tmp_path / "out", run_id="a/b")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "openai:gpt-4.1"}, "writes its folder"),
        ({"max_cost": 1}, "of a forge with a model"),
        ({"model": "gpt-4.1", "out": "out"}, "doesn't name a provider"),
        ({"model": "openai:gpt-4.1", "out": "out", "max_cost": "a lot"}, "amount of dollars"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(
    database: Path, options: Any, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(fluid.UsageError, match=message):
        fluid.forge(database, **options)


def test_data_in_memory_cannot_be_read_again_and_is_refused(frames: Frames, tmp_path: Path) -> None:
    with pytest.raises(fluid.UsageError, match="by its address"):
        fluid.forge(frames, out=tmp_path / "out", model="openai:gpt-4.1")
