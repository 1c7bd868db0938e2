"""``fluid runs``: the forges that are recorded, and the way back into one that was interrupted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column

from fluid_build.cli import failures, messages
from fluid_build.cli.forging.receipt_screen import receipt_section
from fluid_build.cli.forging.report import run_document
from fluid_build.cli.forging.runs import (
    STOPS,
    Reporting,
    addresses,
    report,
    report_stop,
)
from fluid_build.cli.forging.stage_lines import dollars, print_line, watching
from fluid_build.cli.invocation import fluid, path_from_here
from fluid_build.cli.options import Debug, Json, JsonLines, MaxCost, ReceiptFile
from fluid_build.cli.reading.source_session import open_sources
from fluid_build.cli.run_page import write_run_page
from fluid_build.copilot.cost import parse_cost_limit
from fluid_build.copilot.store.configured import open_store
from fluid_build.errors import FluidError, UsageError
from fluid_build.json_types import JsonObject
from fluid_build.pipeline.receipt import Receipt
from fluid_build.pipeline.requests import ForgeRequest
from fluid_build.pipeline.running import RunResult, refuse_other_version, resume_run
from fluid_build.pipeline.runs import KEPT_RUNS, RunLog, RunRecord
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import (
    Copyable,
    Part,
    first_line,
    heading,
    indented,
    more,
    text,
    unbroken,
    whole,
)
from fluid_build.report.terminal.unbroken_grid import Grid
from fluid_build.sources.addresses.kinds import RemoteKind
from fluid_build.sources.combined import SourceRequest
from fluid_build.sources.uri import Address, locate
from fluid_build.text import counted

_MOST_LISTED = 40

Html = Annotated[
    bool, typer.Option("--html", help="Draw a timeline of the run, as a page of its own.")
]
RunId = Annotated[str, typer.Argument(metavar="RUN", help="The id of a run.")]
Uri = Annotated[
    str | None,
    typer.Option(
        "--uri", metavar="URI", help="The source's URI again, if it has a password: none is stored."
    ),
]
AcceptChangedCode = Annotated[
    bool,
    typer.Option(
        "--accept-changed-code", help="Resume a run that another version of Fluid Forge made."
    ),
]


def list_runs(json: Json = False, _debug: Debug = False) -> int:
    """List the runs that are recorded, newest first.

    \b
    Example:  fluid runs list
    """
    log = RunLog(open_store())
    records = log.records()
    if json:
        messages.show_json({"runs": [_summary(log, record) for record in records]})
    else:
        show(_list_screen(log, records))
    return failures.DONE


def show_run(run: RunId, html: Html = False, json: Json = False, _debug: Debug = False) -> int:
    """Show what a run was asked, how far it came, and its receipt.

    With --html, what it did is drawn on a timeline, which is written to run-RUN.html: of a forge,
    and of an agent's saved run whose program recorded it.

    \b
    Example:  fluid runs show 3f9a12bc --html
    """
    if html:
        return write_run_page(open_store(), run, as_json=json)
    log = RunLog(open_store())
    record = log.get(run)
    if json:
        request = record.request.model_dump(mode="json")
        receipt = None if record.receipt is None else record.receipt.model_dump(mode="json")
        messages.show_json({**_summary(log, record), "request": request, "receipt": receipt})
    else:
        show(_run_screen(log, record))
    return failures.DONE


def resume(
    context: typer.Context,
    run: RunId,
    max_cost: MaxCost = None,
    uri: Uri = None,
    accept_changed_code: AcceptChangedCode = False,
    receipt: ReceiptFile = None,
    json: Json = False,
    json_lines: JsonLines = False,
    _debug: Debug = False,
) -> int:
    """Resume a run that was interrupted, killed or stopped, where it was.

    The files are those that the run would have written undisturbed. Answers of a model that had
    arrived aren't paid for again.

    \b
    Example:  fluid runs resume 3f9a12bc --max-cost 5
    """
    store = open_store()
    log = RunLog(store)
    record = log.get(run)
    if record.state == "finished":
        return _report_finished(record, as_json=json or json_lines)
    receipt = None if receipt is None else receipt.absolute()
    refuse_other_version(record, accept_changed_code)
    record = _with_limit(record, max_cost)
    request = record.request
    stopped: FluidError | None = None
    with contextlib.ExitStack() as stack:
        _enter_folder(stack, record)
        sources = _sources(record, uri)
        on_progress = stack.enter_context(messages.progress())
        try:
            with open_sources(sources, request.name, context.obj, on_progress) as source:
                result = resume_run(
                    source,
                    store,
                    record,
                    accept_changed_code=accept_changed_code,
                    watching=watching(on_progress, request, json_lines=json_lines),
                )
        except STOPS as error:
            stopped = error
    # From here on, paths start where the user is: printed commands are pasted there.
    if stopped is not None:
        return report_stop(stopped, run, as_json=json)
    reporting = Reporting(json, json_lines, receipt)
    return _report_from_here(result, request, addresses(sources, source), reporting)


def _report_from_here(
    result: RunResult,
    request: ForgeRequest,
    places: Mapping[str, Address],
    reporting: Reporting,
) -> int:
    """Report a run with its paths as they are from the current folder; return the exit code."""
    files = tuple(_from_here(request, path) for path in result.forged.files)
    return report(
        replace(result, forged=replace(result.forged, files=files)),
        request.model_copy(update={"out": _from_here(request, request.out)}),
        {name: _address_from_here(request, address) for name, address in places.items()},
        reporting,
    )


def _from_here(request: ForgeRequest, path: Path) -> Path:
    """Return a path of a run, which starts in the run's folder, as one from the current folder."""
    if request.folder == Path.cwd():
        return path
    return Path(path_from_here(str(request.folder / path)))


