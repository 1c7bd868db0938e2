"""Which files make which tables; and Parquet, read in place."""

from pathlib import Path

import duckdb
import openpyxl
import pytest

from fluid_build.errors import (
    EmptySourceError,
    FluidError,
    SourceNotFoundError,
    SourceUnreadableError,
    UnknownSourceError,
)
from fluid_build.sources import open_source


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".parquet":
            with duckdb.connect() as connection:
                connection.execute(f"COPY ({text}) TO '{path}' (FORMAT parquet)")
        else:
            path.write_text(text)


def tables_of(place: Path | str) -> dict[str, int]:
    with open_source(place) as source:
        return {
            table.name: source.connection.execute(
                f"SELECT count(*) FROM {table.relation}"
            ).fetchall()[0][0]
            for table in source.tables
        }


def test_each_file_of_a_folder_is_a_table(tmp_path: Path) -> None:
    """Formats may differ; hidden files don't count, and what holds no table is named in a note."""
    write(
        tmp_path,
        {
            "a.csv": "x,y\n1,2\n",
            "b.parquet": "SELECT 1 AS x",
            "c.tsv": "x\ty\n1\t2\n3\t4\n",
            "stops.txt": "stop_id,stop_name\n1,a\n2,b\n",
            "readme.txt": "Hello, this is prose.\nIt goes on, and on, and on.\n\nBye",
            "shop.numbers": "no",
            ".hidden.csv": "x,y\n1,2\n",
            "_SUCCESS": "",
        },
    )
    assert tables_of(tmp_path) == {"a": 1, "b": 1, "c": 2, "stops": 2}
    with open_source(tmp_path) as source:
        assert source.notes == (
            "Not read: shop.numbers (a Numbers spreadsheet)."
            " Save each sheet as CSV, and pass the folder that has them.",
            "Not read, because they have no table or an unknown format: readme.txt.",
        )


def test_a_sub_folder_of_parts_is_one_table(tmp_path: Path) -> None:
    """Files with the same columns are parts of one; files with others are tables each."""
    write(
        tmp_path,
        {
            "orders/part-0.csv": "id,v\n1,a\n",
            "orders/part-1.csv": "id,v\n2,b\n3,c\n",
            "mixed/one.csv": "a,b\n1,2\n",
            "mixed/two.csv": "c,d\n1,2\n",
            "lines/x.parquet": "SELECT 1 AS id",
            "lines/y.parquet": "SELECT 2 AS id",
        },
    )
    assert tables_of(tmp_path) == {"lines": 2, "mixed.one": 1, "mixed.two": 1, "orders": 3}


def test_a_folder_that_is_all_parts_is_one_table(tmp_path: Path) -> None:
    """Numbered parts in the folder itself make one table, named after the folder."""
    folder = tmp_path / "sales"
    write(folder, {f"part-0000{i}.parquet": f"SELECT {i} AS id" for i in range(3)})
    assert tables_of(folder) == {"sales": 3}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_partition_folders_become_columns(tmp_path: Path, ending: str) -> None:
    """key=value folders are columns of the table, typed like any other."""
    texts = {"csv": "id,v\n1,a\n", "parquet": "SELECT 1 AS id, 'a' AS v"}
    write(
        tmp_path,
        {
            f"events/year=2024/month=01/data.{ending}": texts[ending],
            f"events/year=2025/month=12/data.{ending}": texts[ending],
        },
    )
    with open_source(tmp_path) as source:
        (table,) = source.tables
        assert table.name == "events"
        assert table.column("year").type == "BIGINT"
        found = source.connection.execute(
            f"SELECT year, month::INT FROM {table.relation} ORDER BY year"
        ).fetchall()
        assert found == [(2024, 1), (2025, 12)]


def test_a_broken_part_costs_itself_alone(tmp_path: Path) -> None:
    """The other parts are read, the broken one is skipped, and the table says so."""
    write(
        tmp_path,
        {"t/0.parquet": "SELECT 1 AS id", "t/1.csv.parquet": "SELECT 2 AS id"},
    )
    (tmp_path / "t" / "2.parquet").write_bytes(b"PAR1 this is not Parquet at all PAR1")
    with open_source(tmp_path) as source:
        (table,) = source.tables
        assert source.connection.execute(f"SELECT id FROM {table.relation}").fetchall() == [
            (1,),
            (2,),
        ]
        assert table.notes == ("1 of its 3 files could not be read.",)
        (skipped,) = source.skipped
        assert skipped.name == "t/2.parquet"
        assert str(tmp_path) not in skipped.reason


