"""What stands around the table in a delimited file: titles, sep=, totals and notes."""

import codecs
import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.sources import open_source
from fluid_build.sources.origin import InFiles

Rows = list[tuple[object, ...]]

SALES = "region;units;amount\nNorth;3;10,50\nSouth;4;20,25\nWest;5;1.000,00\n"
SOLD: Rows = [("North", 3, 10.5), ("South", 4, 20.25), ("West", 5, 1000.0)]


def read(path: Path) -> tuple[list[str], Rows, str, list[tuple[int, str]]]:
    """The names, rows and notes of a file, and the lines that were left out."""
    with open_source(path) as source:
        (table,) = source.tables
        assert isinstance(table.origin, InFiles)
        return (
            [column.name for column in table.columns],
            source.connection.execute(f"FROM {table.relation}").fetchall(),
            " ".join(table.notes),
            [(one.line, one.what) for one in table.origin.left_out],
        )


def written(folder: Path, text: str, name: str = "f.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    "titles",
    [
        "Sales 2024\n",
        "Sales 2024;;\n",
        "Sales 2024\n\n",
        "Sales 2024;;\n;;\n",
        "Sales 2024\nPrinted on 01.02.2024\n\n\n",
        '"Sales; all of 2024"\n\n',
        "Sales; North; South; West; 2024\n\n",
        "Report;\n;;2024\n;;\n",
        "# exported by the till; version 1\n# on 2024-01-31\n",
        "\n\n",
    ],
)
def test_titles_above_the_header_are_left_out(tmp_path: Path, titles: str) -> None:
    """A report's title isn't the name of a column, and the line is named."""
    names, rows, notes, left_out = read(written(tmp_path, titles + SALES))
    assert names == ["region", "units", "amount"]
    assert rows == SOLD
    assert left_out == [(i + 1, "title") for i in range(titles.count("\n"))]
    assert "above the table" in notes


def test_titles_above_two_columns_are_left_out(tmp_path: Path) -> None:
    """A narrow table has titles as well."""
    text = "Rates of 2024\n\nday;rate\n2024-01-02;1.5\n2024-01-03;1.25\n"
    names, rows, _, left_out = read(written(tmp_path, text))
    assert names == ["day", "rate"]
    assert len(rows) == 2
    assert left_out == [(1, "title"), (2, "title")]


def test_particulars_above_the_header_are_left_out(tmp_path: Path) -> None:
    """A label with its value above the table is a report's particular."""
    text = (
        "Report;Staff;;;\nCreated;2024-01-31;;;\n\nemp_no;name;dept;grade;salary\n"
        "E1;Ann;A;1;30000\nE2;Bob;B;2;31000\nE3;Cy;A;3;32000\n"
    )
    names, rows, _, _ = read(written(tmp_path, text))
    assert names == ["emp_no", "name", "dept", "grade", "salary"]
    assert len(rows) == 3


@pytest.mark.parametrize(
    "text",
    [
        ",a,b\nx,1,2\ny,3,4\n",
        "a,b,\n1,2,3\n4,5,6\n",
        "name,note\nx,\ny,\n",
        "a,b,c\nx,,\ny,,\nz,1,2\n",
    ],
)
def test_a_sparse_header_or_row_is_no_title(tmp_path: Path, text: str) -> None:
    """What only looks bare stays what it is."""
    names, rows, _, left_out = read(written(tmp_path, text))
    assert left_out == []
    assert len(rows) == text.count("\n") - 1
    assert names[:1] in ([text.split(",")[0]], ["column1"])


def test_one_column_of_decimal_commas_is_one_column(tmp_path: Path) -> None:
    """Where the header has one name, the comma below it parts no fields."""
    names, rows, _, _ = read(written(tmp_path, "rate\n1,5\n-2,25\n3\n"))
    assert (names, rows) == (["rate"], [(1.5,), (-2.25,), (3.0,)])


@pytest.mark.parametrize("line", ["sep=;\n", "SEP=;\r\n", '"sep=;"\n'])
def test_a_line_that_names_the_delimiter_is_followed(tmp_path: Path, line: str) -> None:
    """Excel's sep= decides, even against what the text looks like, and is no row."""
    text = f"{line}a;b\n1,2;3,4\n5,6;7,8\n".replace("\n", "\r\n" if "\r" in line else "\n")
    names, rows, _, left_out = read(written(tmp_path, text.replace("\r\r", "\r")))
    assert names == ["a", "b"]
    assert rows == [(1.2, 3.4), (5.6, 7.8)]
    assert left_out == []


