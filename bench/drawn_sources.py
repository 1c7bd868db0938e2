"""Small databases that a seed draws, and the nights that they live through.

A database is a DuckDB file of four to seven tables: code lists, masters that refer to each other,
events, their lines, bridges, prices by day and logs without a key. A night inserts, updates and
deletes rows, and brings back some that were deleted; ``StructureChange`` is what happens to tables
and columns. Any DuckDB file will do, once it's said what its keys and references are.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import duckdb

from fluid_build.sources.sql import literal, quote

Value = object
_MASTERS = (
    "customer supplier machine vehicle course patient member warehouse employee device"
).split()
_CODES = "category region grade channel currency unit".split()
_EVENTS = "visit payment shipment booking claim repair inspection delivery".split()
_ATTRIBUTES: Mapping[str, tuple[str, Callable[[random.Random, int], Value]]] = {
    "title": ("VARCHAR", lambda _, i: f"Title {i * 7}"),
    "city": ("VARCHAR", lambda r, _: r.choice(["Bern", "Lyon", "Pörtö", "O'Fallon"])),
    "note": ("VARCHAR", lambda r, i: f"{'lorem ipsum, ' * r.randint(0, 40)}{i}"),
    "email": ("VARCHAR", lambda _, i: f"p{i}@example.org"),
    "phone": ("VARCHAR", lambda _, i: f"+41 31 555 {1000 + i * 3}"),
    "born_on": ("DATE", lambda r, _: date(1950, 1, 1) + timedelta(days=r.randint(0, 20000))),
    "since": ("DATE", lambda r, _: date(2019, 1, 1) + timedelta(days=r.randint(0, 1500))),
    "changed_at": (
        "TIMESTAMP",
        lambda r, _: datetime(2025, 1, 1) + timedelta(seconds=r.randint(0, 30_000_000)),
    ),
    "rating": ("SMALLINT", lambda r, _: r.randint(60, 69)),
    "stock": ("INTEGER", lambda r, _: r.randint(200_000, 900_000)),
    "balance": ("DECIMAL(10,2)", lambda r, _: Decimal(r.randint(-500_000, 900_000)) / 100),
    "share": ("DECIMAL(7,4)", lambda r, _: Decimal(r.randint(0, 10_000)) / 10_000),
    "weight": ("DOUBLE", lambda r, _: r.randint(1, 4000) / 8),
    "is_active": ("BOOLEAN", lambda r, _: r.random() < 0.7),
    "state": ("VARCHAR", lambda r, _: r.choice(["open", "sent", "paid", "void"])),
}  # fmt: skip
"""Columns that describe, each with its type and what its values are made of."""
_WIDER = {
    "SMALLINT": "INTEGER",
    "INTEGER": "BIGINT",
    "DATE": "TIMESTAMP",
    "DECIMAL(10,2)": "DECIMAL(14,4)",
    "DECIMAL(7,4)": "DECIMAL(12,6)",
}
_NARROWER = {"BIGINT": "INTEGER", "DECIMAL(14,4)": "DECIMAL(12,4)", "DECIMAL(10,2)": "DECIMAL(9,2)"}
_MOST_CHANGED = 0.05
"""Share of a table's rows that a night inserts, updates and deletes, each."""
_FEW = 12
"""Distinct values up to which a text is a choice of them, as a status is."""


@dataclass
class Column:
    """A column as the source has it; ``was`` is its first name, which a model keeps."""

    name: str
    type: str
    was: str = ""

    def __post_init__(self) -> None:
        """A new column has its first name."""
        self.was = self.was or self.name


