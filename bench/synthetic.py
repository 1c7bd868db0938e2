"""A made-up business database of any number of tables, the same bytes of data every time.

    python bench/synthetic.py OUT --tables 500

It is what an undocumented system of many small tables looks like: subject areas of 25 tables each,
with lookups, masters, headers and their lines, associative tables and logs, of 8 to 900 rows and
5 to 15 columns. Keys and foreign keys are in the data and nowhere declared; some references are
empty in part, one an area has orphans, one leads back to its own table, others to the area before.
Some dates and numbers are kept as text.

``--narrow`` makes up to 10,000 tables of eight columns each instead: base tables, and those that
describe one of them, each with a key, a reference within its area and one to another.

``OUT/data/*.parquet`` and ``OUT/truth.json`` are laid out as one database of the corpus, so that
``bench/accuracy.py --corpus`` reads the folder above ``OUT``; with ``--duckdb`` it writes
``OUT/synthetic.duckdb`` instead.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb

from fluid_build.sources.sql import literal, quote

AREAS = (
    "sales billing warehouse transport production quality maintenance procurement payroll"
    " recruiting training project support marketing treasury ledger tax insurance facility energy"
    " fleet catering research compliance legal security network software telephony archive"
    " planning pricing loyalty returns customs export import retail franchise wholesale"
).split()
LOOKUPS = ("status", "type", "category", "priority", "channel", "region")
MASTERS = ("partner", "site", "item", "contact", "asset", "contract", "employee", "account")
HEADERS = ("order", "invoice", "shipment", "request")
ASSOCIATIONS = (("partner", "site"), ("contact", "account"))
KINDS = ("", "note", "version", "address", "price", "role", "target", "event", "document", "score")
NARROW_NOUNS = (
    *LOOKUPS,
    *MASTERS,
    *HEADERS,
    "batch",
    "lot",
    "route",
    "zone",
    "team",
    "shift",
    "plan",
)
AREA_TABLES = len(LOOKUPS) + len(MASTERS) + 2 * len(HEADERS) + len(ASSOCIATIONS) + 1
MOST_TABLES = AREA_TABLES * len(AREAS)
NARROW_AREA_TABLES = len(NARROW_NOUNS) * len(KINDS)
MOST_NARROW_TABLES = NARROW_AREA_TABLES * len(AREAS)
_PRIME = 1_000_003
_ORPHANS = 3


@dataclass(frozen=True, slots=True)
class Reference:
    """``columns`` of the child refer to ``to_columns`` of ``to_table``."""

    columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MadeTable:
    """A table to be made: ``columns`` are names with their SQL over the row number ``i``."""

    name: str
    rows: int
    columns: tuple[tuple[str, str], ...]
    key: tuple[str, ...]
    references: tuple[Reference, ...] = ()


def tables(count: int) -> list[MadeTable]:
    """The first ``count`` tables, parents before their children; ValueError beyond MOST_TABLES."""
    if not 0 < count <= MOST_TABLES:
        raise ValueError(f"{count} tables can't be made; 1 to {MOST_TABLES} can.")
    made: list[MadeTable] = []
    for number in range(-(-count // AREA_TABLES)):
        made.extend(_Area(number).tables())
    return made[:count]


def narrow_tables(count: int) -> list[MadeTable]:
    """``count`` tables of eight columns; ValueError beyond MOST_NARROW_TABLES.

    An area has as many tables in a schema of 1,000 as in one of 10,000, so a table's surroundings
    are alike.
    """
    if not 0 < count <= MOST_NARROW_TABLES:
        raise ValueError(f"{count} tables can't be made; 1 to {MOST_NARROW_TABLES} can.")
    return [_narrow_table(place, count) for place in range(count)]


def _narrow_table(place: int, count: int) -> MadeTable:
    name, rows = _narrow_name(place), _narrow_rows(place)
    # A base table leads to the base table before, what describes it leads to it.
    above = place - place % len(KINDS) if place % len(KINDS) else max(0, place - len(KINDS))
    other = (place * 7 + 30) % count
    references = [
        (
            f"{_narrow_name(at)}_id",
            at,
            f"{_narrow_first(at)} + (i * 13 + {place}) % {_narrow_rows(at)}",
        )
        for at in dict.fromkeys((above, other))
        if at != place
    ]
    columns = (
        (f"{name}_id", f"CAST({_narrow_first(place)} + i AS INTEGER)"),
        *((column, f"CAST({value} AS INTEGER)") for column, _, value in references),
        ("title", f"'{name} ' || i * i % 997"),
        ("status_word", "['new', 'open', 'done'][i % 3 + 1]"),
        ("amount", f"CAST((i * 7919 + {place}) % 90000 / 100.0 AS DECIMAL(12, 2))"),
        ("changed_on", f"DATE '2020-01-01' + CAST((i * 31 + {place}) % 900 AS INTEGER)"),
        ("is_active", "i % 5 > 0"),
        ("remark", "'a few words on row ' || i"),
    )
    return MadeTable(
        name,
        rows,
        columns[:8],
        (f"{name}_id",),
        tuple(
            Reference((column,), _narrow_name(at), (f"{_narrow_name(at)}_id",))
            for column, at, _ in references
        ),
    )


def _narrow_name(place: int) -> str:
    area, within = divmod(place, NARROW_AREA_TABLES)
    noun, kind = divmod(within, len(KINDS))
    return "_".join(filter(None, (AREAS[area], NARROW_NOUNS[noun], KINDS[kind])))


def _narrow_rows(place: int) -> int:
    return 20 + place * 37 % 61


def _narrow_first(place: int) -> int:
    """The first number of a table's key: every third table counts from one of its own."""
    return place * 100 + 1 if place % 3 == 0 else 1


