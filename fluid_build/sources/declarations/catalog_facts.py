"""What a catalog says of tables beyond their structure: owners, domains, tags and lineage."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CatalogOwner:
    """A team or person that a catalog names as an owner; ``email`` is "" where it has none."""

    name: str
    email: str = ""


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What a catalog says of a table.

    ``address`` is the table's full name there. ``upstream`` are the full names of the tables
    that it's made of. ``column_tags`` has the tags of each column that has some.
    """

    address: str = ""
    owners: tuple[CatalogOwner, ...] = ()
    domain: str = ""
    tags: tuple[str, ...] = ()
    column_tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    upstream: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CatalogFacts:
    """What a catalog says of a source: its tables' facts by their names in the source.

    ``catalog`` is the catalog's title. ``product`` is what it calls the data as a whole, and
    ``owner`` and ``domain`` are those of the whole; empty where it says nothing.
    """

    catalog: str
    tables: Mapping[str, TableFacts] = field(default_factory=dict)
    product: str = ""
    owner: CatalogOwner | None = None
    domain: str = ""

    def owners(self) -> list[tuple[CatalogOwner, int]]:
        """Return the owners with how many tables each has, most first; the whole's owner leads."""
        owners = (owner for facts in self.tables.values() for owner in facts.owners)
        return _ranked(owners, self.owner)

    def domains(self) -> list[tuple[str, int]]:
        """Return the domains with how many tables each has, most first; the whole's leads."""
        domains = (facts.domain for facts in self.tables.values() if facts.domain)
        return _ranked(domains, self.domain or None)

    @property
    def declared_owner(self) -> CatalogOwner | None:
        """Return the owner of the whole, or the only one that tables have; None if unclear."""
        return self.owner or _only(self.owners())

    @property
    def declared_domain(self) -> str:
        """Return the domain of the whole, or the only one that tables have; "" if unclear."""
        return self.domain or _only(self.domains()) or ""

    def of(self, tables: Iterable[str]) -> Iterator[TableFacts]:
        """Yield the facts of some tables; those that the catalog says nothing of are left out."""
        for table in tables:
            if table in self.tables:
                yield self.tables[table]


@dataclass(frozen=True, slots=True)
class FetchedCatalog:
    """A catalog's facts, and how long reading them took."""

    name: str
    facts: CatalogFacts
    duration_ms: float


def _ranked(values: Iterable[T], first: T | None) -> list[tuple[T, int]]:
    counts = Counter(values)
    ranked = counts.most_common()
    if first is None:
        return ranked
    return [(first, counts.get(first, 0)), *(entry for entry in ranked if entry[0] != first)]


def _only(ranked: list[tuple[T, int]]) -> T | None:
    return ranked[0][0] if len(ranked) == 1 else None
