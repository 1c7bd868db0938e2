"""A forge as a run: recorded before it starts, watched, reported, and resumed where it stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fluid_build.artifacts import restore_interrupted, write_artifacts
from fluid_build.cli import failures, messages
from fluid_build.cli.forging.dry_run_screen import dry_run_document, dry_run_screen
from fluid_build.cli.forging.report import report_run
from fluid_build.cli.forging.stage_lines import print_line, watching
from fluid_build.cli.interrupts import Interrupts
from fluid_build.cli.reading.source_session import open_sources
from fluid_build.copilot.errors import AgentExecutionError, CostLimitExceeded, RunOwnedError
from fluid_build.copilot.store.configured import open_store
from fluid_build.decisions.language import AnyDecision
from fluid_build.errors import FluidError
from fluid_build.forging import ForgeOptions
from fluid_build.forging.decision_files import folder_decisions, with_decisions
from fluid_build.forging.options import file_name
from fluid_build.forging.table_choice import as_decided, as_in_folder
from fluid_build.pipeline.dry_run import dry_run
from fluid_build.pipeline.receipt import Receipt
from fluid_build.pipeline.requests import ForgeRequest, ModelUse, SourcePlace
from fluid_build.pipeline.running import RunResult, begin_run, start_run
from fluid_build.pipeline.sessions import configured, requested_model
from fluid_build.progress import OnProgress
from fluid_build.report.terminal.printing import show
from fluid_build.sources.base import Source
from fluid_build.sources.combined import CombinedSource, SourceRequest
from fluid_build.sources.uri import Address
from fluid_build.text import listed

if TYPE_CHECKING:
    from fluid_build.pipeline.intent.intent import Intent

STOPS = (CostLimitExceeded, RunOwnedError, AgentExecutionError)
"""Errors of a run that did what it was told and had to stop: they end with exit code 1."""

_CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class ForgeCommand:
    """A command's arguments, checked. ``out`` is None for a folder named after the source.

    ``decisions`` is a file of decisions, None for that of the folder; ``added`` are further ones.
    ``intent`` is what the business wants, to be anchored in the source.
    """

    command: Literal["from-source", "from-ddl", "from-intent"]
    sources: tuple[SourceRequest, ...]
    options: ForgeOptions
    model_use: ModelUse
    name: str | None = None
    decisions: Path | None = None
    out: Path | None = None
    overwrite: bool = False
    is_preview: bool = False
    max_cost: Decimal | None = None
    added: tuple[AnyDecision, ...] = ()
    intent: Intent | None = None

    def request(self, source: Source) -> ForgeRequest:
        """Return the request for an open source, without passwords."""
        out = self.out or Path(f"{file_name(source.name)}-model")
        return ForgeRequest(
            command=self.command,
            folder=Path.cwd(),
            sources=tuple(SourcePlace.of(request) for request in self.sources),
            name=self.name,
            options=self._decided_options(out, source),
            goal="" if self.intent is None else self.intent.goal,
            out=out,
            overwrite=self.overwrite,
            is_preview=self.is_preview,
            model_use=self.model_use,
            max_cost=self.max_cost,
        )

    def _decided_options(self, out: Path, source: Source) -> ForgeOptions:
        """Return the options with the decisions of the file, and what the command adds to them."""
        restore_interrupted(out)
        recorded = folder_decisions(out, self.decisions, overwrite=self.overwrite)
        followed = with_decisions(recorded, (*self._intended(source), *self.added))
        return replace(self.options, decisions=followed.decisions, decisions_text=followed.text)

    def _intended(self, source: Source) -> tuple[AnyDecision, ...]:
        """Return the intent as decisions, and say which parts of it the source doesn't have."""
        if self.intent is None:
            return ()
        # Only from-intent waits for this import.
        from fluid_build.pipeline.intent.anchoring import anchored

        anchor = anchored(self.intent, source.tables)
        if anchor.missing:
            messages.tell(
                f"The source doesn't have what the intent calls {listed(anchor.missing)}."
            )
        return anchor.decisions


@dataclass(frozen=True, slots=True)
class Reporting:
    """How a command reports its result."""

    json: bool = False
    json_lines: bool = False
    receipt: Path | None = None
    is_dry: bool = False


