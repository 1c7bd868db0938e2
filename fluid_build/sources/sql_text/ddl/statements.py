"""Cutting SQL text into statements, so that a bad one doesn't take the others with it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.ddl.tokens import (
    BACKSLASH_DQUOTE,
    BACKSLASH_STRING,
    PLAIN_STRING,
    Token,
    Tokenizer,
    comment_end,
)
from fluid_build.text import clip

_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement: its tokens, where it is, and how it begins.

    ``tokens`` of a statement that only moves rows hold no more than its first words, and ``rows``
    is where its rows are in the text: after INSERT, the table and the values; after a COPY's
    semicolon, its lines.
    ``client`` marks a line for a client program (psql's ``\\connect``, SQL*Plus's ``PROMPT``).
    ``terminated`` is False where the next statement begins without a semicolon between them.
    """

    tokens: tuple[Token, ...]
    file: str
    line: int
    opening: str
    client: bool = False
    terminated: bool = True
    rows: tuple[int, int] | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The first tokens, upper-case; an empty string for each that isn't a bare word."""
        return tuple(token.upper for token in self.tokens[:20])


_ROUTINES = frozenset(("FUNCTION", "PROCEDURE", "PROC", "TRIGGER", "EVENT", "PACKAGE", "RULE"))
OBJECTS = _ROUTINES | frozenset(
    """
    AGGREGATE CAST CATALOG COLLATION CONNECTION CONVERSION DATABASE DICTIONARY DIRECTORY DOMAIN
    EXTENSION FILE INDEX LANGUAGE LINK LOGIN MACRO MODEL OPERATOR PIPE POLICY PROFILE
    PUBLICATION ROLE SCHEMA SECRET SEQUENCE SERVER SESSION SINK SOURCE STAGE STATISTICS STREAM
    SUBSCRIPTION SYNONYM TABLE TABLESPACE TAG TASK TEXT TRANSFORM TYPE USER VIEW WAREHOUSE
    """.split()
)
_ROWS = frozenset(("INSERT", "REPLACE", "SELECT", "UPDATE", "DELETE", "MERGE", "VALUES"))
# After BEGIN, these start a transaction; anything else starts a block of statements.
_TRANSACTION = frozenset(
    ("", ";", "TRANSACTION", "TRAN", "WORK", "IMMEDIATE", "EXCLUSIVE", "DEFERRED", "ISOLATION",
     "READ", "DISTRIBUTED")
)  # fmt: skip
_END_OF = frozenset(("IF", "LOOP", "WHILE", "REPEAT", "FOR"))

