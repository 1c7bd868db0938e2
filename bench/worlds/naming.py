"""How a made-up database names its tables and columns: case, abbreviations, key words, roles."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from bench.worlds.words import ROMANCE, plural, translate

_LANGUAGES = {"en": 50, "fr": 9, "es": 12, "de": 12, "pt": 8, "it": 5, "nl": 4}
_CASES = {
    "snake": 42, "upper snake": 12, "pascal": 17, "camel": 13, "glued": 8, "upper glued": 5,
    "pascal snake": 3,
}  # fmt: skip
_SHORTENING = {"none": 78, "consonants": 9, "truncated": 9, "codes": 4}
_TABLE_PREFIXES = {"": 76, "tbl": 6, "t": 6, "module": 12}
_KEY_WORDS = {
    "en": {"id": 78, "no": 5, "key": 5, "num": 4, "nbr": 2, "sk": 3, "cd": 3},
    "fr": {"id": 75, "num": 12, "no": 8, "ref": 5},
    "es": {"id": 75, "cod": 15, "num": 5, "nro": 5},
    "de": {"id": 60, "nr": 40},
    "pt": {"id": 70, "cod": 22, "num": 8},
    "it": {"id": 75, "cod": 15, "num": 10},
    "nl": {"id": 70, "nr": 30},
}
_CODE_WORDS = {
    "en": ("code", "code", "cd", "id"), "fr": ("code", "cd"), "es": ("codigo", "cod"),
    "de": ("code", "kz", "nr"), "pt": ("codigo", "cod"), "it": ("codice", "cod"),
    "nl": ("code", "code"),
}  # fmt: skip
_NUMBERS = {
    "en": ("no", "number", "num", "nbr"), "fr": ("numero", "no", "num"), "es": ("numero", "nro"),
    "de": ("nr", "nummer"), "pt": ("numero", "num"), "it": ("numero", "num"), "nl": ("nr",),
}  # fmt: skip
_LONG_WORD = 4
_INITIALS = 3
_VOWELS = "aeiou"
_CONSONANTS = "bcdfghjklmnprstvz"
Alphabet = Mapping[int, str]


def weighted(rng: random.Random, weights: Mapping[str, float]) -> str:
    """Draw a key with the probability of its weight."""
    return rng.choices(list(weights), list(weights.values()))[0]


@dataclass(frozen=True, slots=True)
class Style:
    """The naming habits of a database."""

    language: str
    case: str
    shortening: str
    table_prefix: str
    has_plural_tables: bool
    has_particle: bool
    column_prefix: str = field(default="", kw_only=True)
    """``table`` puts a table's initials before each column, ``parent`` keeps those of the parent's
    key in references too."""
    key_word: str
    code_word: str
    number_word: str
    has_key_word_first: bool
    has_bare_keys: bool
    reference_form: str
    """``key`` (``customer_id``), ``fk`` (``fk_customer``) or ``bare`` (``customer``)."""
    has_bare_code_references: bool
    role_place: str
    has_plain_actors: bool
    """Whether ``created_by`` has no key word."""
    has_initialisms: bool = field(default=False, kw_only=True)
    """Whether keys are named by a few letters of their tables."""
    alphabet: Alphabet = field(default_factory=dict, kw_only=True)
    """What each letter becomes where nobody knows the language."""

    def words(self, compound: str) -> list[str]:
        words = translate(compound, self.language, particle=self.has_particle)
        return [word.translate(self.alphabet) for word in words]

    def in_keys(self, entity: str) -> list[str]:
        """Return what an entity is called in the names of its keys."""
        return [self.initials(entity)] if self.has_initialisms else self.words(entity)

    def initials(self, entity: str) -> str:
        """Return three letters for an entity: ``kda`` of ``koordinaten_art``."""
        first, *more = self.words(entity)
        others = "".join(word[0] for word in more)
        inner = [letter for letter in first[1:] if letter not in _VOWELS] + list(first[1:])
        return first[0] + "".join(inner[: max(0, _INITIALS - 1 - len(others))]) + others

    def table(self, entity: str, module: str) -> str:
        """Return the name of an entity's table."""
        words = self.words(entity)
        if self.has_plural_tables:
            head = 0 if self.language in ROMANCE else -1
            words[head] = plural(words[head], self.language)
        prefix = module if self.table_prefix == "module" else self.table_prefix
        return self.render([prefix, *words] if prefix else words)

    def column(self, words: list[str], initials: str) -> str:
        """Return the name of a column in a table with these initials."""
        return self.render([initials, *words] if self.column_prefix else words)

    def own_key(self, entity: str, *, is_code: bool) -> list[str]:
        """Return the words of the key of an entity's own table."""
        word = self.code_word if is_code else self.key_word
        return [word] if self.has_bare_keys else self._with_key_word(self.in_keys(entity), word)

    def reference(self, entity: str, role: str, *, is_qualifier: bool, is_code: bool) -> list[str]:
        """Return the words of a column that refers to an entity's key."""
        word = self.code_word if is_code else self.key_word
        role_words = self.words(role) if role else []
        if role.endswith("-by") and self.has_plain_actors:
            return role_words
        words = self.in_keys(entity)
        if role and not is_qualifier:
            words, role_words = role_words, []
        if role_words and self.role_place == "before":
            words = [*role_words, *words]
        elif role_words and self.role_place == "middle":
            words = [*words, *role_words]
        if self.reference_form == "fk":
            words = ["fk", *words]
        elif self.reference_form == "key" and not (is_code and self.has_bare_code_references):
            words = self._with_key_word(words, word)
        return [*words, *role_words] if self.role_place == "after" else words

    def counter(self, name: str, entity: str) -> list[str]:
        """Return the words of the column that numbers the rows of a parent."""
        if name in {"date", "year", "month", "language"}:
            return self.words(name)
        if name == "code":
            return self.own_key(entity, is_code=True)
        if name in {"number", "sequence"}:
            head = [] if self.has_bare_keys else self.in_keys(entity)
            return [*head, "seq" if name == "sequence" else self.number_word]
        words = self.words(name)
        return self._with_key_word(words, self.number_word)

    def render(self, words: list[str]) -> str:
        """Return a name in this style."""
        words = [self._shorten(word) for word in words]
        if self.case == "camel":
            return words[0] + "".join(_capitalized(word) for word in words[1:])
        if self.case == "pascal":
            return "".join(_capitalized(word) for word in words)
        if self.case == "pascal snake":
            return "_".join(_capitalized(word) for word in words)
        name = ("" if "glued" in self.case else "_").join(words)
        return name.upper() if "upper" in self.case else name

    def _with_key_word(self, words: list[str], word: str) -> list[str]:
        return [word, *words] if self.has_key_word_first else [*words, word]

    def _shorten(self, word: str) -> str:
        if self.shortening == "none" or len(word) <= _LONG_WORD:
            return word
        if self.shortening == "truncated":
            return word[:_LONG_WORD]
        consonants = word[0] + "".join(letter for letter in word[1:] if letter not in "aeiou")
        return consonants[: _LONG_WORD if self.shortening == "consonants" else 2]


