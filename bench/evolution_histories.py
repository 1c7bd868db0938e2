"""Databases that live for sixty nights, loaded each night, and counted again in the end.

    python -m bench.evolution_histories --out results.jsonl [--nights N] [--only NAME ...]

Each database is drawn by a seed (``bench/drawn_sources.py``), and some are small ones of a corpus.
Rows change every night, and the structure about every fifth. ``fluid apply`` loads the nights of
the latter, ``dbt build`` alone the others, as a scheduler does; both start from warm processes.
A database has a vault or a star, in turn.

What each night's source held is kept beside it, as plain tables. With SQL of the bench's own, all
of this is compared with them:

- as of each night, each satellite, code list, table without a key and history of a dimension says
  what the source said, and so do the versions of a dimension by their validity;
- each night added versions only of keys that were new, gone or changed;
- hubs and links have every key and every pair that ever was, and no others;
- facts, dimensions and snapshots have the rows of today and of their day;
- each load's rows are still there, and each relation with its columns in their order: nothing
  was ever designed or built anew.

A database that is in the file of results already isn't run again, so the bench can be continued.
The exit code is 1 where anything is wrong.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from bench.drawn_sources import Source, change_structure, draw, from_files, spend_a_night
from bench.warm_processes import WarmProcesses, warm_processes
from fluid_build.sources.sql import literal, quote

_CORPUS = Path(__file__).parent.parent.parent / "shared" / "corpus"
_OF_CORPUS = ("jaffle_shop", "car_dealership", "derm_treatment", "world")
_DATABASES = 20
_TECHNIQUES = ("dv2", "dimensional")
_FIRST_NIGHT = datetime(2026, 1, 1, 2)
_BEFORE_ANY_LOAD = "TIMESTAMP '1901-01-02'"
_STRUCTURE_EVERY = 5
_CHECKED_EVERY = 10
_MOST_SAID = 40
"""Lines of a database that went wrong: more say the same."""


def moment(night: int) -> str:
    """Return when a night is loaded, as SQL."""
    return f"TIMESTAMP '{_FIRST_NIGHT + timedelta(days=night)}'"


@dataclass
class Reference:
    """What the source held each night: a table ``nNN_table`` for each, by the model's names.

    ``columns`` are those of each night's tables.
    """

    path: Path
    columns: list[dict[str, tuple[str, ...]]] = field(default_factory=list)

    def keep(self, source: Source) -> None:
        """Copy what the source holds now."""
        night = len(self.columns)
        with duckdb.connect(str(self.path)) as connection:
            connection.execute(f"ATTACH {literal(str(source.path))} AS source (READ_ONLY)")
            for table in source.tables.values():
                selected = ", ".join(
                    f"{quote(each.name)} AS {quote(each.was)}" for each in table.columns
                )
                connection.execute(
                    f"CREATE TABLE {self.table(night, table.name, '')} AS"
                    f" SELECT {selected} FROM source.{quote(table.name)}"
                )
        self.columns.append(
            {
                table.name: tuple(each.was for each in table.columns)
                for table in source.tables.values()
            }
        )

    def table(self, night: int, name: str, schema: str = "kept.") -> str:
        """Return a night's table, as SQL."""
        return schema + quote(f"n{night:02}_{name}")

    def knows(self, night: int, table: str, columns: Sequence[str]) -> bool:
        """Whether a night's source had a table, and all of these columns of it."""
        return set(columns) <= set(self.columns[night].get(table, ())) and (
            table in self.columns[night]
        )


@dataclass(frozen=True)
class Told:
    """A relation with a history, and what it tells of a table.

    ``columns`` has the SQL of each column in the relation (``told``), and the name of the one that
    the source has. ``key`` are those that tell its rows apart, ``partition`` the SQL of the
    relation's own columns that do. ``joins`` lead from ``told`` to hubs. ``required`` have to be
    filled for a row to be told, and ``counted`` is the column of how often rows are there.
    """

    name: str
    table: str
    partition: tuple[str, ...]
    key: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, str], ...]
    joins: str = ""
    required: tuple[str, ...] = ()
    counted: str = ""
    distinct: bool = False


