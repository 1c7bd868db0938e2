"""``fluid test``: whether live data keeps what a contract promises."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from fluid_build.artifacts import write_artifacts
from fluid_build.cli import failures, screen
from fluid_build.cli.grid import Grid
from fluid_build.cli.kinds import check_outside
from fluid_build.cli.options import Debug, Json, Schemas
from fluid_build.cli.reading import reading
from fluid_build.contract.live import (
    CheckResult,
    ExposeResult,
    LiveResult,
    check_live,
    junit_xml,
    result_document,
)
from fluid_build.contract.live.report import counts
from fluid_build.contract.read.files import read_contract
from fluid_build.contract.validation import parse_contract
from fluid_build.errors import UsageError
from fluid_build.sources.kinds import ServerKind
from fluid_build.sources.uri import locate
from fluid_build.text import counted

_MOST_OF_AN_EXPOSE = 12
_LONGEST_REASON = 400
_MARKS = {"failed": ("failed", "red"), "warn": ("warning", "yellow"), "info": ("note", "cyan")}


def test(
    context: typer.Context,
    contract: Annotated[
        Path, typer.Argument(metavar="CONTRACT", help="A FLUID contract, YAML or JSON.")
    ],
    uri: Annotated[
        str, typer.Option("--uri", metavar="URI", help="Where the data is: a URI, file or folder.")
    ],
    schema: Schemas = None,
    junit: Annotated[
        Path | None,
        typer.Option("--junit", metavar="FILE", help="Write the result as JUnit XML as well."),
    ] = None,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Test live data against a contract.

    Its tables, columns, types and quality rules. Fails where a promise of the severity error is
    broken; broken warnings are shown. No SQL of the contract is run, and no value of the data is
    printed.

    \b
    Example:  fluid test contract.fluid.yaml --uri duckdb:///warehouse.duckdb
    """
    promised = parse_contract(read_contract(contract))
    if junit is not None:
        _check_free(junit, contract, uri)
    with (
        screen.progress() as on_progress,
        reading(uri, context.obj, schemas=schema or (), on_progress=on_progress) as source,
    ):
        now = datetime.now(UTC).replace(tzinfo=None)
        result = check_live(promised, source, now=now, on_progress=on_progress)
    if junit is not None:
        write_artifacts(junit.parent, {junit.name: junit_xml(result)})
    if json:
        screen.show_json(result_document(result))
    else:
        screen.show(_verdict(contract, result))
    return failures.DONE if result.passed else failures.CHECK_FAILED


def _check_free(junit: Path, contract: Path, uri: str) -> None:
    """UsageError where the result would be written over, or among, what is read."""
    address = locate(uri)
    check_outside(junit, address)
    read = [contract] if isinstance(address.kind, ServerKind) else [contract, Path(address.place)]
    if junit.resolve() in [path.resolve() for path in read]:
        raise UsageError(
            f"{junit} is what is read; it is never written to.",
            hint="Name another file with --junit.",
        )


def _verdict(contract: Path, result: LiveResult) -> Iterator[screen.Part]:
    kept, colour = ("keeps", "green") if result.passed else ("breaks", "red")
    yield Text.assemble(
        screen.text(result.source_name, "bold"),
        screen.text(f" {kept} ", colour),
        screen.text(str(contract), "bold"),
    )
    yield screen.text(f"  {_in_figures(result)}", "dim")
    yield screen.heading("Tables")
    yield Padding(_overview(result), (0, 0, 0, 2))
    yield from _missing(result)
    yield from _broken(result)
    yield from _unchecked(result)


def _in_figures(result: LiveResult) -> str:
    found = counts(result)
    parts = [
        counted(found["passed"], "check") + " passed",
        f"{found['failed']:,} failed",
        counted(found["warnings"], "warning"),
        counted(found["notes"], "note"),
        f"{found['not_checked']:,} not checked",
    ]
    return ", ".join(parts) + "."


def _overview(result: LiveResult) -> RenderableType:
    grid = Grid()
    elsewhere = any(expose.table != expose.expose_id for expose in result.exposes)
    grid.add_column("expose", style="cyan")
    if elsewhere:
        grid.add_column("table")
    grid.add_column("rows", justify="right")
    for name in ("passed", "failed", "warnings", "not checked"):
        grid.add_column(name, justify="right")
    for expose in result.exposes:
        place = [expose.table if expose.table is not None else "not there"] if elsewhere else []
        names = [screen.name(name) for name in (expose.expose_id, *place)]
        grid.add_row(*names, *_overview_figures(expose))
    return grid


def _overview_figures(expose: ExposeResult) -> Iterator[Text]:
    yield screen.text(f"{expose.rows:,}" if expose.rows is not None else "-")
    figures = (
        (sum(check.status == "passed" for check in expose.checks), ""),
        (sum(check.fails for check in expose.checks), "red"),
        (sum(check.warns for check in expose.checks), "yellow"),
        (sum(check.status == "not_checked" for check in expose.checks), ""),
    )
    for number, style in figures:
        yield screen.text(f"{number:,}", style) if number else screen.text("-", "dim")


def _missing(result: LiveResult) -> Iterator[screen.Part]:
    """The tables that should be there, most of which have the same to say: nothing."""
    missing = [
        (expose.expose_id, check.observed)
        for expose in result.exposes
        for check in expose.checks
        if check.type == "table" and check.status == "failed"
    ]
    if not missing:
        return
    yield screen.heading("Missing", counted(len(missing), "table"))
    for expose_id, observed in missing:
        line = Text.assemble(
            screen.text("failed", "red"),
            screen.text(f"  {expose_id}", "bold"),
            screen.text(f"  {observed}"),
        )
        yield Padding(line, (0, 0, 0, 2))


def _broken(result: LiveResult) -> Iterator[screen.Part]:
    for expose in result.exposes:
        broken = [
            check for check in expose.checks if check.status == "failed" and check.type != "table"
        ]
        if not broken:
            continue
        yield screen.heading(expose.expose_id, counted(len(broken), "broken promise"))
        ranked = sorted(broken, key=lambda check: (not check.fails, not check.warns))
        for check in ranked[:_MOST_OF_AN_EXPOSE]:
            yield Padding(_finding(check), (0, 0, 0, 2))
            if check.type == "uniqueness" and check.description:
                # Which key it is, and what to do, can't be seen by the columns of a hash.
                yield Padding(screen.text(check.description[:_LONGEST_REASON]), (0, 0, 0, 4))
            if check.sql and check.violations:
                yield screen.Query(check.sql)
        left = len(ranked) - _MOST_OF_AN_EXPOSE
        if left > 0:
            yield screen.text(f"  and {left:,} more: see --json", "dim")


def _finding(check: CheckResult) -> Text:
    word, style = _MARKS["failed" if check.fails else "warn" if check.warns else "info"]
    return Text.assemble(
        screen.text(word, style),
        screen.text(f"  {check.id}", "bold"),
        screen.text(f"  {check.observed}; expected {check.expected}"),
    )


def _unchecked(result: LiveResult) -> Iterator[screen.Part]:
    by_reason: dict[str, list[str]] = {}
    for check in result.checks:
        if check.status == "not_checked":
            by_reason.setdefault(check.reason, []).append(check.id)
    if not by_reason:
        return
    total = sum(map(len, by_reason.values()))
    yield screen.heading("Not checked", counted(total, "promise"))
    for reason, ids in by_reason.items():
        more = f" and {len(ids) - 1:,} more" if len(ids) > 1 else ""
        line = Text.assemble(screen.text(ids[0] + more, "bold"), screen.text(f"  {reason}"))
        yield Padding(line, (0, 0, 0, 2))
