"""Words in names of columns that hold names: of things, titles, first and last names of people.

Databases are written in the language of those who use them. The words are those of the languages
that most of them are in, without accents.
"""

from fluid_build.profiling.names import words

NAME_WORDS = frozenset(
    """
    ad adi adsoyad apelido apellido apellidos apellidonombre benaming benennung bezeichnung
    cognom cognome cognoms denominacio denominacion denominacao denominazione denomination denumire
    designacao designation etunimi familienname fornavn fornamn hoten ime imie intitule isim jmeno
    lastname libelle libele megnevezes meno mingcheng naam nachname nama name namn navn nazev nazov
    nazvanie nazwa nazwisko naziv nimi nom nombre nombres nome nume prenom prenume prezime
    priezvisko prijmeni rufname sobrenome soyad soyadi sukunimi surname tenkh unvan unvani vorname
    voornaam achternaam xingming
    """.split()
)
"""Words for the name of something or somebody."""
TITLE_WORDS = frozenset(
    "baslik caption etichetta etiqueta etykieta label oznaczenie tittel title titel titre titulo"
    " titolo titul tytul".split()
)
"""Words for a title, which may be given to several works."""
_FIRST_WORDS = frozenset(
    """
    adi apellido apellidos cognom cognome denominacio denominacion denominacao denominazione
    denomination denumire designacao designation etykieta ime imie intitule jmeno libelle libele
    meno nama nazev nazov nazwa nazwisko naziv nom nombre nombres nome nume prenom prenume prezime
    priezvisko prijmeni sobrenome ten titre titulo titolo titul tytul
    """.split()
)
"""Those that come before what they name, in the Romance and Slavic languages: ``nazwa_leku``. The
English ``name_type`` is a type."""
_FILES = frozenset("archivo arquivo datei fichero fichier file filename plik table tabela".split())
"""A file name says where something came from, not what the row is about."""
_LANGUAGES = frozenset(
    "ar ca cn cs cz de en eng english es fr hu it ja jp ko local native nl pl pt ru tr vi"
    " zh".split()
)
"""Endings of a name that say which language it's in."""
_SHORTEST_GLUED_WORD = 4
"""Letters that a word needs to be looked for inside another: ``nom`` would be met in ``econom``."""


def naming_word(name: str) -> str:
    """Return the word by which a column's name says that it holds names, or "".

    It's the last word (``product_name``, ``productname``), or in languages where it comes before
    what it names the first one (``nazwa_leku``).
    """
    parts = words(name)
    while len(parts) > 1 and parts[-1] in _LANGUAGES:
        parts = parts[:-1]
    if not parts or _FILES & set(parts):
        return ""
    known = NAME_WORDS | TITLE_WORDS
    if parts[-1] in known:
        return parts[-1]
    if parts[0] in _FIRST_WORDS:
        return parts[0]
    glued = (w for w in known if len(w) >= _SHORTEST_GLUED_WORD and parts[-1].endswith(w))
    return max(glued, key=len, default="")