@dataclass(frozen=True)
class Warehouse:
    """What was built, opened beside what the source held."""

    connection: duckdb.DuckDBPyConnection
    model: Mapping[str, Any]
    relations: Mapping[str, Mapping[str, str]]
    names: Mapping[tuple[str, str], str]
    kept: Reference

    def named(self, rows: str, table: str, column: str) -> str:
        """Return a source's column as SQL, with its name in what is built."""
        return f"{rows}.{quote(self.names[table, column])}"

    def keys(self, hub: Mapping[str, Any]) -> list[str]:
        """Return the names of a hub's business key."""
        return [self.names[hub["entity_name"], each] for each in hub["business_key_columns"]]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self.connection.execute(sql).fetchall()

    def differences(self, said: str, meant: str) -> str:
        """Return how two queries differ, "" where they don't."""
        more = self.rows(f"({said}) EXCEPT ALL ({meant})")
        less = self.rows(f"({meant}) EXCEPT ALL ({said})")
        if not more and not less:
            return ""
        return (
            f"{len(more)} rows too many, {len(less)} missing,"
            f" such as {(more or [None])[0]} and {(less or [None])[0]}"
        )

    def meant(self, relation: str, columns: Iterable[tuple[str, str]]) -> str:
        """Return columns of the source as SQL, in the types that they have in a relation."""
        types = self.relations[relation]
        return ", ".join(f"CAST({quote(source)} AS {types[built]})" for built, source in columns)


def opened(folder: Path, kept: Reference) -> Warehouse:
    """Open the warehouse of a folder, and the reference."""
    (file,) = (folder / "dbt").glob("*.duckdb")
    connection = duckdb.connect()
    connection.execute(f"ATTACH {literal(str(file))} AS built (READ_ONLY)")
    connection.execute(f"ATTACH {literal(str(kept.path))} AS kept (READ_ONLY)")
    connection.execute("USE built")
    relations: dict[str, dict[str, str]] = {}
    for table, column, type_ in connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() JOIN duckdb_tables()"
        " USING (database_name, schema_name, table_name) WHERE database_name = 'built'"
        " ORDER BY table_name, column_index"
    ).fetchall():
        relations.setdefault(table, {})[column] = type_
    model, plan = (
        json.loads((folder / name).read_text(encoding="utf-8"))
        for name in ("model.json", "plan.json")
    )
    names: dict[tuple[str, str], str] = {}
    for build in plan["builds"]:
        for column in build["columns"] if build["layer"] == "staging" else ():
            # A table's own columns come first, before the hashes of them.
            for each in column.get("source_columns", ()):
                names.setdefault((each["table"], each["column"]), column["name"])
    return Warehouse(connection, model, relations, names, kept)


def told_by_vault(warehouse: Warehouse) -> Iterator[Told]:
    """Return the relations of a vault that have a history."""
    vault = warehouse.model["dv2"]
    hubs = {hub["name"]: hub for hub in vault["hubs"]}
    for satellite in vault["satellites"]:
        if told := _of_satellite(warehouse, satellite, hubs):
            yield told
    for table in vault["reference_tables"]:
        key, columns = (
            [(warehouse.named("told", table["table"], each), each) for each in table[part]]
            for part in ("key_columns", "columns")
        )
        partition = tuple(built for built, _ in key)
        yield Told(table["name"], table["table"], partition, tuple(key), tuple(columns))
    for link in vault["links"]:
        if link["of_rows"]:
            yield _of_rows(warehouse, link, hubs)
    for table in vault["keyless_tables"]:
        yield _of_rows(warehouse, {"hubs": (), **table}, hubs)


def _of_satellite(
    warehouse: Warehouse, satellite: Mapping[str, Any], hubs: Mapping[str, Mapping[str, Any]]
) -> Told | None:
    """Return what a satellite tells; None where its table has no key of the hub."""
    table, hash_key = satellite["table"], quote(satellite["hash_key"])
    joins, rows, link = "", "told", {}
    references = [satellite.get("via")]
    if satellite["parent"] not in hubs:
        links = warehouse.model["dv2"]["links"]
        link = next(each for each in links if each["name"] == satellite["parent"])
        references, rows = link["hubs"], "link"
        joins = f" JOIN {quote(link['name'])} AS link ON link.{hash_key} = told.{hash_key}"
    if any(reference.get("lookup") for reference in references):
        return None
    key, required, joined = _to_hubs(warehouse, rows, references, hubs)
    key += [(warehouse.named("link", table, c), c) for c in link.get("dependent_child_keys", ())]
    parts = [(warehouse.named("told", table, c), c) for c in satellite["multi_active_keys"]]
    return Told(
        satellite["name"],
        table,
        (f"told.{hash_key}", *(built for built, _ in parts)),
        (*key, *parts),
        tuple((warehouse.named("told", table, c), c) for c in satellite["columns"]),
        joins + joined,
        tuple(required),
        distinct=satellite["kind"] == "effectivity",
    )


