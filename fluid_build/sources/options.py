"""What a user asks of the reading of a source, and the options that every opener gets."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypedDict

from fluid_build.progress import OnProgress, ignore
from fluid_build.sources.addresses.kinds import Option
from fluid_build.sources.credentials import NamedSettings, no_settings
from fluid_build.sources.scan_estimate import OnScan, any_scan
from fluid_build.sources.table_choice import (
    OnTables,
    OnUnmatched,
    any_tables,
    refuse_unmatched,
)
from fluid_build.sources.text_values.conventions import NO_ANSWERS, Conventions

Nested: TypeAlias = Literal["split", "keep"]
"""What becomes of nested columns: child tables, or columns as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """What of a source is read, and how; an opener looks at what its kind of source has.

    ``schemas``, ``include`` and ``exclude`` are globs: of schemas, and of tables by their name with
    or without its schema. Nothing in ``schemas`` or ``include`` means all. ``views`` says whether
    views are read as well. ``sample`` is how many rows of a table are read at most, and None for
    all. ``full`` says to read a warehouse in full, however much that scans. ``dialect`` is the SQL
    dialect of DDL and dumps, None to detect it. ``conventions`` answer how numbers and dates in
    text are written where the data leaves that open. ``encoding`` is that of text files that aren't
    Unicode, None to guess it.
    """

    schemas: Sequence[str] = ()
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    views: bool = False
    sample: int | None = None
    full: bool = False
    nested: Nested = "split"
    dialect: str | None = None
    conventions: Conventions = NO_ANSWERS
    encoding: str | None = None

    def __post_init__(self) -> None:
        for name in ("schemas", "include", "exclude"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def as_settings(self) -> "ReadSettings":
        """Return the options as keywords of ``open_source``."""
        return ReadSettings(
            schemas=self.schemas,
            include=self.include,
            exclude=self.exclude,
            views=self.views,
            sample=self.sample,
            full=self.full,
            nested=self.nested,
            dialect=self.dialect,
            conventions=self.conventions,
            encoding=self.encoding,
        )


class ReadSettings(TypedDict, total=False):
    """The fields of ``ReadOptions``, as keywords."""

    schemas: Sequence[str]
    include: Sequence[str]
    exclude: Sequence[str]
    views: bool
    sample: int | None
    full: bool
    nested: Nested
    dialect: str | None
    conventions: Conventions
    encoding: str | None


READ_ALL = ReadOptions()
"""Every table in full, nested columns split."""

FLAGS: Mapping[Option, str] = {
    "schemas": "--schema",
    "tables": "--include and --exclude",
    "views": "--views",
    "sample": "--sample",
    "full": "--full",
    "nested": "--nested",
    "dialect": "--dialect",
    "conventions": "--decimal and --date-order",
    "encoding": "--encoding",
}
"""The options of a command line that ask for each."""


def options_set(requested: ReadOptions) -> list[Option]:
    """Return the options that differ from their defaults."""
    is_set: dict[Option, bool] = {
        "schemas": bool(requested.schemas),
        "tables": bool(requested.include or requested.exclude),
        "views": requested.views,
        "sample": requested.sample is not None,
        "full": requested.full,
        "nested": requested.nested != "split",
        "dialect": requested.dialect is not None,
        "conventions": requested.conventions != NO_ANSWERS,
        "encoding": requested.encoding is not None,
    }
    return [option for option, differs in is_set.items() if differs]


def options_for(requested: ReadOptions, options: Collection[Option]) -> ReadOptions:
    """Return the requested options as far as a kind of source takes ``options``."""
    ignored = [option for option in FLAGS if option not in options]
    fields = {name for option in ignored for name in _FIELDS.get(option, (option,))}
    return replace(requested, **{name: getattr(READ_ALL, name) for name in fields})


_FIELDS: Mapping[Option, tuple[str, ...]] = {"tables": ("include", "exclude")}
"""The fields of an option that has several; the others are called after their option."""


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
