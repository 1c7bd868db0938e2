"""Where data comes from. ``open_source(uri)`` is the one way in.

``addresses.kinds`` has one record for each kind of source: its schemes, file endings and signature,
label, options, scanner and opener. ``uri`` locates a source once; the address goes with the
``Source`` from then on (``opened_as``). ``open_source`` returns the ``Source`` (``base``): its
tables with what they declare, and a DuckDB connection on which each table can be read.

DuckDB files and Parquet are read in place. Everything else is staged into a private DuckDB database
first, so that no type loses or changes a value, and the source is read once. Where DuckDB can't run
a query on a Parquet file, ``staged_views`` copies that table and the work is repeated.

- ``databases``: DuckDB and SQLite files. ``files``: delimited text, JSON, Parquet, workbooks and
  lakes, in a folder or mirrored from elsewhere. ``sql_text``: structure in DDL, and dumps with
  rows. ``servers``: the seven servers and warehouses, and the staging that they share.
  ``in_memory``: data frames and Arrow tables. ``catalogs``: what a data catalog declares.
- ``period_tables`` makes tables of a database for one period each one table, and
  ``nested`` splits tables with structs, lists and JSON into flat tables after any source was
  opened, and has the SQL that puts the documents together again. ``combined`` reads several sources
  as one.
- ``text_values``: what a text may be read as, in which spelling it comes back, how it is encoded,
  and whether a single value may be shown. ``engine``: the connection that all are read through.
  ``addresses`` and ``declarations``: what a source is named by, and called. ``sql`` is the one
  place where a name gets into SQL.

``neighbourhood`` says which files a folder may lead to unasked, ``selection`` and ``table_choice``
which tables are read, ``scan_estimate`` what a warehouse will scan, and ``credentials`` what logs
in to a catalog.
"""

import importlib
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from fluid_build.errors import UsageError
from fluid_build.progress import OnProgress, ignore
from fluid_build.sources.credentials import NamedSettings, no_settings
from fluid_build.sources.options import (
    Needs,
    OpenOptions,
    ReadOptions,
    ReadSettings,
    flags_with,
    needs_of,
)
from fluid_build.sources.scan_estimate import OnScan, any_scan
from fluid_build.sources.table_choice import (
    OnTables,
    OnUnmatched,
    any_tables,
    refuse_unmatched,
)
from fluid_build.sources.uri import Address, MemoryAddress, locate

if TYPE_CHECKING:
    from fluid_build.sources.base import OpenSource, Source

__all__ = ["open_source"]


def open_source(
    place: str | Path | Address,
    *,
    name: str | None = None,
    memory_limit: str | None = None,
    on_tables: OnTables = any_tables,
    on_unmatched: OnUnmatched = refuse_unmatched,
    on_scan: OnScan = any_scan,
    on_progress: OnProgress = ignore,
    settings: NamedSettings = no_settings,
    **reading: Unpack[ReadSettings],
) -> "Source":
    """Open a database, a folder, a file or a glob for reading; use it in a ``with`` block.

    ``place`` is a URI, a path, or an address that ``locate`` returned. ``name`` is what to call the
    source (default: what a catalog, its file or its folder calls it). ``memory_limit`` bounds
    DuckDB's memory (``"2GB"``). ``on_tables`` is told the tables once they are known, before their
    rows are read, and may raise. ``on_unmatched`` is told a glob that no table matches,
    and raises if it isn't given. ``on_scan`` is told how much a warehouse will scan. ``settings``
    returns what the configuration says of a named credential. ``reading`` are the fields of
    ``ReadOptions``. Raises a SourceError that says what is wrong with the place, or UsageError for
    an option that the kind of source has no use for.
    """
    address = place if isinstance(place, Address) else locate(str(place))
    requested = ReadOptions(**reading)
    for needs in needs_of(requested):
        if needs.name not in address.kind.options:
            raise _useless_option(address, needs)
    from fluid_build.sources.base import OpenedAs
    from fluid_build.sources.declarations.source_names import check_name

    options = OpenOptions(
        **requested.as_settings(),
        memory_limit=memory_limit,
        on_tables=on_tables,
        on_unmatched=on_unmatched,
        on_scan=on_scan,
        on_progress=on_progress,
        settings=settings,
    )
    module, _, function = address.kind.opener.partition(":")
    place_or_tables = address.tables if isinstance(address, MemoryAddress) else address.place
    opened: OpenSource = getattr(importlib.import_module(module), function)(
        place_or_tables, options
    )
    if opened.has_data:
        _reshape(opened, requested, address.kind.options, on_progress)
    opened.regrouped = {
        **{name: f"There's no table {name} of several parts." for name in requested.grouping.named},
        **opened.regrouped,
    }
    opened.opened_as = OpenedAs(address, options)
    opened.conventions = requested.conventions
    if name is not None:
        opened.name = check_name(name)
    return opened


def _reshape(
    opened: "OpenSource", requested: ReadOptions, options: Collection[str], on_progress: OnProgress
) -> None:
    """Unite tables and split nested columns; a source is closed if that fails."""
    from fluid_build.sources.engine.interrupts import was_interrupted
    from fluid_build.sources.nested.tables import split_nested
    from fluid_build.sources.period_tables import unite_decided, unite_periods

    try:
        if "periods" in options:
            unite_decided(opened, requested.grouping)
            if requested.periods == "unite":
                unite_periods(opened, requested.grouping)
        if requested.nested == "split" and "nested" in options:
            split_nested(opened, on_progress)
    except BaseException as error:
        opened.close()
        if was_interrupted(error):
            raise KeyboardInterrupt from None
        raise


def _useless_option(address: Address, needs: Needs) -> UsageError:
    phrase = address.kind.phrase
    verb = "have" if phrase.startswith("files") else "has"
    return UsageError(
        f"{phrase[:1].upper()}{phrase[1:]} {verb} no {needs.thing}.",
        hint=f"Remove {flags_with(needs)}.",
    )
