"""Identifiers and tags made of any name.

A source's names are a stranger's text. Identifiers are plain ASCII, bounded in length, and depend
only on the names that they're made of.
"""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable

# Digits belong to the letters in front of them: Address2 is address2, not address_2.
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
# Letters that Unicode doesn't decompose, though people have a plain spelling for them.
_SPELLINGS = str.maketrans(
    {
        "ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O",
        "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "ł": "l", "Ł": "L", "þ": "th", "Þ": "TH",
        "\N{LATIN SMALL LETTER DOTLESS I}": "i",
    }
)  # fmt: skip
LONGEST_IDENTIFIER = 63
"""Characters that PostgreSQL keeps of a name, the fewest of all targets."""


def identifier(name: str) -> str:
    """Return a snake_case identifier of at most 63 characters.

    A name without a Latin letter or digit becomes ``n_`` and a hash, and a longer one ends in a
    hash. Different names seldom get the same identifier, in ``identifiers`` never.
    """
    parts = [part.lower() for part in _WORD.findall(_latin(name))]
    if not parts:
        return f"n_{_digest(name, 8)}"
    joined = "_".join(parts)
    if joined[0].isdigit():
        joined = f"n_{joined}"
    if len(joined) <= LONGEST_IDENTIFIER:
        return joined
    return f"{joined[: LONGEST_IDENTIFIER - 9].rstrip('_')}_{_digest(name, 8)}"


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """Return a distinct identifier for each of the names.

    Where several names would get the same one, the name that is spelled like it gets it. The others
    end in a hash of their spelling, so identifiers don't depend on the order of the names.
    """
    by_identifier: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        by_identifier[identifier(name)].append(name)
    result: dict[str, str] = {}
    used = set(by_identifier)
    for base in sorted(by_identifier):
        names_of_base = by_identifier[base]
        for name in sorted(names_of_base):
            is_plain = len(names_of_base) == 1 or name == base
            result[name] = base if is_plain else _hashed_identifier(base, name, used)
    return result


def tag(text: str) -> str:
    """Return a kebab-case tag."""
    return identifier(text).strip("_").replace("_", "-")


def _latin(name: str) -> str:
    """Return the name in ASCII: without accents and without letters of other scripts."""
    plain = unicodedata.normalize("NFKD", name.translate(_SPELLINGS))
    return plain.encode("ascii", "ignore").decode()


def _hashed_identifier(base: str, name: str, used: set[str]) -> str:
    """Return an identifier that isn't used yet, with as short a hash as that allows."""
    for length in range(6, 65):
        stem = base[: LONGEST_IDENTIFIER - length - 1].rstrip("_")
        candidate = f"{stem}_{_digest(name, length)}" if stem else f"n_{_digest(name, length)}"
        if candidate not in used:
            used.add(candidate)
            return candidate
    message = f"no free identifier for {name!r}"
    raise AssertionError(message)


def _digest(name: str, length: int) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:length]
