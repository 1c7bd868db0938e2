"""Keys in text stay text, unless they refer to numbers."""

import pytest

from fluid_build.modeling.dimensional.dimensions.text_keys import keep_text_keys
from fluid_build.profiling.profile import Profile
from tests.modeling.sources import changed_column, conceptual, source

SCHEMA = "thing *id text, note text\nsale *no, thing_id text > thing, worth text"


def converting(*columns: tuple[str, str, bool]) -> Profile:
    """The source with columns of text that hold numbers, reversibly or not."""
    measured = source(SCHEMA)
    for table, name, reversible in columns:
        measured = changed_column(
            measured, table, name, measured_type="BIGINT", reversible=reversible
        )
    return measured


def text_columns(measured: Profile) -> set[str]:
    kept = keep_text_keys(conceptual(measured))
    return {
        attribute.name
        for entity in kept.entities
        for attribute in entity.attributes
        if attribute.type == "string"
    } - {"note"}


THING, SALE = ("thing", "id"), ("sale", "thing_id")


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([(*THING, True), (*SALE, True)], {"id", "thing_id"}),
        ([(*THING, False), (*SALE, False)], {"id", "thing_id"}),
        ([(*THING, True), (*SALE, False)], {"id", "thing_id"}),
        ([(*THING, True)], {"id", "thing_id"}),
        ([(*SALE, True)], {"id", "thing_id"}),
    ],
    ids=["both", "neither", "one loses its spelling", "key alone", "reference alone"],
)
def test_a_key_stays_text_with_what_refers_to_it(
    columns: list[tuple[str, str, bool]], expected: set[str]
) -> None:
    """The next load may have a letter in it, or a zero in front."""
    result = text_columns(converting(*columns, ("sale", "worth", False)))
    assert result == expected


def test_text_that_refers_to_a_number_is_one() -> None:
    """Whatever is stored as a number has no zero in front."""
    measured = source("thing *id, note text\nsale *no, thing_id text > thing, worth text")
    measured = changed_column(measured, *SALE, measured_type="BIGINT", reversible=True)
    assert text_columns(measured) == {"worth"}


def test_a_key_that_stays_text_says_so_and_is_no_measure() -> None:
    kept = keep_text_keys(conceptual(converting((*THING, False))))
    result = kept.entity("thing").attribute("id")
    assert result.reason.endswith("It's in a key stored as text, so it stays text.")
    assert (result.conversion, result.measure) == (None, None)


def test_a_model_without_such_keys_is_returned_as_it_is() -> None:
    model = conceptual(converting(("sale", "worth", False)))
    assert keep_text_keys(model) is model


def test_one_text_end_makes_all_columns_text_that_are_related_to_it() -> None:
    measured = source("""
        a *id text, x text
        b *id text > a, y text
        c *no, b_id text > b
    """)
    for table, name, reversible in (("a", "id", False), ("b", "id", True), ("c", "b_id", True)):
        measured = changed_column(
            measured, table, name, measured_type="BIGINT", reversible=reversible
        )
    kept = keep_text_keys(conceptual(measured))
    assert [kept.entity(t).attribute(n).type for t, n in (("a", "id"), ("b", "id"), ("c", "b_id"))]\
        == ["string"] * 3  # fmt: skip
