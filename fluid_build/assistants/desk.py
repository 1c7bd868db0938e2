"""What tools work with: the workspace, the sources that are open, and how answers are bounded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fluid_build.assistants.masking import prose_without_values
from fluid_build.assistants.open_sources import OpenSources
from fluid_build.assistants.settings import WorkspaceSettings
from fluid_build.assistants.workspace import Workspace
from fluid_build.text import clip

LONGEST_NAME = 200
"""Characters of a name in an answer: no honest name is longer."""
LONGEST_TEXT = 600
"""Characters of a comment or a reason in an answer: a few sentences."""
MOST_NOTES = 20


@dataclass(frozen=True, slots=True)
class Desk:
    """What all calls of an assistant share."""

    settings: WorkspaceSettings
    workspace: Workspace
    sources: OpenSources

    def name(self, name: str) -> str:
        """Return a stranger's name as it's put into an answer."""
        return clip(name, LONGEST_NAME)

    def names(self, names: Iterable[str]) -> list[str]:
        """Return strangers' names as they're put into an answer."""
        return [self.name(name) for name in names]

    def prose(self, text: str | None) -> str:
        """Return a sentence or comment as it's put into an answer: bounded, and of one line."""
        line = " ".join(self.settings.without_outside((text or "")[: 10 * LONGEST_TEXT]).split())
        shown = line if self.settings.share_values else prose_without_values(line)
        return clip(shown, LONGEST_TEXT)

    def notes(self, texts: Iterable[str]) -> list[str]:
        """Return the first sentences as they're put into an answer."""
        return [self.prose(text) for text in [*texts][:MOST_NOTES]]


def open_desk(settings: WorkspaceSettings) -> Desk:
    """Return a desk on which no source is open yet."""
    return Desk(settings, Workspace(settings), OpenSources(share_values=settings.share_values))
