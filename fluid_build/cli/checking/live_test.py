"""``fluid test``: whether live data keeps what a contract promises."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column
from rich.text import Text

from fluid_build.artifacts import write_artifacts
from fluid_build.cli import failures, messages
from fluid_build.cli.option_groups import with_option_groups
from fluid_build.cli.options import Debug, Json
from fluid_build.cli.reading.read_arguments import DataReading
from fluid_build.cli.reading.source_session import source_session
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
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import (
    Part,
    Query,
    heading,
    indented,
    more,
    text,
    unbroken,
    whole,
)
from fluid_build.report.terminal.unbroken_grid import Grid
from fluid_build.sources.addresses.kinds import RemoteKind
from fluid_build.sources.options import READ_ALL
from fluid_build.sources.outside import check_outside
from fluid_build.sources.uri import locate
from fluid_build.text import counted

_MOST_EXPOSES_IN_FULL = 25
_MOST_EXPOSES = 20
_MOST_OF_AN_EXPOSE = 12
_MOST_BROKEN_PROMISES = 40
_LONGEST_REASON = 400
_MARKS = {"failed": ("failed", "red"), "warn": ("warning", "yellow"), "info": ("note", "cyan")}


@with_option_groups
def test(
    context: typer.Context,
    contract: Annotated[
        Path, typer.Argument(metavar="CONTRACT", help="A FLUID contract, YAML or JSON.")
    ],
    uri: Annotated[
        str, typer.Option("--uri", metavar="URI", help="Where the data is: a URI, file or folder.")
    ],
    read: DataReading = READ_ALL,
    junit: Annotated[
        Path | None,
        typer.Option("--junit", metavar="FILE", help="Write the result as JUnit XML as well."),
    ] = None,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Test live data against a contract.

    Checks its tables, columns, types and quality rules. Fails if a rule of severity error is
    broken; broken warnings are shown. No SQL from the contract is run, and no value from the data
    is printed.

    \b
    Example:  fluid test contract.fluid.yaml --uri duckdb:///warehouse.duckdb
    """
    promised = parse_contract(read_contract(contract))
    if junit is not None:
        _check_not_an_input(junit, contract, uri)
    with (
        messages.progress() as on_progress,
        source_session(uri, context.obj, read=read, on_progress=on_progress) as source,
    ):
        now = datetime.now(UTC).replace(tzinfo=None)
        result = check_live(promised, source, now=now, on_progress=on_progress)
    if junit is not None:
        write_artifacts(junit.parent, {junit.name: junit_xml(result)})
    if json:
        messages.show_json(result_document(result))
    else:
        show(_screen(contract, result))
    return failures.DONE if result.passed else failures.CHECK_FAILED


def _check_not_an_input(junit: Path, contract: Path, uri: str) -> None:
    """UsageError where the result would be written over, or among, the files that are read."""
    address = locate(uri)
    check_outside(junit, address)
    inputs = [contract] if isinstance(address.kind, RemoteKind) else [contract, Path(address.place)]
    if junit.resolve() in [path.resolve() for path in inputs]:
        raise UsageError(
            f"{junit} is an input of the test.", hint="Choose another file with --junit."
        )


def _screen(contract: Path, result: LiveResult) -> Iterator[Part]:
    verb, colour = ("satisfies", "green") if result.passed else ("violates", "red")
    yield Text.assemble(
        text(result.source_name, "bold"), text(f" {verb} ", colour), text(whole(contract), "bold")
    )
    yield indented(_figures(result), "dim")
    yield heading("Tables")
    yield indented(_overview(result))
    yield from more(len(result.exposes) - len(_first_exposes(result.exposes)), ": see --json")
    yield from _missing_tables(result)
    yield from _broken_promises(result)
    yield from _unchecked(result)


def _figures(result: LiveResult) -> str:
    numbers = counts(result)
    figures = [
        counted(numbers["passed"], "check") + " passed",
        f"{numbers['failed']:,} failed",
        counted(numbers["warnings"], "warning"),
        counted(numbers["notes"], "note"),
        f"{numbers['not_checked']:,} not checked",
    ]
    return ", ".join(figures) + "."


