"""Tables of a database for one period each, read as one: ``sales_2023`` and ``sales_2024``.

A database is partitioned by hand as folders are. What holds in such tables holds in all of them
together: their references, their types, their history. A new period brings new rows then, and
no new table. A person may decide that others are one as well, or that these aren't.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb

from fluid_build.sources.addresses.periods import (
    PartNames,
    by_period,
    columns_in_common,
    date_in_period,
    names_of_periods,
    part_names,
)
from fluid_build.sources.base import (
    Column,
    DeclaredForeignKey,
    KeysAtServer,
    OpenSource,
    SampledRows,
    Table,
)
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, reason
from fluid_build.sources.grouping import Grouping, OneTable
from fluid_build.sources.nested.tables import may_be_nested
from fluid_build.sources.origin import InDatabase, InTables
from fluid_build.sources.selection import matching_positions, placed_name
from fluid_build.sources.sql import literal, quote
from fluid_build.text import listed

_WHOLE_DIGITS: Mapping[str, int] = {
    "TINYINT": 3,
    "UTINYINT": 3,
    "SMALLINT": 5,
    "USMALLINT": 5,
    "INTEGER": 10,
    "UINTEGER": 10,
    "BIGINT": 19,
    "UBIGINT": 20,
}
"""The most digits of whole numbers; those of 128 bits have more than a DECIMAL."""
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_MOST_DIGITS = 38
"""The most digits of a DECIMAL in DuckDB."""


@dataclass(frozen=True, slots=True)
class _Group:
    """The tables of one. ``period`` is their column for it, empty where a date says it."""

    name: str
    members: tuple[Table, ...]
    names: PartNames
    columns: tuple[Column, ...]
    period: str
    decided: bool = False

    @property
    def select_lists(self) -> list[str]:
        """What to select of each member, so that all have the same columns."""
        return [
            _select_list(member, self.columns, self.period, text)
            for member, text in zip(self.members, self.names.texts, strict=True)
        ]

    @property
    def relation(self) -> str:
        """The rows of all members, as SQL that may follow FROM."""
        selects = (
            f"SELECT {columns} FROM {member.relation}"
            for columns, member in zip(self.select_lists, self.members, strict=True)
        )
        return f"({' UNION ALL '.join(selects)})"

    def text_of(self, member: str) -> str:
        """Return the period of a member, as its name has it."""
        texts = zip(self.members, self.names.texts, strict=True)
        return next(text for table, text in texts if table.name == member)


@dataclass(frozen=True, slots=True)
class _Keys:
    """The keys of a table that was united, each as the columns that were declared and all of it.

    The period belongs to a key whose values begin again in each period.
    """

    primary: tuple[str, ...]
    unique: tuple[tuple[str, ...], ...]
    whole: Mapping[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _United:
    """A group, and what it became."""

    group: _Group
    keys: _Keys
    table: Table

    def spelled(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the names of columns of a member as the table has them."""
        return _named_alike(names, {name: c.name for name, c in _by_name(self.table).items()})


class _ApartError(Exception):
    """Tables can't be one, and the message says why."""


def unite_periods(source: OpenSource, grouping: Grouping) -> None:
    """Replace tables of a source whose names differ only in a period by one table each.

    Tables stay apart where fewer than half of their columns are the same, or where a column has
    types that no type has all values of; the source's notes name the column. So do those whose rows
    can't be read. Keys that all of them declare are kept, with the period where their values begin
    again in each, and references between such tables follow. A column ``period`` says which period
    a row is from, unless a date of the row does. What ``grouping`` separates stays as it is.
    """
    united: dict[str, _United] = {}
    taken = {table.name.lower() for table in source.tables}
    for members, periods in by_period(_named(source.tables)):
        prefix, table = _prefix(members[0]), periods[0].table
        names = columns_in_common([list(_by_name(member)) for member in members])
        if not names or not table or any(map(_why_not_alike, members)):
            continue
        name = f"{prefix}{table}"
        name = f"{name}.period" if name.lower() in taken else name
        separated = grouping.separates(name, prefix)
        if separated is not None:
            source.regrouped = {**source.regrouped, separated: ""}
            continue
        try:
            group = _group(name, members, names_of_periods(periods), names)
            united[name] = _readable(source.connection, group)
            taken.add(name.lower())
        except _ApartError as error:
            parts = f"{members[0].name} to {members[-1].name}"
            why = f"stay apart, though their names differ only in a period. {error}"
            source.notes = (*source.notes, f"{parts} {why}")
    if united:
        _replace(source, united)


