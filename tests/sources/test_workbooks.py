"""Workbooks: each table of their sheets is found, and its cells are what a user sees."""

import base64
import datetime
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pytest
from openpyxl.utils.datetime import CALENDAR_MAC_1904
from openpyxl.worksheet.table import Table as NamedTable
from openpyxl.worksheet.worksheet import Worksheet

from fluid_build.errors import MissingExtraError, SourceUnreadableError
from fluid_build.sources import open_source
from fluid_build.sources.base import Table

Rows = Sequence[Sequence[object]]


def saved(path: Path, **sheets: Rows) -> Path:
    """Write a workbook with these sheets."""
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for name, rows in sheets.items():
        filled(workbook.create_sheet(name), rows)
    workbook.save(path)
    return path


def filled(sheet: Worksheet, rows: Rows) -> Worksheet:
    for row in rows:
        sheet.append(list(row))
    return sheet


def tables(place: Path) -> dict[str, Table]:
    with open_source(place) as source:
        return {table.name: table for table in source.tables}


def rows_of(place: Path, table: str) -> list[tuple[object, ...]]:
    with open_source(place) as source:
        (relation,) = (each.relation for each in source.tables if each.name == table)
        return source.connection.execute(f"FROM {relation}").fetchall()


def types_of(table: Table) -> dict[str, str]:
    return {column.name: column.type for column in table.columns}


PLAIN = (["no", "name"], [1, "Ann"], [2, "Bob"])


def test_each_sheet_is_a_table_of_its_name(tmp_path: Path) -> None:
    """A workbook is a source like a folder of files."""
    place = saved(tmp_path / "shop.xlsx", Customers=PLAIN, Orders=PLAIN)
    assert list(tables(place)) == ["Customers", "Orders"]
    assert rows_of(place, "Orders") == [(1, "Ann"), (2, "Bob")]


def test_an_only_sheet_is_called_after_its_file(tmp_path: Path) -> None:
    """``Sheet1`` says nothing."""
    assert list(tables(saved(tmp_path / "shop.xlsx", Sheet1=PLAIN))) == ["shop"]


def test_names_of_sheets_and_columns_may_be_anything(tmp_path: Path) -> None:
    """Quotes, braces and line breaks are read as they stand, a break as a blank."""
    name = 'it\'s {{ 1 }} "q" \u00fc'
    place = saved(tmp_path / "f.xlsx", **{name: [["a'b", 'c\nd "x"'], [1, 2]], "Other": PLAIN})
    (table, _) = tables(place).values()
    assert (table.name, list(types_of(table))) == (name, ["a'b", 'c d "x"'])


def test_workbooks_stand_next_to_other_files(tmp_path: Path) -> None:
    """Sheets with the name of another table take their file's name as well; locks are no files."""
    (tmp_path / "orders.csv").write_text("a,b\n1,x\n2,y\n")
    saved(tmp_path / "crm.xlsx", Orders=PLAIN, People=PLAIN)
    (tmp_path / "~$crm.xlsx").write_bytes(b"lock")
    assert set(tables(tmp_path)) == {"orders", "crm.Orders", "People"}


def test_cells_keep_their_types(tmp_path: Path) -> None:
    """Whole numbers, decimals, flags, dates, moments, times, text, and numbers with text."""
    moment, day = datetime.datetime(2024, 1, 31, 10, 5), datetime.date(2024, 1, 31)
    header = ["whole", "part", "flag", "day", "moment", "time", "text", "mixed"]
    row = [1, 2.5, True, day, moment, datetime.time(10, 5), "007", 5]
    place = saved(tmp_path / "f.xlsx", S=[header, row, [2, 3, False, day, day, None, "x", "five"]])
    (table,) = tables(place).values()
    assert list(types_of(table).values()) == [
        "BIGINT", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP", "TIME", "VARCHAR", "VARCHAR",
    ]  # fmt: skip
    assert table.column("mixed").notes == ("Read as text: its cells hold text and numbers.",)
    assert rows_of(place, "f")[0] == (1, 2.5, True, day, moment, datetime.time(10, 5), "007", "5")


def test_dates_since_1904_are_the_days_that_are_shown(tmp_path: Path) -> None:
    """Old workbooks of a Macintosh count their days from another one."""
    workbook = openpyxl.Workbook()
    workbook.epoch = CALENDAR_MAC_1904
    filled(workbook.active, [["n", "day"], [1, datetime.date(2024, 1, 31)], [2, None]])
    workbook.save(tmp_path / "f.xlsx")
    assert rows_of(tmp_path / "f.xlsx", "f")[0] == (1, datetime.date(2024, 1, 31))