def draw_style(rng: random.Random) -> Style:
    """Draw the naming habits of a database."""
    language = weighted(rng, _LANGUAGES)
    case = weighted(rng, _CASES)
    shortening = weighted(rng, _SHORTENING)
    reference_form = weighted(rng, {"key": 86, "fk": 5, "bare": 9})
    key_word = weighted(rng, _KEY_WORDS[language])
    return Style(
        language=language,
        case="upper glued" if shortening == "codes" else case,
        shortening=shortening,
        table_prefix=weighted(rng, _TABLE_PREFIXES),
        has_plural_tables=rng.random() < (0.25 if language in {"de", "nl"} else 0.45),
        has_particle=language in ROMANCE and rng.random() < 0.25,
        key_word=key_word,
        code_word=rng.choice(_CODE_WORDS[language]),
        number_word=rng.choice(_NUMBERS[language]),
        has_key_word_first=rng.random() < (0.6 if language in ROMANCE else 0.04),
        has_bare_keys=rng.random() < 0.38,
        reference_form=reference_form,
        has_bare_code_references=rng.random() < 0.4,
        role_place=weighted(rng, {"before": 70, "middle": 15, "after": 15}),
        has_plain_actors=rng.random() < 0.7,
    )


def disguise(rng: random.Random) -> Alphabet:
    """Return what each letter of a language that nobody knows stands for, vowels for vowels."""
    return {
        ord(letter): other
        for letters in (_VOWELS, _CONSONANTS)
        for letter, other in zip(letters, rng.sample(letters, len(letters)), strict=True)
    }


def _capitalized(word: str) -> str:
    return "ID" if word == "id" else word[:1].upper() + word[1:]
