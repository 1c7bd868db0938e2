"""What a statement does to the schema."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

from fluid_build.sources.base import Skipped
from fluid_build.sources.sql_text.ddl import changes
from fluid_build.sources.sql_text.ddl.alter import read_changes
from fluid_build.sources.sql_text.ddl.changes import Change
from fluid_build.sources.sql_text.ddl.create import create_table, table_name
from fluid_build.sources.sql_text.ddl.elements import are_nulls_equal, key_columns
from fluid_build.sources.sql_text.ddl.reader import Reader, UnreadableError, object_name
from fluid_build.sources.sql_text.ddl.schema import (
    AbsentTableError,
    ChangeError,
    Elements,
    Identifier,
    Key,
    NamedType,
    ObjectName,
    Schema,
    find_table,
    table_key,
)
from fluid_build.sources.sql_text.ddl.statements import OBJECTS, Statement
from fluid_build.sources.sql_text.ddl.tokens import Token, tokens_of

_IRRELEVANT = frozenset(
    """
    ABORT ANALYSE ANALYZE ATTACH AUDIT BACKUP BEGIN BULK CACHE CALL CHECKPOINT CLOSE CLUSTER
    COMMENT COMMIT CONNECT COPY DBCC DEALLOCATE DECLARE DELETE DELIMITER DENY DESC DESCRIBE
    DETACH DISABLE DO ELSE ENABLE END EXEC EXECUTE EXPLAIN EXPORT FETCH FLUSH GET GO GOTO GRANT
    IF IMPORT INSERT INSTALL KILL LABEL LIST LISTEN LOAD LOCK MERGE MSCK NOAUDIT NOTIFY OPEN
    OPTIMIZE PRAGMA PREPARE PRINT PURGE PUT RAISERROR REASSIGN RECONFIGURE REFRESH REINDEX RELEASE
    RENAME REPAIR REPLACE RESET RESTORE RETURN REVOKE ROLLBACK SAVEPOINT SECURITY SELECT SET
    SHOW SOURCE START TERMINATE THROW TRUNCATE UNDROP UNLOCK UPDATE USE VACUUM VALUES WAITFOR
    WHILE WITH
    """.split()
)
# Kinds of objects besides those that the splitter has to know, none with a table's structure.
_OTHER_OBJECTS = frozenset(
    """
    ACCESS ACCOUNT ALERT ALIAS ASSEMBLY AUDIT AUTHORIZATION BUFFERPOOL CERTIFICATE CLUSTER
    CONSTRAINT CONTEXT CONTRACT CREDENTIAL DEFAULT DIMENSION ENDPOINT GROUP INTEGRATION KEY MASK
    MODULE NICKNAME OBJECT PERMISSION QUEUE RESOURCE SCHEME SERVICE SHARE SYSTEM VARIABLE
    WRAPPER
    """.split()
)
_BEHIND_BASE = frozenset(("NOT", "NULL", "CHECK", "CONSTRAINT", "DEFAULT", "COLLATE"))
_DROPS = (changes.drop_column, changes.drop_constraint, changes.drop_primary_key)


def apply(statement: Statement, schema: Schema) -> list[str]:
    """Do what a statement says to a schema, and return what of it couldn't be done.

    Raises AbsentTableError, with nothing changed, if its table isn't there yet, and
    UnreadableError if the statement makes no sense.
    """
    try:
        opening = "" if statement.client else _opening(statement)
        read = _READERS.get(opening)
        if statement.terminated and opening == "CREATE SCHEMA":
            # It has no tables inside.
            read = None
        faults = read(Reader(statement.tokens, schema.dialect), schema) if read else None
        if faults is None:
            schema.irrelevant[_description(statement)] += 1
    finally:
        if statement.terminated and schema.enclosing is not None:
            schema.current, schema.enclosing = schema.enclosing, None
    return faults or []


def note_absence(statement: Statement, schema: Schema) -> None:
    """Note a statement about a table that never came; comments, mostly of views, are no loss."""
    if statement.words[0] == "CREATE" and _opening(statement) == "CREATE TABLE":
        name = table_name(Reader(statement.tokens, schema.dialect))
        reason = "It takes its columns from a table that isn't in the DDL."
        schema.skipped[table_key(schema, name)] = Skipped(name.name.text, reason)
        return
    try:
        apply(statement, schema)
    except AbsentTableError as absence:
        if {"COMMENT", "SP_ADDEXTENDEDPROPERTY"} & set(statement.words[:4]):
            schema.irrelevant["COMMENT ON (no table)"] += 1
        else:
            schema.absent.append(str(absence))


def has_known_opening(statement: Statement) -> bool:
    """Return whether a statement begins like one that we know, and not with a stranger's value."""
    first = statement.words[0]
    return first in ("CREATE", "ALTER", "DROP") or first in _READERS or first in _IRRELEVANT