def test_text_with_numbers_is_read_by_its_conventions(tmp_path: Path) -> None:
    """An export may write its numbers as text, with a decimal comma."""
    rows = [["a", "b"], ["654.159", "46,88"], ["12.500", "3,5"]]
    place = saved(tmp_path / "f.xlsx", S=rows)
    assert rows_of(place, "f") == [(654159, 46.88), (12500, 3.5)]


def test_titles_units_totals_and_notes_are_no_rows(tmp_path: Path) -> None:
    """A report is read as the table in it, and what was left out is said."""
    rows = [
        ["Sales 2024"],
        [],
        ["no", "region", "weight", "amount"],
        [None, None, "kg", "EUR"],
        ["R1", "North", 12, 10.5],
        ["R2", "South", 7, 4.5],
        ["R3", "West", 9, 5.0],
        ["Total", None, 28, 20.0],
        [],
        ["Source: ledger"],
    ]
    (table,) = tables(saved(tmp_path / "f.xlsx", S=rows)).values()
    assert types_of(table) == {
        "no": "VARCHAR", "region": "VARCHAR", "weight": "BIGINT", "amount": "DOUBLE",
    }  # fmt: skip
    assert len(rows_of(tmp_path / "f.xlsx", "f")) == 3
    assert table.notes == (
        "Row 4 holds units and was left out: weight in kg, amount in EUR.",
        "Row 8 holds a total and was left out.",
        "Row 10 holds a note below the table and was left out.",
    )


def test_subtotals_among_the_rows_are_left_out(tmp_path: Path) -> None:
    """Each adds up the rows since the one before."""
    rows = [
        ["region", "who", "amount"],
        *(["N", "a", 10], ["N", "b", 20.5], ["Subtotal", None, 30.5]),
        *(["S", "c", 5], ["S", "d", 6], ["Subtotal", None, 11], ["Total", None, 41.5]),
    ]
    place = saved(tmp_path / "f.xlsx", S=rows)
    assert [row[1] for row in rows_of(place, "f")] == ["a", "b", "c", "d"]
    (table,) = tables(place).values()
    assert table.notes == (
        "Subtotals were left out: row 4.",
        "Rows 7 to 8 hold totals and were left out.",
    )


def test_merged_cells_count_for_each_row_that_they_span(tmp_path: Path) -> None:
    """A region is written once for all its rows."""
    workbook = openpyxl.Workbook()
    sheet = filled(workbook.active, [["region", "n"], ["N", 1], [None, 2], ["S", 3], [None, 4]])
    sheet.merge_cells("A2:A3")
    sheet.merge_cells("A4:A5")
    workbook.save(tmp_path / "f.xlsx")
    assert rows_of(tmp_path / "f.xlsx", "f") == [("N", 1), ("N", 2), ("S", 3), ("S", 4)]


def test_a_header_of_two_rows_names_its_columns_by_both(tmp_path: Path) -> None:
    """The group is merged over the names that it has."""
    workbook = openpyxl.Workbook()
    rows = [["who", 2023, None, 2024, None], [None, "Q1", "Q2", "Q1", "Q2"], ["N", 1, 2, 3, 4]]
    sheet = filled(workbook.active, [*rows, ["S", 5, 6, 7, 8]])
    for merged in ("A1:A2", "B1:C1", "D1:E1"):
        sheet.merge_cells(merged)
    workbook.save(tmp_path / "f.xlsx")
    (table,) = tables(tmp_path / "f.xlsx").values()
    assert list(types_of(table)) == ["who", "2023 Q1", "2023 Q2", "2024 Q1", "2024 Q2"]


def test_several_tables_of_a_sheet_are_read_one_by_one(tmp_path: Path) -> None:
    """Below another after a blank row, or next to it after a blank column."""
    below = [*PLAIN, [], ["code", "label", "rank"], ["A", "Alpha", 1], ["B", "Beta", 2]]
    aside = [["a", "b", None, "x", "y"], [1, 2, None, "p", 3], [2, 4, None, "q", 5], [3, 5]]
    found = tables(saved(tmp_path / "f.xlsx", Below=below, Aside=aside))
    assert list(found) == ["Below", "Below_2", "Aside", "Aside_2"]
    assert list(types_of(found["Below_2"])) == ["code", "label", "rank"]
    assert "2 tables" in found["Aside"].notes[0]


