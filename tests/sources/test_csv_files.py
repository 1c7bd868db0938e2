"""Delimited text: dialects, encodings, ragged lines, and types judged over every value."""

import csv
import gzip
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.errors import SourceUnreadableError
from fluid_build.sources import open_source
from fluid_build.sources.base import Source, Table
from fluid_build.sources.files.delimited import files
from fluid_build.sources.text_values import encodings
from fluid_build.sources.text_values.utf8_copies import Quoting, rewrite


def only(source: Source) -> Table:
    (table,) = source.tables
    return table


def rows_of(source: Source) -> list[tuple[object, ...]]:
    table = only(source)
    return source.connection.execute(
        f"SELECT COLUMNS(*)::VARCHAR FROM {table.relation} ORDER BY ALL"
    ).fetchall()


def types_of(source: Source) -> list[str]:
    return [column.type for column in only(source).columns]


def written(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def test_ragged_lines_are_mended_and_named(tmp_path: Path) -> None:
    """Short lines are filled up, long ones cut; the notes say which, how many, and what was cut."""
    path = written(
        tmp_path / "r.csv",
        'id,name,v\n1,a,2\n2,b\n3,c,4,extra,more\n4,"d\nd",6\n5,"e\ne"\n\n6,f,7\n7,g,8,\n',
    )
    with open_source(path) as source:
        assert rows_of(source) == [
            ("1", "a", "2"),
            ("2", "b", None),
            ("3", "c", "4"),
            ("4", "d\nd", "6"),
            ("5", "e\ne", None),
            ("6", "f", "7"),
            ("7", "g", "8"),
        ]
        assert only(source).notes == (
            "2 lines with fewer than 3 fields (lines 3, 7): the missing fields were read as null.",
            "1 line with more than 3 fields (line 4): the first 3 were kept and the others "
            "were left out (2 values).",
        )


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_line_end_is_read(tmp_path: Path, line_end: str) -> None:
    """Unix, Windows and old Macintosh line ends give the same rows, ragged lines included."""
    path = written(tmp_path / "r.csv", line_end.join(["id,v", "1,a", "2", "3,c", ""]))
    with open_source(path) as source:
        assert rows_of(source) == [("1", "a"), ("2", None), ("3", "c")]
        assert "fewer than 2 fields (line 3)" in only(source).notes[0]


_CELLS = st.lists(st.text(st.sampled_from('a\r\n",é5 ')), min_size=2, max_size=6)


@given(_CELLS, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["utf-8", "cp1252", "utf-16"]))
def test_line_ends_in_quotes_are_kept(cells: list[str], line_end: str, encoding: str) -> None:
    """They are part of the value, whatever ends the lines, in every encoding."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator=line_end)
    # One of each kind of line end, so that the file has to be copied.
    given_cells = ["x\r\ny", "x\ny", "x\ry", "é", *(f"x{cell}x" for cell in cells)]
    writer.writerows([["id", "v"], *([f"k{i}", cell] for i, cell in enumerate(given_cells))])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "q.csv"
        path.write_bytes(text.getvalue().encode(encoding))
        with open_source(path) as source:
            rows = rows_of(source)
    assert [value for _, value in rows] == given_cells


def test_copies_keep_quoted_line_ends_across_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever a block of the file ends; a quote that nobody closes changes nothing after it."""
    whole = 'k,v\r\n1,"a\r\nb""\r\n"\r\n2,5" x\r\n3,"c\rd"\n4,"open\r\n5,e\r\n'
    path = tmp_path / "a.csv"
    path.write_bytes(whole.encode())
    for size in range(1, len(whole) + 1):
        monkeypatch.setattr(encodings, "_BLOCK", size)
        copy, _ = rewrite(path, encodings.examine(path), tmp_path, Quoting(",", '"'))
        assert copy.read_bytes() == (b'k,v\n1,"a\r\nb""\r\n"\n2,5" x\n3,"c\rd"\n4,"open\n5,e\n')


