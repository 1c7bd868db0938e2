"""Typed answers while they are written."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from fluid_build.copilot import Agent, ScriptedProvider
from fluid_build.copilot.agents.agent import CorrectionEvent, PartialEvent, ResultEvent
from fluid_build.copilot.agents.agent.streams import PartialAnswer
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.providers import make_provider
from tests.copilot.agents.agent.models import MODELS
from tests.fault_server import LoopbackServer, Reply


class Point(BaseModel):
    name: str
    weight: int


class Report(BaseModel):
    title: str = Field(min_length=5)
    points: list[Point] = []


REPORT = {"title": "Sales", "points": [{"name": "a", "weight": 1}, {"name": "b", "weight": 2}]}


def pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


@given(size=st.integers(1, 40))
def test_what_is_there_grows_to_the_whole_answer(size: int) -> None:
    answer, seen = PartialAnswer(Report), []
    for piece in pieces(json.dumps(REPORT), size):
        fields = answer.add(piece)
        if fields is not None:
            seen.append(fields)
    whole = Report.model_validate(REPORT)
    assert seen[-1] == {"title": whole.title, "points": whole.points}
    for earlier, later in itertools.pairwise(seen):
        assert later["title"].startswith(earlier["title"])
        assert later.get("points", [])[: len(earlier.get("points", []))] == earlier.get(
            "points", []
        )


@dataclass
class City:
    name: str


class Town(TypedDict):
    name: str


@pytest.mark.parametrize(
    ("output", "text", "fields"),
    [
        (City, '{"name": "Par', {"name": "Par"}),
        (Town, '{"name": "Par', {"name": "Par"}),
        (
            list[Point],
            '{"result": [{"name": "a", "weight": 1}, {"na',
            {"result": [Point(name="a", weight=1)]},
        ),
        (int | None, '{"result": 12}', {"result": 12}),
        (Report, 'It is:\n```json\n{"title": "Sa', {"title": "Sa"}),
        (Report, "No JSON.", None),
        (Report, "[1, 2]", None),
    ],
)
def test_each_kind_of_output_is_read(output: Any, text: str, fields: Any) -> None:
    assert PartialAnswer(output).add(text) == fields


def test_a_long_answer_is_not_read_at_every_piece() -> None:
    text = json.dumps({"title": "x" * 100_000})
    answer = PartialAnswer(Report)
    read = [piece for piece in pieces(text, 20) if answer.add(piece) is not None]
    assert len(read) < 400


@pytest.mark.parametrize("provider", MODELS)
def test_the_fields_of_an_answer_stream_in_every_format(provider: str) -> None:
    """Over real sockets; an answer that doesn't fit is begun anew."""
    script = [Reply('{"title": "No"}'), Reply(json.dumps(REPORT))]
    with LoopbackServer(script) as server:
        wire = make_provider(provider, server.base_url(provider))
        with LlmClient(wire, api_key=server.key) as client:
            agent = Agent(f"{provider}:{MODELS[provider]}", client=client, output=Report)
            events = list(agent.stream_sync("Report."))
    corrected = next(i for i, e in enumerate(events) if isinstance(e, CorrectionEvent))
    partial = [e.fields for e in events[corrected:] if isinstance(e, PartialEvent)]
    assert partial[0].keys() == {"title"}
    assert len(partial) > 1
    last = events[-1]
    assert isinstance(last, ResultEvent)
    assert partial[-1]["points"] == last.result.output.points


def test_a_text_has_no_partial_answers() -> None:
    events = list(Agent(ScriptedProvider(['{"a": 1}'])).stream_sync("Go."))
    assert not any(isinstance(event, PartialEvent) for event in events)
