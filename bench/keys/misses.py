"""Why a documented key wasn't found, and what spoke for a wrong one."""

from collections.abc import Iterator, Sequence

import duckdb

from bench.keys.databases import Database
from bench.keys.naming import Names
from bench.keys.scores import Key, TableKey, foreign_key_errors, key_of, table_keys, true_key
from fluid_build.profiling.profile import ColumnProfile, Profile, TableProfile
from fluid_build.sources.sql import literal, quote


def describe_errors(profile: Profile, database: Database, names: Names) -> Iterator[str]:
    """Yield each wrong and each missed key with its reason."""
    errors = foreign_key_errors(profile, database.truth, names)
    for key in errors.wrong:
        yield f"wrong   {key}: {_describe_wrong(key, profile, database, names)}"
    for key in errors.missed:
        yield f"missed  {key}: {_describe_missed(key, profile, database, names)}"
    for table in table_keys(profile, database.truth, names):
        if not table.is_right:
            yield f"key     {table}: {_describe_table_key(table, profile)}"


def _describe_wrong(key: Key, profile: Profile, database: Database, names: Names) -> str:
    reference = next(each for each in profile.foreign_keys if key_of(each) == key)
    documented = [
        str(true)
        for entry in database.truth["foreign_keys"]
        if (true := true_key(entry, names)).child == key.child
        and {column for column, _ in true.pairs} == set(reference.from_columns)
    ]
    instead = f"documented is {documented[0]}" if documented else "not documented"
    return f"confidence {reference.confidence:.2f}, {reference.evidence.reason}; {instead}"


def _describe_missed(key: Key, profile: Profile, database: Database, names: Names) -> str:
    tables = {table.name: table for table in profile.tables}
    if not {key.child, key.parent} <= tables.keys():
        skipped = {each.name: each.reason for each in profile.skipped}
        reason = skipped.get(key.child) or skipped.get(key.parent) or "it isn't in the profile"
        return f"a table wasn't read: {reason}"
    for candidate in profile.candidates:
        if key_of(candidate) == key:
            return f"confidence {candidate.confidence:.2f}: {candidate.reason}"
    child, parent = tables[key.child], tables[key.parent]
    obstacle = _obstacle(key, child, parent, database, names)
    rival = _describe_rival(key, profile)
    return "; ".join(filter(None, (obstacle, rival))) or _describe_weakness(key, child, parent)


def _describe_rival(key: Key, profile: Profile) -> str:
    columns = {column for column, _ in key.pairs}
    for chosen in profile.foreign_keys:
        if chosen.from_table == key.child and set(chosen.from_columns) == columns:
            return f"beaten by {key_of(chosen)} ({chosen.confidence:.2f})"
    for candidate in profile.candidates:
        if candidate.from_table == key.child and set(candidate.from_columns) == columns:
            return f"beaten by {key_of(candidate)}, which isn't chosen ({candidate.confidence:.2f})"
    return ""


def _obstacle(
    key: Key, child: TableProfile, parent: TableProfile, database: Database, names: Names
) -> str:
    """Return what kept a reference from being judged; "" if nothing did."""
    pairs = sorted(key.pairs)
    for column, key_column in pairs:
        left, right = _family(child.column(column)), _family(parent.column(key_column))
        if left != right:
            return f"types differ: {left} and {right}"
    parent_columns = {key_column for _, key_column in pairs}
    if not any(set(candidate) <= parent_columns for candidate in parent.candidate_keys):
        return "the parent's key isn't unique in the data"
    share = _matching_share(key, database, names)
    if share < 1.0:
        return f"{share:.1%} of the rows have a match"
    if set(parent.primary_key or ()) != parent_columns:
        chosen = ", ".join(parent.primary_key or ()) or "nothing"
        return f"the parent's key is taken to be {chosen}"
    return ""


def _describe_weakness(key: Key, child: TableProfile, parent: TableProfile) -> str:
    """Return why a reference that holds on every row wasn't worth judging."""
    if len(key.pairs) > 1:
        return "not judged: every row has a match, but the columns' names don't pair up"
    ((column, key_column),) = key.pairs
    if child.primary_key == (column,):
        return "not judged: every value has a match, but the column is its own table's key"
    used, keys = child.column(column).distinct, parent.column(key_column).distinct
    return (
        "not judged: every value has a match, but the names say too little, and so do"
        f" {used:,} values among {keys:,} keys"
    )


def _family(column: ColumnProfile) -> str:
    type_ = (column.measured_type or column.type).partition("(")[0].strip()
    return "number" if "INT" in type_ or type_ in {"DOUBLE", "FLOAT", "DECIMAL"} else type_


def _matching_share(key: Key, database: Database, names: Names) -> float:
    """Return the share of the child's rows without nulls that have a parent."""
    entry = next(e for e in database.truth["foreign_keys"] if true_key(e, names) == key)
    child, parent = (
        f"read_parquet({literal(str(database.folder / 'data' / (entry[side] + '.parquet')))})"
        for side in ("from_table", "to_table")
    )
    columns, keys = _as_text(entry["from_columns"]), _as_text(entry["to_columns"])
    present = " AND ".join(f"{quote(name)} IS NOT NULL" for name in entry["from_columns"])
    row = duckdb.execute(
        f"SELECT avg(CAST(({columns}) IN (SELECT ({keys}) FROM {parent}) AS INTEGER))"
        f" FROM {child} WHERE {present}"
    ).fetchone()
    return 1.0 if row is None or row[0] is None else float(row[0])


def _as_text(columns: Sequence[str]) -> str:
    return "concat_ws('|', " + ", ".join(f"{quote(name)}::VARCHAR" for name in columns) + ")"


def _describe_table_key(key: TableKey, profile: Profile) -> str:
    table = next((each for each in profile.tables if each.name == key.table), None)
    if table is None:
        return "the table wasn't read"
    if not key.true:
        return f"no key is documented; {table.primary_key_reason}"
    candidates = [frozenset(candidate) for candidate in table.candidate_keys]
    if key.true in candidates:
        return f"the documented key holds and was passed over; {table.primary_key_reason}"
    smaller = next((candidate for candidate in candidates if candidate < key.true), None)
    if smaller:
        return f"the documented key holds, and {sorted(smaller)} in it was passed over"
    return "the documented key isn't among those that are unique in the data"
