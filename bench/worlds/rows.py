"""Rows of a made-up database: keys first, then references to them, then attributes."""

import datetime
import random
from collections.abc import Callable

from bench.worlds.habits import Habits
from bench.worlds.tables import Column, Link, Table
from bench.worlds.values import attribute_values, codes, counter_values, surrogates

_MOST_ROWS = 20_000
_MOST_WIDE_ROWS = 3_000
_MOST_LANGUAGES = 6
_SIZES = {
    "lookup": (3, 24), "master": (30, 500), "event": (150, 2500),
    "dimension": (8, 400), "fact": (400, 5000),
}  # fmt: skip
_FIXED = "lookup"
Values = tuple[object, ...]
Picker = Callable[[Values], int]


class Filler:
    """Fills the tables of one database."""

    def __init__(self, rng: random.Random, habits: Habits) -> None:
        self.rng = rng
        self.habits = habits
        self._next_start = 1000

    def fill(self, tables: list[Table]) -> None:
        """Fill tables, given in an order in which the identifying parents come first."""
        for table in tables:
            self._fill_key(table)
        for table in tables:
            for link in table.links:
                if not link.parent_rows and link.via is None:
                    self._fill_link(table, link)
        for table in tables:
            for link in table.links:
                if link.via:
                    self._copy_link(link)
            for column in table.columns:
                self._fill_attribute(table, column)
        if self.habits.has_copied_names:
            self._copy_names(tables)

    # Keys

    def _fill_key(self, table: Table) -> None:
        if table.identifying or table.counters:
            self._combine(table)
        else:
            table.rows = self._size(table)
            if table.tenant:
                self._fill_link(table, self._tenant_link(table))
        for column in table.columns:
            if column.content == "validity":
                column.type, column.values = counter_values(self.rng, "date", [table.rows])
            elif column.content == "authority":
                names = codes(self.rng, "source", 3, lookup=False)
                column.values = self.rng.choices(names, (6, 3, 1), k=table.rows)
            elif column in table.key[1:] and column.content in {"surrogate", "code"}:
                self._number_by_company(table, column)
            elif column.content == "surrogate":
                self._fill_surrogate(table, column)
            elif column.content == "calendar":
                self._fill_calendar(table, column)
            elif column.content == "code":
                is_lookup = table.entity.kind == "lookup"
                column.values = codes(self.rng, table.entity.name, table.rows, is_lookup)

    def _number_by_company(self, table: Table, column: Column) -> None:
        """Number the rows of each company from the start again."""
        numbers: dict[object, int] = {}
        first, width = self.rng.choice((1, 1, 100, 1000)), len(str(table.rows)) + 3
        column.type = "VARCHAR" if column.content == "code" else self.habits.integer
        for row in range(table.rows):
            company = table.key[0].values[row]
            number = numbers[company] = numbers.get(company, first - 1) + 1
            text = f"{number:0{width}d}" if column.content == "code" else number
            column.values.append(text)

    def _fill_surrogate(self, table: Table, column: Column) -> None:
        habit = self.habits.surrogates
        if table.entity.kind == "lookup" and habit != "uuid" and self.rng.random() < 0.6:
            habit = "dense"
        column.type = "VARCHAR" if habit == "uuid" else self.habits.integer
        column.values = surrogates(self.rng, habit, self._next_start, table.rows)
        self._next_start += (table.rows // 1000 + 1) * 1000

    def _fill_calendar(self, table: Table, column: Column) -> None:
        """Fill the key of a date dimension: the date as a number, or a sequence."""
        first = datetime.date(self.rng.randint(2008, 2020), 1, 1)
        days = [first + datetime.timedelta(days=row) for row in range(table.rows)]
        column.type = "INTEGER"
        if self.rng.random() < 0.65:
            column.values = [10000 * day.year + 100 * day.month + day.day for day in days]
        else:
            column.values = list(range(1, table.rows + 1))
        for other in table.columns:
            part = other.content.rsplit(" ", 1)[-1]
            if other.content.startswith("calendar "):
                other.type = "DATE" if part == "date" else "INTEGER"
                other.values = [day if part == "date" else getattr(day, part) for day in days]

    def _size(self, table: Table) -> int:
        if table.entity.kind == "calendar":
            return self.rng.randint(365, 1500)
        low, high = _SIZES[table.entity.kind]
        size = self.rng.uniform(low, high)
        if table.entity.name == self.habits.scope:
            return self.habits.companies
        if table.entity.kind == _FIXED:
            return round(size) * (6 if self.rng.random() < 0.08 else 1)
        if self.rng.random() < 0.03:
            size *= 6
        return int(min(_MOST_ROWS, max(3, size * self.habits.scale)))

    def _combine(self, table: Table) -> None:
        """Draw distinct combinations of the identifying parents' rows and the counters."""
        heads = self._heads(table)
        most = _MOST_WIDE_ROWS if table.entity.kind == "wide" else _MOST_ROWS
        mean = self.rng.choice((1.6, 2.5, 4, 7)) if table.counters else 1
        if not table.identifying:
            mean = 15
        elif "counter code" in {column.content for column in table.counters}:
            mean = self.rng.choice((3, 5, 8))
        mean = min(mean, most / max(1, len(heads)))
        is_subtype = not table.counters
        runs = [1 if is_subtype else 1 + int(self.rng.expovariate(1 / mean)) for _ in heads]
        if "counter language" in {column.content for column in table.counters}:
            runs = [min(run, _MOST_LANGUAGES) for run in runs]
        rows = [head for head, run in zip(heads, runs, strict=True) for _ in range(run)]
        table.rows = len(rows)
        for place, column in enumerate(table.counters):
            counter = column.content.split()[1]
            if place:
                column.type, column.values = "INTEGER", [1] * table.rows
            else:
                column.type, column.values = counter_values(self.rng, counter, runs)
        for place, link in enumerate(table.identifying):
            self._set_link(table, link, [head[place] for head in rows])
        tenant = self._tenant_link(table) if table.tenant else None
        if tenant and not tenant.parent_rows:
            owner = table.identifying[0].parent if table.identifying else None
            if owner and owner.tenant:
                owners = self._tenant_link(owner).parent_rows
                self._set_link(table, tenant, [owners[head[0]] for head in rows])
            else:
                self._fill_link(table, tenant)
        if len(table.counters) > 1:
            self._repeat_some(table)

    def _repeat_some(self, table: Table) -> None:
        """Give one row in eight a twin that only the last counter tells apart."""
        twins = [row for row in range(table.rows) if self.rng.random() < 0.125]
        for column in {id(c): c for c in self._filled(table)}.values():
            column.values = column.values + [column.values[row] for row in twins]
        for link in table.links:
            if link.parent_rows:
                link.parent_rows = link.parent_rows + [link.parent_rows[row] for row in twins]
        last = table.counters[-1]
        last.values[table.rows :] = [2] * len(twins)
        table.rows += len(twins)

    @staticmethod
    def _filled(table: Table) -> list[Column]:
        return [column for column in table.columns if column.values]

    def _heads(self, table: Table) -> list[tuple[int, ...]]:
        """Return distinct combinations of the identifying parents' rows."""
        links = table.identifying
        if not links:
            return [()]
        if not all(link.parent.rows for link in links):
            return []
        first = links[0].parent
        if len(links) == 1:
            covered = max(1, int(first.rows * self._coverage()))
            if table.entity.kind == "is":
                covered = max(1, int(first.rows * self.rng.uniform(0.1, 0.8)))
            covered = min(covered, _MOST_ROWS // 2)
            return [(row,) for row in sorted(self.rng.sample(range(first.rows), covered))]
        mean = self.rng.choice((1.5, 2.5, 5))
        target = int(min(_MOST_WIDE_ROWS * 2, max(3, first.rows * mean)))
        pickers = [self._company_picker(link.parent) for link in links]
        heads: dict[tuple[int, ...], None] = {}
        for _ in range(3 * target):
            if len(heads) >= target:
                break
            head = [self.rng.randrange(first.rows)]
            company = self._company(first, head[0])
            for picker in pickers[1:]:
                head.append(picker(company))
            if min(head) >= 0:
                heads[tuple(head)] = None
        return sorted(heads)

    def _company(self, table: Table, row: int) -> object:
        return self._tenant_link(table).parent_rows[row] if table.tenant else None

    @staticmethod
    def _tenant_link(table: Table) -> Link:
        return next(link for link in table.links if link.columns == [table.tenant])

    # References

    def _coverage(self) -> float:
        return 1.0 if self.rng.random() < 0.5 else self.rng.uniform(0.3, 0.97)

    def _company_picker(self, parent: Table) -> Callable[[object], int]:
        """Return a function that draws a parent's row of a company."""
        skew = self.rng.choice((1, 1, 1.5, 2.5))
        pools: dict[object, list[int]] = {}
        for row in range(parent.rows):
            pools.setdefault(self._company(parent, row), []).append(row)

        def pick(company: object) -> int:
            rows = pools.get(company if parent.tenant else None, [])
            return rows[int(len(rows) * self.rng.random() ** skew)] if rows else -1

        return pick

    def _picker(self, link: Link) -> Picker:
        """Return a function that draws a parent's row, some far more often than others.

        It takes the values of the link's columns that are already filled: of a company, a year.
        """
        parent = link.parent
        pool = list(range(parent.rows))
        self.rng.shuffle(pool)
        pool = pool[: max(1, int(len(pool) * self._coverage()))]
        skew = self.rng.choice((1, 1, 1.5, 2.5))
        shared = [
            key.values
            for column, key in zip(link.columns, link.parent_columns, strict=True)
            if column.values
        ]
        pools: dict[Values, list[int]] = {}
        for row in pool:
            pools.setdefault(tuple(values[row] for values in shared), []).append(row)

        def pick(values: Values) -> int:
            rows = pools.get(values, [])
            return rows[int(len(rows) * self.rng.random() ** skew)] if rows else -1

        return pick

    def _fill_link(self, table: Table, link: Link) -> None:
        if link.parent is table:
            rows = self._earlier_rows(table, link)
        elif link.parent.rows:
            pick = self._picker(link)
            empty = self.rng.uniform(0.03, 0.7) if link.is_optional else 0.0
            if link.is_optional and self.rng.random() < 0.25:
                empty = 0.0
            shared = [column for column in link.columns if column.values]
            rows = []
            for row in range(table.rows):
                values = tuple(column.values[row] for column in shared)
                chosen = pick(values) if self.rng.random() >= empty else -1
                rows.append(chosen if chosen >= 0 else None)
        else:
            rows = [None] * table.rows
        if not any(column in table.counters for column in link.columns):
            self._repeat_roles(table, link, rows)
        self._set_link(table, link, rows)

    def _earlier_rows(self, table: Table, link: Link) -> list[int | None]:
        """Refer to rows that come before, as managers and predecessors do."""
        wide = self.rng.random() < 0.5
        rows: list[int | None] = []
        for row in range(table.rows):
            roots = max(1, min(row, table.rows // 8)) if wide else row
            choice = self.rng.randrange(roots) if row and self.rng.random() < 0.85 else None
            if choice is not None and table.tenant and link.columns[0] is table.tenant:
                same = self._company(table, choice) == self._company(table, row)
                choice = choice if same else None
            rows.append(choice)
        return rows

    def _repeat_roles(self, table: Table, link: Link, rows: list[int | None]) -> None:
        """Let two roles of one parent often mean the same row: bill to and ship to."""
        for other in table.links:
            if other is link or other.parent is not link.parent or not other.parent_rows:
                continue
            if link.columns[0] is not table.tenant and self.rng.random() < 0.5:
                for row in range(table.rows):
                    if rows[row] is not None and self.rng.random() < 0.5:
                        repeated = other.parent_rows[row]
                        rows[row] = rows[row] if repeated is None else repeated

    def _set_link(self, table: Table, link: Link, rows: list[int | None]) -> None:
        link.parent_rows = rows
        for column, key in zip(link.columns, link.parent_columns, strict=True):
            if (column.values and column is table.tenant) or column in table.counters:
                continue
            column.type = key.type
            column.values = [None if row is None else key.values[row] for row in rows]

    def _copy_link(self, link: Link) -> None:
        assert link.via
        through, above = link.via
        rows = [None if row is None else above.parent_rows[row] for row in through.parent_rows]
        key, column = link.parent_columns[0], link.columns[0]
        link.parent_rows, column.type = rows, key.type
        column.values = [None if row is None else key.values[row] for row in rows]

    # Attributes

    def _fill_attribute(self, table: Table, column: Column) -> None:
        if column.content == "dangling":
            top = self.rng.choice((8, 40, 300))
            column.type = self.habits.integer
            column.values = [self.rng.randint(1, top) for _ in range(table.rows)]
        elif column.content.startswith("attribute"):
            attribute = column.content.split()[1]
            language = self.habits.style.language
            column.type, column.values = attribute_values(self.rng, attribute, language, table.rows)
            if attribute not in {"name", "title"}:
                self._empty_some(column)

    def _empty_some(self, column: Column) -> None:
        draw = self.rng.random()
        if draw < 0.02:
            column.values = [None] * len(column.values)
        elif draw < 0.2:
            share = self.rng.uniform(0.02, 0.6)
            column.values = [None if self.rng.random() < share else v for v in column.values]

    def _copy_names(self, tables: list[Table]) -> None:
        """Copy the name of a parent into some of its children."""
        spots = []
        for table in tables:
            for link in table.links:
                names = [c for c in link.parent.columns if c.content == "attribute name"]
                if names and link.parent is not table:
                    spots.append((table, link, names[0]))
        for table, link, name in self.rng.sample(spots, min(len(spots), 3)):
            style = self.habits.style
            words = [*style.words(link.parent.entity.name), *name.words[-1:]]
            text = style.column(words, table.initials)
            if text.lower() not in table.column_names():
                values = [None if row is None else name.values[row] for row in link.parent_rows]
                table.columns.append(Column(text, words, "copied name", name.type, values))
