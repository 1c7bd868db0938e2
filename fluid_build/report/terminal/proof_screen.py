"""What a proof looks like on a screen: green only where everything was compared and holds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from rich.table import Column
from rich.text import Text

from fluid_build.report.terminal.screen_parts import Part, heading, indented, more, text, unbroken
from fluid_build.report.terminal.unbroken_grid import Grid
from fluid_build.text import counted, listed_up_to
from fluid_build.transform.proof.delimited_text import TextProof
from fluid_build.transform.proof.differing_rows import DifferingRow
from fluid_build.transform.proof.figure_checks import FigureProof
from fluid_build.transform.proof.proof import (
    Proof,
    TableProof,
    TableVerdict,
    quarantine_sentences,
)

_MOST_TABLES_IN_FULL = 25
_MOST_TABLES = 20
"""Above the other bound, so that the verdict below them is still on the same screen."""
_MOST_TABLES_DETAILED = 5
_MOST_REMARKS = 12
"""Columns compared by value and files with other lines: enough to see what they are."""
_MOST_VALUES = 6
_IDENTIFYING = 2
"""How many columns of a row are shown to identify it: keys mostly come first."""

TICK = "✓ "
_VERDICTS: dict[TableVerdict, tuple[str, str]] = {
    "proven": ("same", "green"),
    "empty": ("empty", "dim"),
    "lost": ("lost", "bold red"),
    "not compared": ("not compared", "yellow"),
}

_RANKS: dict[TableVerdict, int] = {"lost": 0, "not compared": 1, "proven": 2, "empty": 3}


def proof_section(
    proof: Proof,
    title: str = "Proof",
    *,
    tick: str = TICK,
    complete: str = "proof.json",
    verdict: Text | None = None,
) -> Iterator[Part]:
    """Yield the figures of each table, the verdict, and where there is a loss its first rows.

    ``tick`` marks what holds, in green; give an empty one where a loss is shown next to this proof.
    ``complete`` is where all of the proof is. ``verdict`` takes the place of a proof's own that
    holds, where something else is worse.
    A proof that doesn't hold as a whole has no tick in any of its lines.
    """
    tick = tick if proof.holds else ""
    yield heading(title, "the build compared with the source")
    tables = _first_tables(proof.tables)
    yield indented(_figures(tables, tick))
    yield from more(len(proof.tables) - len(tables), f": see {complete}")
    by_value = [f"{table.table}.{column}" for table in proof.tables for column in table.by_value]
    if by_value:
        yield indented(
            f"Compared by value, not by original text: {listed_up_to(_MOST_REMARKS, by_value)}",
            "dim",
        )
    by_sums = [table.table for table in proof.tables if table.compared == "sums"]
    if by_sums:
        yield indented(
            f"Compared by the sums of row hashes: {listed_up_to(_MOST_REMARKS, by_sums)}"
            " (--exact compares row by row)",
            "dim",
        )
    left_out = [
        f"{table.table}: {lines}"
        for table in proof.tables
        if table.text
        for lines in table.text.left_out
    ]
    if left_out:
        remarks = "; ".join(left_out[:_MOST_REMARKS])
        yield indented(f"Lines that aren't rows: {remarks}", "dim")
        yield from more(len(left_out) - _MOST_REMARKS)
    nested = [
        f"{table.table}: {table.nested.sentence}"
        for table in proof.tables
        if table.nested and table.nested.holds
    ]
    if nested:
        yield indented(f"Nested data: {'; '.join(nested[:_MOST_REMARKS])}", "dim")
        yield from more(len(nested) - _MOST_REMARKS)
    yield from set_apart_lines(proof)
    yield Text()
    yield verdict if verdict and proof.holds else verdict_line(proof, tick=tick)
    lost = [table for table in proof.tables if table.verdict == "lost"]
    for table in lost[:_MOST_TABLES_DETAILED]:
        yield from _loss(table)
    if len(lost) > _MOST_TABLES_DETAILED:
        left = counted(len(lost) - _MOST_TABLES_DETAILED, "more table")
        yield Text()
        yield text(f"{complete} shows the rows of {left}.", "dim")


def set_apart_lines(proof: Proof) -> Iterator[Part]:
    """Yield which rows of which tables a load sets apart, for which rule, and what shows them."""
    sentences = list(quarantine_sentences(proof))
    for sentence in sentences[:_MOST_REMARKS]:
        yield indented(sentence, "yellow")
    yield from more(len(sentences) - _MOST_REMARKS)


def after_a_loss(proof: Proof) -> Iterator[Part]:
    """Yield what to do about a model that doesn't hold all of its source; nothing where it does."""
    if proof.verdict != "lost":
        return
    lost = [table for table in proof.tables if table.verdict == "lost"]
    columns = [f"{table.table}.{name}" for table in lost for name in _differing_by_value(table)]
    yield heading("What to do")
    if columns:
        yield indented(
            f"Keep the text of {listed_up_to(_MOST_VALUES, columns)} as it is, with"
            " `fluid decide DIR type TABLE.COLUMN --text` for each, and forge again."
        )
    yield indented(
        "If the source has changed meanwhile, forge again. If it hasn't, this is a bug in Fluid"
        " Forge: please report it, with the lines above and the relations that the file of the"
        " table in proof/ reads, after checking them for anything private."
    )


