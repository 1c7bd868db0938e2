"""The screens of a source: its tables, keys, relationships, meanings and what needs attention."""

from collections.abc import Iterator, Sequence

from rich.table import Column
from rich.text import Text

from fluid_build.modeling.conceptual import Relationship
from fluid_build.profiling.profile import ColumnProfile, Quantiles, TableProfile, is_code
from fluid_build.report.means import shorten_number
from fluid_build.report.terminal.findings_section import (
    MOST_OF_A_KIND,
    findings_section,
    place_label,
)
from fluid_build.report.terminal.screen_parts import (
    Part,
    first_line,
    heading,
    indented,
    text,
    unbroken,
)
from fluid_build.report.terminal.unbroken_grid import Grid
from fluid_build.report.view import SourceView, TableView, confidence_label
from fluid_build.text import clip, counted

_LONGEST_VALUE = 40


def source_screen(view: SourceView, most_findings: int | None = MOST_OF_A_KIND) -> Iterator[Part]:
    """Yield all that is known about a source; sections without content are left out.

    ``most_findings`` bounds the findings of each kind; None shows them all.
    """
    yield title(view)
    if view.tables:
        yield from _tables(view)
        yield from _relationships(view.conceptual.relationships)
        yield from _meanings(view)
    yield from reading_notes(view)
    yield from findings_section(view, most_findings)


def figures_section(view: SourceView) -> Iterator[Part]:
    """Yield the same in one sentence of figures."""
    composite = sum(len(table.key.attributes) > 1 for table in view.tables if table.key)
    yield heading("Found")
    yield indented(
        f"{counted(_keyed(view), 'primary key')} ({composite:,} composite), "
        f"{counted(len(view.conceptual.relationships), 'relationship')}, "
        f"{counted(_personal(view), 'column')} of personal data."
    )


def title(view: SourceView) -> Text:
    """Return what was read, in one line."""
    figures = [counted(len(view.tables), "table"), counted(len(view.columns), "column")]
    if view.profile.has_data:
        is_sample = any(table.measured.sample for table in view.tables)
        figures.append(f"{counted(view.rows, 'row')}{' (a sample)' if is_sample else ''}")
    return first_line(view.profile.source_name, " · ".join((view.kind_label, *figures)))


def _tables(view: SourceView) -> Iterator[Part]:
    yield heading("Tables", f"{counted(_keyed(view), 'key')} found")
    grid = Grid(
        Column("table", style="cyan"),
        Column("rows", justify="right"),
        Column("cols", justify="right"),
        Column("key", style="green"),
        Column("why", style="dim"),
    )
    for table in view.tables:
        grid.add_row(
            unbroken(table.name),
            text(f"{table.measured.rows:,}" if view.profile.has_data else "-"),
            text(f"{len(table.columns):,}"),
            text(key_columns(table.measured)),
            text(_key_reason(table, view.profile.has_data)),
        )
    yield indented(grid)


def _keyed(view: SourceView) -> int:
    return sum(table.key is not None for table in view.tables)


def _personal(view: SourceView) -> int:
    return sum(column.pii for column in view.columns)


def key_columns(table: TableProfile) -> str:
    """Return the columns of the key that was chosen, or ``none``."""
    return ", ".join(table.primary_key) if table.primary_key else "none"


def _key_reason(table: TableView, has_data: bool) -> str:
    """Return why the key was chosen, without what is true of every key."""
    if table.key is None and (not table.measured.rows or not has_data):
        return "the table is empty" if has_data else "none is declared"
    if table.measured.primary_key_origin == "declared":
        return "declared"
    reason = table.measured.primary_key_reason.removeprefix("unique and never null, ")
    return reason.replace("the first column", "first column")


def _relationships(relationships: Sequence[Relationship]) -> Iterator[Part]:
    """Yield each relationship with its confidence and its orphans, the implied ones last."""
    if not relationships:
        yield heading("Relationships", "none found")
        return
    broken = sum(relationship.evidence.broken > 0 for relationship in relationships)
    orphans = f", {broken} with orphans" if broken else ""
    yield heading("Relationships", f"{len(relationships):,} found{orphans}")
    grid = Grid(
        "from", "to", Column("confidence", justify="right"), Column("orphans", justify="right")
    )
    for relationship in sorted(relationships, key=lambda relationship: relationship.implied):
        grid.add_row(*_relationship_cells(relationship))
    yield indented(grid)


