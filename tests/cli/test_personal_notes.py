"""No note, question, contract, page or log quotes a value of somebody, whatever is wrong."""

import csv
import io
import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import openpyxl
import pytest

from tests.cli.running import Fluid

_GIVEN = ("Andreas", "Sabine", "Petra", "Wolfgang", "Monika", "Thomas", "Claudia", "Stefan")
_FAMILY = ("Fischerkow", "Muellerova", "Schmidtke", "Hoffmannski", "Beckerova", "Kochanek")
_ROWS = 150

Row = dict[str, str]


def _iban(chance: random.Random) -> str:
    account = "".join(str(chance.randrange(10)) for _ in range(18))
    return f"DE{98 - int(account + '131400') % 97:02d}{account}"


def _people(chance: random.Random) -> Iterator[Row]:
    for number in range(_ROWS):
        given, family = chance.choice(_GIVEN), chance.choice(_FAMILY)
        born = chance.randrange(1, 29), chance.randrange(1, 13), chance.randrange(1940, 2005)
        yield {
            "id": str(number + 1),
            "last_name": family,
            "full_name": f"{given} {family}",
            "email": f"{given}.{family}{number}@gmx.de".lower(),
            "phone": f"0{chance.randrange(151, 179)} {chance.randrange(10**6, 10**7)}",
            "iban": _iban(chance),
            "birth_date": "{:02}.{:02}.{}".format(*born),
            "salary": f"{chance.randrange(1500, 9000)},{chance.randrange(10, 99)}",
        }


PERSONAL = ("last_name", "full_name", "email", "phone", "iban", "birth_date")
FORMS = ("email", "phone", "iban")
"""What its form tells, in whatever column it is. Figures of a column that isn't marked may have a
name in them, or a date; a note may not."""
SPELLINGS = (str, str.upper, str.lower)


def _flawed(chance: random.Random, *, names: bool = False) -> tuple[list[Row], list[Row], set[str]]:
    """Return people and orders in which something is wrong with each column, and what is personal.

    A few values of other columns stand in each: in numbers, dates, keys and texts. With ``names``,
    these are names and birth dates too where the column isn't marked.
    """
    people = list(_people(chance))
    values = {row[name] for row in people for name in PERSONAL} | set(_FAMILY)
    for row in people:
        row |= {
            "amount": str(chance.randrange(10**4)),
            "rate": f"{chance.randrange(99)}.{chance.randrange(10, 99)}",
            "ordered_on": f"2024-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}",
            "phone_number": str(chance.randrange(10**9, 10**10)),
            "zone": chance.choice("ABC"),
            "paid": chance.choice(("true", "false")),
            "code": f"{chance.randrange(1, 900)}.{chance.randrange(100, 999)}",
        }
    unflawed = [dict(row) for row in people]
    for name in people[0]:
        for spelled in SPELLINGS:
            other = chance.choice(unflawed)
            put = chance.choice(PERSONAL if name in PERSONAL or names else FORMS)
            chance.choice(people)[name] = spelled(other[put])
    orders = [
        {
            "order_id": str(number + 9000),
            "customer_email": chance.choice(unflawed)["email"],
            "customer_iban": chance.choice(unflawed)["iban"] if number % 50 else _iban(chance),
            "customer_name": chance.choice(unflawed)["full_name"],
            "total": chance.choice(unflawed)["salary"],
        }
        for number in range(2 * _ROWS)
    ]
    values |= {row["customer_iban"] for row in orders}
    for name in orders[0]:
        chance.choice(orders)[name] = chance.choice(unflawed)[chance.choice(FORMS)]
    return people, orders, values


