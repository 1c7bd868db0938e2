"""The documented import path of the runtime's errors; see ``fluid_build.copilot.errors``."""

from fluid_build.copilot.errors import (
    AgentExecutionError,
    AnswerCutOffError,
    AnswerRefusedError,
    ContextOverflowError,
    FluidGenerationError,
    ProviderAuthError,
    ProviderDetails,
    ProviderError,
    ProviderServerError,
    ProviderTimeoutError,
    RateLimitError,
    SchemaValidationError,
    ToolValidationError,
)
from fluid_build.errors import FluidError

__all__ = [
    "AgentExecutionError",
    "AnswerCutOffError",
    "AnswerRefusedError",
    "ContextOverflowError",
    "FluidError",
    "FluidGenerationError",
    "ProviderAuthError",
    "ProviderDetails",
    "ProviderError",
    "ProviderServerError",
    "ProviderTimeoutError",
    "RateLimitError",
    "SchemaValidationError",
    "ToolValidationError",
]
