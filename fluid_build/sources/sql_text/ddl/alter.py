"""ALTER TABLE."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from fluid_build.sources.sql_text.ddl import changes
from fluid_build.sources.sql_text.ddl.changes import Change
from fluid_build.sources.sql_text.ddl.elements import read_column, read_elements, read_type
from fluid_build.sources.sql_text.ddl.reader import Reader, UnreadableError, split_commas
from fluid_build.sources.sql_text.ddl.schema import ColumnDef, Elements, Identifier
from fluid_build.sources.sql_text.ddl.tokens import Token, written

_VERBS = frozenset(("ADD", "ALTER", "CHANGE", "DROP", "MODIFY", "RENAME"))
# What changes storage, ownership, partitions or enforcement, but no column and no key.
_IRRELEVANT = frozenset(
    """
    ALGORITHM ANALYZE AUTO_INCREMENT AVG_ROW_LENGTH CACHE CHARACTER CHARSET CHECK CHECKSUM
    CLUSTER CLUSTERING COALESCE COLLATE COMPACT COMPRESS CONVERT DEFAULT DELAY_KEY_WRITE DEPENDS
    DETACH DISABLE DISCARD ENABLE ENGINE EXCHANGE FORCE FREEZE IMPORT INITRANS INMEMORY
    KEY_BLOCK_SIZE LOCK LOGGING MATERIALIZE MAX_ROWS MERGE MIN_ROWS MONITORING MOVE NO NOCACHE
    NOCHECK NOCOMPRESS NOLOGGING NOPARALLEL NOT OF OPTIONS ORDER OWNER PACK_KEYS PARALLEL
    PARTITION PCTFREE PCTUSED READ REBUILD RECLUSTER RECOVER REFRESH REMOVE REORGANIZE REPLICA
    RESET RESUME ROW ROW_FORMAT SET SHRINK SPLIT STATS_PERSISTENT STORAGE SUPPLEMENTAL SUSPEND
    SWAP SWITCH TABLESPACE TRIGGER TRUNCATE UNSET UPDATE UPGRADE VALIDATE WITH WITHOUT
    """.split()
)
_NOT_ADDED = (
    "PARTITION", "PARTITIONS", "STATISTICS", "PROJECTION", "MASKING", "ROLLUP", "VALUES",
    "SUPPLEMENTAL LOG", "ROW ACCESS", "SEARCH OPTIMIZATION", "RANGE PARTITION",
)  # fmt: skip
_NOT_DROPPED = frozenset(
    ("PARTITION", "STATISTICS", "PERIOD", "PROJECTION", "ROW", "SEARCH", "UNUSED")
)
_NOT_MODIFIED = frozenset(
    ("PARTITION", "LOB", "NESTED", "CONSTRAINT", "PRIMARY", "UNIQUE", "DEFAULT")
)


def read_changes(reader: Reader) -> tuple[list[Change], list[str]]:
    """Return the changes that follow a table's name, in order, and those that can't be read."""
    actions: list[Change] = []
    faults: list[str] = []
    verb = ""
    for piece in split_commas(reader.remaining()):
        action = Reader(piece, reader.dialect)
        verb = verb if _continues(verb, action) else action.upper()
        try:
            actions += _read_change(verb, action)
        except UnreadableError as fault:
            faults.append(f"{written(piece[:20])} ({fault})")
    return actions, faults


def _continues(verb: str, action: Reader) -> bool:
    """Return whether a piece continues the ADD or DROP before it, whose verb isn't repeated."""
    word = action.upper()
    if verb not in ("ADD", "DROP") or word in _VERBS:
        return False
    return action.dialect.batches or (word not in _IRRELEVANT and word not in _READERS)


def _read_change(verb: str, action: Reader) -> Sequence[Change]:
    if verb in _READERS:
        action.accept(verb)
        return _READERS[verb](action)
    if action.accept("SET SCHEMA"):
        return [partial(changes.move_to_schema, home=action.name())]
    if verb in _IRRELEVANT or action.kind() == "sign":
        return []
    raise UnreadableError("this change isn't known")


def _add(action: Reader) -> Sequence[Change]:
    if action.accept(*_NOT_ADDED):
        return []
    action.accept("COLUMNS", "COLUMN")
    action.accept("IF NOT EXISTS")
    tokens = action.group() if action.upper() == "(" else action.remaining()
    elements = Elements()
    read_elements(tokens, action.dialect, elements)
    addition = partial(changes.add_elements, elements=elements)
    return [addition, *(_moves(tokens, elements.columns[0]) if elements.columns else ())]


