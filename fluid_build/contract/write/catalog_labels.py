"""What a data catalog says of the tables behind an expose, in the words of a contract."""

from collections.abc import Iterator

from fluid_build.contract.evidence_labels import Labels, names_label
from fluid_build.sources.declarations.catalog_facts import CatalogFacts, TableFacts
from fluid_build.transform.plan.elements import Build, PlanColumn


def table_tags(catalog: CatalogFacts | None, build: Build) -> tuple[str, ...]:
    """Return the catalog's tags of the tables that a build is made of."""
    return tuple(dict.fromkeys(tag for facts in _facts(catalog, build) for tag in facts.tags))


def table_labels(catalog: CatalogFacts | None, build: Build) -> Labels:
    """Return where the catalog has these tables, and who owns them there."""
    if catalog is None:
        return {}
    facts = list(_facts(catalog, build))
    values = {
        "catalog-tables": [each.address for each in facts if each.address],
        "catalog-owners": [owner.name for each in facts for owner in each.owners],
        "catalog-domains": [each.domain for each in facts if each.domain],
        "catalog-tags": [tag for each in facts for tag in each.tags],
    }
    labels = {
        name: names_label([*dict.fromkeys(entries)]) for name, entries in values.items() if entries
    }
    return {"catalog": catalog.catalog, **labels} if labels else {}


def column_tags(catalog: CatalogFacts | None, column: PlanColumn) -> tuple[str, ...]:
    """Return the catalog's tags of the one column that a column is made of."""
    if catalog is None or len(column.source_columns) != 1:
        return ()
    (origin,) = column.source_columns
    facts = catalog.tables.get(origin.table)
    return tuple(facts.column_tags.get(origin.column, ())) if facts else ()


def _facts(catalog: CatalogFacts | None, build: Build) -> Iterator[TableFacts]:
    if catalog is not None:
        yield from catalog.of(build.mapped_source_tables)
