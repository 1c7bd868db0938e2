"""Files that were made to hurt end soon, with the limit and how to raise it."""

import gzip
from pathlib import Path

import duckdb
import pytest

from fluid_build.errors import SourceError, SourceUnreadableError, UsageError
from fluid_build.limits import MOST_NAME
from fluid_build.sources import open_source
from fluid_build.sources.files.delimited.affixes import is_number
from fluid_build.sources.sql_text.ddl import open_ddl
from fluid_build.sources.sql_text.ddl.dialects import DIALECTS
from fluid_build.sources.sql_text.dumps.literals import LeftOut, literals_of, read_rows
from fluid_build.sources.text_values import encodings

MEGABYTE = 1024 * 1024


def _why(place: Path) -> str:
    with pytest.raises(SourceUnreadableError) as caught:
        open_source(place)
    return caught.value.message


def _wide(path: Path, width: int) -> None:
    header = ",".join(f"column_{number}" for number in range(width))
    path.write_text(f"{header}\n{','.join(['1'] * width)}\n")


def test_a_header_of_too_many_columns_is_refused(tmp_path: Path) -> None:
    """It ends at once, and says which variable allows more."""
    _wide(tmp_path / "wide.csv", 100_000)
    said = _why(tmp_path / "wide.csv")
    assert "100,000 columns; the limit is 10,000" in said
    assert "FLUID_MAX_COLUMNS" in said


def test_the_limit_on_columns_can_be_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up, so that more is read, and down."""
    _wide(tmp_path / "wide.csv", 300)
    monkeypatch.setenv("FLUID_MAX_COLUMNS", "299")
    assert "the limit is 299" in _why(tmp_path / "wide.csv")
    monkeypatch.setenv("FLUID_MAX_COLUMNS", "300")
    with open_source(tmp_path / "wide.csv") as source:
        assert len(source.tables[0].columns) == 300


def test_the_limit_on_columns_holds_for_parquet_and_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the format."""
    (tmp_path / "wide.json").write_text('[{"a": 1, "b": 2, "c": 3}]')
    monkeypatch.setenv("FLUID_MAX_COLUMNS", "2")
    assert "3 columns; the limit is 2" in _why(tmp_path / "wide.json")


def test_the_limit_on_columns_holds_for_ddl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table of too many is skipped with the reason, the others are read."""
    (tmp_path / "shop.sql").write_text(
        "CREATE TABLE wide (a int, b int, c int);\nCREATE TABLE t (a int);"
    )
    monkeypatch.setenv("FLUID_MAX_COLUMNS", "2")
    with open_ddl(tmp_path / "shop.sql") as source:
        assert [table.name for table in source.tables] == ["t"]
        (skipped,) = source.skipped
    assert "3 columns; the limit is 2" in skipped.reason


@pytest.mark.parametrize(("length", "is_read"), [(MOST_NAME, True), (MOST_NAME + 1, False)])
def test_the_name_of_a_column_may_be_a_question_and_no_book(
    tmp_path: Path, length: int, is_read: bool
) -> None:
    name = ("How satisfied are you? " * MOST_NAME)[: length - 1] + "?"
    path = tmp_path / "survey.csv"
    path.write_text(f"id,{name}\n1,5\n2,4\n")
    if is_read:
        with open_source(path) as source:
            assert source.tables[0].columns[1].name == name
    else:
        assert "the limit is 10,000" in _why(path)


@pytest.mark.parametrize("value", ["many", "0", "-3", "1.5"])
def test_a_limit_that_is_no_number_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """It names the variable, and what to set it to."""
    _wide(tmp_path / "wide.csv", 3)
    monkeypatch.setenv("FLUID_MAX_COLUMNS", value)
    with pytest.raises(UsageError, match="FLUID_MAX_COLUMNS"):
        open_source(tmp_path / "wide.csv")


@pytest.mark.parametrize("name", ["one.csv", "one.csv.gz"])
def test_a_line_without_an_end_is_refused(tmp_path: Path, name: str) -> None:
    """A file of one line is no table, packed or not, and isn't read to its end."""
    path = tmp_path / name
    opener = gzip.open if name.endswith(".gz") else open
    with opener(path, "wb") as file:
        file.write(b"id,name\n1," + b"x" * 40 * MEGABYTE)
    said = _why(path)
    assert "longer than 32 MB" in said
    assert "FLUID_MAX_LINE_MB" in said