def _address_from_here(request: ForgeRequest, address: Address) -> Address:
    if isinstance(address.kind, RemoteKind):
        return address
    return replace(address, place=str(_from_here(request, Path(address.place))))


def remove(run: RunId, json: Json = False, _debug: Debug = False) -> int:
    """Remove the record of a run and what is saved to resume it; its files stay.

    \b
    Example:  fluid runs rm 3f9a12bc
    """
    RunLog(open_store()).remove(run)
    if json:
        messages.show_json({"removed": run})
    else:
        messages.tell(f"Removed the run {run}.")
    return failures.DONE


def _with_limit(record: RunRecord, max_cost: str | None) -> RunRecord:
    if max_cost is None:
        return record
    limit = parse_cost_limit(max_cost, "--max-cost")
    request = record.request.model_copy(update={"max_cost": limit})
    return record.model_copy(update={"request": request})


def _enter_folder(stack: contextlib.ExitStack, record: RunRecord) -> None:
    """Work in the folder where the run was started: its relative paths begin there."""
    folder = record.request.folder
    if not folder.is_dir():
        raise UsageError(
            f"The run {record.id} was started in {folder}, which doesn't exist any more.",
            hint="Restore the folder, or start a new run.",
        )
    if folder != Path.cwd():
        messages.tell(f"Working in {folder}, where the run began: paths start there.")
    stack.enter_context(contextlib.chdir(folder))


def _report_finished(record: RunRecord, *, as_json: bool) -> int:
    """Say where the files of a finished run are, and return the exit code that it ended with."""
    receipt = record.receipt
    assert receipt is not None
    folder = record.request.folder / record.request.out
    messages.tell(f"The run {record.id} is finished. Its files are in {folder}.")
    if as_json:
        print_line({"folder": str(folder), **run_document(receipt)})
    has_failed = receipt.errors or receipt.proof_verdict == "lost"
    return failures.CHECK_FAILED if has_failed else failures.DONE


def _sources(record: RunRecord, uri: str | None) -> Sequence[SourceRequest]:
    places = record.request.sources
    if uri is not None and len(places) != 1:
        raise UsageError(
            "--uri gives one address, and the run reads several sources.",
            hint="Give the servers' passwords in the environment (PGPASSWORD).",
        )
    return [place.request(None if uri is None else locate(uri)) for place in places]


