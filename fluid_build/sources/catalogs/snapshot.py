"""What a catalog says at one moment: tables with their columns, keys, owners, tags and lineage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Protocol, runtime_checkable

from fluid_build.sources.base import Skipped
from fluid_build.sources.declarations.catalog_facts import CatalogOwner


@dataclass(frozen=True, slots=True)
class CatalogColumn:
    """A column as a catalog declares it; ``native_type`` is in the words of the table's engine."""

    name: str
    native_type: str
    nullable: bool = True
    comment: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CatalogForeignKey:
    """A declared reference to a table of the same catalog; columns pair by position.

    ``to_schema`` is "" for the table's own schema, and ``to_columns`` is empty for the primary key.
    """

    columns: tuple[str, ...]
    to_schema: str
    to_table: str
    to_columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FilesLocation:
    """Files that hold a table's rows: a URI, their format, and the columns that folders name.

    ``options`` are how a CSV is written (``delimiter``, ``header``), where the catalog says so.
    """

    uri: str
    format: str
    partitions: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table as a catalog declares it.

    ``schema`` is the database, schema or dataset that it's in. ``dialect`` is sqlglot's name
    for the engine of its native types. ``upstream`` are full names of tables that it's made of.
    """

    schema: str
    name: str
    columns: tuple[CatalogColumn, ...]
    address: str = ""
    dialect: str = ""
    comment: str = ""
    primary_key: tuple[str, ...] = ()
    unique_keys: tuple[tuple[str, ...], ...] = ()
    foreign_keys: tuple[CatalogForeignKey, ...] = ()
    tags: tuple[str, ...] = ()
    owners: tuple[CatalogOwner, ...] = ()
    domain: str = ""
    upstream: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    location: FilesLocation | None = None
    is_view: bool = False


@dataclass(frozen=True, slots=True)
class CatalogSnapshot:
    """The selected tables of a catalog, and what it says of them as a whole.

    ``title`` is the catalog's own name, such as ``AWS Glue``. ``name`` is what the data is called
    there: a database, a schema, a product.
    """

    title: str
    name: str
    tables: tuple[CatalogTable, ...]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    product: str = ""
    owner: CatalogOwner | None = None
    domain: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of a catalog to read: globs on schemas, and on tables with or without their schema.

    Nothing in ``schemas`` or ``include`` means all. Case doesn't count, as in most catalogs.
    """

    schemas: Sequence[str] = ()
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def takes_schema(self, schema: str) -> bool:
        """Return whether a schema is selected."""
        return not self.schemas or _matches(self.schemas, schema)

    def takes_table(self, schema: str, table: str) -> bool:
        """Return whether a table is selected, and its schema with it."""
        names = (table, f"{schema}.{table}")
        is_included = not self.include or _matches(self.include, *names)
        is_excluded = _matches(self.exclude, *names)
        return self.takes_schema(schema) and is_included and not is_excluded


@runtime_checkable
class MeasurableCatalog(Protocol):
    """A catalog whose login reads the files of its tables as well."""

    def store_login(self) -> Mapping[str, str]:
        """Return the parameters of DuckDB's secret for S3; none to use the environment's."""
        ...


class Catalog(Protocol):
    """A data catalog that can be asked for tables."""

    def fetch(self, selection: Selection) -> CatalogSnapshot:
        """Return the selected tables as the catalog declares them."""
        ...


def _matches(patterns: Sequence[str], *names: str) -> bool:
    folded = [name.casefold() for name in names]
    return any(fnmatchcase(name, glob.casefold()) for glob in patterns for name in folded)


def merge_tags(*groups: Sequence[str]) -> tuple[str, ...]:
    """Return tags once each, in order, without blank ones."""
    return tuple(dict.fromkeys(tag.strip() for group in groups for tag in group if tag.strip()))
