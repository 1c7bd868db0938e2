"""A program that serves tools of ours on stdio."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from fluid_build.copilot.mcp.serving import serve_stdio_sync
from fluid_build.copilot.tools.confinement import read_confined
from fluid_build.copilot.tools.registry import forge_tool


@dataclass
class Shop:
    name: str


@forge_tool(register=False)
def double(number: int) -> int:
    """Double a number."""
    print("noise of a tool")
    return 2 * number


@forge_tool(register=False, read_only=True)
def read_file(path: str, *, workspace_root: Path) -> dict[str, str]:
    """Read a text file of the workspace."""
    return {"text": read_confined(workspace_root, path, suffixes=[".txt"], max_bytes=100).decode()}


@forge_tool(register=False)
def fail() -> None:
    """Fail with a detail that nobody may see."""
    raise RuntimeError("/home/canary/.aws/credentials")


@forge_tool(register=False)
def leak() -> str:
    """Return a secret of the environment."""
    return f"the key is {os.environ['SHOP_API_KEY']}"


@forge_tool(register=False)
def shop_name(*, deps: Shop) -> str:
    """Return the shop's name."""
    return deps.name


@forge_tool(register=False, requires_approval=True)
def delete_all() -> str:
    """Delete everything."""
    return "deleted"


TOOLS = [double, read_file, fail, leak, shop_name, delete_all]

if __name__ == "__main__":
    serve_stdio_sync(TOOLS, workspace_root=sys.argv[1], deps=Shop("corner"), approved=sys.argv[2:])
