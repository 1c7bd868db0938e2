"""The lexicon: each concept in ten languages, in every spelling, and where words may stand."""

from collections import Counter
from importlib.resources import files
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build import lexicon
from fluid_build.lexicon.concepts import Concept

LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "nl", "pl", "sv", "tr")
CONCEPTS: tuple[Concept, ...] = tuple(
    name for literal in get_args(Concept) for name in get_args(literal)
)


def test_the_files_have_the_concepts_that_can_be_asked_for() -> None:
    headings = [
        line[1:-1]
        for file in (files(lexicon) / "words").iterdir()
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("[")
    ]
    assert Counter(headings) == Counter(CONCEPTS)


@pytest.mark.parametrize("concept", CONCEPTS)
def test_a_concept_has_words_in_all_ten_languages_or_codes_of_none(concept: Concept) -> None:
    if lexicon.terms(concept):
        spoken = {language for language in LANGUAGES if lexicon.words_of(concept, language)}
        assert spoken in (set(), set(LANGUAGES))


def test_a_word_of_the_meanings_means_one_thing() -> None:
    meanings = get_args(get_args(Concept)[0])
    counted = Counter(word for concept in meanings for word in lexicon.terms(concept))
    assert [word for word, concepts in counted.items() if concepts > 1] == []


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("höhe", {"hohe", "hoehe"}),
        ("straße", {"strasse"}),
        ("say\N{LATIN SMALL LETTER DOTLESS I}s", {"sayis"}),
        ("ilość", {"ilosc"}),
        ("płeć", {"plec"}),
        ("año", {"ano", "anio"}),
        ("år", {"ar", "aar"}),
        ("şehir", {"sehir"}),
        ("quantità", {"quantita"}),
    ],
)
def test_a_word_is_known_in_each_spelling_without_accents(word: str, written: set[str]) -> None:
    assert lexicon.spellings(word) == written


@given(
    st.text(
        st.sampled_from("abcäöüßåøæœłđñşçğéíóąćęźż\N{LATIN SMALL LETTER DOTLESS I}"), max_size=8
    )
)
def test_a_word_without_its_accents_is_one_of_its_spellings(word: str) -> None:
    assert lexicon.fold(word) in lexicon.spellings(word)
    assert all(lexicon.fold(spelled) == spelled for spelled in lexicon.spellings(word))


@pytest.mark.parametrize("concept", CONCEPTS)
def test_words_are_found_in_lower_case_and_ascii_where_their_script_is_latin(
    concept: Concept,
) -> None:
    for word in lexicon.terms(concept):
        assert word == lexicon.fold(word).lower()


def test_marks_say_where_a_word_may_stand() -> None:
    assert "num" in lexicon.leading("count") and "num" not in lexicon.terms("count")
    assert "in" in lexicon.trailing("movement") and "in" not in lexicon.terms("movement")
    assert "ad" in lexicon.lone("naming") and "ad" not in lexicon.terms("naming")
    assert "id" in lexicon.ends("key_word")
    assert "fk" in lexicon.starts("key_word")
    assert "erstellt" in lexicon.infixes("created")


def test_what_is_inside_of_words_may_begin_them_too() -> None:
    assert set(lexicon.infixes("created")) < set(lexicon.starts("created"))


def test_longer_endings_come_first() -> None:
    lengths = list(map(len, lexicon.ends("key_word")))
    assert lengths == sorted(lengths, reverse=True)


def test_a_weak_word_is_found_only_by_those_who_ask_for_it() -> None:
    assert "data" not in lexicon.terms("date")
    assert "data" in lexicon.loose_terms("date")


def test_a_concept_has_the_words_of_those_that_it_is_made_of() -> None:
    assert lexicon.terms("type_word", "category") < lexicon.terms("listed")
