"""What formulas between columns show of how they add up."""

from fluid_build.modeling.measures import profile_measures
from fluid_build.observations.observe import Observations
from fluid_build.observations.row_formulas import Operation, RowFormula
from fluid_build.profiling.profile import ColumnProfile
from tests.modeling.profiles import column, profile, table


def number(name: str, type_: str = "BIGINT", **facts: object) -> ColumnProfile:
    return column(name, type_, **{"distinct": 30, "min": "5", "max": "9000", **facts})


def formula(result: str, operation: Operation, left: str, right: str) -> RowFormula:
    return RowFormula("t", result, operation, (left, right), "", 100, 99)


def judged(
    *columns: ColumnProfile, formulas: tuple[RowFormula, ...] = ()
) -> dict[str, tuple[str, str]]:
    measures = profile_measures(
        profile(table("t", *columns)), {"t": set()}, Observations(row_formulas=formulas)
    )
    return {name: (role.additivity, role.reason) for name, role in measures["t"].items()}


def test_of_a_product_the_quantity_and_the_result_add_up() -> None:
    """The price doesn't, whatever its name says; the reason has the figures."""
    roles = judged(
        number("qty"),
        number("cost", "DECIMAL(9,2)", min="5.25"),
        number("ab", "DECIMAL(9,2)", min="5.25"),
        formulas=(formula("ab", "product", "qty", "cost"),),
    )
    assert {name: additivity for name, (additivity, _) in roles.items()} == {
        "qty": "additive",
        "cost": "non-additive",
        "ab": "additive",
    }
    assert roles["cost"][1] == (
        "for one unit, as ab is qty times cost in 99 of 100 rows that show it"
    )


def test_a_name_that_the_rows_contradict_is_kept_as_an_alternative() -> None:
    columns = (number("qty"), number("cost", "DECIMAL(9,2)"), number("ab", "DECIMAL(9,2)"))
    product = formula("ab", "product", "qty", "cost")
    measures = profile_measures(
        profile(table("t", *columns)), {"t": set()}, Observations(row_formulas=(product,))
    )
    (lost,) = measures["t"]["cost"].alternatives
    assert lost.choice == "an additive measure"


def test_a_product_of_two_prices_settles_nothing() -> None:
    names = ("price_a", "price_b", "ab")
    columns = [number(name, "DECIMAL(9,2)", min="5.25") for name in names]
    product = formula("ab", "product", "price_a", "price_b")
    assert judged(*columns, formulas=(product,)) == judged(*columns)


def test_the_value_of_stock_is_a_level_like_its_quantity() -> None:
    roles = judged(
        number("stock"),
        number("price", "DECIMAL(9,2)", min="5.25"),
        number("ab", "DECIMAL(9,2)", min="5.25"),
        formulas=(formula("ab", "product", "stock", "price"),),
    )
    assert roles["ab"][0] == "semi-additive"


def test_numbers_that_make_a_sum_are_measured_though_they_are_few() -> None:
    """Games are wins plus losses: few values, but no codes."""
    few: dict[str, object] = {"distinct": 6, "min": "1", "max": "6"}
    columns = [number(name, **few) for name in ("g", "w", "l")]
    assert judged(*columns) == {}
    roles = judged(*columns, formulas=(formula("g", "sum", "w", "l"),))
    assert {additivity for additivity, _ in roles.values()} == {"additive"}


def test_the_difference_of_two_levels_is_a_movement() -> None:
    columns = [
        number("opening_balance", "DECIMAL(9,2)"),
        number("ab", "DECIMAL(9,2)", min="5.25"),
        number("closing_balance", "DECIMAL(9,2)"),
    ]
    sum_ = formula("closing_balance", "sum", "opening_balance", "ab")
    roles = judged(*columns, formulas=(sum_,))
    assert roles["ab"][0] == "additive"
    assert roles["closing_balance"][0] == "semi-additive"


def test_a_part_of_a_price_is_for_one_unit_too() -> None:
    columns = [
        number(name, "DECIMAL(9,2)", min="5.25") for name in ("net_price", "tax", "gross_price")
    ]
    sum_ = formula("gross_price", "sum", "net_price", "tax")
    assert judged(*columns, formulas=(sum_,))["tax"][0] == "non-additive"


def test_codes_arent_made_measures_by_a_formula() -> None:
    """An end is a start plus a length, and still a position."""
    columns = [number(name) for name in ("start", "length", "end")]
    assert set(judged(*columns, formulas=(formula("end", "sum", "start", "length"),))) == {"length"}
