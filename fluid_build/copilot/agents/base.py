"""The session that all agents of a run share, and the base class of agents.

Source: Agentic Primitives, "StageSession".
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self, TypedDict, TypeVar, Unpack

from pydantic import BaseModel, ValidationError

from fluid_build.copilot.drivers import finish, immediate
from fluid_build.copilot.errors import AgentExecutionError, CostLimitExceeded, SchemaValidationError
from fluid_build.copilot.errors import ProviderMismatchError as ProviderMismatchError
from fluid_build.copilot.operations import Operation
from fluid_build.copilot.scratchpad import Scratchpad
from fluid_build.copilot.store.base import Store
from fluid_build.json_types import JsonObject
from fluid_build.text import counted

if TYPE_CHECKING:
    from fluid_build.copilot.llm.base import (
        CompletionClient,
        LlmConfig,
        LlmPrompt,
        LlmResponse,
        ToolSpec,
    )
    from fluid_build.copilot.llm.client import LlmClient

LLM_CACHE = "cache/llm"
"""The store's namespace for models' answers."""
_CACHE_SECONDS = 90 * 24 * 3600
"""How long an answer is kept: a run is resumed, and a source forged again, within some months."""

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class PipelineEvent:
    """An entry of the audit trail: ``fallback`` or ``repair``, the stage and the reason."""

    kind: str
    stage: str = ""
    reason: str = ""


@dataclass
class StageSession:
    """The state that all agents of a run share.

    Without an ``llm_config``, ``get_llm_config`` takes the configured model. ``active_provider``
    defaults to the provider of ``llm_config``, and is the only one of the run: raises
    ``ProviderMismatchError`` if the two differ. ``capability_matrix`` has everything else
    that an answer depends on, and is part of every cache key. ``no_cache`` turns the cache of
    answers off.
    """

    store: Store
    llm_config: LlmConfig | None = None
    active_provider: str | None = None
    capability_matrix: dict[str, object] = field(default_factory=dict)
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
        provider = configured if self.active_provider is None else self.active_provider
        self.active_provider = None if provider is None else _plain_name(provider)
        if configured is not None:
            self.assert_provider(configured)

    def get_scratchpad(self) -> Scratchpad:
        """Return the run's scratchpad, created on first use."""
        with self._lock:
            if self.scratchpad is None:
                self.scratchpad = Scratchpad()
            return self.scratchpad

    def get_llm_config(self) -> LlmConfig:
        """Return the run's model, on first use the configured one if none was passed.

        Raises ``UsageError`` if there is none, ``ProviderMismatchError`` for a second provider.
        """
        with self._lock:
            if self.llm_config is None:
                from fluid_build.copilot.llm.default_config import default_llm_config

                config = default_llm_config()
                if self.active_provider is None:
                    self.active_provider = _plain_name(config.provider)
                self.assert_provider(config.provider)
                self.llm_config = config
            return self.llm_config

    def assert_provider(self, provider: str) -> None:
        """Raise ``ProviderMismatchError`` unless ``provider`` is the run's."""
        if _plain_name(provider) != self.active_provider:
            raise ProviderMismatchError(
                f"This run uses {self.active_provider}, but a stage resolved to {provider}.",
                hint="Configure one provider for the whole run.",
            )

    def cache_key(self, *, model: str, prompt: object, parameters: Mapping[str, object]) -> str:
        """Return a digest of everything that an answer depends on, the capability matrix included.

        Raises ``TypeError`` for parts that JSON can't hold: their text may differ each time.
        """
        parts = [self.active_provider, model, prompt, parameters, self.capability_matrix]
        base_url = None if self.llm_config is None else self.llm_config.base_url
        if base_url is not None:  # two servers may run different models under the same name
            parts.append(base_url)
        canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=_as_plain)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def record_fallback(self, stage: str = "", reason: str = "") -> None:
        """Record that a stage fell back to something other than a model's answer."""
        with self._lock:
            self.fallback_used = True
            self.audit_trail.append(PipelineEvent("fallback", stage, reason))

    def record_repair(self, stage: str = "", reason: str = "") -> None:
        """Record that a stage ran again with feedback."""
        with self._lock:
            self.repair_used = True
            self.audit_trail.append(PipelineEvent("repair", stage, reason))


class PromptParameters(TypedDict, total=False):
    """The fields of ``LlmPrompt`` that an agent's call may set."""

    tools: Sequence[ToolSpec | JsonObject]
    max_output_tokens: int
    temperature: float | None
    cache_prompt: bool
    context_window: int | None
    extra: JsonObject


