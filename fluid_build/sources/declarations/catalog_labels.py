"""Tags, owners and domains in the labels of catalogs that have no field for them."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from fluid_build.sources.declarations.catalog_facts import CatalogOwner, TableFacts

TaggedPlace: TypeAlias = tuple[str, str, str, str, str]
"""A schema, table, column, tag and its value; the column is "" for a tag of the table."""

# The names that teams give such labels, without case and separators. A label of another name is
# a tag like any other.
_OWNER_KEYS = frozenset(
    "owner dataowner ownerteam owningteam team datateam businessowner datasteward steward".split()
)
_DOMAIN_KEYS = frozenset("domain datadomain businessdomain subjectarea".split())
_EMAIL_KEYS = frozenset("owneremail teamemail contact contactemail email".split())

# What an engine fills in by itself says nothing about who answers for the data.
_NOBODY = frozenset(
    "hadoop owner root admin administrator accountadmin sysadmin spark hive".split()
)


def owners_in(labels: Mapping[str, str]) -> tuple[CatalogOwner, ...]:
    """Return the owners that labels name, with the e-mail address of another label if there is."""
    names = [value for value in _values(labels, _OWNER_KEYS) if value.lower() not in _NOBODY]
    emails = list(_values(labels, _EMAIL_KEYS))
    if len(names) == 1 and len(emails) == 1:
        return (CatalogOwner(names[0], emails[0]),)
    return tuple(CatalogOwner(name) for name in dict.fromkeys(names))


def owner_named(name: str) -> tuple[CatalogOwner, ...]:
    """Return the owner of that name; none for a name that engines fill in by themselves."""
    name = name.strip()
    if not name or name.lower() in _NOBODY:
        return ()
    return (CatalogOwner(name, name if "@" in name else ""),)


def domain_in(labels: Mapping[str, str]) -> str:
    """Return the domain that labels name; "" where none does."""
    return next(iter(_values(labels, _DOMAIN_KEYS)), "")


def as_tags(labels: Mapping[str, str]) -> tuple[str, ...]:
    """Return labels as tags: ``name:value``, or the name alone where the value says no more."""
    return tuple(
        name if value.strip().lower() in ("", "true", "yes") else f"{name}:{value}"
        for name, value in labels.items()
    )


def tagged_tables(tags: Iterable[TaggedPlace], container: str) -> dict[tuple[str, str], TableFacts]:
    """Return what tags say of each table that has some, by its schema and name.

    ``container`` is the database that has the schemas.
    """
    labels: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for schema, table, column, tag, value in tags:
        labels.setdefault((schema, table), {}).setdefault(column, {})[tag] = value
    return {
        (schema, table): TableFacts(
            address=f"{container}.{schema}.{table}",
            owners=owners_in(columns.get("", {})),
            domain=domain_in(columns.get("", {})),
            tags=as_tags(columns.get("", {})),
            column_tags={name: as_tags(tagged) for name, tagged in columns.items() if name},
        )
        for (schema, table), columns in labels.items()
    }


def _values(labels: Mapping[str, str], keys: frozenset[str]) -> list[str]:
    return [
        value.strip()
        for name, value in labels.items()
        if "".join(filter(str.isalnum, name)).lower() in keys and value.strip()
    ]
