"""A turn of the model: check that its prompt fits, look for its answer in the cache, or ask."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass, fields
from decimal import Decimal
from functools import partial
from typing import Any

from fluid_build.copilot.agents.agent.events import LoopEvent
from fluid_build.copilot.agents.agent.hooks import NO_HOOKS, Hooks
from fluid_build.copilot.agents.agent.model import AgentModel, provider_of
from fluid_build.copilot.agents.agent.output_format import OutputMode, in_mode, read_answer
from fluid_build.copilot.agents.base import LLM_CACHE
from fluid_build.copilot.blocking import call_in_thread
from fluid_build.copilot.context.compaction import (
    CompactionStrategy,
    compact_after,
    compact_messages,
    compaction_strategy,
)
from fluid_build.copilot.context.message_parts import guessed_tokens
from fluid_build.copilot.context.model_data import context_window
from fluid_build.copilot.context.summary import Summarizer
from fluid_build.copilot.context.token_budget import check_prompt_fits, estimate_message_tokens
from fluid_build.copilot.cost import RunCostTracker, get_cost_tracker
from fluid_build.copilot.errors import ContextOverflowError, CostLimitExceeded, ProviderServerError
from fluid_build.copilot.llm.answer_streams import events_of
from fluid_build.copilot.llm.answers import LlmResponse, Usage
from fluid_build.copilot.llm.base import CompletionClient, LlmPrompt
from fluid_build.copilot.llm.prepared_calls import estimate_prompt
from fluid_build.copilot.llm.streaming import (
    AnswerEvent,
    StreamEvent,
    TextEvent,
    ToolCallEvent,
)
from fluid_build.copilot.llm.summarizer import make_summarizer
from fluid_build.copilot.messages import Message, ToolCall, text_of, tool_calls
from fluid_build.errors import UsageError

_NO_USAGE = Usage()

_COMPACTED_SHARE = 0.5
"""Of the budget, for a compacted conversation: half is left to grow before the next compaction."""


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens, and their price in US dollars (None: unknown)."""

    usage: Usage = _NO_USAGE
    cost_usd: Decimal | None = Decimal(0)

    def plus(self, added: Spending) -> Spending:
        """Return the sum of both."""
        usage = Usage(
            self.usage.input_tokens + added.usage.input_tokens,
            self.usage.output_tokens + added.usage.output_tokens,
            self.usage.cached_tokens + added.usage.cached_tokens,
            self.usage.cache_write_tokens + added.usage.cache_write_tokens,
        )
        if self.cost_usd is None or added.cost_usd is None:
            return Spending(usage, None)
        return Spending(usage, self.cost_usd + added.cost_usd)


NO_SPENDING = Spending()


@dataclass(frozen=True, slots=True)
class TurnAnswer:
    """The model's answer to a turn, and what it cost: nothing if it was in the cache.

    ``is_compacted``: the conversation had to be compacted for it.
    """

    message: Message
    calls: Sequence[ToolCall] = ()
    spending: Spending = NO_SPENDING
    is_compacted: bool = False

    @property
    def text(self) -> str:
        """Return the text of the answer."""
        return text_of(self.message)