def _opening(statement: Statement) -> str:
    """Return the first word, with the kind of object after CREATE, ALTER and DROP."""
    first, *words = statement.words
    if first not in ("CREATE", "ALTER", "DROP"):
        return first
    words = words[: words.index("(")] if "(" in words else words
    known = [place for place, word in enumerate(words) if word in OBJECTS]
    known += [place for place, word in enumerate(words) if word in _OTHER_OBJECTS]
    if not known:
        raise UnreadableError("it's about no kind of object we know")
    is_function = words[known[0] : known[0] + 2] == ["TABLE", "FUNCTION"]
    return f"{first} {'FUNCTION' if is_function else words[known[0]]}"


def _description(statement: Statement) -> str:
    """Return what a statement without bearing on structure is called in the count."""
    if statement.client:
        return f"{statement.tokens[0].text} (client command)"
    first = statement.words[0]
    if first in ("CREATE", "ALTER", "DROP"):
        return _opening(statement)
    if first == "COMMENT":
        return " ".join(statement.words[:3])
    if first in _IRRELEVANT:
        return first
    raise UnreadableError("it begins like no statement we know")


def _alter_table(reader: Reader, schema: Schema) -> list[str] | None:
    reader.skip_to("TABLE")
    reader.accept("IF EXISTS")
    reader.accept("ONLY")
    name = reader.object_name()
    reader.accept("*")
    if reader.accept("ON CLUSTER"):
        reader.take()
    reader.accept("WITH CHECK", "WITH NOCHECK")
    actions, unread = read_changes(reader)
    if not actions and not unread:
        return None
    if schema.is_late or find_table(schema, name) is None:
        # Dumps that clear the way first (pg_dump --clean) begin with drops: what they drop isn't
        # there, and what they create later stays.
        actions = [action for action in actions if action.func not in _DROPS]
        if not actions and not unread:
            return None
    return _change_table(schema, name, *actions, unread=unread)


def _change_table(
    schema: Schema, name: ObjectName, *actions: Change, unread: Sequence[str] = ()
) -> list[str]:
    table = find_table(schema, name)
    if table is None:
        if table_key(schema, name) in schema.skipped | schema.aside:
            schema.irrelevant["ALTER TABLE (no table)"] += 1
            return []
        raise AbsentTableError(name.name.text)
    faults = list(unread)
    for action in actions:
        try:
            action(schema, table)
        except ChangeError as fault:
            faults.append(str(fault))
    return [f"ALTER TABLE {table.name.text}: {fault}" for fault in faults]


def _drop_table(reader: Reader, schema: Schema) -> list[str]:
    reader.skip_to("TABLE")
    reader.accept("IF EXISTS")
    for name in reader.object_names():
        schema.tables.pop(table_key(schema, name), None)
    return []