def _of_rows(
    warehouse: Warehouse, relation: Mapping[str, Any], hubs: Mapping[str, Mapping[str, Any]]
) -> Told:
    """Return a relation that holds rows without a key, each with how often it's there."""
    key, required, joins = _to_hubs(warehouse, "told", relation["hubs"], hubs)
    (row_hash, *_) = warehouse.relations[relation["name"]]
    return Told(
        relation["name"],
        relation["table"],
        (f"told.{quote(row_hash)}",),
        (),
        (*key, *((warehouse.named("told", relation["table"], c), c) for c in relation["columns"])),
        joins,
        tuple(required),
        counted="multiplicity",
    )


def _to_hubs(
    warehouse: Warehouse,
    rows: str,
    references: Sequence[Mapping[str, Any]],
    hubs: Mapping[str, Mapping[str, Any]],
) -> tuple[list[tuple[str, str]], list[str], str]:
    """Return the keys of hubs that rows lead to, each with its column, and the joins to them.

    In between are the columns that have to be filled.
    """
    key, required, joins = [], [], ""
    for number, reference in enumerate(references):
        hub = hubs[reference["hub"]]
        joins += (
            f" JOIN {quote(hub['name'])} AS hub{number} ON hub{number}.{quote(hub['hash_key'])}"
            f" = {rows}.{quote(reference['hash_key'])}"
        )
        built = [f"hub{number}.{quote(each)}" for each in warehouse.keys(hub)]
        key += zip(built, reference["columns"], strict=True)
        required += [] if reference["optional"] else reference["columns"]
    return key, required, joins


def told_by_star(warehouse: Warehouse) -> Iterator[Told]:
    """Return the histories of a star's dimensions."""
    for dimension in warehouse.model["dimensional"]["dimensions"]:
        if dimension.get("history"):
            table, key = dimension["entity_name"], dimension["natural_key_columns"]
            versioned = [
                each["attribute"]
                for each in dimension["attributes"]
                if not each["source"] and each["scd_type"] == 2 and each["attribute"]
            ]
            parts = [(warehouse.named("told", table, c), c) for c in key]
            yield Told(
                dimension["history"],
                table,
                tuple(built for built, _ in parts),
                tuple(parts),
                tuple((warehouse.named("told", table, c), c) for c in versioned),
            )


def wrong_in_history(warehouse: Warehouse, told: Told, nights: Sequence[int]) -> Iterator[str]:
    """Yield where a relation doesn't say what the source said, or has versions that nobody made."""
    if told.name not in warehouse.relations:
        yield f"{told.name} isn't there"
        return
    ((first,),) = warehouse.rows(
        f"SELECT MIN(load_date) FROM {quote(told.name)} WHERE load_date > {_BEFORE_ANY_LOAD}"
    )
    if first is None:
        return
    keys = [source for _, source in told.key]
    for night in nights:
        if _FIRST_NIGHT + timedelta(days=night) < first:
            continue
        if not warehouse.kept.knows(night, told.table, keys):
            continue
        columns = [
            (built, source)
            for built, source in (*told.key, *told.columns)
            if warehouse.kept.knows(night, told.table, [source])
        ]
        said, meant = _as_of(warehouse, told, columns, night)
        if wrong := warehouse.differences(said, meant):
            yield f"{told.name} as of night {night}: {wrong}"
        yield from _false_versions(warehouse, told, night, first)


def _as_of(
    warehouse: Warehouse,
    told: Told,
    columns: Sequence[tuple[str, str]],
    night: int,
) -> tuple[str, str]:
    """Return what a relation says as of a night, and what the source said, as queries."""
    of_key = ", ".join(told.partition)
    said = ", ".join(built for built, _ in columns)
    meant = ", ".join(_typed(warehouse, told, built, source) for built, source in columns)
    filled = " AND ".join(f"{quote(name)} IS NOT NULL" for name in told.required) or "TRUE"
    repeated = f", SUM(told.{told.counted})" if told.counted else ""
    grouped = f" GROUP BY {said}" if told.counted else ""
    distinct = "DISTINCT " if told.distinct else ""
    return (
        f"SELECT {said}{repeated} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {of_key}"
        f" ORDER BY load_date DESC) AS age FROM {quote(told.name)} AS told"
        f" WHERE load_date <= {moment(night)} AND load_date > {_BEFORE_ANY_LOAD}) AS told"
        f"{told.joins} WHERE told.age = 1 AND NOT told.is_deleted{grouped}",
        f"SELECT {distinct}{meant}{', COUNT(*)' if told.counted else ''}"
        f" FROM {warehouse.kept.table(night, told.table)} WHERE {filled}"
        + (" GROUP BY ALL" if told.counted else ""),
    )


