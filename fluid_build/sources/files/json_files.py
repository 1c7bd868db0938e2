"""JSON files (arrays, or one value a line), staged with their nesting kept."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp

import duckdb
from duckdb.sqltypes import DuckDBPyType

from fluid_build import limits
from fluid_build.sources.addresses.periods import FILE_NAME, PeriodColumn
from fluid_build.sources.base import Column
from fluid_build.sources.files.hive_keys import by_lower_name, keys_of, shadowed_columns
from fluid_build.sources.files.json_numbers import loses_digits, with_long_numbers_as_text
from fluid_build.sources.files.json_texts import as_text, has_nameless, settle_texts
from fluid_build.sources.files.layout import TableFiles, partitions
from fluid_build.sources.origin import FilePart, InFiles, Options
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_values import encodings
from fluid_build.sources.text_values.personal_text import holds_personal
from fluid_build.sources.text_values.utf8_copies import rewrite
from fluid_build.sources.uri import as_pattern

# Records with many fields of one type would otherwise be taken for maps, and lose their columns.
_OPTIONS: Options = (
    ("maximum_object_size", str(64 * 1024 * 1024)),
    ("map_inference_threshold", "-1"),
    # Types inside each other; what is deeper is one JSON document. Finding types without an end
    # takes gigabytes for a file of brackets.
    ("maximum_depth", "100"),
)
_NEVER = literal("no text is a date, %% a time")
_NO_DATES: Options = (("dateformat", _NEVER), ("timestampformat", _NEVER))
"""Formats that nothing has, for text to stay text where the types of columns can't be given."""
_NUMBERED = re.compile("(.*?)(?:_?[0-9]+)+")
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class _Lines:
    """A JSONL file without its broken lines, and the numbers of those."""

    place: Path
    broken: list[int]
    total: int


def column_names(connection: duckdb.DuckDBPyConnection, path: Path) -> tuple[str, ...]:
    """Return the fields of a JSON file's records, judged by its start.

    Duckdb.Error if unreadable.
    """
    options = _arguments((("sample_size", "1000"), *_OPTIONS))
    rows = connection.execute(
        f"DESCRIBE FROM read_json({literal(as_pattern(str(path)))}, {options})"
    ).fetchall()
    return tuple(row[0] for row in rows)


def stage_json(
    connection: duckdb.DuckDBPyConnection,
    files: TableFiles,
    relation: str,
    folder: Path,
    encoding: str | None = None,
) -> tuple[tuple[Column, ...], tuple[str, ...], InFiles]:
    """Stage the files of one table; its columns, notes on what was met, and how it was read.

    ``encoding`` is what text is in that isn't Unicode, None to guess it.
    Raises ValueError where there is nothing to read, OSError, EOFError, zlib.error or
    duckdb.Error where a file can't be read.
    """
    present, places, other, notes = _in_unicode(files, folder, encoding)
    if not places:
        raise ValueError("It is empty.")
    copied = places != present
    broken: list[str] = []
    try:
        found = _found(connection, places, files, _OPTIONS)
    except duckdb.InvalidInputException:
        if files.format != "jsonl":
            raise
        places, broken = _without_broken_lines(places, folder)
        if not broken:
            raise
        found = _found(connection, places, files, _OPTIONS)
        notes += broken
    options = _OPTIONS
    if any(holds_personal(str(type_)) for type_ in found.values()):
        options = tuple((dict(options) | dict(_KEYS_AS_DATA)).items())
        found = _found(connection, places, files, options)
    has_long_numbers = loses_digits(
        connection, _objects(places), {name: str(type_) for name, type_ in found.items()}
    )
    if has_long_numbers:
        places = _quoted_copies(connection, places, folder)
        found = _found(connection, places, files, options)
        notes.append(_LONG_NUMBERS)
    own = _has_its_names(connection, places, found)
    partitioned = any(partitions(path, files.root) for path in present)
    keys = keys_of(connection, replace(files, paths=tuple(present)))
    shadowed: Mapping[str, str] = {}
    if partitioned:
        place_of = dict(zip(present, places, strict=True))
        shadowed = shadowed_columns(
            connection,
            replace(files, paths=tuple(present)),
            found,
            lambda name, paths: _one_column(
                [place_of[path] for path in paths], files, name, found[name]
            ),
        )
        found = {name: type_ for name, type_ in found.items() if name not in shadowed}
        places = [_below_keys(path, place, files.root, folder) for path, place in place_of.items()]
    call = (*_options(files, options), *keys.options)
    texts = _columns({name: as_text(type_) for name, type_ in found.items()}) if own else _NO_DATES
    period = _PeriodOfPlaces(files.period, present, places) if files.period else None
    _create(connection, places, (*call, *texts), relation, period)
    said = settle_texts(connection, relation, found)
    rows = connection.execute(f"DESCRIBE {relation}").fetchall()
    if [row[:2] for row in rows] == [("json", "JSON")] and not _has_rows(connection, relation):
        connection.execute(f"DROP TABLE {relation}")
        raise ValueError("It has no records.")
    of_keys = by_lower_name(shadowed, keys.notes)
    columns = tuple(
        Column(name, type_, notes=(*said.get(name, ()), *of_keys.get(name.lower(), ())))
        for name, type_, *_ in rows
    )
    settled = _columns({column.name: column.type for column in columns if column.name in found})
    origin = InFiles(
        format=files.format,
        root=files.root,
        parts=(FilePart(tuple(present), (*call, *(settled if own else texts)), encoding=other),),
        partitioned=partitioned,
        mended=bool(broken) or has_long_numbers,
        copied=copied,
        period=files.period,
    )
    return columns, tuple(notes), origin


