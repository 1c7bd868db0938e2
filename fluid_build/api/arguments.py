"""What the functions of the API take for a source, and how it's opened."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol, TypeAlias, TypedDict, Unpack

import duckdb

from fluid_build.api.progress import ProgressBar
from fluid_build.errors import UsageError, unknown_name
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.sources import open_source
from fluid_build.sources.base import Source
from fluid_build.sources.combined import CombinedSource, SourceRequest, open_several
from fluid_build.sources.engine.interrupts import was_interrupted
from fluid_build.sources.in_memory.source import is_table
from fluid_build.sources.options import (
    Needs,
    Nested,
    Periods,
    ReadOptions,
    check_some_take,
    options_for,
    options_with,
)
from fluid_build.sources.text_values.conventions import DateOrder, DecimalMark
from fluid_build.sources.uri import Address, in_memory, locate
from fluid_build.stated_options import stated_options, with_values

ONLY_TABLE = "data"
"""The name of a table that was passed without one."""


class ArrowTable(Protocol):
    """A table that hands out its rows through Arrow: of pandas, polars, pyarrow and others."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return a stream of the rows."""


class LazyTable(Protocol):
    """A polars LazyFrame."""

    def collect(self) -> Any:
        """Return the rows."""


TableLike: TypeAlias = ArrowTable | LazyTable | duckdb.DuckDBPyRelation
Place: TypeAlias = str | os.PathLike[str] | Address
OneSource: TypeAlias = Place | TableLike | Mapping[str, TableLike]
SourceLike: TypeAlias = OneSource | Source | Mapping[str, OneSource] | Sequence[OneSource]
"""A place, an open source, a table, tables by name, or several sources in a list or by name."""


class OpenSettings(TypedDict, total=False):
    """Options of opening a source, as keywords.

    ``schemas``, ``include`` and ``exclude`` are globs: of schemas, and of tables. ``views`` reads
    views as well, and ``sample`` bounds the rows of a table. ``full`` reads a warehouse however
    much that scans. ``nested`` says whether nested columns become tables of their own (``split``)
    or stay as they are (``keep``), and ``periods`` whether a database's tables for one period each
    are one (``unite``) or stay apart (``keep``). ``dialect`` is that of DDL. ``decimal`` and
    ``date_order`` answer how numbers and dates in text are written, and ``encoding`` is that of
    text files that aren't Unicode. ``name`` is what to call the source, and ``memory_limit`` bounds
    the engine's memory (``2GB``).
    """

    schemas: Sequence[str]
    include: Sequence[str]
    exclude: Sequence[str]
    views: bool
    sample: int | None
    full: bool
    nested: Nested
    periods: Periods
    dialect: str | None
    decimal: DecimalMark | None
    date_order: DateOrder | None
    encoding: str | None
    name: str | None
    memory_limit: str | None


@dataclass(frozen=True, slots=True)
class Opening:
    """How to open what was passed as a source, any number of times.

    ``source`` is one that its user has opened, who closes it as well, and None elsewhere.
    ``requests`` say what to open where there is no such source, or where it's closed by then.
    """

    requests: tuple[SourceRequest, ...] = ()
    source: Source | None = None
    name: str | None = None
    memory_limit: str | None = None

    @contextmanager
    def session(self, on_progress: OnProgress = ignore) -> Iterator[Source]:
        """Provide the source, open as long as the block lasts; an interrupt leaves it as such."""
        try:
            if self.source is not None and _is_open(self.source):
                yield self.source
            else:
                with self.open(on_progress) as source:
                    yield source
        except BaseException as error:
            if was_interrupted(error):
                raise KeyboardInterrupt from None
            raise

    def open(self, on_progress: OnProgress = ignore) -> Source:
        """Open the source; its user closes it."""
        if not self.requests:
            raise UsageError(
                "The source is closed, and has no address to open it again.",
                hint="Call this while the source is open.",
            )
        if len(self.requests) > 1:
            return open_several(
                self.requests,
                name=self.name,
                memory_limit=self.memory_limit,
                on_progress=on_progress,
            )
        (request,) = self.requests
        return open_source(
            request.address,
            name=self.name or request.name or None,
            memory_limit=self.memory_limit,
            on_progress=on_progress,
            settings=_configured_credential,
            **request.read.as_settings(),
        )


def _configured_credential(name: str) -> Mapping[str, object]:
    """Return what the configuration says of a named credential."""
    # Most sources have none, and don't wait for this import.
    from fluid_build.copilot.unified_config import credential_settings

    return credential_settings(name)


def opening(source: SourceLike, settings: OpenSettings) -> Opening:
    """Return how to open a source; UsageError if it isn't one, and for an unknown option."""
    read = _read_options(settings)
    name = settings.get("name")
    if isinstance(source, Source):
        if settings:
            raise UsageError(
                f"An open source takes no options, and {', '.join(settings)} was passed.",
                hint="Pass the options to fluid.open.",
            )
        return _reopening(source)
    addresses = _named_addresses(source, name)
    return Opening(_requests(addresses, read), name=name, memory_limit=settings.get("memory_limit"))


def _reopening(source: Source) -> Opening:
    """Return an open source as it is; closed, it's opened again where it has an address."""
    parts = source.parts if isinstance(source, CombinedSource) else (source,)
    addresses = [part.opened_as for part in parts if part.opened_as is not None]
    if len(addresses) < len(parts):
        return Opening(source=source)
    requests = tuple(
        SourceRequest(
            opened.address,
            part.name if len(parts) > 1 else "",
            ReadOptions(**opened.options.as_settings()),
        )
        for part, opened in zip(parts, addresses, strict=True)
    )
    return Opening(requests, source, source.name, addresses[0].options.memory_limit)


