"""What statements do to rows, each at its own moment: with the tables and columns of then."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.ddl.files import SqlFile
from fluid_build.sources.sql_text.ddl.reader import Reader, UnreadableError
from fluid_build.sources.sql_text.ddl.row_header import (
    RowHeader,
    copy_header,
    emptied_tables,
    insert_header,
    is_text_format,
    written_tables,
)
from fluid_build.sources.sql_text.ddl.schema import (
    ColumnDef,
    DraftTable,
    ObjectName,
    Schema,
    find_column,
    find_table,
    table_key,
)
from fluid_build.sources.sql_text.ddl.statements import Statement
from fluid_build.sources.sql_text.ddl.tokens import Token, tokens_of

_BRINGING_ROWS = ("INSERT", "REPLACE", "COPY")
_NO_ROWS = frozenset(
    """
    ALTER ANALYZE COMMENT DENY DROP GRANT LOCK PRAGMA PRINT RAISERROR REVOKE UNLOCK USE
    """.split()
)
_ROUTINES = ("FUNCTION", "PROCEDURE", "PROC", "TRIGGER")
_EMPTYING = ("TRUNCATE", "DELETE")
_PLAIN = frozenset(("INSERT", "REPLACE", "SELECT", "UPDATE", "DELETE", "MERGE", "VALUES"))
"""Verbs whose texts are values, and no statements."""
_VALUES = 9
"""How deep in texts those are: none of them is looked into."""
_OPAQUE = frozenset(
    """
    BEGIN CALL DECLARE DELETE DO EXEC EXECUTE IF IMPORT LOAD MERGE PREPARE ROLLBACK SOURCE UPDATE
    WHILE WITH
    """.split()
)
"""What may change rows even if no table is named."""
_INCLUDING = ("\\I", "\\IR", "\\INCLUDE", "\\COPY", ".READ", ".IMPORT", ":R", "@", "START")
"""Commands of client programs that bring what another file holds."""


@dataclass(frozen=True, slots=True)
class RowStatement:
    """A statement with rows: the columns that they're written for, and where they begin.

    ``columns`` is None where the table hasn't one of those that it names. ``replaces`` says that a
    row may take the place of an earlier one, or give way to it.
    """

    file: SqlFile
    statement: Statement
    columns: tuple[ColumnDef, ...] | None
    start: int
    replaces: bool


@dataclass
class TableRows:
    """What statements do to the rows of a table, in order, since it was last emptied.

    ``unrun`` are those that only a server could follow. ``places`` are the names, with their
    schema, that statements know the table by; that of its own is empty.
    """

    statements: list[RowStatement] = field(default_factory=list)
    unrun: list[Statement] = field(default_factory=list)
    places: set[tuple[str, str]] = field(default_factory=set)


@dataclass
class ScriptRows:
    """What the statements of a script do to rows.

    ``tables`` has dropped ones too. ``lost`` counts statements by the name of a table that isn't
    there, ``unrun`` are statements that may change any table's rows, and ``waiting`` those about
    tables that aren't there yet, with the schema that was current and the table's name.
    ``routines`` are the names of tables that functions and procedures write to, and ``triggers``
    those of a table, with the tables whose rows they may change.
    """

    tables: dict[DraftTable, TableRows] = field(default_factory=dict)
    lost: Counter[str] = field(default_factory=Counter)
    unrun: list[Statement] = field(default_factory=list)
    waiting: list[tuple[SqlFile, Statement, str, ObjectName]] = field(default_factory=list)
    routines: dict[str, list[ObjectName]] = field(default_factory=dict)
    triggers: dict[DraftTable, list[tuple[Statement, set[DraftTable]]]] = field(
        default_factory=dict
    )
    _shapes: dict[tuple[ColumnDef, ...], tuple[ColumnDef, ...]] = field(default_factory=dict)

    def of(self, draft: DraftTable) -> TableRows:
        """Return what is known of a table's rows."""
        return self.tables.setdefault(draft, TableRows())

    def shape(self, columns: Iterable[ColumnDef]) -> tuple[ColumnDef, ...]:
        """Return columns as a tuple, the same one each time: there are millions of statements."""
        shape = tuple(columns)
        return self._shapes.setdefault(shape, shape)


