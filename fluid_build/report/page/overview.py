"""The overview: what this is, what to look at first, and what to do next."""

from collections.abc import Iterator
from dataclasses import dataclass

from fluid_build.report.notices import Notice, notices_by_kind
from fluid_build.report.page.content import PageContent
from fluid_build.report.page.run_proof import verdict_banner
from fluid_build.text import counted
from fluid_build.transform.proof.proof import Proof

_MOST_NOTICES_OF_A_KIND = 10
_SERIOUS = frozenset({"not read", "broken key", "orphans", "broken not-null"})
"""Kinds of notices where the data contradicts the source: they are shown in full, others folded."""


@dataclass(frozen=True, slots=True)
class Headline:
    """A figure with its label, a remark, and the view that has the rest; ``style`` is its state."""

    label: str
    figure: str
    remark: str = ""
    address: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class NoticeGroup:
    """Notices of one kind, and how many more there are."""

    kind: str
    notices: tuple[Notice, ...]
    left: int
    is_serious: bool

    @property
    def count(self) -> int:
        """Return how many there are in all."""
        return len(self.notices) + self.left


@dataclass(frozen=True, slots=True)
class Overview:
    """The figures of a source, its notices by kind, and where the page shows each table."""

    headlines: tuple[Headline, ...]
    groups: tuple[NoticeGroup, ...]
    table_ids: dict[str, str]
    content: PageContent


def overview(content: PageContent) -> Overview:
    """Return the overview of a page."""
    return Overview(
        tuple(_headlines(content)),
        tuple(
            NoticeGroup(kind, tuple(listed), left, kind in _SERIOUS)
            for kind, listed, left in notices_by_kind(content.view.notices, _MOST_NOTICES_OF_A_KIND)
        ),
        content.table_addresses,
        content,
    )


def _headlines(content: PageContent) -> Iterator[Headline]:
    view = content.view
    if view.proof is not None:
        yield _proof(content, view.proof)
    yield _keys(content)
    relationships = [each for each in view.conceptual.relationships if not each.implied]
    broken = sum(each.evidence.broken > 0 for each in relationships)
    declared = sum(each.origin == "declared" for each in relationships)
    origins = f"{declared:,} declared, {len(relationships) - declared:,} found"
    remark = f"{origins}, {broken:,} with orphans" if broken else origins
    if implied := len(view.conceptual.relationships) - len(relationships):
        remark += f"; {implied:,} more implied by these"
    yield Headline(
        "Relationships", f"{len(relationships):,}", remark, "map", "warn" if broken else ""
    )
    personal = sum(column.pii for column in view.columns)
    yield Headline("Personal data", counted(personal, "column"), address="tables")
    if content.built is not None:
        yield Headline(
            "Judgement calls",
            f"{len(content.built.judgements):,}",
            "that the data doesn't settle",
            "calls",
        )


def _keys(content: PageContent) -> Headline:
    """Return how many tables have a key; green where there was data to check all of them on."""
    tables = content.view.tables
    keys = [table.key for table in tables if table.key is not None]
    figure = f"{len(keys):,} of {len(tables):,}"
    if not content.view.profile.has_data:
        return Headline("Tables with a key", figure, "as declared", "tables")
    broken = sum(not key.holds for key in keys)
    remark = f"{broken:,} broken" if broken else ""
    is_good = bool(tables) and len(keys) == len(tables) and not broken
    return Headline("Tables with a key", figure, remark, "tables", "good" if is_good else "warn")


def _proof(content: PageContent, proof: Proof) -> Headline:
    banner = verdict_banner(content, proof)
    proven = sum(table.verdict == "proven" for table in proof.tables)
    empty = sum(table.verdict == "empty" for table in proof.tables)
    total = len(proof.tables) + len(content.view.profile.skipped)
    remark = f"{proven:,} of {counted(total, 'table')} compared and equal"
    return Headline(
        "Proof", banner.word, f"{remark}, {empty:,} empty" if empty else remark, "run", banner.style
    )
