"""Our tools as an MCP server: a real program on stdio and a real socket, with the SDK's client."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
import uvicorn
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from fluid_build.copilot import Agent, ScriptedProvider
from fluid_build.copilot.llm.base import LlmResponse
from fluid_build.copilot.mcp.connection import McpConnection
from fluid_build.copilot.mcp.errors import McpConnectionError
from fluid_build.copilot.mcp.serving import (
    make_http_app,
    make_mcp_server,
    serve_http,
    serve_stdio_sync,
)
from fluid_build.copilot.messages import ToolCall
from fluid_build.copilot.tools.toolbox import Toolbox
from fluid_build.errors import UsageError
from tests.copilot.mcp import own_server
from tests.copilot.mcp.own_server import TOOLS, Shop

PROGRAM = str(Path(__file__).with_name("own_server.py"))


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHOP_API_KEY", "canary-12345678")
    (tmp_path / "outside.txt").write_text("outside")
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "a.txt").write_text("inside")
    return folder


@asynccontextmanager
async def stdio(workspace: Path, *approved: str, mode: str = "auto") -> AsyncGenerator[Client]:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=[PROGRAM, str(workspace), *approved],
        env={"PYTHONPATH": str(Path.cwd()), "SHOP_API_KEY": os.environ["SHOP_API_KEY"]},
    )
    with open(os.devnull, "w") as log:  # noqa: PTH123
        async with Client(stdio_client(parameters, errlog=log), mode=mode) as client:
            yield client


class HttpServer:
    """An application on a real socket."""

    def __init__(self, app: Any) -> None:
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        config = uvicorn.Config(app, log_level="error", access_log=False)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self.socket],))

    def __enter__(self) -> HttpServer:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self.socket.close()


@pytest.fixture
def http(workspace: Path) -> Iterator[HttpServer]:
    with HttpServer(make_http_app(TOOLS, workspace_root=workspace, deps=Shop("corner"))) as server:
        yield server


async def exercise(client: Client) -> dict[str, Any]:
    """What a client gets of each tool."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("double", {"number": 4}),
        ("double", {"number": "four"}),
        ("read_file", {"path": "a.txt"}),
        ("read_file", {"path": "../outside.txt"}),
        ("fail", {}),
        ("leak", {}),
        ("shop_name", {}),
        ("delete_all", {}),
        ("no_such_tool", {}),
    ]
    answers: dict[str, Any] = {"tools": [tool.name for tool in (await client.list_tools()).tools]}
    for name, arguments in calls:
        result = await client.call_tool(name, arguments)
        value = result.content[0].text  # type: ignore[union-attr]
        answers[f"{name} {json.dumps(arguments)}"] = (result.is_error, value)
    return answers


def failure(name: str, error: str) -> tuple[bool, str]:
    return True, f'{{"error":"{error}","message":"Tool \'{name}\' failed — see server logs"}}'


EXPECTED = {
    "tools": ["double", "read_file", "fail", "leak", "shop_name"],
    'double {"number": 4}': (False, "8"),
    'double {"number": "four"}': failure("double", "ToolValidationError"),
    'read_file {"path": "a.txt"}': (False, '{"text":"inside"}'),
    'read_file {"path": "../outside.txt"}': failure("read_file", "PathTraversalError"),
    "fail {}": failure("fail", "RuntimeError"),
    "leak {}": (False, "the key is [redacted]"),
    "shop_name {}": (False, "corner"),
    "delete_all {}": failure("delete_all", "UnknownTool"),
    "no_such_tool {}": failure("no_such_tool", "UnknownTool"),
}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_on_stdio_gets_values_and_the_classes_of_errors(
    workspace: Path, mode: str
) -> None:
    async def use() -> dict[str, Any]:
        async with stdio(workspace, mode=mode) as client:
            return await exercise(client)

    assert asyncio.run(use()) == EXPECTED


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_on_http_gets_the_same(http: HttpServer, mode: str) -> None:
    async def use() -> dict[str, Any]:
        async with Client(http.url, mode=mode) as client:
            return await exercise(client)

    assert asyncio.run(use()) == EXPECTED


def test_our_connection_uses_our_server(http: HttpServer) -> None:
    with McpConnection.to_url(http.url, prefix="shop") as connection:
        tools = connection.tools
        assert tools.dispatch("shop_double", {"number": 4}).value == 8
        assert tools.dispatch("shop_read_file", {"path": "a.txt"}).value == {"text": "inside"}
        assert tools.dispatch("shop_fail", {}).error_type == "McpToolError"


def test_an_agent_calls_the_tools_of_a_server(http: HttpServer) -> None:
    answers = [LlmResponse("", (ToolCall("c", "shop_double", {"number": 4}),)), "Eight."]
    with McpConnection.to_url(http.url, prefix="shop") as shop:
        model = ScriptedProvider(answers)
        assert Agent(model, tools=shop.tools).run_sync("Twice 4?").output == "Eight."
    assert "8" in str(model.prompts[1].messages[-1])


def test_an_answer_without_end_is_cut_off() -> None:
    async def flood(_request: Request) -> Response:
        async def chunks() -> AsyncGenerator[bytes]:
            while True:
                yield b" " * 1_000_000
                await asyncio.sleep(0)

        return StreamingResponse(chunks(), media_type="application/json")

    app = Starlette(routes=[Route("/mcp", flood, methods=["POST", "GET"])])
    with HttpServer(app) as server, pytest.raises(McpConnectionError, match="over 16777216 bytes"):
        McpConnection.to_url(server.url, timeout=20).__enter__()


