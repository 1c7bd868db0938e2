"""The tables: each with its columns, keys and relationships, and the evidence for them."""

from dataclasses import dataclass

from fluid_build.report.page.content import PageContent
from fluid_build.report.view import TableView


@dataclass(frozen=True, slots=True)
class TablePanel:
    """A table; ``id`` is its address in the page."""

    id: str
    table: TableView


@dataclass(frozen=True, slots=True)
class Tables:
    """The panels of all tables, in the order of the source."""

    panels: tuple[TablePanel, ...]


def tables(content: PageContent) -> Tables:
    """Return the panels of all tables."""
    return Tables(
        tuple(
            TablePanel(f"table-{place}", table)
            for place, table in enumerate(content.view.tables, start=1)
        )
    )
