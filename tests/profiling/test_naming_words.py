"""Names of columns that hold names, in several languages."""

import pytest

from fluid_build.profiling.names.naming_words import (
    are_forms,
    named_noun,
    names_people,
    naming_word,
)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("product_name", "name"),
        ("productname", "name"),
        ("name_en", "name"),
        ("nazwa_leku", "nazwa"),
        ("nom_client", "nom"),
        ("NombreProducto", "nombre"),
        ("Bezeichnung", "bezeichnung"),
        ("Dénomination du médicament", "denomination"),
        ("ilacAdi", "adi"),
        ("titre", "titre"),
    ],
)
def test_the_word_for_a_name_is_the_last_or_in_some_languages_the_first(
    name: str, word: str
) -> None:
    assert naming_word(name) == word


@pytest.mark.parametrize(
    "name",
    ["name_type", "title_id", "nom_fichier", "filename", "genome", "economy", "top_ten", "ad_id"],
)
def test_other_words_name_nothing(name: str) -> None:
    assert naming_word(name) == ""


def test_a_leading_word_for_a_name_says_of_what_it_is() -> None:
    assert named_noun("nazwa_leku") == ("leku",)
    assert named_noun("nom_du_client") == ("client",)
    assert named_noun("product_name") == ()


def test_forms_of_a_word_differ_at_the_end_only() -> None:
    assert are_forms("leku", "lek")
    assert not are_forms("buteur", "but")


@pytest.mark.parametrize(
    "columns",
    [("first_name", "last_name"), ("imie", "nazwisko"), ("nom", "prenom"), ("NOMBRE", "APELLIDO1")],
)
def test_a_first_and_a_last_name_are_of_people(columns: tuple[str, str]) -> None:
    assert names_people(columns)


@pytest.mark.parametrize("columns", [("name", "title"), ("last_name",), ("id", "city")])
def test_other_names_are_not_of_people(columns: tuple[str, ...]) -> None:
    assert not names_people(columns)
