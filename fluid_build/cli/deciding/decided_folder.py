"""The folder that a decision is about: its names, and the way into its decisions.yaml."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from fluid_build.cli import failures, messages
from fluid_build.cli.deciding.screen import recorded_document, recorded_screen
from fluid_build.cli.deciding.targets import FolderNames, folder_model, folder_names
from fluid_build.cli.options import Debug, Json
from fluid_build.cli.recording import record
from fluid_build.cli.typed_decisions import typed_decision
from fluid_build.modeling.logical import LogicalModel
from fluid_build.report.terminal.printing import show

Reason: TypeAlias = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why: goes into the file with the decision.")
]
Insist: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--despite-violations",
        help="Write it although the data contradicts it: the contract then says so, with the"
        " count.",
    ),
]
_FOLDER = "folder"
"""The name of the argument of ``fluid decide`` itself."""


@dataclass(frozen=True, slots=True)
class DecisionOptions:
    """Options of every decision."""

    reason: Reason = ""
    json: Json = False
    _debug: Debug = False

    @property
    def fields(self) -> dict[str, object]:
        """Return the fields of the decision that they set."""
        return {"reason": self.reason}


@dataclass(frozen=True, slots=True)
class ClaimOptions:
    """Options of a decision that the data can contradict."""

    reason: Reason = ""
    despite_violations: Insist = False
    json: Json = False
    _debug: Debug = False

    @property
    def fields(self) -> dict[str, object]:
        """Return the fields of the decision that they set."""
        return {"reason": self.reason, "despite_violations": self.despite_violations}


class DecidedFolder:
    """The folder that a command line is about, and the names in it."""

    def __init__(self, context: typer.Context) -> None:
        assert context.parent is not None
        self.folder: Path = context.parent.params[_FOLDER]
        self.model: LogicalModel | None = folder_model(self.folder)
        self.names: FolderNames = folder_names(self.model)
        self._interrupts = context.obj

    def decide(
        self, kind: str, fields: Mapping[str, object], options: DecisionOptions | ClaimOptions
    ) -> int:
        """Check and write a decision, show what became of it, and return the exit code."""
        decision = typed_decision(
            {**fields, **options.fields, "decision": kind},
            complaint="This isn't a valid decision",
            hint=f"Run `fluid decide DIR {kind.replace('_', '-')} --help`.",
        )
        recorded = record(self.folder, decision, self.model, self._interrupts)
        if options.json:
            messages.show_json(recorded_document(self.folder, recorded))
        else:
            show(recorded_screen(self.folder, recorded))
        return failures.DONE if recorded.is_written else failures.CHECK_FAILED