def _drop_schema(reader: Reader, schema: Schema) -> None:
    """Drop the tables of a schema or a user; where they may be left, it's said that they go."""
    reader.skip_to("SCHEMA", "DATABASE", "USER")
    reader.accept("IF EXISTS")
    homes = {table_key(schema, ObjectName(name, name))[0] for name, _ in reader.object_names()}
    if schema.dialect.use_names == "schema" or reader.accept("CASCADE"):
        schema.tables = {key: kept for key, kept in schema.tables.items() if key[0] not in homes}


def _create_index(reader: Reader, schema: Schema) -> list[str] | None:
    before = reader.until(("ON",))
    name = before[-1].text
    reader.expect("ON")
    reader.accept("ONLY")
    table = reader.object_name()
    reader.until("(")
    columns, after = key_columns(reader.group()), reader.remaining()
    key = Key(False, columns, name, nulls_are_equal=are_nulls_equal(after))
    is_unique = any(token.upper == "UNIQUE" for token in before)
    is_partial = any(token.upper == "WHERE" for token in after)
    if not is_unique or is_partial or not key.columns:
        return None
    addition = partial(changes.add_elements, elements=Elements(keys=[key]))
    faults = _change_table(schema, table, addition)
    schema.indexes[key.name] = key
    return faults


def _comment_on(reader: Reader, schema: Schema) -> list[str] | None:
    reader.expect("COMMENT")
    reader.accept("IF EXISTS")
    reader.expect("ON")
    is_column = reader.accept("COLUMN")
    if not is_column and not reader.accept("TABLE", "FOREIGN TABLE"):
        return None
    parts = reader.dotted_name()
    reader.expect("IS")
    comment = None if reader.upper() == "NULL" else reader.take().text
    column = parts.pop() if is_column else None
    if not parts:
        raise UnreadableError("the column's table is missing")
    remark = partial(changes.set_comment, column=column, comment=comment)
    return _change_table(schema, object_name(parts), remark)


def _create_type(reader: Reader, schema: Schema) -> list[str]:
    reader.skip_to("TYPE", "DOMAIN")
    reader.accept("IF NOT EXISTS")
    name = reader.object_name().name.text.lower()
    is_enum = reader.accept("AS ENUM")
    base: Sequence[Token] = tokens_of("VARCHAR", schema.dialect)
    if not is_enum and (reader.accept("AS", "FROM") or reader.is_name()):
        base = reader.until(_BEHIND_BASE)
    words = [token.upper for token in reader.remaining()]
    is_required = ("NOT", "NULL") in pairwise(words)
    schema.types[name] = NamedType(tuple(base), is_required)
    return []


def _create_schema(reader: Reader, schema: Schema) -> list[str] | None:
    """Begin a schema whose tables follow in the same statement."""
    if not reader.accept("CREATE SCHEMA"):
        return None
    reader.accept("IF NOT EXISTS")
    name = reader.name() if reader.accept("AUTHORIZATION") else reader.object_name().name
    schema.enclosing = schema.current if schema.enclosing is None else schema.enclosing
    schema.current = name.text
    return []


def _use(reader: Reader, schema: Schema) -> list[str] | None:
    reader.expect("USE")
    if not reader.accept("SCHEMA"):
        reader.accept("DATABASE")
        if schema.dialect.use_names != "schema":
            return None
    schema.current = reader.object_name().name.text
    return []


def _set(reader: Reader, schema: Schema) -> list[str] | None:
    reader.expect("SET")
    reader.accept("SESSION", "LOCAL")
    if not reader.accept("SEARCH_PATH", "SCHEMA"):
        return None
    reader.accept("=", "TO")
    if not reader.is_name() and reader.kind() != "string":
        return None
    name = reader.name(or_string=True).text
    if not name or name == "$user":
        return None
    schema.current = name
    return []


def _alter_session(reader: Reader, schema: Schema) -> list[str] | None:
    if not reader.accept("ALTER SESSION SET CURRENT_SCHEMA ="):
        return None
    schema.current = reader.name().text
    return []


