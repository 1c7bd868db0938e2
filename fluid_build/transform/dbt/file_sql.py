"""The SQL by which DuckDB reads the data files of a table again, as they were read.

It comes in pieces, SQL and the files between, so that the same SQL can name the files of this
machine (to be checked) and those of a project (to be written).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from fluid_build.sources.addresses.endings import Format
from fluid_build.sources.addresses.periods import FILE_NAME, PeriodColumn
from fluid_build.sources.files.layout import partitions
from fluid_build.sources.origin import FilePart, InFiles, Options
from fluid_build.sources.sql import literal, quote

Pieces: TypeAlias = Sequence[str | tuple[Path, ...]]

_ENCODINGS = {"cp1252": "latin-1", "latin_1": "latin-1", "utf-16": "utf-16", "utf-16-le": "utf-16"}
"""DuckDB's names of the encodings that it has built in. Windows-1252 is Latin-1 except for 32
control characters; if a file has one of them, the comparison shows it."""

_BY_EXTENSION: Mapping[Format, tuple[str, bool]] = {
    "avro": ("read_avro", True),
    "delta": ("delta_scan", True),
    # Which version is the newest isn't always written down.
    "iceberg": ("iceberg_scan", False),
    # It takes the types of the first row for those of all.
    "excel": ("read_xlsx", False),
}
"""The function that reads a format, and whether it surely reads what we did."""

_DEFAULTS: Mapping[str, str] = {"skip": "0", "compression": "'none'"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way of reading a table. ``certain`` says that it's exactly how we read it."""

    pieces: Pieces
    certain: bool = False


def candidates(origin: InFiles, columns: Sequence[tuple[str, str]]) -> Iterator[Candidate]:
    """Return ways of reading the files, the plainest first; none where DuckDB has none.

    ``columns`` are the table's, by name and type.
    """
    if not origin.in_place:
        return
    if origin.format == "parquet":
        calls = [(part, part.options) for part in origin.parts]
        yield Candidate(_joined("read_parquet", calls, origin.period), True)
    elif origin.format == "csv":
        yield from _csv(origin)
    elif origin.format in _BY_EXTENSION:
        function, is_certain = _BY_EXTENSION[origin.format]
        calls = [(part, part.options) for part in origin.parts]
        yield Candidate(_joined(function, calls, origin.period), is_certain)
    elif all(part.encoding == "utf-8" for part in origin.parts):
        yield from _json(origin, columns)


def _csv(origin: InFiles) -> Iterator[Candidate]:
    unknown = any(part.encoding not in ("utf-8", *_ENCODINGS) for part in origin.parts)
    if unknown or origin.trimmed:
        return
    padded: Options = (("null_padding", "true"),)
    lenient: Options = (*padded, ("strict_mode", "false"))
    if origin.mended:
        for extra in (padded, lenient):
            yield Candidate(_csv_pieces(origin, extra, typed=True))
        return
    yield Candidate(_csv_pieces(origin, (), typed=True))
    yield Candidate(_csv_pieces(origin, (), typed=False))
    yield Candidate(_csv_pieces(origin, None, typed=False), certain=not origin.copied)


def _csv_pieces(origin: InFiles, extra: Options | None, *, typed: bool) -> Pieces:
    """Return a call with ``extra`` options; None keeps all that we read with, even the limits."""
    calls = []
    for part in origin.parts:
        options_kept = [
            (name, value)
            for name, value in part.options
            if extra is None or (name != "max_line_size" and _DEFAULTS.get(name) != value)
        ]
        if part.encoding != "utf-8":
            options_kept.append(("encoding", literal(_ENCODINGS[part.encoding])))
        types = {name: type_ if typed else "VARCHAR" for name, type_ in part.types}
        options = (
            ("auto_detect", "false"),
            *options_kept,
            *(extra or ()),
            *_hive(origin),
            ("columns", _struct(types)),
        )
        calls.append((part, options))
    return _joined("read_csv", calls, origin.period)


def _hive(origin: InFiles) -> Options:
    if origin.partitioned:
        # A partition's text gets its type like that of the files, not by a guess of DuckDB's.
        return (("hive_partitioning", "true"), ("hive_types_autocast", "false"))
    if any("=" in str(path) for part in origin.parts for path in part.paths):
        return (("hive_partitioning", "false"),)
    return ()


def _json(origin: InFiles, columns: Sequence[tuple[str, str]]) -> Iterator[Candidate]:
    keys = {
        key for part in origin.parts for path in part.paths for key in partitions(path, origin.root)
    }
    of_path = keys | {origin.period.name} if origin.period else keys
    types = {name: type_ for name, type_ in columns if name not in of_path}
    options_read = {name: value for part in origin.parts for name, value in part.options}
    hive: list[tuple[str, str]] = []
    if origin.partitioned:
        hive = [
            ("hive_partitioning", "true"),
            ("hive_types", _struct({n: t for n, t in columns if n in keys}, quoted=False)),
        ]
    ignoring: Options = (("ignore_errors", "true"),) if origin.mended else ()
    pinned: Options = (
        ("format", options_read["format"]),
        *ignoring,
        *hive,
        ("columns", _struct(types)),
    )
    yield Candidate(_joined("read_json", [(part, pinned) for part in origin.parts], origin.period))
    as_read = [(part, (*part.options, *ignoring)) for part in origin.parts]
    certain = not (origin.mended or origin.copied)
    yield Candidate(_joined("read_json", as_read, origin.period), certain)


def _struct(types: Mapping[str, str], *, quoted: bool = True) -> str:
    fields = (
        f"{literal(name)}: {literal(type_) if quoted else type_}" for name, type_ in types.items()
    )
    return "{" + ", ".join(fields) + "}"


def _joined(
    function: str, calls: Iterable[tuple[FilePart, Options]], period: PeriodColumn | None
) -> Pieces:
    """Return the calls of a function one after another, with their column expressions.

    ``period`` is a column that the names of the files give.
    """
    if period is not None:
        named = [(part, (*options, ("filename", literal(FILE_NAME)))) for part, options in calls]
        return [f"(SELECT {period.select_list} FROM ", *_joined(function, named, None), ")"]
    parts = [_call(function, part, options) for part, options in calls]
    if len(parts) == 1:
        (pieces, is_select) = parts[0]
        return ["(", *pieces, ")"] if is_select else pieces
    pieces_joined: list[str | tuple[Path, ...]] = ["("]
    for number, (pieces, is_select) in enumerate(parts):
        pieces_joined += [" UNION ALL BY NAME "] if number else []
        pieces_joined += pieces if is_select else ["SELECT * FROM ", *pieces]
    return [*pieces_joined, ")"]


def _call(function: str, part: FilePart, options: Options) -> tuple[Pieces, bool]:
    """Return one call, and whether it's a SELECT of its own."""
    arguments = "".join(f", {name}={value}" for name, value in options)
    call: Pieces = [f"{function}(", part.paths, f"{arguments})"]
    if not part.expressions:
        return call, False
    replacements = ", ".join(f"{value} AS {quote(name)}" for name, value in part.expressions)
    return [f"SELECT * REPLACE ({replacements}) FROM ", *call], True
