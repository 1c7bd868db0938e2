"""The documented import path of ``fluid_build.copilot.error_classification``."""

from fluid_build.copilot.error_classification import (
    MAX_RETRY_AFTER_SECONDS,
    classify_provider_error,
    classify_response,
    parse_retry_after,
)

__all__ = [
    "MAX_RETRY_AFTER_SECONDS",
    "classify_provider_error",
    "classify_response",
    "parse_retry_after",
]