def _in_unicode(
    files: TableFiles, folder: Path, encoding: str | None
) -> tuple[list[Path], list[Path], str, list[str]]:
    """Return the files that aren't empty, and where each can be read as UTF-8.

    With them the encoding of those that had to be copied, and notes on what was copied. DuckDB's
    reader of JSON wants UTF-8 and takes no byte order mark.
    """
    present: list[Path] = []
    places: list[Path] = []
    other = "utf-8"
    notes: list[str] = []
    for path in files.paths:
        text = encodings.examine(path, named=encoding)
        if not encodings.start_of(path, 4096).strip(b"\xef\xbb\xbf \r\n\t"):
            continue
        present.append(path)
        marked = encodings.start_of(path, 3) == b"\xef\xbb\xbf"
        if text.encoding == "utf-8" and not marked:
            places.append(path)
            continue
        copy, replaced = rewrite(path, text, folder)
        places.append(copy)
        notes += encodings.notes_on(path.name, text, replaced)
        if text.encoding != "utf-8":
            other = text.encoding
    return present, places, other, notes


def _found(
    connection: duckdb.DuckDBPyConnection, places: list[Path], files: TableFiles, options: Options
) -> dict[str, DuckDBPyType]:
    """Return the columns that DuckDB finds in the files themselves, with their types."""
    arguments = _arguments((*_options(files, options), ("hive_partitioning", "false")))
    described = connection.sql(f"FROM read_json([{_patterns(places)}], {arguments})")
    limits.check_columns(described.columns)
    return dict(zip(described.columns, described.types, strict=True))


def _has_its_names(
    connection: duckdb.DuckDBPyConnection, places: list[Path], found: Mapping[str, DuckDBPyType]
) -> bool:
    """Return whether each column has the name of its field, so that its type can be given by it.

    DuckDB numbers names that differ in case alone, and replaces an empty one.
    """
    if any("\0" in name for name in found) or any(map(has_nameless, found.values())):
        return False
    lower = {name.lower() for name in found}
    if not any(
        (numbered := _NUMBERED.fullmatch(name)) and numbered[1].lower() in lower | {"c"}
        for name in found
    ):
        return True
    rows = connection.execute(
        f"SELECT DISTINCT unnest(json_keys(json)) FROM {_objects(places)}"
    ).fetchall()
    return set(found) <= {key for (key,) in rows}


def _columns(types: Mapping[str, str]) -> Options:
    fields = (f"{literal(name)}: {literal(type_)}" for name, type_ in types.items())
    return (("columns", "{" + ", ".join(fields) + "}"),)


_KEYS_AS_DATA: Options = (
    ("map_inference_threshold", "0"),
    ("field_appearance_threshold", "1"),
)
"""Read objects as maps where their keys are values, such as the e-mail addresses of people.

As the names of a struct's fields they would be part of the type, which is no secret.
"""


_LONG_NUMBERS = "Some numbers have more digits than a DOUBLE keeps; they were read as text."


def _objects(places: list[Path]) -> str:
    size = dict(_OPTIONS)["maximum_object_size"]
    return f"read_json_objects([{_patterns(places)}], maximum_object_size={size})"