def _is_open(source: Source) -> bool:
    try:
        source.connection.execute("SELECT 1")
    except duckdb.ConnectionException:
        return False
    return True


def _named_addresses(source: object, name: str | None) -> list[tuple[str, Address]]:
    """Return the addresses of one source or of several, each with its name or ""."""
    if isinstance(source, Mapping):
        if not source:
            raise UsageError("There is no table to read.", hint="Pass at least one.")
        if any(map(is_table, source.values())) or not all(map(_is_source, source.values())):
            return [("", in_memory(source))]
        return [(_own_name(key), _address(value)) for key, value in source.items()]
    if isinstance(source, Sequence) and not isinstance(source, str | bytes):
        if not source:
            raise UsageError("There is no source to read.", hint="Pass at least one.")
        return [("", _address(each)) for each in source]
    return [("", _address(source, name))]


def _is_source(value: object) -> bool:
    return isinstance(value, str | os.PathLike | Address | Mapping) or is_table(value)


def _own_name(name: object) -> str:
    if isinstance(name, str) and name.isidentifier():
        return name.lower()
    raise UsageError(
        f"{name!r} isn't the name of a source.", hint="Use letters, digits and underscores."
    )


def _address(source: object, name: str | None = None) -> Address:
    if isinstance(source, Address):
        return source
    if isinstance(source, str | os.PathLike):
        place = os.fspath(source)
        if not isinstance(place, str) or not place.strip():
            raise UsageError("The source is empty.", hint="Pass a URI, a file or a folder.")
        return locate(place)
    if isinstance(source, Mapping):
        return in_memory(source)
    if is_table(source):
        return in_memory({name or ONLY_TABLE: source})
    raise UsageError(
        f"An object of type {type(source).__name__} isn't a source.",
        hint="Pass a URI, a path, a data frame, an Arrow table, a DuckDB relation, a dict of these"
        " by name, or a list of sources.",
    )


def _requests(named: Sequence[tuple[str, Address]], read: ReadOptions) -> tuple[SourceRequest, ...]:
    """Return what to open. Of several sources, each gets the options that its kind takes."""
    if len(named) == 1:
        ((name, address),) = named
        return (SourceRequest(address, name, read),)
    check_some_take(read, [address.kind for _, address in named], _keywords)
    return tuple(
        SourceRequest(address, name, options_for(read, address.kind.options))
        for name, address in named
    )


def _keywords(needs: Needs) -> str:
    return " and ".join(option.keyword for option in options_with(needs))


def _read_options(settings: OpenSettings) -> ReadOptions:
    known = OpenSettings.__annotations__
    choices = {option.keyword: option.choices for option in stated_options(ReadOptions)}
    values: dict[str, object] = {}
    for keyword, value in settings.items():
        if keyword not in known:
            raise unknown_name("option", keyword, known)
        if choices.get(keyword) and value not in choices[keyword]:
            known_values = " or ".join(repr(choice) for choice in choices[keyword] if choice)
            raise UsageError(f"{keyword}={value!r} isn't known.", hint=f"Use {known_values}.")
        is_one_glob = keyword in _GLOBS and isinstance(value, str)
        values[keyword] = (value,) if is_one_glob else value
    if not _is_row_limit(settings.get("sample")):
        raise UsageError(
            "A sample is a whole number of rows, at least one row.", hint="Pass sample=100_000."
        )
    return with_values(ReadOptions, values)


_GLOBS = {option.keyword for option in stated_options(ReadOptions) if option.default == ()}
"""Options with several globs; one of them may be passed by itself."""


def _is_row_limit(sample: object) -> bool:
    # NumPy's whole numbers are Integral, too.
    return sample is None or (isinstance(sample, Integral) and int(sample) >= 1)


@contextmanager
def reporting(on_progress: OnProgress | None) -> Iterator[OnProgress]:
    """Provide the callback of a call, and take a progress bar away at the end of it.

    Long queries are reported from a thread of ours. What the callback raises there is raised in
    the thread of the call, with the next report, so that a callback can end the work.
    """
    if on_progress is None:
        yield ignore
        return
    try:
        yield _in_calling_thread(on_progress)
    finally:
        if isinstance(on_progress, ProgressBar):
            on_progress.close()


def _in_calling_thread(on_progress: Callable[[Progress], object]) -> OnProgress:
    calling = threading.get_ident()
    raised: list[BaseException] = []

    def report(progress: Progress) -> None:
        if threading.get_ident() == calling:
            if raised:
                raise raised[0]
            on_progress(progress)
        elif not raised:
            try:
                on_progress(progress)
            except BaseException as error:  # noqa: BLE001  raised again in the calling thread
                raised.append(error)

    return report


def open(
    source: SourceLike, *, on_progress: OnProgress | None = None, **options: Unpack[OpenSettings]
) -> Source:
    """Open a source once for several calls; use it in a ``with`` block, in one thread at a time.

    ``options`` are those of ``OpenSettings``. Raises SourceError and UsageError.
    """
    with reporting(on_progress) as report:
        opened = opening(source, options)
        if opened.source is not None:
            raise UsageError("The source is open already.", hint="Pass it as it is.")
        return opened.open(report)