@dataclass
class Table:
    """A table, with the columns that identify its rows and those that refer to other tables."""

    name: str
    columns: list[Column]
    key: tuple[str, ...] = ()
    references: dict[tuple[str, ...], tuple[str, tuple[str, ...]]] = field(default_factory=dict)

    def names(self) -> list[str]:
        """Return the names of the columns."""
        return [column.name for column in self.columns]

    def column(self, name: str) -> Column:
        """Return a column by its present name."""
        return next(column for column in self.columns if column.name == name)

    def free(self) -> list[Column]:
        """Return the columns that neither identify nor refer."""
        referring = {name for columns in self.references for name in columns}
        return [each for each in self.columns if each.name not in {*self.key, *referring}]


@dataclass
class Source:
    """A database that lives: its file, its tables, and rows that it has deleted."""

    path: Path
    tables: dict[str, Table]
    chance: random.Random
    gone: dict[str, list[dict[str, Value]]] = field(default_factory=dict)
    number: int = 5000

    def next_number(self) -> int:
        """Return a number that no value has yet."""
        self.number += 1
        return self.number

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Open the file."""
        return duckdb.connect(str(self.path))

    def children(self, table: str) -> Iterator[tuple[Table, tuple[str, ...], tuple[str, ...]]]:
        """Return each table that refers to one, with the columns on both sides."""
        for child in self.tables.values():
            for columns, (parent, to_columns) in child.references.items():
                if parent == table:
                    yield child, columns, to_columns


def draw(path: Path, seed: int) -> Source:
    """Make a database of a shape that the seed decides."""
    source = Source(path, {}, random.Random(seed))
    chance = source.chance
    with source.connect() as connection:
        codes = [_code_list(source, connection, name) for name in chance.sample(_CODES, 2)]
        masters: list[Table] = []
        for name in chance.sample(_MASTERS, chance.choice([1, 2, 2])):
            parents = [*masters, chance.choice(codes)]
            masters.append(_master(source, connection, name, parents))
        event = _event(source, connection, chance.choice(_EVENTS), masters)
        kinds = [_lines, _log, _prices] + ([_bridge] if len(masters) > 1 else [_lines])
        for kind in dict.fromkeys(chance.sample(kinds, 2)):
            kind(source, connection, masters, event)
    return source


def from_files(path: Path, files: Path, truth: Mapping[str, object], seed: int) -> Source:
    """Make a database of Parquet files, whose keys and references are known."""
    source = Source(path, {}, random.Random(seed))
    with source.connect() as connection:
        for file in sorted(files.glob("*.parquet")):
            name = quote(file.stem)
            connection.execute(f"CREATE TABLE {name} AS FROM read_parquet({literal(str(file))})")
            described = connection.execute(f"DESCRIBE {name}").fetchall()
            columns = [Column(str(row[0]), str(row[1])) for row in described]
            known = truth["tables"][file.stem]  # type: ignore[index]
            source.tables[file.stem] = Table(file.stem, columns, tuple(known["primary_key"] or ()))
    for each in truth["foreign_keys"]:  # type: ignore[attr-defined]
        table = source.tables[each["from_table"]]
        table.references[tuple(each["from_columns"])] = (
            each["to_table"],
            tuple(each["to_columns"]),
        )
    return source


def _make(
    source: Source,
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    rows: Sequence[Mapping[str, Value]],
) -> Table:
    described = ", ".join(
        f"{quote(each.name)} {each.type}{' NOT NULL' if each.name in table.key else ''}"
        for each in table.columns
    )
    connection.execute(f"CREATE TABLE {quote(table.name)} ({described})")
    _insert(connection, table, rows)
    source.tables[table.name] = table
    return table


def _insert(
    connection: duckdb.DuckDBPyConnection, table: Table, rows: Sequence[Mapping[str, Value]]
) -> None:
    if rows:
        values = ", ".join(
            f"({', '.join(_sql(row.get(name)) for name in table.names())})" for row in rows
        )
        names = ", ".join(map(quote, table.names()))
        connection.execute(f"INSERT INTO {quote(table.name)} ({names}) VALUES {values}")


def _sql(value: Value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool | int | float | Decimal):
        return str(value)
    return literal(str(value))


def _described(
    source: Source, count: int, of: Sequence[str] | None = None
) -> tuple[list[Column], Callable[[int], dict[str, Value]]]:
    """Draw columns that describe, some of them with nulls."""
    chance = source.chance
    names = of or chance.sample(sorted(_ATTRIBUTES.keys() - {"title"}), count)
    nulls = {name: chance.choice([0, 0, 0, 0.15]) for name in names}

    def row(i: int) -> dict[str, Value]:
        return {
            name: None if chance.random() < nulls[name] else _ATTRIBUTES[name][1](chance, i)
            for name in names
        }

    return [Column(name, _ATTRIBUTES[name][0]) for name in names], row


def _code_list(source: Source, connection: duckdb.DuckDBPyConnection, name: str) -> Table:
    codes = [f"{name[0].upper()}{chr(65 + i)}{chr(75 + i * 3 % 14)}" for i in range(7)]
    columns = [Column("code", "VARCHAR"), Column("label", "VARCHAR")]
    rows = [{"code": code, "label": f"{name} label {code.lower()}"} for code in codes]
    return _make(source, connection, Table(f"{name}_codes", columns, ("code",)), rows)


def _keys(connection: duckdb.DuckDBPyConnection, table: Table) -> list[tuple[Value, ...]]:
    names = ", ".join(map(quote, table.key))
    rows = connection.execute(f"SELECT {names} FROM {quote(table.name)} ORDER BY ALL").fetchall()
    return [tuple(row) for row in rows]


def _referring(
    connection: duckdb.DuckDBPyConnection, parents: Sequence[Table]
) -> tuple[
    list[Column], dict[tuple[str, ...], tuple[str, tuple[str, ...]]], dict[str, list[Value]]
]:
    """Return the columns that refer to parents, by what, and the values that they may have."""
    columns, references, values = [], {}, {}
    for parent in parents:
        (key,) = parent.key
        name = key if key != "code" else parent.name.removesuffix("s")
        columns.append(Column(name, parent.column(key).type))
        references[name,] = (parent.name, (key,))
        values[name] = [key[0] for key in _keys(connection, parent)]
    return columns, references, values


def _master(
    source: Source, connection: duckdb.DuckDBPyConnection, name: str, parents: Sequence[Table]
) -> Table:
    chance = source.chance
    refer, references, values = _referring(connection, parents)
    own, described = _described(source, chance.randint(3, 5))
    is_text = chance.random() < 0.3
    first = 1000 * (10 + len(source.tables) * 7)
    columns = [
        Column(f"{name}_id", "VARCHAR" if is_text else chance.choice(["INTEGER", "BIGINT"])),
        Column("name", "VARCHAR"),
        *own,
        *refer,
    ]
    rows = [
        {
            f"{name}_id": f"{name[:2].upper()}-{first + i}" if is_text else first + i,
            "name": f"{name.title()} {i * 3 + 1}",
            **described(i),
            **{column: chance.choice(found) for column, found in values.items()},
        }
        for i in range(chance.randint(40, 90))
    ]
    return _make(source, connection, Table(f"{name}s", columns, (f"{name}_id",), references), rows)


def _event(
    source: Source, connection: duckdb.DuckDBPyConnection, name: str, masters: Sequence[Table]
) -> Table:
    chance = source.chance
    refer, references, values = _referring(connection, masters)
    own, described = _described(source, 0, chance.sample(["state", "note", "rating", "email"], 2))
    first = 1_000_000 + 1000 * len(source.tables)
    columns = [
        Column(f"{name}_id", "INTEGER"),
        *refer,
        Column("happened_at", chance.choice(["TIMESTAMP", "DATE"])),
        Column("amount", "DECIMAL(10,2)"),
        *own,
    ]
    rows = [
        {
            f"{name}_id": first + i,
            "happened_at": datetime(2025, 3, 1, 8) + timedelta(hours=7 * i),
            "amount": Decimal(chance.randint(1, 90_000)) / 100,
            **described(i),
            **{column: chance.choice(found) for column, found in values.items()},
        }
        for i in range(chance.randint(120, 220))
    ]
    return _make(source, connection, Table(f"{name}s", columns, (f"{name}_id",), references), rows)


def _lines(
    source: Source, connection: duckdb.DuckDBPyConnection, _masters: Sequence[Table], event: Table
) -> None:
    chance = source.chance
    (key,) = event.key
    columns = [
        Column(key, "INTEGER"),
        Column("line_no", "INTEGER"),
        Column("quantity", "INTEGER"),
        Column("price", "DECIMAL(10,2)"),
    ]
    rows = [
        {
            key: found,
            "line_no": n,
            "quantity": chance.randint(31, 55),
            "price": Decimal(chance.randint(100, 9000)) / 100,
        }
        for (found,) in _keys(connection, event)
        for n in range(1, chance.choice([1, 2, 2, 3]))
    ]
    table = Table(f"{event.name[:-1]}_lines", columns, (key, "line_no"))
    table.references[key,] = (event.name, (key,))
    _make(source, connection, table, rows)


def _bridge(
    source: Source, connection: duckdb.DuckDBPyConnection, masters: Sequence[Table], _event: Table
) -> None:
    chance = source.chance
    refer, references, values = _referring(connection, masters[:2])
    own, described = _described(source, 0, ["since"] if chance.random() < 0.5 else [])
    pairs = {tuple(chance.choice(found) for found in values.values()) for _ in range(120)}
    rows = [
        {**dict(zip(values, pair, strict=True)), **described(i)}
        for i, pair in enumerate(sorted(pairs, key=str))
    ]
    name = f"{masters[0].name}_{masters[1].name}"
    table = Table(name, [*refer, *own], tuple(values), references)
    _make(source, connection, table, rows)


def _prices(
    source: Source, connection: duckdb.DuckDBPyConnection, masters: Sequence[Table], _event: Table
) -> None:
    chance = source.chance
    master = masters[-1]
    (key,) = master.key
    columns = [
        Column(key, master.column(key).type),
        Column("valid_on", "DATE"),
        Column("price", "DECIMAL(10,2)"),
        Column("weight", "DOUBLE"),
    ]
    rows = [
        {
            key: found,
            "valid_on": date(2025, 1, 1) + timedelta(days=31 * n),
            "price": Decimal(chance.randint(100, 99_000)) / 100,
            "weight": chance.randint(1, 400) / 8,
        }
        for (found,) in _keys(connection, master)
        for n in range(3)
    ]
    table = Table(f"{master.name[:-1]}_prices", columns, (key, "valid_on"))
    table.references[key,] = (master.name, (key,))
    _make(source, connection, table, rows)


def _log(
    source: Source, connection: duckdb.DuckDBPyConnection, masters: Sequence[Table], _event: Table
) -> None:
    chance = source.chance
    refer, references, values = _referring(connection, masters[:1])
    columns = [Column("logged_at", "TIMESTAMP"), *refer, Column("entry", "VARCHAR")]
    rows = [
        {
            "logged_at": datetime(2025, 6, 1) + timedelta(minutes=chance.randint(0, 400)),
            "entry": chance.choice(["in", "out", "failed", "in, late"]),
            **{column: chance.choice(found[:12]) for column, found in values.items()},
        }
        for _ in range(150)
    ]
    rows += rows[:20]
    _make(source, connection, Table("entry_log", columns, (), references), rows)


def spend_a_night(source: Source) -> None:
    """Insert, update and delete rows of most tables, and bring back some that were deleted."""
    with source.connect() as connection:
        for table in [*source.tables.values()]:
            if source.chance.random() < 0.25:
                continue
            night = _Night(source, connection, table)
            night.delete()
            night.update()
            night.insert()
            night.bring_back()


@dataclass
class _Night:
    """What a night does to the rows of one table."""

    source: Source
    connection: duckdb.DuckDBPyConnection
    table: Table

    @property
    def chance(self) -> random.Random:
        return self.source.chance

    def rows(self) -> list[dict[str, Value]]:
        names = ", ".join(map(quote, self.table.names()))
        found = self.connection.execute(
            f"SELECT rowid, {names} FROM {quote(self.table.name)} ORDER BY rowid"
        ).fetchall()
        return [dict(zip(["rowid", *self.table.names()], row, strict=True)) for row in found]

    def some(self) -> list[dict[str, Value]]:
        rows = self.rows()
        count = self.chance.randint(0, max(1, int(len(rows) * _MOST_CHANGED)))
        return self.chance.sample(rows, min(count, len(rows)))

    def delete(self) -> None:
        """Delete rows that nobody refers to."""
        if not self.table.key:
            doomed = self.some()
        else:
            used: dict[str, set[Value]] = {}
            for child, columns, (column, *_) in self.source.children(self.table.name):
                found = self.connection.execute(
                    f"SELECT DISTINCT {quote(columns[0])} FROM {quote(child.name)}"
                ).fetchall()
                used.setdefault(column, set()).update(row[0] for row in found)
            doomed = [
                row
                for row in self.some()
                if not any(row[column] in found for column, found in used.items())
            ]
        for row in doomed:
            self.connection.execute(
                f"DELETE FROM {quote(self.table.name)} WHERE rowid = {row['rowid']}"
            )
            self.source.gone.setdefault(self.table.name, []).append(row)

    def update(self) -> None:
        """Change a column of some rows: what describes, or what is referred to."""
        referring = [
            columns for columns in self.table.references if not {*columns} & {*self.table.key}
        ]
        for row in self.some():
            free = self.table.free()
            if referring and (not free or self.chance.random() < 0.3):
                new = self.referred(self.chance.choice(referring))
            elif free:
                column = self.chance.choice(free)
                new = {column.name: self.value(column)}
            else:
                return
            for name, value in new.items():
                self.connection.execute(
                    f"UPDATE {quote(self.table.name)} SET {quote(name)} = {_sql(value)}"
                    f" WHERE rowid = {row['rowid']}"
                )

    def insert(self) -> None:
        """Add rows like others, with keys of their own."""
        known = {self.key_of(row) for row in self.rows()}
        for pattern in self.some():
            row = {name: value for name, value in pattern.items() if name != "rowid"}
            for columns in self.table.references:
                row.update(self.referred(columns))
            if self.table.key:
                row.update(self.new_key(row))
                if self.key_of(row) in known:
                    continue
            for column in self.table.free():
                if self.is_unique(column):
                    row[column.name] = self.value(column)
            known.add(self.key_of(row))
            _insert(self.connection, self.table, [row])

    def bring_back(self) -> None:
        """Add rows again that were deleted earlier, as they were."""
        gone = self.source.gone.get(self.table.name, [])
        known = {self.key_of(row) for row in self.rows()}
        for row in self.chance.sample(gone, min(len(gone), self.chance.choice([0, 0, 1, 2]))):
            names = self.table.names()
            back = {name: row[name] for name in names if name in row}
            required = {*self.table.key, *(n for each in self.table.references for n in each)}
            if not required <= back.keys() or (self.table.key and self.key_of(back) in known):
                continue
            for column in self.table.columns:
                is_missing = column.name not in back
                if is_missing or (column in self.table.free() and self.is_unique(column)):
                    # Somebody else may have got its value meanwhile.
                    back[column.name] = self.value(column)
            if all(self.is_there(columns, back) for columns in self.table.references):
                known.add(self.key_of(back))
                gone.remove(row)
                _insert(self.connection, self.table, [back])

    def key_of(self, row: Mapping[str, Value]) -> tuple[str, ...]:
        return tuple(str(row[name]) for name in self.table.key)

    def referred(self, columns: tuple[str, ...]) -> dict[str, Value]:
        """Return values that lead to a row of the table that columns refer to."""
        parent, to_columns = self.table.references[columns]
        names = ", ".join(map(quote, to_columns))
        rows = self.connection.execute(
            f"SELECT {names} FROM {quote(parent)} ORDER BY ALL"
        ).fetchall()
        return dict(zip(columns, self.chance.choice(rows), strict=True))

    def is_there(self, columns: tuple[str, ...], row: Mapping[str, Value]) -> bool:
        parent, to_columns = self.table.references[columns]
        if any(row[name] is None for name in columns):
            return True
        condition = " AND ".join(
            f"{quote(to)} = {_sql(row[name])}" for name, to in zip(columns, to_columns, strict=True)
        )
        found = self.connection.execute(
            f"SELECT COUNT(*) FROM {quote(parent)} WHERE {condition}"
        ).fetchone()
        return bool(found and found[0])

    def new_key(self, row: Mapping[str, Value]) -> dict[str, Value]:
        """Return the parts of a key that aren't references, with values that aren't taken."""
        referring = {name for columns in self.table.references for name in columns}
        own = [name for name in self.table.key if name not in referring]
        if not own:
            return {}
        name = own[-1]
        column = self.table.column(name)
        if len(self.table.key) == 1:
            return {name: self.fresh(column, row[name])}
        # The next line of an order, the next day of a price.
        condition = " AND ".join(
            f"{quote(each)} = {_sql(row[each])}" for each in self.table.key if each != name
        )
        found = self.connection.execute(
            f"SELECT MAX({quote(name)}) FROM {quote(self.table.name)} WHERE {condition}"
        ).fetchone()
        last = found[0] if found and found[0] is not None else row[name]
        if isinstance(last, int):
            return {name: last + 1}
        if isinstance(last, date):
            return {name: last + timedelta(days=31)}
        return {name: self.fresh(column, last)}

    def is_unique(self, column: Column) -> bool:
        name = quote(column.name)
        found = self.connection.execute(
            f"SELECT COUNT({name}) = COUNT(DISTINCT {name}), COUNT({name})"
            f" FROM {quote(self.table.name)}"
        ).fetchone()
        return bool(found and found[0] and found[1])

    def value(self, column: Column) -> Value:
        """Return another value of a column: one that others have, a new one, or none."""
        name = quote(column.name)
        found = [
            row[0]
            for row in self.connection.execute(
                f"SELECT DISTINCT {name} FROM {quote(self.table.name)} ORDER BY 1"
            ).fetchall()
        ]
        values = [each for each in found if each is not None]
        if not values:
            return None
        if None in found and self.chance.random() < 0.2:
            return None
        chosen = self.chance.choice(values)
        is_choice = isinstance(chosen, bool | str) and len(values) <= _FEW
        if not self.is_unique(column) and (is_choice or self.chance.random() < 0.4):
            return chosen
        return self.fresh(column, chosen)

    def fresh(self, column: Column, like: Value) -> Value:
        """Return a value that no row has, of the kind of another one."""
        number = self.source.next_number()
        if isinstance(like, bool):
            return not like
        if isinstance(like, int):
            if not self.is_unique(column):
                return min(
                    max(like + self.chance.choice([-1, 1, 2]), 0),
                    32_000 if like <= 32_000 else like,
                )
            found = self.connection.execute(
                f"SELECT MAX({quote(column.name)}) FROM {quote(self.table.name)}"
            ).fetchone()
            return (found[0] if found else like) + 1
        if isinstance(like, Decimal):
            step = Decimal(1).scaleb(int(like.as_tuple().exponent))
            return like - step * (number % 89 + 1) if like > 0 else like + step * (number % 89 + 1)
        if isinstance(like, float):
            return like + number / 8
        if isinstance(like, datetime):
            return like + timedelta(seconds=number)
        if isinstance(like, date):
            return like + timedelta(days=number % 400 + 1)
        text = str(like)
        if "@" in text:
            return f"p{number}@example.org"
        if len(text) <= 3:
            return f"{text[0]}{chr(65 + number % 26)}{chr(65 + number // 26 % 26)}"[: len(text)]
        return re.sub(r"\d*$", "", text) + str(number)


def change_structure(source: Source) -> str:
    """Change a table or column at random, and return what happened."""
    kinds = [*_CHANGES]
    source.chance.shuffle(kinds)
    with source.connect() as connection:
        for kind in kinds:
            if said := kind(source, connection):
                return said
    return "nothing"


def _add_column(source: Source, connection: duckdb.DuckDBPyConnection) -> str:
    chance = source.chance
    table = chance.choice([*source.tables.values()])
    kind = chance.choice(sorted(_ATTRIBUTES))
    name = f"{kind}_{source.next_number()}"
    type_, make = _ATTRIBUTES[kind]
    share = chance.choice([0, 0.3, 1])
    connection.execute(f"ALTER TABLE {quote(table.name)} ADD COLUMN {quote(name)} {type_}")
    rowids = connection.execute(f"SELECT rowid FROM {quote(table.name)} ORDER BY 1").fetchall()
    for i, (rowid,) in enumerate(rowids):
        if chance.random() >= share:
            value = _sql(make(chance, source.number * 7 + i))
            connection.execute(
                f"UPDATE {quote(table.name)} SET {quote(name)} = {value} WHERE rowid = {rowid}"
            )
    table.columns.append(Column(name, type_))
    return f"column added: {table.name}.{name} {type_}, {share:.0%} null"


def _drop_column(source: Source, connection: duckdb.DuckDBPyConnection) -> str:
    chance = source.chance
    choices = [
        (table, column)
        for table in source.tables.values()
        for column in table.columns
        if column.name not in table.key and len(table.columns) > len(table.key) + 1
    ]
    table, column = chance.choice(choices)
    connection.execute(f"ALTER TABLE {quote(table.name)} DROP COLUMN {quote(column.name)}")
    table.columns.remove(column)
    table.references = {
        columns: to for columns, to in table.references.items() if column.name not in columns
    }
    return f"column dropped: {table.name}.{column.name}"


def _rename_column(source: Source, connection: duckdb.DuckDBPyConnection) -> str:
    table = source.chance.choice([*source.tables.values()])
    if not table.free():
        return ""
    column = source.chance.choice(table.free())
    new = f"{column.was}_now_{source.next_number()}"
    connection.execute(
        f"ALTER TABLE {quote(table.name)} RENAME COLUMN {quote(column.name)} TO {quote(new)}"
    )
    before, column.name = column.name, new
    return f"column renamed: {table.name}.{before} {new}"


def _retyped(
    source: Source,
    connection: duckdb.DuckDBPyConnection,
    types: Mapping[str, str],
    word: str,
) -> str:
    choices = [
        (table, column)
        for table in source.tables.values()
        for column in table.free()
        if column.type in types
    ]
    if not choices:
        return ""
    table, column = source.chance.choice(choices)
    new = types[column.type]
    try:
        connection.execute(f"ALTER TABLE {quote(table.name)} ALTER {quote(column.name)} TYPE {new}")
    except duckdb.ConversionException:
        return ""
    before, column.type = column.type, new
    return f"column {word}: {table.name}.{column.name} {before} to {new}"


def _widen(source: Source, connection: duckdb.DuckDBPyConnection) -> str:
    return _retyped(source, connection, _WIDER, "widened")


def _narrow(source: Source, connection: duckdb.DuckDBPyConnection) -> str:
    return _retyped(source, connection, _NARROWER, "narrowed")


def _to_text(source: Source, connection: duckdb.DuckDBPyConnection) -> str:
    said = _retyped(source, connection, {"SMALLINT": "VARCHAR", "INTEGER": "VARCHAR"}, "to text")
    if said:
        table, _, column = said.split(" ")[3].partition(".")
        connection.execute(
            f"UPDATE {quote(table)} SET {quote(column)} = 'R' || {quote(column)}"
            f" WHERE {quote(column)} LIKE '%3'"
        )
    return said


def _add_table(source: Source, connection: duckdb.DuckDBPyConnection) -> str:
    chance = source.chance
    masters = [
        table for table in source.tables.values() if len(table.key) == 1 and len(table.columns) > 2
    ]
    number = source.next_number()
    kind = chance.choice(["codes", "master", "event"])
    if kind == "codes":
        table = _code_list(source, connection, f"kind{number}")
    elif kind == "master":
        table = _master(
            source, connection, f"thing{number}", chance.sample(masters, min(1, len(masters)))
        )
    else:
        if not masters:
            return ""
        table = _event(source, connection, f"event{number}", [chance.choice(masters)])
    return f"table added: {table.name}"


def _drop_table(source: Source, connection: duckdb.DuckDBPyConnection) -> str:
    if len(source.tables) < 4:
        return ""
    table = source.chance.choice([*source.tables.values()])
    children = [*source.children(table.name)]
    if children and source.chance.random() < 0.7:
        return ""
    connection.execute(f"DROP TABLE {quote(table.name)}")
    del source.tables[table.name]
    for child, columns, _ in children:
        # Its values lead nowhere any more, and are values like others.
        del child.references[columns]
    return f"table dropped: {table.name}{', which others refer to' if children else ''}"


def _nulls(source: Source, connection: duckdb.DuckDBPyConnection) -> str:
    table = source.chance.choice([*source.tables.values()])
    choices = [column for column in table.columns if column.name not in table.key]
    if not choices:
        return ""
    column = source.chance.choice(choices)
    name = quote(column.name)
    connection.execute(
        f"UPDATE {quote(table.name)} SET {name} = NULL WHERE rowid % 11 = 3 AND {name} IS NOT NULL"
    )
    return f"nulls: {table.name}.{column.name}"


def _orphans(source: Source, connection: duckdb.DuckDBPyConnection) -> str:
    choices = [
        (table, columns)
        for table in source.tables.values()
        for columns in table.references
        if len(columns) == 1 and not {*columns} & {*table.key}
    ]
    if not choices:
        return ""
    table, (name,) = source.chance.choice(choices)
    number = source.next_number()
    is_text = table.column(name).type == "VARCHAR"
    value = literal(f"XX-{number}") if is_text else str(90_000_000 + number)
    connection.execute(
        f"UPDATE {quote(table.name)} SET {quote(name)} = {value} WHERE rowid % 17 = 5"
    )
    return f"reference broken: {table.name}.{name}"


def _reorder(source: Source, connection: duckdb.DuckDBPyConnection) -> str:
    table = source.chance.choice([*source.tables.values()])
    source.chance.shuffle(table.columns)
    name = quote(table.name)
    columns = ", ".join(map(quote, table.names()))
    connection.execute(f"CREATE TABLE moved AS SELECT {columns} FROM {name}")
    connection.execute(f"DROP TABLE {name}")
    connection.execute(f"ALTER TABLE moved RENAME TO {name}")
    return f"columns in another order: {table.name}"


_CHANGES: Sequence[Callable[[Source, duckdb.DuckDBPyConnection], str]] = (
    _add_column,
    _add_column,
    _drop_column,
    _rename_column,
    _widen,
    _narrow,
    _to_text,
    _add_table,
    _drop_table,
    _nulls,
    _orphans,
    _reorder,
)
"""What may happen, twice what happens most."""