def test_copies_keep_line_ends_beside_backslashed_quotes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quote after a backslash ends no value, wherever a block of the file ends."""
    whole = 'k;v\n1;"a\\"b\r\nc\\\\"\r\n2;"\\"\r"\n'
    path = tmp_path / "a.csv"
    path.write_bytes(whole.encode())
    for size in range(1, len(whole) + 1):
        monkeypatch.setattr(encodings, "_BLOCK", size)
        copy, _ = rewrite(path, encodings.examine(path), tmp_path, Quoting(";", "\\"))
        assert copy.read_bytes() == b'k;v\n1;"a\\"b\r\nc\\\\"\n2;"\\"\r"\n'


@pytest.mark.parametrize(
    ("whole", "marks"),
    [
        ("a\nb\n", (True, False, False)),
        ("a\r\nb\r\n", (True, False, False)),
        ("a\r\nb\n", (False, False, False)),
        ("a\rb\r", (False, False, False)),
        ('a""b', (True, False, True)),
        (f"a\n{'b' * 999}\nc", (True, False, False)),
        (f"a\n{'b' * 1001}\nc", (True, True, False)),
        ("b" * 1001, (True, True, False)),
    ],
)
def test_the_marks_of_a_text_are_seen_across_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: str, marks: tuple[bool, bool, bool]
) -> None:
    """Line ends, long lines and pairs of quotes, wherever a block ends."""
    path = tmp_path / "a.csv"
    path.write_bytes(whole.encode())
    for size in [*range(1, 6), 999, 1000, 1001, 1002, 4096]:
        monkeypatch.setattr(encodings, "_BLOCK", size)
        assert encodings.examine(path).marks == encodings.Marks(*marks)


def test_mixed_line_ends_are_read(tmp_path: Path) -> None:
    """A file put together on two systems loses no line."""
    path = written(tmp_path / "m.csv", "id,v\r\n1,a\n2,b,cut\r\n3,c\n")
    with open_source(path) as source:
        assert rows_of(source) == [("1", "a"), ("2", "b"), ("3", "c")]
        assert "left out (1 value)" in only(source).notes[0]


def test_a_value_that_is_left_out_is_not_told(tmp_path: Path) -> None:
    """What stands beyond the last column may be personal, so a note counts it and quotes none."""
    path = written(tmp_path / "r.csv", "id,mail\n1,a@b.example\n2,Bob,bob@b.example\n")
    with open_source(path) as source:
        assert "line 3" in only(source).notes[0]
        assert "bob@b.example" not in only(source).notes[0]


def test_broken_quotes_cost_no_line(tmp_path: Path) -> None:
    """A quote inside a value, and one that is never closed, leave every line readable."""
    path = written(tmp_path / "q.csv", 'id,v\n1,ok\n2,"never closed\n3,fine\n4,5" pipe\n')
    with open_source(path) as source:
        assert [row[0] for row in rows_of(source)] == ["1", "2", "3", "4"]
        assert rows_of(source)[3] == ("4", '5" pipe')
        assert "broken quotes" in only(source).notes[0]


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252", "utf-32"],
)
def test_every_encoding_is_recognised(tmp_path: Path, encoding: str) -> None:
    """Unicode with and without a mark, and the Western 8-bit encodings, read as the same text."""
    path = written(tmp_path / "e.csv", "id,name\n1,Zoë\n2,Müller\n", encoding)
    with open_source(path) as source:
        assert rows_of(source) == [("1", "Zoë"), ("2", "Müller")]
        assert [column.name for column in only(source).columns] == ["id", "name"]
        assert bool(only(source).notes) == (not encoding.startswith("utf-8"))


def test_a_late_byte_does_not_break_the_encoding(tmp_path: Path) -> None:
    """A file that is ASCII for two megabytes and Latin-1 in its last line is read."""
    path = tmp_path / "late.csv"
    path.write_bytes(b"id,name\n" + b"1,plain text\n" * 200_000 + "2,Zoë\n".encode("latin-1"))
    with open_source(path) as source:
        assert rows_of(source)[-1] == ("2", "Zoë")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^"])
def test_every_delimiter_is_recognised(tmp_path: Path, delimiter: str) -> None:
    """The delimiter is the one that parts the lines evenly, quotes and others' marks or not."""
    lines = [["id", "text"], ["1", '"a, b; c | d"'], ["2", "x"], ["3", "y"]]
    path = written(tmp_path / "d.csv", "\n".join(delimiter.join(line) for line in lines))
    with open_source(path) as source:
        assert rows_of(source) == [("1", "a, b; c | d"), ("2", "x"), ("3", "y")]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\n1,x\n2,y\n", ["a", "b"]),
        ("1,x\n2,y\n", ["column1", "column2"]),
        ("first,last\nJohn,Doe\nAnn,Lee\n", ["first", "last"]),
        ("John,Doe\nAnn,Lee\nJohn,Smith\n", ["column1", "column2"]),
        ("a,b\n", ["a", "b"]),
        ("name\nfoo\nbar\n", ["name"]),
        (",x\n0,1\n1,2\n", ["column1", "x"]),
        ("id,Id,id\n1,2,3\n", ["id", "Id", "id_2"]),
        ("a,b,c\n1,2,3,\n4,5,6,\n", ["a", "b", "c"]),
        ("Report of May\n\nid,n,v\n1,2,3\n4,5,6\n", ["id", "n", "v"]),
        ("id,name,$1\n1,Ann,x\n2,Bob,y\n", ["id", "name", "$1"]),
        ("id,$1,total\n1,5,9\n2,6,8\n", ["id", "$1", "total"]),
        ("id,name,2020\n1,Ann,5\n2,Bob,6\n", ["id", "name", "2020"]),
        ("country,2019,2020,2021\nNL,1,2,3\nBE,4,5,6\n", ["country", "2019", "2020", "2021"]),
        ("Ann,Lee,5\nBob,Ray,6\n", ["column1", "column2", "column3"]),
        ("Ann,Lee,$1\nBob,Ray,$2\n", ["column1", "column2", "column3"]),
        ("Ann,unknown,5\nBob,3,6\n", ["column1", "column2", "column3"]),
        ("a,b,5\n1,2,5\n3,4,6\n", ["column1", "column2", "column3"]),
        ("John,1980,1999\nAnn,1975,2001\n", ["column1", "column2", "column3"]),
        ("x,1,2,3\ny,2,3,4\n", ["column1", "column2", "column3", "column4"]),
    ],
)
def test_the_header_is_recognised(tmp_path: Path, text: str, names: list[str]) -> None:
    """Names come from the header where there is one, by position where not."""
    with open_source(written(tmp_path / "h.csv", text)) as source:
        assert [column.name for column in only(source).columns] == names


