"""A warehouse that a folder is brought to: its relations, queries, transactions and its lock.

Both back ends take the same SQL. Values are ``$1``, ``$2`` and so on, and names are quoted by
``named``. A warehouse is only open while it's read or changed: dbt opens a DuckDB file by itself.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias
from urllib.parse import unquote

from fluid_build.secrets import redact, without_passwords
from fluid_build.sources.sql import quote

Engine: TypeAlias = Literal["duckdb", "postgres"]
Value: TypeAlias = object
Row: TypeAlias = tuple[object, ...]
NO_VALUES: Sequence[Value] = ()
_PLAIN_TYPE = re.compile(r"[A-Za-z][A-Za-z0-9_ ]*(\(\d+(, ?\d+)?\)[A-Za-z ]*)?(\[\d*\])*")


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or view of a warehouse, and its columns with the engine's own names of their types"""

    name: str
    columns: Mapping[str, str]
    is_view: bool = False


class Warehouse(Protocol):
    """A connection to a warehouse, with the schema that a folder's relations are in."""

    @property
    def engine(self) -> Engine:
        """What kind of database it is."""
        ...

    @property
    def schema(self) -> str:
        """Where the relations of the folder are."""
        ...

    @property
    def version(self) -> str:
        """The engine and its version, by which two hashes may be compared."""
        ...

    def relations(self) -> Mapping[str, Relation]:
        """Return every table and view of the schema by name."""
        ...

    def query(self, sql: str, values: Sequence[Value] = NO_VALUES) -> Sequence[Row]:
        """Run a statement and return its rows. Raises WarehouseError."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Commit what the block does together, or nothing of it."""
        ...

    def named(self, relation: str) -> str:
        """Return the quoted name of a relation of the schema."""
        ...


class Lock(Protocol):
    """The right to change a warehouse, which nobody else has at the time."""

    def check(self) -> None:
        """Raise WarehouseBusyError where the right was lost, because a connection broke."""
        ...


@dataclass(frozen=True, slots=True)
class Location:
    """Where a warehouse is, and how dbt, which reads the environment, is led to the same place.

    ``place`` is a DuckDB file or a PostgreSQL connection string, which may hold a password.
    """

    engine: Engine
    place: str
    schema: str
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """The place for people: without a password, and as it's read rather than escaped."""
        if self.engine == "duckdb":
            return redact(self.place)
        return redact(unquote(without_passwords(self.place)))


def is_plain_type(type_: str) -> bool:
    """Return whether a type is a word or words with numbers, which may stand in a statement.

    What a warehouse recorded of its types could be anything.
    """
    return _PLAIN_TYPE.fullmatch(type_) is not None


def qualified(schema: str, relation: str) -> str:
    """Return the quoted name of a relation in a schema."""
    return f"{quote(schema)}.{quote(relation)}"
