"""One database in other spellings: its tables and columns renamed throughout."""

import re
from collections.abc import Callable

from fluid_build.sources.sql import quote
from tests.profiling.databases import database
from tests.profiling.domains import Domain

_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_REFERENCE = re.compile(r"(\w+)\((\w+)\) -> (\w+)\((\w+)\)")


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]


def _short(word: str) -> str:
    if len(word) <= 4:
        return word
    return (word[0] + "".join(letter for letter in word[1:] if letter not in "aeiou"))[:4]


STYLES: dict[str, Callable[[str], str]] = {
    "camel": lambda name: _words(name)[0] + "".join(w.title() for w in _words(name)[1:]),
    "pascal": lambda name: "".join(word.title() for word in _words(name)),
    "snake": lambda name: "_".join(_words(name)),
    "upper": lambda name: "_".join(_words(name)).upper(),
    "glued": lambda name: "".join(_words(name)),
    "abbreviated": lambda name: "_".join(_short(word) for word in _words(name)),
}


def respelled(domain: Domain, style: str) -> Domain:
    """Return the same database with every name in another style."""
    rename = STYLES[style]
    statements = [domain.script]
    with database(domain.script) as source:
        for table in source.tables:
            for index, column in enumerate(table.columns):
                statements.append(_column(table.name, column.name, f"fluid{index}"))
            for index, column in enumerate(table.columns):
                statements.append(_column(table.name, f"fluid{index}", rename(column.name)))
            for old, new in ((table.name, "fluid"), ("fluid", rename(table.name))):
                statements.append(f"ALTER TABLE {quote(old)} RENAME TO {quote(new)}")
    meant = frozenset(
        "{}({}) -> {}({})".format(*map(rename, found.groups()))
        for shown in domain.meant
        if (found := _REFERENCE.fullmatch(shown))
    )
    return Domain(";\n".join(statements), meant)


def _column(table: str, old: str, new: str) -> str:
    return f"ALTER TABLE {quote(table)} RENAME COLUMN {quote(old)} TO {quote(new)}"
