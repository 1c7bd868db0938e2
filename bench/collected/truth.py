"""Writes a loaded database as ``bench/accuracy.py`` reads it: Parquet files and its true keys."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from bench.collected.declared import Declared, Reference
from bench.collected.loading import Loaded
from fluid_build.sources.sql import literal, quote, quote_all

# A few values without a parent occur where nothing enforced the key; with more than one in twenty
# the data says that the key, as declared, doesn't hold.
_SUPPORTED = 0.95
# Smaller tables tell too little for a key to be found by its values.
_LARGE = 30


@dataclass(frozen=True)
class Written:
    """What was written of a database."""

    tables: int
    tables_over_30: int
    rows: int
    largest: int
    primary_keys: int
    foreign_keys: int
    supported: int
    composite: int
    empty: int
    failed: int


def write(name: str, loaded: Loaded, folder: Path, engine: duckdb.DuckDBPyConnection) -> Written:
    """Write the tables that have rows, and what is declared of them."""
    data = folder / "data"
    data.mkdir(parents=True)
    described: dict[str, dict[str, Any]] = {}
    for table, select in sorted(loaded.tables.items()):
        path = data / f"{table.replace('/', '_')}.parquet"
        copy_table(select, path, engine)
        columns = [row[0] for row in engine.execute(f"DESCRIBE FROM {_from(path)}").fetchall()]
        rows = _count(engine, f"SELECT count(*) FROM {_from(path)}")
        if not rows:
            path.unlink()
            continue
        described[table] = {"primary_key": [], "rows": rows, "columns": columns}
    declared = resolve(loaded.declared, described)
    for table, key in declared.primary.items():
        described[table]["primary_key"] = list(key)
        described[table]["pk_holds"] = _is_key(engine, data / f"{table}.parquet", key)
    references = [measure(engine, data, each) for each in declared.references]
    truth = {"name": name, "tables": described, "foreign_keys": references}
    text = json.dumps(truth, indent=1, ensure_ascii=False)
    (folder / "truth.json").write_text(text + "\n", encoding="utf-8")
    counts = [table["rows"] for table in described.values()]
    return Written(
        tables=len(counts),
        tables_over_30=sum(rows > _LARGE for rows in counts),
        rows=sum(counts),
        largest=max(counts, default=0),
        primary_keys=len(declared.primary),
        foreign_keys=len(references),
        supported=sum(each["supported"] for each in references),
        composite=sum(len(each["from_columns"]) > 1 for each in references),
        empty=len(loaded.tables) - len(counts),
        failed=loaded.failed,
    )


def copy_table(select: str, path: Path, engine: duckdb.DuckDBPyConnection) -> None:
    """Write a table; a column of a type that Parquet doesn't have is written as text."""
    columns = []
    for name, kind, *_ in engine.execute(f"DESCRIBE {select}").fetchall():
        is_plain = kind.split("(")[0] in _PLAIN
        text = "BLOB" if kind == "BLOB" else "VARCHAR"
        columns.append(
            quote(name) if is_plain else f"CAST({quote(name)} AS {text}) AS {quote(name)}"
        )
    engine.execute(
        f"COPY (SELECT {', '.join(columns)} FROM ({select})) TO {literal(str(path))}"
        " (FORMAT parquet, COMPRESSION zstd)"
    )


_PLAIN = {
    "BIGINT", "BLOB", "BOOLEAN", "DATE", "DECIMAL", "DOUBLE", "FLOAT", "HUGEINT", "INTEGER",
    "SMALLINT", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TINYINT", "UBIGINT", "UINTEGER",
    "USMALLINT", "UTINYINT", "UUID", "VARCHAR",
}  # fmt: skip


def resolve(declared: Declared, described: dict[str, dict[str, Any]]) -> Declared:
    """Return the keys of tables that are there, spelt as those are, each once."""
    tables = {table.lower(): table for table in described}
    columns = {
        table: {name.lower(): name for name in each["columns"]} for table, each in described.items()
    }

    def spelt(table: str, names: tuple[str, ...]) -> tuple[str, ...] | None:
        found = tuple(columns[table].get(name.lower(), "") for name in names)
        return found if found and all(found) else None

    resolved = Declared()
    for table, key in declared.primary.items():
        own = tables.get(table.lower())
        if own and (names := spelt(own, key)):
            resolved.primary[own] = names
    seen = set()
    for each in declared.references:
        child, parent = tables.get(each.child.lower()), tables.get(each.parent.lower())
        if child is None or parent is None:
            continue
        others = each.parent_columns
        if not all(others):
            others = resolved.primary.get(parent, ())
        own, theirs = spelt(child, each.columns), spelt(parent, others)
        if own is None or theirs is None or len(own) != len(theirs):
            continue
        pairs = (child, frozenset(zip(own, theirs, strict=True)), parent)
        if pairs not in seen and (child, own) != (parent, theirs):
            seen.add(pairs)
            resolved.references.append(Reference(child, own, parent, theirs, each.kind))
    return resolved


def measure(engine: duckdb.DuckDBPyConnection, data: Path, each: Reference) -> dict[str, Any]:
    """Return an entry of the truth: whether the parent holds the child's values, by SQL."""
    child, parent = data / f"{each.child}.parquet", data / f"{each.parent}.parquet"
    own = [f"CAST({quote(name)} AS VARCHAR)" for name in each.columns]
    others = [f"CAST({quote(name)} AS VARCHAR)" for name in each.parent_columns]
    present = " AND ".join(f"{quote(name)} IS NOT NULL" for name in each.columns)
    values = f"SELECT DISTINCT {', '.join(own)} FROM {_from(child)} WHERE {present}"
    count = _count(engine, f"SELECT count(*) FROM ({values})")
    keys = f"SELECT {', '.join(others)} FROM {_from(parent)}"
    held = _count(engine, f"SELECT count(*) FROM ({values} INTERSECT {keys})")
    inclusion = held / count if count else 0.0
    is_key = _is_key(engine, parent, each.parent_columns)
    return {
        "from_table": each.child,
        "from_columns": list(each.columns),
        "to_table": each.parent,
        "to_columns": list(each.parent_columns),
        "kind": each.kind,
        "distinct_child_values": count,
        "inclusion": round(inclusion, 4),
        "supported": bool(count) and inclusion >= _SUPPORTED and is_key,
    }


def _is_key(engine: duckdb.DuckDBPyConnection, path: Path, columns: tuple[str, ...]) -> bool:
    """Whether columns have no NULL and no combination twice."""
    present = " AND ".join(f"{quote(name)} IS NOT NULL" for name in columns)
    rows = _count(engine, f"SELECT count(*) FROM {_from(path)}")
    distinct = f"SELECT DISTINCT {quote_all(columns)} FROM {_from(path)} WHERE {present}"
    return rows == _count(engine, f"SELECT count(*) FROM ({distinct})")


def _from(path: Path) -> str:
    return f"read_parquet({literal(str(path))})"


def _count(engine: duckdb.DuckDBPyConnection, sql: str) -> int:
    row = engine.execute(sql).fetchone()
    return 0 if row is None else int(row[0])
