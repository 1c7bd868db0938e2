"""Sentences and documents without the values of rows that they quote.

Documents and notes of a forge quote a few: a list of codes, an example of what was read otherwise.
"""

import re

from fluid_build.block_yaml import block_yaml
from fluid_build.contract.read.parsers import read_yaml
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.sources.text_values.personal_text import without_values

_QUOTED = re.compile(r"(?<!\w)'(?:[^'\n]|'')*'(?!\w)")
"""A literal of SQL, or a value that a sentence quotes; names are in double quotes or backticks."""
_VALUES_LABEL = "accepted-values"
_EXAMPLE = re.compile(r"(such as )\"[^\"\n]*\"")


def prose_without_values(text: str) -> str:
    """Return a sentence or a document without the values that it quotes."""
    return _EXAMPLE.sub(r"\1…", _QUOTED.sub("'…'", without_values(text)))


def contract_without_values(text: str, name: str) -> str:
    """Return a contract's YAML without the values that its rules list.

    Raises SourceUnreadableError where it isn't YAML.
    """
    document = read_yaml(text, name).document
    return block_yaml(_without_values(document)) if isinstance(document, dict) else ""


def _without_values(value: JsonValue) -> JsonObject:
    assert isinstance(value, dict)
    return {name: _masked(name, inner) for name, inner in value.items()}


def _masked(name: str, value: JsonValue) -> JsonValue:
    if name == _VALUES_LABEL:
        return "not shared"
    if isinstance(value, dict):
        return _without_values(value)
    if isinstance(value, list):
        return [_masked(name, inner) for inner in value]
    return prose_without_values(value) if isinstance(value, str) else value
