"""A cursor over the tokens of one statement."""

from collections.abc import Sequence

from fluid_build.sources.ddl.dialects import Dialect
from fluid_build.sources.ddl.grammar import Identifier, ObjectName
from fluid_build.sources.ddl.lexer import Token

_NESTING = frozenset(("STRUCT", "ARRAY", "MAP", "ROW", "LIST", "NESTED", "OBJECT", "TUPLE"))
_OPEN = frozenset(("(", "["))
_CLOSE = frozenset((")", "]"))


class UnreadableError(ValueError):
    """A statement, or a part of one, that is not written as any dialect we know writes it."""


class Reader:
    """Tokens and a place among them; every method that takes something moves the place on."""

    def __init__(self, tokens: Sequence[Token], dialect: Dialect) -> None:
        self.tokens = tokens
        self.dialect = dialect
        self.at = 0

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return self.at >= len(self.tokens)

    def upper(self, ahead: int = 0) -> str:
        """The keyword or sign some tokens ahead; empty for a quoted name, a value or the end."""
        place = self.at + ahead
        return self.tokens[place].upper if place < len(self.tokens) else ""

    def kind(self, ahead: int = 0) -> str:
        """The kind of the token some tokens ahead; empty at the end."""
        place = self.at + ahead
        return self.tokens[place].kind if place < len(self.tokens) else ""

    def take(self) -> Token:
        """The next token, whatever it is."""
        if self.done:
            raise UnreadableError("it ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, *words: str) -> bool:
        """Take these keywords or signs if all of them come next."""
        if any(self.upper(ahead) != word for ahead, word in enumerate(words)):
            return False
        self.at += len(words)
        return True

    def accept_any(self, words: frozenset[str]) -> str:
        """Take the next keyword if it is one of these, and say which."""
        word = self.upper()
        if word not in words or not word:
            return ""
        self.at += 1
        return word

    def expect(self, *words: str) -> None:
        """Take these keywords or signs; UnreadableError if others come next."""
        if not self.accept(*words):
            raise UnreadableError(f"{' '.join(words)} is missing {self.where()}")

    def where(self) -> str:
        """The next token, for a message."""
        return "at the end" if self.done else f"before {self.tokens[self.at].text[:30]!r}"

    def is_name(self, ahead: int = 0) -> bool:
        """Whether a name may stand there."""
        return self.kind(ahead) in ("word", "name", "dquote")

    def name(self, *, or_string: bool = False) -> Identifier:
        """The next token as a name."""
        if self.is_name() or (or_string and self.kind() == "string"):
            token = self.take()
            return Identifier(token.text, token.kind != "word")
        raise UnreadableError(f"a name is missing {self.where()}")

    def object_name(self) -> ObjectName:
        """A name with the schema before it; what stands before the schema is left out."""
        parts = [self.name(or_string=True)]
        while self.accept("."):
            if self.is_name():
                parts.append(self.name())
        return named(parts, self.dialect)

    def group(self) -> Sequence[Token]:
        """What stands between the parentheses that come next."""
        if self.upper() not in _OPEN:
            raise UnreadableError(f"( is missing {self.where()}")
        start, depth = self.at + 1, 0
        for place in range(self.at, len(self.tokens)):
            sign = self.tokens[place].upper
            if sign in _OPEN:
                depth += 1
            elif sign in _CLOSE:
                depth -= 1
                if depth == 0:
                    self.at = place + 1
                    return self.tokens[start:place]
        raise UnreadableError("a parenthesis is never closed")

    def angles(self) -> None:
        """Step over ``<…>``, one inside the other."""
        depth = 0
        while not self.done:
            sign = self.take().upper
            depth += (sign == "<") - (sign == ">")
            if depth == 0:
                return
        raise UnreadableError("a < is never closed")

    def skip_group(self) -> bool:
        """Step over parentheses if they come next."""
        if self.upper() != "(":
            return False
        self.group()
        return True

    def rest(self) -> Sequence[Token]:
        """All that is left."""
        rest = self.tokens[self.at :]
        self.at = len(self.tokens)
        return rest


def named(parts: Sequence[Identifier], dialect: Dialect) -> ObjectName:
    """The object that a dotted name names; BigQuery and its like put the dots inside the quotes."""
    if dialect.dotted_names:
        parts = [Identifier(text, part.quoted) for part in parts for text in part.text.split(".")]
    parts = [part for part in parts if part.text]
    if not parts:
        raise UnreadableError("a name is empty")
    return ObjectName(parts[-1], parts[-2] if len(parts) > 1 else None)


def split_commas(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """Pieces between the commas that stand in no parentheses or angle brackets."""
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


def written(tokens: Sequence[Token]) -> str:
    """Tokens as text again, spaced as they were, names without the quotes of T-SQL and MySQL."""
    text: list[str] = []
    end = -1
    for token in tokens:
        if text and token.start > end and token.upper != "(":
            text.append(" ")
        text.append(f"'{token.text}'" if token.kind == "string" else token.text)
        end = token.end
    return "".join(text)
