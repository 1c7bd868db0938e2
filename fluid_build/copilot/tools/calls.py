"""What goes into a tool call and what comes out: its arguments, its context and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypedDict

from fluid_build.copilot.tools.metrics import (
    Identity,
    ToolObservabilityCollector,
)

Arguments: TypeAlias = Mapping[str, object] | str | bytes
"""The arguments of a call: an object, or the JSON text of one as the provider sent it."""

TEXT = (str, bytes)


class CallOptions(TypedDict, total=False):
    """The keyword arguments of a dispatch, which are fields of ``CallContext``."""

    deps: object
    agent_id: str | None
    workflow_id: str | None
    session_id: str | None
    collector: ToolObservabilityCollector | None


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a call is made with, beside its arguments: none of it is the model's.

    ``workspace_root`` (default: the working directory) and ``deps`` go to the tools that ask for
    them, the ids into the trace. ``collector`` keeps that, by default the process's.
    """

    workspace_root: Path | str | None = None
    deps: object = None
    agent_id: str | None = None
    workflow_id: str | None = None
    session_id: str | None = None
    collector: ToolObservabilityCollector | None = None

    @property
    def identity(self) -> Identity:
        """Return whom the call belongs to."""
        return self.agent_id, self.workflow_id, self.session_id


_PLAIN = CallContext()


def call_context(workspace_root: Path | str | None, options: CallOptions) -> CallContext:
    """Return the context of a call. Most calls have the plain one, which needn't be made."""
    if options or workspace_root is not None:
        return CallContext(workspace_root, **options)
    return _PLAIN


@dataclass
class ForgeToolResult:
    """The result of a tool call: a value, or an error's class and a message without detail."""

    ok: bool
    value: Any = None
    error_type: str | None = None
    error_message: str | None = None
    reason: str | None = None
    """How a model can correct its call, of a ``ToolValidationError``: quotes no exception."""

    def for_model(self) -> Any:
        """Return the value, or ``{"error": ..., "message": ...}``."""
        if self.ok:
            return self.value
        return {"error": self.error_type, "message": self.error_message}
