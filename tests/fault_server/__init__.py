"""A real server that stands for a provider, and fails on demand.

``LoopbackServer`` listens on this machine, has every wire format and injects faults, so that the
real client is tested over real sockets:

    with LoopbackServer([rate_limit(retry_after=1), Reply("hello")]) as server:
        client = LlmClient(make_provider("openai", server.base_url("openai")), api_key=server.key)
"""

from tests.fault_server.faults import (
    Fault,
    context_overflow,
    cut_body,
    cut_stream,
    dropped_connection,
    garbage,
    invalid_request,
    overloaded,
    quota_exhausted,
    rate_limit,
    server_error,
    silence,
    slow,
    stream_error,
    trickle,
    unauthorized,
    unfinished_stream,
    wrong_schema,
)
from tests.fault_server.server import LoopbackServer, ReceivedRequest, refused_base_url
from tests.fault_server.wire import WIRE_FORMATS, Reply

__all__ = [
    "WIRE_FORMATS",
    "Fault",
    "LoopbackServer",
    "ReceivedRequest",
    "Reply",
    "context_overflow",
    "cut_body",
    "cut_stream",
    "dropped_connection",
    "garbage",
    "invalid_request",
    "overloaded",
    "quota_exhausted",
    "rate_limit",
    "refused_base_url",
    "server_error",
    "silence",
    "slow",
    "stream_error",
    "trickle",
    "unauthorized",
    "unfinished_stream",
    "wrong_schema",
]
