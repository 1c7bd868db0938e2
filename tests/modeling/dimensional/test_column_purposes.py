"""What a column of an event or a dimension is for: its name suggests, its values have a veto."""

import pytest

from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional.column_purposes import (
    event_dates,
    has_few_values,
    is_calendar,
    is_category,
    is_distinctive,
    is_flag,
    is_life_date,
    is_naming,
    is_numbering,
    is_own_name,
    is_person,
    is_planned,
    is_record_stamp,
    is_weak_measure,
)
from tests.modeling.sources import changed_column, conceptual, source


def entity(columns: str, name: str = "orders", rows: int = 100) -> Entity:
    return conceptual(source(f"{name} *id, {columns}", rows=rows)).entity(name)


def attribute(text: str, **facts: object) -> Attribute:
    measured = changed_column(source(f"t *id, {text}"), "t", text.split("/")[0].split()[0], **facts)
    return conceptual(measured).entity("t").attributes[1]


@pytest.mark.parametrize(
    ("text", "record", "life"),
    [
        ("order_date date", False, False),
        ("created_at timestamp", True, False),
        ("load_date date", True, False),
        ("last_modified timestamp", True, False),
        ("updated_by text", False, False),
        ("rowguid uuid", True, False),
        ("birth_date date", False, True),
        ("hired date", False, True),
        ("member_since date", False, True),
        ("born text", False, False),
    ],
)
def test_dates_are_of_the_event_the_record_or_a_life(text: str, record: bool, life: bool) -> None:
    result = attribute(text)
    assert (is_record_stamp(result), is_life_date(result)) == (record, life)


def test_a_date_of_birth_is_told_by_its_values() -> None:
    assert is_life_date(attribute("d date", semantic_type="date_of_birth"))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("ordered date, shipped date?", ["ordered", "shipped"]),
        ("ordered date, created_at timestamp", ["ordered"]),
        ("created_at timestamp, updated_at timestamp", ["created_at"]),
        ("created_at timestamp/1", []),
        ("birth_date date, created_at timestamp", ["created_at"]),
        ("updated_at timestamp", []),
        ("note text", []),
    ],
)
def test_when_the_record_was_created_counts_only_without_another_date(
    columns: str, expected: list[str]
) -> None:
    assert [date.name for date in event_dates(entity(columns))] == expected


def test_a_date_without_a_value_is_no_event() -> None:
    measured = changed_column(source("t *id, closed date"), "t", "closed", nulls=100, distinct=0)
    assert event_dates(conceptual(measured).entity("t")) == ()


@pytest.mark.parametrize(
    ("name", "planned"),
    [("due_date", True), ("requiredDate", True), ("expected_at", True), ("shipped_at", False)],
)
def test_a_planned_date_is_told_by_its_name(name: str, planned: bool) -> None:
    assert is_planned(attribute(f"{name} date")) == planned


@pytest.mark.parametrize(
    ("text", "naming", "own"),
    [
        ("name text", True, True),
        ("order_name text", True, True),
        ("legal_name text", True, True),
        ("o_name text", True, True),
        ("customer_name text", True, False),
        ("description text", True, True),
        ("note_title text", False, False),
        ("name", False, False),
        ("city text", False, False),
    ],
)
def test_a_row_is_named_by_its_own_name_alone(text: str, naming: bool, own: bool) -> None:
    result = entity(text)
    assert is_naming(result.attributes[1]) == naming
    assert is_own_name(result.attributes[1], result) == own


@pytest.mark.parametrize(("distinct", "expected"), [(50, True), (49, False)])
def test_a_distinctive_column_has_mostly_different_values(distinct: int, expected: bool) -> None:
    result = entity(f"name text/{distinct}")
    assert is_distinctive(result.attributes[1], result) == expected


def test_without_rows_a_column_may_be_distinctive() -> None:
    result = entity("name text", rows=0)
    assert is_distinctive(result.attributes[1], result)


@pytest.mark.parametrize(
    ("text", "facts", "expected"),
    [
        ("is_gift boolean", {}, True),
        ("status text/20", {}, True),
        ("status text/21", {}, False),
        ("status text/4", {"pii": True}, False),
        ("city text/4", {"top_values": ()}, False),
        ("channel text/4", {}, True),
        ("status double/2", {}, False),
        ("order_status date/2", {}, False),
    ],
)
def test_a_flag_has_few_values_and_a_name_or_closed_domain_that_says_so(
    text: str, facts: dict[str, object], expected: bool
) -> None:
    assert is_flag(attribute(text, **facts)) == expected


@pytest.mark.parametrize(
    ("distinct", "rows", "expected"),
    [(20, 100, True), (21, 100, False), (25, 1000, True), (26, 1000, False)],
)
def test_few_values_are_at_most_25_and_occur_five_times_each(
    distinct: int, rows: int, expected: bool
) -> None:
    column = entity(f"size text/{distinct}", rows=rows).attributes[1]
    assert has_few_values(column) == expected


@pytest.mark.parametrize(
    ("text", "facts", "expected"),
    [
        ("city text/20", {}, True),
        ("city text/21", {}, False),
        ("city text/1", {}, False),
        ("city text/20", {"pii": True}, False),
        ("rate double/5", {}, False),
        ("since date/5", {}, False),
    ],
)
def test_a_category_has_several_values_that_repeat(
    text: str, facts: dict[str, object], expected: bool
) -> None:
    assert is_category(attribute(text, **facts)) == expected


@pytest.mark.parametrize(
    ("text", "low", "high", "weak"),
    [
        ("stat", 0, 100, True),
        ("stat", 0, 101, False),
        ("stat", -1, 10, False),
        ("quantity", 0, 10, False),
        ("stat double", 0, 10, False),
        ("stock", 0, 10, False),
        ("note text", 0, 10, False),
    ],
)
def test_a_small_whole_number_may_be_a_rank(text: str, low: int, high: int, weak: bool) -> None:
    result = attribute(f"{text}/30 7-9000")
    assert is_weak_measure(result, low, high) == weak


@pytest.mark.parametrize(
    ("name", "expected"),
    [("invoice_no", True), ("tracking_number", True), ("ordernum", True), ("status", True),
     ("carrier", False)],
)  # fmt: skip
def test_a_number_of_something_is_told_by_its_last_word(name: str, expected: bool) -> None:
    assert is_numbering(attribute(f"{name} text")) == expected


def test_people_are_told_by_their_names() -> None:
    measured = source("t *id, who text, n text")
    person = changed_column(measured, "t", "who", semantic_type="person_name")
    assert is_person(conceptual(person).entity("t"))
    assert not is_person(conceptual(measured).entity("t"))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("day date, year/2, month/12, week/52", True),
        ("day date, year/2", False),
        ("day date/50, year/2, month/12, week/52", False),
        ("day timestamp, year/2, month/12, week/52", True),
        (
            "day timestamp, year/2, month/12, week/52, who text, what text, note text, why text",
            False,
        ),
        ("d date, d_year/2, d_moy/12, d_qoy/4", True),
    ],
)
def test_a_calendar_has_a_row_a_day_and_three_parts_of_a_date(columns: str, expected: bool) -> None:
    assert is_calendar(entity(columns)) == expected