def test_blank_rows_and_repeated_headers_part_no_table(tmp_path: Path) -> None:
    """A printed list repeats its header on each page."""
    rows = [*PLAIN, [], [3, "Cy"], ["no", "name"], [4, "Di"]]
    place = saved(tmp_path / "f.xlsx", S=rows)
    assert [row[0] for row in rows_of(place, "f")] == [1, 2, 3, 4]


def test_named_tables_of_a_sheet_are_the_tables(tmp_path: Path) -> None:
    """What a user made a table is one, and other cells of the sheet are not."""
    workbook = openpyxl.Workbook()
    sheet = filled(workbook.active, [["a", "b"], [1, 2], [3, 4], [], [], ["scratch", 5]])
    sheet.add_table(NamedTable(displayName="Prices", ref="A1:B3"))
    workbook.create_sheet("Other").append(["only a header"])
    filled(workbook.create_sheet("More"), PLAIN)
    workbook.save(tmp_path / "f.xlsx")
    found = tables(tmp_path / "f.xlsx")
    assert list(found) == ["Prices", "More"]
    assert "outside of its named tables" in found["Prices"].notes[0]


def test_what_a_workbook_hides_or_lacks_is_said(tmp_path: Path) -> None:
    """Hidden sheets are read; empty ones, errors and formulas without a result are named."""
    workbook = openpyxl.Workbook()
    sheet = filled(workbook.active, [["a", "b"], [1, "=A2+1"], [2, "#N/A"], [3, "#DIV/0!"]])
    sheet.sheet_state = "hidden"
    workbook.create_sheet("Empty")
    filled(workbook.create_sheet("Shown"), PLAIN)
    workbook.save(tmp_path / "f.xlsx")
    with open_source(tmp_path / "f.xlsx") as source:
        hidden = source.tables[0]
        assert source.notes == ("The sheet Empty of f.xlsx was left out: it is empty.",)
    assert hidden.notes[:2] == (
        "The sheet Sheet is hidden.",
        "2 cells with an error, such as #N/A, read as null.",
    )
    assert "1 formula without a stored result" in hidden.notes[2]


def test_numbers_next_to_words_for_a_missing_value_stay_numbers(tmp_path: Path) -> None:
    """A dash or n/a is no reason to read a column as text, and numbers may be stored as text."""
    rows = [["a", "b", "c"], [1.5, 1, "x"], ["n/a", "2", "y"], ["-", 3, "z"]]
    (table,) = tables(saved(tmp_path / "f.xlsx", S=rows)).values()
    assert list(types_of(table).values()) == ["DOUBLE", "BIGINT", "VARCHAR"]
    assert "2 cells" in table.column("a").notes[0]


def test_formats_without_values_take_no_time(tmp_path: Path) -> None:
    """A fill down to the last row is no data."""
    workbook = openpyxl.Workbook()
    sheet = filled(workbook.active, PLAIN)
    for cell in ("A1048576", "XFD1", "XFD1048576"):
        sheet[cell].font = openpyxl.styles.Font(bold=True)
    workbook.save(tmp_path / "f.xlsx")
    assert rows_of(tmp_path / "f.xlsx", "f") == [(1, "Ann"), (2, "Bob")]


def test_cells_too_far_apart_are_refused_before_they_take_memory(tmp_path: Path) -> None:
    """Two cells of a file of 5 KB may span seventeen thousand million."""
    workbook = openpyxl.Workbook()
    filled(workbook.active, PLAIN)["XFD1048576"] = 1
    workbook.save(tmp_path / "f.xlsx")
    with pytest.raises(SourceUnreadableError, match="FLUID_MAX_CELLS"):
        tables(tmp_path / "f.xlsx")


def test_a_protected_workbook_says_what_to_do(tmp_path: Path) -> None:
    """An encrypted workbook is a compound file around the real one."""
    place = tmp_path / "f.xlsx"
    name = "EncryptedPackage".encode("utf-16-le")
    place.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1024) + name + bytes(512))
    with pytest.raises(SourceUnreadableError, match="protected with a password"):
        tables(place)


