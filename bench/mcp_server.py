"""How long an assistant waits for `fluid mcp serve`, next to a bare server of the SDK in one run.

    python bench/mcp_server.py [--rounds N]

Both are started on stdio by the SDK's own client, one after the other in each round, on the shop of
``fluid demo`` (200,000 rows in SQLite). The bare server has one tool, which echoes its argument:
its figures are what the protocol, the SDK and a Python process cost at least. Times are medians of
wall time; compare ratios, since the machine may be busy.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from fluid_build.demo import build_shop

ECHO = """
import asyncio
import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

async def list_tools(context, params):
    return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema={"type": "object"})])

async def call_tool(context, params):
    return types.CallToolResult(
        content=[types.TextContent(text="echo")], structured_content=params.arguments
    )

async def main():
    server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())

asyncio.run(main())
"""
WARM_CALLS = 20


class Stopwatch:
    """Seconds by step, over all rounds."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}

    async def time(self, step: str, work: Callable[[], Awaitable[object]], times: int = 1) -> None:
        started = time.perf_counter()
        for _ in range(times):
            await work()
        self.seconds.setdefault(step, []).append((time.perf_counter() - started) / times)

    def median(self, step: str) -> float:
        return statistics.median(self.seconds[step])


@asynccontextmanager
async def connected(arguments: list[str], home: Path) -> AsyncGenerator[Client]:
    parameters = StdioServerParameters(
        command=sys.executable, args=arguments, env={**os.environ, "FLUID_HOME": str(home)}
    )
    async with Client(stdio_client(parameters)) as client:
        yield client


async def measure_bare(watch: Stopwatch, home: Path) -> None:
    started = time.perf_counter()
    async with connected(["-c", ECHO], home) as client:
        watch.seconds.setdefault("start", []).append(time.perf_counter() - started)
        await watch.time("list tools", client.list_tools)
        await watch.time("first call", lambda: client.call_tool("echo", {"a": 1}))
        await watch.time("next calls", lambda: client.call_tool("echo", {"a": 1}), WARM_CALLS)


async def measure_ours(watch: Stopwatch, home: Path, workspace: Path) -> None:
    command = ["-m", "fluid_build.cli.main", "mcp", "serve", "--workspace", str(workspace)]
    describe = {"source": "shop.db", "table": "orders"}
    key = {**describe, "columns": ["customer_id"]}
    started = time.perf_counter()
    async with connected(command, home) as client:
        watch.seconds.setdefault("start", []).append(time.perf_counter() - started)
        await watch.time("list tools", client.list_tools)
        # The first one opens and measures the source.
        await watch.time("first call", lambda: client.call_tool("describe_table", describe))
        await watch.time(
            "next calls", lambda: client.call_tool("describe_table", describe), WARM_CALLS
        )
        await watch.time("check_key", lambda: client.call_tool("check_key", key), WARM_CALLS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    bare, ours = Stopwatch(), Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        home, workspace = Path(folder, "home"), Path(folder, "workspace")
        workspace.mkdir()
        build_shop(workspace / "shop.db")
        for _ in range(rounds):
            asyncio.run(measure_bare(bare, home))
            asyncio.run(measure_ours(ours, home, workspace))
    print(f"{'step':<12}{'bare SDK':>12}{'fluid':>12}{'ratio':>8}")
    for step in ours.seconds:
        figures = [watch.median(step) for watch in (bare, ours) if step in watch.seconds]
        cells = "".join(f"{1000 * figure:>9.1f} ms" for figure in figures)
        if len(figures) == 1:
            print(f"{step:<24}{cells}")
        else:
            print(f"{step:<12}{cells}{figures[1] / figures[0]:>8.1f}")


if __name__ == "__main__":
    main()