_GO = re.compile(r"[ \t]*GO(?:[ \t]+\d+)?[ \t]*;?[ \t]*(?:--[^\n]*)?\r?(?:\n|\Z)", re.IGNORECASE)
_ANY_GO = re.compile(r"^[ \t]*GO[ \t]*;?[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_ANY_SLASH = re.compile(r"^/[ \t]*\r?$", re.MULTILINE)
_SLASH_LINE = re.compile(r"/[ \t]*\r?(?=\n|\Z)")
_CLIENT_LINE = re.compile(
    r"\\[^\n]*|\.[a-z]\w*[^\n]*|:(?:setvar|r|on|connect|out)\b[^\n]*|!![^\n]*"
)
_DELIMITER = re.compile(r"DELIMITER[ \t]+(\S+)[^\n]*", re.IGNORECASE)
_SQLPLUS_LINE = re.compile(
    r"(?:REM|REMARK|PROMPT|PRO|PAUSE|SPOOL|WHENEVER|DEFINE|UNDEFINE|ACCEPT|TTITLE|BTITLE|HOST|EXIT"
    r"|QUIT|VARIABLE|VAR|CONNECT|CONN|CLEAR|COLUMN|COL|SHOW|START|TIMING|"
    r"EXEC|EXECUTE|SET(?!\s+(?:ROLE|TRANSACTION|CONSTRAINTS?)\b))\b[^\n]*|@[^\n]*",
    re.IGNORECASE,
)
_COPY_STDIN = re.compile(r"\bFROM\s+STDIN\b", re.IGNORECASE)
_COPY_END = re.compile(r"^\\\.[ \t]*\r?$", re.MULTILINE)
# What begins a statement at the start of a line, even if the one before has no semicolon.
_NEXT = re.compile(
    r"CREATE\s+(?:\w+\s+){0,4}?(?:TABLE|VIEW|INDEX|SCHEMA|TYPE|DOMAIN|SEQUENCE|FUNCTION|PROC|"
    r"PROCEDURE|TRIGGER|DATABASE)\b|ALTER\s+TABLE\b|DROP\s+TABLE\b|COMMENT\s+ON\b|INSERT\s"
    r"|TRUNCATE\s+TABLE\b|DELETE\s+FROM\b",
    re.IGNORECASE,
)
_NEXT_IN_BATCH = re.compile(
    r"(?:EXEC|EXECUTE|PRINT|BEGIN|END|ELSE|INSERT|BULK\s+INSERT|DECLARE|IF|USE|GRANT|RAISERROR)\b"
    r"|DROP\s+(?:TABLE|INDEX|VIEW|PROC\w*|FUNCTION|DATABASE)\b|SET\s+\w+\s+(?:ON|OFF)\b"
    r"|SET\s+(?:IDENTITY_INSERT|@)",
    re.IGNORECASE,
)
_OPENERS = frozenset(
    """
    CREATE ALTER DROP COMMENT INSERT EXEC EXECUTE PRINT BEGIN END ELSE BULK DECLARE IF USE GRANT
    RAISERROR SET TRUNCATE DELETE
    """.split()
)


_PARTS_AT_ONCE = 10_000
"""Python keeps a place to go back to for each part."""


def _rows_body(string: str, stops: str = "", others: str = "") -> re.Pattern[str]:
    """Return a pattern for many of the parts that the rows of a statement are made of, if any.

    It stops at the characters ``stops``, but for those that ``others`` takes.
    """
    return re.compile(
        rf"(?:[^;'\"`\n\-/{stops}]+|{string}{others}|\"[^\"]*\"|`[^`]*`|--[^\n]*|/(?!\*)|-(?!-)"
        rf"|\n(?!{_NEXT_LINE})){{0,{_PARTS_AT_ONCE}}}",
        re.IGNORECASE | re.DOTALL,
    )


_NEXT_LINE = (
    r"[ \t]*(?:GO[ \t]*\r?(?:\n|\Z)|(?:CREATE|INSERT|EXEC|PRINT|GRANT)\s|COMMIT\b|DELETE\s+FROM\s"
    r"|(?:ALTER|DROP|TRUNCATE)\s+TABLE\s|SET\s+IDENTITY_INSERT\s)"
)
"""A line that begins another statement, although no semicolon ends the rows before it: SQL Server's
scripts have none."""

_STRING = rf"(?<=[\s,(][eE]){BACKSLASH_STRING}|{PLAIN_STRING}"


@cache
def _rows_body_of(dialect: Dialect) -> re.Pattern[str]:
    """Return the pattern for rows in a dialect; it stops where a quote of its own begins."""
    string = rf"{BACKSLASH_STRING}|{BACKSLASH_DQUOTE}" if dialect.backslash else _STRING
    if dialect.sqlplus:
        return _rows_body(string, "qQ", "|[qQ](?!')")
    stops, others = ("#", r"|\#[^\n]*") if dialect.hash_comments else ("", "")
    if dialect.dollar_quotes:
        return _rows_body(string, f"{stops}$", rf"{others}|\$(?!(?:[^\W\d]\w*)?\$)")
    return _rows_body(string, stops, others)


def split(text: str, dialect: Dialect, file: str = "") -> Iterator[Statement]:
    """Yield the statements of a text, in order."""
    yield from _Splitter(text, dialect, file).statements()


class _Splitter:
    """One walk through a text; ``tokens`` are those of the statement it's in."""

    def __init__(self, text: str, dialect: Dialect, file: str) -> None:
        self.text = text
        self.dialect = dialect
        self.file = file
        self.tokenizer = Tokenizer(text, dialect)
        self.position = 0
        self.delimiter = ";"
        self.counted_to = 0
        self.line = 1
        self.last_go = _last(_ANY_GO, text) if dialect.batches else -1
        self.last_slash = _last(_ANY_SLASH, text) if dialect.sqlplus else -1
        self.last_copy_end = _last(_COPY_END, text) + len("\\.")
        self.begin()

    def begin(self) -> None:
        self.tokens: list[Token] = []
        self.depth = 0
        self.block = 0
        self.has_ended_block = False
        self.object = ""
        self.rows: tuple[int, int] | None = None

    def statements(self) -> Iterator[Statement]:
        while True:
            token = self.tokenizer.next(self.position)
            if not self.tokens:
                client_line = self.client_line(token)
                if client_line is not None:
                    yield client_line
                    continue
            if token is None:
                yield from self.emit()
                return
            if self.delimiter != ";":
                if self.text.startswith(self.delimiter, token.start):
                    self.position = token.start + len(self.delimiter)
                    yield from self.emit()
                    continue
                token = self.cut_at_delimiter(token)
            if self.tokens and self.starts_another(token):
                yield from self.emit(terminated=False)
                continue
            if self.is_go(token) or self.is_slash(token):
                yield from self.emit()
                self.position = self.end_of_line(token.start)
                continue
            self.position = token.end
            if token.upper == ";" and (not self.tokens or self.is_end()):
                yield from self.emit()
                continue
            self.tokens.append(token)
            self.follow(token)
            if len(self.tokens) == 1 and token.upper in _ROWS and self.delimiter == ";":
                self.skip_rows()

    def emit(self, *, terminated: bool = True) -> Iterator[Statement]:
        """Yield the current statement, if any, and step over the rows that follow a COPY."""
        if self.tokens:
            first, last = self.tokens[0], self.tokens[-1]
            if first.upper == "COPY" and _COPY_STDIN.search(self.text, first.start, last.end):
                self.skip_lines()
            yield Statement(
                tokens=tuple(self.tokens),
                file=self.file,
                line=self.line_of(first.start),
                opening=_opening(self.text, first, last),
                terminated=terminated,
                rows=self.rows or self.rows_within(),
            )
        self.begin()

    def rows_within(self) -> tuple[int, int] | None:
        """Return where the rows of an INSERT are that another delimiter than ours ends."""
        first, last = self.tokens[0], self.tokens[-1]
        is_whole = self.delimiter != ";" and first.upper in ("INSERT", "REPLACE")
        return (first.end, last.end) if is_whole else None

    def client_line(self, token: Token | None) -> Statement | None:
        """Return the line that a client program would run itself, if one begins here."""
        if token is None or not self.starts_line(token.start):
            return None
        start = token.start
        delimiter = _DELIMITER.match(self.text, start)
        if delimiter:
            self.delimiter = delimiter[1]
            self.position = delimiter.end()
            return self.client(start, "DELIMITER")
        for pattern in (_CLIENT_LINE, *((_SQLPLUS_LINE,) if self.dialect.sqlplus else ())):
            line = pattern.match(self.text, start)
            if line:
                self.position = self.end_of_line(start)
                return self.client(start, line.group().split()[0])
        return None

    def client(self, start: int, word: str) -> Statement:
        token = Token("word", word, word.upper(), start, start + len(word))
        return Statement((token,), self.file, self.line_of(start), word, client=True)

    def cut_at_delimiter(self, token: Token) -> Token:
        """Return a word without the delimiter (``$$``) that's glued to its end."""
        cut = token.text.find(self.delimiter) if token.kind == "word" else -1
        if cut <= 0:
            return token
        text = token.text[:cut]
        return Token("word", text, text.upper(), token.start, token.start + cut)

    def starts_another(self, token: Token) -> bool:
        """Return whether a token begins a new statement although the last one wasn't closed."""
        if token.upper not in _OPENERS or not self.starts_line(token.start):
            return False
        if self.in_routine() or self.delimiter != ";":
            return False
        if _NEXT.match(self.text, token.start):
            return True
        return (
            self.dialect.batches
            and self.depth <= 0
            and self.object != "VIEW"
            and _NEXT_IN_BATCH.match(self.text, token.start) is not None
        )

    def in_routine(self) -> bool:
        """Return whether the current statement may have others inside it."""
        if self.object in _ROUTINES:
            return self.block > 0 or self.dialect.batches or not self.dialect.sqlplus
        return self.tokens[0].upper in ("BEGIN", "DECLARE", "DO") and not self.dialect.batches

    def follow(self, token: Token) -> None:
        """Keep count of parentheses and of BEGIN … END."""
        upper = token.upper
        if upper == "(":
            self.depth += 1
        elif upper == ")":
            self.depth -= 1
        elif not self.object and upper in OBJECTS and self.tokens[0].upper in ("CREATE", "ALTER"):
            self.object = upper
        elif self.object == "TYPE" and upper == "BODY":
            self.object = "PACKAGE"
        elif upper and (self.object in _ROUTINES or self.is_anonymous_block()):
            self.follow_block(upper)

    def follow_block(self, upper: str) -> None:
        before = self.tokens[-2].upper if len(self.tokens) > 1 else ""
        if (
            (before == "END" and upper in _END_OF)
            or upper == "BEGIN"
            or (upper == "CASE" and before != "END")
        ):
            self.block += 1
        elif upper == "END" or (before == "BEGIN" and upper in ("TRAN", "TRANSACTION")):
            self.block -= 1
            self.has_ended_block = True

    def is_anonymous_block(self) -> bool:
        if self.dialect.batches or self.tokens[0].upper not in ("BEGIN", "DECLARE"):
            return False
        if self.tokens[0].upper == "DECLARE":
            return self.dialect.sqlplus
        following = self.tokens[1] if len(self.tokens) > 1 else self.tokenizer.next(self.position)
        return following is not None and following.upper not in _TRANSACTION

    def is_end(self) -> bool:
        """Return whether a semicolon ends the current statement rather than one inside it."""
        if self.delimiter != ";":
            return False
        if len(self.tokens) == 1:
            # BEGIN; starts a transaction, whatever comes next.
            return True
        if self.object in _ROUTINES:
            if self.dialect.batches and self.last_go > self.position:
                return False
            if self.dialect.sqlplus:
                return self.block <= 0 and self.has_ended_block and self.last_slash < self.position
            return self.block <= 0 and self.depth <= 0
        if self.is_anonymous_block():
            if self.dialect.sqlplus and self.last_slash > self.position:
                return False
            return self.block <= 0 and self.has_ended_block
        return True

    def is_go(self, token: Token) -> bool:
        if token.upper != "GO" or not (self.dialect.batches or self.depth <= 0):
            return False
        return self.starts_line(token.start) and _GO.match(self.text, token.start) is not None

    def is_slash(self, token: Token) -> bool:
        if token.upper != "/" or self.depth > 0 or not self.starts_line(token.start):
            return False
        return _SLASH_LINE.match(self.text, token.start) is not None

    def skip_rows(self) -> None:
        """Jump over the rows of a statement without making tokens of them."""
        body = _rows_body_of(self.dialect)
        start = self.position
        while True:
            while (rows := body.match(self.text, self.position)) and rows.end() > self.position:
                self.position = rows.end()
            self.rows = (start, self.position)
            if self.text.startswith("/*", self.position):
                self.position = comment_end(
                    self.text, self.position, nested=self.dialect.nested_comments
                )
            elif self.text.startswith(("$", "q", "Q"), self.position):
                quoted = self.tokenizer.next(self.position)
                is_text = quoted is not None and quoted.kind == "string"
                self.position = quoted.end if quoted and is_text else self.position + 1
            else:
                return

    def skip_lines(self) -> None:
        """Step over the lines that follow a COPY; without their end, the file was cut off.

        A statement behind it is no line.
        """
        end = _COPY_END.search(self.text, self.position, self.last_copy_end)
        start = self.end_of_line(self.position)
        if end is None and _NEXT.match(self.text, start):
            return
        self.rows = (start, end.start() if end else len(self.text))
        self.position = end.end() if end else len(self.text)

    def starts_line(self, position: int) -> bool:
        while position and self.text[position - 1] in " \t\ufeff":
            position -= 1
        return position == 0 or self.text[position - 1] == "\n"

    def end_of_line(self, position: int) -> int:
        newline = self.text.find("\n", position)
        return len(self.text) if newline < 0 else newline + 1

    def line_of(self, position: int) -> int:
        self.line += self.text.count("\n", self.counted_to, position)
        self.counted_to = position
        return self.line


def _opening(text: str, first: Token, last: Token) -> str:
    """Return a statement's first characters on one line; its keyword alone if it moves rows."""
    if first.upper in _ROWS or first.upper == "COPY":
        return first.upper
    words = text[first.start : min(last.end, first.start + 4 * _SHOWN)].split()
    return clip(" ".join(words), _SHOWN)


def _last(pattern: re.Pattern[str], text: str) -> int:
    return max((match.start() for match in pattern.finditer(text)), default=-1)