def test_a_longer_line_may_be_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The value is read whole then."""
    length = 33 * MEGABYTE
    (tmp_path / "long.csv").write_bytes(b"id,name\n1,Ann\n2," + b"x" * length + b"\n")
    monkeypatch.setenv("FLUID_MAX_LINE_MB", "64")
    with open_source(tmp_path / "long.csv") as source:
        row = source.connection.execute(
            f"SELECT count(*), max(length(name)) FROM {source.tables[0].relation}"
        ).fetchone()
    assert row == (2, length)


@pytest.mark.parametrize("name", ["lines.csv.gz", "lines.json.gz"])
def test_a_file_that_expands_too_much_is_refused(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bomb of many short lines is stopped while it's unpacked."""
    monkeypatch.setattr(encodings, "_HARMLESS", 2 * MEGABYTE)
    with gzip.open(tmp_path / name, "wb") as file:
        file.write(b"1,2\n" * MEGABYTE)
    said = _why(tmp_path / name)
    assert "expands to more than 250 times its size" in said
    assert "FLUID_MAX_EXPANSION" in said


def test_a_zstd_file_that_says_it_expands_too_much_is_refused(tmp_path: Path) -> None:
    """The frame's own header tells its size before anything is unpacked."""
    size = (10 << 30).to_bytes(8, "little")
    bomb = bytes.fromhex("28b52ffd") + bytes([0xE0]) + size + b"\x01\x00\x00" + b"\0" * 16
    (tmp_path / "bomb.csv.zst").write_bytes(bomb)
    with pytest.raises(ValueError, match="FLUID_MAX_EXPANSION"):
        encodings.zstd_content(tmp_path / "bomb.csv.zst")
    with pytest.raises(SourceError):
        open_source(tmp_path / "bomb.csv.zst")


def _parquet(path: Path, query: str) -> Path:
    duckdb.connect().execute(f"COPY ({query}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
    return path


@pytest.mark.parametrize(
    ("most", "beyond"),
    [
        ("SELECT 1 AS a FROM range(262_144)", "SELECT 1 AS a FROM range(262_145)"),
        (
            "SELECT NULL::INT AS a, 'x' AS b FROM range(131_072)",
            "SELECT NULL::INT AS a, 'x' AS b FROM range(131_073)",
        ),
        ("SELECT repeat([1], 87_381) AS a", "SELECT repeat([1], 87_382) AS a"),
        ("SELECT repeat('x', 2_000_000) AS a", "SELECT repeat('x', 2_200_000) AS a"),
    ],
    ids=["rows", "columns", "items", "text"],
)
def test_a_parquet_file_that_says_it_holds_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: str, beyond: str
) -> None:
    """A run of a million rows takes a few bytes; below the bound it's read like any other."""
    monkeypatch.setattr(encodings, "_HARMLESS", 2 * MEGABYTE)
    with open_source(_parquet(tmp_path / "most.parquet", most)) as source:
        assert source.tables
    bomb = _parquet(tmp_path / "bomb.parquet", beyond)
    said = _why(bomb)
    assert "expands to more than 250 times its size" in said
    monkeypatch.setenv("FLUID_MAX_EXPANSION", "1_000_000")
    with open_source(bomb) as source:
        assert source.tables


def test_a_parquet_file_of_values_that_differ_is_read_whatever_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One column of keys makes up for many that hold the same value throughout."""
    monkeypatch.setattr(encodings, "_HARMLESS", 1)
    query = "SELECT hash(i) AS id, 1 AS a, NULL::INT AS b, 'x' AS c FROM range(20_000) t(i)"
    with open_source(_parquet(tmp_path / "t.parquet", query)) as source:
        assert len(source.tables[0].columns) == 4


def test_a_parquet_file_that_is_almost_empty_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nulls and columns of one value cost less than values that differ."""
    monkeypatch.setattr(encodings, "_HARMLESS", 1)
    names = ", ".join(f"NULL::INT AS n{i}, 'x' AS c{i}" for i in range(10))
    query = f"SELECT if(i % 100 = 0, hash(i), NULL) AS id, {names} FROM range(120_000) t(i)"
    path = _parquet(tmp_path / "t.parquet", query)
    assert 250 * path.stat().st_size < 21 * 8 * 120_000
    with open_source(path) as source:
        assert len(source.tables[0].columns) == 21


