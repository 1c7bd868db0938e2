"""Words in names of columns that hold names: of things, titles, first and last names of people.

Databases are written in the language of those who use them. The words are those of the languages
that most of them are in, without accents.
"""

from collections.abc import Iterable

from fluid_build.profiling.names.vocabulary import PREPOSITIONS
from fluid_build.profiling.names.words import Words, words

_GIVEN_NAMES = frozenset(
    """
    etunimi first firstname forename fornamn fornavn fname given givenname imie ime jmeno keresztnev
    meno prenom prenume voornaam vorname
    """.split()
)
_FAMILY_NAMES = frozenset(
    """
    achternaam apelido apellido apellidos cognom cognome cognoms efternamn efternavn etternavn
    family familienname familyname last lastname lname nachname nazwisko prezime priezvisko prijmeni
    sobrenome soyad soyadi soyisim sukunimi surname vezeteknev
    """.split()
)
NAME_WORDS = (
    frozenset(
        """
        adi adsoyad benaming benennung bezeichnung denominacao denominacio denominacion
        denominazione denomination denumire designacao designation hoten intitule isim megnevezes
        mingcheng naam nama name namn navn nazev naziv nazov nazvanie nazwa nimi nom nombre nombres
        nome nume tenkh unvan unvani xingming
        """.split()
    )
    | _GIVEN_NAMES
    | _FAMILY_NAMES
) - {"family", "first", "given", "last"}
"""Words for the name of something or somebody."""
TITLE_WORDS = frozenset(
    """
    baslik caption etichetta etiqueta etykieta label libele libelle tittel titel title titolo titre
    titul titulo tytul
    """.split()
)
"""Words for a title, which may be given to several works."""
DESCRIBING_WORDS = frozenset(
    """
    beschreibung beskrivelse beskrivning desc descr descricao descripcio descripcion description
    descrizione omschrijving opis popis
    """.split()
)
"""Words for a text that says what something is, and that often is all the name it has."""
_FIRST_WORDS = frozenset(
    """
    apellido apellidos cognom cognome denominacao denominacio denominacion denominazione
    denomination denumire designacao designation imie intitule jmeno libele libelle nama nazev naziv
    nazov nazvanie nazwa nazwisko nom nombre nombres nome nume prenom prenume prezime priezvisko
    prijmeni sobrenome ten titolo titre titul titulo tytul
    """.split()
)
"""Those that come before what they name, in Romance and Slavic languages: ``nazwa_leku``. The
English ``name_type`` is a type."""
_GLUED_WORDS = (
    "bezeichnung", "nombre", "nazwa", "label", "titel", "title", "naam", "name", "namn", "navn",
)  # fmt: skip
"""Words that are found at the end of a longer word too (``productname``), the longest first."""
_WHOLE_NAMES = frozenset({("ad",), ("ten",)})
"""Turkish and Vietnamese for name, which mean something else next to another word."""
_FILES = frozenset("archivo arquivo datei fichero fichier file filename plik".split())
"""A file name says where something came from, not what the row is about."""
_LANGUAGES = frozenset(
    "ar ca cs de en eng english es fr hu it ja jp ko local native nl pl pt ru tr vi zh".split()
)
"""Endings of a name that say which language it's in."""
_SHORTEST_STEM = 3
_LONGEST_ENDING = 2
"""Letters that forms of a word have in common, and those by which they may differ at the end."""


def naming_word(name: str) -> str:
    """Return the word by which a column's name says that it holds names, or "".

    It's the last word (``product_name``, ``productname``), or in languages where it comes before
    what it names the first one (``nazwa_leku``).
    """
    parts = _without_language(words(name))
    if not parts or _FILES & set(parts):
        return ""
    if parts[-1] in NAME_WORDS | TITLE_WORDS:
        return parts[-1]
    if parts[0] in _FIRST_WORDS or parts in _WHOLE_NAMES:
        return parts[0]
    return next((word for word in _GLUED_WORDS if parts[-1].endswith(word)), "")


def named_noun(name: str) -> Words:
    """Return the words for what a name is of, where the naming word comes before them."""
    parts = _without_language(words(name))
    if not parts or parts[0] not in _FIRST_WORDS:
        return ()
    return tuple(word for word in parts[1:] if len(word) > 1 and word not in PREPOSITIONS)


def are_forms(word: str, other: str) -> bool:
    """Return whether two words may be forms of one, which differ at the end: leku, lek."""
    shorter, longer = sorted((word, other), key=len)
    stem = shorter[: max(_SHORTEST_STEM, len(shorter) - _LONGEST_ENDING)]
    return len(longer) - len(shorter) <= _LONGEST_ENDING and longer.startswith(stem)


def names_people(columns: Iterable[str]) -> bool:
    """Return whether columns are named for a first and for a last name; one may be just a name."""
    by_column = [set(words(column)) for column in columns]
    given = [own for own in by_column if own & _GIVEN_NAMES and own & NAME_WORDS]
    family = [own for own in by_column if own & _FAMILY_NAMES and own & NAME_WORDS]
    plain = [own for own in by_column if own <= NAME_WORDS - _GIVEN_NAMES - _FAMILY_NAMES]
    return (bool(family) and bool(given or plain)) or (bool(given) and bool(plain))


def _without_language(parts: Words) -> Words:
    while len(parts) > 1 and parts[-1] in _LANGUAGES:
        parts = parts[:-1]
    return parts
