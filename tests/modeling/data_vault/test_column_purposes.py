"""Names, dates and record keeping, as the rules of a vault see them."""

import pytest

from fluid_build.modeling.conceptual import Attribute
from fluid_build.modeling.data_vault.column_purposes import (
    is_change_stamp,
    is_event_date,
    is_naming,
    is_technical,
)
from fluid_build.profiling.names.words import last_word
from tests.modeling.sources import changed_column, conceptual, source


def attribute(text: str, **facts: object) -> Attribute:
    measured = changed_column(source(f"t *id, {text}"), "t", text.split()[0], **facts)
    return conceptual(measured).entity("t").attributes[1]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("order_status", "status"), ("OrderStatus", "status"), ("orderstatus", "status"),
        ("status_date", ""), ("order_no", "no"), ("piano", ""), ("", ""),
    ],
)  # fmt: skip
def test_the_last_word_counts_and_a_short_one_only_by_itself(name: str, expected: str) -> None:
    assert last_word(name, {"status", "no"}) == expected


def test_of_two_glued_words_the_longer_one_counts() -> None:
    assert last_word("ordernumber", {"number", "umber"}) == "number"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name text", True), ("productTitle text", True), ("username text", True),
        ("filename text", False), ("label boolean", False), ("name_id", False),
        ("note text", False),
    ],
)  # fmt: skip
def test_a_name_is_told_by_its_last_word(text: str, expected: bool) -> None:
    assert is_naming(attribute(text)) == expected


def test_values_that_are_names_of_people_name_a_row() -> None:
    assert is_naming(attribute("who text", semantic_type="person_name"))


@pytest.mark.parametrize(
    ("text", "technical", "change", "event"),
    [
        ("updated_at timestamp", True, True, False),
        ("last_update timestamp", True, True, False),
        ("rowmodifieddate date", True, True, False),
        ("created_at timestamp", True, False, True),
        ("insert_date date", True, False, True),
        ("order_date date", False, False, True),
        ("update_due date", False, False, True),
        ("updated_by text", False, False, False),
        ("rowguid uuid", True, False, False),
    ],
)
def test_record_stamps_are_told_from_dates_of_events(
    text: str, technical: bool, change: bool, event: bool
) -> None:
    """When a row was created may be when the event happened, when it was changed never is."""
    result = attribute(text)
    assert (is_technical(result), is_change_stamp(result), is_event_date(result)) == (
        technical,
        change,
        event,
    )