def _patterns(places: list[Path]) -> str:
    return ", ".join(literal(as_pattern(str(place))) for place in places)


def _quoted_copies(
    connection: duckdb.DuckDBPyConnection, places: list[Path], folder: Path
) -> list[Path]:
    """Copy files with long numbers as text."""
    folder = Path(mkdtemp(dir=folder))
    copies = [folder / f"{number}.jsonl" for number in range(len(places))]
    objects = {copy: _objects([place]) for copy, place in zip(copies, places, strict=True)}
    with_long_numbers_as_text(connection, objects)
    return copies


def _below_keys(path: Path, place: Path, root: Path, folder: Path) -> Path:
    """Return where a file is read so that its path has its keys: a copy is linked below them."""
    if place == path:
        return path
    link = Path(mkdtemp(dir=folder)) / path.relative_to(root).parent / place.name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.hardlink_to(place)
    return link


def _one_column(places: list[Path], files: TableFiles, name: str, type_: DuckDBPyType) -> str:
    """Return a call that reads one column of some files, its text as text."""
    options = (
        *_options(files, _OPTIONS),
        ("hive_partitioning", "false"),
        *_columns({name: as_text(type_)}),
    )
    return f"read_json([{_patterns(places)}], {_arguments(options)})"


def _has_rows(connection: duckdb.DuckDBPyConnection, relation: str) -> bool:
    return connection.execute(f"SELECT 1 FROM {relation} LIMIT 1").fetchone() is not None


@dataclass(frozen=True, slots=True)
class _PeriodOfPlaces:
    """The period of each file, by the place where it's read from: the file, or a copy of it."""

    column: PeriodColumn
    files: list[Path]
    places: list[Path]

    def select(self, call: str) -> str:
        """Return a query that adds the periods to a call that reads the places."""
        places = ", ".join(literal(str(place)) for place in self.places)
        periods = ", ".join(literal(self.column.text(file)) for file in self.files)
        period = f"list_extract([{periods}], list_position([{places}], {FILE_NAME}))"
        return f"SELECT * EXCLUDE ({FILE_NAME}), {period} AS {quote(self.column.name)} FROM {call}"


def _create(
    connection: duckdb.DuckDBPyConnection,
    places: list[Path],
    options: Options,
    relation: str,
    period: _PeriodOfPlaces | None,
) -> None:
    patterns = _patterns(places)
    if period is None:
        query = f"FROM read_json([{patterns}], {_arguments(options)})"
    else:
        named = (*options, ("filename", literal(FILE_NAME)))
        query = period.select(f"read_json([{patterns}], {_arguments(named)})")
    connection.execute(f"CREATE TABLE {relation} AS {query}")


def _options(files: TableFiles, options: Options) -> Options:
    written = "newline_delimited" if files.format == "jsonl" else "auto"
    return (
        ("format", literal(written)),
        ("sample_size", "-1"),
        ("union_by_name", "true"),
        *options,
    )


def _arguments(options: Options) -> str:
    return ", ".join(f"{name}={value}" for name, value in options)


def _without_broken_lines(files: list[Path], folder: Path) -> tuple[list[Path], list[str]]:
    places: list[Path] = []
    notes: list[str] = []
    for file in files:
        lines = _checked(file, folder)
        places.append(lines.place)
        if lines.broken:
            numbers = ", ".join(f"{number}" for number in lines.broken[:_SHOWN])
            more = ", …" if len(lines.broken) > _SHOWN else ""
            notes.append(
                f"{len(lines.broken):,} of {lines.total:,} lines of {file.name} aren't valid "
                f"JSON and were left out: number {numbers}{more}."
            )
    return places, notes


def _checked(place: Path, folder: Path) -> _Lines:
    copy = folder / f"lines{sum(1 for _ in folder.iterdir())}.jsonl"
    broken: list[int] = []
    total = 0
    with copy.open("w", encoding="utf-8") as target:
        for total, line in enumerate(_lines(place), start=1):
            try:
                is_json = _is_json(line)
            except RecursionError:
                # It may be valid, so it isn't left out as one that is broken.
                raise ValueError(f"Line {total:,} has too many levels of brackets.") from None
            if is_json:
                target.write(line)
            else:
                broken.append(total)
    return _Lines(copy, broken, total)


def _lines(place: Path) -> Iterator[str]:
    for line in encodings.lines_of(place):
        if line.strip():
            yield line.rstrip("\r\n") + "\n"


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