def test_a_glob_names_its_files(tmp_path: Path) -> None:
    """Each file that matches is a table; equal stems take their folder or ending along."""
    write(tmp_path, {"a/x.csv": "p,q\n1,2\n", "b/x.csv": "p,q\n1,2\n", "b/y.tsv": "p\tq\n1\t2\n"})
    assert tables_of(f"{tmp_path}/**/*.csv") == {"a.x": 1, "b.x": 1}
    assert tables_of(f"{tmp_path}/b/*") == {"x": 1, "y": 1}
    write(tmp_path / "c", {"T.csv": "p,q\n1,2\n", "t.tsv": "p\tq\n1\t2\n"})
    assert tables_of(tmp_path / "c") == {"T.csv": 1, "t.tsv": 1}


def test_files_are_named_by_no_more_than_their_way_below_the_folder(tmp_path: Path) -> None:
    """Where the folder is says nothing of a table, and changes when it's moved."""
    rows = "x,y\n1,2\n"
    write(tmp_path / "twins", {"a.csv": rows, "A.csv": rows, "a.json": '{"x": 1}', "b.csv": rows})
    assert set(tables_of(tmp_path / "twins")) == {"a.csv", "A.csv", "a.json", "b"}
    write(tmp_path / "deep", {"1/x/a.csv": rows, "2/x/a.csv": rows, "2/x/A.csv": rows})
    assert set(tables_of(f"{tmp_path}/deep/**/*.csv")) == {"1.x.a", "2/x/a.csv", "A.csv"}


def test_case_twin_columns_of_parquet_keep_their_names(tmp_path: Path) -> None:
    """Two columns that differ in case alone have their own names and their own values."""
    write(tmp_path, {"t.parquet": "SELECT {'n': 1, 'm': 2} AS s, 7 AS idx, 8 AS idy"})
    raw = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(raw.replace(b"idy", b"IDX"))
    with open_source(tmp_path) as source:
        (table,) = source.tables
        assert [column.name for column in table.columns] == ["s__n", "s__m", "idx", "IDX"]
        aliases = [column.alias for column in table.columns]
        row = source.connection.execute(
            f'SELECT "{aliases[2]}", "{aliases[3]}" FROM {table.relation}'
        ).fetchone()
        assert row == (7, 8)


def test_a_delta_table_is_not_misread(tmp_path: Path) -> None:
    """Its log may have taken files back: where it can't be read, neither are the files."""
    write(
        tmp_path,
        {"d/_delta_log/0.json": "{}", "d/0.parquet": "SELECT 1 AS id", "ok.csv": "a,b\n1,2\n"},
    )
    with open_source(tmp_path) as source:
        assert [table.name for table in source.tables] == ["ok"]
        (skipped,) = source.skipped
        assert skipped.name == "d"


def test_what_cannot_be_a_source_is_told(tmp_path: Path) -> None:
    """An empty folder, an unknown ending, a glob without a match, a missing file."""
    with pytest.raises(EmptySourceError, match="has no data files"):
        open_source(tmp_path)
    write(tmp_path, {"a.bin": "x"})
    with pytest.raises(EmptySourceError, match=r"no data files, but 1 other file\."):
        open_source(tmp_path)
    with pytest.raises(UnknownSourceError, match=r"a\.bin doesn't have a supported"):
        open_source(tmp_path / "a.bin")
    with pytest.raises(SourceNotFoundError, match="No file matches"):
        open_source(f"{tmp_path}/*.csv")
    write(tmp_path, {"orders.csv": "a,b\n"})
    with pytest.raises(SourceNotFoundError, match="doesn't exist") as caught:
        open_source(tmp_path / "order.csv")
    assert caught.value.hint and "orders.csv" in caught.value.hint
    write(tmp_path, {"broken.parquet": "SELECT 1 AS a"})
    (tmp_path / "broken.parquet").write_text("hello")
    with pytest.raises(SourceUnreadableError, match=r"broken\.parquet could not be read"):
        open_source(tmp_path / "broken.parquet")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_null_partition_is_null_in_every_format(tmp_path: Path, ending: str) -> None:
    """Hive has a name for it; text such as 01 stays text."""
    texts = {"csv": "id,v\n1,a\n", "jsonl": '{"id": 1, "v": "a"}\n'}
    text = texts.get(ending, "SELECT 1::BIGINT AS id, 'a' AS v")
    write(
        tmp_path,
        {
            f"t/year=2024/month=01/d.{ending}": text,
            f"t/year=__HIVE_DEFAULT_PARTITION__/month=12/d.{ending}": text,
        },
    )
    with open_source(tmp_path) as source:
        (table,) = source.tables
        found = source.connection.execute(
            f"SELECT id, v, year, month FROM {table.relation} ORDER BY month"
        ).fetchall()
    assert found == [(1, "a", 2024, "01"), (1, "a", None, "12")]


