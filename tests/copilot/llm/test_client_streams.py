"""Streamed answers over real sockets: events, faults, silence, early leaving, and the cost."""

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
import time
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.cost import RunCostTracker
from fluid_build.copilot.errors import (
    CostLimitExceeded,
    ProviderServerError,
    ProviderTimeoutError,
    RateLimitError,
)
from fluid_build.copilot.events import EventBus, get_event_bus
from fluid_build.copilot.llm.base import LlmPrompt, LlmProvider, LlmRequest, LlmResponse, Usage
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.streaming import (
    AnswerEvent,
    StreamReader,
    TextEvent,
    UsageEvent,
)
from fluid_build.copilot.llm.testing import ScriptedProvider
from fluid_build.errors import UsageError

PROMPT = LlmPrompt("m", [{"role": "user", "content": "hello"}], max_output_tokens=100)


class NoteReader(StreamReader):
    """Reads documents of text, of tokens, and of the end."""

    def __init__(self):
        self.text = ""

    def read(self, document):
        if "text" in document:
            self.text += document["text"]
            return [TextEvent(document["text"])]
        if "tokens" in document:
            self.usage = Usage(*document["tokens"])
            return [UsageEvent(self.usage)]
        self.is_complete = bool(document.get("end"))
        return []

    def response(self):
        return LlmResponse(self.text, usage=self.usage)


class NoteProvider(LlmProvider):
    """A wire format with as little in it as a stream can have."""

    name = "notes"
    default_base_url = "http://localhost"
    key_variables = ()
    needs_key = False

    def build_request(self, prompt):
        return LlmRequest(self.endpoint("/"), {"messages": list(prompt.messages)})

    stream_request = build_request

    def stream_reader(self, prompt):
        return NoteReader()

    def parse_response(self, body, prompt):
        if "text" not in body:
            raise self.unreadable("no text")
        return LlmResponse(body["text"], usage=Usage(*body["tokens"]))

    def auth_headers(self, key):
        return {}


def text(words):
    return _event({"text": words})


def tokens(*counts):
    return _event({"tokens": counts})


def failure(code):
    return _event({"type": "error", "error": {"type": code, "message": "m"}})


def _event(document):
    return f"data: {json.dumps(document)}\n\n".encode()


END = _event({"end": True})
HANG_UP = "hang up"
REFUSE = "refuse"
WHOLE = [tokens(10, 1), text("Four "), text("score."), tokens(10, 7), END]


class Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, client_address):
        """Clients hang up: these tests make them do so."""


