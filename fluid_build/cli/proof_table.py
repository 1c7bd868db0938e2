"""What a proof looks like on a screen: green only where everything was compared and holds."""

from collections.abc import Iterator, Sequence
from typing import Literal

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from fluid_build.cli.grid import Grid
from fluid_build.cli.screen import Part, heading, name, text
from fluid_build.text import counted
from fluid_build.transform.proof.delimited_text import TextProof
from fluid_build.transform.proof.differing_rows import DifferingRow
from fluid_build.transform.proof.figure_checks import FigureProof
from fluid_build.transform.proof.proof import Proof, TableProof, TableVerdict

_MOST_TABLES_DETAILED = 5
_MOST_VALUES = 6
_IDENTIFYING = 2
_STYLES: dict[TableVerdict, str] = {
    "proven": "green",
    "empty": "dim",
    "lost": "bold red",
    "not compared": "yellow",
}
TICK = "✓ "
_WORDS: dict[TableVerdict, str] = {
    "proven": "same",
    "empty": "empty",
    "lost": "lost",
    "not compared": "not compared",
}


def proof_lines(proof: Proof, title: str = "Proof", *, tick: str = TICK) -> Iterator[Part]:
    """The figures of each table, the verdict, and where there is a loss its first rows.

    ``tick`` marks what holds, in green; whoever shows a loss beside this proof gives an empty one.
    A proof that is not proven as a whole has no tick in any of its lines.
    """
    tick = tick if proof.verdict == "proven" else ""
    yield heading(title, "what was built, compared with the source")
    yield _indented(_figures(proof.tables, tick))
    by_value = [f"{table.table}.{name}" for table in proof.tables for name in table.by_value]
    if by_value:
        yield _indented(text(f"Value kept, not spelling: {', '.join(by_value)}", "dim"))
    left_out = [
        f"{one.table}: {what}" for one in proof.tables if one.text for what in one.text.left_out
    ]
    if left_out:
        yield _indented(text(f"Lines that are no rows: {'; '.join(left_out)}", "dim"))
    yield Text()
    yield verdict(proof, tick=tick)
    lost = [table for table in proof.tables if table.verdict == "lost"]
    for table in lost[:_MOST_TABLES_DETAILED]:
        yield from _loss(table)
    if len(lost) > _MOST_TABLES_DETAILED:
        more = counted(len(lost) - _MOST_TABLES_DETAILED, "more table")
        yield Text()
        yield text(f"proof.json shows the rows of {more}.", "dim")


def verdict(proof: Proof, *, tick: str = TICK) -> Text:
    """The verdict in a line."""
    if proof.verdict == "proven":
        rows = sum(table.rows for table in proof.tables)
        empty = sum(table.verdict == "empty" for table in proof.tables)
        remark = f" {counted(empty, 'table')} held no row." if empty else ""
        return Text.assemble(
            text(f"{tick}Proven. ", "bold green" if tick else "bold"),
            text(f"{proof.reason} {counted(rows, 'row')} in {_tables(proof)}.{remark}"),
        )
    if proof.verdict == "lost":
        return Text.assemble(text("Lost. ", "bold red"), text(proof.reason))
    return Text.assemble(text("Not proven. ", "bold yellow"), text(proof.reason))


def _tables(proof: Proof) -> str:
    return counted(len(proof.tables), "table")


def _figures(tables: Sequence[TableProof], tick: str) -> Grid:
    rebuilt = any(table.rebuilt is not None for table in tables)
    checked = any(table.checks for table in tables)
    grid = Grid()
    grid.add_column("table", style="cyan")
    grid.add_column("rows", justify="right")
    if rebuilt:
        for title in ("rebuilt", "missing", "unexpected"):
            grid.add_column(title, justify="right")
        grid.add_column("types")
    if checked:
        grid.add_column("checks", justify="right")
    grid.add_column("verdict")
    for table in tables:
        cells = [name(table.table), text(f"{table.rows:,}")]
        if rebuilt:
            cells += [
                _number(table.rebuilt),
                _number(table.missing, alarming=True),
                _number(table.unexpected, alarming=True),
                _types(table),
            ]
        if checked:
            cells.append(_checks(table))
        grid.add_row(*cells, _word(table.verdict, tick))
    return grid


