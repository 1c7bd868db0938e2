"""What a source is called: by the user, by a catalog or contract in it, or by its file or folder.

A folder is often called ``data`` or ``csv``, which says nothing about what is in it; the folder
around it does.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from fluid_build.errors import UsageError
from fluid_build.lexicon import fold, terms
from fluid_build.text import clip

_LONGEST = 80
"""Characters of a name: it's a title, and an identifier keeps fewer."""
_MOST_TITLE_WORDS = 6
"""Longer comments describe, they don't name."""
_MOST_PARENTS = 4
"""How far up a name is looked for, such as from ``sakila/data/raw/2024/csv``."""

# What is in such a folder was only put there, so neither its name nor those above it say anything.
_PLACES = frozenset(
    """
    home users root tmp temp var mnt media srv opt usr volumes private desktop documents downloads
    dokumente schreibtisch bureau documentos escritorio descargas git repos projects workspace src
    """.split()
)
# A year or date at the end of a word isn't part of it (data2024); one digit is (db2).
_WORD = re.compile(r"(?!\d+(?![^\W_]))([^\W_]+?)(?:\d{4,})?(?![^\W_])")
_NEW_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


def says_nothing(name: str) -> bool:
    """Return whether a name says nothing about what the data is about: ``raw_data_2024``."""
    return all(
        word in terms("data_word") for word in _WORD.findall(_fold(_NEW_WORD.sub(" ", name)))
    )


def name_of_path(path: Path, own: str) -> str:
    """Return the name of a file or folder, or of the nearest folder around it that says something.

    ``own`` is its own name without endings. It stays where no folder nearby has a better one; the
    name of a user's folder, of a root or of a place such as ``tmp`` is never used.
    """
    if not says_nothing(own):
        return own
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 (Path.home raises where there is none)
    for parent in path.resolve().parents[:_MOST_PARENTS]:
        if _is_place(parent, home):
            break
        if not says_nothing(parent.name):
            return parent.name
    return own


def database_name(own: str, *, comment: str, schemas: Sequence[str]) -> str:
    """Return the name of a server's database.

    Where its own name says nothing, it's the comment on it if that is as short as a title, or the
    one schema that is read.
    """
    if not says_nothing(own):
        return own
    label = title(comment) if len(comment.split()) <= _MOST_TITLE_WORDS else ""
    # What PostgreSQL itself says of the database that every server has.
    if label and label != "default administrative connection database":
        return label
    return schemas[0] if len(schemas) == 1 and not says_nothing(schemas[0]) else own


def title(text: str) -> str:
    """Return a stranger's text as a name: one line, printable, bounded; "" where nothing is left.

    A text that says nothing about the data is no name either.
    """
    line = " ".join(text[: 4 * _LONGEST].split())
    name = clip("".join(filter(str.isprintable, line)).strip(), _LONGEST)
    return "" if says_nothing(name) else name


def check_name(name: str) -> str:
    """Return the name that a user asks for, on one line; UsageError where it's no name."""
    trimmed = " ".join(name.split())
    if not any(character.isalnum() for character in trimmed):
        raise UsageError(
            f"{name!r} isn't a name: it has no letter or digit.",
            hint='Pass a name such as --name "Bike sales".',
        )
    if not trimmed.isprintable():
        raise UsageError(
            f"The name {name!r} has a character that can't be printed.",
            hint="Leave out control characters.",
        )
    if len(trimmed) > _LONGEST:
        raise UsageError(
            f"The name has {len(trimmed):,} characters; at most {_LONGEST} are allowed.",
            hint="Choose a shorter name.",
        )
    return trimmed


def _is_place(folder: Path, home: Path) -> bool:
    """Return whether a folder is a root, somebody's home, above one, or a common place."""
    return (
        not folder.name
        or home.is_relative_to(folder)
        or _fold(folder.name) in _PLACES
        or _fold(folder.parent.name) in {"home", "users"}
    )


def _fold(name: str) -> str:
    """Return a name in lower case, without accents."""
    return fold(name.casefold())
