"""From the drafts of a schema to tables with names, types and keys that hold together."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fluid_build.sources.base import Column, DeclaredForeignKey, Skipped, Table
from fluid_build.sources.ddl.draft import DraftTable, Schema, find_column, find_table
from fluid_build.sources.ddl.grammar import (
    ColumnDef,
    ForeignKeyDef,
    Identifier,
    ObjectName,
)
from fluid_build.sources.ddl.lexer import Token
from fluid_build.sources.ddl.reader import written
from fluid_build.sources.ddl.types import TEXT, duckdb_type
from fluid_build.sources.declared import unique_names

_SERIAL = frozenset(("SERIAL", "BIGSERIAL", "SMALLSERIAL", "SERIAL2", "SERIAL4", "SERIAL8"))


@dataclass
class Settled:
    """Tables as declared, without a relation yet, and sentences about what was met."""

    tables: list[Table] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unknown_types: Counter[str] = field(default_factory=Counter)


def settle(schema: Schema) -> Settled:
    """The tables of a schema: partitions folded into their table, references resolved."""
    settled = Settled(skipped=list(schema.skipped.values()), notes=list(schema.aside.values()))
    drafts = _fold_partitions(schema, settled)
    names = _names(drafts, schema)
    named_types = {name: type_.base for name, type_ in schema.types.items()}
    for draft in drafts:
        if not draft.columns:
            reason = "It declares no columns."
            settled.skipped.append(Skipped(names[id(draft)], reason))
    drafts = [draft for draft in drafts if draft.columns]
    for draft in drafts:
        settled.tables.append(_table(schema, draft, names, named_types, settled))
    if schema.absent:
        spoken = ", ".join(sorted(set(schema.absent)))
        count = len(schema.absent)
        settled.notes.append(
            f"{count} {_plural(count, 'statement speaks', 'statements speak')} of tables that "
            f"the DDL does not make: {spoken}."
        )
    if not schema.dialect.keys_are_unique and any(key.primary for d in drafts for key in d.keys):
        settled.notes.append(
            f"In {schema.dialect.title} a PRIMARY KEY sorts rows and lets them repeat, so none "
            "was taken for a key."
        )
    return settled


def _plural(count: int, one: str, many: str) -> str:
    return one if count == 1 else many


def _fold_partitions(schema: Schema, settled: Settled) -> list[DraftTable]:
    """The tables without the partitions of others.

    A foreign key that all partitions of a table declare holds for the table as a whole.
    """
    drafts = list(schema.tables.values())
    children: dict[int, list[DraftTable]] = {}
    for draft in drafts:
        root = _root(schema, draft)
        if root is not draft:
            children.setdefault(id(root), []).append(draft)
    for draft in drafts:
        parts = children.get(id(draft), [])
        if not parts:
            continue
        draft.foreign_keys += _shared(schema, draft, parts)
        count = len(parts)
        settled.notes.append(
            f"{count} {_plural(count, 'partition', 'partitions')} of {draft.name.text} "
            f"{_plural(count, 'is', 'are')} no {_plural(count, 'table', 'tables')} of "
            f"{_plural(count, 'its', 'their')} own."
        )
    folded = {id(part) for parts in children.values() for part in parts}
    return [draft for draft in drafts if id(draft) not in folded]


def _root(schema: Schema, draft: DraftTable) -> DraftTable:
    """The table that a partition, or a partition of a partition, belongs to."""
    seen = {id(draft)}
    while draft.parent is not None:
        parent = find_table(schema, draft.parent)
        if parent is None or id(parent) in seen:
            break
        seen.add(id(parent))
        draft = parent
    return draft


def _shared(schema: Schema, draft: DraftTable, parts: Sequence[DraftTable]) -> list[ForeignKeyDef]:
    def meaning(key: ForeignKeyDef) -> tuple[object, ...]:
        target = find_table(schema, key.to_table)
        columns = tuple(name.text.lower() for name in key.columns)
        return columns, id(target), tuple(name.text.lower() for name in key.to_columns)

    own = {meaning(key) for key in draft.foreign_keys}
    common = set.intersection(*({meaning(key) for key in part.foreign_keys} for part in parts))
    shared = {meaning(key): key for key in parts[0].foreign_keys}
    return [key for what, key in shared.items() if what in common and what not in own]


def _names(drafts: Sequence[DraftTable], schema: Schema) -> dict[int, str]:
    """Each table's name: bare where there is one schema, else with its schema."""
    default = schema.dialect.default_schema
    homes = [draft.schema or default for draft in drafts]
    if len({home.lower() for home in homes}) <= 1:
        names = [draft.name.text for draft in drafts]
    else:
        names = [
            f"{home}.{draft.name.text}" if home else draft.name.text
            for home, draft in zip(homes, drafts, strict=True)
        ]
    return {id(draft): name for draft, name in zip(drafts, names, strict=True)}


