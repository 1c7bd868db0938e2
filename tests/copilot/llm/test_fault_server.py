"""The fault server: streams and answers that are cut off, stall or report a failure.

The formats without streams of their own are left out; each format's events have their own tests.
"""

import time

import httpx
import pytest

from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.llm.providers import PROVIDERS, make_provider
from tests.fault_server import (
    LoopbackServer,
    Reply,
    cut_body,
    cut_stream,
    invalid_request,
    silence,
    stream_error,
    trickle,
    unfinished_stream,
)
from tests.fault_server.wire import FORMATS

PROMPT = LlmPrompt("test-model", [{"role": "user", "content": "hello"}])
PROVIDER_FORMATS = [name for name in FORMATS if name in PROVIDERS]
every_stream = pytest.mark.parametrize(
    "wire", [name for name in PROVIDER_FORMATS if FORMATS[name].stream is not None]
)


def receive(server, wire, *, is_stream=True, timeout=5.0):
    """Send a minimal request; return the status, and the answer's documents or body."""
    provider = make_provider(wire, server.base_url(wire))
    request = provider.stream_request(PROMPT) if is_stream else provider.build_request(PROMPT)
    headers = {**request.headers, **provider.auth_headers(server.key)}
    response = httpx.post(request.url, headers=headers, json=request.body, timeout=timeout)
    if not is_stream or response.status_code != 200:
        return response.status_code, response.json()
    frames = provider.stream_frames()
    return 200, [*frames.feed(response.content), *frames.end()]


@every_stream
def test_a_stream_may_end_in_the_providers_own_error(wire):
    """After some events of a good answer."""
    with LoopbackServer([stream_error(), stream_error()]) as server:
        status, documents = receive(server, wire)
        assert status == 200
        assert len(documents) > 1
        assert documents[-1]["error"]
        assert receive(server, wire, is_stream=False)[0] == 529


@every_stream
@pytest.mark.parametrize("fault", [cut_stream(), cut_body()])
def test_a_connection_may_close_within_a_stream(fault, wire):
    """The client sees that bytes are missing."""
    with LoopbackServer([fault]) as server, pytest.raises(httpx.RemoteProtocolError):
        receive(server, wire)


@every_stream
def test_a_stream_may_end_early_without_a_broken_connection(wire):
    """Only the missing events show it."""
    with LoopbackServer([unfinished_stream(), Reply("x" * 1000)]) as server:
        unfinished, whole = receive(server, wire)[1], receive(server, wire)[1]
    assert unfinished == whole[: len(unfinished)]
    assert 0 < len(unfinished) < len(whole)


@every_stream
@pytest.mark.parametrize("is_stream", [True, False])
def test_an_answer_may_stall_and_go_on(is_stream, wire):
    """A client that waits long enough gets it whole."""
    with LoopbackServer([silence(0.2), Reply("x" * 1000), silence(30)]) as server:
        started = time.monotonic()
        stalled = receive(server, wire, is_stream=is_stream)
        assert time.monotonic() - started >= 0.2
        assert stalled == receive(server, wire, is_stream=is_stream)
        with pytest.raises(httpx.ReadTimeout):
            receive(server, wire, is_stream=is_stream, timeout=0.2)


@every_stream
@pytest.mark.parametrize("is_stream", [True, False])
def test_an_answer_may_trickle(is_stream, wire):
    """It takes longer than any of its pauses."""
    with LoopbackServer([trickle(0.03), Reply("x" * 1000)]) as server:
        started = time.monotonic()
        slow = receive(server, wire, is_stream=is_stream, timeout=0.1)
        assert time.monotonic() - started > 0.1
        assert slow == receive(server, wire, is_stream=is_stream)


@pytest.mark.parametrize("wire", PROVIDER_FORMATS)
def test_an_invalid_request_is_refused_in_words(wire):
    """The words are the test's."""
    with LoopbackServer([invalid_request("no such field: x")]) as server:
        status, body = receive(server, wire, is_stream=False)
    assert status == 400
    assert "no such field: x" in str(body)


def test_a_reply_with_an_unknown_stop_reason_is_refused():
    """A typing error would pass for an ordinary end."""
    with pytest.raises(ValueError, match="no such stop_reason: refusal"):
        Reply(stop_reason="refusal")