def follow(rows: ScriptRows, file: SqlFile, statement: Statement, schema: Schema) -> None:
    """Keep what a statement does to rows, in the schema as it is now."""
    first = statement.words[0]
    if statement.client:
        if first.startswith(_INCLUDING):
            _keep_unrun(rows, file, statement, schema)
    elif first == "CREATE":
        _keep_routine(rows, statement, schema)
    elif first in _BRINGING_ROWS and (header := _header(file, statement, schema)):
        _bring(rows, file, statement, schema, header)
    elif first in _EMPTYING and (names := _emptied(file, statement, schema)):
        _empty(rows, statement, schema, names)
    elif first not in _NO_ROWS:
        _keep_unrun(rows, file, statement, schema)


def follow_waiting(rows: ScriptRows, schema: Schema) -> None:
    """Keep what statements do that waited for their tables: the order of files doesn't matter."""
    waiting, rows.waiting = rows.waiting, []
    for file, statement, schema.current, _ in waiting:
        follow(rows, file, statement, schema)
    known = schema.skipped | schema.aside
    for _, statement, schema.current, name in rows.waiting:
        if statement.words[0] in _BRINGING_ROWS:
            if table_key(schema, name) not in known:
                rows.lost[name.name.text] += 1
        elif statement.words[0] in _OPAQUE or statement.client:
            rows.unrun.append(statement)
    rows.waiting = []


def inner_header(text: str, start: int, end: int, dialect: Dialect) -> RowHeader | None:
    """Return the header of an INSERT whose keyword ends at ``start``; None if it has none."""
    try:
        return insert_header(text, start, end, dialect)
    except UnreadableError:
        return None


def _header(file: SqlFile, statement: Statement, schema: Schema) -> RowHeader | None:
    """Return what stands before a statement's rows; None where it has none that can be read."""
    if statement.rows is None:
        return None
    start, end = statement.rows
    try:
        if statement.words[0] == "COPY":
            tokens = statement.tokens
            return copy_header(tokens, start, schema.dialect) if is_text_format(tokens) else None
        header = insert_header(file.text, start, end, schema.dialect)
    except UnreadableError:
        return None
    if header is not None and statement.words[0] == "REPLACE":
        return replace(header, replaces=True)
    return header


def _bring(
    rows: ScriptRows, file: SqlFile, statement: Statement, schema: Schema, header: RowHeader
) -> None:
    draft = find_table(schema, header.table)
    if draft is None:
        rows.waiting.append((file, statement, schema.current, header.table))
        return
    folding = schema.dialect.folding
    places = [find_column(draft.columns, name, folding) for name in header.columns]
    named = [draft.columns[place] for place in places if place is not None]
    columns = None if None in places else rows.shape(named or draft.columns)
    known = rows.of(draft)
    known.statements.append(RowStatement(file, statement, columns, header.start, header.replaces))
    for trigger, changed in rows.triggers.get(draft, ()):
        for other in changed:
            if trigger not in rows.of(other).unrun:
                rows.of(other).unrun.append(trigger)
    place = table_key(schema, header.table)
    known.places.add(("", "") if schema.tables.get(place) is draft else place)


