"""Measures are quantities: counted, weighed, timed, paid or read from a scale; codes aren't."""

import pytest

from fluid_build.modeling.measures import holds_names, is_category_name, profile_measures
from fluid_build.modeling.measures.roles import MeasureRole, table_measures
from fluid_build.profiling.profile import ColumnProfile, TableProfile
from tests.modeling.profiles import column, profile, table, values

SPREAD: dict[str, object] = {"distinct": 30, "min": "5", "max": "9000"}
"""Values that may be amounts: they repeat, and are scattered."""


def measure(name: str, type_: str = "BIGINT", **facts: object) -> MeasureRole | None:
    return table_measures(table("t", column(name, type_, **{**SPREAD, **facts})), set()).get(name)


def role(name: str, type_: str = "BIGINT", **facts: object) -> str | None:
    result = measure(name, type_, **facts)
    return result and f"{result.aggregation} {result.additivity}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("TotalAmount", "sum additive"),
        ("qty_sold", "sum additive"),
        ("num_passengers", "sum additive"),
        ("goals_against", "sum additive"),
        ("delay_minutes", "sum additive"),
        ("shipping_weight", "sum additive"),
        ("extended_price", "sum additive"),
        ("sales_last_year", "sum additive"),
        ("UnitPrice", "avg non-additive"),
        ("standardcost", "avg non-additive"),
        ("exchange_rate", "avg non-additive"),
        ("temperature", "avg non-additive"),
        ("patient_weight", "avg non-additive"),
        ("miles_per_gallon", "avg non-additive"),
        ("valuenum", "avg non-additive"),
        ("max_speed", "max non-additive"),
        ("minorderqty", "min non-additive"),
        ("average_wait", "avg non-additive"),
        ("units_in_stock", "avg semi-additive"),
        ("quantity_on_hand", "avg semi-additive"),
        ("population", "avg semi-additive"),
        ("salary", "avg semi-additive"),
        ("sales_ytd", "avg semi-additive"),
        ("members_joined", "sum additive"),
        ("number_of_employees", "avg semi-additive"),
        ("total_assets", "avg semi-additive"),
        ("UnitsOnOrder", "avg semi-additive"),
        ("downtime_min", "sum additive"),
        ("rainfall", "sum additive"),
    ],
)
def test_the_name_says_how_a_quantity_adds_up(name: str, expected: str) -> None:
    """Quantities add up; prices, ratios, scales and extremes don't, and levels not over time."""
    assert role(name, "DECIMAL(10,2)") == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Menge", "sum additive"),
        ("Rechnungsbetrag", "sum additive"),
        ("Anzahl_Tage", "sum additive"),
        ("Einzelpreis", "avg non-additive"),
        ("Kontostand", "avg semi-additive"),
        ("quantité", "sum additive"),
        ("montant_ttc", "sum additive"),
        ("prix_unitaire", "avg non-additive"),
        ("taux_tva", "avg non-additive"),
        ("precio_unitario", "avg non-additive"),
        ("importe_total", "sum additive"),
        ("ore_lavorate", "sum additive"),
        ("puntos_por_partido", "avg non-additive"),
        ("prezzo", "avg non-additive"),
        ("giacenza", "avg semi-additive"),
        ("valor_total", "sum additive"),
        ("ilość", "sum additive"),
        ("cena_netto", "avg non-additive"),
        ("adet", "sum additive"),
        ("bakiye", "avg semi-additive"),
    ],
)
def test_names_in_other_languages_say_the_same(name: str, expected: str) -> None:
    assert role(name, "DECIMAL(10,2)") == expected


