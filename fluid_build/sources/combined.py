"""Several sources read as one: each table under the name of its source, on one connection."""

import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import duckdb

from fluid_build.errors import EmptySourceError, UsageError
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.secrets import redact
from fluid_build.sources import open_source
from fluid_build.sources.addresses.kinds import COMBINED
from fluid_build.sources.base import DeclaredForeignKey, OpenSource, Skipped, Source, Table
from fluid_build.sources.declarations.source_names import check_name
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, Engine, reason, starting
from fluid_build.sources.engine.query_progress import following
from fluid_build.sources.nested.tables import split_nested
from fluid_build.sources.options import READ_ALL, Nested, ReadOptions
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.table_choice import TableName, refuse_unmatched
from fluid_build.sources.text_values.conventions import NO_ANSWERS
from fluid_build.sources.uri import Address
from fluid_build.temporary import OwnedFolder
from fluid_build.text import free_name

_HANDOVER = "handed_over"
"""The database inside a source's own connection that its tables are copied into."""
_LONGEST_NAME = 40
"""Characters of a source's name, which becomes a part of the names of its relations."""
_MOST_IN_NAME = 3
"""Sources whose names make the name of all; of more, the first two and their number do."""


@dataclass(frozen=True, slots=True)
class SourceRequest:
    """A source to read, how, and its name among others; "" for the name of its place."""

    address: Address
    name: str = ""
    read: ReadOptions = READ_ALL


@dataclass
class CombinedSource(OpenSource):
    """Several sources on one connection.

    ``parts`` are the sources, each under its own name here and with its tables as they are named
    here (``crm.customers``). They share the connection, so only the whole is closed.
    """

    parts: tuple[OpenSource, ...] = ()

    def part(self, name: str) -> OpenSource:
        """Return the source of that name; KeyError if there is none."""
        for part in self.parts:
            if part.name == name:
                return part
        raise KeyError(name)


def open_several(
    requests: Sequence[SourceRequest],
    *,
    name: str | None = None,
    memory_limit: str | None = None,
    on_progress: OnProgress = ignore,
) -> CombinedSource:
    """Open several sources as one, called ``name`` or after all of them; use it in ``with``.

    Every table is copied once, because DuckDB can't attach all kinds of sources at the same time
    without changing values. Raises what ``open_source`` does, UsageError for a source without data
    or for a name or an address that's given twice, and EmptySourceError where no table could be
    copied.
    """
    _check_distinct(requests)
    unmatched = _Unmatched(len(requests))
    names = {request.name for request in requests if request.name}
    parts: list[OpenSource] = []
    with starting(memory_limit) as engine, ExitStack() as fetched:
        # Files are checked against their text on this connection, which needs a place to load it.
        engine.stage(0)
        for number, request in enumerate(requests, start=1):
            with _opened(request, memory_limit, on_progress, unmatched) as source:
                own_name = request.name or free_name(source_identifier(source.name), names)
                names.add(own_name)
                part = _part(engine, source, own_name, f"source_{number}", on_progress)
                for folder in _handed_over(source):
                    part.cleanup.append(fetched.enter_context(folder))
            parts.append(_split(part, request, on_progress))
        unmatched.check()
        if not any(part.tables for part in parts):
            raise EmptySourceError(
                f"No table of {_joined(parts)} could be read.",
                hint="Look at each source with `fluid profile`.",
            )
        # From here on, the files live as long as the parts.
        fetched.pop_all()
        return CombinedSource(
            kind=COMBINED.name,
            name=check_name(name) if name is not None else _joined(parts),
            connection=engine.connection,
            tables=tuple(table for part in parts for table in part.tables),
            skipped=tuple(skipped for part in parts for skipped in part.skipped),
            notes=tuple(note for part in parts for note in part.notes),
            cleanup=[engine, *(each for part in parts for each in part.cleanup)],
            conventions=next(
                (part.conventions for part in parts if part.conventions != NO_ANSWERS), NO_ANSWERS
            ),
            regrouped={each: why for part in parts for each, why in part.regrouped.items()},
            parts=tuple(parts),
        )


def _handed_over(source: Source) -> list[OwnedFolder]:
    """Take the folders of fetched files from a source, which would remove them when it's closed."""
    if not isinstance(source, OpenSource):
        return []
    folders = [each for each in source.cleanup if isinstance(each, OwnedFolder)]
    source.cleanup[:] = [each for each in source.cleanup if not isinstance(each, OwnedFolder)]
    return folders


def _check_distinct(requests: Sequence[SourceRequest]) -> None:
    """Raise UsageError where two requests have the same name, or none and the same address."""
    names: set[str] = set()
    places: list[tuple[Address, ReadOptions]] = []
    for request in requests:
        if request.name and request.name in names:
            raise UsageError(
                f"Two sources are called {request.name}.",
                hint="Give each source a name of its own.",
            )
        place = (request.address, request.read)
        if not request.name and place in places:
            raise UsageError(
                f"{redact(request.address.place)} is given twice.",
                hint="Leave one out. If you mean it, give each a name: NAME=URI.",
            )
        names.add(request.name)
        places += [] if request.name else [place]