def _keep_routine(rows: ScriptRows, statement: Statement, schema: Schema) -> None:
    """Remember what a function or a procedure writes to, and what a trigger may change."""
    tokens = statement.tokens
    kinds = [place for place, word in enumerate(statement.words) if word in _ROUTINES]
    if not kinds or kinds[0] + 1 >= len(tokens):
        return
    written = [*written_tables(tokens, schema.dialect), *_written_by_routines(rows, tokens)]
    reader = Reader(tokens[kinds[0] + 1 :], schema.dialect)
    reader.accept("IF NOT EXISTS")
    try:
        name = reader.object_name().name.text
        if tokens[kinds[0]].upper != "TRIGGER":
            rows.routines[name.lower()] = written
            return
        reader.skip_to("ON")
        draft = find_table(schema, reader.object_name())
    except UnreadableError:
        return
    changed = {found for each in written if (found := find_table(schema, each)) is not None}
    if draft is not None:
        is_before = bool({"BEFORE", "INSTEAD"} & set(statement.words))
        rows.triggers.setdefault(draft, []).append(
            (statement, changed | {draft} if is_before else changed)
        )


def _written_by_routines(rows: ScriptRows, tokens: Sequence[Token]) -> list[ObjectName]:
    called = (rows.routines.get(token.text.lower(), ()) for token in tokens)
    return [name for names in called for name in names]


def _emptied(file: SqlFile, statement: Statement, schema: Schema) -> list[ObjectName]:
    try:
        return emptied_tables(_all_tokens(file, statement, schema), schema.dialect)
    except UnreadableError:
        return []


def _empty(
    rows: ScriptRows, statement: Statement, schema: Schema, names: Sequence[ObjectName]
) -> None:
    """Forget the rows of tables, and of those that refer to them if a TRUNCATE says so."""
    # Only the very table: one of another schema may have the same name.
    found = (schema.tables.get(table_key(schema, name)) for name in names)
    emptied = {draft for draft in found if draft is not None}
    if any(token.upper == "CASCADE" for token in statement.tokens):
        while more := _referring(schema, emptied):
            emptied |= more
    for draft in emptied:
        rows.tables.pop(draft, None)
    for draft in _referring(schema, emptied) & rows.tables.keys():
        # Rows that refer to those may have gone with them.
        rows.of(draft).unrun.append(statement)


def _referring(schema: Schema, tables: set[DraftTable]) -> set[DraftTable]:
    return {
        draft
        for draft in schema.tables.values()
        if draft not in tables
        and any(find_table(schema, key.to_table) in tables for key in draft.foreign_keys)
    }


def _keep_unrun(rows: ScriptRows, file: SqlFile, statement: Statement, schema: Schema) -> None:
    """Remember a statement that isn't run with each table whose rows it brings or changes."""
    first, tokens = statement.words[0], _all_tokens(file, statement, schema)
    depth = _VALUES if first in _PLAIN else 0
    names = [
        *written_tables(tokens, schema.dialect, depth),
        *(_written_by_routines(rows, tokens) if rows.routines else ()),
    ]
    drafts = {draft for name in names if (draft := find_table(schema, name)) is not None}
    for draft in drafts:
        known = rows.of(draft)
        # There may be nothing yet to update or to delete.
        if known.statements or known.unrun or first not in ("UPDATE", "DELETE"):
            known.unrun.append(statement)
    if names and not drafts:
        rows.waiting.append((file, statement, schema.current, names[0]))
    elif not drafts and (first in _OPAQUE or statement.client) and not _is_harmless(statement):
        rows.unrun.append(statement)


def _is_harmless(statement: Statement) -> bool:
    """Return whether a BEGIN only begins a transaction, or an EXEC runs a system's procedure."""
    first, *following = statement.words
    if first == "BEGIN":
        return not any(token.upper == ";" for token in statement.tokens)
    return first in ("EXEC", "EXECUTE") and any(word.startswith("SP_") for word in following)


def _all_tokens(file: SqlFile, statement: Statement, schema: Schema) -> Sequence[Token]:
    """Return a statement's tokens; the splitter keeps no more of some than the first."""
    first, text = statement.tokens[0], file.text
    if statement.client:
        end = text.find("\n", first.start)
        return tokens_of(text[first.start + 1 : len(text) if end < 0 else end], schema.dialect)
    if statement.rows is None or first.upper == "COPY":
        return statement.tokens
    return tokens_of(text[first.start : statement.rows[1]], schema.dialect)