def test_partitions_further_down_are_tables_of_their_own(tmp_path: Path) -> None:
    """As in a lake with a folder for each layer and source."""
    write(
        tmp_path,
        {
            "bronze/shop/orders/year=2023/d.parquet": "SELECT 1 AS id",
            "bronze/shop/orders/year=2024/d.parquet": "SELECT 2 AS id",
            "bronze/shop/events/day=2024-01-01/d.csv": "id,v\n1,a\n",
            "bronze/customers.csv": "id,name\n1,a\n",
            "gold/sales/1.parquet": "SELECT 1 AS id",
            "gold/sales/2.parquet": "SELECT 2 AS id",
        },
    )
    assert tables_of(tmp_path) == {
        "bronze": 1,
        "bronze.shop.events": 1,
        "bronze.shop.orders": 2,
        "gold": 2,
    }


DEPTHS = ("a", "d=2024-01-01/a", "d=2024-01-02/e=1/a")


@pytest.mark.parametrize("place", ["", "s"])
def test_a_key_of_folders_at_several_depths_keeps_its_values(tmp_path: Path, place: str) -> None:
    write(tmp_path, {f"s/{path}.csv": f"id,v\n{i},x\n" for i, path in enumerate(DEPTHS)})
    with open_source(tmp_path / place) as source:
        (table,) = source.tables
        query = f"SELECT id, CAST(d AS VARCHAR), e FROM {table.relation} ORDER BY id"
        rows = source.connection.execute(query).fetchall()
    assert rows == [(0, None, None), (1, "2024-01-01", None), (2, "2024-01-02", 1)]
    assert table.notes == (
        "d: 1 of its 3 files have no folder d=… in their path; null in their rows.",
        "e: 2 of its 3 files have no folder e=… in their path; null in their rows.",
    )


@pytest.mark.parametrize(
    ("ending", "text"), [("jsonl", '{"id": 1}\n'), ("parquet", "SELECT 1 AS id")]
)
def test_what_duckdb_cannot_read_at_several_depths_says_which_key_is_missing(
    tmp_path: Path, ending: str, text: str
) -> None:
    write(tmp_path, {f"s/{path}.{ending}": text for path in DEPTHS})
    with pytest.raises(SourceUnreadableError, match="1 of its 3 files have no folder d=… in"):
        open_source(tmp_path)


def test_a_file_of_other_columns_beside_partitions_is_a_table_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, {"d=1/a.csv": "id,v\n1,x\n", "names.csv": "code,name\n1,x\n"})
    assert "names" in tables_of(tmp_path)


DAYS = {
    "csv": "id,day\n1,{own}\n",
    "jsonl": '{{"id": 1, "day": "{own}"}}\n',
    "parquet": "SELECT 1 AS id, '{own}' AS day",
    "date.parquet": "SELECT 1 AS id, DATE '{own}' AS day",
}


@pytest.mark.parametrize("ending", DAYS)
def test_a_column_that_a_key_of_the_path_would_replace_is_refused(
    tmp_path: Path, ending: str
) -> None:
    """Of two values of one name one would be lost."""
    for day, own in (("2024-01-01", "2024-01-01"), ("2024-01-02", "2024-01-03")):
        write(tmp_path, {f"t/day={day}/f.{ending}": DAYS[ending].format(own=own)})
    with open_source(tmp_path) as source:
        rows = source.connection.execute(f"SELECT day FROM {source.tables[0].relation}").fetchall()
    assert [str(day) for (day,) in rows] == ["2024-01-01"]
    assert [skipped.name for skipped in source.skipped] == [f"t/day=2024-01-02/f.{ending}"]
    assert "column day of their own, with other values than day=2024-01-02" in (
        source.skipped[0].reason
    )


