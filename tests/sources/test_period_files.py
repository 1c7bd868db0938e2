"""Files for one period each: one table, whose rows or whose file names say the period."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.sources import open_source
from fluid_build.sources.addresses.periods import part_names, period_of
from fluid_build.sources.base import Source, Table
from tests.sources.period_files import write


def rows(source: Source, table: Table) -> list[tuple[object, ...]]:
    return sorted(source.connection.execute(f"FROM {table.relation}").fetchall(), key=str)


def names_in(place: Path | str) -> list[str]:
    with open_source(place) as source:
        return [table.name for table in source.tables]


@pytest.mark.parametrize(
    ("stem", "table", "text", "first"),
    [
        ("sales_2024_01", "sales", "2024_01", "2024-01-01"),
        ("sales-202401", "sales", "202401", "2024-01-01"),
        ("sales 2024 1", "sales", "2024 1", "2024-01-01"),
        ("sales_Jan_2024", "sales", "Jan_2024", "2024-01-01"),
        ("SALES2024SEPT", "SALES", "2024SEPT", "2024-09-01"),
        ("orders_20240131", "orders", "20240131", "2024-01-31"),
        ("orders_31-01-2024", "orders", "31-01-2024", "2024-01-31"),
        ("orders_20240131T083000", "orders", "20240131T083000", "2024-01-31"),
        ("export_2024-01-01_2024-01-31", "export", "2024-01-01_2024-01-31", "2024-01-01"),
        ("sales_2023", "sales", "2023", "2023-01-01"),
        ("eu.2023.final", "eu_final", "2023", "2023-01-01"),
        ("sales_2024Q2", "sales", "2024Q2", "2024-04-01"),
        ("sales_2024-W05", "sales", "2024-W05", "2024-01-29"),
        ("2024-05", "", "2024-05", "2024-05-01"),
    ],
)
def test_a_period_is_found_however_it_is_written(
    stem: str, table: str, text: str, first: str
) -> None:
    """DuckDB's pattern and ours find the same text."""
    period = period_of(stem)
    assert period is not None
    assert (period.table, period.text, str(period.start.date())) == (table, text, first)
    column = part_names([stem]).column(())
    path = Path("s3:/x/2020/") / f"{stem}.csv.gz"
    assert column.text(path) == text
    with duckdb.connect() as connection:
        found = connection.execute(
            f"SELECT {column.select_list} FROM (SELECT ? AS fluid_file)", [str(path)]
        ).fetchone()
    assert found == (text,)


@pytest.mark.parametrize(
    "stem", ["lookup_1", "part-00001", "sales_2024_13", "sales_20240231", "v1.2", "id_12345678"]
)
def test_a_number_that_is_no_period_is_not_taken_for_one(stem: str) -> None:
    """Lookup tables and parts are numbered too."""
    assert period_of(stem) is None


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "jsonl"])
def test_monthly_files_are_one_table(tmp_path: Path, ending: str) -> None:
    """Where the rows don't say the month, the file's name does."""
    texts = {"csv": "id,v\n1,a\n", "jsonl": '{"id": 1, "v": "a"}\n'}
    text = texts.get(ending.split(".")[0], "SELECT 1::BIGINT AS id, 'a' AS v")
    for month in ("2024_1", "2024_02", "2024_10"):
        write(tmp_path, f"sales_{month}.{ending}", text)
    write(tmp_path, "lookup_1.csv", "id,v\n1,a\n")
    write(tmp_path, "lookup_2.csv", "id,v\n1,a\n")
    with open_source(tmp_path) as source:
        assert [table.name for table in source.tables] == ["lookup_1", "lookup_2", "sales"]
        table = source.tables[-1]
        assert [(column.name, column.type) for column in table.columns] == [
            ("id", "BIGINT"),
            ("v", "VARCHAR"),
            ("period", "VARCHAR"),
        ]
        assert rows(source, table) == [
            (1, "a", "2024_02"),
            (1, "a", "2024_1"),
            (1, "a", "2024_10"),
        ]
        (note,) = table.notes
        assert f"only in a period (sales_2024_1.{ending} to sales_2024_10.{ending})" in note
        assert "Column `period` says" in note


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_a_date_in_the_rows_makes_the_column_needless(tmp_path: Path, ending: str) -> None:
    """Nothing is added where every row has a date in its file's month."""
    for month in (1, 2):
        day = f"2024-0{month}-09"
        text = {
            "csv": f"id,sold\n{month},{day}\n",
            "json": f'[{{"id": {month}, "sold": "{day}"}}]',
        }.get(ending, f"SELECT {month} AS id, DATE '{day}' AS sold")
        write(tmp_path, f"sales_20240{month}.{ending}", text)
    with open_source(tmp_path) as source:
        (table,) = source.tables
        assert [column.name for column in table.columns] == ["id", "sold"]
        assert source.relation(table).columns == ["id", "sold"]
        assert "Column `sold` says" in table.notes[0]


