"""A tool of the server: its arguments, its answer, and what it may do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from fluid_build.mcp.jobs import Job
from fluid_build.mcp.open_sources import OpenSources
from fluid_build.mcp.results import ToolResult
from fluid_build.mcp.row_values import prose_without_values
from fluid_build.mcp.workspace import Workspace
from fluid_build.text import clip

LONGEST_NAME = 200
"""Characters of a name in an answer: longer ones are nobody's but an attacker's."""
LONGEST_TEXT = 600
"""Characters of a comment or a reason in an answer: a few sentences."""
MOST_NOTES = 20


class ToolArguments(BaseModel):
    """The arguments of a tool; others are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


SourceArgument = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1_000,
        description="A file, folder or glob of the workspace, or the name of a source that"
        " list_sources returns.",
    ),
]
TableArgument = Annotated[
    str, Field(min_length=1, max_length=500, description="A table of the source.")
]
FolderArgument = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1_000,
        description="A folder that forge wrote, relative to the workspace.",
    ),
]

A = TypeVar("A", bound=ToolArguments)
R = TypeVar("R", bound=ToolResult)


@dataclass(frozen=True, slots=True)
class Desk:
    """What tools work with, and what the user allowed when the server was started."""

    workspace: Workspace
    sources: OpenSources = field(default_factory=OpenSources)
    allow_write: bool = False
    share_values: bool = False

    def name(self, name: str) -> str:
        """Return a stranger's name as it's put into an answer."""
        return clip(name, LONGEST_NAME)

    def names(self, names: Iterable[str]) -> list[str]:
        """Return strangers' names as they're put into an answer."""
        return [self.name(name) for name in names]

    def prose(self, text: str | None) -> str:
        """Return a sentence or comment as it's put into an answer: bounded, and of one line."""
        line = " ".join(self.workspace.without_outside((text or "")[: 10 * LONGEST_TEXT]).split())
        return clip(line if self.share_values else prose_without_values(line), LONGEST_TEXT)

    def notes(self, texts: Iterable[str]) -> list[str]:
        """Return the first sentences as they're put into an answer."""
        return [self.prose(text) for text in [*texts][:MOST_NOTES]]


@dataclass(frozen=True, slots=True)
class ServedTool(Generic[A, R]):
    """A tool as it's listed and called.

    ``writes`` says that it changes files where the user allows that, and ``replaces`` that it
    may then replace or remove some. ``readable`` says the answer in words.
    """

    name: str
    title: str
    description: str
    arguments: type[A]
    result: type[R]
    run: Callable[[Desk, A, Job], R]
    readable: Callable[[R], str]
    writes: bool = False
    replaces: bool = False
