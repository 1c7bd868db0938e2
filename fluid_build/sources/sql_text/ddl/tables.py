"""From the drafts of a schema to tables with names, types and keys that fit together."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fluid_build import limits
from fluid_build.sources.base import Column, DeclaredForeignKey, Skipped, Table
from fluid_build.sources.declared import unique_names
from fluid_build.sources.sql_text.ddl.schema import (
    ColumnDef,
    DraftTable,
    ForeignKey,
    Identifier,
    ObjectName,
    Schema,
    find_column,
    find_table,
)
from fluid_build.sources.sql_text.ddl.tokens import written
from fluid_build.sources.sql_text.ddl.types import TEXT, duckdb_type

_SERIAL = frozenset(("SERIAL", "BIGSERIAL", "SMALLSERIAL", "SERIAL2", "SERIAL4", "SERIAL8"))


@dataclass
class DeclaredTables:
    """Tables as declared, without a relation yet, and sentences about what was noticed.

    ``names`` are those of the drafts, by their identity.
    """

    tables: list[Table] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unknown_types: Counter[str] = field(default_factory=Counter)
    names: dict[int, str] = field(default_factory=dict)


def declared_tables(schema: Schema) -> DeclaredTables:
    """Return the tables of a schema: partitions folded into their table, references resolved."""
    declared = DeclaredTables(
        skipped=list(schema.skipped.values()), notes=list(schema.aside.values())
    )
    drafts = _fold_partitions(schema, declared.notes)
    declared.names = _names(drafts, schema)
    for draft in drafts:
        if fault := _fault(draft):
            declared.skipped.append(Skipped(declared.names[id(draft)], fault))
        else:
            declared.tables.append(_table(schema, draft, declared))
    if schema.absent:
        count = len(schema.absent)
        declared.notes.append(
            f"{count} {'statement changes' if count == 1 else 'statements change'} tables that "
            f"the DDL doesn't create: {', '.join(sorted(set(schema.absent)))}."
        )
    if not schema.dialect.keys_are_unique and any(key.primary for d in drafts for key in d.keys):
        declared.notes.append(
            f"In {schema.dialect.title} a PRIMARY KEY sorts rows and lets them repeat, so none "
            "is read as a key."
        )
    return declared


def _fault(draft: DraftTable) -> str:
    """Return why a table isn't read, as a sentence; "" if nothing is wrong with it."""
    if not draft.columns:
        return "It declares no columns."
    try:
        limits.check_columns([column.name.text for column in draft.columns])
    except ValueError as error:
        return str(error)
    return ""


def _fold_partitions(schema: Schema, notes: list[str]) -> list[DraftTable]:
    """Return the tables without the partitions of others.

    A foreign key that all partitions of a table declare holds for the table as a whole.
    """
    drafts = list(schema.tables.values())
    partitions: dict[int, list[DraftTable]] = {}
    for draft in drafts:
        whole = whole_table(schema, draft)
        if whole is not draft:
            partitions.setdefault(id(whole), []).append(draft)
    for draft in drafts:
        parts = partitions.get(id(draft), [])
        if parts:
            draft.foreign_keys += _shared_keys(schema, draft, parts)
            name = draft.name.text
            notes.append(
                f"1 partition of {name} isn't a separate table."
                if len(parts) == 1
                else f"{len(parts)} partitions of {name} aren't separate tables."
            )
    folded = {id(part) for parts in partitions.values() for part in parts}
    return [draft for draft in drafts if id(draft) not in folded]


def whole_table(schema: Schema, draft: DraftTable) -> DraftTable:
    """Return the table that a partition, or a partition of a partition, belongs to."""
    seen = {id(draft)}
    while draft.parent is not None:
        parent = find_table(schema, draft.parent)
        if parent is None or id(parent) in seen:
            break
        seen.add(id(parent))
        draft = parent
    return draft


def _shared_keys(
    schema: Schema, draft: DraftTable, parts: Sequence[DraftTable]
) -> list[ForeignKey]:
    def meaning(key: ForeignKey) -> tuple[object, ...]:
        columns, to_columns = _listed(key.columns).lower(), _listed(key.to_columns).lower()
        return columns, id(find_table(schema, key.to_table)), to_columns

    own = {meaning(key) for key in draft.foreign_keys}
    common = set.intersection(*({meaning(key) for key in part.foreign_keys} for part in parts))
    first = {meaning(key): key for key in parts[0].foreign_keys}
    return [key for what, key in first.items() if what in common - own]


def _names(drafts: Sequence[DraftTable], schema: Schema) -> dict[int, str]:
    """Return each table's name: bare if there is one schema, else with its schema."""
    homes = [draft.schema or schema.dialect.default_schema for draft in drafts]
    is_one = len({home.lower() for home in homes}) <= 1
    return {
        id(draft): draft.name.text if is_one or not home else f"{home}.{draft.name.text}"
        for draft, home in zip(drafts, homes, strict=True)
    }


