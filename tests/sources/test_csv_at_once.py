"""Large delimited files are typed while they're read, and come out as if staged as text first."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.sources import open_source
from fluid_build.sources.base import Table
from fluid_build.sources.files.delimited import files as csv_files
from fluid_build.sources.files.delimited import rows as csv_rows
from fluid_build.sources.files.delimited import text_types
from fluid_build.sources.files.delimited.readable import Readable
from fluid_build.sources.sql import quote

PLAIN = (
    "0 7 -12 007 +7 1e3 1.5 1.5e0 12.50 .5 0.5 5. 5.0"
    " 654.159 654,159 1.234,56 46,88 1234567890123456789"
    " 99999999999999999999 0.1234567890123456 2024-01-31 2024-02-30 01/02/2024 25/12/2024"
    " 12/25/2024 31.12.2024 2024-01-31T08:00:00 08:15 true TRUE t NULL nan \\N text"
)
SPACED = "|2024-01-31 08:00:00|2024-01-31 08:00:00.5|2024-01-31 08:00:00+02| 7|1 234"
CELLS = st.sampled_from([*PLAIN.split(), *SPACED.split("|")])
READINGS = st.lists(CELLS, min_size=1, max_size=4).flatmap(
    lambda some: st.lists(st.sampled_from(some), min_size=8, max_size=8)
)


def read(path: Path, worth: int) -> tuple[Table, list[tuple[object, ...]]]:
    """A file's table and its values as text, typed at once for files of ``worth`` bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "WORTH_A_GUESS", worth)
        patch.setattr(text_types, "_SAMPLE_ROWS", (3, 3))
        with open_source(path) as source:
            (table,) = source.tables
            cells = ", ".join(f"CAST({quote(one.alias)} AS VARCHAR)" for one in table.columns)
            rows = source.connection.execute(f"SELECT {cells} FROM {table.relation}").fetchall()
            return table, rows


@given(columns=st.lists(READINGS, min_size=1, max_size=4))
def test_typing_at_once_reads_what_typing_afterwards_reads(
    tmp_path: Path, columns: list[list[str]]
) -> None:
    path = tmp_path / "f.csv"
    names = ["line", *(f"c{i}" for i in range(len(columns)))]
    rows = [[str(i + 1), *cells] for i, cells in enumerate(zip(*columns, strict=True))]
    path.write_text("".join("|".join(row) + "\n" for row in [names, *rows]), encoding="utf-8")
    assert read(path, 0) == read(path, 1 << 40)


@pytest.mark.parametrize("ending", ["Total,,6\n", ",,6\n", "End of the list\n"])
def test_what_stands_below_a_table_is_left_out_of_typed_rows(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "f.csv"
    path.write_text("id,name,n\n1,a,1\n2,b,2\n3,c,3\n" + ending, encoding="utf-8")
    table, rows = read(path, 0)
    assert (table, rows) == read(path, 1 << 40)
    assert len(rows) == 3


def test_columns_may_be_named_as_what_queries_use(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    names = "rowid,c0,c_1,i,v,kind,t0,f0"
    path.write_text(names + "\n" + "1,2.5,a,2024-01-31,x,y,3,4\n" * 6, encoding="utf-8")
    table, rows = read(path, 0)
    assert ",".join(one.alias for one in table.columns) == names
    assert rows == [("1", "2.5", "a", "2024-01-31", "x", "y", "3", "4")] * 6


def test_ragged_lines_and_partitions_are_typed_too(tmp_path: Path) -> None:
    for year in (2023, 2024):
        folder = tmp_path / "sales" / f"year={year}"
        folder.mkdir(parents=True)
        (folder / "part.csv").write_text("id,n,d\n1,2,a\n2,3\n3,4,b,\n4,5,c\n", encoding="utf-8")
    table, rows = read(tmp_path, 0)
    expected, expected_rows = read(tmp_path, 1 << 40)
    assert table == expected
    assert sorted(map(str, rows)) == sorted(map(str, expected_rows))


def test_a_file_is_read_once_where_its_start_tells_the_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[bool] = []
    load = csv_rows.load

    def counted(connection, file: Readable, names, table, target, folder):  # type: ignore[no-untyped-def]
        loads.append(bool(target.guesses))
        return load(connection, file, names, table, target, folder)

    monkeypatch.setattr(csv_files, "load", counted)
    path = tmp_path / "f.csv"
    path.write_text("id,d\n" + "1,2024-01-31\n" * 9, encoding="utf-8")
    read(path, 0)
    assert loads == [True]
    path.write_text("id,d\n" + "1,2024-01-31\n" * 9 + "x,2024-01-31\n", encoding="utf-8")
    read(path, 0)
    assert loads == [True, True, False]
