"""What happens to a made-up database over the years: orphans, text for numbers, junk tables."""

import datetime
import random

from bench.worlds.domains import Entity
from bench.worlds.habits import Habits
from bench.worlds.tables import BY_MEANING, Column, Link, Table, is_free

_COPIES = ("{}_old", "{}_bak", "tmp_{}", "copy_of_{}", "{}_2019", "old_{}")
_NO_ENTITY = Entity("setting", "junk", (), (), (), ())


class Decay:
    """Ages the tables of one database."""

    def __init__(self, rng: random.Random, habits: Habits) -> None:
        self.rng = rng
        self.habits = habits

    def apply(self, tables: list[Table]) -> None:
        """Add junk tables and spoil some values."""
        if self.habits.has_orphans:
            self._add_orphans(tables)
        if self.habits.stores_text:
            self._store_as_text(tables)
        if self.habits.has_polymorphic:
            self._add_polymorphic(tables)
        if self.habits.has_junk:
            self._add_copies(tables)
            self._add_unrelated(tables)

    def _add_orphans(self, tables: list[Table]) -> None:
        links = [
            link
            for table in tables
            for link in table.links
            if len(link.columns) == 1 and table.rows >= 30 and link.parent is not table
            and is_free(table, link.columns[0])
        ]  # fmt: skip
        for link in self.rng.sample(links, min(len(links), self.rng.randint(1, 3))):
            column = link.columns[0]
            if column.type not in {"INTEGER", "BIGINT"} or not link.parent.rows:
                continue
            beyond = max(link.parent_columns[0].values) + 1
            share = self.rng.uniform(0.001, 0.03)
            column.values = [
                beyond + row % 3 if value is not None and self.rng.random() < share else value
                for row, value in enumerate(column.values)
            ]

    def _store_as_text(self, tables: list[Table]) -> None:
        """Store all numbers as text, as a database loaded from text files does."""
        for table in tables:
            for column in table.columns:
                if column.type != "VARCHAR":
                    column.type = "VARCHAR"
                    column.values = [None if v is None else str(v) for v in column.values]

    def _add_polymorphic(self, tables: list[Table]) -> None:
        """Add a log whose rows refer to rows of several tables, which no foreign key can say."""
        style = self.habits.style
        subjects = [
            table for table in tables
            if len(table.key) == 1 and table.entity.kind in {"master", "event"} and table.rows
            and table.key[0].type in {"INTEGER", "BIGINT"}
        ]  # fmt: skip
        if len(subjects) < 2:
            return
        chosen = self.rng.sample(subjects, min(len(subjects), 3))
        name = style.table("object-log", "log")
        count = self.rng.randint(40, 400)
        rows = [self.rng.choice(chosen) for _ in range(count)]
        key = Column(
            style.render(style.own_key("log", is_code=False)), [], "surrogate",
            self.habits.integer, list(range(1, count + 1)),
        )  # fmt: skip
        kind = Column(
            style.render(style.words("object-type")), [], "attribute type", "VARCHAR",
            [table.name for table in rows],
        )  # fmt: skip
        words = style.reference("object", "", is_qualifier=False, is_code=False)
        values = [self.rng.choice(table.key[0].values) for table in rows]
        subject = Column(style.render(words), [], "polymorphic", self.habits.integer, values)
        action = Column(
            style.render(style.words("action")), [], "attribute", "VARCHAR",
            [self.rng.choice(("insert", "update", "delete")) for _ in rows],
        )  # fmt: skip
        log = Table(_NO_ENTITY, name, "ol", [key, kind, subject, action], [key], rows=count)
        if name.lower() not in {table.name.lower() for table in tables}:
            tables.append(log)

    def _add_copies(self, tables: list[Table]) -> None:
        names = {table.name.lower() for table in tables}
        whole = [table for table in tables if table.rows and table.entity.kind != "wide"]
        for table in self.rng.sample(whole, min(len(whole), self.rng.randint(1, 2))):
            name = self.rng.choice(_COPIES).format(table.name)
            if name.lower() not in names:
                names.add(name.lower())
                tables.append(self._copy(table, name))

    def _copy(self, table: Table, name: str) -> Table:
        """Return a copy of part of a table; what it refers to isn't declared."""
        first = self.rng.randint(0, table.rows // 4)
        last = table.rows - self.rng.randint(0, table.rows // 4)
        columns = {
            id(column): Column(
                column.name, column.words, column.content, column.type, column.values[first:last]
            )
            for column in table.columns
        }
        copied = Table(table.entity, name, table.initials, list(columns.values()))
        copied.key = [columns[id(column)] for column in table.key]
        copied.rows = last - first
        copied.links = [
            Link([columns[id(c)] for c in link.columns], link.parent, link.parent_columns,
                 kind=BY_MEANING)
            for link in table.links
        ]  # fmt: skip
        copied.links += [
            Link([columns[id(column)]], table, [column], kind=BY_MEANING)
            for column in table.columns
            if len(set(column.values)) == table.rows
        ]
        if len(table.key) > 1:
            copied.links.append(Link(copied.key, table, table.key, kind=BY_MEANING))
        for link in table.links:
            if link.parent is table:
                columns_of_copy = [columns[id(column)] for column in link.columns]
                copied.links.append(Link(columns_of_copy, copied, copied.key, kind=BY_MEANING))
        return copied

    def _add_unrelated(self, tables: list[Table]) -> None:
        names = {table.name.lower() for table in tables}
        for table in (self._settings(), self._versions(), self._empty()):
            if self.rng.random() < 0.4 and table.name.lower() not in names:
                tables.append(table)

    def _settings(self) -> Table:
        count = self.rng.randint(5, 30)
        key = Column("name", [], "code", values=[f"option.{n}.enabled" for n in range(count)])
        value = Column("value", [], "attribute")
        value.values = [str(self.rng.randint(0, 60)) for _ in range(count)]
        return Table(_NO_ENTITY, "settings", "s", [key, value], [key], rows=count)

    def _versions(self) -> Table:
        count = self.rng.randint(3, 40)
        key = Column("version", [], "surrogate", "BIGINT")
        key.values = [20_190_101_000_000 + n * 30_000_000 for n in range(count)]
        moment = Column("applied_at", [], "attribute", "TIMESTAMP")
        start = datetime.datetime(2019, 1, 1)
        moment.values = [start + datetime.timedelta(hours=n * 191) for n in range(count)]
        return Table(_NO_ENTITY, "schema_migrations", "m", [key, moment], [key], rows=count)

    def _empty(self) -> Table:
        key = Column("id", [], "surrogate", "INTEGER")
        note = Column("payload", [], "attribute")
        return Table(_NO_ENTITY, "import_queue", "q", [key, note], [key])
