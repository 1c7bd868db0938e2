"""A schema in another language is judged as it is in English: types, keys, references and roles."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build import lexicon
from fluid_build.lexicon import Concept, Weekday
from fluid_build.modeling.measures.number_names import read_number_name
from fluid_build.modeling.techniques import build_model
from fluid_build.observations.observe import observe
from fluid_build.observations.recurring_services import weekday_columns
from fluid_build.profiling import profile_source
from fluid_build.profiling.names.naming_words import naming_word
from fluid_build.profiling.names.words import has_key_word
from tests.profiling.databases import database

LANGUAGES = ("de", "fr", "es", "pt", "it", "nl", "pl", "sv", "tr")
Word = Callable[[Concept], str]

TABLES: dict[Concept, dict[str, str]] = {
    "customer": {
        "customer_id": "i",
        "given_name": "['Anna', 'John', 'Maria', 'Peter', 'Laura'][1 + pick(i, 1, 5)]",
        "family_name": "['Smith', 'Jones', 'Miller', 'Brown', 'Garcia'][1 + pick(i, 2, 5)]",
        "email": "format('user{}@example.com', i)",
        "phone": "format('+49 30 {:07d}', 1000000 + pick(i, 3, 8000000))",
        "dob": "DATE '1960-01-01' + pick(i, 4, 15000)",
        "city": "['Bern', 'Oslo', 'Rome', 'Lima'][1 + pick(i, 5, 4)]",
    },
    "product": {
        "product_id": "1000 + i",
        "naming": "format('Thing {}', i)",
        "price": "CAST(5 + pick(i, 6, 900) / 10 AS DECIMAL(9, 2))",
    },
    "order": {
        "order_id": "50000 + i",
        "customer_id": "pick(i, 7, 80)",
        "date": "DATE '2023-01-01' + pick(i, 8, 700)",
        "amount": "CAST(10 + pick(i, 9, 90000) / 100 AS DECIMAL(9, 2))",
        "quantity": "1 + pick(i, 11, 20)",
    },
}
"""Tables by what a row is, and their columns by what they hold, with the SQL of its value."""
COLUMNS: tuple[Concept, ...] = (
    "given_name", "family_name", "email", "phone", "dob", "city", "naming", "price", "date",
    "amount", "quantity",
)  # fmt: skip
Tables = tuple[Concept, ...]
SCHEMAS: tuple[Tables, ...] = (("customer", "order"), ("customer", "product", "order"))
ROWS = {"customer": 80, "product": 60, "order": 900}


@dataclass(frozen=True)
class Judged:
    """What is judged of the tables of a source, without its names."""

    types: tuple[tuple[str | None, ...], ...]
    keys: tuple[tuple[int, ...], ...]
    references: frozenset[tuple[int, int, int, int]]
    measures: tuple[tuple[str | None, ...], ...]
    facts: frozenset[int]


@cache
def judged(word: Word, concepts: Tables) -> Judged:
    """Profile and model the tables of some concepts, named by the words of a language."""
    tables = {word(concept): _columns(word, concept) for concept in concepts}
    script = ";".join(
        f'CREATE TABLE "{word(concept)}" AS SELECT '
        + ", ".join(f'{sql} AS "{name}"' for name, sql in tables[word(concept)].items())
        + f" FROM range({ROWS[concept]}) AS t(i)"
        for concept in concepts
    )
    with database(script) as source:
        profile = profile_source(source)
        model = build_model(profile, "dimensional", observations=observe(source, profile))
    order = list(tables)
    places = {(table, name): place for table in order for place, name in enumerate(tables[table])}
    entities = {entity.name: entity for entity in model.conceptual.entities}
    assert model.dimensional is not None
    return Judged(
        tuple(tuple(c.semantic_type for c in profile.table(name).columns) for name in order),
        tuple(tuple(places[n, k] for k in profile.table(n).primary_key or ()) for n in order),
        frozenset(
            (
                order.index(key.from_table),
                places[key.from_table, key.from_columns[0]],
                order.index(key.to_table),
                places[key.to_table, key.to_columns[0]],
            )
            for key in profile.foreign_keys
        ),
        tuple(
            tuple(a.measure and a.measure.additivity for a in entities[name].attributes)
            for name in order
        ),
        frozenset(order.index(fact.entity_name) for fact in model.dimensional.facts),
    )


def _columns(word: Word, table: Concept) -> dict[str, str]:
    return {_name(word, column): sql for column, sql in TABLES[table].items()}


def _name(word: Word, column: str) -> str:
    entities: dict[str, Concept] = {f"{name}_id": name for name in TABLES}
    if column in entities:
        return f"{word(entities[column])}_id"
    return word(next(concept for concept in COLUMNS if concept == column))


@cache
def usual(language: str) -> Word:
    return lambda concept: lexicon.words_of(concept, language)[0]


@st.composite
def any_words(draw: st.DrawFn) -> Word:
    """Draw words of a language: any for each concept, but the usual one for what money is."""
    language = draw(st.sampled_from(LANGUAGES))
    words: dict[Concept, str] = {
        concept: draw(st.sampled_from(lexicon.words_of(concept, language)))
        for concept in ("customer", "product", "order", *COLUMNS)
        if concept not in ("amount", "price", "naming")
    }
    return lambda concept: words.get(concept) or usual(language)(concept)


@given(st.sampled_from(LANGUAGES), st.sampled_from(SCHEMAS))
def test_a_translated_schema_is_judged_as_in_english(language: str, tables: Tables) -> None:
    assert judged(usual(language), tables) == judged(usual("en"), tables)


@given(any_words(), st.sampled_from(SCHEMAS))
def test_no_word_of_a_language_is_judged_otherwise_than_another(word: Word, tables: Tables) -> None:
    assert judged(word, tables) == judged(usual("en"), tables)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "concept",
    ["count", "quantity", "amount", "price", "ratio", "level", "intensity", "share_of_money"],
)
def test_a_number_is_read_by_its_usual_name_in_each_language(
    concept: Concept, language: str
) -> None:
    meant = {read_number_name(word).meaning for word in lexicon.words_of(concept, "en")}
    assert read_number_name(usual(language)(concept)).meaning in meant


@pytest.mark.parametrize("language", LANGUAGES)
def test_weekdays_are_known_in_each_language(language: str) -> None:
    names = [lexicon.words_of(day, language)[0] for day in get_args(Weekday)]
    assert weekday_columns(names) == dict(enumerate(names, 1))


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_of_keys_lines_and_names_are_known_in_each_language(language: str) -> None:
    word = usual(language)
    assert has_key_word(("x", word("key_word")))
    assert naming_word(word("naming")) == word("naming")
    assert word("line") in lexicon.terms("numbered_line")


@pytest.mark.parametrize(
    ("accented", "plain"),
    [
        ("Gebühr", "Gebuehr"),
        ("Gebühr", "GEBUHR"),
        ("Größe", "groesse"),
        ("ILOŚĆ", "ilosc"),
        ("Płatność", "platnosc"),
        ("Ağ\N{LATIN SMALL LETTER DOTLESS I}rl\N{LATIN SMALL LETTER DOTLESS I}k", "agirlik"),
        ("Stückzahl", "stueckzahl"),
    ],
)
def test_accents_and_transliterations_say_the_same(accented: str, plain: str) -> None:
    assert read_number_name(accented).meaning == read_number_name(plain).meaning != "unknown"
