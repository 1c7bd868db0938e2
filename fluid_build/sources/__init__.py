"""Where data comes from. ``open_source(uri)`` is the one way in."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fluid_build.errors import UsageError
from fluid_build.progress import OnProgress, ignore
from fluid_build.sources.conventions import NO_ANSWERS, Conventions
from fluid_build.sources.kinds import Option
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.table_choice import OnTables, any_tables
from fluid_build.sources.uri import Address, locate

if TYPE_CHECKING:
    from fluid_build.sources.base import Source

__all__ = ["open_source"]


def open_source(
    place: str | Path | Address,
    *,
    schemas: Sequence[str] = (),
    dialect: str | None = None,
    conventions: Conventions = NO_ANSWERS,
    name: str | None = None,
    memory_limit: str | None = None,
    on_tables: OnTables = any_tables,
    on_progress: OnProgress = ignore,
) -> "Source":
    """Open a database, a folder, a file or a glob for reading; use it in a ``with`` block.

    ``place`` is a URI, a path, or an address that ``locate`` returned. ``schemas`` picks schemas of
    a database that has several (default: all that hold tables). ``dialect`` is the SQL dialect of
    a DDL file (default: detected). ``conventions`` answer how numbers and dates in text are
    written where the data leaves that open. ``name`` is what to call the source (default: what a
    catalog, its file or its folder calls it). ``memory_limit`` bounds DuckDB's memory (``"2GB"``).
    ``on_tables`` is told the tables once they are known, before their rows are read, and may
    raise. Raises a SourceError that says what is wrong with the place, or UsageError for an
    option that the kind of source has no use for.
    """
    address = place if isinstance(place, Address) else locate(str(place))
    _check_option(address, "schemas", bool(schemas), "--schema")
    _check_option(address, "dialect", dialect is not None, "--dialect")
    _check_option(address, "conventions", conventions != NO_ANSWERS, "--decimal and --date-order")
    from fluid_build.sources.base import OpenedAs
    from fluid_build.sources.source_names import check_name

    options = OpenOptions(
        schemas=tuple(schemas),
        dialect=dialect,
        conventions=conventions,
        memory_limit=memory_limit,
        on_tables=on_tables,
        on_progress=on_progress,
    )
    module, _, function = address.kind.opener.partition(":")
    opened: Source = getattr(importlib.import_module(module), function)(address.place, options)
    opened.opened_as = OpenedAs(address, options)
    opened.conventions = conventions
    if name is not None:
        opened.name = check_name(name)
    return opened


def _check_option(address: Address, option: Option, is_set: bool, spelled: str) -> None:
    if not is_set or option in address.kind.options:
        return
    meaning = {
        "schemas": "schemas to choose from",
        "dialect": "SQL dialect",
        "conventions": "text to read numbers and dates from",
    }[option]
    raise UsageError(
        f"{address.kind.phrase[:1].upper()}{address.kind.phrase[1:]} has no {meaning}.",
        hint=f"Remove {spelled}.",
    )
