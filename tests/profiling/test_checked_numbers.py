"""Numbers of people and devices, dates of birth and plates under names that say nothing."""

import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import ean, luhn
from stdnum.gb import nhs

from fluid_build.profiling.semantic_types import ColumnFacts, SemanticType, classify

_TRAVEL = "CFGHJKLMNPRTVWXYZ"
_CONSONANTS = "BCDFGHJKLMNPRSTVWXYZ"


def meaning_of(
    values: list[str], name: str = "c7", type_: str = "VARCHAR", siblings: tuple[str, ...] = ()
) -> SemanticType | None:
    return classify(
        ColumnFacts(
            table="t",
            column=name,
            type=type_,
            rows=len(values),
            nulls=0,
            distinct=len(set(values)),
            values=tuple(Counter(values))[:100],
            min=min(values),
            max=max(values),
            siblings=siblings,
        )
    )


def _digits(chance: random.Random, count: int) -> str:
    return "".join(str(chance.randrange(10)) for _ in range(count))


def _imei(chance: random.Random) -> str:
    body = chance.choice(("35", "86", "01")) + _digits(chance, 12)
    return body + luhn.calc_check_digit(body)


def _kvnr(chance: random.Random) -> str:
    letter, body = chance.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), _digits(chance, 8)
    spelled = f"{ord(letter) - 64:02d}{body}"
    products = [int(d) * (1, 2)[i % 2] for i, d in enumerate(spelled)]
    return f"{letter}{body}{sum(sum(map(int, str(p))) for p in products) % 10}"


def _nhs(chance: random.Random) -> str:
    while True:
        body = chance.choice("467") + _digits(chance, 8)
        for check in "0123456789":
            if nhs.is_valid(body + check):
                return f"{body[:3]} {body[3:6]} {body[6:]}{check}"


def _travel_digit(text: str) -> str:
    values = (0 if c == "<" else int(c, 36) for c in text)
    return str(sum(v * (7, 3, 1)[i % 3] for i, v in enumerate(values)) % 10)


def _passport(chance: random.Random) -> str:
    body = "C" + "".join(chance.choice(_TRAVEL + "0123456789") for _ in range(8))
    return body + _travel_digit(body)


def _travel_line(chance: random.Random) -> str:
    born, expires = (f"{chance.randrange(10, 99)}{_day(chance)}" for _ in range(2))
    return (
        f"{_passport(chance)}D<<{born}{_travel_digit(born)}F{expires}{_travel_digit(expires)}"
        f"{'<' * 14}0{chance.randrange(10)}"
    )


def _day(chance: random.Random) -> str:
    return f"{chance.randrange(1, 13):02}{chance.randrange(1, 29):02}"


def _german_plate(chance: random.Random) -> str:
    return (
        f"{chance.choice(('B', 'M', 'HH', 'KL', 'TÜ', 'ERZ'))}-{chance.choice('ABCDEFGH')}"
        f"{chance.choice(('', 'X', 'Y'))} {chance.randrange(1, 9999)}"
    )


def _letters(chance: random.Random, count: int) -> str:
    return "".join(chance.choice(_CONSONANTS) for _ in range(count))


MAKERS: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "imei": ("device_id", _imei),
    "kvnr": ("national_id", _kvnr),
    "nhs": ("national_id", _nhs),
    "passport": ("national_id", _passport),
    "travel line": ("national_id", _travel_line),
    "german plate": ("license_plate", _german_plate),
    "british plate": (
        "license_plate",
        lambda c: (
            f"{_letters(c, 2).replace('Z', 'A')}{c.choice(('07', '18', '73'))} {_letters(c, 3)}"
        ),
    ),
    "french plate": (
        "license_plate",
        lambda c: f"{_letters(c, 2)}-{_digits(c, 3)}-{_letters(c, 2)}",
    ),
    "spanish plate": ("license_plate", lambda c: f"{_digits(c, 4)} {_letters(c, 3)}"),
}


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("seed", range(4))
def test_what_its_form_gives_away_is_personal(kind: str, seed: int) -> None:
    type_, make = MAKERS[kind]
    chance = random.Random(seed)
    meaning = meaning_of([make(chance) for _ in range(50)])
    assert meaning is not None
    assert (meaning.name, meaning.pii) == (type_, True)


@pytest.mark.parametrize("kind", MAKERS)
def test_a_handful_of_them_proves_nothing(kind: str) -> None:
    type_, make = MAKERS[kind]
    chance = random.Random(1)
    values = [make(chance) for _ in range(11 if type_ != "license_plate" else 29)]
    meaning = meaning_of(values)
    assert meaning is None or meaning.name != type_


_SHAPES = ("9" * 15, "35" + "9" * 13, "A999999999", "999 999 9999", "C99999999", "99999999999")


@given(st.sampled_from(_SHAPES), st.integers(0, 10**6))
def test_random_numbers_of_the_same_shape_are_none(shape: str, seed: int) -> None:
    chance = random.Random(seed)
    values = [
        "".join(str(chance.randrange(10)) if char == "9" else char for char in shape)
        for _ in range(40)
    ]
    meaning = meaning_of(values)
    assert meaning is None or meaning.name not in {"device_id", "national_id", "checked_number"}


@pytest.mark.parametrize("codes", ["AB-123-OU", "AUE-12 34"])
def test_codes_that_break_a_form_are_no_plates(codes: str) -> None:
    chance = random.Random(2)
    values = [codes.replace("1", str(chance.randrange(10))) + str(i) for i in range(60)]
    meaning = meaning_of(values)
    assert meaning is None or meaning.name != "license_plate"


@pytest.mark.parametrize("type_", ["BIGINT", "VARCHAR"])
@pytest.mark.parametrize(
    ("name", "digit", "length"),
    [("ean", ean.calc_check_digit, 12), ("checked_number", luhn.calc_check_digit, 9)],
)
def test_numbers_that_end_in_a_check_digit_are_identifiers(
    type_: str, name: str, digit: Callable[[str], str], length: int
) -> None:
    chance = random.Random(5)
    bodies = ["4" + _digits(chance, length - 1) for _ in range(50)]
    meaning = meaning_of([body + digit(body) for body in bodies], type_=type_)
    assert meaning is not None
    assert (meaning.name, meaning.pii) == (name, False)


@pytest.mark.parametrize(
    ("name", "first", "last", "siblings", "is_birth"),
    [
        ("d1", 1930, 2015, ("first_name", "last_name"), True),
        ("dat", 1940, 1999, ("surname",), True),
        ("d1", 2010, 2024, ("first_name", "last_name"), False),
        ("hired", 1930, 2015, ("first_name", "last_name"), False),
        ("published", 1930, 2015, ("last_name",), False),
        ("d1", 1930, 2015, ("title", "price"), False),
        ("d1", 1700, 2015, ("first_name", "last_name"), False),
    ],
)
def test_dates_beside_people_that_are_spread_over_ages_are_births(
    name: str, first: int, last: int, siblings: tuple[str, ...], is_birth: bool
) -> None:
    chance = random.Random(3)
    days = [
        f"{year}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"
        for year in (first, last, *(chance.randrange(first, last + 1) for _ in range(50)))
    ]
    for type_ in ("DATE", "VARCHAR"):
        meaning = meaning_of(days, name, type_, siblings)
        assert (meaning is not None and meaning.name == "date_of_birth") is is_birth
