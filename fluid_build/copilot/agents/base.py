"""The session that all agents of a run share, and the base of agents that ask a model one thing.

Source: Agentic Primitives, "StageSession".
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, ValidationError

from fluid_build.copilot.errors import ProviderMismatchError as ProviderMismatchError
from fluid_build.copilot.errors import SchemaValidationError
from fluid_build.copilot.scratchpad import Scratchpad
from fluid_build.copilot.store.base import Store

if TYPE_CHECKING:
    from fluid_build.copilot.llm.base import CompletionClient, LlmPrompt
    from fluid_build.copilot.llm.client import LlmClient

LLM_CACHE = "cache/llm"
"""The store's namespace for models' answers."""

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class PipelineEvent:
    """Something for the audit trail: ``fallback`` or ``repair``, in which stage, and why."""

    kind: str
    stage: str = ""
    reason: str = ""


@dataclass
class StageSession:
    """What every agent of a run is given.

    ``active_provider`` is the provider of ``llm_config`` unless given, and the only one of the run:
    raises ``ProviderMismatchError`` if the two differ. ``capability_matrix`` holds whatever else an
    answer depends on, and is part of every cache key. ``no_cache`` keeps answers from being read
    and written.
    """

    store: Store
    llm_config: Any = None
    active_provider: str | None = None
    capability_matrix: dict[str, Any] = field(default_factory=dict)
    scratchpad: Scratchpad | None = None
    fallback_used: bool = False
    repair_used: bool = False
    tiered: bool = False
    no_cache: bool = False
    run_id: str | None = None
    audit_trail: list[PipelineEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        configured = getattr(self.llm_config, "provider", None)
        named = configured if self.active_provider is None else self.active_provider
        self.active_provider = None if named is None else _plain_name(named)
        if configured is not None:
            self.assert_provider(configured)

    def get_scratchpad(self) -> Scratchpad:
        """The run's scratchpad, made on first use."""
        with self._lock:
            if self.scratchpad is None:
                self.scratchpad = Scratchpad()
            return self.scratchpad

    def assert_provider(self, provider: str) -> None:
        """Raises ``ProviderMismatchError`` unless ``provider`` is the run's."""
        if _plain_name(provider) != self.active_provider:
            raise ProviderMismatchError(
                f"This run speaks to {self.active_provider}, and a stage resolved to {provider}.",
                hint="Configure one provider for the whole run.",
            )

    def cache_key(self, *, model: str, prompt: Any, parameters: Mapping[str, Any]) -> str:
        """A digest of all that an answer depends on, the capability matrix included.

        Raises ``TypeError`` for parts that JSON cannot hold: their text may differ each time.
        """
        parts = [self.active_provider, model, prompt, parameters, self.capability_matrix]
        canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=_as_plain)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def record_fallback(self, stage: str = "", reason: str = "") -> None:
        """Notes that a stage had to do with less than a model's answer."""
        with self._lock:
            self.fallback_used = True
            self.audit_trail.append(PipelineEvent("fallback", stage, reason))

    def record_repair(self, stage: str = "", reason: str = "") -> None:
        """Notes that a stage was run again with feedback."""
        with self._lock:
            self.repair_used = True
            self.audit_trail.append(PipelineEvent("repair", stage, reason))


class BaseStageAgent:
    """An agent that asks the run's model for one typed answer at a time.

    ``stage`` is the stage that its calls are counted under. ``client`` is by default made from the
    session's ``llm_config``, which names ``provider`` and ``model``; give one to share connections.
    A client of its own is closed with the agent: close it, or use it in a ``with`` block.
    """

    stage: ClassVar[str] = ""

    def __init__(self, session: StageSession, client: CompletionClient | None = None) -> None:
        self.session = session
        self._client = client
        self._own: LlmClient | None = None

    async def call(self, output: type[M], *, system: str, user: str, **parameters: Any) -> M:
        """The model's answer as ``output``, from the cache if it was paid for already.

        ``parameters`` are further fields of ``LlmPrompt``. Raises ``SchemaValidationError``, a
        ``ProviderError`` of the kind that the failure is, or ``CostLimitExceeded``.
        """
        prompt, key = self._prompt(output, system, user, parameters)
        known = self._cached(key, output)
        return known if known is not None else await self._call_once(output, prompt, key)

    def call_sync(self, output: type[M], *, system: str, user: str, **parameters: Any) -> M:
        """The blocking twin of ``call``."""
        prompt, key = self._prompt(output, system, user, parameters)
        known = self._cached(key, output)
        if known is not None:
            return known
        response = self._ready_client().complete_sync(
            prompt, stage=self.stage, agent_class=type(self).__name__
        )
        return self._accepted(output, response.text, key)

    async def _call_once(self, output: type[M], prompt: LlmPrompt, key: str) -> M:
        response = await self._ready_client().complete(
            prompt, stage=self.stage, agent_class=type(self).__name__
        )
        return self._accepted(output, response.text, key)

    def _prompt(
        self, output: type[BaseModel], system: str, user: str, parameters: Mapping[str, Any]
    ) -> tuple[LlmPrompt, str]:
        from fluid_build.copilot.llm.base import LlmPrompt

        config = self.session.llm_config
        self.session.assert_provider(config.provider)
        schema = output.model_json_schema()
        settings = {
            "max_output_tokens": config.max_output_tokens,
            "temperature": config.temperature,
            **parameters,
        }
        prompt = LlmPrompt(
            model=config.model,
            messages=[{"role": "user", "content": user}],
            system=system,
            response_schema=schema,
            schema_name=output.__name__,
            **settings,
        )
        key = self.session.cache_key(
            model=config.model,
            prompt={"system": system, "user": user, "schema": schema},
            parameters=settings,
        )
        return prompt, key

    async def aclose(self) -> None:
        """Closes the connections of the client that the agent made, also of this event loop."""
        own, self._own = self._own, None
        if own is not None:
            await own.aclose()

    def close(self) -> None:
        """The blocking twin of ``aclose``."""
        own, self._own = self._own, None
        if own is not None:
            own.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ready_client(self) -> CompletionClient:
        if self._client is not None:
            resolved = getattr(getattr(self._client, "provider", None), "name", None)
            if resolved is not None:
                self.session.assert_provider(resolved)
            return self._client
        if self._own is None:
            from fluid_build.copilot.llm.client import LlmClient

            self._own = LlmClient.from_config(
                self.session.llm_config, capability_matrix=self.session.capability_matrix
            )
        return self._own

    def _cached(self, key: str, output: type[M]) -> M | None:
        if self.session.no_cache:
            return None
        text = self.session.store.get(LLM_CACHE, key)
        if not isinstance(text, str):
            return None
        try:
            return output.model_validate_json(text)
        except ValidationError:
            return None

    def _accepted(self, output: type[M], text: str, key: str) -> M:
        """The answer, if it follows the schema; only then is it kept."""
        answer = validated(output, text)
        if not self.session.no_cache:
            self.session.store.put(LLM_CACHE, key, text)
        return answer


def validated(output: type[M], text: str) -> M:
    """``text`` as ``output``. Raises ``SchemaValidationError``, whose errors quote no input."""
    try:
        return output.model_validate_json(text)
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False, include_context=False)
    raise SchemaValidationError(
        f"The model's answer breaks the schema {output.__name__} in {len(found)} places.",
        schema_name=output.__name__,
        validation_errors=found,
        raw_output=text,
    )


def _plain_name(provider: str) -> str:
    """A provider's name as ``make_provider`` reads it."""
    return provider.strip().lower()


def _as_plain(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"a {type(value).__name__} cannot be part of a cache key")