def _typed(warehouse: Warehouse, told: Told, built: str, source: str) -> str:
    """Return a column of the source in the type that it has in the relation, or in its hub."""
    rows, _, name = built.partition(".")
    if rows != "told":
        return quote(source)
    return warehouse.meant(told.name, [(name.strip('"'), source)])


def _false_versions(warehouse: Warehouse, told: Told, night: int, first: datetime) -> Iterator[str]:
    """Yield where a night has added more or fewer rows than keys have changed."""
    kept, keys = warehouse.kept, [source for _, source in told.key]
    ((added,),) = warehouse.rows(
        f"SELECT COUNT(*) FROM {quote(told.name)} WHERE load_date = {moment(night)}"
    )
    filled = " AND ".join(f"{quote(name)} IS NOT NULL" for name in told.required) or "TRUE"
    is_first = first == _FIRST_NIGHT + timedelta(days=night)
    if not is_first and not (night and kept.knows(night - 1, told.table, keys)):
        return
    nights = (night,) if is_first else (night - 1, night)
    columns = [
        (built, source)
        for built, source in (*told.key, *told.columns)
        if all(kept.knows(each, told.table, [source]) for each in nights)
    ]
    if told.counted and len(columns) < len(told.columns) and not _same(told, kept, nights):
        return  # Without a key, each row ends and begins anew where its columns are others.
    states = [
        f"SELECT {', '.join(_typed(warehouse, told, *each) for each in columns)}"
        f" FROM {kept.table(each_night, told.table)} WHERE {filled}"
        for each_night in nights
    ]
    identity = len(told.key) or len(columns)
    numbered = ", ".join(f"c{i}" for i in range(len(columns)))
    of_key = ", ".join(f"c{i}" for i in range(identity))
    if is_first:
        changed = f"({states[0]})"
    else:
        one, other = states
        kind = "" if told.distinct else "ALL"
        changed = f"(({one}) EXCEPT {kind} ({other}) UNION ALL (({other}) EXCEPT {kind} ({one})))"
    ((expected,),) = warehouse.rows(
        f"SELECT COUNT(*) FROM (SELECT DISTINCT {of_key} FROM {changed} AS t({numbered}))"
    )
    if added != expected:
        yield f"{told.name}: {added} rows of night {night}, and {expected} keys changed"


def _same(told: Told, kept: Reference, nights: Sequence[int]) -> bool:
    known = [
        [source for _, source in told.columns if kept.knows(night, told.table, [source])]
        for night in nights
    ]
    return known[0] == known[-1]


def wrong_in_hubs_and_links(warehouse: Warehouse, nights: Sequence[int]) -> Iterator[str]:
    """Yield where a hub or link lacks what was there in a night, or has what never was."""
    vault, kept = warehouse.model["dv2"], warehouse.kept
    for hub in vault["hubs"]:
        own = warehouse.keys(hub)
        feeds = {(hub["entity_name"], tuple(hub["business_key_columns"]))}
        for reference, table in [
            *((each, link["table"]) for link in vault["links"] for each in link["hubs"]),
            *((sat["via"], sat["table"]) for sat in vault["satellites"] if sat.get("via")),
        ]:
            if reference["hub"] == hub["name"] and not reference.get("lookup"):
                feeds.add((table, tuple(reference["columns"])))
        ever = [
            f"SELECT {warehouse.meant(hub['name'], zip(own, columns, strict=True))}"
            f" FROM {kept.table(night, table)}"
            f" WHERE {' AND '.join(f'{quote(c)} IS NOT NULL' for c in columns)}"
            for table, columns in sorted(feeds)
            for night in nights
            if kept.knows(night, table, columns)
        ]
        filled = " AND ".join(f"{quote(c)} IS NOT NULL" for c in own)
        said = f"SELECT {', '.join(map(quote, own))} FROM {quote(hub['name'])} WHERE {filled}"
        if wrong := warehouse.differences(said, " UNION ".join(ever)):
            yield f"{hub['name']}: {wrong}"
    yield from _wrong_in_links(warehouse, nights)


