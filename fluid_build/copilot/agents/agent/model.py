"""The model of an agent: its client, its name, and the session that its answers are cached in."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from fluid_build.copilot.agents.base import StageSession
from fluid_build.copilot.errors import (
    AgentExecutionError,
    ProviderServerError,
    ProviderTimeoutError,
    RateLimitError,
)
from fluid_build.copilot.llm.base import CompletionClient, LlmConfig
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject

if TYPE_CHECKING:
    from fluid_build.copilot.llm.client import LlmClient

ModelSource: TypeAlias = str | LlmConfig | StageSession | CompletionClient
"""``"provider:model"``, a configuration, a session with one, or a client."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """A second model, for a run whose model fails with one of the classes of error in ``on``.

    It takes the turn that failed, after the attempts that an error is worth, and those that follow
    in this process. ``model`` is as an ``Agent``'s; a name alone is of the same provider. ``extra``
    is added to its requests instead of the agent's own.
    """

    model: ModelSource
    on: tuple[type[AgentExecutionError], ...] = (
        RateLimitError,
        ProviderServerError,
        ProviderTimeoutError,
    )
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AgentModel:
    """The model that an agent asks. Without a ``client``, one is opened for each run.

    ``is_known`` says whether the configuration names a provider's model, which has a window.
    """

    config: LlmConfig
    client: CompletionClient | None = None
    session: StageSession | None = None
    is_known: bool = True

    @asynccontextmanager
    async def open(self, *, is_loop_shared: bool) -> AsyncGenerator[CompletionClient]:
        """Open a client for a run, and close it; a client that was passed in stays open.

        Unless ``is_loop_shared``, the run's event loop ends with it, and so do the connections that
        a client made in it.
        """
        if self.client is None:
            async with self._make_client() as client:
                yield client
            return
        try:
            yield self.client
        finally:
            close_loop = getattr(self.client, "close_loop", None)
            if close_loop is not None and not is_loop_shared:
                await close_loop()

    def other(self, model: ModelSource) -> AgentModel:
        """Return a model that is asked instead: a name alone is of the same provider.

        Raises ``ProviderMismatchError`` where a session has another provider.
        """
        if isinstance(model, str) and ":" not in model:
            return replace(self, config=replace(self.config, model=model))
        other = find_model(model, None)
        if other.config.provider == self.config.provider:
            return replace(other, client=other.client or self.client, session=self.session)
        if self.session is not None:
            self.session.assert_provider(other.config.provider)
        return other

    def _make_client(self) -> LlmClient:
        from fluid_build.copilot.llm.client import LlmClient

        matrix = None if self.session is None else self.session.capability_matrix
        return LlmClient.from_config(self.config, capability_matrix=matrix)


def find_model(source: ModelSource | None, client: CompletionClient | None) -> AgentModel:
    """Return the model that an agent was given. Raises ``UsageError`` if that doesn't name one."""
    if source is None:
        return _configured() if client is None else _of_client(client)
    if isinstance(source, StageSession):
        return _of_session(source, client)
    if isinstance(source, str | LlmConfig):
        config = _parse_name(source) if isinstance(source, str) else source
        if client is None:
            _check_provider(config)
        return AgentModel(config, client)
    if not callable(getattr(source, "complete", None)):
        raise TypeError(f"A model can't be a {type(source).__name__}.")
    return _of_client(source)


def _configured() -> AgentModel:
    # imported on use: the configuration takes as long to import as the rest of the agent
    from fluid_build.copilot.llm.default_config import default_llm_config

    return AgentModel(default_llm_config())


def _parse_name(name: str) -> LlmConfig:
    provider, colon, model = name.partition(":")
    if not colon or not provider.strip() or not model.strip():
        raise UsageError(
            f"{name!r} doesn't name a provider and a model.",
            hint='Write "provider:model", such as "anthropic:claude-sonnet-4-6".',
        )
    return LlmConfig(provider.strip().lower(), model.strip())


def _check_provider(config: LlmConfig) -> None:
    """Raise ``UsageError`` for an unknown provider now, rather than when a run needs it."""
    from fluid_build.copilot.llm.providers import make_provider

    make_provider(config.provider, config.base_url)


def _of_session(session: StageSession, client: CompletionClient | None) -> AgentModel:
    config = session.get_llm_config()
    session.assert_provider(provider_of(client) or config.provider)
    return AgentModel(config, client, session)


def _of_client(client: CompletionClient) -> AgentModel:
    """Return the model that a client names itself: a scripted one, which has no provider."""
    model = getattr(client, "model", None)
    if not isinstance(model, str):
        raise UsageError(
            f"A {type(client).__name__} doesn't say which model to ask.",
            hint='Pass model="provider:model", and the client as client=.',
        )
    provider = provider_of(client)
    config = LlmConfig(provider or type(client).__name__, model)
    return AgentModel(config, client, is_known=provider is not None)


def provider_of(client: CompletionClient | None) -> str | None:
    """Return the name of the provider that a client sends requests to, None for a double."""
    name: str | None = getattr(getattr(client, "provider", None), "name", None)
    return name