def _summary(log: RunLog, record: RunRecord) -> JsonObject:
    spent = log.spent(record)
    return {
        "run": record.id,
        "state": log.shown_state(record),
        "command": record.request.command,
        "sources": [place.place for place in record.request.sources],
        "folder": str(record.request.folder / record.request.out),
        "technique": record.request.options.technique,
        "version": record.version,
        "started": _iso(record.started),
        "ended": None if record.ended is None else _iso(record.ended),
        "cost_usd": None if spent is None else str(spent),
        "error": record.error,
    }


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _list_screen(log: RunLog, records: Sequence[RunRecord]) -> Iterator[Part]:
    if not records:
        yield text("No runs are recorded. `fluid forge` records each one.")
        return
    yield first_line("Runs", f"the latest {KEPT_RUNS} finished ones are kept")
    grid = Grid(Column("run"), Column("state"), Column("started"), Column("folder"), Column("cost"))
    for record in records[:_MOST_LISTED]:
        spent, has_model = log.spent(record), record.request.model_use.model is not None
        grid.add_row(
            unbroken(record.id),
            text(_state_label(log, record)),
            text(_local(record.started)),
            unbroken(str(record.request.folder / record.request.out)),
            text(dollars(spent) if spent is not None and has_model else ""),
        )
    yield indented(grid)
    yield from more(len(records) - _MOST_LISTED, ": see --json")


def _run_screen(log: RunLog, record: RunRecord) -> Iterator[Part]:
    state, request = log.shown_state(record), record.request
    started = f"started {_local(record.started)}"
    yield first_line(f"Run {record.id}", f"{_state_label(log, record)}, {started}")
    for place in request.sources:
        yield indented(f"Source: {whole(place.place)}")
    yield indented(f"Folder: {whole(request.folder / request.out)}")
    yield indented(f"Technique: {request.options.technique}, Fluid Forge {record.version}")
    if record.error and state != "finished":
        yield indented(f"Stopped: {record.error}", "red")
    if record.receipt is not None:
        yield from _receipt(record.receipt)
    if state in {"interrupted", "stopped"}:
        yield heading("Next")
        yield Copyable("# go on where it stopped", "dim")
        yield Copyable(fluid("runs", "resume", record.id))


def _state_label(log: RunLog, record: RunRecord) -> str:
    state = log.shown_state(record)
    has_failed_model = record.receipt is not None and record.receipt.fallback_used
    return f"{state}, model failed" if has_failed_model else state


def _receipt(receipt: Receipt) -> Iterator[Part]:
    tables = ", ".join(f"{number:,} {verdict}" for verdict, number in receipt.proof.items())
    yield indented(f"Proof: {receipt.proof_verdict} ({tables or 'no tables'})")
    files, relations = len(receipt.files), len(receipt.relations)
    yield indented(f"Made: {counted(relations, 'relation')}, {counted(files, 'file')}")
    standards = (f"{standard} {verdict}" for standard, verdict in receipt.conformance.items())
    yield indented(f"Conformance: {', '.join(standards)}")
    yield from receipt_section(receipt)
    yield heading("Stages")
    grid = Grid(Column("stage"), Column("seconds"), Column("tokens"), Column("cost"))
    for stage in receipt.stages:
        tokens = stage.input_tokens + stage.output_tokens
        grid.add_row(
            unbroken(stage.name),
            text(f"{stage.seconds:.2f}"),
            text(f"{tokens:,}" if tokens else ""),
            text(dollars(stage.cost_usd) if tokens else ""),
        )
    yield indented(grid)
    if receipt.cost.agents:
        yield heading("Agents")
        for row in receipt.cost.agents:
            cost = "unknown price" if row.cost_usd is None else dollars(row.cost_usd)
            used = counted(row.input_tokens + row.output_tokens, "token")
            yield indented(f"{row.name}: {counted(row.calls, 'call')}, {used}, {cost}")


def _local(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