def _as_csv(folder: Path, tables: dict[str, list[Row]]) -> Path:
    for name, rows in tables.items():
        text = io.StringIO()
        writer = csv.DictWriter(text, rows[0], delimiter=";", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        # A line of too many fields, too.
        last = ";".join([*rows[0].values(), "odd"])
        (folder / f"{name}.csv").write_text(f"{text.getvalue()}{last}\n")
    return folder


def _as_json(folder: Path, tables: dict[str, list[Row]]) -> Path:
    for name, rows in tables.items():
        broken = json.dumps(rows[0])[:-1]
        lines = [*map(json.dumps, rows), broken]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    return folder


_TYPES = {"id": "INTEGER", "amount": "INTEGER", "rate": "DECIMAL(6,2)", "ordered_on": "DATE",
          "paid": "BOOLEAN", "phone_number": "BIGINT", "order_id": "INTEGER"}  # fmt: skip


def _script(tables: dict[str, list[Row]]) -> list[tuple[str, list[list[str]]]]:
    return [
        (
            f"CREATE TABLE {name} ("
            + ", ".join(f"{column} {_TYPES.get(column, 'TEXT')}" for column in rows[0])
            + ")",
            [list(row.values()) for row in rows],
        )
        for name, rows in tables.items()
    ]


def _as_sqlite(folder: Path, tables: dict[str, list[Row]]) -> Path:
    with closing(sqlite3.connect(folder / "crm.sqlite")) as database, database:
        for (name, rows), (create, values) in zip(tables.items(), _script(tables), strict=True):
            database.execute(create)
            marks = ", ".join("?" * len(rows[0]))
            database.executemany(f"INSERT INTO {name} VALUES ({marks})", values)
    return folder / "crm.sqlite"


def _as_dump(folder: Path, tables: dict[str, list[Row]]) -> Path:
    lines = ["PRAGMA foreign_keys=OFF;", "BEGIN TRANSACTION;"]
    for (name, rows), (create, _) in zip(tables.items(), _script(tables), strict=True):
        lines.append(f"{create};")
        for row in rows:
            values = ", ".join("'" + value + "'" for value in row.values())
            lines.append(f"INSERT INTO {name} VALUES ({values});")
        # One statement that is broken at a value, and one that breaks a key.
        lines.append(f"INSERT INTO {name} VALUES ('1', {rows[0].get('last_name', 'Beckerova')} x);")
    (folder / "crm.sql").write_text("\n".join([*lines, "COMMIT;"]))
    return folder / "crm.sql"


def _as_workbook(folder: Path, tables: dict[str, list[Row]]) -> Path:
    book = openpyxl.Workbook()
    for name, rows in tables.items():
        sheet = book.create_sheet(name)
        sheet.append(list(rows[0]))
        for row in rows:
            sheet.append(list(row.values()))
    book.remove(book.worksheets[0])
    book.save(folder / "crm.xlsx")
    return folder / "crm.xlsx"


MAKERS = {
    "csv": _as_csv,
    "json": _as_json,
    "sqlite": _as_sqlite,
    "dump": _as_dump,
    "workbook": _as_workbook,
}


def _quoted(text: str, values: set[str]) -> list[str]:
    folded = text.casefold()
    return sorted({value for value in values if value.casefold() in folded})


def _around(text: str, values: set[str]) -> str:
    at = text.casefold().index(_quoted(text, values)[0].casefold())
    return text[max(0, at - 200) : at + 60]


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("technique", ["flat", "data_vault_2", "dimensional"])
@pytest.mark.parametrize("kind", MAKERS)
def test_no_output_quotes_a_value_of_somebody(
    fluid: Fluid, tmp_path: Path, kind: str, technique: str, seed: int
) -> None:
    """On the screen, in JSON, and in every file that is written."""
    people, orders, values = _flawed(random.Random(seed))
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    source = str(MAKERS[kind](data, {"customers": people, "orders": orders}))
    arguments = ("--technique", technique, "--out", str(out), "--debug")
    outcomes = [fluid("forge", "data-model", "from-source", "--uri", source, *arguments)]
    assert outcomes[0].code in (0, 1), outcomes[0].err
    outcomes.append(fluid("verify", str(out)))
    if technique == "flat":
        outcomes += [fluid("profile", source, *more) for more in ((), ("--json",), ("--all",))]
        outcomes += [fluid("review", str(out)), fluid("validate", str(out / "contract.fluid.yaml"))]
    for outcome in outcomes:
        assert not _quoted(outcome.out + outcome.err, values), _around(
            outcome.out + outcome.err, values
        )
    for path in sorted(out.rglob("*")):
        # Copies for dbt are data, and say so.
        if path.is_file() and "land" not in path.relative_to(out).parts:
            text = path.read_bytes().decode("utf-8", "replace")
            assert not _quoted(text, values), (path, _around(text, values))


@pytest.mark.parametrize(
    "seed", [2, *(pytest.param(n, marks=pytest.mark.thorough) for n in (0, 1))]
)
@pytest.mark.parametrize("kind", MAKERS)
def test_no_note_quotes_a_name_in_a_column_of_numbers(
    fluid: Fluid, tmp_path: Path, kind: str, seed: int
) -> None:
    """Nobody knows what a column holds while its text is read."""
    people, orders, values = _flawed(random.Random(seed), names=True)
    source = str(MAKERS[kind](tmp_path, {"customers": people, "orders": orders}))
    outcome = fluid("profile", source, "--json")
    document = json.loads(outcome.out)
    tables = document["tables"]
    notes = [*document.get("notes", ()), *(n for table in tables for n in table.get("notes", ()))]
    columns = [column for table in tables for column in table["columns"]]
    notes += [note for column in columns for note in column.get("notes", ())]
    notes += [column.get("semantic_reason", "") for column in columns]
    notes += [table.get("primary_key_reason") or "" for table in tables]
    assert any(notes)
    assert not _quoted("\n".join([*notes, outcome.err]), values)