def source_identifier(text: str) -> str:
    """Return a text as the name of one of several sources: letters, digits and underscores."""
    name = re.sub(r"\W+", "_", text).strip("_").lower()[:_LONGEST_NAME].rstrip("_")
    return name or "source"


def _joined(parts: Sequence[OpenSource]) -> str:
    names = [part.name for part in parts]
    if len(names) > _MOST_IN_NAME:
        names = [*names[:2], "and", str(len(names) - 2), "more"]
    return "_".join(names)


def _unsplit(request: SourceRequest) -> Nested:
    return "keep" if "nested" in request.address.kind.options else request.read.nested


class _Unmatched:
    """The globs that match no table of a source; each has to match one of some source."""

    def __init__(self, sources: int) -> None:
        self._sources = sources
        self._names: dict[str, list[Sequence[TableName]]] = {}

    def note(self, pattern: str, names: Sequence[TableName]) -> None:
        """Remember that a pattern matches no table of one source."""
        self._names.setdefault(pattern, []).append(names)

    def check(self) -> None:
        """Raise UsageError for a pattern that no source has a table for."""
        for pattern, names in self._names.items():
            if len(names) == self._sources:
                refuse_unmatched(pattern, [name for each in names for name in each])


def _opened(
    request: SourceRequest,
    memory_limit: str | None,
    on_progress: OnProgress,
    unmatched: _Unmatched,
) -> Source:
    source = open_source(
        request.address,
        memory_limit=memory_limit,
        on_unmatched=unmatched.note,
        on_progress=on_progress,
        # Nested columns are split once they are copied, so that each document is copied once.
        **replace(request.read, nested=_unsplit(request)).as_settings(),
    )
    if not source.has_data:
        source.close()
        raise UsageError(
            f"{redact(request.address.place)} is DDL, which has no rows to compare with those of"
            " another source.",
            hint="Combine databases and data files only.",
        )
    return source


def _part(
    engine: Engine, source: Source, name: str, database: str, on_progress: OnProgress
) -> OpenSource:
    """Copy a source's tables to the engine's connection, and return them as a source there."""
    file = engine.folder / f"{database}.duckdb"
    source.connection.execute(f"ATTACH {literal(str(file))} AS {_HANDOVER}")
    tables, skipped = _copy(source, name, database, on_progress)
    source.connection.execute(f"DETACH {_HANDOVER}")
    engine.connection.execute(f"ATTACH {literal(str(file))} AS {database} (READ_ONLY)")
    return OpenSource(
        kind=source.kind,
        name=name,
        connection=engine.connection,
        tables=tuple(tables),
        skipped=(
            *(replace(skip, name=_qualified(name, skip.name)) for skip in source.skipped),
            *skipped,
        ),
        notes=tuple(f"{name}: {note}" for note in source.notes),
        conventions=source.conventions,
        opened_as=source.opened_as,
        regrouped={_qualified(name, each): why for each, why in source.regrouped.items()},
    )


def _split(part: OpenSource, request: SourceRequest, on_progress: OnProgress) -> OpenSource:
    """Split the nested columns of a source that was copied, if that's asked for."""
    if request.read.nested == "split" and "nested" in request.address.kind.options:
        split_nested(part, on_progress)
    if part.opened_as is not None:
        options = replace(part.opened_as.options, nested=request.read.nested)
        part.opened_as = replace(part.opened_as, options=options)
    return part


def _copy(
    source: Source, name: str, database: str, on_progress: OnProgress
) -> tuple[list[Table], list[Skipped]]:
    tables, skipped = [], []
    for number, table in enumerate(source.tables, start=1):
        report = Progress("reading", number - 1, len(source.tables), table.name)
        copy = quote(f"table_{number}")
        try:
            with following(source.connection, on_progress, report):
                source.connection.execute(
                    f"CREATE TABLE {_HANDOVER}.main.{copy} AS FROM {table.relation}"
                )
        except duckdb.InterruptException:
            raise
        except DUCKDB_ERRORS as error:
            skipped.append(Skipped(_qualified(name, table.name), reason(error)))
        else:
            tables.append(_renamed(table, name, f"{database}.main.{copy}"))
    on_progress(Progress("reading", len(source.tables), len(source.tables)))
    return tables, skipped


def _renamed(table: Table, source: str, relation: str) -> Table:
    return replace(
        table,
        name=_qualified(source, table.name),
        source=source,
        relation=relation,
        foreign_keys=tuple(_referring(source, table.foreign_keys)),
    )


def _referring(source: str, keys: Iterable[DeclaredForeignKey]) -> Iterable[DeclaredForeignKey]:
    return (replace(key, to_table=_qualified(source, key.to_table)) for key in keys)


def _qualified(source: str, table: str) -> str:
    return f"{source}.{table}"