@pytest.mark.parametrize(
    "name",
    """
    start_date invoice_number OrderYear month_opened zip line_no source_id_1 code2 fk_stock
    seq_region_start numero_de_orden TYP_UMOWY sort_order shirt_number check_out_time position
    date_submitted cod_venta is_current data_urodzenia id_checksum version orderstatus taxtype
    district last_payment_month sales_by_region_code
    """.split(),
)
def test_what_identifies_orders_dates_or_places_is_no_measure(name: str) -> None:
    assert role(name) is None


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, "sum additive"),
        ({"distinct": 2, "min": "0", "max": "1"}, None),
        ({"distinct": 100, "min": "1", "max": "100"}, None),
        ({"distinct": 100, "min": "17", "max": "9000000"}, "sum additive"),
        ({"distinct": 0, "nulls": 100}, None),
        ({"distinct": 6, "min": "1", "max": "97"}, None),
        ({"distinct": 30, "min": "1985", "max": "2018"}, None),
        ({"distinct": 30, "min": "10023", "max": "98770"}, None),
        ({"distinct": 30, "min": "1680336000000", "max": "1795229134903"}, None),
        ({"distinct": 30, "min": "1", "max": "30"}, None),
        ({"distinct": 30, "min": "-15", "max": "14"}, "sum additive"),
        ({"rows": 19, "distinct": 9}, None),
        ({"semantic_type": "year"}, None),
        ({"pii": True}, None),
    ],
    ids=[
        "scattered", "flag", "row number", "sparse", "empty", "few values", "years", "digits",
        "epoch", "full range", "negative", "few rows", "meaning", "personal",
    ],
)  # fmt: skip
def test_values_decide_where_the_name_says_nothing(
    facts: dict[str, object], expected: str | None
) -> None:
    """Assigned numbers are close together or of one width; measured ones are scattered."""
    assert role("ab", **facts) == expected


@pytest.mark.parametrize(
    ("top", "high", "expected"),
    [
        ({"0": 60, "1": 25, "2": 10, "3": 5}, "3", "sum additive"),
        ({"2": 60, "0": 25, "3": 10, "1": 5}, "3", None),
    ],
)
def test_counted_values_become_rarer_as_they_grow(
    top: dict[str, int], high: str, expected: str | None
) -> None:
    """Few values are a list of codes unless zero is the most frequent, then one, then two."""
    facts = {"distinct": 4, "min": "0", "max": high, "top_values": values(**top)}
    assert role("ab", **facts) == expected


def test_values_around_a_mean_are_measured_though_they_fill_their_range() -> None:
    """The most frequent of sixty wins are close together; those of sixty codes aren't."""
    facts: dict[str, object] = {"rows": 1000, "distinct": 60, "min": "1", "max": "60"}
    around = values(**{str(number): 40 for number in range(25, 35)})
    apart = values(**{str(number): 40 for number in range(3, 60, 6)})
    assert role("w", **facts, top_values=around) == "sum additive"
    assert role("w", **facts, top_values=apart) is None


def test_the_largest_table_says_what_a_name_means_in_smaller_ones() -> None:
    """A column of few values is measured where the same name clearly is elsewhere."""
    season = table("season", column("HR", rows=9000, distinct=70, min="0", max="700"))
    final = table("final", column("hr", distinct=4, min="0", max="4"))
    measures = profile_measures(profile(season, final), {"season": set(), "final": set()})
    assert set(measures["final"]) == {"hr"}


def test_a_level_is_a_scale_unless_its_values_are_a_short_list() -> None:
    """The level of a battery is read, that of a class is assigned."""
    assert role("battery_level", rows=1000, max="100") == "avg non-additive"
    assert role("course_level", rows=1000, distinct=4, min="1", max="4") is None


def test_digits_in_text_are_no_measure_unless_the_name_says_so() -> None:
    """Whole numbers that are stored as text are mostly codes."""
    assert role("extension", "VARCHAR", measured_type="BIGINT") is None
    assert role("quantity", "VARCHAR", measured_type="BIGINT") == "sum additive"
    assert role("quantity", "VARCHAR", measured_type="DOUBLE", max_length=40) is None