def _rename(reader: Reader, schema: Schema) -> list[str]:
    reader.expect("RENAME")
    reader.accept("TABLE")
    faults: list[str] = []
    for piece in reader.pieces():
        old = piece.object_name()
        piece.expect("TO")
        renaming = partial(changes.rename_table, new=piece.object_name())
        faults += _change_table(schema, old, renaming)
    return faults


def _execute(reader: Reader, schema: Schema) -> list[str] | None:
    """Run the procedures of T-SQL that change structure."""
    reader.take()
    if not reader.is_name():
        return None
    run = _PROCEDURES.get(reader.object_name().name.text.lower())
    return run(reader, schema) if run else None


def _arguments(reader: Reader, *names: str) -> list[str]:
    """Return a procedure's arguments in the order of these names; they come by name or place."""
    arguments = dict.fromkeys(names, "")
    for place, piece in enumerate(reader.pieces()):
        name = names[place] if place < len(names) else ""
        if piece.upper().startswith("@") and piece.upper(1) == "=":
            name = piece.take().text.lower()
            piece.take()
        arguments[name] = "" if piece.is_done else piece.take().text
    return [arguments[name] for name in names]


def _add_extended_property(reader: Reader, schema: Schema) -> list[str] | None:
    name, comment, _level, home, kind, table, part, column = _arguments(
        reader, "@name", "@value", "@level0type", "@level0name", "@level1type", "@level1name",
        "@level2type", "@level2name",
    )  # fmt: skip
    is_column = part.upper() == "COLUMN"
    if name != "MS_Description" or kind.upper() != "TABLE":
        return None
    if not is_column and part.upper() not in ("", "NULL"):
        return None
    target = ObjectName(Identifier(table, True), Identifier(home, True) if home else None)
    remark = partial(
        changes.set_comment,
        column=Identifier(column, True) if is_column else None,
        comment=comment,
    )
    return _change_table(schema, target, remark)


def _rename_object(reader: Reader, schema: Schema) -> list[str] | None:
    old, new, kind = _arguments(reader, "@objname", "@newname", "@objtype")
    parts = [Identifier(part.strip('[]"'), True) for part in old.split(".")]
    renaming: Change
    if kind.upper() == "COLUMN" and len(parts) > 1:
        renaming = partial(changes.rename_column, old=parts.pop(), new=Identifier(new, True))
    elif kind.upper() in ("", "OBJECT") and parts[-1].text and new:
        home = object_name(parts).schema
        renaming = partial(changes.rename_table, new=ObjectName(Identifier(new, True), home))
    else:
        return None
    return _change_table(schema, object_name(parts), renaming)


def _add_type(reader: Reader, schema: Schema) -> list[str]:
    name, base, nulls = _arguments(reader, "@typename", "@phystype", "@nulltype")
    is_required = nulls.upper() == "NOT NULL"
    schema.types[name.lower()] = NamedType(tokens_of(base, schema.dialect), is_required)
    return []


_PROCEDURES: dict[str, Callable[[Reader, Schema], list[str] | None]] = {
    "sp_addextendedproperty": _add_extended_property,
    "sp_addtype": _add_type,
    "sp_rename": _rename_object,
}
# Each returns what couldn't be done, or None if the statement says nothing of structure.
_READERS: dict[str, Callable[[Reader, Schema], list[str] | None]] = {
    "ALTER SESSION": _alter_session,
    "ALTER TABLE": _alter_table,
    "COMMENT": _comment_on,
    "CREATE DOMAIN": _create_type,
    "CREATE INDEX": _create_index,
    "CREATE SCHEMA": _create_schema,
    "CREATE TABLE": create_table,
    "CREATE TYPE": _create_type,
    "DROP DATABASE": _drop_schema,
    "DROP SCHEMA": _drop_schema,
    "DROP TABLE": _drop_table,
    "DROP USER": _drop_schema,
    "EXEC": _execute,
    "EXECUTE": _execute,
    "RENAME": _rename,
    "SET": _set,
    "USE": _use,
}