def test_titles_after_the_line_that_names_the_delimiter_are_left_out(tmp_path: Path) -> None:
    """Both may stand above one table."""
    _, rows, _, left_out = read(written(tmp_path, f"sep=;\nSales 2024\n\n{SALES}"))
    assert rows == SOLD
    assert left_out == [(2, "title"), (3, "title")]


@pytest.mark.parametrize(
    ("ending", "left_out"),
    [
        ("Total;12;1.030,75\n", [(5, "total")]),
        ("Summe:;12;1.030,75", [(5, "total")]),
        ("Gesamt (EUR);12;1.030,75\n", [(5, "total")]),
        ("Totaal;;1.030,75\n", [(5, "total")]),
        ("Somme;;1.030,75\n\n", [(5, "total")]),
        (";12;1.030,75\n", [(5, "total")]),
        (";;\nTotal général;12;1.030,75\n", [(5, "blank"), (6, "total")]),
        (";;\n" * 300, [(line, "blank") for line in range(5, 305)]),
        ("Durchschnitt;;343,58\n", [(5, "total")]),
        ("\nTotal;12;1.030,75\n\nAs of 31.01.2024\n", [(6, "total"), (8, "note")]),
        ("\nSource: the till\n* without returns\n", [(6, "note"), (7, "note")]),
        ("\nSource: the till;;\n", [(6, "note")]),
    ],
)
def test_totals_and_notes_below_the_table_are_left_out(
    tmp_path: Path, ending: str, left_out: list[tuple[int, str]]
) -> None:
    """Neither is a row, and the note gives their lines."""
    _, rows, notes, found = read(written(tmp_path, SALES + ending))
    assert rows == SOLD
    assert found == left_out
    assert str(left_out[0][0]) in notes
    assert str(left_out[-1][0]) in notes
    assert "left out" in notes
    assert "till" not in notes


@pytest.mark.parametrize(
    "last",
    [
        "Total;7;5,00",
        "Total;3;5,00",
        ";7;5,00",
        "East;12;1.030,75",
        "East;;",
        "East",
        "Totally Outdoors;6;5,00",
    ],
)
def test_a_row_that_is_no_total_for_sure_stays(tmp_path: Path, last: str) -> None:
    """A company may be called Total, and a last row may lack its name or its figures."""
    _, rows, _, found = read(written(tmp_path, f"{SALES}{last}\n"))
    assert len(rows) == 4
    assert found == []


def test_a_number_for_the_key_makes_text_below_it_a_note(tmp_path: Path) -> None:
    """Where the first column holds numbers alone, a line of words isn't a row."""
    _, rows, _, found = read(written(tmp_path, "id;name\n1;a\n2;b\nEnd of report\n"))
    assert rows == [(1, "a"), (2, "b")]
    assert found == [(4, "note")]


def test_totals_of_packed_files_are_left_out(tmp_path: Path) -> None:
    """A compressed file is read to its end for them."""
    path = tmp_path / "f.csv.gz"
    path.write_bytes(gzip.compress(f"{SALES}Total;12;1.030,75\n".encode()))
    _, rows, _, found = read(path)
    assert (rows, found) == (SOLD, [(5, "total")])


def test_a_total_far_down_a_file_is_left_out(tmp_path: Path) -> None:
    """The line is counted over the whole file, and the sum is that of every row."""
    lines = [f"P{i};{i % 90};{i}.25" for i in range(20_000)]
    total = sum(i + 0.25 for i in range(20_000))
    text = "\n".join(["part;units;amount", *lines, f";;{total:.2f}", ""])
    _, rows, _, found = read(written(tmp_path, text))
    assert len(rows) == 20_000
    assert found == [(20_002, "total")]


