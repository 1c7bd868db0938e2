"""The model: each relation with what it's made of, why it's there, and the SQL that builds it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fluid_build.report.model_elements import (
    ElementGroup,
    ElementView,
    Name,
    Prose,
    relation_kinds,
)
from fluid_build.report.page.content import BuiltContent, PageContent
from fluid_build.report.page.lineage import relation_address
from fluid_build.transform.plan.elements import Build, PlanColumn

_PLAIN_KIND = "table"


@dataclass(frozen=True, slots=True)
class ColumnLine:
    """A column of a relation.

    ``sources`` are the columns it's made of, each with its table and its address in the page.
    """

    name: str
    type: str
    tags: tuple[str, ...]
    description: str
    sources: tuple[tuple[str, str, str], ...]
    has_more_sources: bool


@dataclass(frozen=True, slots=True)
class FactTable:
    """Facts that the model states, as a table: with the elements' names where they say more."""

    group: ElementGroup
    has_names: bool


@dataclass(frozen=True, slots=True)
class RelationCard:
    """A relation. ``facts`` are those that the model states about it."""

    id: str
    name: str
    kind: str
    words: str
    description: str
    reason: str
    loaded: str
    tables: tuple[str, ...]
    facts: tuple[FactTable, ...]
    columns: tuple[ColumnLine, ...]
    tests: tuple[str, ...]
    query: str


@dataclass(frozen=True, slots=True)
class ModelPage:
    """The relations by kind, and what the model says that is about no single one of them.

    ``tables`` are the addresses of source tables by name, ``addresses`` those of relations.
    """

    remark: Prose
    relations: tuple[RelationCard, ...]
    facts: tuple[FactTable, ...]
    tables: Mapping[str, str]
    addresses: Mapping[str, str]
    content: PageContent


_MOST_SOURCES = 6
"""Source columns that are named; a hash of a whole row has them all."""
_LOADED = {
    "view": "a view",
    "table": "rebuilt at each run",
    "incremental": "only new rows are added",
}


def model_page(content: PageContent, built: BuiltContent) -> ModelPage:
    """Return the model of a page."""
    assert content.view.model is not None
    builds = built.plan.published
    addresses = {build.name: relation_address(build.name) for build in builds}
    by_relation, left = _by_relation(content.view.model.groups, addresses)
    columns = content.column_addresses
    kinds = dict(relation_kinds(built.model))
    cards = [
        _card(
            build,
            kinds.get(build.name, _PLAIN_KIND),
            by_relation[build.name],
            columns,
            built.queries.get(build.name) or build.sql,
        )
        for build in builds
    ]
    order = {kind: place for place, kind in enumerate(dict.fromkeys(card.kind for card in cards))}
    return ModelPage(
        remark=content.view.model.remark,
        relations=tuple(sorted(cards, key=lambda card: order[card.kind])),
        facts=tuple(left),
        tables=content.table_addresses,
        addresses=addresses,
        content=content,
    )


def _by_relation(
    groups: Sequence[ElementGroup], relations: Mapping[str, str]
) -> tuple[Mapping[str, list[FactTable]], list[FactTable]]:
    """Return what the model states about each relation, and the groups that are about none.

    A group whose title is a relation is about it, and so are those without a title after it.
    """
    by_relation: dict[str, list[FactTable]] = defaultdict(list)
    left: list[FactTable] = []
    subject = ""
    for group in groups:
        subject = _subject(group, relations) if group.title else subject
        if subject:
            by_relation[subject].append(FactTable(group, has_names=True))
            continue
        for name, elements in _elements_by_name(group).items():
            if name in relations:
                own = ElementGroup((), headings=group.headings[1:], elements=tuple(elements))
                by_relation[name].append(FactTable(own, has_names=False))
        remaining = tuple(e for e in group.elements if e.name not in relations)
        if remaining:
            left.append(FactTable(replace(group, elements=remaining), has_names=True))
    return by_relation, left


def _subject(group: ElementGroup, relations: Mapping[str, str]) -> str:
    """Return the relation that a group's title names, "" where it names none."""
    names = [part.name for part in group.title if isinstance(part, Name)]
    return names[0] if len(group.title) == 1 and names and names[0] in relations else ""


def _elements_by_name(group: ElementGroup) -> Mapping[str, list[ElementView]]:
    by_name: dict[str, list[ElementView]] = defaultdict(list)
    for element in group.elements:
        by_name[element.name].append(element)
    return by_name


def _card(
    build: Build,
    kind: str,
    facts: Sequence[FactTable],
    addresses: Mapping[tuple[str, str], str],
    query: str,
) -> RelationCard:
    columns = tuple(_column_line(column, addresses) for column in build.columns)
    return RelationCard(
        id=relation_address(build.name),
        name=build.name,
        kind=kind,
        words=" ".join((build.name, *(column.name for column in columns))).lower(),
        description=build.description,
        reason="" if _is_stated(build.reason, facts) else build.reason,
        loaded=_LOADED[build.materialization],
        tables=build.mapped_source_tables,
        facts=tuple(facts),
        columns=columns,
        tests=tuple(_tests(build)),
        query=query,
    )


def _is_stated(reason: str, facts: Sequence[FactTable]) -> bool:
    return any(
        reason in fact.group.text or any(reason in e.reason for e in fact.group.elements)
        for fact in facts
    )


def _column_line(column: PlanColumn, addresses: Mapping[tuple[str, str], str]) -> ColumnLine:
    sources = tuple(
        (source.table, source.column, addresses.get((source.table, source.column), ""))
        for source in column.source_columns
    )
    return ColumnLine(
        name=column.name,
        type=column.type,
        tags=tuple(tag.replace("-", " ") for tag in column.tags if tag != "technical"),
        description=column.description,
        sources=sources[:_MOST_SOURCES],
        has_more_sources=len(sources) > _MOST_SOURCES,
    )


def _tests(build: Build) -> Iterator[str]:
    """Yield what dbt tests of a relation, each as a sentence."""
    for test in build.tests:
        columns = ", ".join(test.columns)
        allowed = f" ({test.allowed:,} known exceptions)" if test.allowed else ""
        if test.kind == "not_null":
            yield f"{columns} is never null{allowed}."
        elif test.kind == "unique":
            yield f"{columns} is unique{allowed}."
        elif test.kind == "accepted_values":
            yield f"{columns} is one of {', '.join(test.values)}{allowed}."
        else:
            parent = f"{test.to_model} ({', '.join(test.to_columns)})"
            yield f"Each {columns} is in {parent}{allowed}."
