"""What goes into a tool call and what comes out: its arguments and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Arguments: TypeAlias = Mapping[str, object] | str | bytes
"""The arguments of a call: an object, or the JSON text of one as the provider sent it."""

TEXT = (str, bytes)


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