class NoteServer:
    """Sends a script for each request: bytes, pauses in seconds, or the end of the connection."""

    def __init__(self, *scripts):
        self.scripts = list(scripts)
        self.requests = 0
        self.left_early = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                self.rfile.read(int(self.headers["content-length"]))
                server.requests += 1
                try:
                    self.play(server.scripts.pop(0))
                except OSError:
                    server.left_early.set()
                    self.close_connection = True

            def play(self, script):
                if script[0] == REFUSE:
                    self.send_error(529)
                    return
                self.send_response(200)
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                for step in script:
                    if step == HANG_UP:
                        self.close_connection = True
                        return
                    if isinstance(step, float):
                        time.sleep(step)
                    else:
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(step), step))
                self.wfile.write(b"0\r\n\r\n")

            def log_message(self, *_):
                pass

        self.server = Listener(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def serve():
    """Clients for a server with these scripts; a token of input or output costs a cent."""
    with contextlib.ExitStack() as stack:

        def start(*scripts, timeout=5.0, limit=None):
            server = NoteServer(*scripts)
            stack.callback(server.close)
            waits = []

            async def sleep(seconds):
                waits.append(seconds)

            client = LlmClient(
                NoteProvider(server.url),
                timeout=timeout,
                tracker=RunCostTracker(limit, price=_cents, bus=EventBus()),
                sleep=sleep,
                sleep_sync=waits.append,
                draw=lambda: 0.0,
            )
            stack.callback(client.close)
            client.server, client.waits, client.cost = server, waits, client._tracker
            return client

        yield start


def _cents(provider, model, input_tokens, output_tokens, *_, **__):
    return Decimal(input_tokens + output_tokens) / 100


def read_sync(client, count=None, prompt=PROMPT):
    """The first events, in a blocking loop."""
    with client, client.stream_sync(prompt) as stream:
        events = []
        for event in stream:
            events.append(event)
            if len(events) == count:
                break
        return events, stream


def read_async(client, count=None, prompt=PROMPT):
    """The first events, in an event loop."""

    async def read():
        async with client, client.stream(prompt) as stream:
            events = []
            async for event in stream:
                events.append(event)
                if len(events) == count:
                    break
            return events, stream

    return asyncio.run(read())


@pytest.fixture(params=[read_sync, read_async], ids=["sync", "async"])
def read(request):
    """Each test runs over the blocking twin and over the async one."""
    return request.param


def test_events_arrive_in_order_and_the_answer_is_the_last(serve, read):
    """Text as it comes, the tokens so far, and the whole answer."""
    client = serve(WHOLE)
    events, stream = read(client)
    response = LlmResponse("Four score.", usage=Usage(10, 7))
    assert events == [
        UsageEvent(Usage(10, 1)),
        TextEvent("Four "),
        TextEvent("score."),
        UsageEvent(Usage(10, 7)),
        AnswerEvent(response),
    ]
    assert (stream.response, stream.usage) == (response, Usage(10, 7))


def test_a_whole_answer_costs_what_was_reported(serve, read):
    """And nothing of it is estimated."""
    client = serve(WHOLE)
    read(client)
    seen = client.cost.breakdown
    assert (seen.total_usd, seen.unconfirmed_usd, seen.reserved_usd) == (Decimal("0.17"), 0, 0)


def test_a_stream_needs_no_with_block(serve):
    """A loop alone reads it to its end."""
    client = serve(WHOLE, WHOLE)

    async def read():
        async with client:
            return [event async for event in client.stream(PROMPT)]

    assert len(asyncio.run(read())) == len(list(client.stream_sync(PROMPT))) == 5
    assert client.cost.breakdown.reserved_usd == 0


def test_nothing_is_sent_before_the_first_event_is_asked_for(serve):
    """A stream that nobody reads costs nothing."""
    client = serve()
    client.stream_sync(PROMPT).close()
    client.stream(PROMPT)
    assert (client.server.requests, client.cost.breakdown.rows) == (0, ())


def test_a_stream_that_was_not_read_to_its_end_has_no_answer(serve, read):
    """Instead of half of one."""
    _, stream = read(serve(WHOLE), count=2)
    with pytest.raises(UsageError, match="no answer"):
        _ = stream.response


LONG = [tokens(10, 1), text("many words " * 4), text("more"), 0.2, *[text("z" * 2000)] * 5000, END]


def test_leaving_early_costs_the_input_and_at_least_what_was_received(serve, read):
    """The tokens of the output so far are behind the text, so the text counts."""
    client = serve(LONG)
    read(client, count=2)
    seen = client.cost.breakdown
    assert client.server.left_early.wait(5)
    assert Decimal("0.10") + Decimal("0.12") <= seen.total_usd <= Decimal("0.40")
    assert seen.unconfirmed_usd == seen.total_usd - Decimal("0.11")
    assert seen.reserved_usd == 0


def test_leaving_early_costs_the_reservation_if_nothing_was_reported(serve, read):
    """The provider says how much it was only at the end."""
    client = serve([text("many words"), 0.2, *[text("z" * 2000)] * 5000, tokens(1, 1), END])
    read(client, count=1)
    seen = client.cost.breakdown
    assert seen.total_usd == seen.unconfirmed_usd > Decimal("1.00")
    assert seen.missing_usage_calls == 1


def test_a_dropped_stream_is_settled_and_closed(serve):
    """A loop that breaks without a with block leaves it to the garbage collector."""
    client = serve(LONG, LONG)
    for _ in client.stream_sync(PROMPT):
        break
    assert client.cost.breakdown.reserved_usd == 0
    assert client.server.left_early.wait(5)
    client.server.left_early.clear()

    async def read():
        async with client:
            async for _ in client.stream(PROMPT):
                break
            assert client.cost.breakdown.reserved_usd == 0
            return await asyncio.to_thread(client.server.left_early.wait, 5)

    assert asyncio.run(read())
    assert client.cost.breakdown.rows[0].calls == 2


def test_an_error_of_the_reader_settles_the_stream(serve, read):
    """And the error is the reader's own."""
    client = serve(LONG)
    with pytest.raises(ZeroDivisionError), client.stream_sync(PROMPT) as stream:
        for _ in stream:
            _ = 1 / 0
    assert client.cost.breakdown.reserved_usd == 0
    assert client.cost.total_usd > 0


@pytest.mark.parametrize("is_started", [False, True])
def test_a_cancelled_reader_settles_the_stream(is_started, serve):
    """Before its first event too: the request was sent."""
    client = serve([*([tokens(10, 1)] if is_started else []), 2.0, *WHOLE])

    async def cancel():
        async def read():
            async with client.stream(PROMPT) as stream:
                async for _ in stream:
                    pass

        async with client:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(read(), 0.3)
        assert client.cost.breakdown.reserved_usd == 0

    asyncio.run(cancel())
    assert client.cost.total_usd >= Decimal("0.11")


TRANSIENT = {
    "refused": [REFUSE],
    "hung up": [HANG_UP],
    "failed at once": [failure("overloaded_error")],
    "failed after its usage": [tokens(10, 1), failure("overloaded_error")],
    "not the format": [b"data: <html>\n\n"],
    "nothing": [b": ping\n\n"],
}


@pytest.mark.parametrize("script", TRANSIENT.values(), ids=TRANSIENT)
def test_a_failure_before_the_first_event_is_retried(script, serve, read):
    """With the envelope's waits, each attempt at its own cost."""
    client = serve(script, WHOLE)
    events, _ = read(client)
    assert len(events) == 5
    assert (client.waits, client.server.requests) == ([1.0], 2)
    is_refused = script[0] in (REFUSE, failure("overloaded_error"))
    assert (client.cost.total_usd == Decimal("0.17")) == is_refused
    assert client.cost.total_usd >= Decimal("0.17")
    assert client.cost.breakdown.reserved_usd == 0


FAILURES = {
    "overloaded": (failure("overloaded_error"), ProviderServerError, False),
    "rate limit": (failure("rate_limit_error"), RateLimitError, False),
    "hung up": (HANG_UP, ProviderServerError, True),
    "ended": (b": bye\n\n", ProviderServerError, True),
    "not the format": (b"data: <html>\n\n", ProviderServerError, True),
}


@pytest.mark.parametrize(("last", "kind", "is_lost"), FAILURES.values(), ids=FAILURES)
def test_a_failure_after_the_first_event_is_raised_to_the_reader(last, kind, is_lost, serve, read):
    """Typed, and once. A lost answer costs the most that it may have had, a failed one its text."""
    client = serve([tokens(10, 1), text("many words " * 4), last])
    with pytest.raises(kind):
        read(client)
    assert (client.waits, client.server.requests) == ([], 1)
    assert (client.cost.total_usd == Decimal("1.10")) == is_lost
    assert client.cost.total_usd >= Decimal("0.22")
    assert client.cost.breakdown.reserved_usd == 0


def test_events_in_the_same_bytes_as_a_failure_are_not_lost(serve):
    """The reader sees them before the error."""
    client = serve([text("a") + text("b") + failure("api_error")])
    events = []
    with pytest.raises(ProviderServerError):
        events.extend(client.stream_sync(PROMPT))
    assert events == [TextEvent("a"), TextEvent("b")]


def test_a_failed_stream_is_not_sent_again_by_reading_on(serve):
    """It is at its end."""
    client = serve([text("a"), HANG_UP])
    stream = client.stream_sync(PROMPT)
    with pytest.raises(ProviderServerError):
        list(stream)
    assert list(stream) == []
    assert client.server.requests == 1


def test_the_timeout_counts_silence_and_not_the_whole_answer(serve, read):
    """An answer may take longer than the timeout, as long as something arrives."""
    script = [step for word in "abcdefgh" for step in (text(word), 0.1)]
    client = serve([*script, tokens(1, 1), END], timeout=0.6)
    events, _ = read(client)
    assert events[-1].response.text == "abcdefgh"


def test_silence_is_a_timeout(serve, read):
    """Raised to the reader, because it has seen events already."""
    client = serve([tokens(10, 1), text("a"), 3.0], timeout=0.3)
    with pytest.raises(ProviderTimeoutError):
        read(client)
    assert client.cost.breakdown.reserved_usd == 0


@pytest.mark.parametrize("last", [HANG_UP, b"data: <html>\n\n", failure("api_error")])
def test_a_failure_after_the_end_of_the_answer_loses_nothing(last, serve, read):
    """The answer is whole."""
    client = serve([*WHOLE, last])
    events, _ = read(client)
    assert isinstance(events[-1], AnswerEvent)
    assert client.cost.total_usd == Decimal("0.17")


def test_a_flood_is_cut_off(serve, read, monkeypatch):
    """The stream as a whole is bounded."""
    monkeypatch.setattr("fluid_build.copilot.llm.attempts.MAX_ANSWER_BYTES", 10_000)
    client = serve([text("x" * 100)] * 1000)
    with pytest.raises(ProviderServerError):
        read(client)


def test_a_server_that_ignores_the_wish_for_a_stream_is_still_read(serve, read):
    """Some gateways answer in one piece."""
    client = serve([json.dumps({"text": "Four.", "tokens": [3, 2]}).encode()])
    events, _ = read(client)
    response = LlmResponse("Four.", usage=Usage(3, 2))
    assert events == [TextEvent("Four."), UsageEvent(Usage(3, 2)), AnswerEvent(response)]
    assert client.cost.total_usd == Decimal("0.05")


def test_a_refusal_in_one_piece_is_typed(serve):
    """As Google sends it within a stream: without any framing."""
    refusal = json.dumps({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}).encode()
    client = serve(*[[refusal]] * 3)
    with pytest.raises(RateLimitError):
        list(client.stream_sync(PROMPT))
    assert client.cost.total_usd == 0


def test_a_provider_without_streams_says_so(bench):
    """Before anything is sent."""

    class Silent(NoteProvider):
        stream_request = LlmProvider.stream_request

    with pytest.raises(UsageError, match="can't stream"):
        LlmClient(Silent()).stream_sync(PROMPT)


def test_the_limit_stops_a_stream_before_it_is_sent(serve, read):
    """The reservation comes first."""
    client = serve(limit="0.50")
    with pytest.raises(CostLimitExceeded):
        read(client)
    assert client.server.requests == 0


def test_streams_wait_for_each_other(serve):
    """Two at a time fit, and all of them succeed."""
    client = serve(*[WHOLE] * 6, limit="3.00")

    async def read():
        return [event async for event in client.stream(PROMPT)]

    async def read_all():
        async with client:
            return await asyncio.wait_for(asyncio.gather(*(read() for _ in range(6))), 20)

    assert [len(events) for events in asyncio.run(read_all())] == [5] * 6
    assert client.cost.total_usd == 6 * Decimal("0.17")


def test_a_call_in_the_loop_over_a_stream_does_not_wait_for_the_stream(serve):
    """It would wait forever."""
    client = serve(LONG, WHOLE, limit="2.00")
    with client.stream_sync(PROMPT) as stream, pytest.raises(CostLimitExceeded):
        for _ in stream:
            client.complete_sync(PROMPT)
    assert client.cost.breakdown.reserved_usd == 0


async def first_in_a_task(client, streams):
    """The first event, read in a task of its own."""
    await asyncio.create_task(anext(streams[0]))
    await client.complete(PROMPT)


async def first_of_two_in_tasks(client, streams):
    """The first events of two streams, read at the same time."""
    await asyncio.gather(*map(anext, streams))
    await client.complete(PROMPT)


async def first_within_a_timeout(client, streams):
    """``wait_for`` starts a task in Python 3.11."""
    await asyncio.wait_for(anext(streams[0]), 5)
    await client.complete(PROMPT)


async def through_a_bounded_queue(client, streams):
    """The reader waits for a free place while the consumer calls."""
    queue = asyncio.Queue(1)

    async def pump():
        async for event in streams[0]:
            await queue.put(event)

    pumping = asyncio.create_task(pump())
    try:
        while await queue.get():
            await client.complete(PROMPT)
    finally:
        pumping.cancel()


async def on_a_thread_of_the_pool(client, streams):
    """It has none of the reader's context."""
    async for _ in streams[0]:
        await asyncio.get_running_loop().run_in_executor(None, client.complete_sync, PROMPT)


async def on_a_joined_thread(client, streams):
    """The reader of a blocking stream waits for the thread."""
    errors = []

    def ask():
        try:
            client.complete_sync(PROMPT)
        except CostLimitExceeded as error:
            errors.append(error)

    with client.stream_sync(PROMPT) as stream:
        for _ in stream:
            thread = threading.Thread(target=ask, daemon=True)
            thread.start()
            thread.join(5)
            assert not thread.is_alive()
            raise errors[0]


async def in_the_loop_itself(client, streams):
    """The plain case."""
    async for _ in streams[0]:
        await client.complete(PROMPT)


AT_ONCE = [first_in_a_task, first_of_two_in_tasks, first_within_a_timeout, in_the_loop_itself]
LATER = [through_a_bounded_queue, on_a_thread_of_the_pool, on_a_joined_thread]


@pytest.mark.parametrize("ask", [*AT_ONCE, *LATER], ids=lambda ask: ask.__name__)
def test_no_call_waits_forever_for_a_stream_that_nobody_reads(ask, serve):
    """Where it isn't clear that the reader is the caller, it takes the client's timeout."""
    client = serve(LONG, LONG, timeout=0.6, limit="2.60" if ask is first_of_two_in_tasks else "2")

    async def run():
        async with asyncio.timeout(8), client:
            streams = [client.stream(PROMPT), client.stream(PROMPT)]
            started = time.monotonic()
            with pytest.raises(CostLimitExceeded) as caught:
                await ask(client, streams)
            for stream in streams:
                await stream.aclose()
            return caught.value, time.monotonic() - started

    error, seconds = asyncio.run(run())
    assert "Other open calls hold $" in error.hint
    assert (seconds > 0.6) == (ask in LATER)
    assert client.cost.breakdown.reserved_usd == 0


def test_streams_created_together_and_read_in_parallel_wait_for_each_other(serve):
    """Each has a reader of its own, so it goes on by itself."""
    client = serve(*[[tokens(10, 1), text("a"), 0.1, text("b"), tokens(10, 7), END]] * 4, limit=2)

    async def read(stream):
        events = []
        async for event in stream:
            events.append(event)
            await asyncio.sleep(0.02)
        return events

    async def read_all():
        async with asyncio.timeout(8), client:
            streams = [client.stream(PROMPT) for _ in range(4)]
            return await asyncio.gather(*map(read, streams))

    assert [len(events) for events in asyncio.run(read_all())] == [5] * 4


def test_a_call_waits_for_a_stream_whose_reader_is_slow(serve):
    """Longer than its patience, as long as the reader comes back in time."""
    script = [step for word in "abcdefgh" for step in (text(word), 0.1)]
    answer = [json.dumps({"text": "Four.", "tokens": [3, 2]}).encode()]
    client = serve([tokens(10, 1), *script, END], answer, timeout=0.5, limit=2)

    async def read():
        async for _ in client.stream(PROMPT):
            await asyncio.sleep(0.2)

    async def ask():
        async with asyncio.timeout(8), client:
            reading = asyncio.create_task(read())
            await asyncio.sleep(0.1)
            await client.complete(PROMPT)
            await reading

    asyncio.run(ask())


def test_a_stream_is_an_operation_until_its_last_event(serve, read):
    """With its usage, or with its error."""
    heard = []
    stop = get_event_bus().subscribe(heard.append)
    try:
        read(serve(WHOLE))
        with pytest.raises(ProviderServerError):
            read(serve([text("a"), HANG_UP]))
        read(serve(LONG), count=1)
    finally:
        stop()
    finished = [event.payload for event in heard if event.event_type == "llm.call_finished"]
    assert [payload["error_type"] for payload in finished] == [None, "ProviderServerError", None]
    assert finished[0]["output_tokens"] == 7


LEFT_AT_EXIT = """
import asyncio, sys
from fluid_build.copilot import LlmClient, LlmPrompt, make_provider
from fluid_build.copilot.cost import RunCostTracker
from fluid_build.copilot.events import EventBus
from tests.fault_server import LoopbackServer, Reply

bus = EventBus()
bus.subscribe(lambda event: print(event.event_type))
prompt = LlmPrompt("claude-opus-4-5", [{"role": "user", "content": "hello"}])
server = LoopbackServer([Reply("word " * 200)] * 2)
server.__enter__()
provider = make_provider("anthropic", server.base_url("anthropic"))
client = LlmClient(provider, api_key=server.key, tracker=RunCostTracker(bus=bus))


def blocking():
    global stream
    stream = client.stream_sync(prompt)
    next(stream)


async def start():
    global stream
    stream = client.stream(prompt)
    await anext(stream)


async def read():
    global stream
    stream = client.stream(prompt)
    async for _ in stream:
        pass


async def fail():
    async for _ in client.stream(prompt):
        raise KeyError


try:
    way = globals()[sys.argv[1]]
    blocking() if way is blocking else asyncio.run(way())
except KeyError:
    pass
"""


@pytest.mark.parametrize("way", ["blocking", "start", "read", "fail"])
def test_a_stream_left_until_the_program_ends_is_settled_without_noise(way):
    """Nothing is printed, whether it was read to its end, left open or left by an error."""
    program = [sys.executable, "-c", LEFT_AT_EXIT, way]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=60, check=True)
    assert (ended.stdout, ended.stderr) == ("llm.call_completed\n", "")