@pytest.mark.parametrize("plus", ["+", "%2B"])
def test_a_path_that_is_left_out_shows_nobodys_phone(tmp_path: Path, plus: str) -> None:
    for key, own in (("+491701234567", "+491709999999"), ("+491701234568", "+491701234568")):
        folder = f"t/phone={key.replace('+', plus)}"
        write(tmp_path, {f"{folder}/f.csv": f"id,phone\n1,{own}\n"})
    with open_source(tmp_path) as source:
        (skipped,) = source.skipped
    assert skipped.name == "t/phone=***/f.csv"
    assert "with other values than phone=*** in" in skipped.reason


@pytest.mark.parametrize("ending", DAYS)
def test_a_column_that_always_is_the_key_of_the_path_is_that(tmp_path: Path, ending: str) -> None:
    for day in ("2024-01-01", "2024-01-02"):
        write(tmp_path, {f"t/day={day}/f.{ending}": DAYS[ending].format(own=day)})
    with open_source(tmp_path) as source:
        (table,) = source.tables
        rows = source.connection.execute(f"SELECT day FROM {table.relation} ORDER BY 1").fetchall()
    assert [str(day) for (day,) in rows] == ["2024-01-01", "2024-01-02"]
    assert source.skipped == ()


@pytest.mark.parametrize(
    ("ending", "empty"),
    [
        ("csv", "id,day\n1,\n"),
        ("jsonl", '{"id": 1, "day": null}\n'),
        ("parquet", "SELECT 1 AS id, NULL::INTEGER AS day"),
    ],
)
def test_an_empty_column_beside_a_key_of_its_name_is_noted(
    tmp_path: Path, ending: str, empty: str
) -> None:
    """One of the two isn't read: the key of one file, or the nulls of the other."""
    write(tmp_path, {f"t/day=1/f.{ending}": empty, f"t/day=2/f.{ending}": empty})
    with open_source(tmp_path) as source:
        (table,) = source.tables
        notes = [*table.notes, *(f"day: {note}" for note in table.column("day").notes)]
    assert any(note.startswith("day: ") and "empty" in note for note in notes)


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    "days", [("2024-1-1", "2024-01-01"), ("-0", "0"), (" 2024-01-01", "2024-01-01")]
)
def test_keys_that_are_spelled_in_two_ways_stay_two_values(
    tmp_path: Path, ending: str, days: tuple[str, str]
) -> None:
    row = {"jsonl": '{"id": 1}\n', "parquet": "SELECT 1 AS id"}[ending]
    write(tmp_path, {f"t/day={day}/f.{ending}": row for day in days})
    with open_source(tmp_path) as source:
        (table,) = source.tables
        read = source.connection.execute(f"SELECT day FROM {table.relation}").fetchall()
    assert {day for (day,) in read} == set(days)
    assert "spell some values in several ways" in table.column("day").notes[0]


def test_keys_that_stay_apart_as_dates_are_dates(tmp_path: Path) -> None:
    write(
        tmp_path, {f"t/day={day}/f.parquet": "SELECT 1 AS id" for day in ("2024-1-1", "2024-1-2")}
    )
    with open_source(tmp_path) as source:
        column = source.tables[0].column("day")
    assert (column.type, column.notes) == ("DATE", ())


@pytest.mark.parametrize(
    ("month", "is_refused"), [("1", False), ("NULL", False), ("2", True), ("'1'", True)]
)
def test_a_number_is_the_key_whatever_its_zeros(
    tmp_path: Path, month: str, is_refused: bool
) -> None:
    """A column without any value, as of Parquet's Null type, has nothing to lose."""
    write(tmp_path, {"t/month=01/f.parquet": f'SELECT 1 AS id, {month} AS "Month"'})
    if is_refused:
        with pytest.raises(FluidError, match="column Month of their own"):
            open_source(tmp_path)
        return
    with open_source(tmp_path) as source:
        (table,) = source.tables
        row = source.connection.execute(f"SELECT month::INT FROM {table.relation}").fetchone()
    assert row == (1,)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("number", ["1", "1" * 30 + ".5"])
