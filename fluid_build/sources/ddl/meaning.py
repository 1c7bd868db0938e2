"""From a statement to what it means for the schema."""

from collections.abc import Callable
from itertools import pairwise

from fluid_build.sources.ddl.alter import read_alter
from fluid_build.sources.ddl.columns import key_columns
from fluid_build.sources.ddl.create import read_create_table
from fluid_build.sources.ddl.dialects import Dialect
from fluid_build.sources.ddl.grammar import (
    AlterTable,
    DropTables,
    Identifier,
    KeyDef,
    Meaning,
    NamedType,
    ObjectName,
    Passed,
    RenameColumn,
    RenameTable,
    SetComment,
    UniqueIndex,
    UseSchema,
)
from fluid_build.sources.ddl.lexer import Token, tokens
from fluid_build.sources.ddl.reader import Reader, UnreadableError, named
from fluid_build.sources.ddl.statements import OBJECTS, Statement

_PASSED = frozenset(
    (
        "ABORT", "ANALYZE", "ANALYSE", "ATTACH", "AUDIT", "BACKUP", "BEGIN", "BULK", "CACHE",
        "CALL", "CHECKPOINT", "CLOSE", "CLUSTER", "COMMENT", "COMMIT", "COPY", "DBCC",
        "DEALLOCATE", "DECLARE", "DELETE", "DELIMITER", "DENY", "DESC", "DESCRIBE", "DETACH",
        "DISABLE", "DO", "ELSE", "ENABLE", "END", "EXEC", "EXECUTE", "EXPLAIN", "EXPORT", "FETCH",
        "FLUSH", "GET", "GO", "GOTO", "GRANT", "IF", "IMPORT", "INSERT", "INSTALL", "KILL", "LIST",
        "LISTEN", "LOAD", "LOCK", "MERGE", "MSCK", "NOAUDIT", "NOTIFY", "OPEN", "OPTIMIZE",
        "PRAGMA", "PRINT", "PURGE", "PUT", "RAISERROR", "REASSIGN", "RECONFIGURE", "REFRESH",
        "REINDEX", "RELEASE", "RENAME", "REPAIR", "REPLACE", "RESET", "RESTORE", "RETURN",
        "REVOKE", "ROLLBACK", "SAVEPOINT", "SECURITY", "SELECT", "SET", "SHOW", "SOURCE", "START",
        "THROW", "TRUNCATE", "UNDROP", "UNLOCK", "UPDATE", "USE", "VACUUM", "VALUES", "WAITFOR",
        "WHILE", "WITH",
    )
)  # fmt: skip


def read_statement(statement: Statement, dialect: Dialect) -> tuple[Meaning, ...]:
    """What a statement means, in order; UnreadableError where that cannot be told."""
    if statement.client:
        return (Passed(f"{statement.tokens[0].text} (client command)"),)
    reader = Reader(statement.tokens, dialect)
    read = _READERS.get(_opening(statement))
    meanings = read(reader, statement) if read else ()
    return meanings or (Passed(_kind(statement)),)


def _opening(statement: Statement) -> str:
    """The first word, with the kind of object behind CREATE, ALTER and DROP."""
    first = statement.words[0]
    if first in ("CREATE", "ALTER", "DROP"):
        return f"{first} {_object(statement)}"
    return first


def _object(statement: Statement) -> str:
    words = statement.words[1:]
    found = next((place for place, word in enumerate(words) if word in OBJECTS), None)
    if found is None:
        return next((word for word in words if word), "")
    if words[found] == "TABLE" and words[found + 1 : found + 2] == ("FUNCTION",):
        return "FUNCTION"
    return words[found]


def _kind(statement: Statement) -> str:
    """What a statement without bearing on structure is called in the count."""
    first = statement.words[0]
    if first in ("CREATE", "ALTER", "DROP"):
        return _opening(statement)
    if first in _PASSED:
        return first
    raise UnreadableError("it begins like no statement we know")


def _create_table(reader: Reader, _: Statement) -> tuple[Meaning, ...]:
    return (read_create_table(reader),)


def _alter_table(reader: Reader, _: Statement) -> tuple[Meaning, ...]:
    altered = read_alter(reader)
    return (altered,) if altered.actions or altered.faults else ()


def _drop_table(reader: Reader, _: Statement) -> tuple[Meaning, ...]:
    while reader.take().upper != "TABLE":
        pass
    reader.accept("IF", "EXISTS")
    names = [reader.object_name()]
    while reader.accept(","):
        names.append(reader.object_name())
    return (DropTables(tuple(names)),)