def test_one_row_outside_of_its_month_keeps_the_column(tmp_path: Path) -> None:
    """A late booking would otherwise seem to be from another file."""
    write(tmp_path, "sales_2024_01.csv", "id,sold\n1,2024-01-09\n")
    write(tmp_path, "sales_2024_02.csv", "id,sold\n2,2024-01-31\n")
    with open_source(tmp_path) as source:
        (table,) = source.tables
        assert [column.name for column in table.columns] == ["id", "sold", "period"]


def test_a_column_that_came_later_is_null_before(tmp_path: Path) -> None:
    """It stays one table, with a note."""
    write(tmp_path, "sales_2024_01.csv", "id,v\n1,a\n")
    write(tmp_path, "sales_2024_02.csv", "id,v,extra\n2,b,x\n")
    with open_source(tmp_path) as source:
        (table,) = source.tables
        assert rows(source, table) == [(1, "a", None, "2024_01"), (2, "b", "x", "2024_02")]
        assert any("different columns" in note for note in table.notes)


def test_what_does_not_belong_together_stays_apart(tmp_path: Path) -> None:
    """Other columns, or a year next to its months, make tables of their own."""
    write(tmp_path / "a", "x_2024_01.csv", "id,v\n1,a\n")
    write(tmp_path / "a", "x_2024_02.csv", "code,label,size\n2,b,x\n")
    assert names_in(tmp_path / "a") == ["x_2024_01", "x_2024_02"]
    write(tmp_path / "b", "x_2024.csv", "id,v\n1,a\n")
    write(tmp_path / "b", "x_2024_02.csv", "id,v\n1,a\n")
    assert names_in(tmp_path / "b") == ["x_2024", "x_2024_02"]


def test_a_year_and_a_month_of_another_year_stay_apart(tmp_path: Path) -> None:
    """They are periods of two kinds; a month is one however it is written."""
    write(tmp_path / "a", "sales_1997.csv", "id,v\n1,a\n")
    write(tmp_path / "a", "sales_dec_1998.csv", "id,v\n1,a\n")
    assert names_in(tmp_path / "a") == ["sales_1997", "sales_dec_1998"]
    write(tmp_path / "b", "sales_2024-11.csv", "id,v\n1,a\n")
    write(tmp_path / "b", "sales_dec_2024.csv", "id,v\n1,a\n")
    assert names_in(tmp_path / "b") == ["sales"]


def test_a_glob_reads_each_file_as_a_table(tmp_path: Path) -> None:
    """That is how to keep them apart."""
    write(tmp_path, "x_2024_01.csv", "id,v\n1,a\n")
    write(tmp_path, "x_2024_02.csv", "id,v\n1,a\n")
    assert names_in(f"{tmp_path}/*") == ["x_2024_01", "x_2024_02"]


def test_a_table_of_the_same_name_keeps_it(tmp_path: Path) -> None:
    """The months then take another one."""
    for name in ("sales", "sales_2024_01", "sales_2024_02"):
        write(tmp_path, f"{name}.csv", "id,v\n1,a\n")
    assert len(set(names_in(tmp_path))) == 2


@pytest.mark.parametrize(
    ("january", "february", "is_one"),
    [
        ("a,b,c", "a,b,c", True),
        ("a,b,c,d", "a,b", True),
        ("a,b", "a,b,c,d,e", False),
        ("a,b,c,d", "a,b,c,e", False),
    ],
    ids=["the same", "half", "less than half", "one of its own each"],
)
def test_files_are_one_table_where_one_has_all_columns_of_the_other(
    tmp_path: Path, january: str, february: str, is_one: bool
) -> None:
    for month, header in (("01", january), ("02", february)):
        rows = "\n".join(",".join(f"{n}{name}" for name in header.split(",")) for n in range(3))
        (tmp_path / f"sales_2024_{month}.csv").write_text(f"{header}\n{rows}\n")
    with open_source(tmp_path) as source:
        assert (len(source.tables) == 1) is is_one