def test_the_totals_of_each_part_of_a_table_are_left_out(tmp_path: Path) -> None:
    """A table of monthly files has a total in each."""
    folder = tmp_path / "sales"
    folder.mkdir()
    for month in (1, 2):
        written(folder, f"{SALES}Total;12;1.030,75\n", f"{month:02d}.csv")
    _, rows, notes, found = read(folder)
    assert len(rows) == 6
    assert found == [(5, "total"), (5, "total")]
    assert "Line 5 of 01.csv" in notes
    assert "Line 5 of 02.csv" in notes


WIDE = "id;name;città\n1;Łódź;Πάτρα\n2;東京;Москва\n3;ñ;北京\n"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-8-sig", "utf-32"])
@pytest.mark.parametrize("text", [WIDE, "番号;名前\n一;東京都\n二;京都府\n", "a;b\n1;x\n2;y\n"])
def test_wide_encodings_are_read_with_and_without_a_mark(
    tmp_path: Path, encoding: str, text: str
) -> None:
    """Excel writes UTF-16 as "Unicode text"; without its mark the zero bytes tell."""
    path = tmp_path / "f.csv"
    path.write_bytes(text.encode(encoding))
    names, rows, _, _ = read(path)
    lines = [line.split(";") for line in text.split()]
    assert names == lines[0]
    assert [[str(cell) for cell in row] for row in rows] == lines[1:]