def test_a_tool_that_needs_approval_is_served_once_it_is_approved(workspace: Path) -> None:
    async def use() -> Any:
        async with stdio(workspace, "delete_all") as client:
            return (await client.call_tool("delete_all", {})).content[0]

    assert asyncio.run(use()).text == "deleted"


def test_nothing_but_the_protocol_is_on_stdout(workspace: Path) -> None:
    """Not even what a tool prints, at once or when the program ends."""
    requests = [
        {
            "method": "initialize",
            "id": 1,
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "c", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {
            "method": "tools/call",
            "id": 2,
            "params": {"name": "double", "arguments": {"number": 21}},
        },
    ]
    process = subprocess.Popen(
        [sys.executable, PROGRAM, str(workspace)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for request in requests:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **request}) + "\n")
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(2)]
    lines, errors = process.communicate(timeout=20)
    assert [answer["id"] for answer in answers] == [1, 2]
    assert lines == ""
    assert "noise of a tool" in errors
    assert process.returncode == 0


def test_a_signal_ends_a_program_on_stdio_while_stdin_is_open(workspace: Path) -> None:
    with subprocess.Popen(
        [sys.executable, PROGRAM, str(workspace)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) != 0


INITIALIZE = {
    "jsonrpc": "2.0",
    "method": "initialize",
    "id": 1,
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    },
}
ACCEPT = {"accept": "application/json, text/event-stream"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "localhost:8000"}, 200),
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example:80"}, 421),
        ({"origin": "http://localhost:3000"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
    ],
)
def test_a_page_that_rebinds_its_name_is_refused(
    http: HttpServer, headers: dict[str, str], status: int
) -> None:
    assert httpx.post(http.url, json=INITIALIZE, headers=ACCEPT | headers).status_code == status


def test_a_body_over_four_megabytes_is_refused(http: HttpServer) -> None:
    body = {**INITIALIZE, "params": {"padding": "x" * 5_000_000}}
    assert httpx.post(http.url, json=body, headers=ACCEPT).status_code == 413


def test_a_token_is_required_where_there_is_one(workspace: Path) -> None:
    app = make_http_app([own_server.double], workspace_root=workspace, token="s3cret-token")

    async def use(url: str) -> Any:
        headers = {"authorization": "Bearer s3cret-token"}
        async with (
            httpx2.AsyncClient(headers=headers) as http_client,
            Client(streamable_http_client(url, http_client=http_client)) as client,
        ):
            return (await client.call_tool("double", {"number": 1})).structured_content

    with HttpServer(app) as server:
        for headers in ({}, {"authorization": "Bearer wrong"}):
            answer = httpx.post(server.url, json=INITIALIZE, headers=ACCEPT | headers)
            assert answer.status_code == 401
        assert asyncio.run(use(server.url)) == 2


@pytest.mark.parametrize("token", ["", " "])
def test_an_empty_token_is_an_error(workspace: Path, token: str) -> None:
    """It comes from a variable that isn't set, and would let everyone in."""
    with pytest.raises(UsageError, match="token that protects the server is empty"):
        make_http_app([own_server.double], workspace_root=workspace, token=token)


def test_a_forgotten_workspace_is_an_error_that_names_the_function_called() -> None:
    with pytest.raises(TypeError, match=r"serve_stdio_sync\(\) missing .* 'workspace_root'"):
        serve_stdio_sync([own_server.double])  # type: ignore[call-arg]


def test_serve_http_binds_to_this_machine_alone_unless_it_has_a_token_and_hosts(
    workspace: Path,
) -> None:
    for host in ("0.0.0.0", "192.0.2.1", "example.com"):
        with pytest.raises(UsageError, match="Other machines can reach"):
            asyncio.run(serve_http([own_server.double], workspace_root=workspace, host=host))


def test_serve_http_serves_until_it_is_cancelled(workspace: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    async def use() -> Any:
        serving = asyncio.create_task(
            serve_http([own_server.double], workspace_root=workspace, port=port)
        )
        for _ in range(200):
            await asyncio.sleep(0.02)
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            answer = await client.call_tool("double", {"number": 3})
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        return answer.structured_content

    assert asyncio.run(use()) == 6


def test_serve_http_sync_serves_until_it_is_interrupted(workspace: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    code = (
        "from fluid_build.copilot.mcp.serving import serve_http_sync;"
        f"serve_http_sync([], workspace_root={str(workspace)!r}, port={port})"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        answer = None
        for _ in range(200):
            time.sleep(0.05)
            try:
                answer = httpx.post(f"http://127.0.0.1:{port}/mcp", json=INITIALIZE, headers=ACCEPT)
                break
            except httpx.ConnectError:
                continue
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=20)
    assert answer is not None
    assert answer.status_code == 200
    assert output == b""


def refuse(make: Callable[[], object], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


def test_what_cannot_be_served_is_an_error_at_once(workspace: Path) -> None:
    box = Toolbox(TOOLS)
    refuse(lambda: make_mcp_server(box, workspace_root=workspace), TypeError, "shop_name")
    refuse(lambda: make_mcp_server([], workspace_root=workspace / "none"), UsageError, "folder")
    refuse(
        lambda: make_mcp_server([], workspace_root=workspace, approved=["x"]), UsageError, "named"
    )