def _table(schema: Schema, draft: DraftTable, declared: DeclaredTables) -> Table:
    notes: list[str] = []
    primary, unique = _keys(schema, draft, notes)
    aliases = unique_names(column.name.text for column in draft.columns)
    columns = tuple(
        _column(schema, column, alias, column.name.text in primary, declared.unknown_types)
        for column, alias in zip(draft.columns, aliases, strict=True)
    )
    notes += [
        f"Part of the column {column.name.text} wasn't understood: {fault!r}."
        for column in draft.columns
        for fault in column.faults
    ]
    return Table(
        name=declared.names[id(draft)],
        columns=columns,
        relation="",
        primary_key=primary,
        unique_keys=unique,
        keys_with_equal_nulls=_keys_with_equal_nulls(schema, draft),
        foreign_keys=_foreign_keys(schema, draft, declared.names, notes),
        schema=draft.schema,
        comment=draft.comment or None,
        notes=tuple(notes),
    )


def _column(
    schema: Schema, column: ColumnDef, alias: str, in_key: bool, unknown_types: Counter[str]
) -> Column:
    declared = written(column.type)
    type_ = duckdb_type(column.type, schema.dialect, schema.types)
    if type_ is None:
        unknown_types[declared] += 1
    # A domain is one word, with a schema before it at most.
    domain = schema.types.get(column.type[-1].text.lower()) if len(column.type) in (1, 3) else None
    is_serial = bool(column.type) and column.type[0].upper in _SERIAL
    is_required = in_key or is_serial or (domain is not None and domain.is_required)
    return Column(
        name=column.name.text,
        alias=alias,
        type=type_ or TEXT,
        declared_type=declared,
        nullable=not is_required and column.nullable is not False,
        comment=column.comment or None,
        generated=column.generated,
        notes=() if type_ else (f"Its type {declared} isn't known and is read as text.",),
    )


def _keys(
    schema: Schema, draft: DraftTable, notes: list[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the primary key and the unique keys, spelled as the columns are."""
    primary: tuple[str, ...] = ()
    unique: list[tuple[str, ...]] = []
    for key in draft.keys:
        if not key.columns or (key.primary and not schema.dialect.keys_are_unique):
            continue
        columns = _spelled(schema, draft, key.columns)
        if not columns:
            notes.append(f"A key over ({_listed(key.columns)}) names a column that doesn't exist.")
        elif not key.primary:
            unique.append(columns)
        elif not primary:
            primary = columns
        elif set(columns) != set(primary):
            notes.append(f"A second primary key ({_listed(key.columns)}) is declared.")
    return primary, tuple(
        dict.fromkeys(columns for columns in unique if set(columns) != set(primary))
    )


def _keys_with_equal_nulls(schema: Schema, draft: DraftTable) -> frozenset[tuple[str, ...]]:
    keys = (_spelled(schema, draft, key.columns) for key in draft.keys if key.nulls_are_equal)
    return frozenset(key for key in keys if key)


def _listed(names: Iterable[Identifier]) -> str:
    return ", ".join(name.text for name in names)


def _spelled(schema: Schema, draft: DraftTable, names: Sequence[Identifier]) -> tuple[str, ...]:
    """Return columns as their table spells them, in order; none if one of them isn't there."""
    places = [find_column(draft.columns, name, schema.dialect.folding) for name in names]
    if None in places:
        return ()
    return tuple(draft.columns[place].name.text for place in places if place is not None)


def _foreign_keys(
    schema: Schema, draft: DraftTable, names: dict[int, str], notes: list[str]
) -> tuple[DeclaredForeignKey, ...]:
    """Return the foreign keys whose tables and columns exist; note each that's left out."""
    keys: dict[DeclaredForeignKey, None] = {}
    for key in draft.foreign_keys:
        reference = f"A foreign key ({_listed(key.columns)}) to {key.to_table.name.text}"
        parent = _referred(schema, draft, key.to_table)
        if parent is None or id(parent) not in names:
            notes.append(f"{reference} is left out: that table isn't in the DDL.")
            continue
        columns = _spelled(schema, draft, key.columns)
        to_columns = (
            _spelled(schema, parent, key.to_columns)
            if key.to_columns
            else _keys(schema, parent, [])[0]
        )
        if columns and len(columns) == len(to_columns):
            keys[DeclaredForeignKey(columns, names[id(parent)], to_columns)] = None
        else:
            notes.append(f"{reference} is left out: its columns don't pair up.")
    return tuple(keys)


def _referred(schema: Schema, draft: DraftTable, name: ObjectName) -> DraftTable | None:
    """Return the table that a foreign key names, in its own schema first; a partition's whole."""
    table = None
    if name.schema is None and draft.schema:
        table = find_table(schema, ObjectName(name.name, Identifier(draft.schema, True)))
    table = table or find_table(schema, name)
    return None if table is None else whole_table(schema, table)
