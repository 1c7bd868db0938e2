"""Delimited files as offices write them, from the command to the files and back."""

import json
import re
from collections.abc import Collection, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from fluid_build.sources.text_values.conventions import Conventions, Decision, decide
from fluid_build.sources.text_values.text_classes import bits
from tests.cli.running import Fluid

FROM_SOURCE = ("forge", "data-model", "from-source", "--uri")


def written(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode(encoding))
    return path


def forged(fluid: Fluid, source: Path, *options: str) -> tuple[Path, dict[str, Any]]:
    """Forge a source and prove it again; the folder, and the tables of its profile."""
    folder = source.parent / "out"
    outcome = fluid(*FROM_SOURCE, source, "-o", folder, *options)
    assert outcome.code == 0, outcome.err + outcome.out
    assert "✓ Proven" in outcome.out
    verified = fluid("verify", folder)
    assert verified.code == 0, verified.out
    profile = json.loads((folder / "profile.json").read_text())
    return folder, {table["name"]: table for table in profile["tables"]}


def types_of(table: dict[str, Any]) -> dict[str, str]:
    return {column["name"]: column["type"] for column in table["columns"]}


def bounds_of(table: dict[str, Any], column: str) -> tuple[str, str]:
    (found,) = (one for one in table["columns"] if one["name"] == column)
    return found["min"], found["max"]


def notes_of(table: dict[str, Any]) -> str:
    of_columns = [note for column in table["columns"] for note in column["notes"]]
    return " ".join([*table.get("notes", ()), *of_columns])


GERMAN = "beleg;umsatz;kurs\nR1;654.159;46,88\nR2;12.500;3,5\nR3;1.250;12,75\n"


@pytest.mark.parametrize("technique", ["flat", "dv2", "dimensional"])
def test_decimal_commas_are_read_and_proven(fluid: Fluid, tmp_path: Path, technique: str) -> None:
    """Another column settles that 654.159 is over a thousand, and an amount is no key."""
    source = written(tmp_path / "sales.csv", GERMAN)
    _, tables = forged(fluid, source, "--technique", technique)
    sales = tables["sales"]
    assert types_of(sales) == {"beleg": "VARCHAR", "umsatz": "BIGINT", "kurs": "DOUBLE"}
    assert bounds_of(sales, "umsatz") == ("1250", "654159")
    assert sales["primary_key"] == ["beleg"]


@pytest.mark.usefixtures("dbt")
def test_what_dbt_builds_of_decimal_commas_is_proven(fluid: Fluid, tmp_path: Path) -> None:
    """The project reads the file in place, by the same convention."""
    source = written(tmp_path / "sales.csv", GERMAN)
    folder, _ = forged(fluid, source)
    assert not (folder / "dbt" / "land").exists()
    outcome = fluid("verify", folder, "--dbt", "--trust")
    assert outcome.code == 0, outcome.out
    assert outcome.out.count("✓ Proven") == 2


OPEN = "beleg;datum;umsatz\nR1;01/02/2024;654.159\nR2;03/04/2024;12.500\n"


def test_what_fits_two_conventions_stays_text_and_is_asked(fluid: Fluid, tmp_path: Path) -> None:
    """The question says how to answer it, and quotes no value of the file."""
    source = written(tmp_path / "sales.csv", OPEN)
    _, tables = forged(fluid, source)
    assert set(types_of(tables["sales"]).values()) == {"VARCHAR"}
    assert all(column["measured_type"] is None for column in tables["sales"]["columns"])
    assert "--decimal" in notes_of(tables["sales"])
    assert "--date-order" in notes_of(tables["sales"])
    assert "654.159" not in notes_of(tables["sales"])


def test_an_answer_is_kept_for_verify_and_dbt(fluid: Fluid, tmp_path: Path) -> None:
    """forge.json has it, so that nobody needs to say it twice."""
    source = written(tmp_path / "sales.csv", OPEN)
    folder, tables = forged(fluid, source, "--decimal", ",", "--date-order", "mdy")
    assert bounds_of(tables["sales"], "umsatz") == ("12500", "654159")
    assert bounds_of(tables["sales"], "datum") == ("2024-01-02", "2024-03-04")
    manifest = json.loads((folder / "forge.json").read_text())
    assert (manifest["source"]["decimal"], manifest["source"]["date_order"]) == (",", "mdy")