def _table(
    schema: Schema,
    draft: DraftTable,
    names: Mapping[int, str],
    named_types: Mapping[str, Sequence[Token]],
    settled: Settled,
) -> Table:
    notes = list(draft.notes)
    primary, unique = _keys(schema, draft, notes)
    aliases = unique_names(column.name.text for column in draft.columns)
    columns = tuple(
        _column(schema, column, alias, column.name.text in primary, named_types, settled)
        for column, alias in zip(draft.columns, aliases, strict=True)
    )
    for column in draft.columns:
        notes += [
            f"Of the column {column.name.text}, {fault!r} was not understood."
            for fault in column.faults
        ]
    return Table(
        name=names[id(draft)],
        columns=columns,
        relation="",
        primary_key=primary,
        unique_keys=unique,
        foreign_keys=_foreign_keys(schema, draft, names, notes),
        schema=draft.schema,
        comment=draft.comment or None,
        notes=tuple(notes),
    )


def _column(
    schema: Schema,
    column: ColumnDef,
    alias: str,
    in_key: bool,
    named_types: Mapping[str, Sequence[Token]],
    settled: Settled,
) -> Column:
    declared = written(column.type)
    found = duckdb_type(column.type, schema.dialect, named_types)
    notes: tuple[str, ...] = ()
    if found is None:
        settled.unknown_types[declared] += 1
        notes = (f"Its type {declared} is not known; it is taken for text.",)
    domain = schema.types.get(column.type[-1].text.lower()) if len(column.type) in (1, 3) else None
    required = in_key or (domain is not None and domain.nullable is False)
    if column.type and column.type[0].upper in _SERIAL:
        required = True
    return Column(
        name=column.name.text,
        alias=alias,
        type=found or TEXT,
        declared_type=declared,
        nullable=not required and column.nullable is not False,
        comment=column.comment or None,
        generated=column.generated,
        notes=notes,
    )


def _keys(
    schema: Schema, draft: DraftTable, notes: list[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The primary key and the unique keys, as the columns are spelled."""
    primary: tuple[str, ...] = ()
    unique: list[tuple[str, ...]] = []
    for key in draft.keys:
        if not key.columns or (key.primary and not schema.dialect.keys_are_unique):
            continue
        columns = _spelled(schema, draft, key.columns)
        if not columns:
            notes.append(f"A key over ({_listed(key.columns)}) names a column that is not there.")
        elif not key.primary:
            unique.append(columns)
        elif not primary:
            primary = columns
        elif set(columns) != set(primary):
            notes.append(f"A second primary key ({_listed(key.columns)}) is declared.")
    kept = dict.fromkeys(columns for columns in unique if set(columns) != set(primary))
    return primary, tuple(kept)


def _listed(names: Iterable[Identifier]) -> str:
    return ", ".join(name.text for name in names)


def _spelled(schema: Schema, draft: DraftTable, names: Sequence[Identifier]) -> tuple[str, ...]:
    """Columns as their table spells them, in order; none at all if one is not there."""
    places = [find_column(draft.columns, name, schema.dialect.folding) for name in names]
    return (
        tuple(draft.columns[place].name.text for place in places if place is not None)
        if all(place is not None for place in places)
        else ()
    )


def _foreign_keys(
    schema: Schema,
    draft: DraftTable,
    names: Mapping[int, str],
    notes: list[str],
) -> tuple[DeclaredForeignKey, ...]:
    """The foreign keys whose tables and columns are there; a note for each that is left out."""
    kept: dict[DeclaredForeignKey, None] = {}
    for key in draft.foreign_keys:
        reference = f"A foreign key ({_listed(key.columns)}) to {key.to_table.name.text}"
        parent = _referred(schema, draft, key.to_table)
        if parent is None or id(parent) not in names:
            notes.append(f"{reference} is left out: that table is not in the DDL.")
            continue
        child_columns = _spelled(schema, draft, key.columns)
        parent_columns = (
            _spelled(schema, parent, key.to_columns)
            if key.to_columns
            else _keys(schema, parent, [])[0]
        )
        if not child_columns or len(child_columns) != len(parent_columns):
            notes.append(f"{reference} is left out: its columns do not pair up.")
            continue
        kept[DeclaredForeignKey(child_columns, names[id(parent)], parent_columns)] = None
    return tuple(kept)


def _referred(schema: Schema, draft: DraftTable, name: ObjectName) -> DraftTable | None:
    """The table that a foreign key names, in its own schema first; for a partition, the whole."""
    found = None
    if name.schema is None and draft.schema:
        beside = Identifier(draft.schema, True)
        found = find_table(schema, ObjectName(name.name, beside))
    found = found or find_table(schema, name)
    return None if found is None else _root(schema, found)
