"""Nested documents rebuilt from the tables that they were split into, and compared.

The rest of the proof compares a model with those tables, so a document that lost something when it
was split would pass.
"""

import duckdb

from fluid_build.modeling.element import ModelPart
from fluid_build.sources.base import Source, Table
from fluid_build.text import counted
from fluid_build.transform.plan.execution import build_failure
from fluid_build.transform.proof.row_comparison import Counts, between, count, describe


class NestedProof(ModelPart):
    """The documents of a table that was split, as they were read and as rebuilt from the tables.

    ``tables`` are those that they were split into, ``documents`` and ``rebuilt`` their numbers.
    ``missing`` documents are in the source and weren't rebuilt, ``unexpected`` ones the other way
    round. ``types_equal`` says whether every column was rebuilt with its type.
    """

    tables: tuple[str, ...]
    documents: int
    rebuilt: int
    missing: int
    unexpected: int
    types_equal: bool

    @property
    def holds(self) -> bool:
        """Whether every document was rebuilt exactly, and no other."""
        return self.types_equal and not self.missing and not self.unexpected

    @property
    def sentence(self) -> str:
        """The result as a clause about the table."""
        tables = counted(len(self.tables), "table")
        if self.holds:
            return f"{counted(self.documents, 'document')} rebuilt exactly from {tables}"
        if not self.missing and not self.unexpected:
            return f"documents rebuilt from {tables} have other types"
        return (
            f"{self.missing:,} of {counted(self.documents, 'document')} can't be rebuilt from"
            f" {tables}, and {self.unexpected:,} rebuilt ones aren't in the source"
        )


def prove_nested(source: Source, table: Table) -> NestedProof | None:
    """Rebuild the documents of a table and compare them; None where it has none.

    Raises BuildFailedError where a query of the comparison can't be run.
    """
    if table.split is None or not table.split.is_root:
        return None
    documents = table.split.documents
    connection = source.connection
    try:
        original, rebuilt = (
            describe(connection, query) for query in (documents.original, documents.rebuilt)
        )
        counts = _compare(connection, documents.original, documents.rebuilt)
        parts = [_compare(connection, *queries) for queries in documents.json_parts]
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:
        raise build_failure(
            source.connection, f"The documents of {table.name!r} couldn't be rebuilt", error
        ) from error
    return NestedProof(
        tables=documents.tables,
        documents=counts.original,
        rebuilt=counts.rebuilt,
        missing=max(each.missing for each in (counts, *parts)),
        unexpected=max(each.unexpected for each in (counts, *parts)),
        types_equal=original == rebuilt,
    )


def _compare(connection: duckdb.DuckDBPyConnection, original: str, rebuilt: str) -> Counts:
    columns = describe(connection, original), describe(connection, rebuilt)
    return count(connection, between(original, columns[0], rebuilt, columns[1]))
