"""SQL names are legal on every target without quotes, and no two the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.modeling.sql_names import (
    RESERVED,
    TECHNICAL,
    fit,
    free_identifier,
    is_reserved,
    legal_names,
    sql_names,
)
from tests.modeling.profiles import NAMES, column, profile, table
from tests.modeling.sources import conceptual


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Order", "order_"), ("load_date", "load_date_"), ("order_", "order_"), ("price", "price")],
)
def test_a_word_that_a_target_or_a_build_needs_gets_an_underscore(name: str, expected: str) -> None:
    assert legal_names([name]) == {name: expected}


@given(st.lists(NAMES, unique=True, max_size=8))
def test_no_legal_name_is_reserved_or_used_twice(names: list[str]) -> None:
    legal = legal_names(names)
    assert len(set(legal.values())) == len(names)
    assert not set(legal.values()) & (RESERVED | TECHNICAL)


def test_a_staging_avoids_a_table_that_is_called_like_one() -> None:
    measured = profile(table("orders", column("id")), table("stg_orders", column("id")))
    result = sql_names(conceptual(measured))
    assert (result.table("orders"), result.staging("orders")) == ("orders", "stg_orders_2")
    assert result.staging("stg_orders") == "stg_stg_orders"


def test_columns_are_named_within_their_table() -> None:
    measured = profile(table("t", column("Group"), column("group")), table("u", column("Group")))
    result = sql_names(conceptual(measured))
    assert result.column("t", "group") == "group_"
    assert result.column("u", "Group") == "group_"
    assert result.columns_of("t", ["group", "Group"])[1].startswith("group_")
    assert len(set(result.columns_of("t", ["group", "Group"]))) == 2


@pytest.mark.parametrize(("length", "is_cut"), [(59, False), (60, True)])
def test_a_prefixed_name_is_cut_to_63_characters(length: int, is_cut: bool) -> None:
    name = fit("hub", "x" * length)
    assert len(name) <= 63
    assert (name != f"hub_{'x' * length}") == is_cut


def test_a_numbered_name_is_cut_as_well() -> None:
    long = "x" * 63
    assert free_identifier(long, {long}) == f"{'x' * 61}_2"


@pytest.mark.parametrize(
    ("name", "expected"), [("SELECT", True), ("is_current", True), ("a", False)]
)
def test_a_reserved_name_is_recognised_however_it_is_spelled(name: str, expected: bool) -> None:
    assert is_reserved(name) == expected
