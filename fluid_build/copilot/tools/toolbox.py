"""A toolbox: the tools that an agent may call, and no others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias, Unpack

from fluid_build.copilot.tools.calls import Arguments, CallOptions, ForgeToolResult, call_context
from fluid_build.copilot.tools.definition import Tool, ToolDefinition
from fluid_build.copilot.tools.execution import MissingTool
from fluid_build.copilot.tools.registry import as_tool, find_tool, registered_tools

Tools: TypeAlias = Iterable[Tool | Callable[..., object] | str]
"""Tools, plain functions and names of registered tools, which a toolbox is too."""


class Toolbox(Mapping[str, Tool]):
    """An immutable subset of tools by name. A call of any other tool is an ``UnknownTool``.

    ``tools`` may be tools, plain functions, and names of registered tools; ``tags`` adds every
    registered tool that has one of them. Raises ``LookupError`` for a name that no registered
    tool has, ``ValueError`` if two of the tools have one name, and ``TypeError`` for a function
    that can't be a tool.
    """

    def __init__(
        self,
        tools: Tools = (),
        *,
        tags: Iterable[str] = (),
    ) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            self._add(_find_registered(tool) if isinstance(tool, str) else as_tool(tool))
        requested_tags = frozenset(tags)
        for tool in registered_tools():
            if not requested_tags.isdisjoint(tool.tags):
                self._add(tool)

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __repr__(self) -> str:
        return f"<Toolbox {', '.join(self._tools)}>"

    @property
    def definitions(self) -> list[ToolDefinition]:
        """Return the tools as a provider is given them."""
        return [tool.definition for tool in self._tools.values()]

    def find(self, name: str) -> Tool | None:
        """Return the tool of that name, or None."""
        return self._tools.get(name)

    def check_deps(self, deps: object) -> None:
        """Raise ``TypeError`` if a tool can't use these dependencies."""
        for tool in self._tools.values():
            tool.check_deps(deps)

    def dispatch(
        self,
        name: str,
        args: Arguments,
        workspace_root: Path | str | None = None,
        **options: Unpack[CallOptions],
    ) -> ForgeToolResult:
        """Call a tool of the box, as ``dispatch_forge_tool`` does with a registered one."""
        tool = self._tools.get(name) or MissingTool(name)
        return tool.execute(args, call_context(workspace_root, options))

    async def dispatch_async(
        self,
        name: str,
        args: Arguments,
        workspace_root: Path | str | None = None,
        **options: Unpack[CallOptions],
    ) -> ForgeToolResult:
        """Call a tool of the box without blocking; a blocking tool gets a thread."""
        tool = self._tools.get(name) or MissingTool(name)
        return await tool.execute_async(args, call_context(workspace_root, options))

    def _add(self, tool: Tool) -> None:
        if self._tools.setdefault(tool.name, tool) is not tool:
            raise ValueError(f"Two tools of the toolbox are named {tool.name!r}.")


def _find_registered(name: str) -> Tool:
    tool = find_tool(name)
    if tool is None:
        raise LookupError(f"No registered tool is named {name!r}.")
    return tool