def unite_decided(source: OpenSource, grouping: Grouping) -> None:
    """Replace tables of a source by the one table that a person says they are.

    A column that some of them lack is empty there. Where they can't be one, they stay as they are,
    and ``regrouped`` says why.
    """
    for one in grouping.one_table:
        try:
            group = _decided_group(source.tables, one)
            _replace(source, {group.name: _readable(source.connection, group)})
            why = ""
        except _ApartError as error:
            why = str(error)
        source.regrouped = {**source.regrouped, one.name: why}


def _decided_group(tables: Sequence[Table], one: OneTable) -> _Group:
    """Return the tables that a decision means as a group. Raises _ApartError."""
    spellings = [placed_name(table).spellings for table in tables]
    found = (matching_positions(part, spellings, folds_case=True) for part in one.parts)
    members = [tables[position] for position in sorted(set().union(*found))]
    if len(members) < 2:
        raise _ApartError(f"No two tables are called {listed(one.parts, 'or')}.")
    why = next(filter(None, map(_why_not_alike, members)), "")
    if why:
        raise _ApartError(why)
    prefixes = {_prefix(member) for member in members}
    prefix = prefixes.pop() if len(prefixes) == 1 else ""
    name = one.name if one.name.startswith(prefix) else f"{prefix}{one.name}"
    if name.lower() in {table.name.lower() for table in tables if table not in members}:
        raise _ApartError(f"Another table is called {name}.")
    columns = dict.fromkeys(each for member in members for each in _by_name(member))
    names = part_names([member.name.removeprefix(prefix) for member in members])
    return replace(_group(name, members, names, list(columns)), decided=True)


def _readable(connection: duckdb.DuckDBPyConnection, group: _Group) -> _United:
    """Return what a group becomes. Raises _ApartError where its rows can't be read together."""
    try:
        return _united(connection, group)
    except duckdb.InterruptException:
        raise
    except DUCKDB_ERRORS as error:
        raise _ApartError(reason(error)) from None


def _named(tables: Iterable[Table]) -> Iterator[tuple[str, str, Table]]:
    for table in tables:
        prefix = _prefix(table)
        # A name in quotes has a dot of its own, and no period is worth taking it apart.
        if not table.name.startswith('"'):
            yield prefix, table.name.removeprefix(prefix), table


def _prefix(table: Table) -> str:
    schema = f"{table.schema}."
    return schema if table.schema and table.name.startswith(schema) else ""


def _group(
    name: str, members: Sequence[Table], names: PartNames, column_names: Sequence[str]
) -> _Group:
    """Return tables as a group. Raises _ApartError for types that no type has all values of."""
    columns = []
    for each in column_names:
        present = [column for member in members if (column := _by_name(member).get(each))]
        types = list(dict.fromkeys(column.type for column in present))
        type_ = exact_union(types)
        if type_ is None:
            raise _ApartError(f"The types of {each} are {' and '.join(types)}.")
        everywhere = len(present) == len(members)
        nullable = not everywhere or any(column.nullable for column in present)
        columns.append(replace(present[-1], type=type_, nullable=nullable))
    return _Group(name, tuple(members), names, tuple(columns), names.free_column(column_names))


def _by_name(table: Table) -> dict[str, Column]:
    return {column.name.lower(): column for column in table.columns}


def _why_not_alike(table: Table) -> str:
    """Return why a table's columns can't be paired with those of others; "" where they can."""
    if may_be_nested(table):
        return f"{table.name} has nested columns."
    if any(column.alias != column.name for column in table.columns):
        return f"Names of columns of {table.name} differ in case alone."
    return ""


