"""Whatever rows break a key on a night, the others load as if these weren't there."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.modeling.logical import LogicalModel, Technique
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.base import Table
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.techniques import transform_plan
from tests.examples import dear_property
from tests.transform.databases import database, loaded
from tests.transform.test_quarantine import TECHNIQUES, Shop, set_apart

Row = tuple[object, ...]
Tables = Mapping[str, Sequence[Row]]

_COLUMNS = {
    "customer": "id INTEGER, name VARCHAR, city VARCHAR",
    "orders": "id INTEGER, customer_id INTEGER, placed DATE, total INTEGER",
    "line": "order_id INTEGER, pos INTEGER, what VARCHAR, price INTEGER",
}
_KEYS = {"customer": ("id",), "orders": ("id",), "line": ("order_id", "pos")}
_FIRST: Tables = {
    "customer": [(i, f"name {i}", f"city {i % 7}") for i in range(1, 31)],
    "orders": [(i, 1 + i % 30, date(2024, 1, 1 + i % 28), i * 3) for i in range(1, 61)],
    "line": [(1 + i // 2, 1 + i % 2, f"thing {i % 30}", i * 2) for i in range(120)],
}
_STRANGE: Mapping[str, Row] = {
    "customer": ("another", "elsewhere"),
    "orders": (3, date(2024, 2, 29), 777),
    "line": ("something", 999),
}
"""What a row has beside its key when it's another one."""


@dataclass(frozen=True)
class _Change:
    """What becomes of one row of a table on a night, by its place among the first ones.

    What is bad is so on that night alone: a row lacks a part of its key, is there again, or with
    another one of its key.
    """

    table: str
    place: int
    kind: str


_CHANGES = st.builds(
    _Change,
    st.sampled_from(sorted(_COLUMNS)),
    st.integers(0, 8),
    st.sampled_from(["null", "again", "twin", "changed", "gone", "back", "new", "new twin"]),
)


@dataclass
class _Source:
    """The rows of a source as they'd be without bad ones, and what was loaded of them last."""

    rows: dict[str, dict[Row, Row]]
    loaded: dict[str, dict[Row, Row]]

    def night(self, changes: Sequence[_Change]) -> "_Night":
        """Change the rows, and say what arrives, and what an untroubled source would have."""
        bad: dict[str, list[Row]] = {table: [] for table in _COLUMNS}
        held: dict[str, set[Row]] = {table: set() for table in _COLUMNS}
        apart: dict[str, Counter[str]] = {table: Counter() for table in _COLUMNS}
        for change in dict.fromkeys(changes):
            self._change(change)
        for change in dict.fromkeys(changes):
            table, names = change.table, _KEYS[change.table]
            key = self._key(change)
            if change.kind == "null":
                bad[table].append((*key[:-1], None, *_STRANGE[table]))
                apart[table][f"NULL {names[-1]}"] += 1
            elif change.kind in {"twin", "new twin"} and key in self.rows[table]:
                held[table].add(key)
            elif change.kind == "again" and key in self.rows[table]:
                bad[table].append(self.rows[table][key])
        return self._arriving(bad, held, apart)

    def _change(self, change: _Change) -> None:
        rows, key = self.rows[change.table], self._key(change)
        if change.kind in {"changed", "new", "new twin"}:
            rows[key] = (*key, *_STRANGE[change.table])
        elif change.kind == "gone":
            rows.pop(key, None)
        elif change.kind == "back":
            rows[key] = _FIRST[change.table][change.place]

    def _key(self, change: _Change) -> Row:
        width = len(_KEYS[change.table])
        if change.kind.startswith("new"):
            return (*(500 + change.place,), *((1,) if width > 1 else ()))
        return _FIRST[change.table][change.place][:width]

    def _arriving(
        self,
        bad: Mapping[str, list[Row]],
        held: Mapping[str, set[Row]],
        apart: Mapping[str, Counter[str]],
    ) -> "_Night":
        arriving, untroubled = {}, {}
        for table, rows in self.rows.items():
            width = len(_KEYS[table])
            others = Counter(row for row in bad[table] if None not in row[:width])
            rule = f"repeated {', '.join(_KEYS[table])}"
            twins = [(*key, *_STRANGE[table][:-1], 31337) for key in held[table]]
            if table == "customer":
                twins = [(*key, "twin", "nowhere") for key in held[table]]
            apart[table][rule] = 2 * len(twins) + sum(
                n for row, n in others.items() if row[:width] in held[table]
            )
            apart[table]["the same row again"] = sum(
                n for row, n in others.items() if row[:width] not in held[table]
            )
            arriving[table] = [*rows.values(), *bad[table], *twins]
            as_before = {k: v for k, v in self.loaded[table].items() if k in held[table]}
            sound = {k: v for k, v in rows.items() if k not in held[table]}
            self.loaded[table] = {**sound, **as_before}
            untroubled[table] = list(self.loaded[table].values())
        found = {table: {r: n for r, n in apart[table].items() if n} for table in apart}
        return _Night(arriving, untroubled, held, {t: r for t, r in found.items() if r})