def _wrong_in_links(warehouse: Warehouse, nights: Sequence[int]) -> Iterator[str]:
    vault, kept = warehouse.model["dv2"], warehouse.kept
    hubs = {hub["name"]: hub for hub in vault["hubs"]}
    for link in vault["links"]:
        if any(reference.get("lookup") for reference in link["hubs"]) or link.get("key_match"):
            continue
        key, required, joins = _to_hubs(warehouse, "link", link["hubs"], hubs)
        key += [
            (warehouse.named("link", link["table"], each), each)
            for each in link["dependent_child_keys"]
        ]
        said, meant = [built for built, _ in key], [source for _, source in key]
        filled = " AND ".join(f"{quote(c)} IS NOT NULL" for c in required) or "TRUE"
        ever = [
            f"SELECT {', '.join(map(quote, meant))} FROM {kept.table(night, link['table'])}"
            f" WHERE {filled}"
            for night in nights
            if kept.knows(night, link["table"], meant)
        ]
        distinct = "DISTINCT " if link["of_rows"] else ""
        built = f"SELECT {distinct}{', '.join(said)} FROM {quote(link['name'])} AS link{joins}"
        if wrong := warehouse.differences(built, " UNION ".join(ever)):
            yield f"{link['name']}: {wrong}"


def wrong_in_star(warehouse: Warehouse, nights: Sequence[int]) -> Iterator[str]:
    """Yield each dimension, fact and snapshot that doesn't say what the source said."""
    star, last = warehouse.model["dimensional"], len(warehouse.kept.columns) - 1
    for dimension in star["dimensions"]:
        if dimension["dimension_type"] not in {"standard", "outrigger"}:
            continue
        if dimension.get("history"):
            yield from _wrong_versions(warehouse, dimension, nights)
        yield from _wrong_members(warehouse, dimension, last)
    for fact in star["facts"]:
        if fact.get("snapshot_of"):
            for night in nights:
                yield from _wrong_in_fact(warehouse, fact, night, of_day=True)
        elif not fact.get("service_days"):
            yield from _wrong_in_fact(warehouse, fact, last)
    for bridge in star["bridges"]:
        if bridge["entity_name"]:
            yield from _wrong_in_fact(warehouse, {**bridge, "measures": []}, last)


def _own(dimension: Mapping[str, Any], types: set[int]) -> list[tuple[str, str]]:
    return [
        (each["name"], each["attribute"])
        for each in dimension["attributes"]
        if not each["source"] and each["attribute"] and each["scd_type"] in types
    ]


def _wrong_versions(
    warehouse: Warehouse, dimension: Mapping[str, Any], nights: Sequence[int]
) -> Iterator[str]:
    """Yield the nights as of which the versions of a dimension don't say what the source said.

    The first version of a member is valid from the beginning, before it was there.
    """
    name, table, kept = dimension["name"], dimension["entity_name"], warehouse.kept
    key = dimension["natural_key_columns"]
    own_key = [(built, source) for built, source in _own(dimension, {0}) if source in key]
    keys = ", ".join(quote(built) for built, _ in own_key)
    is_same = " AND ".join(f"ever.{quote(built)} = dim.{quote(built)}" for built, _ in own_key)
    for night in nights:
        if not kept.knows(night, table, key):
            continue
        columns = [
            (built, source)
            for built, source in _own(dimension, {0, 2})
            if kept.knows(night, table, [source])
        ]
        ever = " UNION ".join(
            f"SELECT {warehouse.meant(name, own_key)} FROM {kept.table(each, table)}"
            for each in range(night + 1)
            if kept.knows(each, table, key)
        )
        said = (
            f"SELECT {', '.join(quote(built) for built, _ in columns)} FROM {quote(name)} AS dim"
            f" WHERE valid_from <= {moment(night)} AND valid_to > {moment(night)}"
            f" AND EXISTS (SELECT 1 FROM ({ever}) AS ever({keys}) WHERE {is_same})"
        )
        meant = warehouse.meant(name, columns)
        if wrong := warehouse.differences(said, f"SELECT {meant} FROM {kept.table(night, table)}"):
            yield f"{name} as of night {night}: {wrong}"


