"""Tables of a folder of files that have no file today, because nothing of them changed."""

from collections.abc import Iterable, Iterator, Set
from pathlib import Path

from fluid_build.decisions.deliveries import partial_tables
from fluid_build.decisions.language import AnyDecision
from fluid_build.forging.design_file import read_basis
from fluid_build.modeling.basis import Basis, as_read
from fluid_build.sources.base import Column, Source, Table
from fluid_build.sources.origin import InFiles
from fluid_build.sources.sql import quote


def with_undelivered(source: Source, out: Path | None, decisions: Iterable[AnyDecision]) -> None:
    """Give a source an empty table for each that delivers what changed, and has no file today.

    ``out`` is the folder of the model that knows their columns. A file that couldn't be read is no
    delivery that is missing, and a table that is delivered whole is gone.
    """
    there = {table.name for table in source.tables} | {each.name for each in source.skipped}
    missing = partial_tables(decisions) - there
    roots = [each.origin.root for each in source.tables if isinstance(each.origin, InFiles)]
    if not missing or out is None or not roots or len(roots) < len(source.tables):
        return
    basis = read_basis(out)
    if basis is not None:
        source.tables = (*source.tables, *_empty_tables(basis, missing, roots[0]))


def undelivered_tables(source: Source) -> tuple[str, ...]:
    """Return the tables of a source that have no file today."""
    return tuple(
        table.name
        for table in source.tables
        if isinstance(table.origin, InFiles) and not table.origin.parts
    )


def _empty_tables(basis: Basis, names: Set[str], root: Path) -> Iterator[Table]:
    evolution = basis.evolution
    now = {each.table: each.now for each in evolution.renamed_tables}
    gone = {(each.table, each.column) for each in evolution.retired_columns}
    own = {(each.table, each.column): each.now for each in evolution.narrower_columns}
    called = {(each.table, each.column): each.now for each in evolution.renamed_columns}
    for table in as_read(basis).tables:
        name = table.name
        if now.get(name, name) in names:
            columns = tuple(
                Column(
                    called.get((name, each.name), each.name),
                    own.get((name, each.name), each.type),
                    each.declared_type,
                )
                for each in table.columns
                if (name, each.name) not in gone
            )
            yield _empty(now.get(name, name), columns, root)


def _empty(name: str, columns: tuple[Column, ...], root: Path) -> Table:
    nothing = ", ".join(f"CAST(NULL AS {each.type}) AS {quote(each.name)}" for each in columns)
    # A format that nobody reads again: text is, to see whether it was read right.
    origin = InFiles("parquet", root, parts=(), in_place=False)
    return Table(name, columns, f"(SELECT {nothing} WHERE FALSE)", origin=origin)