def write_duckdb(path: Path, count: int, *, narrow: bool = False) -> list[MadeTable]:
    """Make the tables in a new DuckDB file."""
    made = narrow_tables(count) if narrow else tables(count)
    with duckdb.connect(str(path)) as connection:
        for table in made:
            connection.execute(f"CREATE TABLE {quote(table.name)} AS {_rows(table)}")
    return made


def write_parquet(folder: Path, count: int) -> list[MadeTable]:
    """Make ``data/*.parquet`` and ``truth.json`` in a folder."""
    made = tables(count)
    (folder / "data").mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for table in made:
            file = folder / "data" / f"{table.name}.parquet"
            connection.execute(f"COPY ({_rows(table)}) TO {literal(str(file))} (FORMAT parquet)")
    text = json.dumps(truth(made), indent=1)
    (folder / "truth.json").write_text(text + "\n", encoding="utf-8")
    return made


def truth(made: list[MadeTable]) -> dict[str, object]:
    """The true keys, in the shape of the corpus' ``truth.json``."""
    return {
        "name": "synthetic",
        "tables": {
            table.name: {
                "primary_key": list(table.key),
                "rows": table.rows,
                "columns": [name for name, _ in table.columns],
            }
            for table in made
        },
        "foreign_keys": [
            {
                "from_table": table.name,
                "from_columns": list(reference.columns),
                "to_table": reference.to_table,
                "to_columns": list(reference.to_columns),
                "kind": "declared",
                "supported": True,
            }
            for table in made
            for reference in table.references
        ],
    }


def _rows(table: MadeTable) -> str:
    columns = ", ".join(f"{sql} AS {quote(name)}" for name, sql in table.columns)
    return f"SELECT {columns} FROM range({table.rows}) AS t(i) ORDER BY i"


