"""The coordinator: the documented order of stages, and what a run without a model makes."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from fluid_build.copilot.agents.composite import CompositeAgent
from fluid_build.copilot.agents.coordinator import Coordinator as DocumentedCoordinator
from fluid_build.copilot.errors import (
    RunNotFoundError,
    RunOwnedError,
    StaleCheckpointError,
)
from fluid_build.copilot.store.backends.null import NullBackend
from fluid_build.copilot.store.backends.postgres import PostgresBackend
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.errors import SourceChangedError, UsageError
from fluid_build.forging import forge
from fluid_build.pipeline.coordinator import Coordinator
from fluid_build.pipeline.requests import SourcePlace
from fluid_build.pipeline.running import Watching
from fluid_build.pipeline.runs import KEPT_RUNS, RunLog, new_record
from fluid_build.pipeline.stages import StageEvent
from fluid_build.sources import open_source
from fluid_build.sources.combined import SourceRequest
from fluid_build.sources.uri import locate
from tests.folders import artifacts_of
from tests.pipeline.small_runs import (
    Interrupted,
    forge_run,
    request_for,
    resume,
    small_shop,
    stopping_at,
)

STAGES = [
    "profile",
    "logical",
    "logical_critic",
    "retrieval",
    "builder",
    "conformance",
    "ddl",
    "dbt",
    "docs",
    "validator",
    "escalation",
    "repair",
    "write",
    "episode",
    "memory",
]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return small_shop(tmp_path / "shop.db")


@pytest.fixture
def store(tmp_path: Path) -> SqliteBackend:
    return SqliteBackend(tmp_path / "home" / "fluid.db")


def interrupted_run(store: SqliteBackend, shop: Path, out: Path, stage: str = "builder") -> str:
    with pytest.raises(Interrupted):
        forge_run(store, request_for(shop, out), stopping_at(stage))
    return RunLog(store).records()[0].id


def test_the_documented_names_are_there() -> None:
    assert DocumentedCoordinator is Coordinator
    assert issubclass(Coordinator, CompositeAgent)
    for name in (
        "_run_logical_critic",
        "retrieve_similar_models",
        "_run_pre_emit_conformance",
        "_escalate_critic_errors_into_report",
        "_maybe_repair_physical",
        "_record_forge_episode",
        "write_semantic_record",
    ):
        assert callable(getattr(Coordinator, name))


def test_stages_run_in_the_documented_order(
    store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    events: list[StageEvent] = []
    result = forge_run(store, request_for(shop, tmp_path / "out"), Watching(on_stage=events.append))
    assert [event.name for event in events if event.state == "started"] == STAGES
    assert [row.name for row in result.receipt.stages] == STAGES


def test_a_run_writes_the_files_of_a_plain_forge(
    store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    result = forge_run(store, request_for(shop, tmp_path / "run", technique="dv2"))
    with open_source(shop) as source:
        forge(source, out=tmp_path / "plain", technique="dv2")
    assert artifacts_of(tmp_path / "run") == artifacts_of(tmp_path / "plain")
    assert result.forged.proof.verdict == result.receipt.proof_verdict == "proven"


def test_a_run_without_a_usable_store_goes_on_and_says_so(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = SqliteBackend(tmp_path / "file" / "fluid.db")
    result = forge_run(store, request_for(shop, tmp_path / "out"))
    assert result.forged.files
    assert "isn't recorded" in result.receipt.notes[0]


def test_a_run_killed_again_and_again_ends_with_the_files_of_an_undisturbed_one(
    shop: Path, tmp_path: Path
) -> None:
    forge_run(NullBackend(), request_for(shop, tmp_path / "undisturbed", technique="dv2"))
    out, file = tmp_path / "killed", tmp_path / "home" / "fluid.db"
    program = [sys.executable, "-m", "tests.pipeline.dying_runs", shop, out, file]
    process = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
    died, code = map(int, process.stdout.split())
    assert code == 0, process.stderr
    assert died >= 6
    assert artifacts_of(out) == artifacts_of(tmp_path / "undisturbed")
    assert RunLog(SqliteBackend(file)).records()[0].state == "finished"


def test_a_resumed_run_measures_nothing_again(
    store: SqliteBackend, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = interrupted_run(store, shop, tmp_path / "out")
    monkeypatch.setattr("fluid_build.pipeline.coordinator.measure", None)
    monkeypatch.setattr("fluid_build.pipeline.workplace.look_closer", None)
    assert resume(store, run_id).forged.files


def test_a_run_whose_source_has_changed_is_not_resumed(
    store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    run_id = interrupted_run(store, shop, tmp_path / "out")
    with closing(sqlite3.connect(shop)) as database, database:
        database.execute("DELETE FROM orders WHERE order_id = 5000")
    with pytest.raises(SourceChangedError, match="'orders' had 120 rows and now has 119"):
        resume(store, run_id)
    assert not (tmp_path / "out").exists()


def test_a_run_of_another_version_is_resumed_only_on_request(
    store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    run_id = interrupted_run(store, shop, tmp_path / "out")
    log = RunLog(store)
    log.save(log.get(run_id).model_copy(update={"version": "0.0.1"}))
    with pytest.raises(StaleCheckpointError, match=r"was made by Fluid Forge 0\.0\.1"):
        resume(store, run_id)
    assert resume(store, run_id, accept_changed_code=True).forged.files


def test_a_run_that_another_process_runs_is_left_alone(
    store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    failures: list[Exception] = []

    def on_stage(event: StageEvent) -> None:
        if event.name == "builder" and not failures:
            run_id = RunLog(store).records()[0].id
            with pytest.raises(RunOwnedError) as refused:
                resume(SqliteBackend(tmp_path / "home" / "fluid.db"), run_id)
            with pytest.raises(RunOwnedError):
                RunLog(store).remove(run_id)
            failures.append(refused.value)

    result = forge_run(store, request_for(shop, tmp_path / "out"), Watching(on_stage=on_stage))
    assert len(failures) == 1
    assert RunLog(store).get(result.receipt.run).state == "finished"


def test_the_state_of_a_run_is_as_a_reader_sees_it(
    store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    run_id = interrupted_run(store, shop, tmp_path / "out")
    log = RunLog(store)
    assert log.shown_state(log.get(run_id)) == "interrupted"
    resume(store, run_id)
    assert log.shown_state(log.get(run_id)) == "finished"
    assert store.keys("runs") == store.keys("runs/values") == []
    log.remove(run_id)
    with pytest.raises(RunNotFoundError):
        log.get(run_id)


def test_the_oldest_finished_runs_are_forgotten(
    store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    log = RunLog(store)
    request = request_for(shop, tmp_path / "out")
    for second in range(KEPT_RUNS + 3):
        record = new_record(request, clock=lambda second=second: float(second))  # type: ignore[misc]
        log.save(record.model_copy(update={"state": "finished" if second else "stopped"}))
    assert log.prune() == 2
    remaining = log.records()
    assert len(remaining) == KEPT_RUNS + 1
    assert remaining[-1].started == 0, "a run that can be resumed stays"


def test_a_database_holds_the_runs_of_a_team(postgres_uri: str, shop: Path, tmp_path: Path) -> None:
    store = PostgresBackend(postgres_uri)
    with pytest.raises(Interrupted):
        forge_run(store, request_for(shop, tmp_path / "out"), stopping_at("dbt"))
    other = PostgresBackend(postgres_uri)
    result = resume(other, RunLog(other).records()[0].id)
    assert result.forged.files
    other.close()
    store.close()


def test_a_password_is_not_stored_and_only_the_same_address_replaces_it() -> None:
    address = locate("postgresql://me:hunter22@db.example.org/shop")
    place = SourcePlace.of(SourceRequest(address))
    assert "hunter22" not in place.model_dump_json()
    assert place.has_password
    assert place.request(address).address == address
    with pytest.raises(UsageError, match="not postgresql") as refused:
        place.request(locate("postgresql://me:hunter22@db.example.org/other"))
    assert "hunter22" not in str(refused.value)