def exact_union(types: Sequence[str]) -> str | None:
    """Return the type that has all values of some types; None where there is none.

    >>> exact_union(["DECIMAL(8,2)", "SMALLINT"])
    'DECIMAL(8,2)'
    """
    if len(set(types)) == 1:
        return types[0]
    sizes = [_digits(type_) for type_ in types]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return None
    whole, decimals = max(size[0] for size in known), max(size[1] for size in known)
    if decimals == 0 and all(type_ in _WHOLE_DIGITS for type_ in types):
        if any(type_.startswith("U") for type_ in types):
            return "HUGEINT"
        return max(types, key=lambda type_: _WHOLE_DIGITS[type_])
    digits = whole + decimals
    return f"DECIMAL({digits},{decimals})" if digits <= _MOST_DIGITS else None


def _digits(type_: str) -> tuple[int, int] | None:
    """Return how many digits numbers of a type have before and after the point."""
    if type_ in _WHOLE_DIGITS:
        return _WHOLE_DIGITS[type_], 0
    found = _DECIMAL.fullmatch(type_)
    return (int(found[1]) - int(found[2]), int(found[2])) if found else None


def _select_list(member: Table, columns: Sequence[Column], period: str, text: str) -> str:
    own = _by_name(member)
    values = []
    for column in columns:
        present = own.get(column.name.lower())
        value = quote(present.name) if present else "NULL"
        values.append(f"CAST({value} AS {column.type}) AS {quote(column.name)}")
    return ", ".join([*values, f"{literal(text)} AS {quote(period)}"] if period else values)


def _replace(source: OpenSource, united: Mapping[str, _United]) -> None:
    owner = {member.name: each for each in united.values() for member in each.group.members}
    tables: dict[str, Table] = {}
    for table in source.tables:
        new = owner[table.name].table if table.name in owner else table
        tables.setdefault(new.name, new)
    source.tables = tuple(_with_references(table, owner, united) for table in tables.values())
    members = {name: each.group.members for name, each in united.items()}
    if source.keys is not None:
        source.keys = _UnitedKeys(source.keys, members)
    if source.catalog is not None:
        facts = dict(source.catalog.facts.tables)
        # The latest period is the one that a catalog's people look at.
        latest = {name: tables[-1].name for name, tables in members.items()}
        facts |= {name: facts[table] for name, table in latest.items() if table in facts}
        source.catalog = replace(source.catalog, facts=replace(source.catalog.facts, tables=facts))


def _keys(connection: duckdb.DuckDBPyConnection, group: _Group) -> _Keys:
    """Return the keys that all members declare, by the names that their table has now."""
    spelled = {column.name.lower(): column.name for column in group.columns}
    first, *others = group.members
    primary = _named_alike(first.primary_key, spelled)
    if any(_named_alike(other.primary_key, spelled) != primary for other in others):
        primary = ()
    declared = [[_named_alike(key, spelled) for key in each.unique_keys] for each in group.members]
    unique = [key for key in declared[0] if all(key in keys for keys in declared)]
    whole = {
        key: key if _holds(connection, group, key) else (*key, group.period)
        for key in (primary, *unique)
        if key
    }
    return _Keys(whole.get(primary, ()), tuple(whole[key] for key in unique), whole)


