"""The evidence for keys and references: figures, the query that checks them, reasons in words."""

import math
from collections.abc import Sequence

import duckdb

from fluid_build.profiling import checks
from fluid_build.profiling.measure.schema import MeasuredColumn, MeasuredTable
from fluid_build.profiling.measure.value_cache import reading
from fluid_build.profiling.profile import Evidence, ForeignKey, ForeignKeyEvidence, Origin
from fluid_build.profiling.references.inclusion import Inclusion
from fluid_build.sources.sql import quote, quote_all
from fluid_build.text import counted

_NAMES_MATCH = 0.85
"""From this name score on, the names match up to an abbreviation, a role or a missing suffix."""
_NAMES_HINT = 0.4
"""From this name score on, the names have something in common."""
_BEYOND_CHANCE = 8.0
"""Nats of value evidence from which a match by chance is out of the question (1 in 3,000)."""


def key_evidence(
    connection: duckdb.DuckDBPyConnection,
    table: MeasuredTable,
    key: tuple[str, ...],
    origin: Origin,
) -> Evidence:
    """Count the rows that repeat a key's values, and those with a null among them.

    Nulls repeat each other only where the key is declared so.
    """
    columns = [table.by_name[name] for name in key]
    rows = table.stats.rows
    nulls_are_equal = key in table.stats.table.keys_with_equal_nulls
    if nulls_are_equal:
        aliases = quote_all(column.stats.column.alias for column in columns)
        with reading(connection, columns):
            row = connection.execute(
                f"SELECT count(*) FROM (SELECT DISTINCT {aliases} FROM {table.relation})"
            ).fetchone()
        nulls, distinct = 0, int(row[0]) if row else 0
    elif len(columns) == 1 and columns[0].stats.distinct_exact:
        stats = columns[0].stats
        nulls, distinct = stats.nulls, stats.distinct
    elif key in table.candidates.keys:
        nulls, distinct = 0, rows
    else:
        nulls, distinct = _count_distinct(connection, table, columns)
    violations = rows - nulls - distinct
    sampled = table.stats.table.sampled
    return Evidence(
        origin=origin,
        rows=rows - nulls,
        nulls=nulls,
        distinct=distinct,
        violations=violations,
        exact=sampled is None,
        sample=sampled.rows if sampled else None,
        sample_of=sampled.total if sampled else None,
        sql=_broken_rows_sql(table, key, nulls, violations),
    )


def _broken_rows_sql(
    table: MeasuredTable, key: tuple[str, ...], nulls: int, violations: int
) -> str:
    """Return the query for what breaks a key: only in a primary key is that a null."""
    source = table.stats.table
    name = checks.qualified_name(source)
    if key in source.keys_with_equal_nulls:
        return checks.repeated_values_and_nulls(name, key)
    if not nulls or key != source.primary_key:
        return checks.repeated_values(name, key)
    return checks.repeated_or_null_values(name, key) if violations else checks.null_rows(name, key)


def _count_distinct(
    connection: duckdb.DuckDBPyConnection, table: MeasuredTable, columns: Sequence[MeasuredColumn]
) -> tuple[int, int]:
    """Return how many rows have a null in the columns, and how many distinct values the others."""
    aliases = [column.stats.column.alias for column in columns]
    present = " AND ".join(f"{quote(alias)} IS NOT NULL" for alias in aliases)
    with reading(connection, columns):
        row = connection.execute(
            "SELECT coalesce(sum(n), 0), count(*) FROM (SELECT count(*) AS n"
            f" FROM {table.relation} WHERE {present} GROUP BY {quote_all(aliases)})"
        ).fetchone()
    present_rows, distinct = (int(figure) for figure in row or (0, 0))
    return table.stats.rows - present_rows, distinct


