"""Columns of files that have the name of a key in the path: ``day`` below ``day=2024-01-01``.

A table has one column of a name, so that one of the two values is lost where they differ.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import duckdb

from fluid_build.sources.files.layout import TableFiles, keys_in, partitions
from fluid_build.sources.origin import Options
from fluid_build.sources.sql import literal, quote
from fluid_build.text import listed, noun

_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
"""What Hive and Spark call the folder of rows whose key is null."""
_GUESSED = ("BIGINT", "DATE", "TIMESTAMP")
"""What DuckDB takes the text of keys for."""
_EMPTY = "Its files have an empty column of their own of this name; it has the keys in their path."
_SPELLINGS = (
    "Read as text: the paths of its files spell some values in several ways, such as 2024-1-1 and"
    " 2024-01-01, which would become one."
)


@dataclass(frozen=True, slots=True)
class Keys:
    """How the keys in paths are read: options for DuckDB's readers, and notes by column."""

    options: Options
    notes: Mapping[str, str] = field(default_factory=dict)


def keys_of(connection: duckdb.DuckDBPyConnection, files: TableFiles) -> Keys:
    """Return how the keys in the paths of a table's files are read.

    DuckDB guesses a type for each. One whose values would become fewer by it stays text, and the
    word null is null. Raises ValueError where some of the paths lack a key, which DuckDB doesn't
    read, have one twice, or have a value that it doesn't see.
    """
    refuse_repeated(files)
    for key, count in _lacking(files).items():
        raise ValueError(
            f"{count:,} of its {len(files.paths):,} files have no folder {key}=… in their path, as"
            " the others do. Move them into one."
        )
    texts: dict[str, set[str]] = {}
    for path in files.paths:
        for key, value in partitions(path, files.root).items():
            if "=" in value:
                raise ValueError(
                    f"The value of the folder {key}={value} has a =, so that it isn't read."
                    f" Rename it to {key}={value.replace('=', '%3D')}."
                )
            if "\ufffd" in unquote(value):
                raise ValueError(f"The folder {key}={value} isn't UTF-8 behind its % signs.")
            texts.setdefault(key, set()).update({unquote(value)} - {_HIVE_NULL})
    options: Options = (("hive_partitioning", str(bool(texts)).lower()),)
    as_text = [key for key, values in texts.items() if _coincide(connection, values)]
    if as_text:
        types = ", ".join(f"{literal(key)}: VARCHAR" for key in as_text)
        options += (("hive_types", f"{{{types}}}"),)
    nulls = {key: sorted(filter(_is_null, values)) for key, values in texts.items()}
    notes = {key: _note_on_nulls(key, words) for key, words in nulls.items() if words}
    return Keys(options, dict.fromkeys(as_text, _SPELLINGS) | notes)


def _is_null(text: str) -> bool:
    """Return whether DuckDB takes a key's text for null."""
    return text.upper() == "NULL"


def _note_on_nulls(key: str, words: Sequence[str]) -> str:
    folders = listed(f"{key}={word}" for word in words)
    return f"Null in the rows of the {noun(len(words), 'folder')} {folders}."


def refuse_repeated(files: TableFiles) -> None:
    """Raise ValueError where a path has the same key twice: which of the values is meant?"""
    for path in files.paths:
        counts = Counter(key.lower() for key, _ in keys_in(path, files.root))
        for key, count in counts.items():
            if count > 1:
                raise ValueError(
                    f"The path of {path.name} has {count} folders {key}=…, in"
                    f" {path.relative_to(files.root).parent}. Rename all but one."
                )


def notes_on_lacking(files: TableFiles) -> Iterator[str]:
    """Yield a note on each key that isn't in the path of every file."""
    for key, count in _lacking(files).items():
        yield (
            f"{key}: {count:,} of its {len(files.paths):,} files have no folder {key}=… in their"
            " path; null in their rows."
        )


def _lacking(files: TableFiles) -> dict[str, int]:
    """Return how many of the files lack each of the keys that paths of others have."""
    counts = Counter(key for path in files.paths for key in partitions(path, files.root))
    total = len(files.paths)
    return {key: total - count for key, count in counts.items() if count < total}


def _coincide(connection: duckdb.DuckDBPyConnection, texts: Collection[str]) -> bool:
    """Return whether texts become fewer values of a type that all of them fit."""
    fewer = " OR ".join(
        f"(count({value}) = count(*) AND count(DISTINCT {value}) < count(*))"
        for value in (f"TRY_CAST(v AS {type_})" for type_ in _GUESSED)
    )
    row = connection.execute(
        f"SELECT {fewer} FROM (SELECT unnest(?::VARCHAR[]) AS v)", [sorted(texts)]
    ).fetchone()
    return bool(row and row[0])


def key_sql(value: str) -> str:
    """Return the text of a key in a path as SQL."""
    return "NULL" if value == _HIVE_NULL else literal(unquote(value))


def shadowed_columns(
    connection: duckdb.DuckDBPyConnection,
    files: TableFiles,
    columns: Collection[str],
    read: Callable[[str, Sequence[Path]], str],
) -> dict[str, str]:
    """Return which of the files' own ``columns`` keys of their paths take the place of.

    Each has a note, or none where its values are the keys. ``read`` returns SQL for a relation that
    has such a column as some of the files have it, without keys. Raises ValueError where a value is
    another than the key.
    """
    own = {column.lower(): column for column in columns}
    alike: dict[tuple[str, str, str], list[Path]] = {}
    for path in files.paths:
        for key, value in partitions(path, files.root).items():
            if key.lower() in own:
                alike.setdefault((own[key.lower()], key, value), []).append(path)
    notes: dict[str, str] = {}
    for (column, key, value), paths in alike.items():
        is_empty = refuse_other_values(connection, read(column, paths), column, key, value)
        notes[column] = _EMPTY if is_empty else notes.get(column, "")
    return notes


def refuse_other_values(
    connection: duckdb.DuckDBPyConnection, relation: str, column: str, key: str, value: str
) -> bool:
    """Raise ValueError where a column has a value that isn't the key's, as text or as its type.

    A column that is empty has none: returns whether that is so, though the key isn't null.
    """
    name, text = quote(column), key_sql(value)
    # 1 below month=01 is the same number; 007 below id=7 isn't the same text.
    numbers = f"TRY_CAST(CAST({name} AS VARCHAR) AS BIGINT) = TRY_CAST({text} AS BIGINT)"
    is_key = (
        f"CAST({name} AS VARCHAR) IS NOT DISTINCT FROM {text}"
        f" OR typeof({name}) <> 'VARCHAR' AND coalesce({numbers}, false)"
    )
    row = connection.execute(
        f"SELECT count({name}) > 0, NOT bool_and({is_key}) FROM {relation}"
    ).fetchone()
    has_values, has_others = row or (False, False)
    if has_values and has_others:
        raise ValueError(
            f"Its files have a column {column} of their own, with other values than"
            f" {key}={unquote(value)} in their path. Rename one of the two."
        )
    return bool(has_others)


def by_lower_name(*notes: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the notes that aren't empty, by the names of their columns in lower case."""
    named = [(name.lower(), note) for some in notes for name, note in some.items() if note]
    return {name: tuple(note for other, note in named if other == name) for name, _ in named}
