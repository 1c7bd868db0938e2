"""Every table goes to one place in the vault, by what identifies its rows, and says why."""

import pytest

from fluid_build.modeling.data_vault.placements import Placement, placements
from fluid_build.modeling.data_vault.source_tables import source_tables
from fluid_build.observations.date_orders import DateOrder
from fluid_build.observations.observe import Observations
from fluid_build.profiling.profile import Profile
from tests.modeling.profiles import reference
from tests.modeling.sources import (
    changed,
    changed_column,
    conceptual,
    satellite,
    source,
    vault,
)

TWO_HUBS = """
    customer *id, name text, city text, street text
    product  *id, title text, size text, colour text
"""


def placed(measured: Profile) -> dict[str, Placement]:
    return placements(measured, source_tables(conceptual(measured)))


def kinds(measured: Profile) -> dict[str, str]:
    return {name: placement.kind for name, placement in placed(measured).items()}


def test_a_table_with_its_own_key_is_a_hub_and_says_who_refers_to_it() -> None:
    result = placed(source(f"{TWO_HUBS} orders *id, customer_id > customer, note text"))
    assert result["customer"].kind == "hub"
    assert result["customer"].reason == "The table has its own key, and orders refers to it."


def test_a_table_that_refers_to_itself_alone_is_a_hub() -> None:
    result = placed(source("employee *id, boss_id > employee, level"))
    assert result["employee"] == Placement("hub", "The table has its own key and refers to itself.")


def test_up_to_three_referring_tables_are_named_and_others_counted() -> None:
    users = "\n".join(f"t{n} *id, customer_id > customer, note text" for n in range(5))
    result = placed(source(f"{TWO_HUBS}{users}"))
    assert result["customer"].reason.endswith("and t0, t1 and 3 others refer to it.")


def test_a_table_without_a_key_is_keyless() -> None:
    result = placed(source("log message text, level/4"))["log"]
    assert (result.kind, result.reason) == (
        "keyless",
        "No key identifies a row: none was found in its columns.",
    )


def test_a_broken_key_identifies_nothing_and_its_figures_are_told() -> None:
    measured = source("log *id, message text")
    claim = measured.table("log").declared_keys[0]
    evidence = claim.evidence.model_copy(update={"violations": 7, "nulls": 2})
    broken = changed(
        measured,
        "log",
        declared_keys=(claim.model_copy(update={"evidence": evidence}),),
        candidate_keys=(),
    )
    result = placed(broken)["log"]
    assert result.kind == "keyless"
    assert "its key (id) is violated by 7 rows and null in 2" in result.reason


def test_an_empty_table_without_a_declared_key_is_keyless() -> None:
    result = placed(source("log message text", rows=0))["log"]
    assert result.reason == (
        "No key identifies a row: the table has no rows, and no key is declared."
    )


def test_a_key_made_of_two_other_keys_makes_a_link() -> None:
    result = placed(
        source(f"{TWO_HUBS} rating *customer_id > customer, *product_id > product, stars/5 1-5")
    )
    assert result["rating"] == Placement(
        "link", "Its key consists of the keys of customer and product."
    )


def test_a_table_of_references_flags_and_stamps_is_a_link_whatever_its_key() -> None:
    result = placed(
        source(
            f"{TWO_HUBS} likes *customer_id > customer, product_id > product, is_public boolean,"
            " updated_at timestamp"
        )
    )
    assert result["likes"] == Placement(
        "link", "The table holds only references, to customer and product."
    )


@pytest.mark.parametrize("column", ["note text", "weight decimal", "liked_on date"])
def test_one_column_more_is_no_mere_link(column: str) -> None:
    schema = f"{TWO_HUBS} likes *customer_id > customer, product_id > product, {column}"
    assert kinds(source(schema))["likes"] != "link"


def test_a_key_that_is_another_tables_key_makes_a_subtype() -> None:
    result = placed(source(f"{TWO_HUBS} vip *customer_id > customer, lounge text"))["vip"]
    assert result.kind == "subtype"
    assert result.parent is not None and result.parent.to_entity == "customer"
    assert result.reason.startswith("A subtype of customer: ")


def test_a_subtype_of_two_tables_belongs_to_the_larger_one() -> None:
    measured = source("small *id, a text\nlarge *id, b text\nboth *id > small, c text",
                      reference("both", "id", "large", "id"))  # fmt: skip
    result = placed(changed(measured, "large", rows=500))["both"]
    assert result.parent is not None and result.parent.to_entity == "large"


