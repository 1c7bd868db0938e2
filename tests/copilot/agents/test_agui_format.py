"""AG-UI's events as its official package reads them."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import TypeAdapter

from tests.copilot.agents.agui_runs import all_runs


def test_the_official_package_reads_every_event_and_knows_every_field(tmp_path: Path) -> None:
    from ag_ui.core import PROTOCOL_VERSION, Event

    adapter: TypeAdapter[object] = TypeAdapter(Event)
    kinds = set()
    for event in [event for run in all_runs(tmp_path) for event in run]:
        parsed = adapter.validate_json(json.dumps(event))
        assert json.loads(adapter.dump_json(parsed, by_alias=True, exclude_none=True)) == event
        assert not parsed.__pydantic_extra__  # type: ignore[attr-defined]
        kinds.add(event["type"])
        if event["type"] == "RUN_STARTED":
            assert event["protocolVersion"] == PROTOCOL_VERSION
    assert len(kinds) >= 16


def test_the_official_package_writes_an_input_that_is_read(tmp_path: Path) -> None:
    from ag_ui.core import ResumeEntry, RunAgentInput, TextPart, UserMessage

    from fluid_build.copilot.agents.agui.requests import read_input

    sent = RunAgentInput(
        thread_id="t",
        run_id="r",
        messages=[UserMessage(id="1", content=[TextPart(text="Hi.")])],
        resume=[ResumeEntry(interrupt_id="c", status="cancelled")],
    )
    read = read_input(json.loads(sent.model_dump_json(by_alias=True)))
    assert read.new_content() == [{"type": "text", "text": "Hi."}]
    assert [entry.interrupt_id for entry in read.resume or ()] == ["c"]