def _word(verdict: TableVerdict, tick: str) -> Text:
    if verdict == "proven":
        return text(f"{tick}{_WORDS[verdict]}", _STYLES[verdict] if tick else "")
    return text(_WORDS[verdict], _STYLES[verdict])


def _number(number: int | None, *, alarming: bool = False) -> Text:
    if number is None:
        return text("-", "dim")
    return text(f"{number:,}", "red" if alarming and number else "")


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


def _loss(table: TableProof) -> Iterator[Part]:
    yield heading(table.table, _in_short(table))
    for difference in table.type_differences:
        yield _indented(
            text(
                f"{difference.column}: {difference.source or 'no such column'} in the source, "
                f"{difference.rebuilt or 'no such column'} rebuilt"
            )
        )
    for figure in table.checks:
        if not figure.holds:
            yield from _failed_check(figure)
    if table.text is not None:
        yield from _misread(table.text)
    if table.differing:
        yield _indented(_rows(table.differing))


def _misread(found: TextProof) -> Iterator[RenderableType]:
    if found.rows != found.lines:
        yield _indented(text(f"{found.rows:,} rows were read of {found.lines:,} in its files"))
    if found.differing:
        names = ", ".join(found.differing)
        yield _indented(text(f"Not the values that its files spell: {names}"))
    if found.unsettled:
        names = ", ".join(found.unsettled)
        yield _indented(text(f"Read in one of two ways that its files leave open: {names}"))


def _in_short(table: TableProof) -> str:
    parts = []
    if table.missing:
        parts.append(f"{counted(table.missing, 'row')} missing")
    if table.unexpected:
        parts.append(f"{counted(table.unexpected, 'row')} unexpected")
    if table.type_differences:
        parts.append(f"{counted(len(table.type_differences), 'type')} not the same")
    if table.text is not None and not table.text.holds:
        parts.append("not as its files spell it")
    failed = sum(not figure.holds for figure in table.checks)
    if failed:
        parts.append(f"{counted(failed, 'check')} failed")
    return ", ".join(parts)


def _failed_check(figure: FigureProof) -> Iterator[Part]:
    yield _indented(
        Text.assemble(
            text(figure.name, "yellow"),
            text(f": {_value(figure.expected)} expected, {_value(figure.actual)} built"),
        )
    )
    for row in figure.differing:
        yield Padding(text(" · ".join(_pairs(row, tuple(row))), "dim"), (0, 0, 0, 4))


def _rows(rows: Sequence[DifferingRow]) -> Grid:
    grid = Grid(show_header=False)
    grid.add_column()
    grid.add_column()
    for row in rows:
        style: Literal["red", "yellow"] = "red" if row.side == "missing" else "yellow"
        times = f" ({row.times:,} times)" if row.times > 1 else ""
        grid.add_row(text(row.side, style), text(f"{_told(row)}{times}"))
    return grid


def _told(row: DifferingRow) -> str:
    """The row by its first columns and those in which it differs; all, where it is another row."""
    names = tuple(row.values)
    telling = tuple(dict.fromkeys((*names[:_IDENTIFYING], *row.differs)))
    shown = telling if row.differs else names
    left = len(shown) - _MOST_VALUES
    more = f" · and {counted(left, 'more column')}" if left > 0 else ""
    return " · ".join(_pairs(row.values, shown[:_MOST_VALUES])) + more


def _pairs(values: dict[str, str | None], names: Sequence[str]) -> Iterator[str]:
    return (f"{name} {_value(values[name])}" for name in names)


def _value(value: str | None) -> str:
    return "NULL" if value is None else value if value.strip() else repr(value)


def _indented(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 2))
