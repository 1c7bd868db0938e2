"""Streamed attempts: what each of their pieces means, and reading them from a wire."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, aclosing, contextmanager, suppress
from dataclasses import replace
from typing import TypeAlias

from fluid_build.copilot.context.token_budget import estimate_tokens
from fluid_build.copilot.cost import Reservation, StreamHold
from fluid_build.copilot.error_classification import classify_error_document
from fluid_build.copilot.errors import AgentExecutionError, CostLimitExceeded, ProviderServerError
from fluid_build.copilot.llm.answer_streams import events_of
from fluid_build.copilot.llm.attempts import TRANSPORT_ERRORS, Attempt, reports_usage
from fluid_build.copilot.llm.prepared_calls import (
    SAFETY_FACTOR,
    PreparedCall,
    model_call,
    record_answer,
)
from fluid_build.copilot.llm.streaming import (
    AnswerEvent,
    FrameError,
    StreamEvent,
    StreamReader,
    UsageEvent,
)
from fluid_build.copilot.llm.wires import Wire
from fluid_build.json_types import JsonObject, JsonValue

_Start: TypeAlias = "tuple[list[StreamEvent] | None, _Reading]"

_NOT_GENERATED = frozenset({"id", "model", "modelVersion", "object", "responseId", "role", "type"})
"""Fields of streamed documents that no output token was spent on; all other text counts."""


class StreamAttempt(Attempt):
    """A streamed attempt.

    ``receive`` and ``end`` return the events that arrived before a failure; then
    ``raise_failure`` raises it.
    """

    def __init__(self, call: PreparedCall, reservation: Reservation, reader: StreamReader) -> None:
        super().__init__(call, reservation)
        self._frames = call.provider.stream_frames()
        self._reader = reader
        self._has_documents = False
        self._has_events = False
        self._is_lost = False
        self._generated: list[str] = []
        self._held_events: list[StreamEvent] = []
        self._has_content = False

    def receive(self, chunk: bytes) -> list[StreamEvent]:
        """Return the events that ``chunk`` completes."""
        self._count(chunk)
        if not self._has_documents:  # it may still be an answer in one piece, or a refusal
            self._content += chunk
        if self._response is None or not self._response.is_success:
            return []
        return self._hold_usage(self._read_documents(lambda: self._frames.feed(chunk)))

    def _hold_usage(self, events: list[StreamEvent]) -> list[StreamEvent]:
        """Return the events from the first content on: until then, a failure is retried."""
        self._held_events += events
        self._has_content |= any(not isinstance(event, UsageEvent) for event in events)
        if not self._has_content:
            return []
        released, self._held_events = self._held_events, []
        return released

    def fail(self, error: Exception) -> None:
        """Record the transport's error: the answer is lost, unless it is complete."""
        super().fail(error)
        self._is_lost = True

    def end(self) -> list[StreamEvent]:
        """Return the last events, with the answer if it is complete."""
        self._failure = self._refusal() or self._failure
        if self._failure is not None and not self._reader.is_complete:
            return []
        events = self._held_events + self._read_documents(self._frames.end)
        self._held_events = []
        try:
            if not self._has_documents and self._failure is None:
                self._answer = self._read_whole()
                events = events_of(self._answer)
            elif self._reader.is_complete:
                self._answer, self._failure = self._reader.response(), None
                events.append(AnswerEvent(self._answer))
            elif self._failure is None:
                self._failure, self._is_lost = self._cut_off(), True
        except AgentExecutionError as error:
            self._failure = error
        if self._answer is not None:
            self.settle()
        return events

    def raise_failure(self) -> None:
        """Raise the typed error of this attempt, if it failed."""
        if self._failure is not None:
            raise self._failure

    def _read_documents(self, decode: Callable[[], list[JsonObject]]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        try:
            for document in decode():
                self._check(document)
                self._has_documents = True
                _collect_generated(document, self._generated)
                events += self._read_events(document)
                self._has_events |= bool(events)
        except FrameError as error:
            self._failure, self._is_lost = self.call.provider.unreadable(str(error)), True
        except AgentExecutionError as error:
            self._failure = error
        if self._reader.is_complete:  # nothing after its end takes from an answer
            self._failure = None
        return events

    def _read_events(self, document: JsonObject) -> list[StreamEvent]:
        try:
            return self._reader.read(document)
        except AgentExecutionError as error:
            self._failed_usage = self.call.provider.reported_usage(document)
            raise self._without_secrets(error) from None

    def _check(self, document: JsonObject) -> None:
        failure = classify_error_document(document, self.call.provider.name, self.call.secrets)
        if failure is not None:
            self._is_free = not self._has_events and not reports_usage(document)
            self._failed_usage = self.call.provider.reported_usage(document)
            raise failure

    def _cut_off(self) -> ProviderServerError:
        name = self.call.provider.name
        return ProviderServerError(
            f"The stream of {name} ended before its answer did.", provider=name, status_code=200
        )

    def _charge(self) -> None:
        """Pay for a whole answer as reported, and for the beginning of one at least its length.

        If the answer was lost, the provider may have gone on writing until its limit. If it thought
        without showing it, nobody knows for how long.
        """
        usage = self._reader.usage
        if self._answer is not None:
            self._pay(self._answer.usage)
        elif self._failed_usage is not None:
            self._pay(self._failed_usage)
        elif usage is None or self._reader.is_complete or self._reader.is_usage_final:
            self._pay(usage)
        else:  # the output tokens reported so far are behind what has arrived
            output = self.call.largest.max_output_tokens
            if not (self._is_lost or self._reader.hides_output):
                received = estimate_tokens("".join(self._generated))
                output = min(math.ceil(received * SAFETY_FACTOR), output)
            unreported = max(output - usage.output_tokens, 0)
            usage = replace(usage, output_tokens=usage.output_tokens + unreported)
            self._pay(usage, unreported)


class StreamedCall:
    """A streamed call, with its latest attempt."""

    def __init__(self, call: PreparedCall) -> None:
        self._call = call
        self._attempt: StreamAttempt | None = None
        self._money = StreamHold()
        caller = call.largest.caller
        self._operation = model_call(
            call.provider,
            call.prompt,
            stage=caller.stage,
            agent_class=caller.agent_class,
            is_streamed=True,
        )
        call.outcome = self._operation.outcome

    def leave(self) -> None:
        """Settle for what was received. Raises ``CostLimitExceeded``."""
        self._operation.finish()
        if self._attempt is not None:
            self._attempt.settle()

    def forget(self) -> None:
        """Leave a stream that the garbage collector found."""
        self._call.tracker.finalize(self._leave_quietly)

    def _leave_quietly(self) -> None:
        with suppress(CostLimitExceeded):  # the next call raises it
            self.leave()

    async def batches(
        self, wire: Wire, retry: Callable[[Callable[[], Awaitable[_Start]]], Awaitable[_Start]]
    ) -> AsyncGenerator[list[StreamEvent], None]:
        """Yield batches of events; ``retry`` is the envelope around all that comes before them."""

        async def start() -> _Start:
            reading = _Reading(wire, self._begin(await wire.reserve(self._call)))
            return await reading.next_batch(), reading

        with self._timed():
            batch, reading = await retry(start)
            async with aclosing(reading):
                while batch is not None:
                    yield self._hand_over(batch)
                    self._money.resume()
                    batch = await reading.next_batch()

    def _begin(self, reservation: Reservation) -> StreamAttempt:
        reader = self._call.provider.stream_reader(self._call.prompt)
        self._attempt = StreamAttempt(self._call, reservation, reader)
        self._money.hold = reservation.hold
        return self._attempt

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Time the call until its answer, its failure, or until the reader leaves it."""
        self._operation.start()
        try:
            yield
        except GeneratorExit:
            self._operation.finish()
            raise
        except BaseException as error:
            self._operation.finish(error)
            raise

    def _hand_over(self, batch: list[StreamEvent]) -> list[StreamEvent]:
        """Return a batch to the reader. Finish the operation where it ends the answer."""
        self._money.pause()
        if isinstance(batch[-1], AnswerEvent):
            record_answer(self._operation, batch[-1].response, self._call)
            self._operation.finish()
        return batch


class _Reading:
    """The reading of one attempt's answer.

    It isn't a generator: asyncio closes all of them at the same time when a loop ends, which fails
    for those that close each other.
    """

    def __init__(self, wire: Wire, attempt: StreamAttempt) -> None:
        self._wire, self._attempt = wire, attempt
        self._resources = AsyncExitStack()
        self._resources.enter_context(attempt)
        self._chunks: AsyncIterator[bytes] | None = None
        self._is_ended = False

    async def next_batch(self) -> list[StreamEvent] | None:
        """Return the next events; None at the end. An error and the end settle the attempt."""
        attempt = self._attempt
        try:
            attempt.raise_failure()
            if not self._is_ended:
                try:
                    async for chunk in self._chunks or await self._send():
                        if events := attempt.receive(chunk):
                            return events
                        attempt.raise_failure()
                except TRANSPORT_ERRORS as error:
                    attempt.fail(error)
                self._is_ended = True
                if events := attempt.end():
                    return events
                attempt.raise_failure()
        except BaseException as error:
            await self._resources.__aexit__(type(error), error, error.__traceback__)
            raise
        await self.aclose()
        return None

    async def aclose(self) -> None:
        """Settle for what was received, and close the connection."""
        await self._resources.aclose()

    async def _send(self) -> AsyncIterator[bytes]:
        exchange = await self._wire.send(self._attempt)
        self._resources.push_async_callback(exchange.aclose)
        self._chunks = exchange.chunks
        return self._chunks


def _collect_generated(value: JsonValue, texts: list[str]) -> None:
    """Add the texts of a document that output tokens were spent on."""
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name not in _NOT_GENERATED:
                _collect_generated(inner, texts)
    elif isinstance(value, list):
        for inner in value:
            _collect_generated(inner, texts)
