"""A real HTTP server on this machine with every wire format, which fails on demand."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias
from urllib.parse import parse_qsl, urlsplit

from fluid_build.json_types import JsonValue
from tests.fault_server.faults import Fault, invalid_request, unauthorized
from tests.fault_server.wire import FORMATS, Reply, WireFormat

Scripted: TypeAlias = Reply | Fault


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A client's request: ``headers`` have lower-case names, ``raw`` is the body in bytes."""

    wire: str
    path: str
    headers: dict[str, str]
    body: dict[str, JsonValue]
    raw: bytes


ServerScript: TypeAlias = Sequence[Scripted] | Callable[[ReceivedRequest], Scripted]


class LoopbackServer:
    """A server that answers from a script of replies and faults, in the endpoint's format.

    ``script`` is a list, used in order of arrival and followed by plain replies, or a function of
    the request. A request whose key isn't ``key`` gets a 401. ``requests`` has the requests. Use it
    in a ``with`` block: outside of it nothing listens.
    """

    def __init__(self, script: ServerScript = (), *, key: str = "loopback-key-1") -> None:
        self.key = key
        self.requests: list[ReceivedRequest] = []
        self._function = script if callable(script) else None
        self._steps: list[Scripted] = [] if callable(script) else list(script)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> LoopbackServer:
        self._stopping.clear()
        self._server = _Listener(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), name="loopback-llm", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
        self._server = self._thread = None

    def base_url(self, wire: str) -> str:
        """Return the ``base_url`` for a provider of this format (a name in ``FORMATS``)."""
        if self._server is None:
            raise RuntimeError("the server isn't running: use it in a with block")
        if wire not in FORMATS:
            raise ValueError(f"no such wire format: {wire}")
        port = self._server.server_address[1]
        return f"http://127.0.0.1:{port}{FORMATS[wire].base_path}"

    def wait(self, seconds: float) -> None:
        """Sleep, but not beyond the end of the server."""
        self._stopping.wait(seconds)

    def next_step(self, request: ReceivedRequest) -> Scripted:
        """Record the request; return its answer."""
        with self._lock:
            self.requests.append(request)
            if self._function is None:
                return self._steps.pop(0) if self._steps else Reply()
        return self._function(request)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(_Handler):
            owner = server

        return Handler


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that hang up: tests make them do so."""


class _Handler(BaseHTTPRequestHandler):
    owner: LoopbackServer
    protocol_version = "HTTP/1.1"
    timeout = 30
    disable_nagle_algorithm = True
    """A chunk is sent at once, not with the next one."""

    def do_POST(self) -> None:
        """Answer a request."""
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        address = urlsplit(self.path)
        wire = next((f for f in FORMATS.values() if f.matches(address.path)), None)
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if wire is None or not isinstance(body, dict):
            self._send(404 if wire is None else 400, b'{"error": "not an endpoint or not JSON"}')
            return
        request = ReceivedRequest(wire.name, self.path, headers, body, raw)
        step = self.owner.next_step(request)
        key = wire.key_in(headers, dict(parse_qsl(address.query)))
        if key != self.owner.key and not (wire.name == "ollama" and not key):
            step = unauthorized()
        elif (refusal := wire.refuse({**headers, ":path": address.path}, body)) is not None:
            step = refusal if isinstance(refusal, Fault) else invalid_request(refusal)
        if isinstance(step, Reply):
            self._reply(wire, step, request)
        else:
            self._fail(wire, step, request, key)

    def _reply(self, wire: WireFormat, reply: Reply, request: ReceivedRequest) -> None:
        if not _asks_for_stream(wire, request):
            self._send(200, _encode(wire.reply(reply, _with_path(request))))
        else:
            self._send_chunks(wire.stream_type, wire.stream(reply, _with_path(request)))

    def _fail(self, wire: WireFormat, fault: Fault, request: ReceivedRequest, key: str) -> None:
        if fault.kind == "dropped":
            self._hang_up()
        elif fault.kind == "garbage":
            self._send(200, b"<html>\x00 not JSON")
        elif fault.kind == "wrong_schema":
            self._reply(wire, Reply('{"unexpected": true}'), request)
        elif fault.kind == "slow":
            self.owner.wait(fault.delay)
            self._reply(wire, Reply(), request)
        elif fault.kind == "stream_error" and _asks_for_stream(wire, request):
            chunks = _first_half(_chunks(wire, request))
            self._send_chunks(wire.stream_type, [*chunks, wire.stream_failure(fault)])
        elif fault.kind in ("cut", "unfinished_stream", "silence", "trickle"):
            self._reply_badly(wire, fault, request)
        else:
            self._send(fault.status, _encode(wire.fault(fault, key)), fault.headers)

    def _reply_badly(self, wire: WireFormat, fault: Fault, request: ReceivedRequest) -> None:
        """Send an answer that is cut off, or that makes the client wait."""
        chunks = _chunks(wire, request)
        kind = wire.stream_type if _asks_for_stream(wire, request) else "application/json"
        if fault.kind == "cut":
            half = _first_half(chunks)
            middle = chunks[len(half)]
            self._send_chunks(kind, [*half, middle[: len(middle) // 2]], has_end=False)
        elif fault.kind == "unfinished_stream":
            self._send_chunks(kind, _first_half(chunks))
        elif fault.kind == "silence":
            silent = len(chunks) // 2
            self._send_chunks(kind, self._with_pauses(chunks, fault.delay, {silent}))
        else:
            self._send_chunks(kind, self._with_pauses(chunks, fault.delay, range(len(chunks))))

    def _with_pauses(
        self, chunks: Sequence[bytes], seconds: float, before: Container[int]
    ) -> Iterator[bytes]:
        for number, chunk in enumerate(chunks):
            if number in before:
                self.owner.wait(seconds)
            yield chunk

    def _send(self, status: int, content: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _send_chunks(
        self, content_type: str, chunks: Iterable[bytes], *, has_end: bool = True
    ) -> None:
        self.send_response(200)
        self.send_header("content-type", content_type)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        if has_end:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self._hang_up()

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing, to leave a test's output alone."""


def _asks_for_stream(wire: WireFormat, request: ReceivedRequest) -> bool:
    return wire.is_stream(urlsplit(request.path).path, request.body)


def _with_path(request: ReceivedRequest) -> dict[str, JsonValue]:
    """Return the body with the path as ``:path``: Google's requests name the model there."""
    return {**request.body, ":path": urlsplit(request.path).path}


def _chunks(wire: WireFormat, request: ReceivedRequest) -> list[bytes]:
    """Return a good answer in parts: the chunks of a stream, or four parts of the body."""
    reply = Reply("x" * 1000)
    if _asks_for_stream(wire, request):
        return wire.stream(reply, _with_path(request))
    content = _encode(wire.reply(reply, _with_path(request)))
    size = -(-len(content) // 4)
    return [content[start : start + size] for start in range(0, len(content), size)]


def _first_half(chunks: Sequence[bytes]) -> Sequence[bytes]:
    return chunks[: len(chunks) // 2]


def refused_base_url() -> str:
    """Return an address on this machine where nothing listens, so that connections are refused."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"


def _encode(body: dict[str, JsonValue]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()
