"""ALTER TABLE."""

from collections.abc import Callable
from dataclasses import replace

from fluid_build.sources.ddl.body import read_body
from fluid_build.sources.ddl.columns import read_column, read_type
from fluid_build.sources.ddl.grammar import (
    Action,
    Add,
    AlterTable,
    Attach,
    ColumnDef,
    Drop,
    Identifier,
    InheritFrom,
    MoveToSchema,
    Redefine,
    RenameColumn,
    RenameTable,
    SetComment,
)
from fluid_build.sources.ddl.reader import Reader, UnreadableError, split_commas, written

_VERBS = frozenset(("ADD", "ALTER", "CHANGE", "DROP", "MODIFY", "RENAME"))
_PASSED = frozenset(
    (
        "ALGORITHM", "ANALYZE", "AUTO_INCREMENT", "AVG_ROW_LENGTH", "CACHE", "CHARACTER",
        "CHARSET", "CHECK", "CHECKSUM", "CLUSTER", "CLUSTERING", "COALESCE", "COLLATE", "COMPACT",
        "COMPRESS", "CONVERT", "DEFAULT", "DELAY_KEY_WRITE", "DEPENDS", "DETACH", "DISABLE",
        "DISCARD", "ENABLE", "ENGINE", "EXCHANGE", "FORCE", "FREEZE", "IMPORT", "INITRANS",
        "INMEMORY", "KEY_BLOCK_SIZE", "LOCK", "LOGGING", "MATERIALIZE", "MAX_ROWS", "MERGE",
        "MIN_ROWS", "MONITORING", "MOVE", "NO", "NOCACHE", "NOCHECK", "NOCOMPRESS", "NOLOGGING",
        "NOPARALLEL", "NOT", "OF", "OPTIONS", "ORDER", "OWNER", "PACK_KEYS", "PARALLEL",
        "PARTITION", "PCTFREE", "PCTUSED", "READ", "REBUILD", "RECLUSTER", "RECOVER", "REFRESH",
        "REMOVE", "REORGANIZE", "REPLICA", "RESET", "RESUME", "ROW", "ROW_FORMAT", "SET", "SHRINK",
        "SPLIT", "STATS_PERSISTENT", "STORAGE", "SUPPLEMENTAL", "SUSPEND", "SWAP", "SWITCH",
        "TABLESPACE", "TRIGGER", "TRUNCATE", "UNSET", "UPDATE", "UPGRADE", "VALIDATE", "WITH",
        "WITHOUT",
    )
)  # fmt: skip
_CONSTRAINTS = frozenset(("CONSTRAINT", "INDEX", "KEY", "CHECK"))
_NOT_COLUMNS = frozenset(
    ("PARTITION", "STATISTICS", "PERIOD", "PROJECTION", "ROW", "SEARCH", "UNUSED")
)
_ADDED_APART = frozenset(
    ("PARTITION", "PARTITIONS", "STATISTICS", "PROJECTION", "MASKING", "ROLLUP", "VALUES")
)
_ADDED_APART_PAIRS = frozenset(
    (("SUPPLEMENTAL", "LOG"), ("ROW", "ACCESS"), ("SEARCH", "OPTIMIZATION"), ("RANGE", "PARTITION"))
)


def read_alter(reader: Reader) -> AlterTable:
    """An ALTER TABLE statement; an action that cannot be read becomes a fault of it."""
    while reader.take().upper != "TABLE":
        pass
    reader.accept("IF", "EXISTS")
    reader.accept("ONLY")
    name = reader.object_name()
    reader.accept("*")
    if reader.accept("ON", "CLUSTER"):
        reader.take()
    if not reader.accept("WITH", "CHECK"):
        reader.accept("WITH", "NOCHECK")
    actions: list[Action] = []
    faults: list[str] = []
    verb = ""
    for piece in split_commas(reader.rest()):
        change = Reader(piece, reader.dialect)
        verb = verb if _carries_on(verb, change) else change.upper()
        try:
            actions += _read_change(verb, change)
        except UnreadableError as fault:
            faults.append(f"{written(piece[:20])} ({fault})")
    return AlterTable(name, tuple(actions), tuple(faults))


def _carries_on(verb: str, change: Reader) -> bool:
    """Whether a piece continues the ADD or DROP before it, whose verb is not repeated."""
    word = change.upper()
    if verb not in ("ADD", "DROP") or word in _VERBS:
        return False
    return change.dialect.batches or (word not in _PASSED and word not in _READERS)


def _read_change(verb: str, change: Reader) -> list[Action]:
    if verb in _READERS:
        change.accept(verb)
        return _READERS[verb](change)
    if change.accept("SET", "SCHEMA"):
        return [MoveToSchema(change.name())]
    if verb in _PASSED or change.kind() == "punct":
        return []
    raise UnreadableError("this change is not known")


