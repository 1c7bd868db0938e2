"""Handing a conversation over to another agent, by a tool that does nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fluid_build.copilot.tools.definition import ForgeTool
from fluid_build.errors import UsageError

_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def handoff_name(agent: str) -> str:
    """Return the name of the tool that hands over to the agent of a name."""
    return f"transfer_to_{_NO_NAME.sub('_', agent)}"


def handoff_tool(agent: str, about: str) -> ForgeTool[..., str]:
    """Return the tool by which a model hands its conversation to an agent."""

    def hand_over() -> str:
        return f"{agent} has the conversation now."

    return ForgeTool(
        hand_over,
        name=handoff_name(agent),
        description=f"Hand the whole conversation over to {agent}. {about}".strip(),
    )


def check_names(names: Sequence[str]) -> None:
    """Raise ``UsageError`` where two agents of a conversation have one name."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            f"Two of the agents that may have the conversation are named {twice[0]!r}.",
            hint="Give each a name: Agent(..., name='billing').",
        )
