"""Which live table an expose is, and which live column each column of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fluid_build.contract.fluid import ContractColumn, Expose, FluidContract
from fluid_build.contract.printable import escaped
from fluid_build.errors import SourceNotFoundError, UsageError
from fluid_build.sources.base import Column, Source, Table
from fluid_build.text import listed_up_to

_LISTED = 5


@dataclass(frozen=True, slots=True)
class LiveTable:
    """The table of an expose.

    ``columns`` has the live column of each column of the contract that is there. ``is_original``
    says that it may be the table that the exposed one is made of: there a column may still be
    stored as text.
    """

    table: Table
    columns: Mapping[str, Column]
    is_original: bool


def live_tables(contract: FluidContract, source: Source) -> tuple[LiveTable | None, ...]:
    """Return the live table of each expose, in their order; None where there is none.

    Looked for are, in turn, the table of the binding, the exposeId and the label
    ``source-table``; a name in the same case goes before one in another. SourceNotFoundError
    where not one is there, UsageError where a name fits several tables.
    """
    tables = tuple(_live_table(expose, source) for expose in contract.exposes)
    if not any(tables):
        raise _nothing_there(contract, source)
    return tables


def exposed_columns(expose: Expose) -> Sequence[ContractColumn]:
    """Return the columns that an expose promises; none where an OpenAPI document describes it."""
    return expose.contract.columns or ()


def table_named(name: str, source: Source, schemas: Sequence[str] = ()) -> Table | None:
    """Return the live table of a name, with or without schema; of several, one in ``schemas``."""
    for same in (_is_same, _is_alike):
        fitting = [table for table in source.tables if same(name, table)]
        preferred = [table for table in fitting if table.schema.lower() in schemas]
        chosen = preferred or fitting
        if len(chosen) == 1:
            return chosen[0]
        if chosen:
            names = ", ".join(escaped(table.name) for table in chosen[:_LISTED])
            raise UsageError(
                f"The contract's table {escaped(name)} could be any of {names}.",
                hint="Pass the schema to test with --schema.",
            )
    return None


def column_named(name: str, table: Table) -> Column | None:
    """Return the live column of a name, in the same case if possible; None if it's ambiguous."""
    for column in table.columns:
        if column.name == name:
            return column
    alike = [column for column in table.columns if column.name.lower() == name.lower()]
    return alike[0] if len(alike) == 1 else None


def _live_table(expose: Expose, source: Source) -> LiveTable | None:
    location = expose.binding.location
    schemas = [name.lower() for name in (location.schema_name, location.dataset) if name]
    origin = (expose.labels or {}).get("source-table")
    for name in (location.table, expose.expose_id, origin):
        table = table_named(name, source, schemas) if name else None
        if table is not None:
            is_original = origin is not None and _is_alike(origin, table)
            promised = _as_promised(expose, table)
            return LiveTable(promised, _columns(expose, promised), is_original)
    return None


def _as_promised(expose: Expose, table: Table) -> Table:
    """Return a table as its contract has it: split, or with its nested columns as they are."""
    if table.split is None or not table.split.is_root:
        return table
    nested = table.split.documents.table
    return max((table, nested), key=lambda form: len(_columns(expose, form)))


def _columns(expose: Expose, table: Table) -> dict[str, Column]:
    live_columns = {}
    for column in exposed_columns(expose):
        origin = (column.labels or {}).get("source-column")
        live = column_named(column.name, table)
        if live is None and origin is not None:
            live = column_named(origin, table)
        if live is not None:
            live_columns[column.name] = live
    return live_columns


def bare_name(table: Table) -> str:
    """Return the name of a table without the schema that it may be told apart by."""
    for prefix, end in ((f'"{table.schema}"."', -1), (f"{table.schema}.", None)):
        if table.schema and table.name.startswith(prefix):
            return table.name[len(prefix) : end]
    return table.name


def _is_same(name: str, table: Table) -> bool:
    return name in _names(table)


def _is_alike(name: str, table: Table) -> bool:
    return name.lower() in {each.lower() for each in _names(table)}


def _names(table: Table) -> tuple[str, str, str]:
    bare = bare_name(table)
    return table.name, bare, f"{table.schema}.{bare}"


def _nothing_there(contract: FluidContract, source: Source) -> SourceNotFoundError:
    exposed = _list_names([expose.expose_id for expose in contract.exposes])
    existing = _list_names([table.name for table in source.tables])
    is_built = any(expose.labels and "layer" in expose.labels for expose in contract.exposes)
    hint = (
        "The contract describes what its dbt project builds. Run `dbt build`, then pass the "
        "database and schema that it builds in."
        if is_built
        else "Pass the database (and with --schema the schema) that has the contract's tables."
    )
    return SourceNotFoundError(
        f"None of the contract's tables exists. It describes {exposed}; the source "
        f"{escaped(source.name)} has {existing or 'no tables'}.",
        hint=hint,
    )


def _list_names(names: Sequence[str]) -> str:
    return listed_up_to(_LISTED, [escaped(name) for name in names])