def test_case_twin_columns_are_told_apart(tmp_path: Path) -> None:
    """Columns whose names differ in case alone each give their own values."""
    with open_source(written(tmp_path / "t.csv", "id,ID,Id\n1,2,3\n")) as source:
        table = only(source)
        aliases = [column.alias for column in table.columns]
        assert len({alias.lower() for alias in aliases}) == 3
        assert rows_of(source) == [("1", "2", "3")]


@pytest.mark.parametrize(
    ("values", "type_", "read"),
    [
        (["1", "-2", ""], "BIGINT", ["-2", "1", None]),
        (["00123", "45"], "VARCHAR", ["00123", "45"]),
        (["+49", "7"], "VARCHAR", ["+49", "7"]),
        (["1.5", "2"], "DOUBLE", ["1.5", "2.0"]),
        (["1.5", "1.5e3"], "DOUBLE", ["1.5", "1500.0"]),
        (["1.5", "1e3"], "VARCHAR", ["1.5", "1e3"]),
        (["1.5e99", "1"], "DOUBLE", None),
        (["1.5e-400", "1"], "VARCHAR", ["1", "1.5e-400"]),
        (["1.10", "1.2"], "VARCHAR", ["1.10", "1.2"]),
        (["true", "True"], "VARCHAR", ["True", "true"]),
        (["0.12345678901234567890"], "VARCHAR", ["0.12345678901234567890"]),
        (["123456789012345678901234"], "VARCHAR", ["123456789012345678901234"]),
        (["2020-01-31", "2021-12-01"], "DATE", ["2020-01-31", "2021-12-01"]),
        (["2020-02-30"], "VARCHAR", ["2020-02-30"]),
        (["2020-01-31 10:20", "2020-02-01"], "TIMESTAMP", None),
        (["2020-01-31T10:20:30Z"], "TIMESTAMP WITH TIME ZONE", ["2020-01-31 10:20:30+00"]),
        (["10:20:30"], "TIME", ["10:20:30"]),
        (["25:10:00"], "VARCHAR", ["25:10:00"]),
        (["true", "False"], "BOOLEAN", ["false", "true"]),
        (["31/12/2020", "01/02/2020"], "DATE", ["2020-02-01", "2020-12-31"]),
        (["12/31/2020", "01/02/2020"], "DATE", ["2020-01-02", "2020-12-31"]),
        (["01/02/2020"], "VARCHAR", ["01/02/2020"]),
        (["31.12.2020"], "DATE", ["2020-12-31"]),
        (["12", "NA"], "BIGINT", ["12", None]),
        (["Anna", "NA"], "VARCHAR", ["Anna", "NA"]),
        (["Anna", "\\N"], "VARCHAR", ["Anna", None]),
        (["", ""], "VARCHAR", [None, None]),
    ],
)
def test_a_type_is_given_only_where_every_value_fits(
    tmp_path: Path, values: list[str], type_: str, read: list[object] | None
) -> None:
    """Numbers, dates and flags are typed without losing a digit or a leading zero."""
    path = written(tmp_path / "t.csv", "row,c\n" + "".join(f"x,{value}\n" for value in values))
    with open_source(path) as source:
        assert only(source).column("c").type == type_
        if read is not None:
            assert [row[1] for row in rows_of(source)] == read