def test_whole_numbers_of_a_type_with_fractions_are_read_by_name_too() -> None:
    """A code that some tool stored as a float is still a code."""
    facts: dict[str, object] = {"min": "1.0", "max": "99.0", "distinct": 9}
    assert role("shirt_number", "DOUBLE", **facts) is None
    assert role("visit_id", "DOUBLE", **facts) is None
    assert role("reading", "DOUBLE", **facts) == "avg non-additive"


def test_fractions_between_nought_and_one_are_averaged() -> None:
    """A share does not add up."""
    assert role("tax", "DOUBLE", min="0.05", max="0.2") == "avg non-additive"


@pytest.mark.parametrize(
    ("name", "type_", "high", "expected"),
    [
        ("royalty", "INTEGER", "24", "avg non-additive"),
        ("royaltyper", "INTEGER", "100", "avg non-additive"),
        ("royalty", "INTEGER", "100", "avg non-additive"),
        ("royalty", "INTEGER", "101", "sum additive"),
        ("vat", "INTEGER", "19", "avg non-additive"),
        ("royalty", "DECIMAL(8,2)", "90.50", "sum additive"),
        ("tax_amount", "INTEGER", "90", "sum additive"),
        ("total_tax", "INTEGER", "90", "sum additive"),
    ],
)
def test_percentages_of_money_are_averaged_and_amounts_added_up(
    name: str, type_: str, high: str, expected: str
) -> None:
    """Whole numbers up to a hundred under a name that may mean either are percentages."""
    assert role(name, type_, distinct=9, max=high) == expected


def in_table(name: str, *columns: ColumnProfile, **facts: object) -> dict[str, str]:
    described: TableProfile = table(name, *columns, **facts)
    return {name: role.additivity for name, role in table_measures(described, set()).items()}


def test_a_quantity_in_a_table_of_stock_is_a_level() -> None:
    quantity = column("quantity", **SPREAD)
    assert in_table("warehouse_stock", quantity) == {"quantity": "semi-additive"}
    assert in_table("stock_movements", quantity) == {"quantity": "additive"}
    assert in_table("inventory_parts", quantity) == {"quantity": "additive"}


@pytest.mark.parametrize(
    ("key", "additivity"), [("pay_date", "additive"), ("worker_id", "non-additive")]
)
def test_what_was_used_up_adds_up_where_a_row_is_for_a_period(key: str, additivity: str) -> None:
    """In the row of a person, it's as of now, or a share."""
    leave = column("leave_accrued", "DOUBLE", distinct=1, min="1.0", max="1.0")
    used = column("ferie_maturato", "DOUBLE", **SPREAD)
    expected = {"leave_accrued": additivity, "ferie_maturato": additivity}
    assert in_table("payroll_lines", leave, used, primary_key=(key,)) == expected


@pytest.mark.parametrize("name", ["shop_invoice", "Rechnung", "client_facture"])
def test_a_fraction_that_is_called_like_a_bill_is_an_amount(name: str) -> None:
    """A whole number may be the bill's."""
    assert role(name, "DOUBLE", min="0.5", max="99.25") == "sum additive"
    assert role(name, distinct=100, min="1", max="100") is None


@pytest.mark.parametrize("name", ["value_as_number", "result_num", "ValueNumber"])
def test_a_value_as_a_number_is_a_reading(name: str) -> None:
    """Values of many tests stand in one column; whole ones may be the number of a value."""
    assert role(name, "DOUBLE", min="0.5", max="99.25") == "avg non-additive"
    assert role("account_number", "DOUBLE", min="0.5", max="99.25") is None