def forge_sources(command: ForgeCommand, interrupts: Interrupts, reporting: Reporting) -> int:
    """Forge sources into a folder, and return the exit code."""
    command = replace(command, sources=as_in_folder(command.out, command.sources))
    with configured(command.model_use):
        requested_model(command.model_use)  # Nothing is read for a model that isn't configured.
    store = open_store()
    run_id = ""
    with messages.progress() as on_progress:
        try:
            with _opened(command, interrupts, on_progress) as (source, request):
                if reporting.is_dry:
                    return report_dry_run(source, request, on_progress, reporting)
                store, record, notes = begin_run(store, request)
                run_id = record.id
                watched = watching(on_progress, request, json_lines=reporting.json_lines)
                result = start_run(source, store, record, watching=watched, notes=notes)
        except STOPS as error:
            stopped = error
        else:
            return report(result, request, addresses(command.sources, source), reporting)
    return report_stop(stopped, run_id, as_json=reporting.json)


@contextmanager
def _opened(
    command: ForgeCommand, interrupts: Interrupts, on_progress: OnProgress
) -> Iterator[tuple[Source, ForgeRequest]]:
    """Yield the open sources, and the request for them.

    They are opened again where decisions make other tables of them: which folder has the decisions
    may follow from the source's name.
    """
    with ExitStack() as opened:
        source = opened.enter_context(
            open_sources(command.sources, command.name, interrupts, on_progress)
        )
        request = command.request(source)
        decided = as_decided(command.sources, request.options.decisions)
        if decided != command.sources:
            opened.close()
            command = replace(command, sources=decided)
            source = opened.enter_context(
                open_sources(decided, command.name, interrupts, on_progress)
            )
            request = command.request(source)
        yield source, request


def report(
    result: RunResult,
    request: ForgeRequest,
    places: dict[str, Address],
    reporting: Reporting,
) -> int:
    """Show the result of a run, write its receipt where that is asked for; return the exit code."""
    if reporting.receipt is not None:
        write_receipt(reporting.receipt, result.receipt)
    return report_run(
        result,
        request,
        places,
        as_json=reporting.json or reporting.json_lines,
        as_line=reporting.json_lines,
    )


def report_dry_run(
    source: Source, request: ForgeRequest, on_progress: OnProgress, reporting: Reporting
) -> int:
    """Show what a run would ask and write; return the exit code."""
    planned = dry_run(source, request, on_progress)
    if reporting.json_lines:
        print_line(dry_run_document(request.out, planned))
    elif reporting.json:
        messages.show_json(dry_run_document(request.out, planned))
    else:
        show(dry_run_screen(request.out, planned))
    return failures.DONE


def report_stop(error: FluidError, run_id: str, *, as_json: bool = False) -> int:
    """Say why a run had to stop and how to go on; return the exit code."""
    message, hint, command = error.message, error.hint or "", error.command
    if isinstance(error, CostLimitExceeded):
        higher = max(error.total_usd, error.limit_usd * 2).quantize(_CENT) + _CENT
        message = f"The run {run_id} stopped at its cost limit. {over_limit(error)}"
        hint = "What was paid for is kept. Raise the limit to go on:"
        command = f"fluid runs resume {run_id} --max-cost {higher:.2f}"
    elif isinstance(error, AgentExecutionError) and run_id:
        message = f"The run {run_id} needs its model, which failed: {message}"
        hint = f"{hint} What was paid for is kept. Then go on:".strip()
        command = f"fluid runs resume {run_id}"
    failure = failures.Failure(message, hint, (command,) if command else ())
    return failures.tell(error, failure, failures.CHECK_FAILED, as_json=as_json)


def addresses(requests: Sequence[SourceRequest], source: Source) -> dict[str, Address]:
    """Return the addresses of the sources by name, "" for the only one."""
    names = [part.name for part in source.parts] if isinstance(source, CombinedSource) else [""]
    return {name: request.address for name, request in zip(names, requests, strict=True)}


def write_receipt(path: Path, receipt: Receipt) -> None:
    """Write a receipt as JSON, whole or not at all. Raises OutputError."""
    write_artifacts(path.parent, {path.name: receipt.model_dump_json(indent=2) + "\n"})


def over_limit(error: CostLimitExceeded) -> str:
    """Return by how much a run would pass its cost limit, as a sentence."""
    return (
        f"It could come to {_exact_dollars(error.total_usd)}, and the limit is"
        f" {_exact_dollars(error.limit_usd)}."
    )


def _exact_dollars(amount: Decimal) -> str:
    """Return an amount of US dollars with its first digits, however small it is."""
    return f"${Decimal(f'{amount:.3g}'):f}"
