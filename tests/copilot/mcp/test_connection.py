"""The tools of an MCP server: real programs on stdio, written with the SDK alone."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from fluid_build.copilot.mcp.connection import McpConnection
from fluid_build.copilot.mcp.errors import McpConnectionError
from fluid_build.errors import UsageError

SERVER = str(Path(__file__).with_name("foreign_server.py"))


def connect(**options: Any) -> McpConnection:
    options = {"timeout": 60, "max_result_bytes": 100_000, **options}
    return McpConnection.to_command(sys.executable, SERVER, **options)


@pytest.fixture(scope="module")
def connection() -> Iterator[McpConnection]:
    with connect(prefix="f", read_only=["files.read"], requires_approval=["huge"]) as opened:
        yield opened


def call(connection: McpConnection, name: str, **arguments: object) -> Any:
    return connection.tools.dispatch(name, arguments).for_model()


def test_tools_are_adopted_under_a_prefix_with_their_schema(connection: McpConnection) -> None:
    assert [*connection.tools] == [
        "f_files_read",
        "f_structured",
        "f_parts",
        "f_fail",
        "f_refuse",
        "f_huge",
        "f_slow",
        "f_environment",
        "f_die",
    ]
    tool = connection.tools["f_files_read"]
    assert tool.input_schema["required"] == ["n"]
    assert tool.input_schema["additionalProperties"] is False
    assert tool.description == "Read. [31m red"


def test_a_tool_that_no_provider_would_take_is_left_out_with_a_reason(
    connection: McpConnection,
) -> None:
    assert {name[:20]: reason.partition(",")[0] for name, reason in connection.refused.items()} == {
        "files_read": "another tool has its name",
        "n" * 20: "its name isn't 1 to 64 letters",
        "not a name; rm -rf": "its name isn't 1 to 64 letters",
        "deep": "its schema is nested more than 32 levels deep",
        "invalid": "its schema isn't valid",
        "wide": "its schema is over 65536 bytes",
        "remote": "its schema isn't valid",
    }


def test_what_a_tool_may_do_is_for_the_connection_to_say_and_not_for_the_server(
    connection: McpConnection,
) -> None:
    assert [name for name, tool in connection.tools.items() if tool.read_only] == ["f_files_read"]
    assert [name for name, tool in connection.tools.items() if tool.requires_approval] == ["f_huge"]


def test_a_long_description_is_shortened(connection: McpConnection) -> None:
    assert len(connection.tools["f_structured"].description) <= 2_000


def test_results_are_text_json_or_parts_without_their_data(connection: McpConnection) -> None:
    assert call(connection, "f_files_read", n=3) == "read 3"
    assert call(connection, "f_structured") == {"rows": [1, 2]}
    assert call(connection, "f_parts") == [
        "see",
        {"type": "image", "mime_type": "image/png", "omitted_base64": 8},
    ]


def test_arguments_are_checked_before_they_are_sent(connection: McpConnection) -> None:
    assert call(connection, "f_files_read", n="3")["error"] == "ToolValidationError"
    assert call(connection, "f_files_read", n=3, more=1)["error"] == "ToolValidationError"


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("f_fail", "McpToolError"),
        ("f_refuse", "McpToolError"),
        ("f_huge", "McpResultTooLargeError"),
    ],
)
def test_the_model_gets_the_class_of_a_failure_and_the_log_its_detail(
    connection: McpConnection, name: str, error: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert call(connection, name) == {
        "error": error,
        "message": f"Tool '{name}' failed — see server logs",
    }
    assert error in caplog.text


def test_tools_can_be_called_from_any_loop_at_once(connection: McpConnection) -> None:
    tools = connection.tools

    async def call_twice() -> list[Any]:
        calls = [tools.dispatch_async("f_files_read", {"n": n}) for n in (1, 2)]
        return [result.value for result in await asyncio.gather(*calls)]

    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(asyncio.run(call_twice())))
    thread.start()
    answers.append(asyncio.run(call_twice()))
    thread.join()
    assert answers == [["read 1", "read 2"]] * 2


def test_the_servers_environment_has_nothing_that_was_not_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    monkeypatch.setenv("SHOP_REGION", "north")
    options = {"pass_environment": ["SHOP_REGION", "NOT_SET"], "env": {"SHOP_ID": "7"}}
    with connect(only=["environment"], **options) as connection:
        environment = call(connection, "environment")
        assert [*connection.tools] == ["environment"]
    assert "OPENAI_API_KEY" not in environment
    assert (environment["SHOP_REGION"], environment["SHOP_ID"]) == ("north", "7")


def test_what_the_server_writes_to_stderr_is_logged_without_secrets(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.DEBUG, logger="fluid_build.copilot.mcp.connection"), connect():
        pass
    assert "started with" in caplog.text
    assert "canary" not in caplog.text


def test_a_slow_call_is_a_timeout_and_the_connection_goes_on() -> None:
    with connect(timeout=6) as connection:
        assert call(connection, "slow")["error"] == "TimeoutError"
        assert call(connection, "files_read", n=1) == "read 1"


def test_a_server_that_dies_is_an_error_and_closing_still_works() -> None:
    with connect(timeout=30) as connection:
        assert call(connection, "die")["error"] == "McpConnectionError"
        tools = connection.tools
    assert tools.dispatch("files_read", {"n": 1}).error_type == "McpConnectionError"


def test_a_connection_opens_once_at_a_time_and_again_after_it_was_closed() -> None:
    connection = connect()
    for _ in range(2):
        with connection:
            assert call(connection, "files_read", n=1) == "read 1"
            with pytest.raises(RuntimeError, match="open already"):
                connection.__enter__()


def test_a_call_that_is_under_way_when_the_connection_closes_is_an_error() -> None:
    answers: list[Any] = []
    with connect() as connection:
        tools = connection.tools
        thread = threading.Thread(
            target=lambda: answers.append(tools.dispatch("slow", {}).error_type)
        )
        thread.start()
        time.sleep(0.3)
    thread.join(timeout=10)
    assert answers == ["McpConnectionError"]


def test_a_connection_opens_asynchronously_too() -> None:
    async def use() -> Any:
        async with connect() as connection:
            return (await connection.tools.dispatch_async("files_read", {"n": 5})).value

    assert asyncio.run(use()) == "read 5"


def test_a_cancelled_call_is_cancelled(connection: McpConnection) -> None:
    async def cancel() -> None:
        async with asyncio.timeout(0.3):
            await connection.tools.dispatch_async("f_slow", {})

    with pytest.raises(TimeoutError):
        asyncio.run(cancel())


@pytest.mark.parametrize(
    "arguments", [["-c", "pass"], ["-c", "print('not the protocol')"], ["/does/not/exist.py"]]
)
def test_a_program_that_is_no_server_is_an_error(arguments: list[str]) -> None:
    connection = McpConnection.to_command(sys.executable, *arguments, timeout=30)
    with pytest.raises(McpConnectionError, match="MCP server python"):
        connection.__enter__()


def test_a_program_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(McpConnectionError, match="FileNotFoundError"):
        McpConnection.to_command("/does/not/exist").__enter__()


def test_a_name_that_the_server_does_not_have_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"no tool named 'strctured'.*'structured'"):
        connect(only=["strctured"]).__enter__()


@pytest.mark.parametrize(
    "url", ["ftp://host/mcp", "http://", "https://user:canary@host/mcp", "https://canary@host/mcp"]
)
def test_an_address_must_be_http_without_a_login(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        McpConnection.to_url(url)
    assert "canary" not in str(caught.value)


def test_nothing_listening_is_an_error() -> None:
    with pytest.raises(McpConnectionError):
        McpConnection.to_url("http://127.0.0.1:9/mcp", timeout=5).__enter__()


class _Echo(BaseHTTPRequestHandler):
    """Refuses each request, and repeats its token and its query."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        words = f"bad token {self.headers['x-team']} {self.headers['authorization']} {self.path}"
        error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": words}}
        body = json.dumps(error).encode()
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def test_no_error_repeats_what_was_sent_in_the_headers_or_the_query() -> None:
    with HTTPServer(("127.0.0.1", 0), _Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        connection = McpConnection.to_url(
            f"http://127.0.0.1:{server.server_port}/mcp?k=canary%201&n=canary+2",
            headers={"x-team": "canary-3", "authorization": "Token canary-4"},
            timeout=5,
        )
        with pytest.raises(McpConnectionError, match="bad token") as caught:
            connection.__enter__()
        server.shutdown()
    assert "canary" not in str(caught.value)


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_no_error_or_log_repeats_the_programs_variables(caplog: pytest.LogCaptureFixture) -> None:
    program = "import os, sys; print('seen', os.environ['SHOP'], file=sys.stderr)"
    connection = McpConnection.to_command(
        sys.executable, "-c", program, env={"SHOP": "canary-5"}, timeout=30
    )
    with (
        caplog.at_level(logging.DEBUG, logger="fluid_build.copilot.mcp.connection"),
        pytest.raises(McpConnectionError),
    ):
        connection.__enter__()
        _wait_until(lambda: "seen ***" in caplog.text)  # the log is written by a thread
    assert "canary" not in caplog.text


def test_a_connection_that_failed_to_open_can_be_opened_later(tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    connection = McpConnection.to_command(sys.executable, str(server), timeout=60)
    with pytest.raises(McpConnectionError):
        connection.__enter__()
    shutil.copy(SERVER, server)
    with connection:
        assert call(connection, "files_read", n=1) == "read 1"


def test_a_connection_that_is_still_opening_can_be_closed() -> None:
    connection = McpConnection.to_command(
        sys.executable, "-c", "import time; time.sleep(60)", timeout=60
    )
    errors: list[Exception] = []

    def open_it() -> None:
        try:
            connection.__enter__()
        except McpConnectionError as error:
            errors.append(error)

    opening = threading.Thread(target=open_it)
    opening.start()
    time.sleep(0.5)
    connection.close()
    opening.join(timeout=10)
    assert len(errors) == 1
