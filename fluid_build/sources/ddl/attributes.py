"""What's declared after a column's type: nulls, keys, references, comments. sqlglot reads it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, ParseError, TokenError

from fluid_build.sources.ddl.dialects import Dialect
from fluid_build.sources.ddl.reader import Reader, object_name, undotted
from fluid_build.sources.ddl.schema import Identifier, ObjectName
from fluid_build.sources.ddl.tokens import Spelling, Token, spell, tokens_of, written

# Words that begin an attribute we read, so that a type ends before them.
_READ = frozenset(
    ("ALIAS", "AS", "AUTOINCREMENT", "AUTO_INCREMENT", "COMMENT", "CONSTRAINT", "FOREIGN",
     "GENERATED", "IDENTITY", "KEY", "MATERIALIZED", "NOT", "NULL", "OPTIONS", "PRIMARY",
     "REFERENCES", "UNIQUE")
)  # fmt: skip
_COMPUTED = frozenset(("AS", "ALIAS", "MATERIALIZED"))
# Words that begin an attribute without bearing on structure: defaults, storage, enforcement.
# What sqlglot can't read of these is left out without a word.
_IRRELEVANT = frozenset(
    (
        "AFTER", "ASC", "BITMAP_UNION", "CACHE", "CASCADE", "CASESPECIFIC", "CHARSET", "CHECK",
        "CLUSTERED", "CODEC", "COLLATE", "COLUMN_FORMAT", "COMPACT", "COMPRESS", "COMPRESSION",
        "CYCLE", "DEFAULT", "DEFERRABLE", "DESC", "DISABLE", "DISTKEY", "ENABLE", "ENCODE",
        "ENCRYPTED", "ENFORCED", "EPHEMERAL", "FILESTREAM", "FIRST", "FORMAT", "HIDDEN",
        "HLL_UNION", "INCREMENT", "INDEX", "INITIALLY", "INLINE", "INVISIBLE", "LOGGED", "MASKED",
        "MATCH", "MAX", "MAXVALUE", "MIN", "MINVALUE", "NOCACHE", "NOCYCLE", "NONCLUSTERED",
        "NOORDER", "NORELY", "NOVALIDATE", "ON", "ORDER", "PERSISTED", "PERSISTENT", "PROPERTIES",
        "RELY", "REPLACE", "REPLACE_IF_NOT_NULL", "RESTRICT", "ROWGUIDCOL", "SALT", "SECURED",
        "SORTKEY", "SPARSE", "SRID", "START", "STATISTICS", "STORAGE", "STORED", "SUM", "TAG",
        "TITLE", "TTL", "UPPERCASE", "USING", "VALIDATE", "VIRTUAL", "VISIBLE", "WITH",
    )
)  # fmt: skip
# What sqlglot trips over wherever it appears, and that says nothing we read.
_NOISE = re.compile(
    r"\b(?:ON NULL(?: FOR INSERT ONLY)?|FOR INSERT(?: AND UPDATE)?|NULLS (?:NOT )?DISTINCT"
    r"|NOT FOR REPLICATION|(?:NON)?CLUSTERED|(?:COLUMN_FORMAT|STORAGE) DEFAULT|WITH(?= DEFAULT))\b",
    re.IGNORECASE,
)
# Otherwise sqlglot takes CONSTRAINT for the name of the unique key.
_UNIQUE = re.compile(r"\bUNIQUE(?= CONSTRAINT\b)", re.IGNORECASE)
_MASK = "\ue000"
_MASKED = re.compile(rf"'{_MASK}(\d+)'")
# An attribute list is rarely wrong in more than one place; this bounds the time on nonsense.
_MOST_REPAIRS = 25
_LONGEST = 20_000
_FAULT_SHOWN = 60
_ONE = Token("number", "1", "", 0, 0)


@dataclass(slots=True)
class Attributes:
    """What a column's attributes declare.

    ``keys`` are (whether it's primary, the constraint's name), ``references`` (table, columns,
    the constraint's name). ``faults`` are the words that weren't understood.
    """

    nullable: bool | None = None
    generated: bool = False
    comment: str | None = None
    keys: list[tuple[bool, str]] = field(default_factory=list)
    references: list[tuple[ObjectName, tuple[Identifier, ...], str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def read_type(reader: Reader) -> tuple[Token, ...]:
    """Take the tokens of the type that comes next; none where the column has none."""
    start = reader.at
    if reader.upper() in _READ or not reader.is_name():
        return ()
    reader.take()
    while not reader.is_done:
        word = reader.upper()
        if word == ".":
            reader.take()
            reader.name()
        elif reader.skip_group():
            continue
        elif word == "<":
            reader.skip_angles()
        elif word in ("WITH", "WITHOUT") and reader.upper(1) in ("TIME", "LOCAL"):
            reader.skip_to("ZONE")
        elif reader.kind() == "word" and not _starts_attribute(reader.tokens, reader.at):
            reader.take()
        else:
            break
    return tuple(reader.tokens[start : reader.at])


def read_attributes(reader: Reader) -> Attributes:
    """Take everything that's left as a column's attributes."""
    # Numbers in place of strings make comments and defaults alike, which the cache lives on.
    strings: list[str] = []
    tokens = []
    for token in reader.remaining():
        if token.kind == "string":
            strings.append(token.text)
            token = token._replace(text=f"{_MASK}{len(strings) - 1}")
        tokens.append(token)
    attributes = _attributes(spell(tokens, reader.dialect).text, reader.dialect)
    if not strings:
        return attributes
    comment = attributes.comment
    return replace(
        attributes,
        comment=strings[int(comment[1:])] if comment and comment[0] == _MASK else comment,
        faults=[
            _MASKED.sub(lambda match: f"'{strings[int(match[1])]}'", fault)
            for fault in attributes.faults
        ],
    )


def shortened(tokens: Sequence[Token]) -> str:
    """Return tokens as text, cut to what a message has room for."""
    text = written(tokens[:40])
    return text if len(text) <= _FAULT_SHOWN else text[: _FAULT_SHOWN - 1] + "…"


# Columns share few attribute lists, and parsing one takes half a millisecond.
@lru_cache(maxsize=4_096)
def _attributes(text: str, dialect: Dialect) -> Attributes:
    if not text:
        return Attributes()
    text = _UNIQUE.sub("UNIQUE CHECK (1)", _NOISE.sub(" ", text))
    tokens = list(tokens_of(text, dialect))
    is_computed = _take_out_expression(tokens)
    unread: list[Token] = []
    for _ in range(_MOST_REPAIRS):
        spelling = spell(tokens, dialect)
        constraints = _parse(spelling, dialect)
        if not isinstance(constraints, int):
            attributes = _read(constraints, dialect)
            attributes.generated = attributes.generated or is_computed
            attributes.faults = _phrases(unread)
            return attributes
        unread += _take_out(tokens, constraints)
    return Attributes(faults=[shortened(tokens_of(text, dialect))])


def _parse(spelling: Spelling, dialect: Dialect) -> Sequence[exp.Expression] | int:
    """Return the constraints that sqlglot reads, or the index of the token it stumbles over."""
    before = "CREATE TABLE t (c INT "
    text = f"{before}{spelling.text})"
    if len(text) > _LONGEST:
        return len(spelling.starts) - 1
    try:
        tree = sqlglot.parse_one(
            text,
            read=dialect.grammar,
            error_level=ErrorLevel.IMMEDIATE,
            error_message_context=_LONGEST,
        )
    except ParseError as error:
        context = error.errors[0]["start_context"] if error.errors else ""
        place = spelling.token_at(len(context) - len(before))
        return min(place, len(spelling.starts) - 1)
    except (TokenError, RecursionError):
        return len(spelling.starts) - 1
    column = tree.find(exp.ColumnDef)
    return column.args["constraints"] if column else 0


def _take_out_expression(tokens: list[Token]) -> bool:
    """Remove what a column is computed from; sqlglot misreads ``AS (a) NOT NULL``.

    Return whether there was such an expression.
    """
    depths = _depths(tokens)
    for begin, token in enumerate(tokens[:-1]):
        following = tokens[begin + 1].upper
        if depths[begin] or token.upper not in _COMPUTED or following in ("IDENTITY", "ROW"):
            continue
        end = begin + 2
        while end < len(tokens) and (depths[end] or not _starts_attribute(tokens, end)):
            end += 1
        while begin and tokens[begin - 1].upper in ("GENERATED", "ALWAYS"):
            begin -= 1
        del tokens[begin:end]
        return True
    return False


def _take_out(tokens: list[Token], place: int) -> list[Token]:
    """Remove what sqlglot can't read from the tokens, and return what of it may matter."""
    depths = _depths(tokens)
    if depths[place]:
        _take_out_group(tokens, depths, place)
        return []
    if tokens[place].upper == "NOT" and place + 1 < len(tokens):
        place += _is_irrelevant(tokens[place + 1])
    begin = place
    while begin and (depths[begin] or not _starts_attribute(tokens, begin)):
        begin -= 1
    is_irrelevant = _is_irrelevant(tokens[begin])
    begin = begin if is_irrelevant else place
    end = begin + 1
    while end < len(tokens) and (
        depths[end] or (is_irrelevant and not _starts_attribute(tokens, end))
    ):
        end += 1
    begin -= is_irrelevant and begin > 0 and tokens[begin - 1].upper == "NOT"
    removed = tokens[begin:end]
    del tokens[begin:end]
    return [] if is_irrelevant else removed


def _take_out_group(tokens: list[Token], depths: Sequence[int], place: int) -> None:
    """Empty parentheses that sqlglot can't read; what's inside them never matters."""
    begin, end = place, place + 1
    while begin and depths[begin - 1]:
        begin -= 1
    while end < len(tokens) and depths[end]:
        end += 1
    inside = tokens[begin + 1 : end - 1]
    if [token.text for token in inside] == [_ONE.text]:
        del tokens[begin:end]
    else:
        tokens[begin + 1 : end - 1] = [_ONE]


def _depths(tokens: Sequence[Token]) -> list[int]:
    """Return for each token how many parentheses it's inside, its own included."""
    depths = []
    depth = 0
    for token in tokens:
        depth += token.upper == "("
        depths.append(depth)
        depth -= token.upper == ")" and depth > 0
    return depths


def _phrases(unread: Iterable[Token]) -> list[str]:
    """Return tokens as phrases, those that followed each other together."""
    phrases: list[list[Token]] = []
    for token in sorted(unread, key=lambda token: token.start):
        if phrases and token.start - phrases[-1][-1].end <= 1:
            phrases[-1].append(token)
        else:
            phrases.append([token])
    return [shortened(phrase) for phrase in phrases]


def _read(constraints: Sequence[exp.Expression], dialect: Dialect) -> Attributes:
    attributes = Attributes()
    for constraint in constraints:
        kind = constraint.args.get("kind")
        name = constraint.name
        if isinstance(kind, exp.NotNullColumnConstraint):
            allows_null = bool(kind.args.get("allow_null"))
            if not allows_null or attributes.nullable is None:
                attributes.nullable = allows_null
        elif isinstance(kind, exp.PrimaryKeyColumnConstraint | exp.UniqueColumnConstraint):
            is_primary = isinstance(kind, exp.PrimaryKeyColumnConstraint)
            attributes.keys.append((is_primary, name))
        elif isinstance(kind, exp.Reference):
            attributes.references.append((*_read_reference(kind, dialect), name))
        elif isinstance(kind, _NUMBERING):
            attributes.nullable = False
        elif isinstance(kind, exp.CommentColumnConstraint):
            attributes.comment = kind.name
        elif isinstance(kind, exp.Properties):
            for option in kind.expressions:
                if option.name.lower() == "description":
                    attributes.comment = option.args["value"].name
    return attributes


_NUMBERING = (exp.AutoIncrementColumnConstraint, exp.GeneratedAsIdentityColumnConstraint)


def _read_reference(
    reference: exp.Reference, dialect: Dialect
) -> tuple[ObjectName, tuple[Identifier, ...]]:
    target = reference.this
    table = target.this if isinstance(target, exp.Schema) else target
    parts = [Identifier(part.name, bool(part.args.get("quoted"))) for part in table.parts]
    columns = target.expressions if isinstance(target, exp.Schema) else []
    return object_name(undotted(parts, dialect)), tuple(
        Identifier(column.name, bool(column.args.get("quoted"))) for column in columns
    )


def _starts_attribute(tokens: Sequence[Token], place: int) -> bool:
    word = tokens[place].upper
    if word in ("CHARACTER", "CHAR"):
        return place + 1 < len(tokens) and tokens[place + 1].upper == "SET"
    return word in _READ or word in _IRRELEVANT


def _is_irrelevant(token: Token) -> bool:
    return token.upper in _IRRELEVANT
