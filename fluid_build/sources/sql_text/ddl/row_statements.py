"""What statements do to rows, each at its own moment: with the tables and columns of then.

A header is what stands before rows: the table they go into, its columns, and where they begin.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.ddl.files import SqlFile
from fluid_build.sources.sql_text.ddl.reader import Reader, UnreadableError
from fluid_build.sources.sql_text.ddl.schema import (
    ColumnDef,
    DraftTable,
    Identifier,
    ObjectName,
    Schema,
    find_column,
    find_table,
    table_key,
)
from fluid_build.sources.sql_text.ddl.session_zone import zone_after
from fluid_build.sources.sql_text.ddl.statements import Statement
from fluid_build.sources.sql_text.ddl.tokens import Token, Tokenizer, tokens_of

_MOST_TOKENS = 5_000
"""More than the columns of the widest table take."""
_WITHOUT_VALUES = frozenset(("SELECT", "WITH", "SET", "EXEC", "EXECUTE", "TABLE"))
"""What stands in the place of VALUES in a statement whose rows are elsewhere."""
_WRITES = frozenset(("INSERT", "INTO", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "COPY"))
_MENTIONS_WRITES = re.compile(rf"\b(?:{'|'.join(sorted(_WRITES))})\b", re.IGNORECASE)
_USUAL = re.compile(r"[^'(;]{0,999}?(?:\([^()';]*\)[^'(;]{0,99}?)?\bVALUES\b", re.IGNORECASE)
"""Most headers; what else it matches isn't read as one."""
_REPLACING = (
    "OR REPLACE", "OR IGNORE", "OR ABORT", "OR FAIL", "OR ROLLBACK", "IGNORE", "OVERWRITE",
)  # fmt: skip
_PRIORITIES = ("LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED")
_BETWEEN = (
    *_REPLACING, *_PRIORITIES, "QUICK", "INTO", "FROM", "TABLE", "ONLY",
)  # fmt: skip
"""What may stand between a verb and the name of the table that it writes to."""
_NO_VERB_AFTER = frozenset(("ON", "FOR", "DO", "KEY", "THEN", "BEFORE", "AFTER", "OR", "WHEN"))
"""Words of clauses, as in ON DELETE, FOR UPDATE, ON DUPLICATE KEY UPDATE and THEN INSERT."""

_DEEPEST = 2
"""A body in a text, and a statement in a text in it."""
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
class RowHeader:
    """The table that rows go into, its columns if they are named, and where the rows begin.

    ``replaces`` says that a row may take the place of an earlier one, or give way to it.
    """

    table: ObjectName
    columns: tuple[Identifier, ...]
    start: int
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class RowStatement:
    """A statement with rows: the columns that they're written for, and where they begin.

    ``columns`` is None where the table hasn't one of those that it names. ``replaces`` says that a
    row may take the place of an earlier one, or give way to it. ``zone`` is the session's time
    zone, empty where nobody knows.
    """

    file: SqlFile
    statement: Statement
    columns: tuple[ColumnDef, ...] | None
    start: int
    replaces: bool
    zone: str


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
    tables that aren't there yet, with the schema and the time zone that were current and the
    table's name. ``zone`` is the current time zone.
    ``routines`` are the names of tables that functions and procedures write to, and ``triggers``
    those of a table, with the tables whose rows they may change.
    """

    tables: dict[DraftTable, TableRows] = field(default_factory=dict)
    lost: Counter[str] = field(default_factory=Counter)
    unrun: list[Statement] = field(default_factory=list)
    waiting: list[tuple[SqlFile, Statement, str, str, ObjectName]] = field(default_factory=list)
    zone: str = ""
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
    rows.zone = zone_after(statement, rows.zone)
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
    for file, statement, schema.current, rows.zone, _ in waiting:
        follow(rows, file, statement, schema)
    known = schema.skipped | schema.aside
    for _, statement, schema.current, _, name in rows.waiting:
        if statement.words[0] in _BRINGING_ROWS:
            if table_key(schema, name) not in known:
                rows.lost[name.name.text] += 1
        elif statement.words[0] in _OPAQUE or statement.client:
            rows.unrun.append(statement)
    rows.waiting = []


def inner_header(text: str, start: int, end: int, dialect: Dialect) -> RowHeader | None:
    """Return the header of an INSERT whose keyword ends at ``start``; None if it has none."""
    try:
        return _insert_header(text, start, end, dialect)
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
            return _copy_header(tokens, start, schema.dialect) if _is_text_format(tokens) else None
        header = _insert_header(file.text, start, end, schema.dialect)
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
        rows.waiting.append((file, statement, schema.current, rows.zone, header.table))
        return
    folding = schema.dialect.folding
    places = [find_column(draft.columns, name, folding) for name in header.columns]
    named = [draft.columns[place] for place in places if place is not None]
    columns = None if None in places else rows.shape(named or draft.columns)
    known = rows.of(draft)
    known.statements.append(
        RowStatement(file, statement, columns, header.start, header.replaces, rows.zone)
    )
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
    written = [*_written_tables(tokens, schema.dialect), *_written_by_routines(rows, tokens)]
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
        return _emptied_tables(_all_tokens(file, statement, schema), schema.dialect)
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
        *_written_tables(tokens, schema.dialect, depth),
        *(_written_by_routines(rows, tokens) if rows.routines else ()),
    ]
    drafts = {draft for name in names if (draft := find_table(schema, name)) is not None}
    for draft in drafts:
        known = rows.of(draft)
        # There may be nothing yet to update or to delete.
        if known.statements or known.unrun or first not in ("UPDATE", "DELETE"):
            known.unrun.append(statement)
    if names and not drafts:
        rows.waiting.append((file, statement, schema.current, rows.zone, names[0]))
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


def _insert_header(text: str, start: int, end: int, dialect: Dialect) -> RowHeader | None:
    """Return the header of an INSERT, whose keyword ends at ``start``.

    None for one without values, such as INSERT … SELECT. Raises UnreadableError.
    """
    usual = _USUAL.match(text, start, end)
    header = _usual_header(usual[0], dialect) if usual else None
    header = header or _read_header(text[start:end], dialect)
    return header and RowHeader(header.table, header.columns, start + header.start, header.replaces)


@lru_cache(maxsize=1_000)
def _usual_header(text: str, dialect: Dialect) -> RowHeader | None:
    """Return a header that many statements share; None where the text isn't the whole of one."""
    try:
        return _read_header(text, dialect)
    except UnreadableError:
        return None