def are_unique(columns: Sequence[MeasuredColumn]) -> bool:
    """Return whether the columns' values, as they're compared, never repeat together.

    ``5`` and `` 5 `` are two texts and one number, which a count of texts can't tell.
    """
    if any(not column.is_plain and not column.stats.reversible for column in columns):
        return False
    if len(columns) == 1:
        return columns[0].stats.is_unique
    names = {column.name for column in columns}
    return any(set(key) <= names for key in columns[0].table.candidates.keys)


def reference_evidence(
    child: Sequence[MeasuredColumn],
    parent: Sequence[MeasuredColumn],
    inclusion: Inclusion,
    origin: Origin,
    name_score: float | None,
    reason: str,
    by_collation: int = 0,
) -> ForeignKeyEvidence:
    """Return the figures of a foreign key, with the query that lists its orphans."""
    sampled = child[0].table.stats.table.sampled
    is_part = sampled is not None or parent[0].table.is_sampled
    # In the source, a value that stands for none has no parent all the same.
    none = inclusion.standing_for_none
    rows, orphans = inclusion.rows + none, inclusion.orphans + none
    return ForeignKeyEvidence(
        origin=origin,
        rows=rows,
        nulls=(
            child[0].stats.nulls if parent[0].table.is_sampled else child[0].table.stats.rows - rows
        ),
        exact=not is_part,
        sample=rows if is_part else None,
        sample_of=(sampled.total if sampled else child[0].table.stats.rows) if is_part else None,
        is_measured=inclusion.is_measured,
        distinct=inclusion.distinct,
        violations=orphans,
        matched=inclusion.matched,
        orphans=orphans,
        by_collation=by_collation,
        standing_for_none=none,
        coverage=round(inclusion.coverage, 6),
        name_score=None if name_score is None else round(name_score, 4),
        reason=reason,
        sql=orphans_sql(child, parent),
    )


def describe_measured(
    child: Sequence[MeasuredColumn],
    parent: Sequence[MeasuredColumn],
    inclusion: Inclusion,
    name_score: float,
    value_evidence: float = 0.0,
) -> str:
    """Return why a measured reference is believed, as a sentence without its full stop."""
    # Names that are mere numbers, such as f3, have no words and are never the same.
    if all(
        column.parsed_name.squashed == key.parsed_name.squashed != ""
        for column, key in zip(child, parent, strict=True)
    ):
        names = "the names are the same"
    elif name_score >= _NAMES_MATCH:
        names = "the names match"
    elif name_score >= _NAMES_HINT:
        names = "the names partly match"
    else:
        names = "the names don't match"
    if not inclusion.is_measured:
        return f"{names}; {_describe_unmeasured(parent[0].table)}"
    part = _part_of_rows(child[0].table, parent[0].table)
    if inclusion.orphans:
        # Rounded down, so that a single orphan never reads as 100 %.
        share = math.floor(1000 * inclusion.share) / 1000
        values = f"{share:.1%} of the rows{part} have a match"
    elif value_evidence >= _BEYOND_CHANCE and inclusion.distinct > 1:
        # How many there are says that it isn't chance.
        values = f"all {inclusion.distinct:,} values{part} have a match"
    else:
        values = f"every value{part} has a match"
    return f"{names}, and {values}{_describe_none(inclusion)}"


def describe_declared(
    inclusion: Inclusion, child: MeasuredTable, parent: MeasuredTable, by_collation: int
) -> str:
    """Return what the data says about a declared reference, as a sentence without its full stop."""
    if not inclusion.is_measured:
        return f"declared by the source; {_describe_unmeasured(parent)}"
    if was_nested(child) and not inclusion.orphans:
        return f"its rows were nested in those of {parent.name}"
    part = _part_of_rows(child, parent)
    if not inclusion.orphans:
        held = f", and held in {counted(inclusion.rows, 'row')}{part}" if part else ""
        return f"declared by the source{held}{_describe_none(inclusion)}"
    loose = f"{counted(by_collation, 'row')}{part}"
    declared = "declared by the source" + (
        f", and held in {loose} by its collation alone" if by_collation else ""
    )
    declared += _describe_none(inclusion)
    broken = inclusion.orphans - by_collation
    if not broken:
        return declared
    verb = "violates" if broken == 1 else "violate"
    return f"{declared}, but {counted(broken, 'row')}{part} {verb} it"


