"""What the tags of a data catalog say about columns: that they hold personal data."""

import re

from fluid_build.profiling.profile import NO_STATISTICS, ColumnProfile, Profile, TableProfile
from fluid_build.sources.declarations.catalog_facts import CatalogFacts

# The words that catalogs and their classifiers use; Snowflake's own tag is PRIVACY_CATEGORY.
_PERSONAL = re.compile(
    r"(?<![a-z0-9])(pii|phi|gdpr|personal|personally|privacy[_ ]category)(?![a-z0-9])",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?<![a-z0-9])(no|not|non|none|false|without|excluded|public)(?![a-z0-9])", re.IGNORECASE
)


def is_personal_tag(tag: str) -> bool:
    """Return whether a tag says that its column holds personal data: ``PII``, ``gdpr:yes``."""
    return bool(_PERSONAL.search(tag)) and not _DENIED.search(tag)


def with_tagged_columns(profile: Profile) -> Profile:
    """Return the profile with each column that the catalog tags as personal taken for personal.

    The values of such a column aren't kept.
    """
    catalog = profile.catalog
    if catalog is None:
        return profile
    tables = tuple(_with_tags(table, catalog) for table in profile.tables)
    return profile.model_copy(update={"tables": tables})


def _with_tags(table: TableProfile, catalog: CatalogFacts) -> TableProfile:
    facts = catalog.tables.get(table.name)
    if facts is None:
        return table
    columns = tuple(
        _with_tag(column, facts.column_tags.get(column.name, ()), catalog.catalog)
        for column in table.columns
    )
    return table.model_copy(update={"columns": columns})


def _with_tag(column: ColumnProfile, tags: tuple[str, ...], catalog: str) -> ColumnProfile:
    tag = next(filter(is_personal_tag, tags), None)
    if tag is None or column.pii:
        return column
    return column.model_copy(
        update={
            "pii": True,
            "min": None,
            "max": None,
            "top_values": (),
            **NO_STATISTICS,
            "semantic_reason": column.semantic_reason or f"Tagged {tag} in {catalog}.",
        }
    )
