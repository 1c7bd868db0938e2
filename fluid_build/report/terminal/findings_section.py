"""The findings of a source on a screen: what needs attention, the most important of each kind."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from fluid_build.report.notices import Notice, notices_by_kind
from fluid_build.report.terminal.screen_parts import Part, Query, heading, indented, text
from fluid_build.report.view import SourceView

MOST_OF_A_KIND = 8
_KINDS_SHOWN_WITH_QUERY = frozenset({"broken key", "orphans", "broken not-null"})
# Personal data has a section of its own.
_KINDS_SHOWN_ELSEWHERE = frozenset({"personal data"})


def findings_section(
    view: SourceView, most: int | None = MOST_OF_A_KIND, most_queries: int | None = None
) -> Iterator[Part]:
    """Yield what needs attention, with the query where the data breaks a claim.

    ``most`` bounds the findings of each kind, ``most_queries`` those of them that get their query;
    None is no bound.
    """
    findings = shown_findings(view)
    if findings:
        yield heading("Needs attention")
    for kind, listed, left in notices_by_kind(findings, most):
        for number, finding in enumerate(listed):
            yield _finding_line(finding)
            if _query(finding) and (most_queries is None or number < most_queries):
                yield Query(finding.sql)
        if left:
            yield indented(f"and {left:,} more under: {kind}", "dim")
    if view.query_hint and any(map(_query, findings)):
        yield indented(view.query_hint, "dim")


def shown_findings(view: SourceView) -> Sequence[Notice]:
    """Return the findings that this section shows: those that have no section of their own."""
    return [notice for notice in view.notices if notice.kind not in _KINDS_SHOWN_ELSEWHERE]


def place_label(table: str, columns: Sequence[str]) -> str:
    """Return columns with their table: ``orders.id``, ``orders (id, line_no)``."""
    return f"{table}.{columns[0]}" if len(columns) == 1 else f"{table} ({', '.join(columns)})"


def _finding_line(finding: Notice) -> Part:
    place = place_label(finding.table, finding.columns) if finding.columns else finding.table
    return indented(Text.assemble(text(place, "yellow"), ": " if place else "", text(finding.text)))


def _query(finding: Notice) -> str:
    """Return the query that is shown with a finding, if any."""
    return finding.sql if finding.kind in _KINDS_SHOWN_WITH_QUERY else ""