@pytest.mark.parametrize("options", [("--decimal", ";"), ("--date-order", "ymd")])
def test_an_answer_that_there_is_not_is_refused(
    fluid: Fluid, tmp_path: Path, options: tuple[str, str]
) -> None:
    """The error names the answers that there are."""
    outcome = fluid("profile", written(tmp_path / "sales.csv", OPEN), *options)
    assert outcome.code == 2
    assert options[0] in outcome.err


STAFF = """Salaries 2024;;;
Printed on 01.01.2024;;;

emp_no;name;salary;dept
E100;Ann;42.000,50;A
E101;Bob;39.500,00;B
E102;Cy;51.250,25;A
E103;Di;47.000,00;C
Total;;179.750,75;
"""
REVIEWS = """Reviews;;;

review;emp_no;salary;grade
1;E100;42.000,50;3
2;E101;39.500,00;2
3;E102;51.250,25;4
4;E103;47.000,00;1
5;E100;42.000,50;2
"""


def test_reports_are_read_as_the_tables_in_them(fluid: Fluid, tmp_path: Path) -> None:
    """Titles and totals are no rows, and a salary neither identifies nor refers."""
    written(tmp_path / "hr" / "staff.csv", STAFF)
    written(tmp_path / "hr" / "reviews.csv", REVIEWS)
    folder, tables = forged(fluid, tmp_path / "hr")
    assert tables["staff"]["rows"] == 4
    assert tables["staff"]["primary_key"] == ["emp_no"]
    assert types_of(tables["staff"])["salary"] == "DOUBLE"
    assert "Line 9 holds a total and was left out." in notes_of(tables["staff"])
    profile = json.loads((folder / "profile.json").read_text())
    references = [(key["from_columns"], key["to_table"]) for key in profile["foreign_keys"]]
    assert references == [(["emp_no"], "staff")]
    verified = fluid("verify", folder)
    assert "staff.csv line 9 (a total)" in " ".join(verified.out.split())


@pytest.mark.usefixtures("dbt")
def test_what_dbt_builds_of_a_report_is_proven(fluid: Fluid, tmp_path: Path) -> None:
    """DuckDB by itself would read the total as a row, so the project has a copy without it."""
    folder, _ = forged(fluid, written(tmp_path / "staff.csv", STAFF))
    assert (folder / "dbt" / "land" / "staff.parquet").is_file()
    outcome = fluid("verify", folder, "--dbt", "--trust")
    assert outcome.code == 0, outcome.out
    assert outcome.out.count("✓ Proven") == 2


def test_excel_s_separator_line_is_followed(fluid: Fluid, tmp_path: Path) -> None:
    """``sep=;`` is no header."""
    _, tables = forged(fluid, written(tmp_path / "sales.csv", f"sep=;\n{GERMAN}"))
    assert list(types_of(tables["sales"])) == ["beleg", "umsatz", "kurs"]
    assert tables["sales"]["rows"] == 3


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read(fluid: Fluid, tmp_path: Path, encoding: str) -> None:
    """With a mark and without one."""
    text = GERMAN.replace(";", "\t").replace("beleg", "Belegnummer ß")
    _, tables = forged(fluid, written(tmp_path / "sales.csv", text, encoding))
    assert types_of(tables["sales"]) == {
        "Belegnummer ß": "VARCHAR",
        "umsatz": "BIGINT",
        "kurs": "DOUBLE",
    }
    assert tables["sales"]["rows"] == 3