def _streamed(path: Path, last_line: int) -> None:
    """A zstd file written as a stream, whose frame doesn't state its size."""
    duckdb.connect().execute(
        "COPY (SELECT * FROM (VALUES (1, 'a'), (2, repeat('x', ?))) AS t(id, name))"
        f" TO '{path}' (FORMAT csv, HEADER)",
        [last_line],
    )


@pytest.mark.parametrize("megabytes", [2, 40])
def test_a_line_that_is_too_long_is_told_for_a_streamed_zstd_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, megabytes: int
) -> None:
    """No row is lost without a word, however far the line is over the limit."""
    monkeypatch.setenv("FLUID_MAX_LINE_MB", "1")
    path = tmp_path / "one.csv.zst"
    _streamed(path, megabytes * MEGABYTE)
    assert encodings.zstd_content(path) == 0
    said = _why(path)
    assert "longer than 1 MB" in said
    assert "FLUID_MAX_LINE_MB" in said


def test_a_zstd_file_that_does_not_say_how_much_it_expands_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.zst"
    duckdb.connect().execute(
        f"COPY (SELECT 1 AS a, 2 AS b FROM range(20_000_000)) TO '{path}' (FORMAT csv)"
    )
    assert encodings.zstd_content(path) == 0
    with pytest.raises(SourceUnreadableError, match="expands to more than"):
        open_source(path)


def test_a_small_zstd_file_with_long_lines_is_read(tmp_path: Path) -> None:
    """Lines within the limit are read, as those of a gzip file are."""
    path = tmp_path / "few.csv.zst"
    duckdb.connect().execute(
        "COPY (SELECT i AS id, repeat('x', ?) AS text FROM range(12) AS t(i))"
        f" TO '{path}' (FORMAT csv, HEADER)",
        [3 * MEGABYTE],
    )
    with open_source(path) as source:
        row = source.connection.execute(
            f"SELECT count(*), min(length(text)) FROM {source.tables[0].relation}"
        ).fetchone()
    assert row == (12, 3 * MEGABYTE)


