"""A cursor over the tokens of a statement."""

from collections.abc import Container, Sequence

from fluid_build.limits import MOST_NAME
from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.ddl.schema import Identifier, ObjectName
from fluid_build.sources.sql_text.ddl.tokens import Token

_NESTING = frozenset(("STRUCT", "ARRAY", "MAP", "ROW", "LIST", "NESTED", "OBJECT", "TUPLE"))
_OPEN = frozenset(("(", "["))
_CLOSE = frozenset((")", "]"))


class UnreadableError(ValueError):
    """A statement, or a part of one, that isn't written as any dialect we know writes it."""


class Reader:
    """Tokens and a place among them; every method that takes something moves the place on."""

    def __init__(self, tokens: Sequence[Token], dialect: Dialect) -> None:
        self.tokens = tokens
        self.dialect = dialect
        self.at = 0

    @property
    def is_done(self) -> bool:
        """Whether nothing is left."""
        return self.at >= len(self.tokens)

    def upper(self, ahead: int = 0) -> str:
        """Return the keyword or sign some tokens ahead; empty for anything else or the end."""
        place = self.at + ahead
        return self.tokens[place].upper if place < len(self.tokens) else ""

    def kind(self, ahead: int = 0) -> str:
        """Return the kind of the token some tokens ahead; empty at the end."""
        place = self.at + ahead
        return self.tokens[place].kind if place < len(self.tokens) else ""

    def is_name(self, ahead: int = 0) -> bool:
        """Return whether a token can be a name."""
        return self.kind(ahead) in ("word", "name", "dquote")

    def take(self) -> Token:
        """Take the next token, whatever it is."""
        if self.is_done:
            raise UnreadableError("it ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, *phrases: str) -> bool:
        """Take the first of some phrases (keywords and signs) that comes next."""
        for phrase in phrases:
            words = phrase.split()
            if all(self.upper(ahead) == word for ahead, word in enumerate(words)):
                self.at += len(words)
                return True
        return False

    def expect(self, word: str) -> None:
        """Take a keyword or sign; UnreadableError if another comes next."""
        if not self.accept(word):
            raise UnreadableError(f"{word} is missing {self._where()}")

    def until(self, words: Container[str]) -> Sequence[Token]:
        """Take everything before the first of some keywords or signs."""
        start = self.at
        while not self.is_done and self.upper() not in words:
            self.at += 1
        return self.tokens[start : self.at]

    def skip_to(self, *words: str) -> None:
        """Take everything up to and including the first of some keywords."""
        self.until(words)
        self.take()

    def _where(self) -> str:
        return "at the end" if self.is_done else f"before {self.tokens[self.at].text[:30]!r}"

    def name(self, *, or_string: bool = False) -> Identifier:
        """Take the next token as a name."""
        if self.is_name() or (or_string and self.kind() == "string"):
            token = self.take()
            if len(token.text) > MOST_NAME:
                raise UnreadableError(
                    f"a name has {len(token.text):,} characters; the limit is {MOST_NAME:,}"
                )
            return Identifier(token.text, token.kind != "word")
        raise UnreadableError(f"a name is missing {self._where()}")

    def dotted_name(self) -> list[Identifier]:
        """Take a name with what's before it, dots apart."""
        parts = [self.name(or_string=True)]
        while self.accept("."):
            if self.is_name():
                parts.append(self.name())
        parts = undotted(parts, self.dialect)
        if not parts:
            raise UnreadableError("a name is empty")
        return parts

    def object_name(self) -> ObjectName:
        """Take a name with its schema; what's before the schema is left out."""
        return object_name(self.dotted_name())

    def object_names(self) -> list[ObjectName]:
        """Take the names of objects between commas."""
        names = [self.object_name()]
        while self.accept(","):
            self.accept("ONLY")
            names.append(self.object_name())
        return names

    def group(self) -> Sequence[Token]:
        """Take parentheses, and return what's between them."""
        if self.upper() not in _OPEN:
            raise UnreadableError(f"( is missing {self._where()}")
        start, depth = self.at + 1, 0
        for place in range(self.at, len(self.tokens)):
            sign = self.tokens[place].upper
            depth += (sign in _OPEN) - (sign in _CLOSE)
            if depth == 0:
                self.at = place + 1
                return self.tokens[start:place]
        raise UnreadableError("a parenthesis is never closed")

    def skip_group(self) -> bool:
        """Step over parentheses if they come next."""
        if self.upper() not in _OPEN:
            return False
        self.group()
        return True

    def skip_angles(self) -> None:
        """Step over ``<…>``, nested ones included."""
        depth = 0
        while not self.is_done:
            sign = self.take().upper
            depth += (sign == "<") - (sign == ">")
            if depth == 0:
                return
        raise UnreadableError("a < is never closed")

    def remaining(self) -> Sequence[Token]:
        """Take everything that's left."""
        tokens = self.tokens[self.at :]
        self.at = len(self.tokens)
        return tokens

    def pieces(self) -> "list[Reader]":
        """Take parentheses, or everything that's left, and return a reader for each piece."""
        tokens = self.group() if self.upper() == "(" else self.remaining()
        return [Reader(piece, self.dialect) for piece in split_commas(tokens)]


def undotted(parts: Sequence[Identifier], dialect: Dialect) -> list[Identifier]:
    """Return a name's parts, with the dots that BigQuery and others write inside the quotes."""
    if dialect.dotted_names:
        parts = [Identifier(word, part.quoted) for part in parts for word in part.text.split(".")]
    return [part for part in parts if part.text]


def object_name(parts: Sequence[Identifier]) -> ObjectName:
    """Return the object that a dotted name names."""
    return ObjectName(parts[-1], parts[-2] if len(parts) > 1 else None)


def split_commas(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """Return the pieces between the commas that aren't inside parentheses or angle brackets."""
    pieces: list[Sequence[Token]] = []
    depth = angles = start = 0
    before = ""
    for place, token in enumerate(tokens):
        sign = token.upper
        if sign in _OPEN:
            depth += 1
        elif sign in _CLOSE:
            depth -= 1
        elif sign == "<" and (angles or before in _NESTING):
            angles += 1
        elif sign == ">" and angles:
            angles -= 1
        elif sign == "," and not depth and not angles:
            pieces.append(tokens[start:place])
            start = place + 1
        before = sign
    pieces.append(tokens[start:])
    return [piece for piece in pieces if piece]
