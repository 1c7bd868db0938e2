"""JSON files: arrays and lines, nesting kept, broken lines named."""

import gzip
import json
from pathlib import Path

import pytest

from fluid_build.errors import SourceUnreadableError
from fluid_build.sources import open_source


def test_nesting_is_kept_as_structs_and_lists(tmp_path: Path) -> None:
    """Kept as they are, objects are structs, arrays lists; a field that a record lacks is null."""
    records = [
        {"id": 1, "tags": ["a"], "at": {"x": 1.5, "y": None}, "zip": "00123"},
        {"id": 2, "extra": True},
    ]
    (tmp_path / "a.json").write_text(json.dumps(records))
    with open_source(tmp_path, nested="keep") as source:
        (table,) = source.tables
        types = {column.name: column.type for column in table.columns}
        assert types == {
            "id": "BIGINT",
            "tags": "VARCHAR[]",
            "at": "STRUCT(x DOUBLE, y JSON)",
            "zip": "VARCHAR",
            "extra": "BOOLEAN",
        }
        rows = source.connection.execute(f"SELECT id, zip, extra FROM {table.relation}").fetchall()
        assert rows == [(1, "00123", None), (2, None, True)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.ndjson", "a.jsonl.gz"])
def test_arrays_and_lines_are_read_in_any_encoding(
    tmp_path: Path, name: str, encoding: str
) -> None:
    """One array, or one record a line, packed or not, as Unicode of any kind."""
    records = [{"id": 1, "n": "é"}, {"id": 2, "n": "日"}]
    lines = "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    text = json.dumps(records, ensure_ascii=False) if name == "a.json" else lines
    raw = text.encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    with open_source(tmp_path / name) as source:
        (table,) = source.tables
        assert table.name == "a"
        rows = source.connection.execute(f"FROM {table.relation}").fetchall()
        assert rows == [(1, "é"), (2, "日")]


def test_broken_lines_are_left_out_and_named(tmp_path: Path) -> None:
    """Lines that are not JSON cost themselves alone, and a note gives their numbers."""
    (tmp_path / "a.jsonl").write_text('{"id": 1}\n{"id":\n{"id": 3}\nnonsense\n')
    with open_source(tmp_path) as source:
        (table,) = source.tables
        rows = source.connection.execute(f"FROM {table.relation}").fetchall()
        assert rows == [(1,), (3,)]
        assert table.notes == (
            "2 of 4 lines of a.jsonl aren't valid JSON and were left out: number 2, 4.",
        )


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "It is empty"), ("[]", "no records"), ('[{"id": 1}, {"id":', "Malformed JSON")],
)
def test_what_holds_no_record_is_told(tmp_path: Path, text: str, said: str) -> None:
    """An empty file, an empty array and a cut-off one each have their reason."""
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(SourceUnreadableError, match=said) as caught:
        open_source(tmp_path / "a.json")
    assert str(tmp_path) not in str(caught.value)


def test_a_number_that_a_double_takes_for_infinite_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"n": 1e400}\n{"n": 2.5}\n')
    with open_source(path) as source:
        (table,) = source.tables
        rows = source.connection.execute(f"SELECT n FROM {table.relation}").fetchall()
    assert [value for (value,) in rows] == ["1e400", "2.5"]