def _wrong_members(warehouse: Warehouse, dimension: Mapping[str, Any], night: int) -> Iterator[str]:
    """Yield where a dimension doesn't have today's members, or lacks one that ever was."""
    name, table, kept = dimension["name"], dimension["entity_name"], warehouse.kept
    key = dimension["natural_key_columns"]
    if not key or name not in warehouse.relations:
        return
    there = warehouse.relations[name]
    known = [(b, c) for b, c in _own(dimension, {0, 1, 2}) if b in there]
    own_key = [(b, c) for b, c in known if c in key]
    if len(own_key) < len(key):
        return
    condition = " AND ".join(f"{quote(b)} IS NOT NULL" for b, _ in own_key)
    condition += " AND is_current" if "is_current" in there else ""
    if kept.knows(night, table, key):
        columns = [(b, c) for b, c in known if kept.knows(night, table, [c])]
        living = " AND NOT is_deleted" if "is_deleted" in there else ""
        said = (
            f"SELECT {', '.join(quote(b) for b, _ in columns)} FROM {quote(name)}"
            f" WHERE {condition}{living}"
        )
        meant = warehouse.meant(name, columns)
        if wrong := warehouse.differences(said, f"SELECT {meant} FROM {kept.table(night, table)}"):
            yield f"{name} today: {wrong}"
    ever = " UNION ".join(
        f"SELECT {warehouse.meant(name, own_key)} FROM {kept.table(each, table)}"
        for each in range(night + 1)
        if kept.knows(each, table, key)
    )
    keys = ", ".join(quote(b) for b, _ in own_key)
    filled = " AND ".join(f"{quote(b)} IS NOT NULL" for b, _ in own_key)
    said = f"SELECT DISTINCT {keys} FROM {quote(name)} WHERE {filled}"
    if wrong := warehouse.differences(said, ever):
        yield f"{name}, members ever: {wrong}"


def _wrong_in_fact(
    warehouse: Warehouse, fact: Mapping[str, Any], night: int, *, of_day: bool = False
) -> Iterator[str]:
    """Yield where a fact's rows aren't those of the source, or lead to other members."""
    name, table, kept = fact["name"], fact["entity_name"], warehouse.kept
    there = warehouse.relations.get(name)
    if there is None or table not in kept.columns[night]:
        return
    columns = [
        (each["name"], each["attribute"]) for each in fact["attributes"] if not each["source"]
    ]
    columns += [(each["name"], each["column"]) for each in fact["measures"]]
    columns = [(b, c) for b, c in columns if b in there and kept.knows(night, table, [c])]
    said = [f"fact.{quote(b)}" for b, _ in columns]
    meant = [warehouse.meant(name, [each]) for each in columns]
    joins = "" if of_day else _to_dimensions(warehouse, fact, night, said, meant)
    condition = f" WHERE fact.snapshot_date = CAST({moment(night)} AS DATE)" if of_day else ""
    if of_day and not warehouse.rows(
        f"SELECT 1 FROM {quote(name)} WHERE snapshot_date <= {moment(night)} LIMIT 1"
    ):
        return
    wrong = warehouse.differences(
        f"SELECT {', '.join(said) or '1'} FROM {quote(name)} AS fact{joins}{condition}",
        f"SELECT {', '.join(meant) or '1'} FROM {kept.table(night, table)} AS own",
    )
    if wrong:
        yield f"{name} {'of' if of_day else 'today, night'} {night}: {wrong}"


def _to_dimensions(
    warehouse: Warehouse, fact: Mapping[str, Any], night: int, said: list[str], meant: list[str]
) -> str:
    """Join the dimensions that a fact refers to itself; their natural keys are what it had."""
    star, kept, joins = warehouse.model["dimensional"], warehouse.kept, ""
    dimensions = {each["name"]: each for each in star["dimensions"]}
    for number, reference in enumerate(fact.get("dimensions") or fact.get("references") or ()):
        dimension = dimensions[reference["dimension"]]
        table, key = dimension["entity_name"], dimension["natural_key_columns"]
        if (
            reference["source"]
            or dimension["dimension_type"] != "standard"
            or [*reference["to_columns"]] != [*key]
            or not kept.knows(night, fact["entity_name"], reference["columns"])
            or table not in kept.columns[night]
            or len(key) != 1
        ):
            continue
        (built,) = (b for b, c in _own(dimension, {0}) if c in key)
        (column,) = reference["columns"]
        # A bridge leads to members, which share a key over their versions, and a fact to a version.
        to_members = reference["key"] == dimension["durable_key"]
        member = quote(dimension["durable_key" if to_members else "surrogate_key"])
        joins += (
            f" LEFT JOIN (SELECT DISTINCT {member}, {quote(built)} FROM {quote(dimension['name'])})"
            f" AS dim{number} ON dim{number}.{member} = fact.{quote(reference['key'])}"
        )
        ever = " UNION ".join(
            f"SELECT CAST({quote(key[0])} AS VARCHAR) FROM {kept.table(each, table)}"
            for each in range(night + 1)
            if kept.knows(each, table, key)
        )
        said.append(f"CAST(dim{number}.{quote(built)} AS VARCHAR)")
        text = f"CAST(own.{quote(column)} AS VARCHAR)"
        meant.append(f"CASE WHEN {text} IN ({ever}) THEN {text} END")
    return joins


