"""The tables: each with its columns, keys and relationships, and the evidence for them."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from fluid_build.decisions.reasons import is_decided
from fluid_build.modeling.conceptual import CandidateRelationship, EntityKey, Relationship
from fluid_build.report.page.column_cards import ColumnCard, column_cards
from fluid_build.report.page.content import PageContent
from fluid_build.report.page.lineage import lineage
from fluid_build.report.view import ORIGIN_LABELS, TableView
from fluid_build.transform.proof.proof import TableProof

_MOST_KEYS = 12
"""Other keys that are listed; of a small table many combinations are unique by chance."""


@dataclass(frozen=True, slots=True)
class TablePanel:
    """A table. ``id`` is its address in the page, ``words`` what a search finds it by.

    ``references`` lead to parents, ``referring`` come from children; ``rejected`` are references
    that were weighed and aren't believed.
    """

    id: str
    words: str
    table: TableView
    columns: tuple[ColumnCard, ...]
    other_keys: tuple[EntityKey, ...]
    references: tuple[Relationship, ...]
    referring: tuple[Relationship, ...]
    rejected: tuple[CandidateRelationship, ...]
    proof: TableProof | None


@dataclass(frozen=True, slots=True)
class Tables:
    """The panels of all tables in the order of the source, and the addresses of all by name."""

    panels: tuple[TablePanel, ...]
    addresses: Mapping[str, str]
    has_data: bool


def origin_label(claim: EntityKey | Relationship) -> str:
    """Return who makes a claim, in a word or two."""
    return "decided" if is_decided(claim.reason) else ORIGIN_LABELS[claim.origin]


def tables(content: PageContent) -> Tables:
    """Return the panels of all tables."""
    view = content.view
    addresses = content.table_addresses
    references: dict[str, list[Relationship]] = defaultdict(list)
    referring: dict[str, list[Relationship]] = defaultdict(list)
    becomes = {} if content.built is None else lineage(content.built.plan)
    rejected: dict[str, list[CandidateRelationship]] = defaultdict(list)
    for relationship in view.conceptual.relationships:
        references[relationship.from_entity].append(relationship)
        referring[relationship.to_entity].append(relationship)
    for candidate in view.conceptual.candidates:
        rejected[candidate.from_entity].append(candidate)
    panels = tuple(
        TablePanel(
            id=addresses[table.name],
            words=" ".join((table.name, *(c.measured.name for c in table.columns))).lower(),
            table=table,
            columns=tuple(column_cards(table, references[table.name], becomes)),
            other_keys=tuple(k for k in table.entity.keys if k.kind != "primary")[:_MOST_KEYS],
            references=tuple(references[table.name]),
            referring=tuple(referring[table.name]),
            rejected=tuple(rejected[table.name]),
            proof=table.proof,
        )
        for table in view.tables
    )
    return Tables(panels, addresses, view.profile.has_data)
