"""A small HTTP server that speaks a catalog's published API, for tests."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit


@dataclass(frozen=True)
class Request:
    """What a client asked: the path without its query, the parameters, headers and JSON body."""

    method: str
    path: str
    parameters: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any = None


@dataclass(frozen=True)
class Answer:
    """What the server answers: a status and a JSON document, or text as it is."""

    document: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def content(self) -> bytes:
        if isinstance(self.document, bytes):
            return self.document
        return json.dumps(self.document).encode()


Handler = Callable[[Request], Answer]
NOT_FOUND = Answer({"error_code": "NOT_FOUND", "message": "There's no such thing."}, 404)


@dataclass
class Api:
    """A running server: its host, and every request it got."""

    host: str
    requests: list[Request] = field(default_factory=list)

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.requests]


@contextmanager
def serving(handler: Handler) -> Iterator[Api]:
    """Run a server on this machine as long as the block lasts."""

    class Speaker(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            request = Request(
                self.command,
                unquote(parts.path),
                dict(parse_qsl(parts.query)),
                {name.lower(): value for name, value in self.headers.items()},
                json.loads(body) if body.startswith(b"{") else body.decode(),
            )
            api.requests.append(request)
            answer = handler(request)
            content = answer.content
            self.send_response(answer.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _answer  # noqa: N815  the names that the base class calls

        def log_message(self, format: str, *args: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Speaker)
    api = Api(f"127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