@pytest.mark.parametrize("content", [b"", b"no workbook", b"PK\x03\x04 cut off"])
def test_a_damaged_workbook_is_an_error_and_breaks_no_other(tmp_path: Path, content: bytes) -> None:
    """Next to other files it's skipped with the reason."""
    (tmp_path / "bad.xlsx").write_bytes(content)
    with pytest.raises(SourceUnreadableError, match=r"bad\.xlsx could not be read"):
        tables(tmp_path / "bad.xlsx")
    (tmp_path / "good.csv").write_text("a,b\n1,x\n2,y\n")
    with open_source(tmp_path) as source:
        assert [table.name for table in source.tables] == ["good"]
        assert [entry.name for entry in source.skipped] == ["bad"]


def test_an_archive_that_expands_too_far_is_refused(tmp_path: Path) -> None:
    """Its own figures are enough to say no."""
    place = tmp_path / "f.xlsx"
    with (
        zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("xl/worksheets/sheet1.xml", "w") as part,
    ):
        for _ in range(1100):
            part.write(bytes(1024 * 1024))
    with pytest.raises(SourceUnreadableError, match="FLUID_MAX_EXPANSION"):
        tables(place)


ODS = """<?xml version="1.0"?><office:document-content
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>
<table:table table:name="S">{rows}</table:table>
</office:spreadsheet></office:body></office:document-content>"""


MANIFEST = """<?xml version="1.0"?><manifest:manifest
 xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>"""


