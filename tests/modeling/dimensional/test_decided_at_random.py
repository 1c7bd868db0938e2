"""Whatever is decided about a star: it's proven, and each decision is followed or refused."""

from collections.abc import Iterator
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.decisions.language import (
    Additivity,
    AnyDecision,
    Classify,
    Grain,
    Measure,
    Merge,
    Role,
    Split,
)
from fluid_build.forging.options import ForgeOptions
from fluid_build.forging.stages import decide, design, look_closer, prove
from fluid_build.modeling.dimensional.elements import Variant
from tests.examples import dear_property
from tests.modeling.dimensional.decided_shop import Workshop, small_shop, workshop

_COLUMNS = {
    "category": ["id", "name"],
    "product": ["id", "name", "weight", "category_id"],
    "customer": ["id", "name", "city", "balance"],
    "loyalty": ["customer_id", "card", "points"],
    "tag": ["id", "label"],
    "product_tag": ["product_id", "tag_id", "rank"],
    "orders": [
        "id", "customer_id", "ordered", "carrier_code", "carrier_name", "freight", "paid", "gift",
    ],
    "line": ["order_id", "no", "product_id", "quantity", "price"],
    "holiday": ["name", "falls_on"],
    "visit": ["customer_id", "visited", "pages"],
}  # fmt: skip
_INTEGER_KEYS = {
    "category": "id", "product": "id", "customer": "id", "loyalty": "customer_id", "tag": "id",
    "orders": "id",
}  # fmt: skip
_TABLES = st.sampled_from(sorted(_COLUMNS))


@st.composite
def _grains(draw: st.DrawFn) -> Grain:
    table = draw(_TABLES)
    columns = draw(st.lists(st.sampled_from(_COLUMNS[table]), min_size=1, unique=True))
    return Grain(table=table, columns=tuple(columns), despite_violations=draw(st.booleans()))


@st.composite
def _splits(draw: st.DrawFn) -> Split:
    table = draw(st.sampled_from(["orders", "line", "visit", "loyalty", "customer"]))
    columns = draw(st.lists(st.sampled_from(_COLUMNS[table]), min_size=1, unique=True))
    count = draw(st.integers(1, len(columns)))
    return Split(
        table=table,
        columns=tuple(columns[:count]),
        attributes=tuple(columns[count:]),
        entity=draw(st.sampled_from(["carrier", "Date_", "order_flags", "x"])),
        despite_violations=draw(st.booleans()),
    )


@st.composite
def _merges(draw: st.DrawFn) -> Merge:
    table, into = draw(st.lists(st.sampled_from(sorted(_INTEGER_KEYS)), min_size=2, max_size=2,
                                unique=True))  # fmt: skip
    return Merge(
        table=table,
        columns=(_INTEGER_KEYS[table],),
        into_table=into,
        into_columns=(_INTEGER_KEYS[into],),
    )


@st.composite
def _measures(draw: st.DrawFn) -> Measure:
    table = draw(_TABLES)
    return Measure(
        table=table,
        column=draw(st.sampled_from(_COLUMNS[table])),
        additivity=draw(st.sampled_from(get_args(Additivity))),
    )


_DECISIONS = st.lists(
    st.builds(Classify, table=_TABLES, role=st.sampled_from(get_args(Role)))
    | _grains()
    | _splits()
    | _merges()
    | _measures(),
    max_size=8,
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    with workshop(small_shop(tmp_path_factory.mktemp("shop"))) as opened:
        yield opened


@dear_property
@given(decisions=_DECISIONS, variant=st.sampled_from([None, *get_args(Variant)]))
def test_any_decisions_leave_a_star_that_is_proven(
    shop: Workshop, decisions: list[AnyDecision], variant: Variant | None
) -> None:
    options = ForgeOptions(technique="dimensional", variant=variant, decisions=decisions)
    decided = decide(shop.source, shop.profile, options)
    designed = design(decided, look_closer(shop.source, decided.profile), options)
    proof = prove(shop.source, designed, options)
    assert proof.verdict == "proven", proof.reason
    for before, after in zip(decided.verdicts, designed.verdicts, strict=True):
        assert after == before or after.status in {"refused", "unused"}
        assert after.message.endswith(".")
