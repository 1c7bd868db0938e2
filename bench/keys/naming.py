"""Names in another style, or none at all, to show how much depends on them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Rename = Callable[[str], str]

_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def _words(name: str) -> list[str]:
    return [part.lower() for part in _PARTS.findall(name)] or ["x"]


def _shorten(word: str) -> str:
    if len(word) <= 4:
        return word
    consonants = word[0] + "".join(letter for letter in word[1:] if letter not in "aeiou")
    return consonants[:4]


STYLES: dict[str, Rename] = {
    "camel": lambda name: _words(name)[0] + "".join(w.title() for w in _words(name)[1:]),
    "pascal": lambda name: "".join(word.title() for word in _words(name)),
    "snake": lambda name: "_".join(_words(name)),
    "upper": lambda name: "_".join(_words(name)).upper(),
    "glued": lambda name: "".join(_words(name)),
    "abbreviated": lambda name: "_".join(_shorten(word) for word in _words(name)),
}


@dataclass
class Names:
    """The names that a database's tables and columns have in this run."""

    plain: bool
    tables: dict[str, str]
    columns: dict[tuple[str, str], str]

    def table(self, name: str) -> str:
        return self.tables[name]

    def column(self, table: str, name: str) -> str:
        return self.columns[table, name]


def renaming(style: str, truth: dict) -> Names:
    """Return new names in a style, each made unique, or numbers (``none``)."""
    if style == "as-is":
        tables = {table: table for table in truth["tables"]}
        return Names(True, tables, dict(_each_column(truth, lambda _, name: name)))
    if style == "none":
        tables = {table: f"t{index}" for index, table in enumerate(truth["tables"])}
        return Names(False, tables, dict(_each_column(truth, lambda index, _: f"f{index}")))
    rename = STYLES[style]
    tables = _unique({table: rename(table) for table in truth["tables"]})
    columns: dict[tuple[str, str], str] = {}
    for table, described in truth["tables"].items():
        renamed = _unique({name: rename(name) for name in described["columns"]})
        columns.update({(table, name): new for name, new in renamed.items()})
    return Names(False, tables, columns)


def _each_column(
    truth: dict, rename: Callable[[int, str], str]
) -> Iterator[tuple[tuple[str, str], str]]:
    for table, described in truth["tables"].items():
        for index, name in enumerate(described["columns"]):
            yield (table, name), rename(index, name)


def _unique(names: dict[str, str]) -> dict[str, str]:
    used: set[str] = set()
    for old, new in names.items():
        candidate, number = new, 2
        while candidate.lower() in used:
            candidate, number = f"{new}{number}", number + 1
        used.add(candidate.lower())
        names[old] = candidate
    return names