@dataclass(frozen=True)
class _Night:
    """What arrives, what would arrive without bad rows, and which keys are held, for which rule.

    Without bad rows, a key that is held has the row that was loaded of it last, if any.
    """

    arriving: Tables
    untroubled: Tables
    held: Mapping[str, set[Row]]
    apart: Mapping[str, Mapping[str, int]]


def _statements(tables: Tables, place: str = "shop.") -> list[str]:
    made = []
    for table, rows in tables.items():
        values = ", ".join(f"({', '.join(map(_value, row))})" for row in rows)
        made += [f"DELETE FROM {place}{table}", f"INSERT INTO {place}{table} VALUES {values}"]
    return made


def _value(value: object) -> str:
    return "NULL" if value is None else literal(str(value))


_MADE = (
    *(f"CREATE TABLE {table} ({columns})" for table, columns in _COLUMNS.items()),
    *_statements(_FIRST, ""),
)


@cache
def _modelled(technique: Technique) -> tuple[LogicalModel, Sequence[Table]]:
    with TemporaryDirectory() as folder:
        file = database(Path(folder) / "shop.duckdb", *_MADE)
        with open_source(file) as source:
            return build_model(profile_source(source), technique), source.tables


@contextmanager
def _first_load(folder: Path, technique: Technique) -> Iterator[Shop]:
    """A model that was loaded once; the first rows are profiled once in a run."""
    model, tables = _modelled(technique)
    file = database(folder / "shop.duckdb", *_MADE)
    with loaded(file, tables, transform_plan(model)) as built:
        yield Shop(model, built)


def _rows(found: Shop, night: _Night) -> dict[str, Counter[Row]]:
    """The rows of each relation; of those that are made of today's rows, the keys not held."""
    rows = {}
    for build in found.built.plan.published:
        if build.layer == "quarantine":
            continue
        columns = [column.name for column in build.columns]
        is_todays = build.materialization != "incremental" and not build.name.startswith("dim_")
        where = " AND ".join(_not_held(columns, night)) if is_todays else ""
        rows[build.name] = Counter(
            found.rows(
                f"SELECT {', '.join(columns)} FROM model.{build.name} WHERE {where or 'TRUE'}"
            )
        )
    return rows


def _not_held(columns: Sequence[str], night: _Night) -> list[str]:
    """The conditions that a row of a flat table or a fact is of no key that is held."""
    held = night.held
    if "order_id" in columns:
        lines, orders = held["line"], [key for (key,) in held["orders"]]
        conditions = [f"NOT (order_id = {a} AND pos = {b})" for a, b in lines]
        return [*conditions, *(f"order_id <> {key}" for key in orders)]
    table = "orders" if "placed" in columns or "total" in columns else "customer"
    return [f"id <> {key}" for (key,) in held[table]]


@pytest.mark.parametrize("technique", TECHNIQUES)
@dear_property
@given(nights=st.lists(st.lists(_CHANGES, max_size=8), min_size=1, max_size=4))
def test_good_rows_load_as_if_the_bad_ones_were_not_there(
    tmp_path_factory: pytest.TempPathFactory,
    technique: Technique,
    nights: list[list[_Change]],
) -> None:
    """Each row is loaded or in quarantine, and histories of keys in quarantine stay unchanged."""
    keyed = {
        table: {row[: len(_KEYS[table])]: row for row in rows} for table, rows in _FIRST.items()
    }
    source = _Source(
        {table: dict(rows) for table, rows in keyed.items()},
        {table: dict(rows) for table, rows in keyed.items()},
    )
    with (
        _first_load(tmp_path_factory.mktemp("troubled"), technique) as troubled,
        _first_load(tmp_path_factory.mktemp("untroubled"), technique) as untroubled,
    ):
        for changes in nights:
            night = source.night(changes)
            proof = troubled.load(*_statements(night.arriving))
            assert untroubled.load(*_statements(night.untroubled)).verdict == "proven"
            # The rows that the model has and those in quarantine are together those that arrived.
            assert proof.verdict == "proven", proof.reason
            assert set_apart(proof) == night.apart
            assert _rows(troubled, night) == _rows(untroubled, night)