def test_a_declared_reference_makes_the_supertype_whatever_the_size() -> None:
    declared = reference("both", "id", "small", "id", origin="declared")
    measured = source("small *id, a text\nlarge *id, b text\nboth *id > large, c text", declared)
    result = placed(changed(measured, "large", rows=500))["both"]
    assert result.parent is not None and result.parent.to_entity == "small"


def test_of_subtypes_in_a_circle_the_largest_gets_the_hub() -> None:
    measured = source("a *id > b, x text\nb *id > a, y text")
    result = placed(changed(measured, "b", rows=200))
    assert (result["b"].kind, result["a"].kind) == ("hub", "subtype")


def test_a_key_in_another_type_makes_no_subtype() -> None:
    measured = source(f"{TWO_HUBS} vip *customer_id > customer, lounge text")
    result = placed(changed_column(measured, "vip", "customer_id", type="VARCHAR"))["vip"]
    assert result.kind == "hub"
    assert result.reason == (
        "Its key refers to customer, but to columns other than the primary key there."
    )


def test_several_rows_of_one_parent_are_multi_active() -> None:
    result = placed(source(f"{TWO_HUBS} phone *customer_id > customer, *kind/3, digits text"))
    assert result["phone"].kind == "multi-active"
    assert result["phone"].reason == (
        "Several rows belong to one row of customer; kind distinguishes them."
    )


@pytest.mark.parametrize(
    ("column", "kind"), [("quantity 1-9", "transaction"), ("stock 1-900", "link"), ("", "link")]
)
def test_lines_that_measure_are_transactions_and_levels_arent(column: str, kind: str) -> None:
    more = f", {column}" if column else ", note text"
    result = placed(
        source(f"{TWO_HUBS} line *customer_id > customer, *no/5, product_id > product{more}")
    )["line"]
    assert result.kind == kind
    assert result.reason == "Its rows link customer and product; no distinguishes them."


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("amount decimal", "transaction"),
        ("sold_on date", "transaction"),
        ("updated_at timestamp", "link"),
        ("capacity", "link"),
        ("label text", "hub"),
        ("status text/4, sold_on date", "hub"),
        ("sold_on date, returned_on date?", "transaction"),
    ],
)
def test_an_event_between_two_entities_is_a_transaction(column: str, kind: str) -> None:
    result = placed(
        source(f"{TWO_HUBS} sale *id, customer_id > customer, product_id > product, {column}")
    )["sale"]
    assert result.kind == kind


def test_an_event_of_which_one_end_may_be_missing_is_a_transaction() -> None:
    schema = f"{TWO_HUBS} sale *id, customer_id? > customer, product_id > product, amount decimal"
    assert kinds(source(schema))["sale"] == "transaction"


def test_an_event_of_which_every_end_may_be_missing_is_a_hub() -> None:
    schema = f"{TWO_HUBS} sale *id, customer_id? > customer, product_id? > product, amount decimal"
    assert kinds(source(schema))["sale"] == "hub"


def test_orders_are_hubs_and_payments_arent_whatever_their_columns() -> None:
    columns = "*id, customer_id > customer, product_id > product, amount decimal, paid_on date"
    schema = f"{TWO_HUBS} sales_order {columns}\npayment {columns}, status text/3"
    assert kinds(source(schema))["sales_order"] == "hub"
    assert kinds(source(schema))["payment"] == "transaction"


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ("*id, customer_id > customer, paid_on date, amount decimal, bank_ref text", "transaction"),
        ("*id, customer_id > customer, earned_on date", "transaction"),
        ("*customer_id > customer, *item_no/5, hours decimal, amount decimal", "transaction"),
        ("*customer_id > customer, *month_end date/9, headcount 1-900", "transaction"),
        ("*customer_id > customer, *year_month text/9, balance decimal", "transaction"),
        ("*customer_id > customer, *attended date", "transaction"),
        ("*id, customer_id > customer, verified_on date?, digits text", "multi-active"),
        ("*customer_id > customer, *sort/5, *valid_from date, street text", "multi-active"),
        ("*customer_id > customer, *changed date/9, price decimal", "multi-active"),
        ("*id, customer_id > customer, valid_from date, valid_to date, rate decimal",
         "multi-active"),
        ("*id, customer_id > customer, note text", "multi-active"),
    ],
)  # fmt: skip
def test_what_happens_to_one_parent_is_a_transaction_and_what_describes_it_a_satellite(
    columns: str, kind: str
) -> None:
    assert kinds(source(f"{TWO_HUBS} thing {columns}"))["thing"] == kind