def _read_header(text: str, dialect: Dialect) -> RowHeader | None:
    tokens = _tokens_before_values(text, dialect)
    if tokens is None:
        return None
    reader = Reader(tokens[:-1], dialect)
    if reader.upper() in ("ALL", "FIRST") and reader.upper(1) in ("INTO", "WHEN"):
        # Oracle's way to write to several tables.
        return None
    replaces = False
    while reader.accept(*_REPLACING, *_PRIORITIES):
        replaces |= tokens[reader.at - 1].upper not in _PRIORITIES
    reader.accept("INTO")
    reader.accept("TABLE")
    name = reader.object_name()
    return RowHeader(name, _columns(reader), tokens[-1].end, replaces)


def _copy_header(tokens: Sequence[Token], start: int, dialect: Dialect) -> RowHeader:
    """Return the header of a COPY from its tokens; its lines begin at ``start``."""
    reader = Reader(tokens, dialect)
    reader.expect("COPY")
    name = reader.object_name()
    return RowHeader(name, _columns(reader), start)


def _emptied_tables(tokens: Sequence[Token], dialect: Dialect) -> list[ObjectName]:
    """Return the tables that a TRUNCATE, or a DELETE without a condition, takes all rows of.

    Raises UnreadableError.
    """
    reader = Reader(tokens, dialect)
    is_truncate = reader.accept("TRUNCATE")
    while reader.accept("DELETE", "FROM", "TABLE", "IF EXISTS", "ONLY"):
        pass
    names = reader.object_names()
    return names if is_truncate or reader.is_done else []


def _written_tables(
    tokens: Sequence[Token], dialect: Dialect, depth: int = 0
) -> Iterator[ObjectName]:
    """Yield the names behind verbs that write rows, in the texts of a statement too."""
    reader = Reader(tokens, dialect)
    for place, token in enumerate(tokens):
        before = tokens[place - 1].upper if place else ""
        if token.kind == "string" and depth < _DEEPEST and _MENTIONS_WRITES.search(token.text):
            yield from _written_tables(tokens_of(token.text, dialect), dialect, depth + 1)
        elif token.upper in _WRITES and before not in _NO_VERB_AFTER:
            reader.at = place + 1
            while reader.accept(*_BETWEEN):
                pass
            if reader.is_name():
                yield from _names(reader, is_update=token.upper == "UPDATE")


def _names(reader: Reader, *, is_update: bool) -> Iterator[ObjectName]:
    """Yield the name that comes next; before an UPDATE's SET, all of those that it may change."""
    try:
        yield reader.object_name()
        while is_update and not reader.is_done and reader.upper() not in ("SET", ";"):
            if reader.is_name():
                yield reader.object_name()
            else:
                reader.take()
    except UnreadableError:
        return


def _is_text_format(tokens: Sequence[Token]) -> bool:
    """Return whether a COPY's lines are in its text format with the usual delimiter and null."""
    words = [token.upper for token in tokens]
    return not {"CSV", "BINARY", "DELIMITER", "DELIMITERS", "NULL", "FORMAT"} & set(words)


def _columns(reader: Reader) -> tuple[Identifier, ...]:
    if reader.upper() != "(":
        return ()
    return tuple(piece.name() for piece in reader.pieces())


def _tokens_before_values(text: str, dialect: Dialect) -> Sequence[Token] | None:
    """Return the tokens up to VALUES; None for a statement without values."""
    tokens: list[Token] = []
    tokenizer = Tokenizer(text, dialect)
    position = depth = 0
    while token := tokenizer.next(position):
        tokens.append(token)
        depth += {"(": 1, ")": -1}.get(token.upper, 0)
        # OVERRIDING SYSTEM VALUE stands before them, in PostgreSQL.
        is_overriding = len(tokens) > 2 and tokens[-3].upper == "OVERRIDING"
        # A column may be called so too.
        if token.upper in ("VALUES", "VALUE") and not is_overriding and depth == 0:
            return None if tokens[-2:-1] and tokens[-2].upper == "DEFAULT" else tokens
        is_first = len(tokens) == 1 or tokens[-2].upper in ("INTO", "OVERWRITE")
        if token.upper in _WITHOUT_VALUES and not is_first and not depth:
            return None
        if len(tokens) > _MOST_TOKENS:
            raise UnreadableError("its columns never end")
        position = token.end
    return None
