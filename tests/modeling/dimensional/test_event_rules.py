"""Why an entity is an event, in the words of its reason."""

import pytest

from fluid_build.modeling.dimensional.judging.entity_roles import EntityRole, judged_roles
from fluid_build.modeling.dimensional.judging.reference_graph import reference_graph
from fluid_build.profiling.profile import Profile
from tests.modeling.profiles import reference
from tests.modeling.sources import changed, changed_column, conceptual, source

SHOP = """
    customer *id, name text
    product  *id, name text
"""


def roles(measured: Profile) -> dict[str, EntityRole]:
    return dict(judged_roles(reference_graph(measured, conceptual(measured))))


def role(columns: str, more: str = "") -> EntityRole:
    """The role of an entity, with others around it."""
    return roles(source(f"{SHOP} thing {columns}\n{more}"))["thing"]


@pytest.mark.parametrize(
    ("columns", "kind", "reason"),
    [
        (
            "*id, sold date, amount decimal, customer_id > customer",
            "fact",
            "No table refers to it. It has a date (sold) and refers to customer.",
        ),
        (
            "*id, amount decimal, customer_id > customer",
            "fact",
            "No table refers to it. It has a measure (amount) and refers to customer.",
        ),
        (
            "*id, note text, size text, customer_id > customer, product_id > product",
            "fact",
            "No table refers to it, and it links customer and product.",
        ),
        (
            "*customer_id > customer, *no/5, note text, hue text",
            "dimension",
            "It describes customer: it has no date of its own.",
        ),
        (
            "*customer_id > customer, *no/5, amount decimal, hue text",
            "fact",
            "No table refers to it. It has a measure (amount) and refers to customer.",
        ),
        (
            "*customer_id > customer, *season/5, hue text",
            "fact",
            "No table refers to it. Its rows are of a period (season) and refer to customer.",
        ),
        (
            "*customer_id > customer, *agent_id/5, hue text",
            "fact",
            "No table refers to it, and it links customer and agent_id.",
        ),
        (
            "*id, description text, sold date, customer_id > customer",
            "fact",
            "No table refers to it. It has a date (sold) and refers to customer.",
        ),
        (
            "*id, thing_name text, sold date, amount decimal, from_id > customer, to_id > customer",
            "fact",
            "It has a date (sold), a measure (amount), and refers to customer in several roles.",
        ),
        (
            "*id, thing_name text, sold date, customer_id > customer",
            "dimension",
            "No table refers to it. thing_name names its rows, so it's there to be looked up.",
        ),
        (
            "*id, title text, amount decimal, customer_id > customer",
            "fact",
            "No table looks like an event, and this one has the most measures (1).",
        ),
        (
            "*id, amount decimal, sold date",
            "fact",
            "It has a date (sold) and a measure (amount).",
        ),
        (
            "*id, amount decimal",
            "fact",
            "It has a measure (amount), and nothing names or describes its rows.",
        ),
        (
            "*a, *b, hue text",
            "dimension",
            "It has no date on which something happened, no measure that adds up and no reference",
        ),
        (
            "*a, *b, amount decimal",
            "fact",
            "It has a measure (amount) for each a and b.",
        ),
        (
            "*a, *season/9, hue text",
            "fact",
            "Each row is of a period (season), and its key has several columns.",
        ),
        ("*id, sold date/9", "fact", "It has a date (sold), and nothing names or describes its"),
        ("what text, hue text", "fact", "No key identifies its rows, so no table can refer to"),
    ],
)
def test_an_entity_that_nothing_refers_to(columns: str, kind: str, reason: str) -> None:
    result = role(columns)
    assert result.kind == kind
    assert result.reason.startswith(reason)


@pytest.mark.parametrize(
    ("columns", "kind", "reason"),
    [
        (
            "*id, sold date, amount decimal",
            "fact",
            "It has a date (sold) and a measure (amount).",
        ),
        (
            "*id, sold date, customer_id > customer",
            "fact",
            "An event with lines: it has a date (sold), refers to customer,",
        ),
        (
            "*id, customer_id > customer, product_id > product",
            "fact",
            "It links customer and product, and its rows have no names.",
        ),
        (
            "*id, hue text, customer_id > customer, product_id > product",
            "dimension",
            "line refers to it.",
        ),
        ("*id, sold date, thing_name text, customer_id > customer", "dimension", "line refers"),
        (
            "*id, start_date date, end_date date, budget decimal, thing_name text/5",
            "dimension",
            "line refers to it.",
        ),
        ("*id, hue text", "dimension", "line refers to it."),
        ("*id, sold date, hue text", "dimension", "line refers to it."),
    ],
)
def test_an_entity_that_lines_refer_to(columns: str, kind: str, reason: str) -> None:
    result = role(columns, "line *thing_id > thing, *no/5, product_id > product, quantity/9")
    assert result.kind == kind
    assert result.reason.startswith(reason)


@pytest.mark.parametrize(("lines", "kind"), [(50, "fact"), (51, "dimension")])
def test_a_header_has_at_most_fifty_lines_on_average(lines: int, kind: str) -> None:
    measured = source(f"""{SHOP}
        header *id, sold date, customer_id > customer
        line   *header_id > header, *no/5, product_id > product, quantity/9
    """)
    assert roles(changed(measured, "line", rows=lines * 100))["header"].kind == kind


def test_a_header_whose_references_are_mostly_empty_is_a_dimension() -> None:
    measured = source(f"""{SHOP}
        header *id, sold date, customer_id > customer
        line   *header_id > header, *no/5, product_id > product, quantity/9
    """)
    keys = tuple(
        key.model_copy(update={"evidence": key.evidence.model_copy(update={"nulls": 900})})
        if key.from_table == "header"
        else key
        for key in measured.foreign_keys
    )
    assert roles(measured.model_copy(update={"foreign_keys": keys}))["header"].kind == "dimension"


