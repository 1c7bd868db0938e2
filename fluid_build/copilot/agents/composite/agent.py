"""The base class of composite agents: their behaviour, and how another agent delegates to them."""

from __future__ import annotations

from typing import Any

from fluid_build.copilot.agents.composite.behaviour import Args, CompositeBehaviour, unwrapped
from fluid_build.copilot.agents.composite.engine import run


class CompositeAgent(CompositeBehaviour):
    """An agent of several steps. Subclasses must write ``init``, and any callback they need."""

    async def get_response(self, args: Args) -> Any:
        """Run this agent for an agent that delegates to it. Raises its error."""
        return unwrapped(await run(self, args), type(self).__name__)