def test_what_happens_to_one_parent_says_what_else_it_could_be() -> None:
    result = placed(source(f"{TWO_HUBS} badge *id, customer_id > customer, earned_on date"))
    assert result["badge"].reason == (
        "Several rows belong to one row of customer; nothing refers to id, which"
        " distinguishes them."
    )
    choices = [alternative.choice for alternative in result["badge"].alternatives]
    assert choices == ["a hub", "a multi-active satellite"]


@pytest.mark.parametrize(
    ("period", "kind"),
    [
        ("valid_from date, valid_to date", "link"),
        ("from_date date, to_date date?", "link"),
        ("start_date date, end_date date", "transaction"),
    ],
)
def test_what_holds_until_a_day_that_is_set_later_is_no_event(period: str, kind: str) -> None:
    """The next price ends this one; from when to when somebody stayed is known with the bill."""
    tariff = f"tariff *id, customer_id > customer, product_id > product, amount decimal, {period}"
    assert kinds(source(f"{TWO_HUBS} {tariff}"))["tariff"] == kind


def test_who_wrote_a_record_is_no_end_of_a_link() -> None:
    schema = f"{TWO_HUBS} user *id, login text\nbadge *id, customer_id > customer"
    assert kinds(source(f"{schema}, created_by > user"))["badge"] == "multi-active"
    assert kinds(source(f"{schema}, sold_by > user"))["badge"] == "link"


def test_the_only_tenant_of_a_database_is_no_end_of_a_link() -> None:
    users = "\n".join(f"t{n} *id, tenant_id > tenant, title text" for n in range(5))
    schema = f"{TWO_HUBS} tenant *id, title text\n{users}\n"
    measured = source(f"{schema} badge *id, customer_id > customer, tenant_id > tenant")
    assert kinds(measured)["badge"] == "link"
    assert kinds(changed(measured, "tenant", rows=1))["badge"] == "multi-active"


@pytest.mark.parametrize("language", ["*language_code text/3", "*lang_id/3 > lang"])
def test_texts_in_several_languages_describe_what_they_are_about(language: str) -> None:
    schema = f"{TWO_HUBS} lang *id, iso text, label text\nproduct_text *product_id > product,"
    result = placed(source(f"{schema} {language}, title text"))
    assert result["product_text"].kind == "multi-active"
    assert result["product_text"].parent is not None
    assert result["product_text"].parent.to_entity == "product"


def test_a_code_list_with_texts_in_several_languages_is_a_hub() -> None:
    schema = "firmness *id, label text\nberry *id, firmness_id > firmness, title text\n"
    names = "firmness_name *firmness_id > firmness, *language_code text/3, label text"
    result = kinds(source(f"{schema} {names}", rows=40))
    assert result == {"firmness": "hub", "berry": "hub", "firmness_name": "multi-active"}


def test_a_calendar_is_a_reference_table_though_a_key_contains_its_key() -> None:
    measured = source(
        f"{TWO_HUBS} dates *id, day date, year/9, month_no/12, weekday text/7\n"
        "stock *product_id > product, *date_id > dates, quantity 1-900"
    )
    result = placed(measured)
    assert result["dates"].kind == "reference"
    assert result["stock"].kind == "transaction"


WEEKDAYS = "weekdays *day/7 1-7, weekday text/7"


@pytest.mark.parametrize("type_", ["date", "timestamp"])
def test_a_calendar_may_refer_to_the_names_of_its_parts_and_neither_is_a_hub(type_: str) -> None:
    result = kinds(
        source(
            f"{WEEKDAYS}\n{TWO_HUBS}\n"
            f"dates *id, day {type_}, year/9, month_no/12, weekday/7 > weekdays\n"
            "sale *product_id > product, *date_id > dates, quantity 1-900"
        )
    )
    assert (result["weekdays"], result["dates"]) == ("reference", "reference")


def test_what_happens_on_a_day_at_a_place_is_no_calendar() -> None:
    """Most of its columns are about the day, and yet somebody plays there."""
    schema = f"{TWO_HUBS} match *id, day date, year/9, month_no/12, customer_id > customer"
    assert kinds(source(schema))["match"] != "reference"