def _differing_by_value(table: TableProof) -> Sequence[str]:
    """Return the columns kept by value in which rows differ, or that are misread."""
    differs = {name for row in table.differing for name in row.differs}
    return [name for name in table.by_value if name in differs or name in table.misread]


def verdict_line(proof: Proof, *, tick: str = TICK, unproven: Sequence[str] = ()) -> Text:
    """Return the verdict in a line; ``unproven`` are files that say what is built otherwise."""
    if unproven and proof.verdict != "lost":
        names = listed_up_to(_MOST_VALUES, unproven)
        verb = "is" if len(unproven) == 1 else "are"
        return Text.assemble(
            text("Not proven. ", "bold yellow"),
            text(
                f"{names} {verb} kept as you edited it, and made for an earlier structure: what dbt"
                " builds with it isn't what was compared with the source."
            ),
        )
    if proof.verdict == "proven":
        rows = counted(sum(table.rows for table in proof.tables), "row")
        empty = sum(table.verdict == "empty" for table in proof.tables)
        remark = f", {empty:,} of them empty" if empty else ""
        return Text.assemble(
            text(f"{tick}Proven. ", "bold green" if tick else "bold"),
            text(f"{proof.reason} {rows} in {counted(len(proof.tables), 'table')}{remark}."),
        )
    if proof.verdict == "holds in the sample":
        return Text.assemble(
            text(f"{tick}Holds in the sample. ", "bold yellow"), text(proof.reason)
        )
    if proof.verdict == "lost":
        return Text.assemble(text("Lost. ", "bold red"), text(proof.reason))
    return Text.assemble(text("Not proven. ", "bold yellow"), text(proof.reason))


def _first_tables(tables: Sequence[TableProof]) -> Sequence[TableProof]:
    """Return the tables to list: of many those that aren't proven first, then the largest."""
    if len(tables) <= _MOST_TABLES_IN_FULL:
        return tables
    return sorted(tables, key=lambda table: (_RANKS[table.verdict], -table.rows))[:_MOST_TABLES]


def _figures(tables: Sequence[TableProof], tick: str) -> Grid:
    columns: dict[str, Column] = {
        "table": Column(style="cyan"),
        "rows": Column(justify="right"),
        "rebuilt": Column(justify="right"),
        "missing": Column(justify="right"),
        "unexpected": Column(justify="right"),
        "types": Column(),
        "checks": Column(justify="right"),
        "verdict": Column(),
    }
    if all(table.rebuilt is None for table in tables):
        for title in ("rebuilt", "missing", "unexpected", "types"):
            del columns[title]
    if not any(table.checks for table in tables):
        del columns["checks"]
    for title, column in columns.items():
        column.header = title
    grid = Grid(*columns.values())
    for table in tables:
        cells = _cells(table, tick)
        grid.add_row(*(cells[title] for title in columns))
    return grid


def _cells(table: TableProof, tick: str) -> Mapping[str, Text]:
    return {
        "table": unbroken(table.table),
        "rows": text(f"{table.rows:,}"),
        "rebuilt": _number(table.rebuilt),
        "missing": _number(table.missing, "red"),
        "unexpected": _number(table.unexpected, "red"),
        "types": _types(table),
        "checks": _checks(table),
        "verdict": _verdict(table.verdict, tick),
    }