def open_document(path: Path, rows: Rows, ending: str = "") -> Path:
    """Write an OpenDocument spreadsheet with one sheet, and XML after its rows."""

    def cell(value: object) -> str:
        if isinstance(value, str):
            text = f"<text:p>{value}</text:p>"
            return f'<table:table-cell office:value-type="string">{text}</table:table-cell>'
        number = f'office:value-type="float" office:value="{value}"'
        return f"<table:table-cell {number}><text:p>{value}</text:p></table:table-cell>"

    written = "".join(
        f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", MANIFEST)
        archive.writestr("content.xml", ODS.format(rows=written + ending))
    return path


def test_an_open_document_is_a_workbook_too(tmp_path: Path) -> None:
    """LibreOffice ends a sheet with a million blank rows, which it writes once."""
    blank = (
        '<table:table-row table:number-rows-repeated="1048573">'
        '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    )
    place = open_document(tmp_path / "f.ods", PLAIN, blank)
    assert rows_of(place, "f") == [(1, "Ann"), (2, "Bob")]


def test_repeated_cells_of_an_open_document_are_counted_before_they_are_read(
    tmp_path: Path,
) -> None:
    """A file of a few hundred bytes may say that it has ten thousand million numbers."""
    cells = (
        '<table:table-row table:number-rows-repeated="1000000"><table:table-cell'
        ' table:number-columns-repeated="10000" office:value-type="float" office:value="1"/>'
        "</table:table-row>"
    )
    with pytest.raises(SourceUnreadableError, match="FLUID_MAX_CELLS"):
        tables(open_document(tmp_path / "f.ods", PLAIN, cells))


XLS = (
    "eNrtWE1oE0EU/vYvf/QnqanQCiUUrBrbgnjx0saW1p5Sqgj+IGja5hAaNyXJRQ9arTkKgifFS6EevFS9+IMKCoIe"
    "hIoeBEFs9NiToOChzfrey66msUIDGqjsF+bNzJs337zZeTM72deLoaW5u+1FVKEfGkqWH54KnULJ71SCoHbL4qKT"
    "+yhZLjYV/D5aSI+BR42vvLyGvN5FqLijPyMJfKJ0AtMYzZjJSB0xKD4kFPahj6SCG6RpQpt41SJyQuQWkbfF8rHI"
    "/aK5LLKPbJeU41iMjUb32VF8VO2UtiYw733p8140e9CKlxzF568oZVsDA9lUIr3JGjr0BsyDFnQkaSazXG/GTQSA"
    "Y4SeeLxnaGgJYVrseXyzIsBXZ1c/jbj6+uoVkP77Wr33D3ofLWK1/qqqAzOwTskmKVBQ9+rljTyWTU0kcysYloOZ"
    "EwWAKCPpVC5P8W5myNRMnE4aQC5lTnA+zQYaMGCaJAcz46Q7nMkn0gE+/eW0CK45LRplFzWQnESzlEOyl4I05Mqt"
    "L2/i42Oxk6KZESfK75Ht7DYsXOAe1LkJDh/ALVHpsVvkRWHdJuV2kWEKdMq7xlrtwoFZsbkkrV00zl7B29iOivJO"
    "KheWDz7oKHyO7aLywkjxbHjhXWwOnfRem6T+/JtFt9KtXL/GeBhzcsU+cz6IbPvt/PGpQXtulv2ybMYqP3BCSCRb"
    "qDK7tRaqWPAzKdec51euqVTTftY0quk2l1bFdU4NiC4kT5HtNeGi9cMT8l6j/i2IPmfGZTLUhEVfh0UXloDNoguL"
    "x2bRhaVXWD4aDouxzrwMYeEwYU5DfH9B14d+tQX3eIJ0Tv9CAC5cuHDhwoULFy7qAb538mVMs+/dhn0L99rfdVYp"
    "ldzPJP8tDiFDvzz9qRyGSXkWZ2qKn60wFIdL2WAf53sh4wiNnsUUxsWPqZrjl/6VKZXz2XDH4N/bQrWOX6rFz388"
    "/g8xD+en"
)
"""A sheet in the format before 2007, with a title, two rows and a total, packed."""


def test_a_workbook_in_the_old_binary_format_is_read(tmp_path: Path) -> None:
    """Programs that are twenty years old still export it."""
    (tmp_path / "prices.xls").write_bytes(zlib.decompress(base64.b64decode(XLS)))
    assert rows_of(tmp_path / "prices.xls", "prices") == [
        (1, "Ann", datetime.date(2024, 1, 31), 2.5),
        (2, "Bob", datetime.date(2024, 2, 1), 3.75),
    ]


def test_a_missing_extra_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Next to other files the workbook is skipped with that reason."""
    saved(tmp_path / "f.xlsx", S=PLAIN)
    monkeypatch.setitem(__import__("sys").modules, "python_calamine", None)
    with pytest.raises(MissingExtraError, match="extra excel"):
        tables(tmp_path / "f.xlsx")
    (tmp_path / "good.csv").write_text("a,b\n1,x\n2,y\n")
    with open_source(tmp_path) as source:
        assert "Install it" in source.skipped[0].reason


def rewritten(place: Path, old: bytes, new: bytes) -> Path:
    """A copy of a workbook with other bytes in its first sheet, as another program writes them."""
    copy = place.with_name("g.xlsx")
    with zipfile.ZipFile(place) as archive, zipfile.ZipFile(copy, "w") as target:
        for name in archive.namelist():
            content = archive.read(name)
            if name.endswith("sheet1.xml"):
                assert old in content
                content = content.replace(old, new)
            target.writestr(name, content)
    return copy


@pytest.mark.parametrize(
    ("number", "is_rounded"),
    [
        (b"12345678901234567", True),
        (b"1234567890123456", False),
        (b"1E+400", True),
        (b"0.10000000000000001", False),
        (b"0.1234567890123456789", True),
    ],
)
def test_numbers_that_a_spreadsheet_rounds_are_noted(
    tmp_path: Path, number: bytes, is_rounded: bool
) -> None:
    """Some programs write all digits of a number, and two of them become one."""
    place = saved(tmp_path / "f.xlsx", Sheet=(["no", "v"], [1, 77.5], [2, 3]))
    notes = tables(rewritten(place, b"<v>77.5</v>", b"<v>" + number + b"</v>"))["g"].notes
    assert any("column B have more digits" in note for note in notes) == is_rounded


def test_an_empty_text_is_the_result_of_a_formula(tmp_path: Path) -> None:
    place = saved(tmp_path / "f.xlsx", Sheet=(["no", "v"], [1, '=IF(A2>1,"x","")'], [2, "b"]))
    assert any("without a stored result" in note for note in tables(place)["f"].notes)
    copy = rewritten(place, b'<c r="B2"><f>', b'<c r="B2" t="str"><f>')
    assert tables(copy)["g"].notes == ()


def test_cells_with_nothing_but_spaces_are_null_and_noted(tmp_path: Path) -> None:
    """They can't be seen in a sheet; rows that have no other cells are none."""
    rows = (
        ["no", "name", "sum"],
        [1, " ", 5],
        [2, "\u00a0", "\t"],
        [3, "Ann", 6],
        ["  ", " ", "\u3000"],
        [4, "Bob", 7],
    )
    # Without this, a spreadsheet reads no spaces.
    place = rewritten(saved(tmp_path / "f.xlsx", Sheet=rows), b"<t>", b'<t xml:space="preserve">')
    assert rows_of(place, "g") == [(1, None, 5), (2, None, None), (3, "Ann", 6), (4, "Bob", 7)]
    table = tables(place)["g"]
    assert table.notes == (
        "name: 2 cells with nothing but spaces read as null.",
        "sum: 1 cell with nothing but spaces read as null.",
    )
    assert not table.origin.in_place


@pytest.mark.parametrize("named", [False, True])
def test_times_just_before_midnight_stay_there(tmp_path: Path, named: bool) -> None:
    """Times are read to the millisecond, of which the nearest would be the day's other end."""
    workbook = openpyxl.Workbook()
    last = datetime.time(23, 59, 59, 999999)
    rows = (["no", "at", "part"], [1, last, 0.99999999998843], [2, datetime.time(), 0.5])
    sheet = filled(workbook.active, rows)
    if named:
        sheet.add_table(NamedTable(displayName="f", ref="A1:C3"))
    workbook.save(tmp_path / "f.xlsx")
    assert rows_of(tmp_path / "f.xlsx", "f") == [
        (1, last, 0.99999999998843),
        (2, datetime.time(), 0.5),
    ]


@pytest.mark.parametrize("format_", ["hh:mm", "[h]:mm", "mm:ss", "d.m.yyyy"])
def test_a_time_below_zero_is_no_time_of_the_day_before(tmp_path: Path, format_: str) -> None:
    """Six hours less than nothing, as formulas on working hours have it, aren't 18:00."""
    workbook = openpyxl.Workbook()
    sheet = filled(workbook.active, [["id", "hours"], [1, -0.25], [2, 0.75], [3, -0.5]])
    sheet["C1"] = "net"
    for row in (2, 3, 4):
        sheet[f"B{row}"].number_format = format_
        sheet[f"C{row}"] = -float(row)
        sheet[f"C{row}"].number_format = '0.00" days";[Red]-0.00" h"'
    workbook.save(tmp_path / "f.xlsx")
    hours = [datetime.timedelta(hours=hours) for hours in (-6, 18, -12)]
    assert rows_of(tmp_path / "f.xlsx", "f") == [
        (1, hours[0], -2),
        (2, hours[1], -3),
        (3, hours[2], -4),
    ]


@pytest.mark.parametrize("code", ["&#13;", "_x000D_"])
@pytest.mark.parametrize("others", [[], ["number"]])
def test_a_return_in_a_cell_is_kept(tmp_path: Path, code: str, others: list[str]) -> None:
    """What ends a line of our own file ends no value in it."""
    workbook = openpyxl.Workbook()
    sheet = filled(workbook.active, [])
    for n, text in enumerate(("name", "a@b", "c@@d", "e@\nf", "g_x000D_")):
        sheet.append([*(n or other for other in others), text])
    workbook.save(tmp_path / "plain.xlsx")
    with (
        zipfile.ZipFile(tmp_path / "plain.xlsx") as archive,
        zipfile.ZipFile(tmp_path / "r.xlsx", "w") as target,
    ):
        for name in archive.namelist():
            target.writestr(name, archive.read(name).replace(b"@", code.encode()))
    with open_source(tmp_path / "r.xlsx") as source:
        (table,) = source.tables
        query = f"SELECT name FROM {table.relation} ORDER BY rowid"
        values = [value for (value,) in source.connection.execute(query).fetchall()]
    assert values == ["a\rb", "c\r\rd", "e\r\nf", "g\r"]


@pytest.mark.parametrize(
    ("number", "format_", "note"),
    [
        (1e-8, "[h]:mm:ss", "finer than a millisecond"),
        (45000.1234567, "yyyy-mm-dd hh:mm:ss", "finer than a millisecond"),
        (0.5000011574074074, "hh:mm:ss", ""),
        (45000.5000011574, "yyyy-mm-dd hh:mm:ss", ""),
        (0.1234567, "0.0000000", ""),
        (60, "yyyy-mm-dd", "1900-02-29"),
        (61, "yyyy-mm-dd", ""),
    ],
)
def test_moments_that_are_others_in_the_workbook_are_noted(
    tmp_path: Path, number: float, format_: str, note: str
) -> None:
    workbook = openpyxl.Workbook()
    sheet = filled(workbook.active, [])
    sheet.append(["id", "moment"])
    sheet.append([1, number])
    sheet["B2"].number_format = format_
    workbook.save(tmp_path / "m.xlsx")
    with open_source(tmp_path / "m.xlsx") as source:
        notes = source.tables[0].notes
    assert [one.partition(":")[0] for one in notes] == ["moment"] * bool(note)
    assert not note or note in notes[0]
