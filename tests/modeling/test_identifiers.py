"""Identifiers and tags made of any name."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.modeling.identifiers import LONGEST_IDENTIFIER, identifier, identifiers, tag
from tests.modeling.profiles import NAMES

IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]*")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AlbumId", "album_id"),
        ("Order Details", "order_details"),
        ("SHIP_TO_ADDRESS", "ship_to_address"),
        ("Größe", "grosse"),
        ("Łódź", "lodz"),
        ("2024 sales", "n_2024_sales"),
    ],
)
def test_a_name_becomes_snake_case_in_plain_letters(name: str, expected: str) -> None:
    """Words are parted by underscores, accents dropped, and no identifier begins with a digit."""
    assert identifier(name) == expected


@given(NAMES)
def test_every_name_has_a_legal_identifier_and_tag(name: str) -> None:
    """Whatever a source calls a thing, there is a short plain name for it."""
    result = identifier(name)
    assert IDENTIFIER.fullmatch(result)
    assert len(result) <= LONGEST_IDENTIFIER
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", tag(name))


@given(st.lists(NAMES, unique=True, max_size=12), st.randoms(use_true_random=False))
def test_no_two_names_share_an_identifier_and_order_does_not_matter(
    names: list[str], chance: random.Random
) -> None:
    """Identifiers of a set are unique, and each stays the same when the names are shuffled."""
    result = identifiers(names)
    assert len(set(result.values())) == len(names)
    assert all(IDENTIFIER.fullmatch(name) and len(name) <= 63 for name in result.values())
    shuffled = list(names)
    chance.shuffle(shuffled)
    assert identifiers(shuffled) == result


def test_a_name_that_is_its_identifier_keeps_it() -> None:
    """Among names that clash, the plain one gets the plain identifier."""
    result = identifiers(["Order Details", "order_details", "OrderDetails"])
    assert result["order_details"] == "order_details"
    assert result["OrderDetails"].startswith("order_details_")


def test_a_hash_that_is_taken_is_not_given_twice() -> None:
    """Even a table that is called like another one's hashed identifier gets its own."""
    hashed = identifiers(["a b", "a_b"])["a b"]
    result = identifiers(["a b", "a_b", hashed])
    assert len(set(result.values())) == 3