class _Area:
    """One subject area; its number decides sizes and values."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.name = AREAS[number]
        self.before = AREAS[number - 1] if number else ""
        self.salt = 1000 * number

    def tables(self) -> Iterator[MadeTable]:
        for place, noun in enumerate(LOOKUPS):
            yield self._lookup(noun, place)
        for place, noun in enumerate(MASTERS):
            yield self._master(noun, place)
        for place, noun in enumerate(HEADERS):
            yield self._header(noun, place)
        for place, noun in enumerate(HEADERS):
            yield self._line(noun, place)
        for one, other in ASSOCIATIONS:
            yield self._association(one, other)
        yield self._log()

    def _rows(self, noun: str) -> int:
        """How many rows a table has: it depends on area and noun alone."""
        wiggle = (self.number * 37 + len(noun) * 11) % 100
        if noun in LOOKUPS:
            return 8 + wiggle % 20
        return (200 if noun in MASTERS else 600) + wiggle * 3

    def _id(self, noun: str) -> tuple[str, str]:
        """A surrogate key; every third area counts from a number of its own."""
        first = self.number * 1000 + 1 if self.number % 3 == 0 else 1
        return f"{self.name}_{noun}_id", f"CAST(i + {first} AS INTEGER)"

    def _code(self, noun: str, row: str) -> str:
        return f"'{self.number}{noun[:2].upper()}' || lpad(CAST({row} AS VARCHAR), 3, '0')"

    def _pick(self, salt: int, among: int) -> str:
        """A whole number below ``among``, scattered over the rows by arithmetic alone."""
        mixed = f"i * 7919 + {(self.salt + salt) * 104729 % _PRIME} + i * i % 1013 * 31"
        return f"(({mixed}) % {_PRIME} % {among})"

    def _refer(
        self, noun: str, salt: int, *, role: str = "", area: str = "", empty: int = 0
    ) -> tuple[tuple[str, str], Reference]:
        """A column that refers to a table; of ``empty`` rows in turn one has no value."""
        there = _Area(AREAS.index(area)) if area else self
        key, numbered = there._id(noun)
        row = self._pick(salt, there._rows(noun))
        value = numbered.replace("(i +", f"({row} +")
        if noun in ("type", "region"):
            key, value = f"{there.name}_{noun}_code", there._code(noun, row)
        if empty:
            value = f"CASE WHEN i % {empty} > 0 THEN {value} END"
        column = f"{role}_{key}" if role else key
        return (column, value), Reference((column,), f"{there.name}_{noun}", (key,))

    def _made(
        self,
        noun: str,
        key: tuple[str, ...],
        columns: list[tuple[str, str]],
        referring: list[tuple[tuple[str, str], Reference]],
        *,
        rows: int = 0,
    ) -> MadeTable:
        return MadeTable(
            f"{self.name}_{noun}",
            rows or self._rows(noun),
            (*columns[:1], *(column for column, _ in referring), *columns[1:]),
            key,
            tuple(reference for _, reference in referring),
        )

    def _lookup(self, noun: str, place: int) -> MadeTable:
        key = self._id(noun)
        if noun in ("type", "region"):
            key = (f"{self.name}_{noun}_code", self._code(noun, "i"))
        columns = [
            key,
            ("label", f"'{self.name.title()} {noun} ' || chr(CAST(65 + i AS INTEGER))"),
            ("sort_order", "CAST(10 * (i + 1) AS SMALLINT)"),
            ("active", f"i % {5 + place} > 0"),
            ("valid_from", "DATE '2015-01-01' + CAST(30 * (i % 40) AS INTEGER)"),
        ]
        return self._made(noun, (key[0],), columns, [])

    def _master(self, noun: str, place: int) -> MadeTable:
        key = self._id(noun)
        salt = 10 * place
        columns = [
            key,
            (f"{noun}_no", f"'{noun[:1].upper()}{self.number}-' || (10000 + i * {7 + place})"),
            ("name", f"'{noun.title()} ' || {self._pick(salt + 1, 5000)} || ' of row ' || i"),
            ("email", f"'user' || i || '@{self.name}.example.com'"),
            ("city", f"['Oslo', 'Bergen', 'Lyon', 'Graz', 'Porto'][{self._pick(salt + 2, 5)} + 1]"),
            ("credit_limit", f"CAST({self._pick(salt + 3, 90000)} / 4.0 AS DECIMAL(12, 2))"),
            ("rating", f"{self._pick(salt + 4, 1000)} / 7.0"),
            ("since", f"strftime(DATE '2010-01-01' + CAST({self._pick(salt + 5, 4000)} AS INTEGER),"
             " '%d.%m.%Y')"),
            ("is_blocked", f"{self._pick(salt + 6, 11)} = 0"),
            ("created_at", f"TIMESTAMP '2018-03-01' + INTERVAL ({self._pick(salt + 7, 900000)})"
             " MINUTE"),
            ("remark", "CASE WHEN i % 3 = 0 THEN 'a remark of some words on row ' || i END"),
        ]  # fmt: skip
        referring = [
            self._refer(LOOKUPS[place % len(LOOKUPS)], salt + 8),
            self._refer(LOOKUPS[(place + 1) % len(LOOKUPS)], salt + 9, empty=9),
        ]
        if noun == "employee":
            referring.append(self._refer(noun, salt + 10, role="manager", empty=7))
        return self._made(noun, (key[0],), columns, referring)

    def _header(self, noun: str, place: int) -> MadeTable:
        key = self._id(noun)
        salt = 200 + 10 * place
        columns = [
            key,
            (f"{noun}_no", f"'{self.number}{noun[0].upper()}' || lpad(CAST(i AS VARCHAR), 6, '0')"),
            (f"{noun}_date", f"DATE '2021-01-01' + CAST({self._pick(salt + 1, 1200)} AS INTEGER)"),
            ("due_date", f"CASE WHEN i % 5 > 0 THEN DATE '2021-02-01' + CAST("
             f"{self._pick(salt + 2, 1200)} AS INTEGER) END"),
            ("total_amount", f"CAST({self._pick(salt + 3, 900000)} / 100.0 AS DECIMAL(14, 2))"),
            ("currency", f"['EUR', 'USD', 'NOK'][{self._pick(salt + 4, 3)} + 1]"),
            ("is_paid", f"{self._pick(salt + 5, 3)} = 0"),
            ("weight", f"CAST(CAST({self._pick(salt + 6, 5000)} / 10.0 AS DECIMAL(8, 1))"
             " AS VARCHAR)"),
            ("changed_at", f"TIMESTAMP '2022-01-01' + INTERVAL ({self._pick(salt + 7, 700000)})"
             " SECOND"),
        ]  # fmt: skip
        partner, reference = self._refer("partner", salt + 8)
        if noun == "request":
            gone = f"i < {_ORPHANS}"
            partner = (partner[0], f"CASE WHEN {gone} THEN 99999990 + i ELSE {partner[1]} END")
        referring = [
            (partner, reference),
            self._refer(MASTERS[1 + place], salt + 9),
            self._refer("employee", salt + 10, empty=6),
            self._refer("status", salt + 11),
        ]
        if self.before:
            referring.append(self._refer("account", salt + 12, area=self.before, empty=4))
        return self._made(noun, (key[0],), columns, referring)

    def _line(self, noun: str, place: int) -> MadeTable:
        header, numbered = self._id(noun)
        salt = 300 + 10 * place
        headers = self._rows(noun)
        rows = headers + headers // 2
        owner = (header, numbered.replace("(i +", f"(i % {headers} +"))
        columns = [
            owner,
            ("line_no", f"CAST(i // {headers} + 1 AS INTEGER)"),
            ("quantity", f"CAST(1 + {self._pick(salt + 1, 40)} AS INTEGER)"),
            ("unit_price", f"CAST({self._pick(salt + 2, 50000)} / 100.0 AS DECIMAL(10, 2))"),
            ("discount", f"{self._pick(salt + 3, 20)} / 100.0"),
            ("note", f"CASE WHEN i % 4 = 0 THEN 'note ' || {self._pick(salt + 4, 300)} END"),
            ("delivered_on", f"DATE '2021-06-01' + CAST({self._pick(salt + 5, 900)} AS INTEGER)"),
        ]
        references = [Reference((header,), f"{self.name}_{noun}", (header,))]
        if noun == "shipment":
            columns[2:2], whole = self._refer_to_line("order", salt + 8)
            references.append(whole)
        made = self._made(
            f"{noun}_line",
            (header, "line_no"),
            columns,
            [self._refer("item", salt + 6), self._refer("category", salt + 7, empty=8)],
            rows=rows,
        )
        return MadeTable(
            made.name, made.rows, made.columns, made.key, (*references, *made.references)
        )

    def _refer_to_line(self, noun: str, salt: int) -> tuple[list[tuple[str, str]], Reference]:
        """Two columns that refer, together, to a line of a header."""
        header, numbered = self._id(noun)
        headers = self._rows(noun)
        row = self._pick(salt, headers + headers // 2)
        columns = [
            (header, numbered.replace("(i +", f"({row} % {headers} +")),
            (f"{noun}_line_no", f"CAST({row} // {headers} + 1 AS INTEGER)"),
        ]
        names = tuple(name for name, _ in columns)
        return columns, Reference(names, f"{self.name}_{noun}_line", (header, "line_no"))

    def _association(self, one: str, other: str) -> MadeTable:
        """Pairs of two masters, none of them twice: the second runs ahead a step a round."""
        (left, left_sql), (right, right_sql) = self._id(one), self._id(other)
        width, span = self._rows(one), self._rows(other)
        second = f"((i + i // {width} * 7) % {span})"
        columns = [
            (left, left_sql.replace("(i +", f"(i % {width} +")),
            (right, right_sql.replace("(i +", f"({second} +")),
            ("since", f"DATE '2019-01-01' + CAST({self._pick(401, 1500)} AS INTEGER)"),
            ("is_main", f"{self._pick(402, 4)} = 0"),
            ("share", f"CAST({self._pick(403, 100)} / 100.0 AS DECIMAL(5, 2))"),
        ]
        return MadeTable(
            f"{self.name}_{one}_{other}",
            2 * width,
            tuple(columns),
            (left, right),
            (
                Reference((left,), f"{self.name}_{one}", (left,)),
                Reference((right,), f"{self.name}_{other}", (right,)),
            ),
        )

    def _log(self) -> MadeTable:
        key = self._id("event")
        columns = [
            key,
            ("event_name", f"['opened', 'changed', 'closed'][{self._pick(501, 3)} + 1]"),
            ("occurred_at", f"TIMESTAMP '2023-01-01' + INTERVAL ({self._pick(502, 90000)}) MINUTE"),
            ("source_ip", f"'10.0.' || {self._pick(503, 200)} || '.' || {self._pick(504, 250)}"),
            ("duration_ms", f"CAST({self._pick(505, 8000)} AS BIGINT)"),
            ("payload", "'{\"row\": ' || i || '}'"),
        ]
        referring = [
            self._refer("employee", 506),
            self._refer("asset", 507, empty=5),
            self._refer("type", 508),
        ]
        return self._made("event", (key[0],), columns, referring)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--duckdb", action="store_true", help="one DuckDB file, no Parquet")
    parser.add_argument("--narrow", action="store_true", help="tables of eight columns")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.duckdb:
        path = options.out / "synthetic.duckdb"
        made = write_duckdb(path, options.tables, narrow=options.narrow)
    else:
        made = write_parquet(options.out, options.tables)
    references = sum(len(table.references) for table in made)
    print(f"{len(made)} tables, {references} foreign keys in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
