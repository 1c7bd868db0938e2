"""A made-up database from its seed, and the files it is written to."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench.worlds.design import Designer
from bench.worlds.dirt import Decay
from bench.worlds.habits import choose_entities, draw_habits
from bench.worlds.hazards import change_tables, draw_hazards
from bench.worlds.rows import Filler
from bench.worlds.star import choose_star
from bench.worlds.tables import BY_MEANING, Column, Link, Table

_LEAST_INCLUSION = 0.9
_TYPES = {
    "VARCHAR": pa.string(), "INTEGER": pa.int32(), "BIGINT": pa.int64(), "DOUBLE": pa.float64(),
    "DECIMAL": pa.decimal128(12, 2), "DATE": pa.date32(), "TIMESTAMP": pa.timestamp("us"),
    "BOOLEAN": pa.bool_(),
}  # fmt: skip
TrueKey = dict[str, object]


@dataclass(frozen=True, slots=True)
class World:
    """A made-up database: its tables, and the features that were drawn for it."""

    name: str
    tables: list[Table]
    features: dict[str, object]

    def truth(self) -> dict[str, object]:
        """Return the true keys in the shape of a corpus' ``truth.json``."""
        return {
            "name": self.name,
            "features": self.features,
            "tables": {
                table.name: {
                    "primary_key": [column.name for column in table.key],
                    "rows": table.rows,
                    "columns": [column.name for column in table.columns],
                    "unique": [[column.name for column in columns] for columns in table.unique],
                }
                for table in self.tables
            },
            "foreign_keys": true_references(_without_one_company(self.tables)),
        }

    def write(self, folder: Path) -> None:
        """Write ``data/*.parquet`` and ``truth.json``."""
        (folder / "data").mkdir(parents=True, exist_ok=True)
        for table in self.tables:
            columns = [pa.array(c.values, _TYPES[c.type]) for c in table.columns]
            arrow = pa.table(columns, names=[column.name for column in table.columns])
            pq.write_table(arrow, folder / "data" / f"{table.name}.parquet", compression="zstd")
        text = json.dumps(self.truth(), indent=1, ensure_ascii=False)
        (folder / "truth.json").write_text(text + "\n", encoding="utf-8")


def make_world(seed: int, number: int, hazards: frozenset[str] | None = None) -> World:
    """Return one of the databases of a seed, the same every time; with its hazards, or these."""
    name = f"{seed}/{number}"
    rng = random.Random(name)
    if hazards is None:
        hazards = draw_hazards(random.Random(f"{name}/hazards"))
    habits = draw_habits(rng, hazards, name)
    entities = choose_star(rng, habits) if habits.shape == "star" else choose_entities(rng, habits)
    tables = Designer(rng, habits).design(entities)
    Filler(rng, habits).fill(tables)
    tables = [table for table in tables if not table.is_absent]
    Decay(rng, habits).apply(tables)
    tables = change_tables(tables, habits.style, habits.hazards, name)
    return World(f"world_{seed}_{number:03d}", tables, habits.features())


def _without_one_company(tables: list[Table]) -> list[Table]:
    """Where a parent has one company, declare references without it: data can't show more."""
    result: list[Table] = []
    for table in tables:
        links: list[Link] = []
        for link in table.links:
            members = [
                (child, parent)
                for child, parent in zip(link.columns, link.parent_columns, strict=True)
                if child is not table.tenant or len(set(parent.values)) > 1
            ]
            if 0 < len(members) < len(link.columns):
                links.append(replace(link, kind=BY_MEANING))
                link = replace(
                    link,
                    columns=[child for child, _ in members],
                    parent_columns=[parent for _, parent in members],
                )
            links.append(link)
        result.append(replace(table, links=links))
    return result


def true_references(tables: list[Table]) -> list[TrueKey]:
    """Return the references that a careful designer declares, then those that follow from them.

    A reference that follows is part of a composite one, or leads on from a parent's key to what
    that refers to. It is true by meaning, and counts neither way.
    """
    keys: dict[tuple[object, ...], TrueKey] = {}
    follow: list[tuple[Table, Link]] = []
    for table in tables:
        for link in table.links:
            follow += [(table, above) for above in _following(link, depth=0)]
    implied = {_identity(table, link) for table, link in follow}
    for table in tables:
        for link in table.links:
            if link.parent.is_absent or not link.parent_columns:
                continue
            identity = _identity(table, link)
            kind = BY_MEANING if identity in implied else link.kind
            keys.setdefault(identity, _described(table, link, kind))
    for table, link in follow:
        if not link.parent.is_absent:
            keys.setdefault(_identity(table, link), _described(table, link, BY_MEANING))
    return list(keys.values())


def _following(link: Link, depth: int) -> Iterator[Link]:
    """Yield what follows for a child from what its parent's key refers to."""
    mapped = dict(zip(map(id, link.parent_columns), link.columns, strict=True))
    for above in link.parent.links:
        if depth < 6 and above is not link and all(id(c) in mapped for c in above.columns):
            columns = [mapped[id(column)] for column in above.columns]
            follows = Link(columns, above.parent, above.parent_columns, kind=above.kind)
            yield follows
            yield from _following(follows, depth + 1)


def _identity(table: Table, link: Link) -> tuple[object, ...]:
    columns = zip(link.columns, link.parent_columns, strict=True)
    pairs = sorted((child.name, parent.name) for child, parent in columns)
    return (table.name, link.parent.name, *pairs)


def _described(table: Table, link: Link, kind: str) -> TrueKey:
    distinct, inclusion = _inclusion(link.columns, link.parent_columns, link.none)
    return {
        "from_table": table.name,
        "from_columns": [column.name for column in link.columns],
        "to_table": link.parent.name,
        "to_columns": [column.name for column in link.parent_columns],
        "kind": kind,
        "nature": link.nature if len(link.columns) == 1 else f"composite, {link.nature}",
        "distinct_child_values": distinct,
        "inclusion": inclusion,
        "supported": kind != BY_MEANING and distinct > 0 and inclusion >= _LEAST_INCLUSION,
    }


def _inclusion(child: list[Column], parent: list[Column], none: object) -> tuple[int, float]:
    """Return the distinct values of a reference and the share of them that the parent has.

    Rows that have the value for none refer to nothing.
    """
    rows = set(zip(*map(_as_text, child), strict=True))
    values = {row for row in rows if None not in row and row != (str(none),)}
    known = set(zip(*map(_as_text, parent), strict=True))
    return len(values), round(len(values & known) / len(values), 4) if values else 0.0


def _as_text(column: Column) -> Iterator[str | None]:
    """Return values as text, since digits may be a number in one table and a text in another."""
    return (None if value is None else str(value) for value in column.values)
