"""Columns as the page shows them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.profiling.profile import (
    ColumnProfile,
    HistogramBin,
    Profile,
    Quantiles,
    TableProfile,
    ValueCount,
)
from fluid_build.report.page.column_cards import (
    BAR_HEIGHT,
    ColumnCard,
    column_cards,
    histogram_path,
)
from fluid_build.report.page.lineage import RelationColumn
from fluid_build.report.view import source_view

PRICE = ColumnProfile(
    name="price",
    type="DECIMAL(10,2)",
    rows=200,
    nulls=0,
    distinct=150,
    min="1.00",
    max="99.00",
    mean="40.5",
    quantiles=Quantiles(p05="2", p25="10", p50="40", p75="70", p95="95"),
    histogram=(
        HistogramBin(low="1", high="50", count=120),
        HistogramBin(low="50", high="99", count=80),
    ),
)


def card_of(column: ColumnProfile) -> ColumnCard:
    table = TableProfile(name="products", rows=column.rows, columns=(column,))
    profile = Profile(source_kind="duckdb", source_name="shop", tables=(table,))
    (card,) = column_cards(source_view(profile).tables[0], (), {})
    return card


@pytest.mark.parametrize(
    ("rows", "nulls", "share"),
    [
        (0, 0, "no rows"),
        (1000, 0, "never null"),
        (1000, 1, "<1% null"),
        (1000, 500, "50% null"),
        (1000, 999, ">99% null"),
        (1000, 1000, "always null"),
    ],
)
def test_a_share_of_nulls_never_looks_like_none_or_all(rows: int, nulls: int, share: str) -> None:
    """One null in a thousand rows isn't rounded to zero."""
    column = ColumnProfile(name="note", type="VARCHAR", rows=rows, nulls=nulls, distinct=1)
    assert card_of(column).nulls == share


def test_statistics_are_listed_with_their_names() -> None:
    """Mean, median and bounds are figures of the column."""
    figures = dict(card_of(PRICE).figures)
    assert (figures["Mean"], figures["Median"], figures["Maximum"]) == ("40.5", "40", "99.00")


def test_statistics_of_a_sample_say_so() -> None:
    """What was counted on a sample is about right, and the card says on how many rows."""
    column = PRICE.model_copy(update={"statistics_sample": 100})
    card = card_of(column)
    assert dict(card.figures)["Median"] == "about 40"
    assert card.counted_on == "counted on 100 sampled rows"


def test_an_estimate_has_no_more_digits_than_a_sample_shows() -> None:
    quantiles = Quantiles(p05="2", p25="10", p50="40.123456789", p75="70", p95="95")
    column = PRICE.model_copy(update={"statistics_sample": 100, "quantiles": quantiles})
    assert dict(card_of(column).figures)["Median"] == "about 40.1235"


def test_personal_columns_show_no_value() -> None:
    """No bound, statistic, bar or frequent value of a personal column is in its card."""
    values = {"pii": True, "top_values": (ValueCount(value="secret", count=9),)}
    card = card_of(PRICE.model_copy(update=values))
    assert (card.bars, card.values, card.range) == ("", (), None)
    assert {name for name, _ in card.figures} == {"Rows", "Null", "Distinct"}


def test_values_that_are_frequent_by_chance_are_not_listed() -> None:
    """A value that occurs once is no frequent value."""
    column = ColumnProfile(
        name="code",
        type="VARCHAR",
        rows=2,
        nulls=0,
        distinct=2,
        top_values=(ValueCount(value="A", count=1), ValueCount(value="B", count=1)),
    )
    assert card_of(column).values == ()


def test_a_column_says_what_the_model_makes_of_it() -> None:
    """The columns of the model that are made of a source column are named with it."""
    table = TableProfile(name="products", rows=200, columns=(PRICE,))
    profile = Profile(source_kind="duckdb", source_name="shop", tables=(table,))
    fact = RelationColumn("model-fct_sales", "fct_sales", "price")
    (card,) = column_cards(source_view(profile).tables[0], (), {("products", "price"): [fact]})
    assert card.becomes == (fact,)


@given(st.lists(st.integers(0, 10**9), max_size=40))
def test_a_bar_is_as_high_as_its_share_of_the_tallest(counts: list[int]) -> None:
    """Every bin with rows has a bar that is seen and stays in the drawing."""
    path = histogram_path([HistogramBin(low="0", high="1", count=count) for count in counts])
    bars = [bar for bar in path.split("z") if bar]
    assert len(bars) == sum(count > 0 for count in counts)
    heights = [float(bar.split("v-")[1].split("h")[0]) for bar in bars]
    assert all(1 <= height <= BAR_HEIGHT for height in heights)


@pytest.mark.parametrize(("sample", "percent"), [(None, 10.0), (50, 40.0)])
def test_the_share_of_a_value_is_of_the_rows_that_were_counted(
    sample: int | None, percent: float
) -> None:
    """In a sample a value occurs more rarely, and its share is the same."""
    column = ColumnProfile(
        name="city",
        type="VARCHAR",
        rows=200,
        nulls=0,
        distinct=5,
        sample=sample,
        top_values=(ValueCount(value="Rome", count=20), ValueCount(value="Oslo", count=4)),
    )
    assert [value.percent for value in card_of(column).values] == [percent, percent / 5]