def test_marked_utf_16_is_read_in_both_orders(tmp_path: Path) -> None:
    """The mark says which byte comes first."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        path = tmp_path / "f.csv"
        path.write_bytes(mark + WIDE.replace("\n", "\r\n").encode(encoding))
        names, rows, _, _ = read(path)
        assert names == ["id", "name", "città"]
        assert rows[1] == (2, "東京", "Москва")


CELLS = st.text("abcdé xyz", min_size=1, max_size=8).map(str.strip).filter(bool)


@given(
    rows=st.lists(
        st.tuples(CELLS, st.integers(1, 10**6), st.integers(1, 10**6)), min_size=2, max_size=8
    ),
    titles=st.lists(st.sampled_from(["Report of the year", "", "Page 1"]), max_size=3),
)
def test_every_row_between_titles_and_totals_is_read(
    tmp_path: Path, rows: list[tuple[str, int, int]], titles: list[str]
) -> None:
    """No row is taken for a title, a total or a note, and none of these for a row."""
    total = f"Total;{sum(row[1] for row in rows)};{sum(row[2] for row in rows)}"
    body = [f"{name};{units};{amount}" for name, units, amount in rows]
    text = "\n".join([*titles, "name;units;amount", *body, total, "", "Page 1 of 1", ""])
    names, found, _, _ = read(written(tmp_path, text))
    assert names == ["name", "units", "amount"]
    assert found == rows


def test_units_below_the_header_are_no_row(tmp_path: Path) -> None:
    """Short words over numbers alone: the columns keep their types."""
    text = SALES.replace("amount\n", "amount\n;pcs;EUR\n")
    _, rows, note, left_out = read(written(tmp_path, text))
    assert (rows, left_out) == (SOLD, [(2, "units")])
    assert "Line 2 holds units and was left out." in note


def test_a_first_row_of_words_over_words_is_a_row(tmp_path: Path) -> None:
    """Names are short too, and no units of anything."""
    _, rows, _, left_out = read(written(tmp_path, "a;b;n\nx;y;\nv;w;1\nu;z;2\n"))
    assert (len(rows), left_out) == (3, [])


def test_a_header_that_is_repeated_is_no_row(tmp_path: Path) -> None:
    """A printed list has it on each page."""
    header, *lines = SALES.splitlines(keepends=True)
    _, rows, _, left_out = read(
        written(tmp_path, "".join([header, *lines[:1], header, *lines[1:]]))
    )
    assert (rows, left_out) == (SOLD, [(3, "header")])


def test_subtotals_among_the_rows_are_left_out(tmp_path: Path) -> None:
    """Each adds up the rows since the one before, and the total all of them."""
    text = (
        "region;customer;amount\nN;A;10,50\nN;B;20,00\nSubtotal;;30,50\nS;C;5,00\nS;D;6,25\n"
        "Subtotal;;11,25\nTotal;;41,75\n"
    )
    _, rows, _, left_out = read(written(tmp_path, text))
    assert [row[1:] for row in rows] == [("A", 10.5), ("B", 20.0), ("C", 5.0), ("D", 6.25)]
    assert left_out == [(4, "subtotal"), (7, "total"), (8, "total")]


def test_a_row_that_is_only_called_like_a_subtotal_stays(tmp_path: Path) -> None:
    """A place may be called Sum, and a company Total."""
    text = "name;customer;amount\nAcme;A;10,50\nTotal;B;20,00\nShell;C;5,00\nEsso;D;6,25\n"
    _, rows, _, left_out = read(written(tmp_path, text))
    assert (len(rows), left_out) == (4, [])


def test_a_header_of_two_rows_gives_both_names(tmp_path: Path) -> None:
    """A year over its quarters."""
    text = "region;2023;;2024;\n;Q1;Q2;Q1;Q2\nN;1;2;3;4\nS;5;6;7;8\n"
    names, rows, _, left_out = read(written(tmp_path, text))
    assert names == ["region", "2023 Q1", "2023 Q2", "2024 Q1", "2024 Q2"]
    assert (len(rows), left_out) == (2, [])


def test_blank_columns_and_rows_around_a_table_are_no_part_of_it(tmp_path: Path) -> None:
    """The table may begin at B2, and each line may end in delimiters."""
    names, rows, note, _ = read(written(tmp_path, ";;;\n;no;name;\n;1;a;\n;2;b;\n;;;\n"))
    assert (names, rows) == (["no", "name"], [(1, "a"), (2, "b")])
    assert "2 columns without a name and values left out." in note


def test_a_title_over_numbers_alone_is_no_part_of_their_names(tmp_path: Path) -> None:
    """A group of columns has others beside it."""
    path = written(tmp_path, "Sales 2024,,\nid,amount,tax\n1,2,3\n2,3,4\n")
    with open_source(path) as source:
        (table,) = source.tables
        assert [column.name for column in table.columns] == ["id", "amount", "tax"]
        assert table.notes == ("Line 1 of f.csv is above the table and was left out.",)


def test_a_last_line_that_may_be_a_total_is_named(tmp_path: Path) -> None:
    """It has a total's label, and its number isn't the sum: it stays, and a note says so."""
    with open_source(written(tmp_path, "item,amount\na,1\nb,2\nTotal,4\n")) as source:
        (table,) = source.tables
        assert table.notes == (
            "Line 4 begins as a total does, but no sum shows it: kept as a row.",
        )


def test_columns_that_share_a_name_are_noted(tmp_path: Path) -> None:
    with open_source(written(tmp_path, "id,v,v\n1,a,b\n2,c,d\n")) as source:
        (table,) = source.tables
        assert table.notes == ("Its header has some names twice: the later ones are `v_2`.",)


def test_a_file_of_hive_is_parted_by_its_own_delimiter(tmp_path: Path) -> None:
    with open_source(written(tmp_path, "id\x01name\n1\x01a,b\n2\x01c\n")) as source:
        (table,) = source.tables
        rows = source.connection.sql(f"FROM {table.relation}").fetchall()
        assert rows == [(1, "a,b"), (2, "c")]


@pytest.mark.parametrize(
    "lines",
    [
        ["comment", "Hello, world", "Yes, and no", "One, two"],
        [
            "address",
            "Main Street 1, Berlin",
            "Long Road 2, Paris",
            "No comma here",
            "Short 3, Rome",
        ],
        ["full name", "Doe,John", "Smith,Anna"],
        ["tags", "red;green;blue", "red;black;white"],
    ],
)
def test_text_that_the_same_mark_would_part_stays_one_column(
    tmp_path: Path, lines: list[str]
) -> None:
    """A name over text with commas is no title, where nothing else shows a header below it."""
    names, rows, notes, left_out = read(written(tmp_path, "\n".join(lines)))
    assert names == lines[:1]
    assert rows == [(line,) for line in lines[1:]]
    assert left_out == []
    assert "blank line" in notes


def test_a_blank_line_makes_a_title_above_a_table_of_text(tmp_path: Path) -> None:
    """What the note on a single column says to do is enough."""
    names, rows, _, left_out = read(written(tmp_path, "Staff\n\nname,city\nAnn,Rome\nBo,Oslo\n"))
    assert (names, rows) == (["name", "city"], [("Ann", "Rome"), ("Bo", "Oslo")])
    assert left_out == [(1, "title"), (2, "title")]
