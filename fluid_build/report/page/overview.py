"""The overview: what this is, what to look at first, and what to do next."""

from dataclasses import dataclass

from fluid_build.report.notices import Notice, notices_by_kind
from fluid_build.report.page.content import PageContent

_MOST_NOTICES_OF_A_KIND = 10


@dataclass(frozen=True, slots=True)
class NoticeGroup:
    """Notices of one kind, and how many more there are."""

    kind: str
    notices: tuple[Notice, ...]
    left: int


@dataclass(frozen=True, slots=True)
class Overview:
    """The figures of a source, its notices by kind, and commands with what they are for."""

    figures: tuple[tuple[str, str], ...]
    groups: tuple[NoticeGroup, ...]
    table_ids: dict[str, str]
    content: PageContent


def overview(content: PageContent) -> Overview:
    """Return the overview of a page."""
    view = content.view
    keyed = sum(table.key is not None for table in view.tables)
    relationships = view.conceptual.relationships
    broken = sum(each.evidence.orphans > 0 for each in relationships)
    figures = (
        ("Tables with a key", f"{keyed:,} of {len(view.tables):,}"),
        ("Relationships", f"{len(relationships):,}"),
        ("with orphans", f"{broken:,}"),
        ("Columns of personal data", f"{sum(column.pii for column in view.columns):,}"),
    )
    return Overview(
        figures,
        tuple(
            NoticeGroup(kind, tuple(listed), left)
            for kind, listed, left in notices_by_kind(view.notices, _MOST_NOTICES_OF_A_KIND)
        ),
        content.table_addresses,
        content,
    )
