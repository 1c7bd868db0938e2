"""Names for places that take fewer characters than a source does: identifiers and tags.

A source's own name is a stranger's text. What comes out of here is plain ASCII, bounded in length,
and depends on nothing but the names that go in.
"""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable

# Digits stay with the letters that they follow: Address2 is address2, not address_2.
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
# What Unicode decomposition leaves as it is, though a plain spelling is customary.
_SPELLINGS = str.maketrans(
    {
        "ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O",
        "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "ł": "l", "Ł": "L", "þ": "th", "Þ": "TH",
        "\N{LATIN SMALL LETTER DOTLESS I}": "i",
    }
)  # fmt: skip
LONGEST_IDENTIFIER = 63


def identifier(name: str) -> str:
    """A snake_case identifier of at most 63 characters.

    A name without a Latin letter or digit becomes ``n_`` and a hash, a longer one ends in a hash,
    so that different names seldom meet. ``identifiers`` makes sure of it for a whole set.
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
    """An identifier for each of the names, no two the same.

    Where several names would get the same one, the name that is spelled just so keeps it and the
    others end in a hash of their own spelling: a name's identifier does not change with the order
    of the names.
    """
    by_identifier: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        by_identifier[identifier(name)].append(name)
    result: dict[str, str] = {}
    taken = set(by_identifier)
    for base in sorted(by_identifier):
        claimants = by_identifier[base]
        for name in sorted(claimants):
            alone = len(claimants) == 1 or name == base
            result[name] = base if alone else _distinct(base, name, taken)
    return result


def tag(text: str) -> str:
    """A kebab-case tag."""
    return identifier(text).strip("_").replace("_", "-")


def _latin(name: str) -> str:
    """The name in ASCII: accents dropped, customary spellings used, other scripts left out."""
    plain = unicodedata.normalize("NFKD", name.translate(_SPELLINGS))
    return plain.encode("ascii", "ignore").decode()


def _distinct(base: str, name: str, taken: set[str]) -> str:
    for length in range(6, 65):
        stem = base[: LONGEST_IDENTIFIER - length - 1].rstrip("_")
        candidate = f"{stem}_{_digest(name, length)}" if stem else f"n_{_digest(name, length)}"
        if candidate not in taken:
            taken.add(candidate)
            return candidate
    message = f"no free identifier for {name!r}"
    raise AssertionError(message)


def _digest(name: str, length: int) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:length]
