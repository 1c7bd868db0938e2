"""The summary of a source with many tables: figures, its most connected tables, what to look at."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.table import Column

from fluid_build.modeling.conceptual import Relationship
from fluid_build.report.terminal.findings_section import findings_section, shown_findings
from fluid_build.report.terminal.screen_parts import Part, heading, indented, lines, text, unbroken
from fluid_build.report.terminal.source_screen import key_columns, title
from fluid_build.report.terminal.unbroken_grid import Grid
from fluid_build.report.view import SourceView, TableView
from fluid_build.text import counted

MOST_TABLES_IN_FULL = 25
"""Up to here the full screen is about as long as two terminals, and shows more than a summary."""
_MOST_CONNECTED = 20
_MOST_FINDINGS = 10
"""Shared out evenly to the kinds, so that the summary stays within two terminals of 40 lines."""
_MOST_OF_A_KIND = 3
_MOST_NOTES = 3


def summary_screen(view: SourceView) -> Iterator[Part]:
    """Yield what is known about a source of any size, in about two terminals."""
    yield title(view)
    yield heading("Found")
    yield indented(_figures(view))
    yield from _most_connected(view)
    if view.profile.notes:
        yield heading("How it was read")
        yield from lines(view.profile.notes, most=_MOST_NOTES)
    yield from first_findings(view)


def first_findings(view: SourceView) -> Iterator[Part]:
    """Yield the few findings to look at first, and how many more there are of each kind."""
    kinds = len({finding.kind for finding in shown_findings(view)}) or 1
    most = min(_MOST_OF_A_KIND, max(1, _MOST_FINDINGS // kinds))
    yield from findings_section(view, most, most_queries=1)


def connected_tables(view: SourceView) -> Sequence[TableView]:
    """Return the tables with the most relationships first, and of equal ones the largest."""
    relationships = _counted_relationships(view)
    ends = Counter(name for each in relationships for name in (each.from_entity, each.to_entity))
    return sorted(
        view.tables, key=lambda table: (-ends[table.name], -table.measured.rows, table.name)
    )


def _counted_relationships(view: SourceView) -> Sequence[Relationship]:
    """Return the relationships that no others imply: chains of keys would count many times."""
    return [each for each in view.conceptual.relationships if not each.implied]


def _figures(view: SourceView) -> Grid:
    grid = Grid(Column(style="dim"), "", show_header=False)
    for label, figures in (
        ("keys", _key_figures(view)),
        ("relationships", _relationship_figures(view.conceptual.relationships)),
        ("personal data", _column_figures(view, "personal data")),
        ("not read", _table_figures(view, "not read")),
        ("no key", _table_figures(view, "no key")),
        ("empty tables", _table_figures(view, "empty table")),
        ("empty columns", _column_figures(view, "empty column")),
    ):
        if figures:
            grid.add_row(text(label), text(figures))
    return grid


def _key_figures(view: SourceView) -> str:
    keys = [table.key for table in view.tables if table.key is not None]
    return _with_remarks(
        f"{len(keys):,} of {counted(len(view.tables), 'table')}",
        ("declared", sum(key.origin == "declared" for key in keys)),
        ("composite", sum(len(key.attributes) > 1 for key in keys)),
    )


def _relationship_figures(relationships: Sequence[Relationship]) -> str:
    declared = sum(relationship.origin == "declared" for relationship in relationships)
    return _with_remarks(
        f"{len(relationships):,}",
        ("declared", declared),
        ("inferred", len(relationships) - declared),
        ("implied by others", sum(relationship.implied for relationship in relationships)),
        ("with orphans", sum(each.evidence.broken > 0 for each in relationships)),
    )


def _with_remarks(figure: str, *remarks: tuple[str, int]) -> str:
    """Return a figure and what it is made up of: ``12 (4 declared, 8 inferred)``."""
    parts = ", ".join(f"{number:,} {label}" for label, number in remarks if number)
    return f"{figure} ({parts})" if parts else figure


def _table_figures(view: SourceView, kind: str) -> str:
    count = sum(notice.kind == kind for notice in view.notices)
    return counted(count, "table") if count else ""


def _column_figures(view: SourceView, kind: str) -> str:
    columns = [len(notice.columns) for notice in view.notices if notice.kind == kind]
    if not columns:
        return ""
    return f"{counted(sum(columns), 'column')} in {counted(len(columns), 'table')}"


def _most_connected(view: SourceView) -> Iterator[Part]:
    relationships = _counted_relationships(view)
    children = Counter(relationship.to_entity for relationship in relationships)
    parents = Counter(relationship.from_entity for relationship in relationships)
    shown = connected_tables(view)[:_MOST_CONNECTED]
    title = "Most connected tables" if relationships else "Largest tables"
    yield heading(title, f"{len(shown):,} of {len(view.tables):,}")
    grid = Grid(
        Column("table", style="cyan"),
        Column("rows", justify="right"),
        Column("cols", justify="right"),
        Column("key", style="green"),
        Column("referenced by", justify="right"),
        Column("refers to", justify="right"),
    )
    for table in shown:
        grid.add_row(
            unbroken(table.name),
            text(f"{table.measured.rows:,}" if view.profile.has_data else "-"),
            text(f"{len(table.columns):,}"),
            text(key_columns(table.measured)),
            text(f"{children[table.name]:,}"),
            text(f"{parents[table.name]:,}"),
        )
    yield indented(grid)