def test_a_late_value_turns_its_column_to_text_with_a_note(tmp_path: Path) -> None:
    """The 25,000th value decides as much as the first; a note counts the odd ones."""
    lines = [f"{i},{i},{i}" for i in range(30_000)]
    lines[25_000] = "25000,abc,1.5"
    path = written(tmp_path / "late.csv", "id,odd,fraction\n" + "\n".join(lines))
    with open_source(path) as source:
        assert types_of(source) == ["BIGINT", "VARCHAR", "DOUBLE"]
        assert only(source).notes == (
            "odd: Read as text: 1 of 30,000 values isn't a whole number.",
        )


def test_compressed_files_are_read(tmp_path: Path) -> None:
    """Both gzip and zstd are seen through, names and line numbers too."""
    (tmp_path / "g.csv.gz").write_bytes(gzip.compress(b"id,v\n1,a\n2\n"))
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT 1 AS id, 'a' AS v) TO '{tmp_path}/z.csv.zst'"
            " (FORMAT csv, HEADER, COMPRESSION zstd)"
        )
    with open_source(tmp_path) as source:
        packed, zipped = source.tables
        assert (packed.name, zipped.name) == ("g", "z")
        assert "(line 3)" in packed.notes[0]
        rows = source.connection.execute(f"FROM {zipped.relation}").fetchall()
        assert rows == [(1, "a")]