def _add(change: Reader) -> list[Action]:
    if change.upper() in _ADDED_APART or (change.upper(), change.upper(1)) in _ADDED_APART_PAIRS:
        return []
    if not change.accept("COLUMNS"):
        change.accept("COLUMN")
    change.accept("IF", "NOT", "EXISTS")
    tokens = change.group() if change.upper() == "(" else change.rest()
    return [Add(read_body(tokens, change.dialect))]


def _replace_columns(change: Reader) -> list[Action]:
    if not change.accept("COLUMNS"):
        return []
    raise UnreadableError("replacing all columns is not known")


def _drop(change: Reader) -> list[Action]:
    if change.accept("PRIMARY", "KEY"):
        return [Drop("primary", Identifier(""))]
    if change.accept("COLUMN") or change.accept("COLUMNS"):
        return _drop_columns(change)
    if change.accept("FOREIGN", "KEY") or change.accept_any(_CONSTRAINTS):
        change.accept("IF", "EXISTS")
        return [Drop("constraint", change.name())]
    if change.upper() in _NOT_COLUMNS and change.kind(1):
        return []
    return _drop_columns(change)


def _drop_columns(change: Reader) -> list[Action]:
    change.accept("IF", "EXISTS")
    if change.upper() == "(":
        names = [Reader(piece, change.dialect).name() for piece in split_commas(change.group())]
    else:
        names = [change.name()]
    return [Drop("column", name) for name in names]


def _rename(change: Reader) -> list[Action]:
    if change.upper() in ("CONSTRAINT", "INDEX", "KEY", "PARTITION") and change.upper(1) != "TO":
        return []
    if change.accept("TO") or change.accept("AS"):
        return [RenameTable(change.object_name())]
    if not change.accept("COLUMN") and change.upper(1) != "TO":
        return [RenameTable(change.object_name())]
    old = change.name()
    change.expect("TO")
    return [RenameColumn(old, change.name())]


def _alter_column(change: Reader) -> list[Action]:
    if change.upper() in ("INDEX", "CONSTRAINT", "CHECK") and change.is_name(1):
        return []
    change.accept("COLUMN")
    change.accept("IF", "EXISTS")
    name_token, name = change.tokens[change.at], change.name()
    if change.accept("COMMENT"):
        return [SetComment(name, change.take().text)]
    if change.accept("TYPE") or change.accept("SET", "DATA", "TYPE"):
        return [Redefine(name, ColumnDef(name, read_type(change)))]
    if change.accept("SET", "NOT", "NULL") or change.accept("NOT", "NULL"):
        return [Redefine(name, ColumnDef(name, nullable=False))]
    if change.accept("DROP", "NOT", "NULL") or change.accept("NULL"):
        return [Redefine(name, ColumnDef(name, nullable=True))]
    if change.accept("ADD", "GENERATED"):
        return [Redefine(name, ColumnDef(name, nullable=False))]
    if change.upper() in ("SET", "DROP", "ADD", "RESET", "RESTART", "UNSET", "ENCODE"):
        return []
    return _redefine(name, Reader((name_token, *change.rest()), change.dialect))


def _modify(change: Reader) -> list[Action]:
    if not change.accept("COLUMN"):
        change.accept("COLUMNS")
    if change.upper() in (
        "PARTITION",
        "LOB",
        "NESTED",
        "CONSTRAINT",
        "PRIMARY",
        "UNIQUE",
        "DEFAULT",
    ):
        return []
    pieces = split_commas(change.group()) if change.upper() == "(" else [change.rest()]
    changes = []
    for piece in pieces:
        changes += _redefine(Reader(piece, change.dialect).name(), Reader(piece, change.dialect))
    return changes


def _change(change: Reader) -> list[Action]:
    change.accept("COLUMN")
    old = change.name()
    return _redefine(old, change)


def _redefine(old: Identifier, reader: Reader) -> list[Action]:
    """MySQL forgets what a new definition leaves unsaid; the others keep it."""
    column, keys = read_column(reader)
    if column.nullable is None and reader.dialect.version_comments:
        column = replace(column, nullable=True)
    actions: list[Action] = [Redefine(old, column)]
    if keys.keys or keys.foreign_keys:
        actions.append(Add(keys))
    return actions


def _comment(change: Reader) -> list[Action]:
    if change.accept("COLUMN"):
        change.accept("IF", "EXISTS")
        name = change.name()
        return [SetComment(name, change.take().text)]
    change.accept("=")
    return [SetComment(None, change.take().text)]


def _attach(change: Reader) -> list[Action]:
    return [Attach(change.object_name())] if change.accept("PARTITION") else []


def _inherit(change: Reader) -> list[Action]:
    return [InheritFrom(change.object_name())]


_READERS: dict[str, Callable[[Reader], list[Action]]] = {
    "ADD": _add,
    "ALTER": _alter_column,
    "ATTACH": _attach,
    "CHANGE": _change,
    "COMMENT": _comment,
    "DROP": _drop,
    "INHERIT": _inherit,
    "MODIFY": _modify,
    "RENAME": _rename,
    "REPLACE": _replace_columns,
}