def test_a_header_may_be_dated_by_a_calendar_of_the_source() -> None:
    result = role(
        "*id, day_id > days, amount decimal",
        "days *id, day date, year/2, month/12, week/52\nline *thing_id > thing, *no/5, q/9",
    )
    assert (result.kind, result.reason) == (
        "fact",
        "It refers to days for its date and has a measure (amount).",
    )


def test_a_dated_event_may_hold_an_email_address() -> None:
    measured = source(f"{SHOP} message *id, sender text, sent date, customer_id > customer")
    mailed = changed_column(measured, "message", "sender", semantic_type="email")
    assert roles(mailed)["message"].kind == "fact"


def test_a_small_whole_number_measures_only_if_it_adds_up() -> None:
    assert role("*id, visits/9 1-9").kind == "fact"
    assert role("*id, score/9 1-9", "other *id, amount decimal").kind == "dimension"


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ("*customer_id > customer, *product_id > product", "bridge"),
        ("*id, customer_id > customer, product_id > product", "bridge"),
        ("*customer_id > customer, *product_id > product, rank/9 1-9", "bridge"),
        ("*customer_id > customer, *product_id > product, updated_at timestamp", "bridge"),
        ("*customer_id > customer, *product_id > product, hue text", "fact"),
        ("*customer_id > customer, *product_id > product, price decimal", "fact"),
        ("*customer_id > customer, *product_id > product, *no/9", "fact"),
    ],
)
def test_a_bridge_relates_two_entities_and_says_little_else(columns: str, kind: str) -> None:
    assert role(columns).kind == kind


def test_a_part_adds_to_its_whole_row_by_row() -> None:
    result = role("*customer_id > customer, hobby text")
    assert (result.kind, result.whole) == ("part", "customer")
    assert result.reason == "Each row belongs to one row of customer and extends it."


def test_a_part_of_an_event_is_an_event() -> None:
    result = role("*sale_id > sale, hue text", "sale *id, sold date, customer_id > customer")
    assert result.kind == "fact"
    assert "sale, which records events" in result.reason


@pytest.mark.parametrize(("rows", "kind"), [(20, "part"), (19, "dimension")])
def test_a_unique_reference_makes_a_part_in_twenty_rows(rows: int, kind: str) -> None:
    measured = source(f"{SHOP} thing *id, customer_id > customer, hobby text")
    table = measured.table("thing")
    unique = changed(measured, "thing", rows=rows, candidate_keys=(("id",), ("customer_id",)))
    assert table.candidate_keys == (("id",),)
    assert roles(unique)["thing"].kind == kind


def test_of_two_entities_that_are_parts_of_each_other_the_larger_is_the_whole() -> None:
    measured = source("a *id > b, x text\nb *id > a, y text\nsale *id, sold date, a_id > a")
    result = roles(changed(measured, "a", rows=300))
    assert (result["b"].kind, result["b"].whole, result["a"].kind) == ("part", "a", "dimension")


def test_a_part_that_others_refer_to_by_its_own_key_is_a_dimension() -> None:
    measured = source(f"""{SHOP}
        badge *id > customer, code text, hue text
        swipe *id, badge_code text, happened date
    """)
    unique = changed(measured, "badge", candidate_keys=(("id",), ("code",)))
    keys = (*unique.foreign_keys, reference("swipe", "badge_code", "badge", "code"))
    result = roles(unique.model_copy(update={"foreign_keys": keys}))["badge"]
    assert result == EntityRole("dimension", "Other tables refer to it by its own key.")


def test_an_empty_table_without_a_key_shows_no_event() -> None:
    measured = changed(source(f"{SHOP} log what text"), "log", rows=0)
    assert roles(measured)["log"].reason == (
        "It has no rows and no key, so nothing shows that it records events."
    )


def test_without_any_event_the_table_with_most_measures_is_the_fact() -> None:
    result = roles(source("""
        city    *id, city_name text, area decimal
        country *id, country_name text, area decimal, population_total decimal
    """))  # fmt: skip
    assert result["city"].kind == "dimension"
    assert (
        result["country"].reason
        == "No table looks like an event, and this one has the most measures (2)."
    )


def test_an_undated_thing_that_dated_rows_use_is_a_dimension() -> None:
    """A copy of a product in a store is used over and over; an undated header has undated lines."""
    result = role(
        "*id, customer_id > customer, product_id > product",
        "rental *id, rented date, thing_id > thing",
    )
    assert (result.kind, result.reason) == ("dimension", "rental refers to it.")


def test_rules_for_pairs_of_one_entity_make_a_bridge() -> None:
    """Nothing happens between two stops; a least time of transfer isn't added up."""
    result = role("*from_id > customer, *to_id > customer, min_rate decimal, kind/3")
    assert result.kind == "bridge"


def test_money_is_a_fact_although_few_rows_refer_to_anything() -> None:
    """A wallet's transactions refer to nothing but a coupon, which few of them have."""
    coupon = "coupon *id, name text"
    measured = source(
        f"{coupon}\nthing *id, note text, paid date, amount decimal, coupon_id > coupon"
    )
    (to_coupon,) = measured.foreign_keys
    rare = to_coupon.evidence.model_copy(update={"rows": 10, "nulls": 90})
    few = to_coupon.model_copy(update={"evidence": rare})
    assert roles(measured.model_copy(update={"foreign_keys": (few,)}))["thing"] == EntityRole(
        "fact", "It has a date (paid) and a measure (amount)."
    )