def _drop(action: Reader) -> Sequence[Change]:
    if action.accept("PRIMARY KEY"):
        return [partial(changes.drop_primary_key)]
    if not action.accept("COLUMN", "COLUMNS"):
        if action.accept("CONSTRAINT", "FOREIGN KEY", "INDEX", "KEY", "CHECK"):
            action.accept("IF EXISTS")
            return [partial(changes.drop_constraint, name=action.name().text)]
        if action.upper() in _NOT_DROPPED and action.kind(1):
            return []
    action.accept("IF EXISTS")
    pieces = action.pieces() if action.upper() == "(" else [action]
    return [partial(changes.drop_column, name=piece.name()) for piece in pieces]


def _rename(action: Reader) -> Sequence[Change]:
    if action.upper() in ("CONSTRAINT", "INDEX", "KEY", "PARTITION") and action.upper(1) != "TO":
        return []
    if action.accept("TO", "AS"):
        return [partial(changes.rename_table, new=action.object_name())]
    if not action.accept("COLUMN") and action.upper(1) != "TO":
        return [partial(changes.rename_table, new=action.object_name())]
    old = action.name()
    action.expect("TO")
    return [partial(changes.rename_column, old=old, new=action.name())]


def _alter_column(action: Reader) -> Sequence[Change]:
    if action.upper() in ("INDEX", "CONSTRAINT", "CHECK") and action.is_name(1):
        return []
    action.accept("COLUMN")
    action.accept("IF EXISTS")
    start = action.at
    name = action.name()
    if action.accept("COMMENT"):
        return [partial(changes.set_comment, column=name, comment=action.take().text)]
    if action.accept("TYPE", "SET DATA TYPE"):
        return [partial(changes.redefine, old=name, new=ColumnDef(name, read_type(action)))]
    if action.accept("SET NOT NULL", "NOT NULL", "ADD GENERATED"):
        return [partial(changes.redefine, old=name, new=ColumnDef(name, nullable=False))]
    if action.accept("DROP NOT NULL", "NULL"):
        return [partial(changes.redefine, old=name, new=ColumnDef(name, nullable=True))]
    if action.upper() in ("SET", "DROP", "ADD", "RESET", "RESTART", "UNSET", "ENCODE"):
        return []
    action.at = start
    return _redefine(name, action)


def _modify(action: Reader) -> Sequence[Change]:
    action.accept("COLUMN", "COLUMNS")
    if action.upper() in _NOT_MODIFIED:
        return []
    pieces = action.pieces() if action.upper() == "(" else [action]
    return [change for piece in pieces for change in _redefine(None, piece)]


def _change(action: Reader) -> Sequence[Change]:
    action.accept("COLUMN")
    return _redefine(action.name(), action)


def _redefine(old: Identifier | None, action: Reader) -> Sequence[Change]:
    elements = Elements()
    column = read_column(action, elements)
    # MySQL forgets what a new definition doesn't say; the others keep it.
    if column.nullable is None and action.dialect.version_comments:
        column = replace(column, nullable=True)
    redefinition: list[Change] = [partial(changes.redefine, old=old or column.name, new=column)]
    if elements.keys or elements.foreign_keys:
        redefinition.append(partial(changes.add_elements, elements=elements))
    return [*redefinition, *_moves(action.tokens, column)]


def _moves(tokens: Sequence[Token], column: ColumnDef) -> Sequence[Change]:
    """Return the change of a column's place, which rows without names of columns depend on."""
    before, last = tokens[-2:] if len(tokens) > 2 else (None, None)
    if before is not None and before.upper == "AFTER" and last is not None:
        after = Identifier(last.text, last.kind != "word")
        return [partial(changes.move_column, name=column.name, after=after)]
    if last is not None and last.upper == "FIRST":
        return [partial(changes.move_column, name=column.name, after=None)]
    return []


def _comment(action: Reader) -> Sequence[Change]:
    column = None
    if action.accept("COLUMN"):
        action.accept("IF EXISTS")
        column = action.name()
    action.accept("=")
    return [partial(changes.set_comment, column=column, comment=action.take().text)]


def _attach(action: Reader) -> Sequence[Change]:
    if not action.accept("PARTITION"):
        return []
    return [partial(changes.attach_partition, child=action.object_name())]


def _inherit(action: Reader) -> Sequence[Change]:
    return [partial(changes.inherit, parent=action.object_name())]


def _replace(action: Reader) -> Sequence[Change]:
    if not action.accept("COLUMNS"):
        return []
    raise UnreadableError("replacing all columns isn't supported")


_READERS: dict[str, Callable[[Reader], Sequence[Change]]] = {
    "ADD": _add,
    "ALTER": _alter_column,
    "ATTACH": _attach,
    "CHANGE": _change,
    "COMMENT": _comment,
    "DROP": _drop,
    "INHERIT": _inherit,
    "MODIFY": _modify,
    "RENAME": _rename,
    "REPLACE": _replace,
}