class BaseStageAgent:
    """An agent that asks the run's model for typed answers.

    Its calls are counted under ``stage``. By default its client is made from the session's
    ``llm_config`` and closed with the agent: close the agent, or use it in a ``with`` block. Pass a
    ``client`` to share connections.
    """

    stage: ClassVar[str] = ""

    def __init__(self, session: StageSession, client: CompletionClient | None = None) -> None:
        self.session = session
        self._client = client
        self._own_client: LlmClient | None = None

    async def call(
        self, output: type[M], *, system: str, user: str, **parameters: Unpack[PromptParameters]
    ) -> M:
        """Return the model's answer as ``output``, from the cache if it was paid for already.

        ``parameters`` are further fields of ``LlmPrompt``. Raises ``SchemaValidationError``,
        ``AnswerRefusedError``, ``AnswerCutOffError``, the ``ProviderError`` that fits the failure,
        or ``CostLimitExceeded``.
        """
        return await self._call(output, system, user, parameters, lambda client: client.complete)

    def call_sync(
        self, output: type[M], *, system: str, user: str, **parameters: Unpack[PromptParameters]
    ) -> M:
        """Return the model's answer, as ``call``, and wait for it."""
        return finish(
            self._call(
                output, system, user, parameters, lambda client: immediate(client.complete_sync)
            )
        )

    async def _call(
        self,
        output: type[M],
        system: str,
        user: str,
        parameters: PromptParameters,
        completing: Callable[[CompletionClient], Callable[..., Awaitable[LlmResponse]]],
    ) -> M:
        with self._operation() as operation:
            prompt, key = self._prompt(output, system, user, parameters)
            cached = self._cached(key, output)
            operation.outcome["is_cached"] = cached is not None
            if cached is not None:
                return cached
            complete = completing(self._ready_client())
            with self._keeping_paid_answer(output, key):
                response = await complete(prompt, stage=self.stage, agent_class=type(self).__name__)
            return self._accepted(output, response, key)

    def _operation(self) -> Operation:
        """Return the operation of a call, with names and never with texts."""
        return Operation(
            "agent.run",
            lambda: {
                "agent_name": type(self).__name__,
                "run_id": self.session.run_id,
                "stage": self.stage,
                "provider": self.session.active_provider,
            },
        )

    @contextmanager
    def _keeping_paid_answer(self, output: type[BaseModel], key: str) -> Generator[None]:
        """Cache the answer of a call that passed the cost limit, which is raised again."""
        from fluid_build.copilot.llm.answers import LlmResponse

        try:
            yield
        except CostLimitExceeded as refusal:
            if isinstance(refusal.response, LlmResponse):
                with suppress(AgentExecutionError):  # it isn't a whole answer
                    self._accepted(output, refusal.response, key)
            raise

    def _prompt(
        self, output: type[BaseModel], system: str, user: str, parameters: PromptParameters
    ) -> tuple[LlmPrompt, str]:
        from fluid_build.copilot.llm.base import LlmPrompt

        config = self.session.get_llm_config()
        self.session.assert_provider(config.provider)
        schema = output.model_json_schema()
        settings: PromptParameters = {
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
        """Close the connections of the agent's own client, those of this event loop included."""
        client, self._own_client = self._own_client, None
        if client is not None:
            await client.aclose()

    def close(self) -> None:
        """Close the connections of the agent's own client."""
        client, self._own_client = self._own_client, None
        if client is not None:
            client.close()

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
        if self._own_client is None:
            from fluid_build.copilot.llm.client import LlmClient

            self._own_client = LlmClient.from_config(
                self.session.get_llm_config(), capability_matrix=self.session.capability_matrix
            )
        return self._own_client

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

    def _accepted(self, output: type[M], response: LlmResponse, key: str) -> M:
        """Return the answer if it is whole and follows the schema, and cache it."""
        response.require_whole()
        answer = validated(output, response.text)
        if not self.session.no_cache:
            self.session.store.put(LLM_CACHE, key, response.text, ttl_seconds=_CACHE_SECONDS)
        return answer


def validated(output: type[M], text: str) -> M:
    """Return ``text`` as ``output``. Raises ``SchemaValidationError``, which quotes no input."""
    try:
        return output.model_validate_json(text)
    except ValidationError as error:
        faults = error.errors(include_input=False, include_url=False, include_context=False)
    raise SchemaValidationError(
        f"The answer violates the schema {output.__name__} in {counted(len(faults), 'place')}.",
        schema_name=output.__name__,
        validation_errors=faults,
        raw_output=text,
    )


def _plain_name(provider: str) -> str:
    """Return a provider's name as ``make_provider`` reads it, without the API behind it."""
    return provider.strip().lower().removesuffix("-chat").removesuffix("-responses")


def _as_plain(value: object) -> list[object]:
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"a {type(value).__name__} can't be part of a cache key")
