"""Which keys a name could mean at all, told in a microsecond.

Scoring two names takes fifty times as long, and of a schema's pairs of names nearly all score
nothing. ``could_mean`` follows the rules of ``reference_score`` and of what it calls: it's true of
every pair that scores, and of few others.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fluid_build.profiling.names.key_names import meant_words, shares_stem
from fluid_build.profiling.names.parsing import ParsedColumnName, ParsedTableName
from fluid_build.profiling.names.similarity import abbreviates_phrase, synonyms, word_similarity
from fluid_build.profiling.names.words import Words


@dataclass(frozen=True, slots=True)
class KeyShape:
    """What of a key's names another name must share.

    ``marks`` are whole names and beginnings, of which one is enough. ``phrases`` are what the key
    and its table are called, of which one must be had in all words or letters.
    """

    marks: frozenset[str]
    phrases: tuple[frozenset[str], ...]
    words: frozenset[str]
    joined: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NameShape:
    """The same of a name that may mean a key; ``similar`` are the keys' words for each of its."""

    marks: frozenset[str]
    similar: tuple[frozenset[str], ...]
    words: frozenset[str]
    joined: str


def could_mean(name: NameShape, key: KeyShape) -> bool:
    """Return whether a name may score for a key; False is certain."""
    if not name.marks.isdisjoint(key.marks):
        return True
    letters, words = name.joined, name.words
    if not letters:
        return False
    for phrase in key.phrases:
        if phrase <= words:
            return True
    for part in key.joined:
        if letters in part or part in letters:
            return True
    return not any(similar.isdisjoint(key.words) for similar in name.similar)


def key_shape(key: ParsedColumnName, table: ParsedTableName) -> KeyShape:
    """Return the shape of a key in its table."""
    phrases = {table.entity, table.entity[1:], table.head, key.entity, key.full_entity} - {()}
    marks = {f"={whole}" for whole in (key.squashed, key.bare_squashed)}
    marks.add(f"<{key.bare_squashed}")
    marks.update(f"'{letter}" for letter in table.squashed[:1])
    marks.update(f"^{start}" for phrase in phrases for start in _abbreviated_starts(phrase))
    marks.update(f"~{word}" for word in table.entity[-1:])
    marks.update(f">{phrase[-1]}" for phrase in phrases)
    return KeyShape(
        frozenset(marks),
        tuple({frozenset(phrase) for phrase in phrases}),
        frozenset(word for phrase in phrases for word in phrase),
        tuple({"".join(phrase) for phrase in phrases}),
    )


def _abbreviated_starts(phrase: Words) -> Iterator[str]:
    """Yield the two letters that a word glued from beginnings of all of a phrase's words has."""
    if len(phrase) > 1:
        yield phrase[0][:2]
        yield phrase[0][0] + phrase[1][0]


class NameShapes:
    """The shapes of names, given all keys' shapes: which of their words are similar to a name's."""

    def __init__(self, keys: Iterable[KeyShape]) -> None:
        words = {word for key in keys for word in key.words}
        self._by_letter: dict[str, list[str]] = defaultdict(list)
        self._by_start: dict[str, list[str]] = defaultdict(list)
        for word in words:
            self._by_letter[word[0]].append(word)
            self._by_start[word[:2]].append(word)
        self._similar: dict[str, frozenset[str]] = {}
        self._shapes: dict[int, NameShape] = {}

    def of(self, name: ParsedColumnName) -> NameShape:
        """Return the shape of a name, made once for all columns that share it."""
        if id(name) not in self._shapes:
            similar = tuple(map(self._similar_words, name.entity))
            self._shapes[id(name)] = NameShape(
                frozenset(self._marks(name)),
                similar,
                frozenset().union(*similar),
                "".join(name.entity),
            )
        return self._shapes[id(name)]

    def _marks(self, name: ParsedColumnName) -> Iterator[str]:
        yield f"={name.squashed}"
        yield f"={name.bare_squashed}"
        for end in range(1, len(name.bare) + 1):
            yield f"<{''.join(name.bare[:end])}"
        yield from (f"~{word}" for word in meant_words(name))
        phrase = name.entity
        if not phrase:
            return
        if len(phrase) == 1 and len(phrase[0]) == 1:
            yield f"'{phrase[0]}"
        yield f"^{phrase[-1][:2]}"
        for word in self._by_letter.get(phrase[0][0], ()):
            if shares_stem(phrase, (word,)):
                yield f"~{word}"
        for start in set(_abbreviated_starts(phrase)):
            for word in self._by_start.get(start, ()):
                if abbreviates_phrase(word, phrase):
                    yield f">{word}"

    def _similar_words(self, word: str) -> frozenset[str]:
        """Return the keys' words that are similar to a word; all begin alike but synonyms."""
        if word not in self._similar:
            near = self._by_letter.get(word[0], ())
            found = {other for other in near if word_similarity(word, other)}
            self._similar[word] = frozenset(found | synonyms(word))
        return self._similar[word]
