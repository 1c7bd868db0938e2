"""Sentences and documents without the values of rows that they quote."""

import re

from fluid_build.sources.text_values.personal_text import without_values

_QUOTED = re.compile(r"(?<!\w)'(?:[^'\n]|'')*'(?!\w)")
"""A literal of SQL, or a value that a sentence quotes; names are in double quotes or backticks."""
_EXAMPLE = re.compile(r"(such as )\"[^\"\n]*\"")


def prose_without_values(text: str) -> str:
    """Return a sentence or a document without the values that it quotes."""
    return _EXAMPLE.sub(r"\1…", _QUOTED.sub("'…'", without_values(text)))
