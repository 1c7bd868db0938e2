"""Our verdict is the official schema's: on documents of every part of it, whole and damaged."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.contract.validation import validate
from tests.contract.mutations import PROBES, mutated
from tests.contract.official import Maker, is_valid, places, schema
from tests.shared import needs_shared

pytestmark = needs_shared


def agree(document: object) -> bool:
    return is_valid(document) == (not validate(document))


@given(st.randoms(use_true_random=False))
def test_valid_contracts_are_valid_to_us(random: Random) -> None:
    """A contract made from the official schema has no findings."""
    document = Maker(random).document()
    assert is_valid(document)
    assert validate(document) == ()


@given(st.randoms(use_true_random=False), st.integers(1, 3))
def test_verdicts_agree_on_damaged_contracts(random: Random, times: int) -> None:
    """However a contract is damaged, we find something exactly where the official schema does."""
    document = mutated(random, Maker(random).document(), times=times)
    assert agree(document), validate(document)


def test_every_place_of_the_schema_is_valid_to_us() -> None:
    """For each node of the official schema, a contract that holds it has no findings."""
    for index, place in enumerate(places()):
        document = Maker(Random(index), richness=0.1).document(place)
        assert is_valid(document), place.pointer
        assert validate(document) == (), place.pointer


def test_verdicts_agree_on_damage_at_every_place() -> None:
    """Around each node of the official schema, damaged contracts get the official verdict."""
    for index, place in enumerate(places()):
        random = Random(index)
        document = Maker(random, richness=0.05).document(place)
        for _ in range(6):
            damaged = mutated(random, document, times=random.choice((1, 1, 2)))
            assert agree(damaged), (place.pointer, validate(damaged))


def test_verdicts_agree_on_odd_values_at_every_key_of_the_schema() -> None:
    """Put in the place of each node's value, odd values get the official verdict."""
    for index, place in enumerate(places()):
        if not place.steps or place.steps[-1][0] != "key":
            continue
        document = Maker(Random(index), richness=0).document(place)
        container, key = _spot(document, place.steps)
        for probe in Random(index).sample(PROBES, 6):
            container[key] = probe
            assert agree(document), (place.pointer, probe, validate(document))


def _spot(document: object, steps: tuple[tuple[str, object], ...]) -> tuple[dict, str]:
    """The mapping and key that the steps, which end with a key, lead to."""
    at = document
    for kind, name in steps[:-1]:
        if kind == "key":
            at = at[name]
        elif kind == "items":
            at = at[0]
        elif kind == "additionalProperties":
            at = next(iter(at.values()))
    return at, steps[-1][1]


@pytest.mark.parametrize("document", [None, True, 3, "contract", [], {}, [{}]])
def test_verdicts_agree_on_documents_that_are_not_contracts(document: object) -> None:
    """Other values than mappings, and empty mappings, aren't contracts."""
    assert agree(document)
    assert validate(document)


def test_the_schemas_own_examples_get_its_own_verdict() -> None:
    """The examples that the official schema gives are judged as it judges them."""
    for example in schema()["examples"]:
        assert agree(example)
        assert agree({**example, "fluidVersion": "0.7.2"})
