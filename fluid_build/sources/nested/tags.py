"""The tags of nested columns, for the columns that they are split into."""

from collections.abc import Sequence
from dataclasses import replace

from fluid_build.sources.base import Table
from fluid_build.sources.declarations.catalog_facts import CatalogFacts, TableFacts


def with_tagged_parts(facts: CatalogFacts, tables: Sequence[Table]) -> CatalogFacts:
    """Return a catalog's facts with the tags of nested columns on each of their parts."""
    described = dict(facts.tables)
    for table in tables:
        if table.split is None:
            continue
        original = table.split.documents.table
        tags = _tags_of_parts(table, original, facts.tables.get(original.name, TableFacts()))
        if tags:
            own = facts.tables.get(table.name, TableFacts())
            described[table.name] = replace(own, column_tags={**own.column_tags, **tags})
    return replace(facts, tables=described)


def _tags_of_parts(table: Table, original: Table, facts: TableFacts) -> dict[str, tuple[str, ...]]:
    names = {column.alias: column.name for column in original.columns}
    parts = {
        column.name: names.get(column.path[0], column.path[0])
        for column in table.columns
        if column.path
    }
    return {
        part: facts.column_tags[column]
        for part, column in parts.items()
        if column in facts.column_tags
    }
