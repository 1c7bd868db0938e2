"""What the page is told of a run, and the times that its timeline is drawn from."""

from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest

from fluid_build.contract.validation import Finding
from fluid_build.copilot.events import Event, get_event_bus
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.decisions.language import DropRelationship, SetKey
from fluid_build.pipeline import coordinator
from fluid_build.pipeline.receipt import DecisionRow, Receipt, StageRow, stage_rows
from fluid_build.pipeline.run_facts import proposal_facts, run_facts
from fluid_build.pipeline.runs import RunLog
from tests.pipeline.small_runs import (
    Interrupted,
    forge_run,
    request_for,
    resume,
    small_shop,
    stopping_at,
)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return small_shop(tmp_path / "shop.db")


@pytest.fixture
def store(tmp_path: Path) -> SqliteBackend:
    return SqliteBackend(tmp_path / "home" / "fluid.db")


def test_every_stage_says_when_it_began_and_ended(
    store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    """A stage begins when those before it have ended; the three parallel ones overlap freely."""
    receipt = forge_run(store, request_for(shop, tmp_path / "out")).receipt
    spans = {stage.name: stage.spans for stage in receipt.stages}
    assert all(len(each) == 1 for each in spans.values())
    ordered = ["profile", "logical", "builder", "conformance", "validator", "repair", "write"]
    for first, second in pairwise(ordered):
        assert spans[first][0][1] <= spans[second][0][0] + 0.002
    for stage in receipt.stages:
        ((start, end),) = stage.spans
        assert end - start == pytest.approx(stage.seconds, abs=0.002)


def test_the_validator_says_how_much_it_warns_of(
    store: SqliteBackend, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For each validation, the event names the variant of the model, and the receipt keeps it."""
    finding = Finding("exposes[0]", "it's odd", "", "", level="warning")
    monkeypatch.setattr(coordinator, "check_consistency", lambda _document: (finding, finding))
    events: list[dict[str, object]] = []

    def note(event: Event) -> None:
        if event.event_type == "validator.variant_lint":
            events.append(dict(event.payload))

    unsubscribe = get_event_bus().subscribe(note)
    try:
        receipt = forge_run(store, request_for(shop, tmp_path / "out")).receipt
    finally:
        unsubscribe()
    assert events == [{"variant": "flat", "warning_count": 2}]
    assert receipt.variant_lint == {"flat": 2}


def test_a_resumed_run_goes_on_in_its_timeline(
    store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    """The hours between two processes aren't in it, and later stages don't begin at zero again."""
    with pytest.raises(Interrupted):
        forge_run(store, request_for(shop, tmp_path / "out"), stopping_at("builder"))
    receipt = resume(store, RunLog(store).records()[0].id).receipt
    spans = {stage.name: stage.spans[0] for stage in receipt.stages}
    assert spans["profile"][1] > 0
    assert spans["builder"][0] >= spans["retrieval"][1] - 0.002


def test_a_receipt_without_times_of_stages_is_still_read() -> None:
    """Receipts of earlier versions have the seconds of a stage and not when it began."""
    stage = {"name": "profile", "seconds": 1.5, "input_tokens": 3}
    receipt = Receipt.model_validate(
        {
            "run": "1",
            "version": "0.1",
            "folder": "out",
            "technique": "flat",
            "proof_verdict": "proven",
            "stages": [stage],
        }
    )
    (facts,) = run_facts(receipt).stages
    assert (facts.seconds, facts.spans, facts.input_tokens) == (1.5, (), 3)


def test_facts_have_the_decisions_of_a_person_with_what_became_of_them(
    store: SqliteBackend, shop: Path, tmp_path: Path
) -> None:
    decisions = (
        SetKey(table="orders", columns=("customer_id",), reason="I think so."),
        DropRelationship(
            from_table="orders",
            from_columns=("customer_id",),
            to_table="customer",
            to_columns=("customer_id",),
        ),
    )
    receipt = forge_run(store, request_for(shop, tmp_path / "out", decisions=decisions)).receipt
    facts = run_facts(receipt)
    assert facts.model == ""
    key, _ = facts.decisions
    assert (key.decision, key.by, key.reason) == (
        "set_key orders (customer_id)",
        "person",
        "I think so.",
    )
    assert [each.status for each in facts.decisions] == [
        entry.status for entry in receipt.decisions
    ]
    assert facts.conformance == tuple(receipt.conformance.items())


def test_what_a_terminal_obeys_in_a_proposal_is_spelled_out() -> None:
    """The names, the reason and the answer are a model's, and the page may be shown anywhere."""
    decision = SetKey(table="or\x1b[31mders", columns=("a\u202eb",), by="model", reason="x")
    row = DecisionRow(decision=decision.model_dump(), status="refused", message="no \x1b[0m")
    facts = proposal_facts(row)
    shown = f"{facts.decision} {facts.reason} {facts.message}"
    assert all(char.isprintable() for char in shown)
    assert "or\\u001b[31mders" in shown


def test_a_stage_that_ran_again_has_a_span_for_each_attempt() -> None:
    first = StageRow(name="logical", seconds=2, spans=((1, 3),))
    again = StageRow(name="logical", seconds=1, spans=((7, 8),))
    (row,) = stage_rows([first, again])
    assert (row.seconds, row.attempts, row.spans) == (3, 2, ((1, 3), (7, 8)))


def test_a_stage_that_ran_three_times_has_the_sums_of_all_attempts() -> None:
    attempts = [
        StageRow(
            name="logical",
            seconds=seconds,
            input_tokens=100 * seconds,
            output_tokens=10 * seconds,
            cost_usd=Decimal("0.01") * seconds,
        )
        for seconds in (1, 2, 4)
    ]
    (row,) = stage_rows(attempts)
    assert (row.seconds, row.attempts, row.input_tokens, row.output_tokens) == (7, 3, 700, 70)
    assert row.cost_usd == Decimal("0.07")
