"""What every source of data gives: tables, what is declared of them, and relations to read them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

import duckdb

from fluid_build.sources.declarations.catalog_facts import FetchedCatalog
from fluid_build.sources.engine.interrupts import stop, was_interrupted
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.origin import Origin
from fluid_build.sources.text_values.conventions import NO_ANSWERS, Conventions
from fluid_build.sources.uri import Address

ENTRY = "*"
"""The place of an entry in a path: the keys of a map are data, and no fields."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the source declares it.

    ``name`` is the source's own spelling. ``alias`` is the name of the same column inside the
    relation: equal to ``name`` except where two names of a table differ in case alone, which
    DuckDB cannot tell apart. ``declared_type`` is in the source's words (empty where it declares
    none), ``type`` in DuckDB's, as the relation yields it. ``spelling`` is the convention
    that the column's text follows in a file: a decimal mark, or the format of a date. ``path``
    are the fields that lead to the value where it was nested, the column it was in first, with
    ``ENTRY`` for the keys and values of a map.
    """

    name: str
    type: str
    declared_type: str = ""
    nullable: bool = True
    comment: str | None = None
    alias: str = ""
    generated: bool = False
    notes: tuple[str, ...] = ()
    spelling: str = ""
    path: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.alias:
            object.__setattr__(self, "alias", self.name)


@dataclass(frozen=True, slots=True)
class DeclaredForeignKey:
    """A foreign key that the source declares; columns pair up by position.

    ``by_collation`` counts the rows that refer to a key only as the source compares text.
    """

    columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]
    by_collation: int = 0


@dataclass(frozen=True, slots=True)
class SampledRows:
    """The part of a table that was read: ``rows`` of ``total``, which is None if nobody knows.

    ``is_estimate`` says that the server only estimates the total.
    """

    rows: int
    total: int | None = None
    is_estimate: bool = False


@dataclass(frozen=True, slots=True)
class Documents:
    """Rows with nested columns, as they were read before they were split into tables.

    ``original`` and ``rebuilt`` are queries for the rows: as they were read, and put together again
    from the tables. ``original`` has JSON text as structs and lists, so ``json_parts`` has, for
    each such column, the queries for all parts of its documents on either side. ``is_numbered``
    says that the rows are identified by the order in which they were read.
    """

    table: "Table"
    tables: tuple[str, ...]
    original: str
    rebuilt: str
    json_parts: tuple[tuple[str, str], ...] = ()
    is_numbered: bool = False


@dataclass(frozen=True, slots=True)
class Split:
    """How a table was split from rows with nested columns.

    The SQL ``before`` and ``after`` goes around any other reading of ``documents.table``, and
    together they may follow FROM. ``is_root`` is the table that has a row for each document.
    """

    documents: Documents
    before: str
    after: str
    is_root: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table: what is declared of it, and where to read it.

    ``name`` is unique in the source: the bare name, or ``schema.name`` where several schemas are
    read. ``relation`` is SQL that may follow FROM on the source's connection; its columns are the
    columns' aliases in order. ``notes`` are sentences about what was met on the way in (ragged
    lines, values that contradict a type) that a user must see. ``origin`` is where it can be read
    again, and None where there is nothing to read. ``source`` is the name of its source where
    several are combined, and then the first part of ``name`` too (``crm.customers``). ``sampled``
    is set where only a part of the rows was read, so that nothing is proven of the others.
    ``split`` says how it came out of a table with nested columns, whose ``origin`` it has. Two rows
    with a null break the unique keys in ``keys_with_equal_nulls`` (NULLS NOT DISTINCT), which
    servers see to, so that they are only read of DDL and dumps.
    """

    name: str
    columns: tuple[Column, ...]
    relation: str
    primary_key: tuple[str, ...] = ()
    unique_keys: tuple[tuple[str, ...], ...] = ()
    foreign_keys: tuple[DeclaredForeignKey, ...] = ()
    schema: str = ""
    comment: str | None = None
    notes: tuple[str, ...] = ()
    origin: Origin | None = None
    source: str = ""
    sampled: SampledRows | None = None
    split: Split | None = None
    keys_with_equal_nulls: frozenset[tuple[str, ...]] = frozenset()

    @property
    def own_name(self) -> str:
        """The name inside its own source."""
        return self.name.removeprefix(f"{self.source}.") if self.source else self.name

    def column(self, name: str) -> Column:
        """Return the column of that exact name; KeyError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something of the source that could not be read, and why, in one sentence."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class OpenedAs:
    """The address that a source was opened at, and the options it was opened with."""

    address: Address
    options: OpenOptions


@runtime_checkable
class Source(Protocol):
    """A place that data is read from, and never written to.

    ``kind`` is the name of its kind (``addresses.kinds``). ``name`` is short and
    holds neither a path nor a password, fit for a title or an identifier. ``has_data`` is False
    where there is only structure (DDL), so that an empty table proves nothing. ``conventions`` are
    the user's answers on how text is written. ``opened_as`` is where
    ``open_source`` found it. ``catalog`` is what a data catalog says of it, None without one.
    ``keys`` are those of tables that were read in part, None where the server isn't asked.
    ``regrouped`` has the tables that decisions regroup, each with why it couldn't be, "" where it
    was. Every
    table of ``tables`` can be read on ``connection``. A source is a context manager; leaving it
    frees the connection and any temporary files. A Ctrl-C while a query runs leaves the ``with``
    block as a KeyboardInterrupt.
    """

    kind: str
    name: str
    has_data: bool
    connection: duckdb.DuckDBPyConnection
    tables: tuple[Table, ...]
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...]
    conventions: Conventions
    opened_as: OpenedAs | None
    catalog: FetchedCatalog | None
    keys: "KeysAtServer | None"
    regrouped: Mapping[str, str]

    def relation(self, table: Table) -> duckdb.DuckDBPyRelation:
        """Return the rows of a table, lazily."""
        ...

    def close(self) -> None:
        """Free the connection and whatever was put aside for it."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...


class Cleanable(Protocol):
    """Something put aside for a source, such as a temporary folder."""

    def cleanup(self) -> None:
        """Remove it."""
        ...


class KeysAtServer(Protocol):
    """The keys of tables that were read in part, looked up where they are."""

    def matching(self, table: str, column: str, values: str) -> set[str] | None:
        """Return which values a column of a table has at the server, as text.

        ``values`` is a query of them on the source's connection, one column of text. None where
        the server can't tell.
        """
        ...


@dataclass
class OpenSource:
    """The plain Source that every opener returns; ``cleanup`` runs last on close."""

    kind: str
    name: str
    connection: duckdb.DuckDBPyConnection
    tables: tuple[Table, ...]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    has_data: bool = True
    cleanup: list[Cleanable] = field(default_factory=list)
    conventions: Conventions = NO_ANSWERS
    opened_as: OpenedAs | None = None
    catalog: FetchedCatalog | None = None
    keys: KeysAtServer | None = None
    regrouped: Mapping[str, str] = field(default_factory=dict)

    def relation(self, table: Table) -> duckdb.DuckDBPyRelation:
        """Return the rows of a table, lazily."""
        return self.connection.sql(f"FROM {table.relation}")

    def close(self) -> None:
        """Free the connection and whatever was put aside for it."""
        try:
            stop(self.connection)
        finally:
            while self.cleanup:
                self.cleanup.pop().cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
        if was_interrupted(exc):
            raise KeyboardInterrupt from None
