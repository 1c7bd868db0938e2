"""What the row before and the lines of a header show of how a number adds up."""

from fluid_build.modeling.measures import MeasureRole, profile_measures
from fluid_build.observations.header_totals import HeaderTotal
from fluid_build.observations.observe import Observations
from fluid_build.observations.running_levels import RunningLevel
from fluid_build.profiling.profile import ColumnProfile
from tests.modeling.profiles import column, profile, table


def number(name: str, type_: str = "DECIMAL(9,2)") -> ColumnProfile:
    return column(name, type_, distinct=30, min="5.25", max="9000")


def judged(*lines: ColumnProfile, **observed: object) -> dict[str, MeasureRole]:
    tables = table("orders", number("ab")), table("line", *lines)
    keys: dict[str, set[str]] = {"orders": set(), "line": set()}
    observations = Observations(**observed)  # type: ignore[arg-type]
    measures = profile_measures(profile(*tables), keys, observations)
    return {
        f"{name}.{column}": role
        for name, roles in measures.items()
        for column, role in roles.items()
    }


def total(*amounts: str, column: str = "ab") -> HeaderTotal:
    return HeaderTotal("orders", column, "line", amounts, 90, 90)


def test_what_changes_by_a_movement_is_a_level() -> None:
    """The reason has the figures."""
    level = RunningLevel("line", "gh", "kl", "account", "booked", 100, 98)
    roles = judged(number("gh"), number("kl"), running_levels=(level,))
    assert roles["line.gh"].additivity == "semi-additive"
    assert roles["line.kl"].additivity == "additive"
    assert roles["line.gh"].reason == (
        "a level, as gh changes by kl from row to row of one account in 98 of 100 rows"
    )


def test_an_amount_that_a_header_sums_up_adds_up_like_the_total() -> None:
    roles = judged(number("gh"), header_totals=(total("gh"),))
    assert roles["line.gh"].additivity == roles["orders.ab"].additivity == "additive"
    assert roles["orders.ab"].reason == "the sum of line.gh in all 90 rows with several"


def test_a_price_is_an_amount_if_its_total_shows_it_and_no_column_counts_units() -> None:
    """With a quantity that happened to be one, it's still the price of one unit."""
    observed = (total("price"),)
    assert judged(number("price"), header_totals=observed)["line.price"].additivity == "additive"
    quantity = column("qty", distinct=1, min="1", max="1")
    roles = judged(number("price"), quantity, header_totals=observed)
    assert roles["line.price"].additivity == "non-additive"


def test_of_a_total_of_products_one_factor_is_for_one_unit() -> None:
    qty = column("qty", distinct=9, min="1", max="9")
    roles = judged(qty, number("gh"), header_totals=(total("qty", "gh"),))
    assert roles["line.gh"].additivity == "non-additive"
    assert roles["line.qty"].additivity == roles["orders.ab"].additivity == "additive"


def test_a_count_of_lines_adds_up() -> None:
    roles = judged(number("gh"), header_totals=(total(),))
    assert roles["orders.ab"].reason == "the number of its line rows in all 90 rows with several"