@pytest.mark.parametrize(
    ("name", "additivity"),
    [
        ("UnitsBalance", "semi-additive"),
        ("UnitsIn", "additive"),
        ("UnitsOut", "additive"),
        ("qty_received", "additive"),
        ("stock_added", "additive"),
        ("entradas_unidades", "additive"),
        ("ZugangMenge", "additive"),
        ("units_in_transit", "semi-additive"),
        ("credit_balance", "semi-additive"),
        ("UnitCost", "non-additive"),
    ],
)
def test_what_moved_in_a_period_adds_up_next_to_a_stock(name: str, additivity: str) -> None:
    """The stock at the end of each month doesn't add up over time, and what came in does."""
    roles = table_measures(table("stock_by_month", column(name, **SPREAD)), set())
    assert roles[name].additivity == additivity


@pytest.mark.parametrize(
    "name",
    ["visitdy", "LFPOS", "weight_units", "decimal_places", "show_on_list", "sort_weight"],
)
def test_study_days_positions_and_units_of_measure_are_no_measures(name: str) -> None:
    assert role(name) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("winner_ht", "avg non-additive"),
        ("total_ht", "sum additive"),
        ("pu_ht", "avg non-additive"),
        ("stdcost", "avg non-additive"),
        ("ovgst", "sum additive"),
        ("newqoh", "avg semi-additive"),
    ],
)
def test_short_words_are_read_by_those_next_to_them(name: str, expected: str) -> None:
    """An amount in ht is one without tax; ht of anything else is a height."""
    assert role(name, "DECIMAL(10,2)") == expected


def test_whether_something_is_allowed_is_no_count() -> None:
    """Up to three answers are a code; goals that a team allowed are counted."""
    assert role("bikes_allowed", distinct=3, min="0", max="2") is None
    assert role("goals_allowed") == "sum additive"


def test_the_score_of_a_side_of_a_match_adds_up() -> None:
    """Any other score is on a scale."""
    assert role("home_score") == role("WScore") == "sum additive"
    assert role("credit_score") == role("score") == "avg non-additive"


def test_few_numbers_of_a_wide_range_in_many_rows_are_codes() -> None:
    """Measured numbers as far apart occur once each, unless they're rounded."""
    facts: dict[str, object] = {"rows": 300, "distinct": 14, "min": "43", "max": "901"}
    uneven, rounded = values(**{"833": 40, "129": 30}), values(**{"800": 40, "100": 30})
    assert role("sisp", **facts, top_values=uneven) is None
    assert role("sisp", **facts, top_values=rounded) == "sum additive"


def test_whole_numbers_that_end_at_100_are_averaged() -> None:
    """They may be percentages where the name says nothing."""
    assert role("rough", min="0", max="100") == "avg non-additive"


def test_points_of_a_ranking_are_on_a_scale() -> None:
    assert role("winner_rank_points") == "avg non-additive"
    assert role("points") == "sum additive"


def test_columns_that_differ_in_a_number_add_up_alike() -> None:
    small = column("localtax1", "DECIMAL(8,2)", distinct=3, min="0", max="0.5", top_values=())
    large = column("localtax2", "DECIMAL(8,2)", **SPREAD)
    assert in_table("invoice", small)["localtax1"] == "non-additive"
    assert in_table("invoice", small, large)["localtax1"] == "additive"


def test_points_in_a_league_table_hold_all_that_came_before() -> None:
    points = column("points", **SPREAD)
    assert in_table("driver_standings", points) == {"points": "semi-additive"}
    assert in_table("race_results", points) == {"points": "additive"}


def test_a_price_adds_up_where_each_row_is_a_single_piece() -> None:
    """Without a column that counts units, a line is one piece, and its price an amount."""
    price, quantity = column("price", **SPREAD), column("quantity", **SPREAD)
    assert in_table("order_line", price)["price"] == "additive"
    assert in_table("order_line", price, quantity)["price"] == "non-additive"
    assert in_table("price_list", price)["price"] == "non-additive"


def test_a_price_that_was_paid_on_a_date_adds_up() -> None:
    paid = column("sale_price", **SPREAD)
    assert in_table("cars", paid, column("sold_on", "DATE"))["sale_price"] == "additive"
    assert in_table("cars", paid)["sale_price"] == "non-additive"


