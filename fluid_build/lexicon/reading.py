"""The words of a concept, by where they may stand in a name.

Only this module knows the files in ``words/``. A section ``[concept]`` has a line of words for each
language. ``any`` are codes and abbreviations of no language, ``other`` words of languages that have
few, and ``of`` other concepts whose words it has too. Words are written as their language writes
them, with accents, and are found in every spelling. Marks say where a word may stand:

- ``id_`` leads a name, ``_in`` ends one, ``(ad)`` is all of it; others stand anywhere.
- ``creat-`` begins a longer word, ``-id`` ends one, and ``-creat-`` is anywhere inside.
- ``data?`` is weak: it means something else in another language.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal, NamedTuple

from fluid_build.lexicon.concepts import Concept
from fluid_build.lexicon.folding import spellings

Place = Literal["anywhere", "first", "last", "alone", "start", "end", "inside"]
_MEANINGS: Final = "meanings"
"""The file in which a word has one concept alone."""
_FILES: Final = (_MEANINGS, "keys", "names", "time", "things", "numbers", "weekdays")


class _Word(NamedTuple):
    """A word without its marks, as its language writes it."""

    text: str
    place: Place
    is_weak: bool


@cache
def terms(*concepts: Concept) -> frozenset[str]:
    """Return the words that stand for one of the concepts anywhere in a name."""
    return _found(concepts, "anywhere")


@cache
def loose_terms(*concepts: Concept) -> frozenset[str]:
    """Return the same and the weak words, where what else is known tells them from others."""
    return _found(concepts, "anywhere", weak=True)


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
    return _longest_first(_found(concepts, "start") | _found(concepts, "inside"))


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
    return tuple(
        spelled
        for word in _words([concept], language)
        if word.place == "anywhere"
        for spelled in sorted(spellings(word.text), key=len)
    )


def languages(concept: Concept) -> tuple[str, ...]:
    """Return the ISO codes of the languages that have words for a concept."""
    return tuple(language for language in _sections()[concept] if len(language) == 2)


@cache
def meanings() -> Mapping[str, str]:
    """Return the words of which a name is made, each with the one concept that it means."""
    return {
        spelled: concept
        for concept in _file(_MEANINGS)
        for word in _words([concept])
        if word.place == "anywhere" and not word.is_weak
        for spelled in spellings(word.text)
    }


def _found(concepts: Iterable[str], place: Place, *, weak: bool = False) -> frozenset[str]:
    return frozenset(
        spelled
        for word in _words(concepts)
        if word.place == place and (weak or not word.is_weak)
        for spelled in spellings(word.text)
    )


def _longest_first(found: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(found, key=lambda word: (-len(word), word)))


def _words(concepts: Iterable[str], only: str = "") -> Iterator[_Word]:
    """Yield the words of concepts, with those of which they are made; of one language if asked."""
    for concept in concepts:
        for language, text in _sections()[concept].items():
            if language == "of":
                yield from _words(text.split(), only)
            elif only in ("", language):
                yield from map(_read, text.split())


def _read(raw: str) -> _Word:
    if raw.isalnum():
        return _Word(raw, "anywhere", False)
    strong = raw.removesuffix("?")
    text = strong.strip("-_()")
    places: dict[str, Place] = {
        f"-{text}-": "inside", f"{text}-": "start", f"-{text}": "end", f"{text}_": "first",
        f"_{text}": "last", f"({text})": "alone",
    }  # fmt: skip
    return _Word(text, places.get(strong, "anywhere"), strong != raw)


@cache
def _sections() -> dict[str, dict[str, str]]:
    """Return the words of all concepts as they are written, for each language."""
    return {concept: lines for name in _FILES for concept, lines in _file(name).items()}


@cache
def _file(name: str) -> dict[str, dict[str, str]]:
    text = (files(__package__) / "words" / f"{name}.txt").read_text(encoding="utf-8")
    sections: dict[str, dict[str, str]] = {}
    lines: dict[str, str] = {}
    language = ""
    for line in text.splitlines():
        if line.startswith("["):
            lines = sections.setdefault(line[1:-1], {})
        elif line.startswith(" "):
            lines[language] += line
        elif line and not line.startswith("#"):
            language, _, lines[language] = line.partition(":")
    return sections
