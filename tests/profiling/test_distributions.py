"""Mean, quantiles and histogram describe exactly the values that were counted."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.profiling.measure.distributions import describe_positions
from fluid_build.profiling.measure.figures import Distribution, TableStats
from fluid_build.profiling.measure.number_lines import (
    Axis,
    Days,
    FixedPoint,
    FloatingPoint,
    Moments,
    Position,
)
from tests.profiling.databases import database, measured, measured_column, profiled
from tests.profiling.test_table_measurement import SMALL, SOME_NULL, TYPES, every_type

LARGE_ROWS = 70_000
LARGE = f"range({LARGE_ROWS}) AS t(i)"
DESCRIBED = {
    "tinyint",
    "bigint",
    "ubigint",
    "hugeint",
    "uhugeint",
    "decimal",
    "wide decimal",
    "float",
    "double",
    "date",
    "time",
    "timestamp",
    "timestamptz",
}
WHOLE = st.integers(-(10**38), 10**38) | st.integers(-20, 20)
FLOATS = st.floats() | st.sampled_from([0.0, -0.0, 1.5, 1e308, -1e308, math.inf, math.nan])


def check(axis: Axis, distribution: Distribution, values: list[Position]) -> None:
    """Check what is true of the distribution of any values, none of which is infinite."""
    bins, quantiles = distribution.histogram, distribution.quantiles
    positions = axis.positions(
        (quantiles.p05, quantiles.p25, quantiles.p50, quantiles.p75, quantiles.p95)
    )
    low, high = min(values), max(values)
    assert (bins[0].low, bins[-1].high) == (axis.text(low), axis.text(high))
    assert all(before.high == after.low for before, after in pairwise(bins))
    assert sum(each.count for each in bins) == len(values)
    assert [low, *positions, high] == sorted([low, *positions, high])
    for percent, position in zip((5, 25, 50, 75, 95), positions, strict=True):
        assert 100 * sum(value <= position for value in values) >= percent * len(values)
        assert 100 * sum(value < position for value in values) < percent * len(values)
    for each in bins[:-1]:
        first, end = axis.positions((each.low, each.high))
        assert each.count == sum(first <= value < end for value in values)


@given(st.lists(WHOLE, min_size=1), st.sampled_from([FixedPoint(), FixedPoint(7)]))
def test_whole_numbers_and_decimals_are_described(values: list[int], axis: FixedPoint) -> None:
    distribution = describe_positions(axis, values)
    assert distribution is not None
    check(axis, distribution, list(values))


@given(st.lists(FLOATS), st.booleans())
def test_floats_are_described_without_infinity_and_nan(values: list[float], whole: bool) -> None:
    if whole:
        values = [float(round(value)) for value in values if math.isfinite(value)]
    axis = FloatingPoint(is_integral=whole)
    finite: list[Position] = [value for value in values if math.isfinite(value)]
    distribution = describe_positions(axis, values)
    assert (distribution is None) == (not finite)
    if distribution:
        check(axis, distribution, [value + 0.0 for value in finite])
        assert min(finite) <= float(distribution.mean) <= max(finite)


@given(st.lists(st.integers(-1_500_000, 4_000_000), min_size=1))
def test_dates_are_described(values: list[int]) -> None:
    distribution = describe_positions(Days(), values)
    assert distribution is not None
    check(Days(), distribution, list(values))


@given(st.lists(st.integers(-(10**17), 10**17), min_size=1))
def test_times_are_described(values: list[int]) -> None:
    distribution = describe_positions(Moments(), values)
    assert distribution is not None
    check(Moments(), distribution, list(values))


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 9)), min_size=1))
def test_counted_values_are_described_like_repeated_ones(pairs: list[tuple[int, int]]) -> None:
    values, counts = [value for value, _ in pairs], [count for _, count in pairs]
    repeated = [value for value, count in pairs for _ in range(count)]
    axis = FixedPoint()
    assert describe_positions(axis, values, counts) == describe_positions(axis, repeated)
    floats = [value / 8 for value in values]
    assert describe_positions(FloatingPoint(), floats, counts) == describe_positions(
        FloatingPoint(), [value / 8 for value in repeated]
    )


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("type_", TYPES)
def test_numbers_dates_and_times_of_any_size_are_described(type_: str, size: str) -> None:
    stats = every_type(size, SOME_NULL).column(type_)
    assert (stats.distribution is not None) == (type_ in DESCRIBED)
    if stats.distribution:
        bins = stats.distribution.histogram
        assert str(stats.low) in (bins[0].low, f"{bins[0].low}.0", bins[0].low.partition(".")[0])
        if stats.distribution.sample is None:
            assert sum(each.count for each in bins) == stats.present


def of(expression: str, rows: str = LARGE) -> Distribution:
    """Return the distribution of an expression over ``i``."""
    distribution = measured_column(expression, rows).columns[0].distribution
    assert distribution is not None
    return distribution


@pytest.mark.parametrize(
    "expression",
    [
        "i",
        "i / 7.0",
        "CAST(i AS DECIMAL(12, 2))",
        "DATE '2000-01-01' + CAST(i // 7 AS INTEGER)",
        "TIMESTAMP '2000-01-01' + to_minutes(i)",
        "CAST(i AS VARCHAR)",
        "strftime(DATE '2000-01-01' + CAST(i // 7 AS INTEGER), '%d.%m.%Y')",
    ],
)
def test_a_growing_column_of_a_large_table_has_a_flat_histogram(expression: str) -> None:
    distribution = of(expression)
    counts = [each.count for each in distribution.histogram]
    assert distribution.sample is not None
    assert 2048 <= distribution.sample < 2 * 2048
    assert sum(counts) == distribution.sample
    assert max(counts[1:-1]) <= 1.04 * min(counts[1:-1])


@pytest.mark.parametrize("period", [2, 7, 16, 24, 60, 64, 100, 256, 1000, 1024])
def test_what_repeats_in_a_period_doesnt_hide(period: int) -> None:
    distribution = of(f"i % {period} + CAST(hash(i) % 100 AS DOUBLE) / 1000")
    assert float(distribution.quantiles.p25) == pytest.approx(period / 4, rel=0.08, abs=1)
    assert float(distribution.quantiles.p75) == pytest.approx(period * 3 / 4, rel=0.08, abs=1)


def test_few_values_of_a_large_table_are_all_counted() -> None:
    distribution = of("i % 7")
    assert distribution.sample is None
    assert [each.count for each in distribution.histogram] == [10_000] * 7


def test_the_histogram_of_a_sample_reaches_to_the_bounds_of_all_rows() -> None:
    bins = of("CASE WHEN i = 5 THEN -1000000 WHEN i = 6 THEN 1000000 ELSE i END").histogram
    assert (bins[0].low, bins[-1].high) == ("-1000000", "1000000")


@pytest.mark.parametrize("rows", [SMALL, LARGE], ids=["small", "large"])
def test_dates_outside_of_the_usual_years_are_described(rows: str) -> None:
    odd = "CASE i WHEN 10 THEN DATE '0044-03-15 (BC)' WHEN 11 THEN DATE '12345-01-01'"
    distribution = of(f"{odd} ELSE DATE '2020-01-01' + CAST(i % 900 AS INTEGER) END", rows)
    bins = distribution.histogram
    assert (bins[0].low, bins[-1].high) == ("0044-03-15 (BC)", "12345-01-01")
    assert distribution.quantiles.p50.startswith("2021-")


@pytest.mark.parametrize("infinite", ["'infinity'", "'-infinity'"])
@pytest.mark.parametrize("rows", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("type_", ["DATE", "TIMESTAMP", "DOUBLE"])
def test_infinite_values_are_in_no_bin(type_: str, rows: str, infinite: str) -> None:
    usual = "i / 4" if type_ == "DOUBLE" else "DATE '2020-01-01' + CAST(i % 900 AS INTEGER)"
    distribution = of(
        f"CASE WHEN i % 2 = 0 THEN {infinite}::{type_} ELSE ({usual})::{type_} END", rows
    )
    read = distribution.sample or 1000
    assert sum(each.count for each in distribution.histogram) == pytest.approx(read / 2, rel=0.05)
    assert not any("inf" in text for text in distribution.values())


def test_text_and_numbers_that_hold_dates_are_described_as_dates() -> None:
    for expression in (
        "strftime(DATE '2020-01-01' + CAST(i % 900 AS INTEGER), '%d.%m.%Y') AS ordered",
        "CAST(strftime(DATE '2020-01-01' + CAST(i % 900 AS INTEGER), '%Y%m%d') AS INTEGER) AS day",
    ):
        (column,) = (
            profiled(f"CREATE TABLE t AS SELECT {expression} FROM {SMALL}").tables[0].columns
        )
        assert column.mean == "2021-02-13"
        assert (column.histogram[0].low, column.histogram[-1].high) == ("2020-01-01", "2022-06-18")


def statistics(stats: TableStats) -> list[Distribution | None]:
    return [column.distribution for column in stats.columns]


def test_describing_twice_gives_the_same() -> None:
    first = statistics(every_type(LARGE))
    every_type.cache_clear()
    assert statistics(every_type(LARGE)) == first


@pytest.mark.parametrize(
    "script",
    [
        f"CREATE TABLE base AS SELECT i FROM {LARGE}; CREATE VIEW t AS FROM base",
        f"CREATE TABLE t AS SELECT i, i % 99 AS rowid, i % 77 AS n FROM {LARGE}",
    ],
    ids=["view", "column called rowid"],
)
def test_a_table_without_row_ids_has_the_same_sample(script: str) -> None:
    with database(script) as source:
        distribution = measured(source, "t").columns[0].distribution
    assert distribution is not None
    counts = [each.count for each in distribution.histogram]
    assert max(counts) <= 1.04 * min(counts)


def test_personal_columns_have_no_statistics() -> None:
    script = (
        "CREATE TABLE people AS SELECT i AS id, DATE '1950-01-01' + CAST(i * 17 AS INTEGER) AS"
        f" birth_date, 4111111111111111 AS card_number, i % 90 AS visits FROM {SMALL}"
    )
    table = profiled(script).tables[0]
    for column in table.columns:
        shown = (column.mean, column.quantiles, column.histogram)
        assert (shown == (None, None, ())) == column.pii
    assert table.column("birth_date").pii