def _number(number: int | None, style: str = "") -> Text:
    """Return a number, in a style unless it is zero."""
    return text("-", "dim") if number is None else text(f"{number:,}", style if number else "")


def _types(table: TableProof) -> Text:
    if table.types_equal is None:
        return text("-", "dim")
    return text("equal") if table.types_equal else text("differ", "red")


def _checks(table: TableProof) -> Text:
    if not table.checks:
        return text("-", "dim")
    holding = sum(figure.holds for figure in table.checks)
    style = "" if holding == len(table.checks) else "red"
    return text(f"{holding:,} of {len(table.checks):,}", style)


def _verdict(verdict: TableVerdict, tick: str) -> Text:
    label, style = _VERDICTS[verdict]
    if verdict == "proven":
        return text(f"{tick}{label}", style if tick else "")
    return text(label, style)


def _loss(table: TableProof) -> Iterator[Part]:
    yield heading(table.table, _loss_summary(table))
    for difference in table.type_differences:
        yield indented(
            f"{difference.column}: {difference.source or 'no such column'} in the source, "
            f"{difference.rebuilt or 'no such column'} rebuilt"
        )
    for figure in table.checks:
        if not figure.holds:
            yield from _failed_check(figure)
    if table.text is not None:
        yield from _misread(table.text)
    if table.nested is not None and not table.nested.holds:
        yield indented(f"Nested data: {table.nested.sentence}")
    if table.differing:
        yield indented(_rows(table.differing))


def _misread(files: TextProof) -> Iterator[Part]:
    if files.rows != files.lines:
        yield indented(f"{files.rows:,} rows were read, but its files have {files.lines:,}")
    if files.differing:
        yield indented(f"Values differ from its files: {', '.join(files.differing)}")
    if files.unsettled:
        columns = ", ".join(files.unsettled)
        yield indented(f"Ambiguous in its files, so one of two readings was chosen: {columns}")


def _loss_summary(table: TableProof) -> str:
    parts = []
    if table.missing:
        parts.append(f"{counted(table.missing, 'row')} missing")
    if table.unexpected:
        parts.append(f"{counted(table.unexpected, 'row')} unexpected")
    if table.type_differences:
        parts.append(f"{counted(len(table.type_differences), 'type')} changed")
    if table.misread:
        parts.append(f"codes read as values in {', '.join(table.misread)}")
    if table.text is not None and not table.text.holds:
        parts.append("differs from its files")
    if table.nested is not None and not table.nested.holds:
        parts.append("documents differ")
    failed = sum(not figure.holds for figure in table.checks)
    if failed:
        parts.append(f"{counted(failed, 'check')} failed")
    return ", ".join(parts)


def _failed_check(figure: FigureProof) -> Iterator[Part]:
    figures = f": {_value(figure.expected)} expected, {_value(figure.actual)} built"
    yield indented(Text.assemble(text(figure.name, "yellow"), text(figures)))
    for row in figure.differing:
        yield indented(_values(row, tuple(row)), "dim", by=4)


def _rows(rows: Sequence[DifferingRow]) -> Grid:
    grid = Grid("", "", show_header=False)
    for row in rows:
        style: Literal["red", "yellow"] = "red" if row.side == "missing" else "yellow"
        times = f" ({row.times:,} times)" if row.times > 1 else ""
        grid.add_row(text(row.side, style), text(f"{_differing_values(row)}{times}"))
    return grid


def _differing_values(row: DifferingRow) -> str:
    """Return the first columns and those that differ; all, where the whole row does."""
    columns = tuple(row.values)
    if row.differs:
        columns = tuple(dict.fromkeys((*columns[:_IDENTIFYING], *row.differs)))
    left = len(columns) - _MOST_VALUES
    more = f" · and {counted(left, 'more column')}" if left > 0 else ""
    return _values(row.values, columns[:_MOST_VALUES]) + more


def _values(values: Mapping[str, str | None], columns: Sequence[str]) -> str:
    return " · ".join(f"{column} {_value(values[column])}" for column in columns)


def _value(value: str | None) -> str:
    return "NULL" if value is None else value if value.strip() else repr(value)