def _describe_none(inclusion: Inclusion) -> str:
    none = inclusion.standing_for_none
    return f"; in {counted(none, 'row')} the value stands for none" if none else ""


def was_nested(table: MeasuredTable) -> bool:
    """Return whether a table's declared keys come from how nested data was split."""
    split = table.stats.table.split
    return split is not None and not split.is_root


def _describe_unmeasured(parent: MeasuredTable) -> str:
    return f"it wasn't measured, because only a part of {parent.name} was read"


def _part_of_rows(child: MeasuredTable, parent: MeasuredTable) -> str:
    """Return what to add to a count of rows or values that aren't all that there are."""
    if child.is_sampled:
        return " of a sample"
    return " that were looked up" if parent.is_sampled else ""


def orphans_sql(child: Sequence[MeasuredColumn], parent: Sequence[MeasuredColumn]) -> str:
    """Return a query for the rows without a parent, in any SQL dialect, compared as measured."""
    return checks.orphans(
        checks.qualified_name(child[0].table.stats.table),
        tuple(column.name for column in child),
        checks.qualified_name(parent[0].table.stats.table),
        tuple(column.name for column in parent),
        tuple(_forms(column, key) for column, key in zip(child, parent, strict=True)),
    )


def _forms(child: MeasuredColumn, parent: MeasuredColumn) -> tuple[checks.Form, checks.Form]:
    """Return how a pair of columns is compared; text in its type's own spelling needs no cast."""
    if all(column.stats.kind == "text" and column.stats.reversible for column in (child, parent)):
        return "plain", "plain"
    return _form(child, parent), _form(parent, child)


def _form(column: MeasuredColumn, partner: MeasuredColumn) -> checks.Form:
    if "uuid" in (column.key_kind, partner.key_kind):
        both_uuid = column.stats.kind == partner.stats.kind == "uuid"
        return "plain" if both_uuid else "letters"
    is_text, other_is_text = column.stats.kind == "text", partner.stats.kind == "text"
    if column.key_kind == "integer" and is_text:
        return "number"
    return "text" if other_is_text and partner.is_plain and not is_text else "plain"


def note_other_normalizations(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[MeasuredTable],
    foreign_keys: Sequence[ForeignKey],
) -> None:
    """Add a note to columns whose orphans are keys but for how Unicode composes their letters.

    ``é`` is one letter or two, which look alike and are different texts.
    """
    by_name = {table.name: table for table in tables}
    for key in foreign_keys:
        if not key.evidence.orphans or len(key.from_columns) > 1:
            continue
        child = by_name[key.from_table].by_name[key.from_columns[0]]
        parent = by_name[key.to_table].by_name[key.to_columns[0]]
        if {child.stats.column.type, parent.stats.column.type} != {"VARCHAR"}:
            continue
        value, known = quote(child.stats.column.alias), quote(parent.stats.column.alias)
        keys = f"SELECT {known} FROM {parent.table.relation} WHERE {known} IS NOT NULL"
        composed = f"SELECT nfc_normalize({known}) FROM ({keys})"
        with reading(connection, [child], [parent]):
            row = connection.execute(
                f"SELECT count(*) FROM {child.table.relation} WHERE {value} NOT IN ({keys})"
                f" AND nfc_normalize({value}) IN ({composed})"
            ).fetchone()
        if row and row[0]:
            child.stats.notes.append(
                f"{counted(row[0], 'value')} without a match in {key.to_table} would have one if"
                " both wrote letters such as \u00e9 as one character of Unicode (NFC), or both as"
                " two (NFD)."
            )
