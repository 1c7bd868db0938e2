"""The stages of a run as lines: for people on stderr, for programs on stdout."""

from __future__ import annotations

import json
import sys

from fluid_build.cli import messages
from fluid_build.copilot.unified_config import current_config
from fluid_build.pipeline.requests import ForgeRequest
from fluid_build.pipeline.running import Watching
from fluid_build.pipeline.sessions import configured, requested_model
from fluid_build.pipeline.stages import StageEvent
from fluid_build.progress import OnProgress
from fluid_build.text import counted

_SHORTEST_SHOWN = 0.05
"""Seconds: a stage that took less, asked nobody and found nothing isn't worth a line."""


def watching(on_progress: OnProgress, request: ForgeRequest, *, json_lines: bool) -> Watching:
    """Return who is told of a run's stages: people only where a model takes part.

    Where that model is likely to do badly, they are warned at once.
    """
    with configured(request.model_use):
        model = requested_model(request.model_use)
    for_people = model is not None and not current_config().behavior.quiet
    if model is not None:
        # Most runs ask no model, and don't wait for this import.
        from fluid_build.copilot.llm.capabilities import capability_warnings

        for warning in capability_warnings(model):
            messages.tell(f"Warning: {warning}")

    def on_stage(event: StageEvent) -> None:
        if json_lines:
            print_line(event.as_json())
        if for_people and _is_worth_a_line(event):
            messages.tell(stage_line(event))

    return Watching(on_progress, on_stage)


def print_line(document: object) -> None:
    """Print a JSON document as one line on stdout, at once."""
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


def stage_line(event: StageEvent) -> str:
    """Return a stage that has ended as a line: its name, state and figures."""
    figures = [f"{event.seconds:.1f} s"]
    tokens = event.input_tokens + event.output_tokens
    if tokens:
        figures += [counted(tokens, "token"), dollars(event.cost_usd)]
    if event.findings:
        figures.append(counted(event.findings, "finding"))
    failure = f" ({event.error})" if event.error else ""
    state = "went on without the model" if event.used_fallback else event.state
    return f"  {event.name}: {state}{failure}, {', '.join(figures)}"


def dollars(amount: object) -> str:
    """Return an amount of US dollars with as many decimals as a cheap call needs."""
    return f"${float(str(amount)):.4f}"


def _is_worth_a_line(event: StageEvent) -> bool:
    if event.state == "started":
        return False
    is_eventful = (
        event.state == "failed" or event.used_fallback or event.findings or event.input_tokens
    )
    return bool(is_eventful) or event.seconds >= _SHORTEST_SHOWN