class ModelTurns:
    """The turns of one run. ``prompt`` has everything but the messages.

    With a session, answers are cached in its store. ``emit`` gets the events of an answer.
    """

    def __init__(
        self,
        model: AgentModel,
        client: CompletionClient,
        prompt: LlmPrompt,
        *,
        stage: str,
        agent_class: str,
        summarizer: Summarizer | None = None,
        hooks: Hooks = NO_HOOKS,
        mode: OutputMode = "native",
        emit: Callable[[LoopEvent], object] | None = None,
    ) -> None:
        self._model = model
        self._client = client
        self._asked = prompt
        self._mode = mode
        prompt = self._prompt = in_mode(prompt, mode)
        others = {each.name for each in fields(prompt)} - {"messages"}
        # a quarter of the time of ``replace``, which each turn would take
        self._prompt_of = partial(LlmPrompt, **{name: getattr(prompt, name) for name in others})
        self._hooks = hooks
        self._stage = stage
        self._agent_class = agent_class
        self._session = model.session
        self._summarizer = summarizer
        self._emit = emit
        self._unrecorded = NO_SPENDING
        self._digest = ConversationDigest()
        self._tokens = ConversationTokens()
        self._fixed_digest = _digest_of_fixed_parts(prompt)
        self._fixed_tokens = estimate_prompt(prompt)

    async def compacted(
        self, messages: Sequence[Message], turns: int
    ) -> tuple[Sequence[Message], bool]:
        """Return the messages to send, and whether they are a compacted conversation.

        A loop of more than ``FLUID_AGENT_COMPACT_AFTER`` turns is compacted where it outgrows the
        window. Raises ``ContextOverflowError`` for a prompt that doesn't fit.
        """
        window = self._window()
        if window is None:
            return messages, False
        reservation = min(self._prompt.max_output_tokens, window // 2)
        budget = window - reservation
        is_compacted = self._prompt_tokens(messages) > budget and turns >= compact_after()
        if is_compacted:
            messages = await self._compact(messages, budget - self._fixed_tokens)
        config = self._model.config
        tokens = self._prompt_tokens(messages)
        if tokens > budget:  # no guess refuses a prompt: the provider says whether it's too long
            tokens -= guessed_tokens(messages)
        check_prompt_fits(
            tokens,
            model=config.model,
            provider=config.provider,
            capability_matrix=self._capability_matrix(),
            output_reservation=reservation,
        )
        return messages, is_compacted

    async def ask(self, messages: Sequence[Message]) -> TurnAnswer:
        """Return the model's answer, from the cache if it was paid for already.

        Raises ``AnswerRefusedError`` or ``AnswerCutOffError`` for an answer that isn't whole.
        """
        prompt = await self._hooks.prompt(self._prompt_of(messages=messages))
        key = self._cache_key(prompt)
        cached = self._cached(key)
        if cached is not None:
            return cached
        try:
            response = await self._complete(prompt)
        except CostLimitExceeded as error:
            if isinstance(error.response, LlmResponse):  # it's paid for
                self._record(prompt.model, error.response.usage)
            raise
        self._record(prompt.model, response.usage)
        response.require_whole()
        response = self._read(response)
        response = await self._hooks.answer(prompt, response)
        answer = TurnAnswer(response.as_message(), response.tool_calls, self.take_spending())
        if response.usage is not None:
            self._tokens.correct(response.usage.input_tokens - self._fixed_tokens)
        if self._session is not None and key is not None:
            self._session.store.put(LLM_CACHE, key, answer.message)
        return answer

    def _read(self, response: LlmResponse) -> LlmResponse:
        """Return an answer as the native mode gives it, whose text has been streamed."""
        answer = read_answer(response, self._asked, self._mode)
        if self._emit is not None and len(answer.tool_calls) < len(response.tool_calls):
            self._emit(TextEvent(answer.text))
        return answer

    @property
    def model_name(self) -> str:
        """Return the name of the model that is asked."""
        return self._prompt.model

    def add_spending(self, spending: Spending) -> None:
        """Count what another model was paid for the turn that this one takes over."""
        self._unrecorded = self._unrecorded.plus(spending)

    def take_spending(self) -> Spending:
        """Return the costs since this was last called, of answers and of summaries."""
        spending, self._unrecorded = self._unrecorded, NO_SPENDING
        return spending

    def _record(self, model: str, usage: Usage | None) -> None:
        cost = self._price(model, usage)
        self._unrecorded = self._unrecorded.plus(Spending(usage or _NO_USAGE, cost))

    def _window(self) -> int | None:
        config, matrix = self._model.config, self._capability_matrix()
        if not self._model.is_known and "context_window" not in matrix:
            return None
        return context_window(config.model, config.provider, capability_matrix=matrix)

    def _capability_matrix(self) -> dict[str, object]:
        return {} if self._session is None else self._session.capability_matrix

    def _prompt_tokens(self, messages: Sequence[Message]) -> int:
        return self._fixed_tokens + self._tokens.of(messages)

    async def _compact(self, messages: Sequence[Message], budget: int) -> Sequence[Message]:
        strategy = compaction_strategy()
        summarizer = None
        if strategy is not CompactionStrategy.TRUNCATE:
            summarizer = self._summarizer or self._fast_summarizer()

        def compact(max_tokens: int) -> list[Any]:
            return compact_messages(
                messages, max_tokens=max_tokens, strategy=strategy, summarizer=summarizer
            )

        try:  # on a thread, because a summarizer blocks
            return await call_in_thread(compact, int(budget * _COMPACTED_SHARE))
        except ContextOverflowError:
            return await call_in_thread(compact, budget)

    def _fast_summarizer(self) -> Summarizer:
        provider = getattr(self._client, "provider", None)
        fast_model = getattr(provider, "fast_model", None) or self._model.config.model
        return make_summarizer(
            self._client,
            fast_model,
            on_answer=lambda answer: self._record(fast_model, answer.usage),
        )

    def _cache_key(self, prompt: LlmPrompt) -> str | None:
        if self._session is None or self._session.no_cache:
            return None
        if self._hooks.before_model is None:
            conversation, fixed = self._digest.of(prompt.messages), self._fixed_digest
        else:  # a hook may change anything, in any message
            conversation = ConversationDigest().of(prompt.messages)
            fixed = _digest_of_fixed_parts(prompt)
        return self._session.cache_key(
            model=prompt.model,
            prompt={"conversation": conversation, "fixed": fixed},
            parameters={
                "max_output_tokens": prompt.max_output_tokens,
                "temperature": prompt.temperature,
            },
        )

    def _cached(self, key: str | None) -> TurnAnswer | None:
        if self._session is None or key is None:
            return None
        message = self._session.store.get(LLM_CACHE, key)
        if not isinstance(message, dict) or message.get("role") != "assistant":
            return None
        answer = TurnAnswer(message, tool_calls(message), self.take_spending())
        if self._emit is not None and answer.text:
            self._emit(TextEvent(answer.text))
        return answer

    async def _complete(self, prompt: LlmPrompt) -> LlmResponse:
        stream = None if self._emit is None else self._open_stream(prompt)
        if self._emit is not None and stream is not None:
            return await _read_stream(stream, self._emit)
        response = await self._client.complete(
            prompt, stage=self._stage, agent_class=self._agent_class
        )
        if self._emit is not None:
            for event in events_of(response):
                if not isinstance(event, ToolCallEvent | AnswerEvent):
                    self._emit(event)
        return response

    def _open_stream(self, prompt: LlmPrompt) -> AsyncIterator[StreamEvent] | None:
        """Return the stream of an answer, or None where client or provider can't stream."""
        open_stream = getattr(self._client, "stream", None)
        if open_stream is None:
            return None
        try:
            stream: AsyncIterator[StreamEvent] = open_stream(
                prompt, stage=self._stage, agent_class=self._agent_class
            )
        except UsageError:  # any other mistake in the prompt is refused by ``complete`` too
            return None
        return stream

    def _price(self, model: str, usage: Usage | None) -> Decimal | None:
        if usage is None or provider_of(self._client) is None:  # a double charges nothing
            return None
        tracker: RunCostTracker = getattr(self._client, "tracker", None) or get_cost_tracker()
        return tracker.price(
            self._model.config.provider,
            model,
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            cache_write_tokens=usage.cache_write_tokens,
        )


async def _read_stream(
    stream: AsyncIterator[StreamEvent], emit: Callable[[LoopEvent], object]
) -> LlmResponse:
    """Pass the events of a stream on, and return its answer; close it whatever happens."""
    response: LlmResponse | None = None
    try:
        async for event in stream:
            if isinstance(event, AnswerEvent):
                response = event.response
            elif not isinstance(event, ToolCallEvent):  # announced when the tool is called
                emit(event)
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
    if response is None:
        raise ProviderServerError("The stream ended without an answer.")
    return response


def _digest_of_fixed_parts(prompt: LlmPrompt) -> str:
    tools = [asdict(tool) for tool in prompt.tool_specs]
    parts = [prompt.system, tools, prompt.response_schema, prompt.schema_name, dict(prompt.extra)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class ConversationDigest:
    """A digest of a conversation that grows at its end.

    One that was rewritten is read again: it no longer has the same last message in its place.
    """

    def __init__(self) -> None:
        self._last: Message | None = None
        self._count = 0
        self._hash = hashlib.sha256()

    def of(self, messages: Sequence[Message]) -> str:
        """Return the digest of ``messages``, with their order and every value in them."""
        if not _continues(messages, self._count, self._last):
            self._hash, self._count = hashlib.sha256(), 0
        for message in messages[self._count :]:
            canonical = json.dumps(message, sort_keys=True, separators=(",", ":"))
            self._hash.update(canonical.encode() + b"\n")
        self._count, self._last = len(messages), messages[-1] if messages else None
        return self._hash.hexdigest()


class ConversationTokens:
    """The estimated tokens of a conversation that grows at its end, or was rewritten.

    Once the provider has reported the tokens of a prompt, only what follows it is estimated.
    """

    def __init__(self) -> None:
        self._last: Message | None = None
        self._count = 0
        self._tokens = 0

    def of(self, messages: Sequence[Message]) -> int:
        """Return the tokens of ``messages``."""
        if not _continues(messages, self._count, self._last):
            self._tokens, self._count = 0, 0
        self._tokens += sum(map(estimate_message_tokens, messages[self._count :]))
        self._count, self._last = len(messages), messages[-1] if messages else None
        return self._tokens

    def correct(self, tokens: int) -> None:
        """Replace the estimate of the latest ``messages`` by a reported number, unless it is 0."""
        if tokens > 0:
            self._tokens = tokens


def _continues(messages: Sequence[Message], count: int, last: Message | None) -> bool:
    """Return whether a conversation goes on after its first ``count`` messages.

    A comparison of all of them would take quadratic time in a long loop.
    """
    return count == 0 or (len(messages) >= count and messages[count - 1] is last)