def _create_index(reader: Reader, _: Statement) -> tuple[Meaning, ...]:
    unique = name = ""
    while not reader.accept("ON"):
        token = reader.take()
        unique = unique or (token.upper if token.upper == "UNIQUE" else "")
        if token.upper != ".":
            name = token.text
    if not unique:
        return ()
    reader.accept("ONLY")
    table = reader.object_name()
    while reader.upper() != "(":
        reader.take()
    columns = key_columns(reader.group())
    partial = any(token.upper == "WHERE" for token in reader.rest())
    if partial or not columns:
        return ()
    return (UniqueIndex(table, KeyDef(False, columns, name)),)


def _comment_on(reader: Reader, _: Statement) -> tuple[Meaning, ...]:
    reader.expect("COMMENT")
    reader.accept("IF", "EXISTS")
    reader.expect("ON")
    what = reader.take().upper
    if what == "FOREIGN" and reader.accept("TABLE"):
        what = "TABLE"
    if what not in ("TABLE", "COLUMN"):
        return (Passed(f"COMMENT ON {what}"),)
    parts = [reader.name(or_string=True)]
    while reader.accept("."):
        parts.append(reader.name())
    reader.expect("IS")
    comment = None if reader.upper() == "NULL" else reader.take().text
    column = None
    if what == "COLUMN":
        parts = _undotted(parts, reader.dialect)
        if len(parts) < 2:
            raise UnreadableError("the column's table is missing")
        column = parts.pop()
    return (AlterTable(named(parts, reader.dialect), (SetComment(column, comment),)),)


def _undotted(parts: list[Identifier], dialect: Dialect) -> list[Identifier]:
    if not dialect.dotted_names:
        return parts
    return [Identifier(text, part.quoted) for part in parts for text in part.text.split(".")]


def _create_type(reader: Reader, _: Statement) -> tuple[Meaning, ...]:
    while reader.take().upper not in ("TYPE", "DOMAIN"):
        pass
    reader.accept("IF", "NOT", "EXISTS")
    name = reader.object_name()
    enum = reader.accept("AS", "ENUM")
    if enum or not (reader.accept("AS") or reader.accept("FROM") or reader.is_name()):
        return (NamedType(name, _as_tokens("VARCHAR", reader.dialect)),)
    base = []
    while not reader.done and reader.upper() not in _BEHIND_BASE:
        base.append(reader.take())
    rest = [token.upper for token in reader.rest()]
    required = any(pair == ("NOT", "NULL") for pair in pairwise(rest))
    return (NamedType(name, tuple(base), False if required else None),)


_BEHIND_BASE = frozenset(("NOT", "NULL", "CHECK", "CONSTRAINT", "DEFAULT", "COLLATE"))


def _as_tokens(text: str, dialect: Dialect) -> tuple[Token, ...]:
    return tuple(tokens(text, dialect))


def _create_schema(reader: Reader, statement: Statement) -> tuple[Meaning, ...]:
    if statement.terminated or statement.words[1] != "SCHEMA":
        return ()
    reader.expect("CREATE", "SCHEMA")
    reader.accept("IF", "NOT", "EXISTS")
    if reader.accept("AUTHORIZATION"):
        return (UseSchema(reader.name(), scoped=True),)
    return (UseSchema(reader.object_name().name, scoped=True),)


def _use(reader: Reader, _: Statement) -> tuple[Meaning, ...]:
    reader.expect("USE")
    if reader.accept("SCHEMA"):
        return (UseSchema(reader.object_name().name),)
    if reader.accept("DATABASE") or reader.dialect.use_names == "schema":
        name = reader.object_name().name
        return (UseSchema(name),) if reader.dialect.use_names == "schema" else ()
    return ()


def _set(reader: Reader, _: Statement) -> tuple[Meaning, ...]:
    reader.expect("SET")
    if not reader.accept("SESSION"):
        reader.accept("LOCAL")
    if not (reader.accept("SEARCH_PATH") or reader.accept("SCHEMA")):
        return ()
    if not reader.accept("="):
        reader.accept("TO")
    if reader.is_name() or reader.kind() == "string":
        name = reader.name(or_string=True)
        return (UseSchema(name),) if name.text and name.text != "$user" else ()
    return ()


