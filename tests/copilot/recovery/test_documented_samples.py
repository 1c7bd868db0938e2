"""The integration example of the implementation plan, section 1.2, as it is written there."""

import asyncio

from fluid_build.copilot.agents.errors import RateLimitError, SchemaValidationError
from fluid_build.copilot.recovery.error_handler import (
    ErrorCategory,
    ErrorContext,
    ErrorRecoveryFramework,
    RecoveryStrategy,
)


class UnifiedAgentOrchestrator:
    def __init__(self):
        self.error_recovery = ErrorRecoveryFramework()
        self._register_recovery_strategies()
        self.failures = 0
        self.requests = 0

    def _register_recovery_strategies(self):
        self.error_recovery.register_strategy(
            RecoveryStrategy(
                name="llm_retry",
                category=ErrorCategory.LLM_ERROR,
                handler=self._recover_llm_error,
                max_retries=3,
                fallback=self._llm_fallback,
            )
        )
        self.error_recovery.register_strategy(
            RecoveryStrategy(
                name="validation_fallback",
                category=ErrorCategory.VALIDATION_ERROR,
                handler=self._recover_validation_error,
                max_retries=1,
                fallback=self._validation_fallback,
            )
        )

    async def _recover_llm_error(self, context: ErrorContext):
        for attempt in range(3):
            await asyncio.sleep(2**attempt)
            try:
                return await self._retry_llm_call(context)
            except Exception:
                if attempt == 2:
                    raise
        return None

    async def _llm_fallback(self, context: ErrorContext):
        return {
            "narrative": "I'm having trouble generating a response right now.",
            "fallback": True,
        }

    async def _retry_llm_call(self, context):
        self.requests += 1
        if self.failures:
            self.failures -= 1
            raise context.error
        return "narrative"

    async def _recover_validation_error(self, context):
        raise context.error

    async def _validation_fallback(self, context):
        return "safe"


async def no_sleep(seconds):
    return None


def test_the_documented_orchestrator_recovers_a_rate_limit(monkeypatch):
    """The sample's own loop retries, and the framework returns its answer."""
    monkeypatch.setattr(asyncio, "sleep", no_sleep)
    orchestrator = UnifiedAgentOrchestrator()
    orchestrator.failures = 2
    assert asyncio.run(orchestrator.error_recovery.handle_error(RateLimitError())) == "narrative"


def test_the_documented_orchestrator_sends_three_requests_before_its_fallback(monkeypatch):
    """Its handler retries, and the framework calls that once."""
    monkeypatch.setattr(asyncio, "sleep", no_sleep)
    orchestrator = UnifiedAgentOrchestrator()
    orchestrator.failures = 99
    answer = asyncio.run(orchestrator.error_recovery.handle_error(RateLimitError()))
    assert answer["fallback"] is True
    assert orchestrator.requests == 3


def test_the_documented_orchestrator_falls_back_on_validation():
    """The sample's second strategy ends in its fallback after one call."""
    orchestrator = UnifiedAgentOrchestrator()
    result = asyncio.run(orchestrator.error_recovery.handle_error(SchemaValidationError()))
    assert result == "safe"