def loaded(warehouse: Warehouse) -> dict[str, int]:
    """Return how many rows each load has added to each relation that dates its rows."""
    counted: dict[str, int] = {}
    for name, columns in warehouse.relations.items():
        if "load_date" in columns and not name.startswith("fluid_"):
            for load_date, rows in warehouse.rows(
                f"SELECT load_date, COUNT(*) FROM {quote(name)} GROUP BY 1"
            ):
                if load_date > datetime(1901, 1, 2):
                    counted[f"{name} of {load_date:%Y-%m-%d}"] = rows
    return counted


def wrong_now(warehouse: Warehouse, nights: Sequence[int]) -> Iterator[str]:
    """Yield all that the warehouse gets wrong of some nights, and of all until today."""
    every = range(len(warehouse.kept.columns))
    if warehouse.model.get("dv2"):
        for told in told_by_vault(warehouse):
            yield from wrong_in_history(warehouse, told, nights)
        yield from wrong_in_hubs_and_links(warehouse, every)
    else:
        for told in told_by_star(warehouse):
            yield from wrong_in_history(warehouse, told, nights)
        yield from wrong_in_star(warehouse, nights)


@dataclass
class Life:
    """A database under way: its source, folder and reference, and what happened to it."""

    source: Source
    technique: str
    folder: Path
    kept: Reference
    warm: WarmProcesses
    happened: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    seconds: dict[str, list[float]] = field(default_factory=lambda: {"apply": [], "dbt": []})
    loads: dict[str, int] = field(default_factory=dict)
    relations: dict[str, list[str]] = field(default_factory=dict)

    def live(self, nights: int) -> None:
        """Live through some nights, until one of them can't be loaded."""
        for night in range(nights):
            if night:
                spend_a_night(self.source)
            structure = night % _STRUCTURE_EVERY == _STRUCTURE_EVERY - 1
            change = change_structure(self.source) if structure else ""
            if change:
                self.happened.append(f"night {night}: {change}")
            self.kept.keep(self.source)
            began = time.perf_counter()
            failure = self.decide(change) or self.load(night, is_apply=structure or not night)
            self.seconds["apply" if structure or not night else "dbt"].append(
                round(time.perf_counter() - began, 2)
            )
            if failure:
                self.wrong.append(f"night {night}: {failure}")
                return
            if night % _CHECKED_EVERY == _CHECKED_EVERY - 1 or night == nights - 1:
                is_last = night == nights - 1
                try:
                    self.check(range(0 if is_last else night - _CHECKED_EVERY + 1, night + 1))
                except (KeyError, duckdb.Error):
                    self.wrong.append(
                        f"night {night} couldn't be checked: {traceback.format_exc()}"
                    )
                print(f"  night {night}: {len(self.wrong)} wrong", flush=True)

    def decide(self, change: str) -> str:
        """Say that a column was renamed, where it was."""
        kind, _, what = change.partition(": ")
        if kind != "column renamed":
            return ""
        before, now = what.split(" ")
        table, _, name = before.partition(".")
        column = self.source.tables[table].column(now)
        # The model calls a column as it was called first.
        subject = f"{table}.{column.was if column.was != now else name}"
        return self.ran("decide", str(self.folder), "renamed", subject, now)

    def load(self, night: int, *, is_apply: bool) -> str:
        """Load a night, and return what went wrong."""
        load_date = str(_FIRST_NIGHT + timedelta(days=night))
        if not self.folder.exists():
            failure = self.ran(
                "forge", "data-model", "from-source", "--uri", str(self.source.path),
                "--technique", self.technique, "-o", str(self.folder),
            )  # fmt: skip
            if failure:
                return failure
        if is_apply:
            return self.ran("apply", str(self.folder), "--yes", "--load-date", load_date)
        places = ("--project-dir", ".", "--profiles-dir", ".", "--log-level-file", "none")
        variables = json.dumps({"load_date": load_date})
        result = self.warm.run(
            "dbt",
            ["-q", "--no-use-colors", "build", *places, "--vars", variables],
            self.folder / "dbt",
        )
        said = result.stdout[-1500:] + result.stderr[-500:]
        return f"dbt build ended with {result.returncode}: {said}" if result.returncode else ""

    def ran(self, *arguments: str) -> str:
        """Run ``fluid``, and return what it said where it failed."""
        result = self.warm.run("fluid", arguments, self.folder.parent)
        said = result.stdout[-2500:] + result.stderr[-1500:]
        return (
            f"fluid {arguments[0]} ended with {result.returncode}: {said}"
            if result.returncode
            else ""
        )

    def check(self, nights: Sequence[int]) -> None:
        """Compare the warehouse with what the source held."""
        warehouse = opened(self.folder, self.kept)
        try:
            found = loaded(warehouse)
            for load, rows in self.loads.items():
                if found.get(load) != rows:
                    self.wrong.append(f"{load}: {rows} rows before, {found.get(load)} now")
            self.loads = found
            self.wrong += self.lost(warehouse.relations)
            self.relations = {name: [*columns] for name, columns in warehouse.relations.items()}
            known = set(self.wrong)
            self.wrong += [line for line in wrong_now(warehouse, nights) if line not in known]
        finally:
            warehouse.connection.close()

    def lost(self, relations: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
        """Yield the relations that are gone, or don't have their columns in the order they had."""
        for name, columns in self.relations.items():
            now = [column for column in relations.get(name, ()) if column in columns]
            if now != columns and not name.startswith(("fluid_", "stg_")):
                yield f"{name} had {columns}, and has {[*relations.get(name, ())]}"


def databases(seed: int) -> Iterator[tuple[str, str]]:
    """Return the names of the databases, each with its technique."""
    corpus = [name for name in _OF_CORPUS if (_CORPUS / name / "data").is_dir()]
    names = [*corpus, *(f"drawn_{seed + i}" for i in range(_DATABASES - len(corpus)))]
    for number, name in enumerate(names):
        yield name, _TECHNIQUES[number % 2]


def live(name: str, technique: str, nights: int, work: Path, warm: WarmProcesses) -> Life:
    """Let one database live through its nights."""
    path = work / "shop.duckdb"
    if (_CORPUS / name / "data").is_dir():
        truth = json.loads((_CORPUS / name / "truth.json").read_text(encoding="utf-8"))
        source = from_files(path, _CORPUS / name / "data", truth, seed=1)
    else:
        source = draw(path, int(name.rpartition("_")[2]))
    life = Life(source, technique, work / "model", Reference(work / "kept.duckdb"), warm)
    life.live(nights)
    return life


def main() -> int:
    """Run the bench; the exit code is 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--nights", type=int, default=60)
    parser.add_argument("--seed", type=int, default=2029)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--technique", choices=_TECHNIQUES)
    parser.add_argument("--keep", type=Path, help="a folder that keeps the databases")
    options = parser.parse_args()
    lines = options.out.read_text(encoding="utf-8").splitlines() if options.out.exists() else []
    done = {json.loads(line)["database"] for line in lines}
    failed = 0
    with warm_processes() as warm:
        for name, usual in databases(options.seed):
            technique = options.technique or usual
            if name in done or (options.only and name not in options.only):
                continue
            with tempfile.TemporaryDirectory(prefix="fluid-histories-") as folder:
                work = options.keep / name if options.keep else Path(folder)
                if options.keep:
                    shutil.rmtree(work, ignore_errors=True)
                    work.mkdir(parents=True)
                life = live(name, technique, options.nights, work, warm)
            failed += bool(life.wrong)
            result = {
                "database": name,
                "technique": technique,
                "nights": len(life.kept.columns),
                "happened": life.happened,
                "wrong": life.wrong[:_MOST_SAID],
                "seconds": life.seconds,
            }
            with options.out.open("a", encoding="utf-8") as out:
                out.write(json.dumps(result) + "\n")
            print(f"{name} {technique}: {len(life.wrong)} wrong", flush=True)
            for line in life.wrong[:_MOST_SAID]:
                print(f"    {line}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