@pytest.mark.parametrize("broken", ["", "{broken\n"])
def test_json_that_is_copied_keeps_the_keys_of_its_path(
    tmp_path: Path, encoding: str, number: str, broken: str
) -> None:
    """A copy for another encoding, for long numbers or without broken lines is below them too."""
    for region in ("a%2Fb", "é"):
        path = tmp_path / "t" / f"region={region}" / "f.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text(f'{{"id": {number}}}\n{broken}', encoding)
    with open_source(tmp_path) as source:
        (table,) = source.tables
        rows = source.connection.execute(f"SELECT region FROM {table.relation}").fetchall()
    assert sorted(rows) == [("a/b",), ("é",)]


@pytest.mark.parametrize(("ending", "text"), [("jsonl", '{"id": 1}\n'), ("parquet", "SELECT 1 id")])
def test_words_for_null_in_a_path_are_noted(tmp_path: Path, ending: str, text: str) -> None:
    """DuckDB takes null, however it's written, for the key that is missing."""
    for word in ("null", "NULL", "__HIVE_DEFAULT_PARTITION__", "x"):
        write(tmp_path, {f"t/k={word}/f.{ending}": text})
    with open_source(tmp_path) as source:
        (table,) = source.tables
    assert table.column("k").notes == ("Null in the rows of the folders k=NULL and k=null.",)


def test_words_for_null_in_the_paths_of_csv_files_stay_text(tmp_path: Path) -> None:
    for word in ("null", "NULL", "__HIVE_DEFAULT_PARTITION__"):
        write(tmp_path, {f"t/k={word}/f.csv": "id,v\n1,x\n"})
    with open_source(tmp_path) as source:
        (table,) = source.tables
        rows = source.connection.execute(f"SELECT k FROM {table.relation}").fetchall()
    assert set(rows) == {("null",), ("NULL",), (None,)}


PARTS = {"csv": "id,v\n1,a\n", "jsonl": '{"id": 1}\n', "parquet": "SELECT 1 AS id"}


@pytest.mark.parametrize("ending", PARTS)
def test_a_key_that_is_twice_in_a_path_is_refused(tmp_path: Path, ending: str) -> None:
    for value in (1, 2):
        write(tmp_path, {f"t/k=0/K={value}/f.{ending}": PARTS[ending]})
    with pytest.raises(SourceUnreadableError, match="has 2 folders k=…, in k=0/K="):
        open_source(tmp_path)


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_key_s_value_that_duckdb_does_not_see_is_refused(tmp_path: Path, ending: str) -> None:
    for value in ("a=b", "c"):
        write(tmp_path, {f"t/k={value}/f.{ending}": PARTS[ending]})
    with open_source(tmp_path) as source:
        assert [skipped.name for skipped in source.skipped] == [f"t/k=a=b/f.{ending}"]
        assert "k=a%3Db" in source.skipped[0].reason


def test_partitions_of_several_formats_are_refused(tmp_path: Path) -> None:
    """Two tables with a part of the rows each, and without the key, are neither."""
    write(tmp_path, {"t/k=1/f.csv": PARTS["csv"], "t/k=2/f.parquet": PARTS["parquet"]})
    write(tmp_path, {"other.csv": PARTS["csv"]})
    with open_source(tmp_path) as source:
        assert [table.name for table in source.tables] == ["other"]
        assert [skipped.name for skipped in source.skipped] == ["t"]
        assert "several formats: csv, parquet" in source.skipped[0].reason


@pytest.mark.parametrize("beside", ["names.csv", "other/part.csv"])
@pytest.mark.parametrize("ending", PARTS)
def test_partitions_beside_others_are_one_table_with_their_key(
    tmp_path: Path, ending: str, beside: str
) -> None:
    folder = tmp_path / "shop"
    write(folder, {f"_k={key}/f.{ending}": PARTS[ending] for key in (1, 2)})
    write(folder, {beside: "code,name\n1,x\n"})
    with open_source(folder) as source:
        table = next(table for table in source.tables if table.name == "shop")
        rows = source.connection.execute(f"SELECT _k FROM {table.relation} ORDER BY 1").fetchall()
    assert rows == [(1,), (2,)]


def test_keys_of_folders_of_workbooks_are_named(tmp_path: Path) -> None:
    for key in (1, 2):
        path = tmp_path / f"t/k={key}/f.xlsx"
        path.parent.mkdir(parents=True)
        book = openpyxl.Workbook()
        assert book.active
        book.active.append(["id", "v"])
        book.active.append([key, "x"])
        book.save(path)
    with open_source(tmp_path) as source:
        assert source.notes == (
            "The keys of the folders in t, k, are no columns of the tables in their workbooks.",
        )
