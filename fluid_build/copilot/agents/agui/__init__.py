"""Agents for user interfaces: the events of a run in the format of AG-UI, and an application.

Source: the Agent User Interaction Protocol, version 1.0.
"""

from fluid_build.copilot.agents.agui.application import agui_app
from fluid_build.copilot.agents.agui.running import agui_events, thread_session

__all__ = ["agui_app", "agui_events", "thread_session"]