def test_a_wrong_reading_is_shown_and_fails(
    fluid: Fluid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read as 654 and a bit, an amount is compared with its text and found out."""

    def with_points(
        columns: Sequence[int], answers: Conventions, outvoted: Collection[int]
    ) -> list[Decision]:
        wrong = decide([bits("one point")], Conventions(decimal="."))
        receipt, _, rate = decide(columns, answers, outvoted)
        return [receipt, *wrong, rate]

    source = written(tmp_path / "sales.csv", GERMAN)
    monkeypatch.setattr("fluid_build.sources.files.delimited.text_types.decide", with_points)
    outcome = fluid(*FROM_SOURCE, source, "-o", tmp_path / "out")
    assert outcome.code == 1
    assert "Proven" not in outcome.out
    shown = fluid("verify", tmp_path / "out")
    assert shown.code == 1
    assert "differs from its files" in shown.out
    assert "one of two readings was chosen: umsatz" in " ".join(shown.out.split())
    monkeypatch.undo()
    assert fluid("verify", tmp_path / "out").code != 0


def test_a_file_that_reads_differently_now_is_red(fluid: Fluid, tmp_path: Path) -> None:
    """Where a new row takes away what settled the convention, the types aren't those forged."""
    source = written(tmp_path / "sales.csv", GERMAN)
    folder, _ = forged(fluid, source)
    source.write_text("beleg;umsatz;kurs\nR1;654.159;46.88\nR2;12.500;3.5\n")
    assert fluid("verify", folder).code != 0


OFFICE = """sep=;
Umsatz nach Region;;;;;
;;;;;
Beleg;Region;Datum;Umsatz;Kurs;
;;;EUR;;
B1;Nord;03.04.2024;654.159;46,88;
B2;Nord;13.04.2024;1.250;3,50;
Zwischensumme;;;655.409;50,38;
B3;West;14.04.2024;12.500;7,10;
B4;West;15.04.2024;(77.120);(12,75);
Zwischensumme;;;-64.620;-5,65;
Gesamt;;;590.789;44,73;
*) in Klammern: Storno
"""


@pytest.mark.usefixtures("dbt")
def test_a_business_csv_builds_and_is_proven(fluid: Fluid, tmp_path: Path) -> None:
    """As Excel saves a report in German: its lines that are no rows are left out."""
    source = written(tmp_path / "umsatz.csv", OFFICE.replace("\n", "\r\n"), "cp1252")
    folder, tables = forged(fluid, source)
    sales = tables["umsatz"]
    assert (sales["rows"], sales["primary_key"]) == (4, ["Beleg"])
    assert bounds_of(sales, "Umsatz") == ("-77120", "654159")
    assert bounds_of(sales, "Kurs") == ("-12.75", "46.88")
    outcome = fluid("verify", folder, "--dbt", "--trust")
    assert outcome.code == 0, outcome.out
    assert outcome.out.count("✓ Proven") == 2


def test_an_answer_for_a_column_is_followed_by_the_next_forge_and_dbt(
    fluid: Fluid, tmp_path: Path, dbt: object
) -> None:
    """The review asks about the column, and the decision on it is what is built."""
    source = written(tmp_path / "sales.csv", OPEN)
    folder, _ = forged(fluid, source)
    asked = fluid("review", folder, "--answer", "text-sales.umsatz=3")
    assert asked.code == 0, asked.err
    forged(fluid, source)
    staging = "".join(file.read_text() for file in (folder / "dbt").rglob("stg_*.sql"))
    assert re.search(r"AS DOUBLE\s+\) AS umsatz", staging)
    assert fluid("verify", folder, "--dbt", "--trust").code == 0


@pytest.mark.usefixtures("dbt")
def test_a_workbook_builds_and_is_proven(fluid: Fluid, tmp_path: Path) -> None:
    """Its sheets are tables with keys and a relationship, and dbt reads them in place."""
    workbook = openpyxl.Workbook()
    orders = workbook.active
    orders.title = "Orders"
    for row in (
        ["Orders 2024"],
        [],
        ["order_no", "customer_no", "ordered_on", "amount"],
        *([i, 100 + i % 4, date(2024, 1, i), i * 10.25] for i in range(1, 13)),
        ["Total", None, None, 799.5],
    ):
        orders.append(row)
    customers = workbook.create_sheet("Customers")
    for row in (["customer_no", "name"], *([100 + i, f"Customer {i}"] for i in range(4))):
        customers.append(row)
    workbook.create_sheet("Empty")
    workbook.save(tmp_path / "shop.xlsx")
    folder, tables = forged(fluid, tmp_path / "shop.xlsx")
    assert tables["Orders"]["rows"] == 12
    assert tables["Orders"]["primary_key"] == ["order_no"]
    profile = json.loads((folder / "profile.json").read_text())
    references = [(key["from_columns"], key["to_table"]) for key in profile["foreign_keys"]]
    assert references == [(["customer_no"], "Customers")]
    assert not (folder / "dbt" / "land").exists()
    outcome = fluid("verify", folder, "--dbt", "--trust")
    assert outcome.code == 0, outcome.out
    assert outcome.out.count("✓ Proven") == 2
