"""Tables of totals that aren't built, and the way back to them."""

from pathlib import Path

from tests.transform.dimensional.stars import star

_SALES = (
    "CREATE TABLE product AS SELECT i AS product_id, 'Product ' || i AS product_name,"
    " 'Family ' || (i % 4) AS family FROM range(40) r(i)",
    "CREATE TABLE sale AS SELECT i AS sale_id, (i * 31) % 40 AS product_id,"
    " DATE '2024-01-01' + CAST(i % 300 AS INTEGER) AS sold_on, (i * 37) % 1000 / 100 AS amount"
    " FROM range(4000) r(i)",
    "CREATE TABLE family_totals AS SELECT family, month(sold_on) AS month,"
    " round(sum(amount), 2) AS amount, count(*) AS sales_count"
    " FROM sale JOIN product USING (product_id) GROUP BY ALL",
)


def test_totals_are_left_out_and_computed_again_by_the_proof(tmp_path: Path) -> None:
    """The star has no relation for them, and yet nothing is lost."""
    with star(tmp_path, _SALES) as shop:
        (totals,) = shop.star.left_out
        assert (totals.name, totals.detail) == ("family_totals", "sale")
        assert "all 40 rows have the computed amount and sales_count" in totals.reason
        assert not any("totals" in build.name for build in shop.plan.published)
        assert shop.failures() == []
        (proof,) = (table for table in shop.proof().tables if table.table == "family_totals")
        assert (proof.missing, proof.unexpected) == (0, 0)


def test_totals_of_one_period_are_computed_from_its_rows(tmp_path: Path) -> None:
    """Sales of several years have a total of one of them."""
    by_year = (
        *_SALES[:2],
        "CREATE TABLE sales AS SELECT *, CASE WHEN sale_id % 3 = 0 THEN '2023' ELSE '2024' END"
        " AS period FROM sale",
        "DROP TABLE sale",
        "CREATE TABLE family_totals_2024 AS SELECT family, round(sum(amount), 2) AS amount,"
        " count(*) AS sales_count FROM sales JOIN product USING (product_id)"
        " WHERE period = '2024' GROUP BY ALL",
    )
    with star(tmp_path, by_year) as shop:
        (totals,) = shop.star.left_out
        assert totals.reason.startswith("An aggregate of sales where period is 2024 by family")
        assert shop.failures() == []
        (proof,) = (table for table in shop.proof().tables if "totals" in table.table)
        assert (proof.missing, proof.unexpected) == (0, 0)


def test_totals_that_no_longer_add_up_fail_the_proof(tmp_path: Path) -> None:
    """A later change of a total is shown as lost, since nothing holds it."""
    with star(tmp_path, _SALES) as shop:
        shop.change("UPDATE shop.family_totals SET amount = amount + 1 WHERE family = 'Family 1'")
        shop.load()
        assert shop.failures() != []


def test_inexact_totals_stay_a_table_of_the_star(tmp_path: Path) -> None:
    """What isn't derived to the last row would be lost."""
    wrong = "UPDATE family_totals SET amount = amount + 1 WHERE family = 'Family 1' AND month = 2"
    with star(tmp_path, (*_SALES, wrong)) as shop:
        assert shop.star.left_out == ()
        assert shop.failures() == []