def test_broken_and_empty_files_are_skipped_with_the_reason(tmp_path: Path) -> None:
    """Files that can't be read cost themselves alone; if there is no other, that is an error."""
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n" * 1000)[:-20])
    (tmp_path / "fake.csv.gz").write_bytes(b"a,b\n1,2\n")
    (tmp_path / "empty.csv").touch()
    with pytest.raises(SourceUnreadableError, match="None of the 3 tables"):
        open_source(tmp_path)
    written(tmp_path / "good.csv", "a,b\n1,2\n")
    with open_source(tmp_path) as source:
        assert only(source).name == "good"
        assert {one.name: one.reason for one in source.skipped} == {
            "cut": "Its compressed data ends too early.",
            "empty": "It is empty.",
            "fake": "Not a gzipped file (b'a,').",
        }


# Of few and ragged lines, another delimiter in quoted cells can be taken for that of the file.
CELLS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r;|^~", exclude_categories=("Cs", "Cc")),
    max_size=12,
)


@given(rows=st.lists(st.lists(CELLS, min_size=1, max_size=6), min_size=1, max_size=8))
def test_no_line_is_ever_lost(tmp_path: Path, rows: list[list[str]]) -> None:
    """However ragged the lines, each one that holds something becomes exactly one row."""
    lines = ["key,second,third", "1,a,b", "2,c,d", "3,e,f"]
    for row in rows:
        lines.append("9," + ",".join('"' + cell.replace('"', '""') + '"' for cell in row))
    path = written(tmp_path / "p.csv", "\n".join(lines) + "\n")
    with open_source(path) as source:
        keys = [row[0] for row in rows_of(source)]
    assert keys == ["1", "2", "3"] + ["9"] * len(rows)


def test_values_that_nobody_can_name_are_refused(tmp_path: Path) -> None:
    """An unquoted decimal comma shifts the values of every row under a wrong name."""
    rows = "".join(f"{i},{i},50,Rome\n" for i in range(30))
    path = written(tmp_path / "shift.csv", f"no,price,city\n{rows}")
    with pytest.raises(SourceUnreadableError, match="3 names, but 30 of 30 rows have more values"):
        open_source(path)


def test_rows_of_any_length_under_a_short_header_are_refused_soon(tmp_path: Path) -> None:
    """DuckDB would list each value too many, with its whole line."""
    rows = "".join(",".join("x" * (4 + number % 900)) + "\n" for number in range(2000))
    path = written(tmp_path / "ragged.csv", f"a,b,c\n{rows}")
    with pytest.raises(SourceUnreadableError, match="3 names, but almost all rows have more"):
        open_source(path)


def test_a_few_rows_with_more_values_are_named(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i},Rome,\n" for i in range(30))
    path = written(tmp_path / "shift.csv", f"no,price,city\n{rows}31,1,50,Rome\n")
    with open_source(path) as source:
        (note,) = only(source).notes
        assert "has 3 names, but 1 of 31 rows have more values" in note
        assert len(rows_of(source)) == 31


def test_a_missing_value_s_word_far_down_a_file_does_not_stop_its_column(tmp_path: Path) -> None:
    """A column of 30,000 numbers that ends in the word NULL is one of numbers all the same."""
    numbers = "".join(f"{i},x\n" for i in range(30_000))
    path = written(tmp_path / "late.csv", f"a,b\n{numbers}NULL,y\n")
    with open_source(str(path)) as source:
        assert types_of(source) == ["BIGINT", "VARCHAR"]
        assert only(source).columns[0].notes == ("1 value ('NULL') was read as null.",)


def test_a_file_whose_name_looks_like_a_pattern_is_read_itself(tmp_path: Path) -> None:
    """a[1].csv is that file, and not a1.csv beside it, which its name would match as a glob."""
    written(tmp_path / "a1.csv", "k,v\n1,other\n")
    path = written(tmp_path / "a[1].csv", "k,v\n1,own\n")
    with open_source(str(path)) as source:
        assert rows_of(source) == [("1", "own")]