def test_pay_adds_up_only_where_the_key_names_its_period() -> None:
    """A salary since a date is a level; the salary of a season was paid in it."""
    pay, season = column("salary", **SPREAD), column("yearID", distinct=9)
    assert in_table("salaries", pay)["salary"] == "semi-additive"
    keyed = in_table("salaries", season, pay, primary_key=("yearID",))
    assert keyed["salary"] == "additive"


def test_a_weight_next_to_a_height_is_of_one_body() -> None:
    weight, height = column("weight", **SPREAD), column("height", **SPREAD)
    assert in_table("player", weight)["weight"] == "additive"
    assert in_table("player", weight, height)["weight"] == "non-additive"


def test_key_columns_are_no_measures() -> None:
    """What identifies or refers isn't added up."""
    assert table_measures(table("t", column("amount", **SPREAD)), {"amount"}) == {}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("lineamount", "sum additive"),
        ("qtyreceived", "sum additive"),
        ("discountpct", "avg non-additive"),
        ("percentage", "avg non-additive"),
        ("fxrate", "avg non-additive"),
        ("prate", "sum additive"),
        ("day_count", "sum additive"),
        ("unit_price_total", "sum additive"),
        ("price_rate_total", "avg non-additive"),
        ("seatsmax", "max non-additive"),
        ("vitamin", "sum additive"),
    ],
)
def test_words_are_read_also_where_they_are_written_together(name: str, expected: str) -> None:
    assert role(name) == expected


@pytest.mark.parametrize("type_", ["VARCHAR", "DATE", "BOOLEAN", "UUID", "VARCHAR[]"])
def test_only_numbers_are_measures(type_: str) -> None:
    assert role("amount", type_) is None


@pytest.mark.parametrize(("meaning", "expected"), [("money", "sum"), ("percentage", "avg"),
                                                   ("latitude", None)])  # fmt: skip
def test_the_meaning_of_values_comes_before_their_name(meaning: str, expected: str | None) -> None:
    result = measure("amount", "DOUBLE", semantic_type=meaning)
    assert (result.aggregation if result else None) == expected


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("amount", "'amount' adds up"),
        ("wins", "'wins' is read as a count of what happened"),
        ("hourly_rate", "'rate' is read as a ratio, or as what one unit of something costs"),
        ("unit_price", "'price' is for one unit, and adds up only times a quantity"),
        ("stock", "'stock' is a level, which adds up across everything except time"),
        ("ab", "30 different whole numbers from 5 to 9000 look measured"),
    ],
)  # fmt: skip
def test_a_measure_says_why_it_adds_up_or_not(name: str, reason: str) -> None:
    result = measure(name)
    assert result is not None
    assert result.reason == reason


@pytest.mark.parametrize(
    ("name", "choices"),
    [("ab", ["a code"]), ("reading", ["an amount"]), ("salary", ["a payment"]), ("amount", [])],
)
def test_a_measure_keeps_the_choices_that_lost(name: str, choices: list[str]) -> None:
    """Where an expert would see no other choice there is none."""
    result = measure(name)
    assert result is not None
    assert [alternative.choice for alternative in result.alternatives] == choices


def test_categories_and_names_are_known_by_their_last_word() -> None:
    """A status is a code, a product name is open, the name of a day is not."""
    assert is_category_name("order_status")
    assert is_category_name("IsActive")
    assert not is_category_name("status_date")
    assert holds_names("ProductName")
    assert not holds_names("day_name")


@pytest.mark.parametrize("name", ["c3", "total_amount", "qty"])
@pytest.mark.parametrize("meaning", ["device_id", "national_id", "checked_number", "ean"])
def test_an_identifier_with_a_check_digit_is_no_measure(name: str, meaning: str) -> None:
    """Whatever its name says."""
    is_personal = meaning.endswith("_id")
    assert measure(name, semantic_type=meaning, pii=is_personal) is None
    assert measure(name) is not None or name == "c3"