def _named_alike(key: Sequence[str], spelled: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(spelled[name.lower()] for name in key)


def _holds(connection: duckdb.DuckDBPyConnection, group: _Group, key: Sequence[str]) -> bool:
    names = [quote(name) for name in key]
    filled = " AND ".join(f"{name} IS NOT NULL" for name in names)
    row = connection.execute(
        f"SELECT 1 FROM {group.relation} WHERE {filled}"
        f" GROUP BY {', '.join(names)} HAVING count(*) > 1 LIMIT 1"
    ).fetchone()
    return row is None


def _united(connection: duckdb.DuckDBPyConnection, group: _Group) -> _United:
    """Return the table of a group, without the period where each row has a date in it."""
    keys = _keys(connection, group)
    says = group.period
    columns = (*group.columns, Column(group.period, "VARCHAR", nullable=False))
    if all(whole == key for key, whole in keys.whole.items()):
        types = {column.name: column.type for column in group.columns}
        date = date_in_period(connection, group.relation, types, says, group.names.periods)
        if date is not None:
            says = date
            group, columns = replace(group, period=""), group.columns
    members = [member.name for member in group.members]
    parts = f"({members[0]} to {members[-1]})"
    column = f"Column `{says}` says which {group.names.noun} a row is from."
    note = (
        f"{len(members):,} tables {parts} are one table by a decision. {column}"
        if group.decided
        else f"{len(members):,} tables whose names differ only in a period {parts} are one table."
        f" {column} To read each as a table of its own, pass --periods keep."
    )
    notes = dict.fromkeys(note for member in group.members for note in member.notes)
    table = Table(
        name=group.name,
        columns=columns,
        relation=group.relation,
        primary_key=keys.primary,
        unique_keys=keys.unique,
        schema=group.members[0].schema,
        comment=next((each.comment for each in reversed(group.members) if each.comment), None),
        notes=(*notes, note),
        origin=_origin(group),
        sampled=_sampled(group.members),
    )
    return _United(group, keys, table)


def _origin(group: _Group) -> InTables:
    """Return where the members can be read; those of a dump, once they are in a database."""
    places = [
        member.origin
        if isinstance(member.origin, InDatabase)
        else InDatabase(member.schema, member.name.removeprefix(_prefix(member)))
        for member in group.members
    ]
    return InTables(tuple(zip(places, group.select_lists, strict=True)))


def _sampled(members: Sequence[Table]) -> SampledRows | None:
    parts = [member.sampled for member in members]
    if not any(parts):
        return None
    totals = [part.total for part in parts if part]
    known = [total for total in totals if total is not None]
    return SampledRows(
        rows=sum(part.rows for part in parts if part),
        total=sum(known) if len(known) == len(members) else None,
        is_estimate=any(part.is_estimate for part in parts if part),
    )


def _with_references(
    table: Table, owner: Mapping[str, _United], united: Mapping[str, _United]
) -> Table:
    """Return a table with its references to where their tables are now.

    A table of periods keeps what all of them declare.
    """
    members = united[table.name].group.members if table.name in united else (table,)
    found = [
        dict.fromkeys(_moved(key, member, owner) for key in member.foreign_keys)
        for member in members
    ]
    kept = [key for key in found[0] if key and all(key in keys for keys in found)]
    notes = table.notes
    if any(key not in kept for keys in found for key in keys):
        notes = (
            *notes,
            "References that it declares were left out: they don't hold for all periods of tables"
            " that are one table now.",
        )
    return replace(table, foreign_keys=tuple(kept), notes=notes)


def _moved(
    key: DeclaredForeignKey, child: Table, owner: Mapping[str, _United]
) -> DeclaredForeignKey | None:
    """Return a reference as it is now; None where it can't be, for a part of what it was."""
    own, parent = owner.get(child.name), owner.get(key.to_table)
    columns = own.spelled(key.columns) if own else key.columns
    if parent is None:
        return replace(key, columns=columns)
    to_columns = parent.spelled(key.to_columns)
    whole = next((w for each, w in parent.keys.whole.items() if set(each) == set(to_columns)), ())
    moved = replace(key, columns=columns, to_table=parent.table.name, to_columns=to_columns)
    if set(whole) == set(to_columns):
        return moved
    if not whole or own is None or not own.group.period:
        return None
    if own.group.text_of(child.name) != parent.group.text_of(key.to_table):
        return None
    return replace(
        moved,
        columns=(*columns, own.group.period),
        to_columns=(*to_columns, parent.group.period),
    )


@dataclass(frozen=True, slots=True)
class _UnitedKeys:
    """The keys of tables that were united, looked up in each of them."""

    keys: KeysAtServer
    members: Mapping[str, Sequence[Table]]

    def matching(self, table: str, column: str, values: str) -> set[str] | None:
        """Return which values a column of a table has at the server, as text."""
        members = self.members.get(table)
        if members is None:
            return self.keys.matching(table, column, values)
        having = [each for each in members if column.lower() in _by_name(each)]
        found: set[str] = set()
        for member in having:
            name = _by_name(member)[column.lower()].name
            part = self.keys.matching(member.name, name, values)
            if part is None:
                return None
            found |= part
        # A server has no column for the period.
        return found if having else None
