"""What the relations of a vault that keep a history have in common."""

from collections.abc import Sequence

from fluid_build.modeling.data_vault.elements import (
    HashKeyStrategy,
    KeylessTable,
    Link,
    ReferenceTable,
    Satellite,
)
from fluid_build.text import listed
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import Build, BuildTest, MacroCall, PlanColumn
from fluid_build.transform.plan.hashing import comparable, exact, hashed_row, written_or_token
from fluid_build.transform.plan.history import History, filling
from fluid_build.transform.plan.macro_calls import called_sql, hashed_columns, macro_call
from fluid_build.transform.plan.validity import AppliedDate, applied_date


def history_build(
    element: Satellite | ReferenceTable | KeylessTable | Link,
    call: MacroCall,
    strategy: HashKeyStrategy,
    *,
    staging: str,
    columns: tuple[PlanColumn, ...],
    key: tuple[str, ...],
    tests: tuple[BuildTest, ...],
    added: tuple[str, ...] = (),
) -> Build:
    """Return the insert-only build of an element, which ``call`` loads.

    ``added`` are columns that joined it after its first rows.
    """
    made = called_sql(call, element.name, strategy)
    keys = [name for name in key if name != "load_date"]
    return Build(
        name=element.name,
        layer="raw_vault",
        materialization="incremental",
        title=element.name if isinstance(element, Satellite | Link) else element.table,
        description=element.description,
        sql=made.sql,
        next_load=made.next_load,
        filling=filling(staging, keys, added),
        call=call,
        ref_models=(staging,),
        columns=columns,
        key=key,
        tests=tests,
        mapped_source_tables=element.mapped_source_tables,
        source_columns=element.source_columns,
        reason=element.reason,
    )


def history_call(macro: str, history: History, **arguments: object) -> MacroCall:
    """Return the call that loads a history, with what it needs beside the pattern's arguments."""
    return macro_call(macro, **arguments, surplus=history.surplus)


def compared_columns(
    sources: VaultSources, table: str, columns: Sequence[str]
) -> dict[str, object]:
    """Return the arguments that say what of a payload rows are compared by, and hashed with."""
    payload = sources.columns(table, columns)
    present = sources.present
    return {
        **hashed_columns(named_types(payload), sources.vault.hash_key_strategy),
        "retired": [
            staged.name
            for staged, column in zip(payload, columns, strict=True)
            if not present.has(table, column)
        ],
        "other_hashes": present.have_other_hashes(table, columns)
        or bool(added_columns(sources, table, columns)),
    }


def added_columns(sources: VaultSources, table: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return which columns joined a payload after its first rows; of a new one, all were there."""
    later = sources.present.joined_later(table, columns)
    return sources.names.columns_of(table, later) if len(later) < len(columns) else ()


def applied_in_vault(sources: VaultSources, table: str) -> AppliedDate | None:
    """Return from when what a table says holds, unless that's when it was loaded."""
    types = dict(named_types(sources.staged[table].columns))
    return applied_date(table, types, sources.names, sources.present)


def named_types(columns: Sequence[PlanColumn]) -> list[tuple[str, str]]:
    """Return the name and type of each column."""
    return [(column.name, column.type) for column in columns]


def comparables(columns: Sequence[PlanColumn]) -> tuple[str, ...]:
    """Return the SQL that windows group columns by."""
    return tuple(comparable(column.name, column.type) for column in columns)


def hash_diff(sources: VaultSources, payload: Sequence[PlanColumn]) -> tuple[str, str]:
    """Return the SQL of the hash of a payload, and its name."""
    strategy = exact(sources.vault.hash_key_strategy)
    parts = [written_or_token(column.name, column.type, strategy) for column in payload]
    return hashed_row(parts, strategy), "hash_diff"


def one_row_a_load(table: str, key: Sequence[str]) -> str:
    """Return why a history has one row for a key and load, and what to do when it has more."""
    verb, each = ("identifies", "value") if len(key) == 1 else ("identify", "combination")
    return (
        f"{listed(key)} {verb} a row of {table}, so each load adds at most one row per {each}. If"
        " there are several, fix the duplicates at the source (or run `fluid forge` again), then"
        " reload."
    )
