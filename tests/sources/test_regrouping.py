"""Tables that a person says are one, or aren't, whatever their names say."""

from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.sources import open_source
from fluid_build.sources.addresses.periods import part_names
from fluid_build.sources.base import Source, Table
from fluid_build.sources.grouping import Grouping, OneTable

Rows = dict[str, str]
"""The rows of tables by name, as CSV."""


def as_files(folder: Path, tables: Rows) -> Path:
    place = folder / "files"
    place.mkdir()
    for name, text in tables.items():
        (place / f"{name}.csv").write_text(text)
    return place


def as_database(folder: Path, tables: Rows) -> Path:
    files = as_files(folder, tables)
    path = folder / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        for name in tables:
            connection.execute(f"CREATE TABLE \"{name}\" AS FROM '{files}/{name}.csv'")
    return path


def as_parquet(folder: Path, tables: Rows) -> Path:
    place = as_files(folder, tables)
    for name in tables:
        duckdb.sql(f"FROM '{place}/{name}.csv'").write_parquet(f"{place}/{name}.parquet")
        (place / f"{name}.csv").unlink()
    return place


Made = Callable[[Path, Rows], Path]
made_as = pytest.mark.parametrize("made", [as_files, as_parquet, as_database])


def names(source: Source) -> list[str]:
    return [table.name for table in source.tables]


def rows(source: Source, table: Table) -> list[tuple[object, ...]]:
    return sorted(source.connection.execute(f"FROM {table.relation}").fetchall(), key=str)


def one(name: str, *parts: str) -> Grouping:
    return Grouping(one_table=(OneTable(name, parts),))


@made_as
def test_periods_of_two_kinds_are_one_table_where_that_is_decided(
    tmp_path: Path, made: Made
) -> None:
    """A year, and a month of another one: a column has what differs in their names."""
    place = made(tmp_path, {"sales_1997": "id\n1\n2\n", "sales_dec_1998": "id\n1\n3\n"})
    with open_source(place) as source:
        assert names(source) == ["sales_1997", "sales_dec_1998"]
    with open_source(place, grouping=one("sales", "sales_*")) as source:
        assert names(source) == ["sales"]
        assert rows(source, source.tables[0]) == [
            (1, "1997"),
            (1, "dec_1998"),
            (2, "1997"),
            (3, "dec_1998"),
        ]
        assert [column.name for column in source.tables[0].columns] == ["id", "period"]
        assert "are one table by a decision" in source.tables[0].notes[-1]
        assert source.regrouped == {"sales": ""}


@made_as
def test_tables_without_periods_are_one_with_a_column_for_the_part(
    tmp_path: Path, made: Made
) -> None:
    """A column that one of them lacks is empty there, and one that isn't meant stays."""
    tables = {"eu_north_x": "id\n1\n", "eu_south_x": "id,v\n2,7\n", "eu": "id\n9\n"}
    with open_source(made(tmp_path, tables), grouping=one("eu_all", "eu_*")) as source:
        assert names(source) == ["eu", "eu_all"]
        assert rows(source, source.tables[1]) == [(1, None, "north"), (2, 7, "south")]
        assert [column.name for column in source.tables[1].columns] == ["id", "v", "part"]


@made_as
def test_what_is_one_by_its_names_is_apart_where_that_is_decided(
    tmp_path: Path, made: Made
) -> None:
    """Others of the source stay one."""
    tables = {f"{name}_{year}": "id,v\n1,a\n" for name in ("a", "b") for year in (2023, 2024)}
    with open_source(made(tmp_path, tables), grouping=Grouping(separate=("A",))) as source:
        assert names(source) == ["a_2023", "a_2024", "b"]
        assert source.regrouped == {"A": ""}


@made_as
@pytest.mark.parametrize(
    ("tables", "grouping", "why"),
    [
        (["sales"], one("sales", "sales_*", "x"), "No two tables are called sales_* or x."),
        (["a_x", "b_x", "all"], one("all", "*_x"), "Another table is called all."),
        (["a_x"], Grouping(separate=("sales",)), "There's no table sales of several parts."),
        (["a_x"], Grouping(separate=("a_x",)), "There's no table a_x of several parts."),
    ],
)
def test_what_cannot_be_followed_leaves_the_tables_and_says_why(
    tmp_path: Path, made: Made, tables: Sequence[str], grouping: Grouping, why: str
) -> None:
    place = made(tmp_path, dict.fromkeys(tables, "id,v\n1,a\n"))
    with open_source(place, grouping=grouping) as source:
        assert names(source) == sorted(tables)
        assert list(source.regrouped.values()) == [why]


def test_types_that_do_not_fit_together_keep_tables_of_a_database_apart(tmp_path: Path) -> None:
    place = as_database(tmp_path, {"a_x": "id\n1\n", "b_x": "id\nabc\n"})
    with open_source(place, grouping=one("x", "*_x")) as source:
        assert names(source) == ["a_x", "b_x"]
        assert source.regrouped == {"x": "The types of id are BIGINT and VARCHAR."}


def test_a_folder_of_parts_is_apart_where_that_is_decided(tmp_path: Path) -> None:
    """They are named with their folder, as files are that don't have the same columns."""
    for place, name in (("sales", "north"), ("sales", "south"), (".", "items")):
        (tmp_path / place).mkdir(exist_ok=True)
        (tmp_path / place / f"{name}.csv").write_text("id,v\n1,a\n")
    with open_source(tmp_path) as source:
        assert names(source) == ["items", "sales"]
    with open_source(tmp_path, grouping=Grouping(separate=("sales",))) as source:
        assert names(source) == ["items", "sales.north", "sales.south"]


def test_folders_that_are_columns_are_not_taken_apart(tmp_path: Path) -> None:
    """What is in their names would be lost."""
    for year in (2023, 2024):
        (tmp_path / "sales" / f"year={year}").mkdir(parents=True)
        (tmp_path / "sales" / f"year={year}" / "part.csv").write_text("id,v\n1,a\n")
    with open_source(tmp_path, grouping=Grouping(separate=("sales",))) as source:
        assert names(source) == ["sales"]
        assert "have columns of it in their names" in source.regrouped["sales"]


def test_files_of_two_formats_stay_apart(tmp_path: Path) -> None:
    (tmp_path / "a_x.csv").write_text("id,v\n1,a\n")
    (tmp_path / "b_x.json").write_text('[{"id": 1, "v": "a"}]')
    with open_source(tmp_path, grouping=one("x", "*_x")) as source:
        assert names(source) == ["a_x", "b_x"]
        assert source.regrouped == {"x": "Their files are of several formats: csv and json."}


NAMES = st.from_regex(
    r"(?:[a-d]{1,2}|19[0-9]{2}|dec)(?:[_ -](?:[a-d]|2001|05)){0,2}", fullmatch=True
)


@given(st.lists(NAMES, min_size=2, max_size=5, unique_by=str.lower))
def test_each_part_is_told_apart_by_what_differs_in_its_name(stems: list[str]) -> None:
    """What a table of a database has is what is found in a file's name."""
    parts = part_names(stems)
    column = parts.column(())
    assert len(set(parts.texts)) == len(stems)
    assert [column.text(Path(f"{stem}.csv.gz")) for stem in stems] == list(parts.texts)
