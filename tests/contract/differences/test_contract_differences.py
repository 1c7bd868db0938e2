"""What a change of a contract means to a reader of the data."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.contract.differences import Level
from fluid_build.contract.differences.differing import next_version
from tests.contract.differences.versions import full, only, parted, with_
from tests.contract.official import Maker, is_valid
from tests.shared import needs_shared

ORDERS = ("exposes", 0)
COLUMNS = (*ORDERS, "contract", "schema")
RULES = (*ORDERS, "contract", "dq", "rules")
SEMANTICS = (*ORDERS, "semantics")
MIRRORED: dict[Level, Level] = {"breaking": "additive", "additive": "breaking"}


@pytest.mark.parametrize(
    ("path", "value", "level", "back"),
    [
        ((*COLUMNS, 0, "type"), "integer", "breaking", "additive"),
        ((*COLUMNS, 0, "type"), "string", "breaking", "breaking"),
        ((*COLUMNS, 0, "type"), "INT8", "cosmetic", "cosmetic"),
        ((*COLUMNS, 1, "type"), "decimal(12,2)", "additive", "breaking"),
        ((*COLUMNS, 1, "type"), "decimal(12,4)", "additive", "breaking"),
        ((*COLUMNS, 1, "type"), "decimal(10,3)", "breaking", "breaking"),
        ((*COLUMNS, 2, "type"), "varchar(20)", "additive", "breaking"),
        ((*COLUMNS, 2, "type"), "string", "additive", "breaking"),
        ((*COLUMNS, 3, "type"), "timestamp", "additive", "breaking"),
        ((*COLUMNS, 0, "required"), False, "breaking", "additive"),
        ((*COLUMNS, 1, "required"), True, "additive", "breaking"),
        ((*COLUMNS, 1, "required"), False, "cosmetic", "cosmetic"),
        ((*COLUMNS, 1, "sensitivity"), "pii", "breaking", "additive"),
        ((*COLUMNS, 1, "sensitivity"), "confidential", "breaking", "additive"),
        ((*COLUMNS, 1, "sensitivity"), "tokenized", "breaking", "breaking"),
        ((*COLUMNS, 2, "semanticType"), "country", "breaking", "breaking"),
        ((*COLUMNS, 1, "semanticType"), "money", "additive", "breaking"),
        ((*COLUMNS, 1, "description"), "What is paid.", "cosmetic", "cosmetic"),
        ((*COLUMNS, 1, "labels"), {"nulls": "3"}, "cosmetic", "cosmetic"),
        ((*RULES, 0, "threshold"), 0.8, "breaking", "additive"),
        ((*RULES, 0, "threshold"), 90, "cosmetic", "cosmetic"),
        ((*RULES, 0, "operator"), ">", "additive", "breaking"),
        ((*RULES, 0, "operator"), "<=", "breaking", "breaking"),
        ((*RULES, 0, "severity"), "error", "additive", "breaking"),
        ((*RULES, 0, "severity"), "info", "breaking", "additive"),
        ((*RULES, 0, "selector"), "state", "breaking", "breaking"),
        ((*RULES, 0, "type"), "uniqueness", "breaking", "breaking"),
        ((*RULES, 0, "labels", "max-violations"), "4", "breaking", "additive"),
        ((*RULES, 0, "labels", "max-violations"), "0", "additive", "breaking"),
        ((*RULES, 0, "labels", "rows"), "99", "cosmetic", "cosmetic"),
        ((*RULES, 1, "labels", "accepted-values"), '["new"]', "additive", "breaking"),
        ((*RULES, 1, "labels", "accepted-values"), '["new", "x"]', "breaking", "breaking"),
        ((*RULES, 1, "labels", "accepted-values"), '["paid", "new"]', "cosmetic", "cosmetic"),
        ((*RULES, 2, "window"), "PT12H", "additive", "breaking"),
        ((*RULES, 2, "window"), "PT24H", "cosmetic", "cosmetic"),
        ((*SEMANTICS, "measures", 0, "agg"), "avg", "breaking", "breaking"),
        ((*SEMANTICS, "measures", 0, "expr"), "net", "breaking", "breaking"),
        ((*SEMANTICS, "measures", 0, "description"), "Sum.", "cosmetic", "cosmetic"),
        ((*SEMANTICS, "dimensions", 0, "type"), "time", "breaking", "breaking"),
        ((*ORDERS, "title"), "All orders", "cosmetic", "cosmetic"),
        ((*ORDERS, "kind"), "view", "breaking", "breaking"),
        ((*ORDERS, "version"), "2.0.0", "cosmetic", "cosmetic"),
        ((*ORDERS, "binding", "location", "table"), "o", "breaking", "breaking"),
        ((*ORDERS, "binding", "location", "schema"), "s", "additive", "breaking"),
        ((*ORDERS, "binding", "properties"), {"x": 1}, "cosmetic", "cosmetic"),
        ((*ORDERS, "qos", "availability"), "99.99%", "additive", "breaking"),
        ((*ORDERS, "qos", "freshnessSLO"), "PT2H", "breaking", "additive"),
        ((*ORDERS, "qos", "errorBudget"), 0.2, "breaking", "additive"),
        ((*ORDERS, "policy", "authz", "readers"), ["hr"], "breaking", "breaking"),
        ((*ORDERS, "lifecycle", "state"), "retired", "breaking", "additive"),
        ((*ORDERS, "lifecycle", "state"), "deprecated", "additive", "additive"),
        ((*ORDERS, "lifecycle", "retention"), "P2Y", "additive", "breaking"),
        (("id",), "store", "breaking", "breaking"),
        (("name",), "Store", "cosmetic", "cosmetic"),
        (("metadata", "owner", "team"), "sales", "cosmetic", "cosmetic"),
        (("consumes",), [{"productId": "p", "exposeId": "e"}], "cosmetic", "cosmetic"),
        (("accessPolicy",), {}, "breaking", "additive"),
    ],
)
def test_each_change_has_its_level_both_ways(
    path: tuple[str | int, ...], value: Any, level: Level, back: Level
) -> None:
    """A reader who upgrades and one who goes back see the two sides of it."""
    old, new = full(), with_(full(), *path, value=value)
    assert only(old, new).level == level
    assert only(new, old).level == back


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (("exposes", 1), "expose"),
        ((*COLUMNS, 3), "column"),
        ((*RULES, 2), "rule"),
        ((*SEMANTICS, "measures", 0), "measure"),
        ((*SEMANTICS, "dimensions", 0), "dimension"),
        ((*SEMANTICS, "entities", 0), "entity"),
        ((*SEMANTICS, "metrics", 0), "metric"),
    ],
)
def test_to_lose_an_element_breaks_and_to_gain_one_adds(
    path: tuple[str | int, ...], kind: str
) -> None:
    """Whatever the element is."""
    less = with_(full(), *path)
    lost, gained = only(full(), less), only(less, full())
    assert (lost.level, lost.action, lost.kind) == ("breaking", "removed", kind)
    assert (gained.level, gained.action, gained.kind) == ("additive", "added", kind)


def test_the_order_of_columns_is_cosmetic() -> None:
    """Columns are read by name."""
    columns = full()["exposes"][0]["contract"]["schema"]
    change = only(full(), with_(full(), *COLUMNS, value=columns[::-1]))
    assert change.level == "cosmetic"


def test_another_key_is_another_grain() -> None:
    """What one row represents has changed, whatever else stayed."""
    new = with_(full(), *COLUMNS, 1, "tags", value=["primary-key"])
    changes = parted(full(), new).changes
    key = next(change for change in changes if change.field == "key")
    assert (key.level, key.before, key.after) == ("breaking", "`id`", "`id, total`")


def lineage(*names: str) -> Any:
    """A lineage by which columns come from one column of the source."""
    mapped = [{"sourceField": "OrderDay", "targetField": f"orders.{name}"} for name in names]
    upstream = {"productId": "source", "exposeId": "orders", "fieldMappings": mapped}
    return {"granularity": "field_level", "upstream": [upstream]}


def test_a_column_that_was_renamed_is_recognised() -> None:
    """By its type and the column of the source that it comes from."""
    old = with_(full(), "lineage", value=lineage("day"))
    new = with_(full(), *COLUMNS, 3, "name", value="order_day")
    new["lineage"] = lineage("order_day")
    lost = next(change for change in parted(old, new).changes if change.action == "removed")
    assert lost.renamed_to == "order_day"
    other = with_(new, *COLUMNS, 3, "type", value="timestamp")
    lost = next(change for change in parted(old, other).changes if change.action == "removed")
    assert lost.renamed_to is None


def test_a_rename_that_could_be_either_of_two_is_not_suggested() -> None:
    """A guess is worse than none."""
    old = with_(full(), "lineage", value=lineage("day"))
    columns = old["exposes"][0]["contract"]["schema"]
    both = [{**columns[3], "name": "day_1"}, {**columns[3], "name": "day_2"}]
    new = with_(old, *COLUMNS, value=[*columns[:3], *both])
    new["lineage"] = lineage("day_1", "day_2")
    assert {change.renamed_to for change in parted(old, new).changes} == {None}


def test_what_an_earlier_release_counted_is_no_promise() -> None:
    """Its limits were the rows of one night, beside figures; ours have room, and no figures."""
    counted = {"violations": "3", "max-violations": "3", "rows": "30", "columns": '["total"]'}
    for type_, labels in (("uniqueness", {"limit": "measured"}), ("accuracy", {"rule": "values"})):
        rule = {**full()["exposes"][0]["contract"]["dq"]["rules"][0], "type": type_}
        old = with_(full(), *RULES, 0, value={**rule, "labels": {**labels, **counted}})
        new = with_(full(), *RULES, 0, value={**rule, "threshold": 0.8, "labels": labels})
        assert {change.level for change in parted(old, new).changes} == {"cosmetic"}, type_


def test_an_expose_that_was_renamed_is_recognised() -> None:
    """By the source tables that it is made of, and its columns."""
    old = with_(full(), *ORDERS, "labels", value={"source-tables": '["Orders"]'})
    new = with_(old, *ORDERS, "exposeId", value="sales")
    lost = next(change for change in parted(old, new).changes if change.action == "removed")
    assert (lost.kind, lost.renamed_to) == ("expose", "sales")


def test_the_version_follows_from_the_gravest_change() -> None:
    """Each expose by its own changes."""
    new = with_(full(), *COLUMNS, 0, "type", value="integer")
    new = with_(new, "exposes", 1, "title", value="Returned")
    found = parted(full(), new)
    assert found.bump == "major"
    advice = {each.expose_id: (each.suggested, each.is_followed) for each in found.versions}
    assert advice == {"orders": ("2.0.0", False), "returns": ("1.2.4", False)}
    followed = parted(full(), with_(new, *ORDERS, "version", value="2.0.0"))
    assert followed.versions[0].is_followed


@pytest.mark.parametrize(
    ("version", "bumps"),
    [
        ("1.2.3", ("1.2.4", "1.3.0", "2.0.0")),
        ("0.1.0", ("0.1.1", "0.2.0", "1.0.0")),
        ("1.0.0-rc.1+b", ("1.0.1", "1.1.0", "2.0.0")),
        ("one", (None, None, None)),
    ],
)
def test_versions_count_up(version: str, bumps: tuple[str | None, ...]) -> None:
    """By the rules of semantic versioning."""
    assert tuple(next_version(version, b) for b in ("patch", "minor", "major")) == bumps  # type: ignore[arg-type]


@needs_shared
@given(seed=st.integers(0, 2**32))
def test_a_contract_does_not_differ_from_itself(seed: int) -> None:
    """Whatever is in it."""
    document = Maker(Random(seed)).document()
    assert parted(document, document).changes == ()
    assert parted(document, document).bump == "none"


@needs_shared
@given(one=st.integers(0, 2**32), other=st.integers(0, 2**32))
def test_every_difference_is_reported_in_both_directions(one: int, other: int) -> None:
    """Two contracts differ both ways in the same places, and what is added one way breaks back."""
    old, new = Maker(Random(one)).document(), Maker(Random(other)).document()
    there, back = parted(old, new).changes, parted(new, old).changes
    assert bool(there) == bool(back) == (old != new)
    mirrored = {(change.kind, change.names, change.field): change for change in back}
    for change in there:
        mirror = mirrored[change.kind, change.names, change.field]
        assert (mirror.before, mirror.after) == (change.after, change.before) or not change.before
        if change.level == "cosmetic":
            assert mirror.level == "cosmetic"
        if change.level == "additive" and not change.field.endswith("state"):
            assert mirror.level == "breaking"


def keys_of(document: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every key of a document."""
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for part, value in items:
        if isinstance(document, dict):
            yield (*path, part)
        if isinstance(value, dict | list):
            yield from keys_of(value, (*path, part))


@needs_shared
@given(seed=st.integers(0, 2**32), choice=st.randoms(use_true_random=False))
def test_not_one_key_can_go_unnoticed(seed: int, choice: Random) -> None:
    """Wherever something is left out of a contract, something is said, there and back."""
    document = Maker(Random(seed)).document()
    for path in choice.sample(paths := list(keys_of(document)), min(12, len(paths))):
        less = with_(document, *path)
        if is_valid(less):
            there, back = parted(document, less).changes, parted(less, document).changes
            assert there, path
            assert {(c.kind, c.names, c.field) for c in there} == {
                (c.kind, c.names, c.field) for c in back
            }


@needs_shared
@given(seed=st.integers(0, 2**32))
def test_every_removal_of_an_element_breaks(seed: int) -> None:
    """No expose and no column can go unnoticed."""
    document = Maker(Random(seed)).document()
    for index, expose in enumerate(document["exposes"]):
        columns = expose["contract"].get("schema") or ()
        for number in range(len(columns)):
            less = with_(document, "exposes", index, "contract", "schema", number)
            assert parted(document, less).breaks
        if len(document["exposes"]) > 1:
            assert parted(document, with_(document, "exposes", index)).breaks