pieces = st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=8)


@given(words=pieces, leave_after=st.integers(1, 12), faulty=st.booleans())
def test_wherever_a_reader_leaves_the_ledger_is_settled_and_not_short(
    words, leave_after, faulty, serve
):
    """The output is charged at no less than what was reported and a token per four characters."""
    script = [tokens(10, 1), *map(text, words), *([HANG_UP] if faulty else [tokens(10, 90), END])]
    client = serve(script)
    seen_text = 0
    with contextlib.suppress(ProviderServerError), client.stream_sync(PROMPT) as stream:
        for number, event in enumerate(stream, 1):
            seen_text += len(event.text) if isinstance(event, TextEvent) else 0
            if number == leave_after:
                break
    client.close()
    client.server.close()
    assert client.cost.breakdown.reserved_usd == 0
    assert client.cost.total_usd >= Decimal(10 + max(1, min(seen_text // 4, 90))) / 100


def test_a_scripted_model_streams_its_answers():
    """Text and usage first, and the answer at the end, in both forms."""
    scripted = ScriptedProvider(["Four."] * 2)

    async def read():
        async with scripted.stream(PROMPT, stage="s") as stream:
            return [event async for event in stream]

    answer = LlmResponse("Four.", usage=Usage(1, 1), model="scripted")
    expected = [TextEvent("Four."), UsageEvent(Usage(1, 1)), AnswerEvent(answer)]
    assert asyncio.run(read()) == expected
    with scripted.stream_sync(PROMPT) as stream:
        assert list(stream) == expected
        assert stream.response == answer
    assert scripted.callers == [("s", ""), ("", "")]
