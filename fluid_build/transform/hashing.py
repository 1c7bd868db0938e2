"""Hash keys as SQL: text that two different keys never share, and the hash of it.

Without the escapes the keys ``('a|', 'b')`` and ``('a', '|b')`` would be joined to one text, and a
value that is spelled like the token for a null would be taken for one.
"""

from collections.abc import Sequence

from fluid_build.modeling.dv2 import HashKeyStrategy
from fluid_build.sources.sql import literal

HASH_TYPE = "VARCHAR"


def hash_key(values: Sequence[str], strategy: HashKeyStrategy) -> str:
    """The hash of several values, each an SQL expression of any type, in their order."""
    return f"{strategy.algorithm}({hash_input(values, strategy)})"


def hash_input(values: Sequence[str], strategy: HashKeyStrategy) -> str:
    """The text that is hashed: injective, a null told apart from every value."""
    delimiter = f" || {literal(strategy.delimiter)} || "
    return delimiter.join(_part(value, strategy) for value in values)


def _part(value: str, strategy: HashKeyStrategy) -> str:
    text = f"CAST({value} AS VARCHAR)"
    if strategy.case == "upper":
        text = f"upper({text})"
    for character in _escaped(strategy):
        escaped = literal(strategy.escape + character)
        text = f"replace({text}, {literal(character)}, {escaped})"
    return f"coalesce({text}, {literal(strategy.null_token)})"


def _escaped(strategy: HashKeyStrategy) -> list[str]:
    """What a value may not hold bare: the escape itself first, then what has a meaning."""
    meaning = dict.fromkeys(strategy.delimiter + strategy.null_token[:1])
    return [strategy.escape, *(character for character in meaning if character != strategy.escape)]
