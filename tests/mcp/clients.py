"""Clients of the SDK on real `fluid mcp serve` processes, for tests that aren't asynchronous."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from fluid_build.copilot.unified_config import HOME_VARIABLE

COMMAND = (sys.executable, "-m", "fluid_build.cli.main", "mcp", "serve")


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a server: nothing of the user's configuration."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FLUID_")}
    return {**kept, HOME_VARIABLE: str(home), "PYTHONPATH": str(Path.cwd()), **more}


@dataclass(frozen=True)
class HttpServer:
    """A server process that listens, and the token that it has shown."""

    process: subprocess.Popen[str]
    url: str
    token: str


@contextmanager
def http_server(home: Path, *options: str, **variables: str) -> Iterator[HttpServer]:
    """Start a server over HTTP on any free port, and stop it as Ctrl-C does."""
    process = subprocess.Popen(
        [*COMMAND, "--http", "--port", "0", *options],
        env=environment(home, **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        url = re.search(r"http://\S+/mcp", line)
        assert url is not None, line + process.stderr.read()
        token = variables.get("FLUID_MCP_TOKEN") or process.stderr.readline().split()[-1]
        yield HttpServer(process, url[0], token)
    finally:
        process.terminate()
        process.communicate(timeout=20)


@asynccontextmanager
async def http_client(server: HttpServer, *, mode: str = "auto") -> AsyncGenerator[Client]:
    headers = {"authorization": f"Bearer {server.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(server.url, http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def stdio(
    home: Path, *options: str, log: IO[str], mode: str = "auto", **variables: str
) -> AsyncGenerator[Client]:
    parameters = StdioServerParameters(
        command=COMMAND[0],
        args=[*COMMAND[1:], *options],
        env=environment(home, **variables),
    )
    async with Client(stdio_client(parameters, errlog=log), mode=mode) as client:
        yield client


@dataclass(frozen=True)
class Answer:
    """What a tool answered: its structured content, its text, and whether it's an error."""

    document: dict[str, Any]
    text: str
    is_error: bool


@dataclass(frozen=True)
class Caller:
    """A client whose methods wait."""

    portal: BlockingPortal
    client: Client

    def call(self, tool: str, **arguments: object) -> Answer:
        result = self.portal.call(self.client.call_tool, tool, arguments)
        return Answer(result.structured_content or {}, result.content[0].text, result.is_error)

    def refusal(self, tool: str, **arguments: object) -> str:
        answer = self.call(tool, **arguments)
        assert answer.is_error, answer.text
        return answer.text

    def read(self, uri: str) -> str:
        (content,) = self.portal.call(self.client.read_resource, uri).contents
        return content.text

    def ask(self, method: str, *arguments: object) -> Any:
        return self.portal.call(getattr(self.client, method), *arguments)


@contextmanager
def calling(client: Any) -> Iterator[Caller]:
    """Keep a client open on an event loop in another thread."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(client) as opened,
    ):
        yield Caller(portal, opened)
