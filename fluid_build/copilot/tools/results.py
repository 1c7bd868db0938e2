"""The result of a tool call, without the detail of a failure: that is in the operator's log."""

from __future__ import annotations

from typing import Any, NamedTuple


class ForgeToolResult(NamedTuple):
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
