"""Marts as they are built: every row once, every key on one member, and the way back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fluid_build.modeling.dimensional.elements import UNKNOWN_KEY
from fluid_build.modeling.logical import LogicalModel, model_json
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.dimensional.shop import SHOP
from tests.transform.dimensional.stars import Star, star


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Star]:
    with star(tmp_path_factory.mktemp("shop"), SHOP) as found:
        yield found


@pytest.mark.parametrize("variant", ["galaxy", "snowflake", "wide"])
def test_every_variant_is_proven(tmp_path: Path, variant: str) -> None:
    """Rows, sums, references and values agree, every test holds, a second load adds nothing."""
    with star(tmp_path, SHOP, variant=variant) as found:
        assert found.proof().verdict == "proven"
        assert found.failures() == []
        assert found.load() == {}


def test_each_dimension_has_its_members_and_the_unknown_one(shop: Star) -> None:
    """A member for each row of its table, and the unknown member."""
    sizes = shop.sizes()
    assert sizes["dim_customer"] == 31
    assert sizes["dim_region"] == 4
    assert shop.rows(f"SELECT name FROM model.dim_tag WHERE tag_key = '{UNKNOWN_KEY}'") == [
        ("Unknown",)
    ]


def test_what_has_no_member_lands_on_the_unknown_one(shop: Star) -> None:
    """Orders without a receiver are counted, under nobody."""
    (found,) = shop.rows(
        f"SELECT count(*) FROM model.fct_orders WHERE ship_customer_key = '{UNKNOWN_KEY}'"
    )
    (wanted,) = shop.rows("SELECT count(*) FROM source.orders WHERE ship_customer_id IS NULL")
    assert found == wanted != (0,)


def test_measures_of_a_header_are_not_repeated_on_its_lines(shop: Star) -> None:
    """The freight of all orders is the same whichever way it is grouped."""
    assert shop.rows(
        "SELECT sum(freight) FROM model.fct_orders JOIN model.dim_customer USING (customer_key)"
    ) == shop.rows("SELECT sum(freight) FROM source.orders")
    columns = {one.name for one in shop.plan.build("fct_order_line").columns}
    assert "freight" not in columns


def test_lines_are_grouped_by_the_customer_of_their_order(shop: Star) -> None:
    """The same answer as by hand."""
    ours = shop.rows(
        "SELECT c.segment, d.year_number, sum(l.quantity) FROM model.fct_order_line l"
        " JOIN model.dim_customer c USING (customer_key)"
        " JOIN model.dim_date d ON l.order_date_key = d.date_key GROUP BY ALL ORDER BY ALL"
    )
    by_hand = shop.rows(
        "SELECT c.segment, year(o.order_date), sum(l.quantity) FROM source.order_line l"
        " JOIN source.orders o ON l.order_id = o.id JOIN source.customer c ON o.customer_id = c.id"
        " GROUP BY ALL ORDER BY ALL"
    )
    assert ours == by_hand


def test_the_calendar_has_every_day_of_the_years_that_occur(shop: Star) -> None:
    """Days on which nothing happened can be seen."""
    days = "FROM model.dim_date WHERE full_date IS NOT NULL"
    assert shop.rows(f"SELECT count(*), min(full_date), max(full_date) {days}") == shop.rows(
        "SELECT 366, DATE '2024-01-01', DATE '2024-12-31'"
    )
    assert shop.rows(
        "SELECT date_key, month_name, day_name, week_start_date, is_weekend FROM model.dim_date"
        " WHERE full_date = DATE '2024-02-29'"
    ) == shop.rows("SELECT 20240229, 'February', 'Thursday', DATE '2024-02-26', FALSE")


def test_two_plans_of_a_model_are_the_same(shop: Star) -> None:
    """The plan follows from the model, and from nothing else."""
    read_back = LogicalModel.model_validate_json(model_json(shop.model))
    assert transform_plan(read_back) == shop.plan


def test_a_loss_is_seen(tmp_path: Path) -> None:
    """A line that goes missing, a changed measure and a wrong key do not pass."""
    with star(tmp_path, SHOP) as found:
        found.change("DELETE FROM model.fct_order_line WHERE order_id = 1 AND line_no = 1")
        found.change("UPDATE model.fct_payment SET amount = amount + 1 WHERE id = 7")
        found.change(
            "UPDATE model.fct_orders SET customer_key ="
            " (SELECT max(customer_key) FROM model.dim_customer) WHERE id = 3"
        )
        verdicts = {one.table: one.verdict for one in found.proof().tables}
    lost = {table for table, verdict in verdicts.items() if verdict == "lost"}
    assert lost == {"order_line", "payment", "orders"}


def test_wrong_columns_of_a_member_are_noticed(tmp_path: Path) -> None:
    """A lookup's name that went astray in the dimension it was collapsed into."""
    with star(tmp_path, SHOP) as found:
        found.change("UPDATE model.dim_product SET category_name = 'x' WHERE id = 3")
        verdicts = {one.table: one.verdict for one in found.proof().tables}
    assert verdicts["product"] == "lost"
