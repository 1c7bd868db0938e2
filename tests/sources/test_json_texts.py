"""Text in JSON files: it becomes a date, a time or an id only if every value comes back from it."""

import json
from datetime import date, datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.sources import open_source
from fluid_build.sources.text_values.conventions import OFFSET_NOTE, OFFSETS_NOTE

_DAYS = st.sampled_from(
    "2024-01-05|2024-1-5|01-02-2024|13-01-24|1-2-3|0000-01-01|2024/02/03|infinity|-infinity|epoch"
    "|2024-02-30| 2024-01-05|20240105|10000-01-01".split("|")
)
_CLOCKS = st.sampled_from(
    "10:00:00|10:00|1:2:3|24:00:00|10:00:00.5|10:00:00.1234567|23:59:60|03:04:05 PM".split("|")
)
_ZONES = st.sampled_from(["", "Z", "+02:00", "+01:00", "+00", " Europe/Paris"])
_ID = "550e8400-e29b-41d4-a716-446655440000"
_IDS = st.sampled_from([_ID, _ID.upper(), f"{{{_ID}}}", _ID.replace("-", "")])
_MOMENTS = st.builds("".join, st.tuples(_DAYS, st.sampled_from("T "), _CLOCKS, _ZONES))
_TEXTS = st.one_of(
    *(st.lists(some, min_size=1, max_size=3) for some in (_DAYS, _CLOCKS, _MOMENTS, _IDS)),
    st.lists(st.one_of(_DAYS, _MOMENTS), min_size=1, max_size=3),
)


def _read(folder: Path, records: list[Any]) -> tuple[dict[str, str], list[tuple[Any, ...]], str]:
    """Return the types of a file's columns, its rows, and what is said of it."""
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    with open_source(folder / "a.jsonl", nested="keep") as source:
        (table,) = source.tables
        rows = source.connection.execute(f"FROM {table.relation}").fetchall()
        said = " ".join(note for column in table.columns for note in column.notes)
        return {column.name: column.type for column in table.columns}, rows, said


def _says(value: object, text: str) -> bool:
    """Return whether a value says what its text says."""
    if isinstance(value, str | UUID):
        return str(value) == text
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat() == text
    _, _, fraction = text.partition(".")
    if len(fraction.rstrip("Z").split("+")[0]) > 6:
        return False
    if isinstance(value, time):
        return value == time.fromisoformat(text)
    assert isinstance(value, datetime)
    written = datetime.fromisoformat(text)
    return value == written and bool(written.tzinfo) == bool(value.tzinfo)


@given(_TEXTS)
def test_what_was_written_comes_back_at_every_depth(texts: list[str]) -> None:
    """Dates, times and ids are as they're written, in columns, fields and lists, or are text."""
    records = [{"id": i, "a": text, "b": {"c": [text]}} for i, text in enumerate(texts)]
    with TemporaryDirectory() as folder:
        _, rows, _ = _read(Path(folder), records)
    for (_, value, nested), text in zip(rows, texts, strict=True):
        assert _says(value, text)
        assert _says(nested["c"][0], text)
    offsets = {value.utcoffset() for _, value, _ in rows if isinstance(value, datetime)}
    assert len(offsets) <= 1


@pytest.mark.parametrize(
    ("texts", "type_"),
    [
        (["2024-01-05", "2024-02-29"], "DATE"),
        (["2024-01-05T10:00:00", "2024-12-31T23:59:59"], "TIMESTAMP"),
        (["2024-01-05T10:00:00Z"], "TIMESTAMP WITH TIME ZONE"),
        (["10:00:00", "23:59:59.5"], "TIME"),
        ([_ID], "UUID"),
        (["01-02-2024", "03-04-2024"], "VARCHAR"),
        (["1-2-3", "4-5-6"], "VARCHAR"),
    ],
)
def test_text_that_comes_back_has_its_type(tmp_path: Path, texts: list[str], type_: str) -> None:
    """The usual spellings have types, in a column, in an object, in a list and in a map."""
    records = [{"id": i, "a": text, "b": {"c": [text]}} for i, text in enumerate(texts)]
    types, _, _ = _read(tmp_path, records)
    assert types == {"id": "BIGINT", "a": type_, "b": f"STRUCT(c {type_}[])"}
    mapped = [{"id": 1, "m": {"a@b.example": text}} for text in texts]
    types, _, _ = _read(tmp_path, mapped)
    assert types["m"] == f"MAP(VARCHAR, {type_})"


def test_one_offset_is_noted_and_several_stay_text(tmp_path: Path) -> None:
    """What isn't kept of moments is said, with the field where it's nested."""
    one, two = "2024-01-05T10:00:00+02:00", "2024-01-05T10:00:00+01:00"
    types, rows, said = _read(tmp_path, [{"a": one, "b": {"c": one}}])
    assert types["a"] == "TIMESTAMP WITH TIME ZONE"
    assert rows[0][0].utcoffset() == timedelta(0)
    assert said == f"{OFFSET_NOTE} c: {OFFSET_NOTE}"
    types, rows, said = _read(tmp_path, [{"a": one}, {"a": two}])
    assert (types, rows, said) == ({"a": "VARCHAR"}, [(one,), (two,)], OFFSETS_NOTE)


def test_columns_that_duckdb_renames_keep_their_values(tmp_path: Path) -> None:
    """Names that differ in case alone, or are empty, leave nothing unread."""
    records = [{"A": 1, "a": "01-02-2024", "": "x", "a_1": "2024-01-05"}]
    _, rows, _ = _read(tmp_path, records)
    assert [row[:3] for row in rows] == [(1, "01-02-2024", "x")]
    assert _says(rows[0][3], "2024-01-05")


def test_files_of_a_folder_with_long_numbers_are_all_read(tmp_path: Path) -> None:
    """Each has its own copy with the numbers as text."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text('{"n": 0.1000000000000000055}')
    with open_source(tmp_path) as source:
        assert [table.name for table in source.tables] == ["a", "b"]
        for table in source.tables:
            rows = source.connection.execute(f"FROM {table.relation}").fetchall()
            assert rows == [("0.1000000000000000055",)]