def _relationship_cells(relationship: Relationship) -> Iterator[Text]:
    style = "dim" if relationship.implied else ""
    child = place_label(relationship.from_entity, relationship.from_attributes)
    parent = place_label(relationship.to_entity, relationship.to_attributes)
    # A single column is one name; a list of columns may go on in the next line.
    cell = unbroken if len(relationship.from_attributes) == 1 else text
    orphans = relationship.evidence.orphans
    declared = relationship.origin == "declared"
    yield cell(child, style)
    yield cell(f"→ {parent}{_remark(relationship)}", style)
    yield text("declared" if declared else confidence_label(relationship.confidence), style)
    yield text(f"{orphans:,}", "yellow") if orphans else text("-", "dim")


def _remark(relationship: Relationship) -> str:
    if relationship.implied:
        return " (implied)"
    return " (one to one)" if relationship.cardinality == "one-to-one" else ""


def _meanings(view: SourceView) -> Iterator[Part]:
    """Yield what the columns hold, personal data first."""
    for is_personal, title, remark, style in (
        (True, "Personal data", counted(_personal(view), "column"), "magenta"),
        (False, "Other recognized columns", "", ""),
    ):
        grid = Grid(Column(style="cyan"), Column(style=style), show_header=False)
        for table in view.tables:
            meaning = _table_meaning(table.measured, is_personal)
            if meaning:
                grid.add_row(unbroken(table.name), text(meaning))
        if grid.row_count:
            yield heading(title, remark)
            yield indented(grid)


def _table_meaning(table: TableProfile, is_personal: bool) -> str:
    columns: dict[str, list[str]] = {}
    for column in table.columns:
        if column.semantic_type is not None and column.pii is is_personal:
            columns.setdefault(column.semantic_type, []).append(column.name)
    return " · ".join(_meaning(meaning, ", ".join(names)) for meaning, names in columns.items())


def _meaning(meaning: str, columns: str) -> str:
    """Return columns and what they hold, unless their name says it."""
    return columns if columns.lower() == meaning else f"{columns} ({meaning})"


def reading_notes(view: SourceView) -> Iterator[Part]:
    """Yield how the source was read, and each part of it that could not be."""
    if view.profile.notes:
        yield heading("How it was read")
        yield from map(indented, view.profile.notes)


def table_screen(table: TableProfile) -> Iterator[Part]:
    """Yield one table, column by column; no value of a personal column is shown."""
    yield first_line(table.name, f"{table.rows_read} · key: {key_columns(table)}")
    if table.notes:
        yield heading("How it was read")
        yield from map(indented, table.notes)
    for column in table.columns:
        yield heading(column.name, _column_facts(column))
        grid = Grid(Column(style="dim"), "", show_header=False)
        for figure, value in _column_figures(column):
            grid.add_row(text(figure), text(value))
        yield indented(grid)


def _column_facts(column: ColumnProfile) -> str:
    facts = [column.type]
    if column.measured_type and column.measured_type != column.type and not is_code(column):
        facts.append(f"really {column.measured_type}")
    if column.semantic_type and column.semantic_type != column.type.lower():
        facts.append(column.semantic_type)
    if column.pii:
        facts.append("personal, so values are hidden")
    return " · ".join(facts)


def _column_figures(column: ColumnProfile) -> Iterator[tuple[str, str]]:
    about = "" if column.distinct_exact else "about "
    yield "nulls", f"{column.nulls:,} of {column.rows:,}"
    yield "distinct", f"{about}{column.distinct:,}"
    if column.max_length is not None:
        shortest, longest = column.min_length, column.max_length
        yield "length", f"{longest}" if shortest == longest else f"{shortest} to {longest}"
    if not column.pii:
        if column.min is not None and column.max is not None:
            lowest, highest = clip(column.min, _LONGEST_VALUE), clip(column.max, _LONGEST_VALUE)
            yield "range", f"{lowest} … {highest}"
        if column.quantiles is not None and column.distinct > 1:
            yield "spread", _spread(column, column.quantiles)
        repeated = [top for top in column.top_values[:5] if top.count > 1]
        if repeated:
            values = (f"{clip(top.value, _LONGEST_VALUE)} ({top.count:,})" for top in repeated)
            yield "most often", ", ".join(values)
    for note in column.notes:
        yield "note", note


def _spread(column: ColumnProfile, quantiles: Quantiles) -> str:
    """Return the mean and the quantiles in one line."""
    parts = [
        f"mean {shorten_number(column.mean)}" if column.mean else "",
        f"median {quantiles.p50}",
        f"half in {quantiles.p25} … {quantiles.p75}",
        f"90 % in {quantiles.p05} … {quantiles.p95}",
    ]
    sample = column.statistics_sample
    remark = f" (of {sample:,} sampled rows)" if sample else ""
    return ", ".join(filter(None, parts)) + remark
