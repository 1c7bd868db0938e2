"""The measuring rod: what counts as right, wrong and missed, and the reason of each miss."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from bench.keys.databases import Database, read_databases
from bench.keys.judged_pairs import judged_pairs
from bench.keys.misses import describe_errors
from bench.keys.naming import renaming
from bench.keys.scores import Score, macro_f1, score_foreign_keys, score_primary_keys
from fluid_build.profiling.profile import Profile
from tests.modeling.profiles import candidate, column, profile, reference, table

LINES = table("line", column("order_id"), column("pos"), column("item_id"), column("unit"))
ORDERS = table("orders", column("order_id"), primary_key=("order_id",))
ITEMS = table("item", column("item_id"), primary_key=("item_id",), candidate_keys=[("item_id",)])
TRUTH = {
    "name": "shop",
    "tables": {
        "line": {"columns": ["order_id", "pos", "item_id", "unit"], "primary_key": None, "rows": 9},
        "orders": {"columns": ["order_id"], "primary_key": ["order_id"], "rows": 9},
        "item": {"columns": ["item_id"], "primary_key": ["item_id"], "rows": 9},
    },
    "foreign_keys": [
        {
            "from_table": "line",
            "from_columns": [name],
            "to_table": parent,
            "to_columns": [name],
            "supported": supported,
        }
        for name, parent, supported in (
            ("order_id", "orders", True),
            ("item_id", "item", True),
        )
    ],
}
AS_IS = renaming("as-is", TRUTH)


def _shop(**more: Any) -> Profile:
    return profile(LINES, ORDERS, ITEMS, **more)


def test_references_are_right_wrong_or_missed() -> None:
    """What isn't documented is wrong, what is documented and not found is missed."""
    keys = [
        reference("line", "order_id", "orders", "order_id"),
        reference("line", "unit", "item", "item_id"),
    ]
    score, _ = score_foreign_keys(_shop(foreign_keys=keys), TRUTH, AS_IS)
    assert (score.right, score.wrong, score.missed) == (1, 1, 1)


def test_implied_references_count_neither_way() -> None:
    """An implied reference isn't found, and it isn't missed."""
    keys = [
        reference("line", "order_id", "orders", "order_id", implied=True),
        reference("line", "unit", "item", "item_id", implied=True),
    ]
    score, _ = score_foreign_keys(_shop(foreign_keys=keys), TRUTH, AS_IS)
    assert (score.right, score.wrong, score.missed) == (0, 0, 1)


def test_databases_without_keys_do_not_count_for_the_mean() -> None:
    """The mean F1 is over databases with a true or a found key."""
    assert macro_f1([Score(right=1), Score(), Score(wrong=1)]) == pytest.approx(0.5)


def test_a_key_where_none_is_documented_is_wrong() -> None:
    """Keys of the other tables are right."""
    lines = LINES.model_copy(update={"primary_key": ("pos",)})
    score = score_primary_keys(profile(lines, ORDERS, ITEMS), TRUTH, AS_IS)
    assert (score.right, score.wrong, score.missed) == (2, 1, 0)


def test_chosen_references_and_candidates_are_judged_pairs() -> None:
    """Implied references aren't, since they only follow from others."""
    measured = _shop(
        foreign_keys=[
            reference("line", "order_id", "orders", "order_id"),
            reference("line", "pos", "item", "item_id", implied=True),
        ],
        candidates=[
            candidate("line", "item_id", "item", "item_id"),
            candidate("line", "order_id", "item", "item_id", ruled_out=True),
        ],
    )
    pairs = judged_pairs(measured, TRUTH, AS_IS)
    assert [(pair.role, pair.is_true) for pair in pairs] == [
        ("single", True),
        ("single", True),
        ("ruled_out", False),
    ]


@pytest.mark.parametrize(
    ("measured", "reason"),
    [
        (
            _shop(candidates=[candidate("line", "item_id", "item", "item_id", confidence=0.41)]),
            "confidence 0.41: the evidence isn't strong enough",
        ),
        (
            profile(LINES, ORDERS, table("item", column("item_id", "VARCHAR"))),
            "types differ: number and VARCHAR",
        ),
        (
            profile(LINES, ORDERS, table("item", column("item_id"))),
            "the parent's key isn't unique in the data",
        ),
        (profile(LINES, ORDERS), "a table wasn't read: it isn't in the profile"),
        (_shop(), "66.7% of the rows have a match"),
    ],
)
def test_a_miss_has_its_reason(tmp_path: Path, measured: Profile, reason: str) -> None:
    """The first obstacle is named, with its figure."""
    errors = list(describe_errors(measured, _database(tmp_path), AS_IS))
    assert f"missed  line(item_id) -> item(item_id): {reason}" in errors


def _database(folder: Path) -> Database:
    """Write three lines, of which two refer to an item."""
    (folder / "shop" / "data").mkdir(parents=True)
    (folder / "shop" / "truth.json").write_text(json.dumps(TRUTH))
    for name, rows in {
        "line": "SELECT 1 AS order_id, i AS pos, i AS item_id, 1 AS unit FROM range(3) t(i)",
        "orders": "SELECT 1 AS order_id",
        "item": "SELECT i AS item_id FROM range(2) t(i)",
    }.items():
        duckdb.execute(f"COPY ({rows}) TO '{folder / 'shop' / 'data' / name}.parquet'")
    (database,) = read_databases([folder])
    return database