def test_a_header_longer_than_the_sample_is_read_whole(tmp_path: Path) -> None:
    """Names of thousands of letters don't make a table of other columns."""
    names = [f"{'n' * 3000}_{number}" for number in range(120)]
    rows = [",".join(str(row + column) for column in range(120)) for row in range(30)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    with open_source(tmp_path / "t.csv") as source:
        (table,) = source.tables
        assert [column.name for column in table.columns] == names
        count = source.connection.execute(f"SELECT count(*) FROM {table.relation}").fetchone()
    assert count == (30,)


def test_repeated_names_are_numbered_in_no_time(tmp_path: Path) -> None:
    """Thousands of columns of one name cost no more than of many."""
    lines = [",".join(["x"] * 2_000), *[",".join(["1"] * 2_000)] * 3]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    with open_source(tmp_path / "t.csv") as source:
        names = [column.name for column in source.tables[0].columns]
    assert names[:3] == ["x", "x_2", "x_3"]
    assert len(set(names)) == 2_000


def test_a_ddl_file_of_too_many_tables_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends as soon as the limit is met, which a variable raises."""
    statements = [f"CREATE TABLE t{number} (id INTEGER);" for number in range(51)]
    (tmp_path / "many.sql").write_text("\n".join(statements))
    monkeypatch.setenv("FLUID_MAX_DDL_TABLES", "50")
    with pytest.raises(SourceUnreadableError, match="more than 50 tables") as caught:
        open_source(tmp_path / "many.sql")
    assert "FLUID_MAX_DDL_TABLES" in (caught.value.hint or "")
    monkeypatch.setenv("FLUID_MAX_DDL_TABLES", "51")
    with open_source(tmp_path / "many.sql") as source:
        assert len(source.tables) == 51


@pytest.mark.parametrize(
    ("head", "opening"),
    [
        ("-- PostgreSQL database dump\n", "".join(f"$a{number}$ " for number in range(100_000))),
        ("PROMPT x\n", "q'[ " * 100_000),
        ("-- MySQL dump 10.13\n", "'" + "\\'" * 100_000),
    ],
    ids=["tags", "oracle", "backslashes"],
)
def test_quotes_that_never_end_are_searched_to_the_end_of_ddl_once(
    tmp_path: Path, head: str, opening: str
) -> None:
    """The statements before them are read; each quote would be searched to the end otherwise."""
    (tmp_path / "shop.sql").write_text(f"{head}CREATE TABLE t (a int);\n{opening}\n")
    with open_ddl(tmp_path / "shop.sql") as source:
        assert [table.name for table in source.tables] == ["t"]


def test_a_number_that_goes_on_as_a_word_is_no_literal_of_a_dump() -> None:
    """Its digits are looked at once, not once for each place where a decimal point could be."""
    values = f"({'9' * 300_000}x)"
    (left_out,) = read_rows(values, 0, len(values), literals_of(DIALECTS["postgres"]))
    assert left_out == LeftOut("row", 1, len(values))


@pytest.mark.parametrize(
    "token", [" ", "0", "1 ", "€", "1.", "1,", "-", "(", "%", "+", "\u00a0", "1 x"]
)
def test_a_run_of_forty_thousand_is_no_number_with_affixes(token: str) -> None:
    """Blanks may belong to several parts of the pattern, which would try each division of them."""
    run = token * 40_000
    assert not is_number(f"x{run}x")
    assert not is_number(f"1{run}x")
    assert not is_number(f"{run}x")


@pytest.mark.parametrize("blanks", [0, 40_000])
def test_a_price_between_many_blanks_is_a_number_with_affixes(blanks: int) -> None:
    assert is_number(f"{' ' * blanks}€ 1,234.50{' ' * blanks}")


@pytest.mark.parametrize(("digits", "is_read"), [(100, True), (101, False)])
def test_a_number_with_affixes_has_a_hundred_characters_at_most(digits: int, is_read: bool) -> None:
    assert is_number("9" * digits) is is_read


@pytest.mark.parametrize(
    "lines",
    ["9," * 200_000, "\n".join([",".join("9" * 900)] * 260), '"a","b"' + ",9" * 200_000],
    ids=["one", "some", "after quotes"],
)
def test_lines_of_far_too_many_values_are_refused_before_they_are_listed(
    tmp_path: Path, lines: str
) -> None:
    """DuckDB's list of the values too many would have a line beside each of them."""
    (tmp_path / "t.csv").write_text("a,b,c\n" + "1,2,3\n" * 20_000 + lines + "\n1,2,3\n")
    assert "far more values than its 3 columns" in _why(tmp_path / "t.csv")


@pytest.mark.parametrize("text", ["9," * 200_000, "9,\n" * 100_000, ("9," * 900 + "\n") * 300])
def test_many_delimiters_in_quotes_are_one_value(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f'id,text\n1,short\n2,"{text}"\n3,end\n')
    with open_source(path) as source:
        row = source.connection.execute(
            f"SELECT count(*), max(length(text)) FROM {source.tables[0].relation}"
        ).fetchone()
    assert row == (3, len(text))


def test_a_line_of_a_few_values_too_many_is_still_mended(tmp_path: Path) -> None:
    """It's cut off and noted, as ever."""
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n" + "1,2,3\n" * 2_000 + "9," * 900 + "\n")
    with open_source(path) as source:
        assert any("with more than 3 fields" in note for note in source.tables[0].notes)


@pytest.mark.parametrize("line", ["[" * 100_000, '{"a":' * 100_000], ids=["brackets", "braces"])
def test_a_line_of_opening_brackets_is_refused(tmp_path: Path, line: str) -> None:
    """It ends in a sentence, however deep Python may go."""
    (tmp_path / "t.ndjson").write_text(f'{{"a": 1}}\n{line}\n')
    assert "Line 2 has too many levels of brackets" in _why(tmp_path / "t.ndjson")


def test_tables_that_copy_each_others_columns_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is like the one before with a column more: lines make columns by their square."""
    monkeypatch.setenv("FLUID_MAX_DDL_COLUMNS", "1000")
    statements = (f"CREATE TABLE t{i} (LIKE t{i - 1}, c{i} int);" for i in range(1, 60))
    (tmp_path / "t.sql").write_text("CREATE TABLE t0 (a int);\n" + "\n".join(statements))
    with pytest.raises(SourceError, match="more than 1,000 columns"):
        open_source(tmp_path / "t.sql")


def test_a_name_of_a_table_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "t.sql").write_text(f"CREATE TABLE {'ab' * 6_000} (a int); CREATE TABLE b (a int);")
    with open_source(tmp_path / "t.sql") as source:
        assert [table.name for table in source.tables] == ["b"]
        assert any("a name has 12,000 characters" in note for note in source.notes)
