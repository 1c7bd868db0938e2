"""What a change of a model means to a reader of the data."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from fluid_build.contract.differences import Comparable, Differences, Level, differences
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling.profile import Profile
from tests.contract.differences.versions import with_
from tests.modeling.profiles import column, profile, profiles, reference, table, values


def dumped(model: LogicalModel) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def parted(old: Any, new: Any) -> Differences:
    """The differences of two models, both of them valid."""
    for document in (old, new):
        LogicalModel.model_validate(document)
    return differences(Comparable("model", Path("old"), old), Comparable("model", Path("new"), new))


@pytest.fixture
def model() -> Any:
    """Customers with states, and orders that refer to them."""
    states = column("state", "VARCHAR", distinct=2, top_values=values(new=60, paid=40))
    measured = profile(
        table("customer", column("id"), column("mail", "VARCHAR", pii=True), primary_key=("id",)),
        table("orders", column("id"), column("customer"), column("total", "DOUBLE"), states),
        foreign_keys=(reference("orders", "customer", "customer", "id"),),
    )
    return dumped(build_model(measured))


ENTITIES = ("conceptual", "entities")
ATTRIBUTES = (*ENTITIES, 1, "attributes")
RELATIONSHIP = ("conceptual", "relationships", 0)
CANDIDATE = {
    "from_entity": "orders",
    "from_attributes": ["id"],
    "to_entity": "customer",
    "to_attributes": ["id"],
    "confidence": 0.4,
    "evidence": {"origin": "measured", "rows": 100},
}


@pytest.mark.parametrize(
    ("path", "value", "levels"),
    [
        ((*ATTRIBUTES, 0, "type"), "integer", {"breaking"}),
        ((*ATTRIBUTES, 0, "type"), "decimal(20,0)", {"additive"}),
        ((*ATTRIBUTES, 0, "required"), False, {"breaking"}),
        ((*ATTRIBUTES, 0, "pii"), True, {"breaking"}),
        ((*ATTRIBUTES, 0, "description"), "Words.", {"cosmetic"}),
        ((*ATTRIBUTES, 0, "evidence", "rows"), 7, {"cosmetic"}),
        ((*ATTRIBUTES, 2, "measure", "aggregation"), "avg", {"breaking"}),
        ((*ATTRIBUTES, 2, "measure", "reason"), "Words.", {"cosmetic"}),
        ((*ATTRIBUTES, 3), None, {"breaking"}),
        ((*ENTITIES, 0, "rows"), 7, {"cosmetic"}),
        ((*ENTITIES, 0, "keys", 0, "attributes"), ["mail"], {"breaking"}),
        ((*ENTITIES, 1), None, {"breaking"}),
        (RELATIONSHIP, None, {"breaking"}),
        ((*RELATIONSHIP, "confidence"), 0.5, {"cosmetic"}),
        (("conceptual", "candidates"), [CANDIDATE], {"cosmetic"}),
        ((*RELATIONSHIP, "from_participation"), "optional", {"breaking"}),
        ((*RELATIONSHIP, "to_attributes"), ["mail"], {"breaking"}),
        (("name",), "store", {"cosmetic"}),
        (("technique",), "dimensional", {"breaking"}),
        (("dv2",), {"hubs": [], "hash_key_strategy": {"algorithm": "md5"}}, {"additive"}),
    ],
)
def test_each_change_has_its_level(
    model: Any, path: tuple[str | int, ...], value: Any, levels: set[Level]
) -> None:
    """Structure and meaning are promises, figures and words are not."""
    found = parted(model, with_(model, *path, value=value))
    assert {change.level for change in found.changes} == levels


def test_accepted_values_that_grow_break(model: Any) -> None:
    """A reader may find a value that wasn't announced."""
    closed = with_(model, *ATTRIBUTES, 3, "accepted_values", value=["new", "paid"])
    wider = with_(model, *ATTRIBUTES, 3, "accepted_values", value=["new", "paid", "void"])
    assert parted(closed, wider).breaks
    assert not parted(wider, closed).breaks


def test_layers_are_compared_element_by_element(model: Any) -> None:
    """A hub is identified by its name, and its business key is a promise."""
    hub = {
        "name": "hub_customer",
        "entity_name": "customer",
        "business_key_columns": ["mail"],
        "business_key_kind": "natural",
        "business_key_origin": "measured",
        "hash_key": "hk",
        "evidence": {"origin": "measured", "rows": 100},
    }
    names = ("hub_customer", "hub_orders")
    old = {**model, "dv2": {"hubs": [{**hub, "name": name} for name in names]}}
    new = with_(old, "dv2", "hubs", 0, "business_key_columns", value=["id"])
    (change,) = parted(old, new).changes
    assert (change.level, change.kind, change.names) == ("breaking", "hub", ("hub_customer",))
    (change,) = parted(old, with_(old, "dv2", "hubs", 1)).changes
    assert (change.level, change.names) == ("breaking", ("hub_orders",))


@settings(max_examples=12)
@given(one=profiles(), other=profiles())
def test_models_differ_both_ways_or_not_at_all(one: Profile, other: Profile) -> None:
    """And a model does not differ from itself."""
    old, new = dumped(build_model(one)), dumped(build_model(other))
    assert parted(old, old).changes == ()
    there, back = parted(old, new).changes, parted(new, old).changes
    assert bool(there) == bool(back) == (old != new)
    mirrored = {(change.kind, change.names, change.field): change.level for change in back}
    for change in there:
        level = mirrored[change.kind, change.names, change.field]
        assert change.level != "additive" or level == "breaking"
        assert (change.level == "cosmetic") == (level == "cosmetic")
