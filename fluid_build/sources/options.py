"""What a user asks of the reading of a source, and the options that every opener gets."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, TypeAlias, TypedDict, cast, get_type_hints

from fluid_build.errors import UsageError
from fluid_build.progress import OnProgress, ignore
from fluid_build.sources.addresses.kinds import SourceKind
from fluid_build.sources.credentials import NamedSettings, no_settings
from fluid_build.sources.grouping import AS_NAMED, Grouping
from fluid_build.sources.scan_estimate import OnScan, any_scan
from fluid_build.sources.table_choice import (
    OnTables,
    OnUnmatched,
    any_tables,
    refuse_unmatched,
)
from fluid_build.sources.text_values.conventions import NO_ANSWERS, Conventions
from fluid_build.stated_options import Flag, Parts, StatedOption, field_values, stated_options

Nested: TypeAlias = Literal["split", "keep"]
"""What becomes of nested columns: child tables, or columns as they are."""
Periods: TypeAlias = Literal["unite", "keep"]
"""What becomes of a database's tables for one period each: one table, or tables as they are."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a kind of source has to have for an option to be of use.

    ``name`` is what ``SourceKind.options`` calls it. A kind that isn't listed there has no
    ``thing``.
    """

    name: str
    thing: str


_TABLES = Needs("tables", "tables to choose from")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """What of a source is read, and how; an opener looks at what its kind of source has.

    ``schemas``, ``include`` and ``exclude`` are globs: of schemas, and of tables by their name with
    or without its schema. Nothing in ``schemas`` or ``include`` means all. ``views`` says whether
    views are read as well. ``sample`` is how many rows of a table are read at most, and None for
    all. ``full`` says to read a warehouse in full, however much that scans. ``periods`` says
    whether tables of a database whose names differ only in a period are one. ``dialect`` is the SQL
    dialect of DDL and dumps, None to detect it. ``conventions`` answer how numbers and dates in
    text are written where the data leaves that open. ``encoding`` is that of text files that aren't
    Unicode, None to guess it. ``grouping`` says which tables are one and which aren't: decisions
    set it, and no flag.
    """

    schemas: Annotated[
        Sequence[str],
        Flag(
            "--schema",
            "Read only this schema of a database; a glob such as 'sales*' works (repeatable).",
            "NAME",
        ),
        Needs("schemas", "schemas to choose from"),
    ] = ()
    include: Annotated[
        Sequence[str],
        Flag(
            "--include",
            "Read only these tables; a glob such as 'dim_*' works (repeatable).",
            "TABLE",
        ),
        _TABLES,
    ] = ()
    exclude: Annotated[
        Sequence[str],
        Flag(
            "--exclude",
            "Leave these tables out; a glob such as '*_backup' works (repeatable).",
            "TABLE",
        ),
        _TABLES,
    ] = ()
    views: Annotated[
        bool, Flag("--views", "Read the views of a database as well."), Needs("views", "views")
    ] = False
    sample: Annotated[
        int | None,
        Flag("--sample", "Read at most about this many rows of each table of a server.", "ROWS"),
        Needs("sample", "way to read a part of a table"),
    ] = None
    full: Annotated[
        bool,
        Flag("--full", "Read a warehouse in full, however many bytes its queries will scan."),
        Needs("full", "price for what is read"),
    ] = False
    nested: Annotated[
        Nested,
        Flag(
            "--nested",
            "What becomes of nested columns: split (child tables, the default) or keep.",
            "HOW",
            noun="a way to read nested columns",
            hint="Use --nested split (child tables) or --nested keep.",
        ),
        Needs("nested", "nested columns"),
    ] = "split"
    periods: Annotated[
        Periods,
        Flag(
            "--periods",
            "What becomes of tables of a database for one period each, such as sales_2023 and"
            " sales_2024: unite (one table, the default) or keep.",
            "HOW",
            noun="a way to read tables for one period each",
            hint="Use --periods unite (one table) or --periods keep.",
        ),
        Needs("periods", "tables for one period each"),
    ] = "unite"
    dialect: Annotated[
        str | None,
        Flag("--dialect", "SQL dialect of a .sql file; detected by default.", "NAME"),
        Needs("dialect", "SQL dialect"),
    ] = None
    conventions: Annotated[
        Conventions,
        Parts(Conventions, make=lambda answers: answers, take=lambda answers: answers),
        Needs("conventions", "text to read numbers and dates from"),
    ] = NO_ANSWERS
    encoding: Annotated[
        str | None,
        Flag(
            "--encoding",
            "Encoding of text files that aren't Unicode, such as windows-1251; guessed by default.",
            "NAME",
        ),
        Needs("encoding", "text file to decode"),
    ] = None
    grouping: Grouping = AS_NAMED

    def __post_init__(self) -> None:
        for name in ("schemas", "include", "exclude"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def as_settings(self) -> "ReadSettings":
        """Return the options as keywords of ``open_source``."""
        return cast("ReadSettings", field_values(self, ReadOptions))


class ReadSettings(TypedDict, total=False):
    """The fields of ``ReadOptions``, as keywords: type checkers take them from nothing else."""

    schemas: Sequence[str]
    include: Sequence[str]
    exclude: Sequence[str]
    views: bool
    sample: int | None
    full: bool
    nested: Nested
    periods: Periods
    dialect: str | None
    conventions: Conventions
    encoding: str | None
    grouping: Grouping


READ_ALL = ReadOptions()
"""Every table in full, nested columns split."""

_NEEDS: Mapping[str, Needs] = {
    name: mark
    for name, hint in get_type_hints(ReadOptions, include_extras=True).items()
    for mark in getattr(hint, "__metadata__", ())
    if isinstance(mark, Needs)
}
"""What each field needs of a source."""


def needs_of(requested: ReadOptions) -> list[Needs]:
    """Return what the options that differ from their defaults need of a source."""
    differing = (
        needs
        for name, needs in _NEEDS.items()
        if getattr(requested, name) != getattr(READ_ALL, name)
    )
    return list(dict.fromkeys(differing))


def options_with(needs: Needs) -> list[StatedOption]:
    """Return the options that need the same."""
    return [option for option in stated_options(ReadOptions) if _NEEDS[option.field] == needs]


def options_taken(kind: SourceKind) -> list[StatedOption]:
    """Return the options that a kind of source takes."""
    return [
        option
        for option in stated_options(ReadOptions)
        if _NEEDS[option.field].name in kind.options
    ]


def flags_with(needs: Needs) -> str:
    """Return how a command line asks for the options that need the same."""
    return " and ".join(option.flag.name for option in options_with(needs))


def options_for(requested: ReadOptions, options: Collection[str]) -> ReadOptions:
    """Return the requested options as far as a kind of source takes ``options``."""
    ignored = (name for name, needs in _NEEDS.items() if needs.name not in options)
    return replace(requested, **{name: getattr(READ_ALL, name) for name in ignored})


def check_some_take(
    requested: ReadOptions, kinds: Collection[SourceKind], said: Callable[[Needs], str]
) -> None:
    """Raise UsageError for an option that no kind of source takes, as it's ``said`` here."""
    for needs in needs_of(requested):
        if not any(needs.name in kind.options for kind in kinds):
            words = said(needs)
            raise UsageError(f"None of the sources takes {words}.", hint=f"Remove {words}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOptions(ReadOptions):
    """What an opener gets: what is read, and how the reading is bounded and followed.

    ``settings`` returns what the configuration says of a named credential.
    """

    memory_limit: str | None = None
    on_tables: OnTables = any_tables
    on_unmatched: OnUnmatched = refuse_unmatched
    on_scan: OnScan = any_scan
    on_progress: OnProgress = ignore
    settings: NamedSettings = no_settings

    def in_schema(self, schema: str) -> "OpenOptions":
        """Return the options with the schema that an address names, unless others are chosen."""
        return self if self.schemas or not schema else replace(self, schemas=(schema,))
