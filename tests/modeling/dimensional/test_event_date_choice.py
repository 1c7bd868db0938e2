"""Of several dates, the one that an event is dated by."""

from dataclasses import replace

import pytest

from fluid_build.modeling.dimensional.facts.event_date_choice import (
    DateCandidate,
    choose_event_date,
    of_header,
)
from tests.modeling.sources import conceptual, source

(HEADER,) = conceptual(source("sale *id, sold date\nline *id, sale_id > sale")).relationships
DAY = DateCandidate("day", "day", is_always_there=True)
SOMETIMES = replace(DAY, is_always_there=False)
MONTH = replace(DAY, is_month=True)
PLANNED = replace(DAY, is_planned=True)
RECORD = replace(DAY, is_about_record=True)
OF_HEADER = of_header(DAY, HEADER, key=("id",))
OF_WHOLE = of_header(SOMETIMES, HEADER, key=("sale_id", "number"))


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (DAY, SOMETIMES),
        (DAY, MONTH),
        (SOMETIMES, MONTH),
        (DAY, PLANNED),
        (PLANNED, SOMETIMES),
        (SOMETIMES, replace(PLANNED, is_always_there=False)),
        (DAY, replace(DAY, is_of_period=True)),
        (replace(DAY, is_of_period=True), SOMETIMES),
        (MONTH, PLANNED),
        (PLANNED, RECORD),
        (DAY, OF_HEADER),
        (SOMETIMES, OF_HEADER),
        (MONTH, OF_HEADER),
        (OF_HEADER, PLANNED),
        (OF_WHOLE, OF_HEADER),
    ],
)
def test_one_date_goes_before_another_wherever_it_stands(
    better: DateCandidate, worse: DateCandidate
) -> None:
    first, second = replace(better, label="better"), replace(worse, label="worse")
    for candidates in ([first, second], [second, first]):
        choice = choose_event_date(candidates, None, "sale")
        assert choice is not None
        assert (choice.candidate.label, choice.alternatives) == ("better", ("worse",))


def test_of_equal_dates_the_one_that_comes_first_begins_the_event() -> None:
    later = replace(DAY, label="left")
    earlier = replace(DAY, label="arrived", precedes=frozenset({"left"}))
    choice = choose_event_date([later, earlier], None, "stay")
    assert choice is not None
    assert choice.candidate.label == "arrived"


def test_without_a_date_there_is_no_choice() -> None:
    assert choose_event_date([], None, "sale") is None