def test_a_measured_key_of_one_reference_in_a_table_of_two_makes_a_link() -> None:
    schema = f"{TWO_HUBS} pick *customer_id > customer, product_id > product, place text/9"
    measured = source(schema)
    assert kinds(measured)["pick"] == "subtype"
    assert kinds(without_declared_key(measured, "pick"))["pick"] == "link"


def without_declared_key(measured: Profile, name: str) -> Profile:
    table = measured.table(name)
    assert table.primary_key is not None
    return changed(
        measured,
        name,
        declared_keys=(),
        candidate_keys=(table.primary_key,),
        primary_key_origin="measured",
    )


def test_kinds_whose_keys_only_overlap_have_two_hubs() -> None:
    measured = source(f"{TWO_HUBS} vip *customer_id > customer, lounge text")
    key = measured.foreign_keys[0]
    strays = key.evidence.model_copy(update={"orphans": 30, "matched": 70})
    overlapping = measured.model_copy(
        update={"foreign_keys": (key.model_copy(update={"evidence": strays}),)}
    )
    assert kinds(measured)["vip"] == "subtype"
    assert kinds(overlapping)["vip"] == "hub"


def test_an_event_that_others_refer_to_is_a_hub() -> None:
    schema = f"""{TWO_HUBS}
        sale   *id, customer_id > customer, product_id > product, amount decimal
        refund *id, sale_id > sale, reason text
    """
    assert kinds(source(schema))["sale"] == "hub"


def test_a_name_of_its_own_makes_a_hub_and_anothers_name_doesnt() -> None:
    schema = f"{TWO_HUBS} sale *id, customer_id > customer, product_id > product, amount decimal"
    assert kinds(source(f"{schema}, sale_name text"))["sale"] == "hub"
    assert kinds(source(f"{schema}, customer_name text"))["sale"] == "transaction"
    assert placed(source(f"{schema}, sale_name text"))["sale"].reason == (
        "The table has its own key, and sale_name names its rows."
    )


COLOURS = "colour *code text, label text\nshirt *id, colour_code > colour, size text"


def codes(schema: str = COLOURS, rows: int = 40, length: int = 2) -> str:
    measured = source(schema, rows=rows)
    key = measured.table("colour").primary_key or ("code",)
    measured = changed_column(measured, "colour", key[0], max_length=length)
    return kinds(measured)["colour"]


@pytest.mark.parametrize(
    ("rows", "length", "kind"),
    [(40, 2, "reference"), (300, 10, "reference"), (301, 2, "hub"), (40, 11, "hub"), (0, 2, "hub")],
)
def test_a_code_list_is_short_and_so_are_its_codes(rows: int, length: int, kind: str) -> None:
    assert codes(rows=rows, length=length) == kind


@pytest.mark.parametrize(("rows", "kind"), [(50, "reference"), (51, "hub")])
def test_a_list_of_numbered_codes_is_shorter(rows: int, kind: str) -> None:
    assert codes(COLOURS.replace("code text", "code"), rows=rows) == kind


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        (COLOURS.replace("label text", "label text, remark text"), "reference"),
        (COLOURS.replace("label text", "label text, remark text, hue text"), "hub"),
        (COLOURS.replace("label text", "label text, updated_at timestamp, hue text"), "reference"),
        (COLOURS.replace("label text", "weight decimal"), "hub"),
        (COLOURS.split("\n")[0], "reference"),
        (COLOURS.replace("*id, colour_code", "*id, *colour_code"), "hub"),
        (f"{COLOURS}\nbrand *id, name text".replace("label text", "label text, brand_id > brand"),
         "hub"),
    ],
    ids=["two columns", "three columns", "stamps aside", "no text", "unused", "in a key", "refers"],
)  # fmt: skip
def test_a_code_list_explains_its_codes_and_nothing_else(schema: str, kind: str) -> None:
    assert codes(schema) == kind


@pytest.mark.parametrize(("length", "kind"), [(5, "reference"), (6, "hub")])
def test_a_few_letters_beside_the_name_are_the_code_that_people_write(
    length: int, kind: str
) -> None:
    """AFC and UEFA have a number, a name and a remark besides."""
    schema = COLOURS.replace("label text", "label text, remark text, colour_abbreviation text")
    measured = changed_column(source(schema, rows=40), "colour", "code", max_length=4)
    measured = changed_column(measured, "colour", "colour_abbreviation", max_length=length)
    assert kinds(measured)["colour"] == kind