def test_empty_text_is_noted(tmp_path: Path) -> None:
    """Where a column of text has ``""``, it becomes null and a note says so."""
    text = 'id,both,quoted,bare,number\n1,"",x,x,1\n2,,"",,""\n3,y,"",z,\n4,"a "","" b",z,,2\n'
    with open_source(written(tmp_path / "t.csv", text)) as source:
        table = only(source)
        both = 'Empty text ("") in 1 row and nothing in 1 are both null.'
        alone = 'Empty text ("") in 2 rows is null.'
        assert table.notes == (f"both: {both}", f"quoted: {alone}")
        assert {column.name: column.notes for column in table.columns if column.notes} == {
            "both": (both,),
            "quoted": (alone,),
        }


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_empty_text_is_seen_wherever_it_stands(tmp_path: Path, ending: str) -> None:
    """The first and last value of a line, and the last of a file, are looked at too."""
    lines = ["a;b;c", '"";x;', ";x;1y", 'k;x;""']
    with open_source(written(tmp_path / "t.csv", ending.join(lines))) as source:
        assert [note.partition(":")[0] for note in only(source).notes] == ["a", "c"]


VALUES_IN_QUOTES = ['say "hi"{}', 'say "hi",{}', 'say "hi" n{}', '"hi" n{}']


@pytest.mark.parametrize(
    ("escape", "value"),
    [*((escape, value) for escape in '"\\' for value in VALUES_IN_QUOTES), ('"', "C:\\{}")],
)
def test_quotes_come_back_however_they_are_escaped(tmp_path: Path, escape: str, value: str) -> None:
    """Whether or not a delimiter stands between them; a backslash may be only that."""
    values = [value.format(i) for i in range(20)]
    text = io.StringIO()
    escaped = {"doublequote": False, "escapechar": "\\"} if escape == "\\" else {}
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, **escaped)  # type: ignore[arg-type]
    writer.writerows([("id", "a", "b"), *((i, value, "x") for i, value in enumerate(values))])
    with open_source(written(tmp_path / "t.csv", text.getvalue())) as source:
        assert {row[1] for row in rows_of(source)} == set(values)
        assert only(source).notes == ()


@pytest.mark.parametrize("rows", [3, 1_000])
def test_truths_in_several_spellings_are_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """TRUE and true are one value, whichever way the file is read."""
    monkeypatch.setattr(files, "WORTH_A_GUESS", 1_000)
    lines = ["TRUE,true"] * rows + ["FALSE,True", "FALSE,false"]
    with open_source(written(tmp_path / "t.csv", "\n".join(["a,b", *lines]))) as source:
        assert types_of(source) == ["BOOLEAN", "BOOLEAN"]
        noted = [column.name for column in only(source).columns if column.notes]
    assert noted == ["b"]


@pytest.mark.parametrize(
    ("text", "is_noted"),
    [
        ('a,b\n1, "x"\n2, "x, y"\n', True),
        ('a,b\n1,"x, y" \n', True),
        ('a,b\n"1" ,x\n', True),
        ('a,b\n1,"x, "\n', False),
        ('a,b\n1,"x, ""y"" , z"\n', False),
        ("a,b\n1, x\n", False),
    ],
)
def test_blanks_that_are_left_out_around_quotes_are_noted(
    tmp_path: Path, text: str, is_noted: bool
) -> None:
    with open_source(written(tmp_path / "q.csv", text)) as source:
        noted = [note for note in only(source).notes if "Blanks around" in note]
    assert len(noted) == is_noted


def test_a_minus_that_is_no_hyphen_is_noted(tmp_path: Path) -> None:
    """A long minus is read as any other, so that two spellings are one number."""
    with open_source(written(tmp_path / "m.csv", "id,v\n1,\u22125\n2,-5\n")) as source:
        assert [row[1] for row in rows_of(source)] == ["-5", "-5"]
        assert "no hyphen" in only(source).notes[0]