def _alter_session(reader: Reader, _: Statement) -> tuple[Meaning, ...]:
    if reader.accept("ALTER", "SESSION", "SET", "CURRENT_SCHEMA", "="):
        return (UseSchema(reader.name()),)
    return ()


def _rename(reader: Reader, _: Statement) -> tuple[Meaning, ...]:
    reader.expect("RENAME")
    reader.accept("TABLE")
    renamed = []
    while True:
        old = reader.object_name()
        reader.expect("TO")
        renamed.append(AlterTable(old, (RenameTable(reader.object_name()),)))
        if not reader.accept(","):
            return tuple(renamed)


def _exec(reader: Reader, _: Statement) -> tuple[Meaning, ...]:
    """The procedures of T-SQL that speak of structure."""
    reader.take()
    if not reader.is_name():
        return ()
    read = _PROCEDURES.get(reader.object_name().name.text.lower())
    return read(_arguments(reader), reader.dialect) if read else ()


def _arguments(reader: Reader) -> dict[str, str]:
    """A procedure's arguments by name, or by position (``1``) where they have none."""
    arguments: dict[str, str] = {}
    while not reader.done:
        name = str(len(arguments) + 1)
        if reader.upper().startswith("@") and reader.upper(1) == "=":
            name = reader.take().text.lower()
            reader.take()
        arguments[name] = reader.take().text
        while not reader.done and not reader.accept(","):
            reader.take()
    return arguments


def _extended_property(given: dict[str, str], _: Dialect) -> tuple[Meaning, ...]:
    names = ("@name", "@value", "@level0type", "@level0name", "@level1type", "@level1name",
             "@level2type", "@level2name")  # fmt: skip
    name, value, _level, schema, kind, table, part, column = (
        given.get(key, given.get(str(place), "")) for place, key in enumerate(names, 1)
    )
    if (
        name != "MS_Description"
        or kind.upper() != "TABLE"
        or part.upper() not in ("", "COLUMN", "NULL")
    ):
        return ()
    of = Identifier(column, True) if part.upper() == "COLUMN" else None
    target = ObjectName(Identifier(table, True), Identifier(schema, True) if schema else None)
    return (AlterTable(target, (SetComment(of, value),)),)


def _rename_procedure(given: dict[str, str], _: Dialect) -> tuple[Meaning, ...]:
    old = given.get("@objname", given.get("1", ""))
    new = Identifier(given.get("@newname", given.get("2", "")), True)
    kind = given.get("@objtype", given.get("3", "")).upper()
    parts = [Identifier(part.strip('[]"'), True) for part in old.split(".")]
    if kind == "COLUMN" and len(parts) > 1:
        table = ObjectName(parts[-2], parts[-3] if len(parts) > 2 else None)
        return (AlterTable(table, (RenameColumn(parts[-1], new),)),)
    if kind in ("", "OBJECT") and parts[-1].text and new.text:
        schema = parts[-2] if len(parts) > 1 else None
        return (AlterTable(ObjectName(parts[-1], schema), (RenameTable(ObjectName(new, schema)),)),)
    return ()


def _add_type(given: dict[str, str], dialect: Dialect) -> tuple[Meaning, ...]:
    name = given.get("@typename", given.get("1", ""))
    base = given.get("@phystype", given.get("2", ""))
    required = given.get("@nulltype", given.get("3", "")).upper() == "NOT NULL"
    of = ObjectName(Identifier(name, True))
    return (NamedType(of, _as_tokens(base, dialect), False if required else None),)


_PROCEDURES: dict[str, Callable[[dict[str, str], Dialect], tuple[Meaning, ...]]] = {
    "sp_addtype": _add_type,
    "sp_addextendedproperty": _extended_property,
    "sp_rename": _rename_procedure,
}

_READERS: dict[str, Callable[[Reader, Statement], tuple[Meaning, ...]]] = {
    "ALTER SESSION": _alter_session,
    "ALTER TABLE": _alter_table,
    "COMMENT": _comment_on,
    "CREATE DOMAIN": _create_type,
    "CREATE INDEX": _create_index,
    "CREATE SCHEMA": _create_schema,
    "CREATE TABLE": _create_table,
    "CREATE TYPE": _create_type,
    "DROP TABLE": _drop_table,
    "EXEC": _exec,
    "EXECUTE": _exec,
    "RENAME": _rename,
    "SET": _set,
    "USE": _use,
}