def test_personal_data_is_no_code_list() -> None:
    measured = changed_column(source(COLOURS, rows=40), "colour", "code", max_length=2)
    assert kinds(measured)["colour"] == "reference"
    assert kinds(changed_column(measured, "colour", "label", pii=True))["colour"] == "hub"


def test_without_data_nothing_is_known_to_be_a_short_list() -> None:
    measured = changed_column(source(COLOURS, rows=40), "colour", "code", max_length=2)
    assert kinds(measured.model_copy(update={"has_data": False}))["colour"] == "hub"


def test_the_end_of_a_link_is_a_hub_even_if_it_looks_like_a_code_list() -> None:
    schema = f"{COLOURS}\npaint *shirt_id > shirt, colour_code > colour"
    assert codes(schema) == "hub"


def test_types_are_a_list_also_where_a_table_of_references_refers_to_them() -> None:
    """Roles that a key is made of are hubs: only that relation says who has which."""
    types = "vote_type *id/4, name text"
    vote = "vote *id, post_id > post, user_id > author, vote_type_id > vote_type, created_on date"
    model = vault(source(f"post *id, body text\nauthor *id, name text\n{types}\n{vote}"))
    assert [table.table for table in model.reference_tables] == ["vote_type"]
    assert "vote_type_id" in satellite(model, "sat_vote").columns


def test_what_has_dates_or_more_than_a_name_and_is_followed_by_a_business_is_no_code_list() -> None:
    """A tournament takes place, and a team has a captain."""
    cup = "tournament *id, place text, played_on date"
    team = "team *id, name text, captain_id"
    match = "game *id, tournament_id > tournament, team_id > team, label text, note text"
    model = vault(source(f"{cup}\n{team}\n{match}", rows=12))
    assert {"tournament", "team"} <= {hub.entity_name for hub in model.hubs}


@pytest.mark.parametrize(("later", "is_hub"), [("returned", True), ("care_end_date", False)])
def test_until_when_something_lasted_is_no_state(later: str, is_hub: bool) -> None:
    """An illness of a patient lasts until it's over; nobody follows it like an order."""
    care = f"care *id, customer_id > customer, product_id > product, care_start_date date, {later}"
    order = DateOrder("care", "care_start_date", later, 60, 60, 10, 0, open_is_recent=True)
    observed = Observations(date_orders=(order,))
    model = vault(source(f"{TWO_HUBS} {care} date?"), observations=observed)
    assert ("care" in {hub.entity_name for hub in model.hubs}) == is_hub


def test_the_bounds_of_a_period_describe_no_thing_of_its_own() -> None:
    """Periods of a customer are several of one, whatever their number and kind."""
    schema = f"{TWO_HUBS} cover *id, customer_id > customer, start_date date, end_date date"
    assert kinds(source(f"{schema}, sort text/9"))["cover"] == "multi-active"
    assert kinds(source(f"{schema}, colour text, size text, place text"))["cover"] == "hub"


@pytest.mark.parametrize(
    ("is_recent", "skipped", "is_hub"), [(True, 0, True), (False, 0, False), (True, 40, False)]
)
def test_dates_that_only_the_youngest_rows_lack_make_a_hub_of_a_table_that_nobody_refers_to(
    is_recent: bool, skipped: int, is_hub: bool
) -> None:
    """A date that is missing in rows of any age is an optional remark on an event."""
    sale = "sale *id, customer_id > customer, product_id > product, sold date, returned date?"
    order = DateOrder("sale", "sold", "returned", 60, 60, 10, skipped, is_recent)
    model = vault(source(f"{TWO_HUBS} {sale}"), observations=Observations(date_orders=(order,)))
    assert ("sale" in {hub.entity_name for hub in model.hubs}) == is_hub


@pytest.mark.parametrize(("open_", "kind"), [(40, "standard"), (0, "transactional")])
def test_what_ends_later_is_updated_and_no_transaction(open_: int, kind: str) -> None:
    """A meter's installation gets the day of its removal, so its link keeps a history."""
    meter = "stay *customer_id > customer, *product_id > product, *installed date, removed date?"
    order = DateOrder("stay", "installed", "removed", 60, 60, open_, 0, open_is_recent=False)
    model = vault(source(f"{TWO_HUBS} {meter}"), observations=Observations(date_orders=(order,)))
    (link,) = (link for link in model.links if link.table == "stay")
    assert link.link_type == kind