def _overview(result: LiveResult) -> Grid:
    has_other_names = any(expose.table != expose.expose_id for expose in result.exposes)
    tables = ["table"] if has_other_names else []
    titles = ("rows", "passed", "failed", "warnings", "not checked")
    grid = Grid(
        Column("expose", style="cyan"),
        *tables,
        *(Column(title, justify="right") for title in titles),
    )
    for expose in _first_exposes(result.exposes):
        names = [expose.expose_id, *(expose.table or "not there" for _ in tables)]
        grid.add_row(*map(unbroken, names), *_overview_figures(expose))
    return grid


def _first_exposes(exposes: Sequence[ExposeResult]) -> Sequence[ExposeResult]:
    """Return the exposes to list: of many those with failures first, then those with warnings."""
    if len(exposes) <= _MOST_EXPOSES_IN_FULL:
        return exposes
    return sorted(exposes, key=_soundness)[:_MOST_EXPOSES]


def _soundness(expose: ExposeResult) -> tuple[int, int]:
    """Sort the exposes with the most failures first."""
    failed = sum(check.fails for check in expose.checks)
    return -failed, -sum(check.warns for check in expose.checks)


def _overview_figures(expose: ExposeResult) -> Iterator[Text]:
    yield text(f"{expose.rows:,}" if expose.rows is not None else "-")
    figures = (
        (sum(check.status == "passed" for check in expose.checks), ""),
        (sum(check.fails for check in expose.checks), "red"),
        (sum(check.warns for check in expose.checks), "yellow"),
        (sum(check.status == "not_checked" for check in expose.checks), ""),
    )
    for number, style in figures:
        yield text(f"{number:,}", style) if number else text("-", "dim")


def _missing_tables(result: LiveResult) -> Iterator[Part]:
    missing = [
        (expose.expose_id, check.observed)
        for expose in result.exposes
        for check in expose.checks
        if check.type == "table" and check.status == "failed"
    ]
    if missing:
        yield heading("Missing", counted(len(missing), "table"))
    for expose_id, observed in missing[:_MOST_OF_AN_EXPOSE]:
        yield indented(_labelled("failed", "red", expose_id, observed))
    yield from more(len(missing) - _MOST_OF_AN_EXPOSE, ": see --json")


def _broken_promises(result: LiveResult) -> Iterator[Part]:
    room, unlisted = _MOST_BROKEN_PROMISES, 0
    for expose in sorted(result.exposes, key=_soundness):
        broken = [
            check for check in expose.checks if check.status == "failed" and check.type != "table"
        ]
        if not broken:
            continue
        if room <= 0:
            unlisted += len(broken)
            continue
        yield heading(expose.expose_id, _by_severity(expose))
        ranked = sorted(broken, key=lambda check: (not check.fails, not check.warns))
        shown = ranked[: min(room, _MOST_OF_AN_EXPOSE)]
        for check in shown:
            yield from _broken_promise(check)
        yield from more(len(ranked) - len(shown), ": see --json")
        room -= len(shown)
    if unlisted:
        yield heading("Further", f"{unlisted:,}: see --json")


def _by_severity(expose: ExposeResult) -> str:
    """Return how many promises are broken; what doesn't fail the test isn't called so."""
    numbers = counts(expose)
    words = {"failed": "broken promise", "warnings": "warning", "notes": "note"}
    return ", ".join(counted(numbers[kind], word) for kind, word in words.items() if numbers[kind])


def _broken_promise(check: CheckResult) -> Iterator[Part]:
    label, style = _MARKS["failed" if check.fails else "warn" if check.warns else "info"]
    figures = f"{check.observed}; expected {check.expected}"
    yield indented(_labelled(label, style, check.id, figures))
    if check.type == "uniqueness" and check.description:
        # Which key it is, and what to do, can't be seen from the columns of a hash.
        yield indented(check.description[:_LONGEST_REASON], by=4)
    if check.sql and check.violations:
        yield Query(check.sql)


def _labelled(label: str, style: str, subject: str, remark: str) -> Text:
    return Text.assemble(text(label, style), text(f"  {subject}", "bold"), text(f"  {remark}"))


def _unchecked(result: LiveResult) -> Iterator[Part]:
    by_reason: dict[str, list[str]] = {}
    for check in result.checks:
        if check.status == "not_checked":
            by_reason.setdefault(check.reason, []).append(check.id)
    if by_reason:
        yield heading("Not checked", counted(sum(map(len, by_reason.values())), "promise"))
    for reason, ids in by_reason.items():
        more_ids = f" and {len(ids) - 1:,} more" if len(ids) > 1 else ""
        yield indented(Text.assemble(text(ids[0] + more_ids, "bold"), text(f"  {reason}")))
