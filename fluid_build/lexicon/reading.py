"""The words of a concept, by where they may stand in a name.

Only this module knows the files in ``words/``. A section ``[concept]`` has a line of words for each
language. ``any`` are codes and abbreviations of no language, ``other`` words of languages that have
few, and ``of`` other concepts whose words it has too. Words are written as their language writes
them, with accents, and are found in every spelling. Marks say where a word may stand:

- ``id_`` leads a name, ``_in`` ends one, ``(ad)`` is all of it; others stand anywhere.
- ``creat-`` begins a longer word, ``-id`` ends one, and ``-creat-`` is anywhere inside.
- ``data?`` is weak: it means something else in another language.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Final, Literal, get_args

from fluid_build.lexicon.concepts import Concept, Meaning
from fluid_build.lexicon.folding import spellings

_Place = Literal["anywhere", "weak", "first", "last", "alone", "start", "end", "inside"]
_FILES: Final = ("meanings", "keys", "names", "time", "things", "numbers", "weekdays")
_MEANINGS: Final[tuple[Meaning, ...]] = get_args(Meaning)
_MARKS: Final = frozenset("-_()?")
_CONCEPTS: Final[dict[str, Concept]] = {
    name: name for kind in get_args(Concept) for name in get_args(kind)
}


@cache
def terms(*concepts: Concept) -> frozenset[str]:
    """Return the words that stand for one of the concepts anywhere in a name."""
    return _found(concepts, "anywhere")


@cache
def loose_terms(*concepts: Concept) -> frozenset[str]:
    """Return the same and the weak words, where what else is known tells them from others."""
    return _found(concepts, "anywhere", "weak")


@cache
def leading(*concepts: Concept) -> frozenset[str]:
    """Return the words that stand for one of the concepts as the first of several."""
    return _found(concepts, "first")


@cache
def trailing(*concepts: Concept) -> frozenset[str]:
    """Return the words that stand for one of the concepts as the last of several."""
    return _found(concepts, "last")


@cache
def lone(*concepts: Concept) -> frozenset[str]:
    """Return the words that stand for one of the concepts as the only word of a name."""
    return _found(concepts, "alone")


@cache
def starts(*concepts: Concept) -> tuple[str, ...]:
    """Return how longer words of the concepts begin, the longest first."""
    return _longest_first(_found(concepts, "start", "inside"))


@cache
def ends(*concepts: Concept) -> tuple[str, ...]:
    """Return how longer words of the concepts end, the longest first."""
    return _longest_first(_found(concepts, "end"))


@cache
def infixes(*concepts: Concept) -> tuple[str, ...]:
    """Return what longer words of the concepts have inside, the longest first."""
    return _longest_first(_found(concepts, "inside"))


@cache
def words_of(concept: Concept, language: str) -> tuple[str, ...]:
    """Return the words of a concept in a language by its ISO code, the usual one first.

    Weak words are among them, and not those that only stand at some place.
    """
    lines = _sections()[concept]
    own = tuple(
        spelled
        for text, place in map(_read, lines.get(language, "").split())
        if place in ("anywhere", "weak")
        for spelled in sorted(spellings(text), key=len)
    )
    others = (words_of(other, language) for other in _named(lines.get("of", "")))
    return (*own, *chain.from_iterable(others))


def languages(concept: Concept) -> tuple[str, ...]:
    """Return the ISO codes of the languages that have words for a concept."""
    return tuple(language for language in _sections()[concept] if len(language) == 2)


@cache
def meanings() -> Mapping[str, Meaning]:
    """Return the words of which a name is made, each with the one concept that it means."""
    return {word: concept for concept in _MEANINGS for word in terms(concept)}


def _found(concepts: tuple[Concept, ...], *places: _Place) -> frozenset[str]:
    found = (_placed(concept).get(place, ()) for concept in concepts for place in places)
    return frozenset().union(*found)


def _longest_first(found: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(found, key=lambda word: (-len(word), word)))


@cache
def _placed(concept: Concept) -> Mapping[_Place, set[str]]:
    """Return the words of a concept in each spelling, by where they may stand."""
    placed: defaultdict[_Place, set[str]] = defaultdict(set)
    for language, text in _sections()[concept].items():
        if language == "of":
            for other in map(_placed, _named(text)):
                for place, words in other.items():
                    placed[place] |= words
        elif text.isascii() and _MARKS.isdisjoint(text):
            placed["anywhere"].update(text.split())
        else:
            for bare, place in map(_read, text.split()):
                placed[place] |= spellings(bare)
    return placed


def _read(written: str) -> tuple[str, _Place]:
    """Return a word without its mark, and where it may stand."""
    if written.isalnum():
        return written, "anywhere"
    bare = written.strip("-_()?")
    places: dict[str, _Place] = {
        f"{bare}?": "weak", f"{bare}_": "first", f"_{bare}": "last", f"({bare})": "alone",
        f"{bare}-": "start", f"-{bare}": "end", f"-{bare}-": "inside",
    }  # fmt: skip
    return bare, places.get(written, "anywhere")


def _named(text: str) -> Iterator[Concept]:
    return (_CONCEPTS[name] for name in text.split())


@cache
def _sections() -> dict[Concept, dict[str, str]]:
    """Return the words of all concepts as they are written, for each language."""
    sections: dict[Concept, dict[str, str]] = {}
    lines: dict[str, str] = {}
    language = ""
    for name in _FILES:
        text = (files(__package__) / "words" / f"{name}.txt").read_text(encoding="utf-8")
        for line in text.splitlines():
            if line.startswith("["):
                lines = sections.setdefault(_CONCEPTS[line[1:-1]], {})
            elif line.startswith(" "):
                lines[language] += line
            elif line and not line.startswith("#"):
                language, _, lines[language] = line.partition(":")
    return sections
