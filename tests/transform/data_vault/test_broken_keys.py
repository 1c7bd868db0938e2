"""Keys that held when a vault was modelled, and hold no longer."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.transform.proof.proof import prove
from tests.examples import dear_property
from tests.modeling.profiles import reference
from tests.transform.data_vault.vaults import Vault, broken_keys, vault

# No key is declared, so that any row may come. Each table becomes another piece of a vault: hubs, a
# code list, a multi-active satellite, a link of references alone, a link with children of its own.
_SHOP = (
    "CREATE TABLE thing (id INTEGER, name VARCHAR, size INTEGER, code VARCHAR)",
    "CREATE TABLE code (code VARCHAR, meaning VARCHAR)",
    "CREATE TABLE part (part_no INTEGER, name VARCHAR, weight INTEGER)",
    "CREATE TABLE phone (thing_id INTEGER, kind VARCHAR, digits VARCHAR)",
    "CREATE TABLE pair (thing_id INTEGER, part_no INTEGER)",
    "CREATE TABLE line (thing_id INTEGER, part_no INTEGER, line_no INTEGER, remark VARCHAR)",
    "INSERT INTO thing SELECT i, 'n' || i, i % 3, 'c' || i % 2 FROM range(1, 5) r(i)",
    "INSERT INTO code VALUES ('c0', 'zero'), ('c1', 'one')",
    "INSERT INTO part SELECT i, 'p' || i, i % 2 FROM range(1, 4) r(i)",
    "INSERT INTO phone SELECT i, k, 'd' FROM range(1, 4) r(i), (VALUES ('a'), ('b')) v(k)",
    "INSERT INTO pair SELECT i, j FROM range(1, 4) r(i), range(1, 3) s(j)",
    "INSERT INTO line SELECT i, j, l, 'r' FROM range(1, 3) r(i), range(1, 3) s(j), range(2) t(l)",
)
_REFERENCES = (
    reference("thing", "code", "code", "code"),
    reference("phone", "thing_id", "thing", "id"),
    reference("pair", "thing_id", "thing", "id"),
    reference("pair", "part_no", "part", "part_no"),
    reference("line", "thing_id", "thing", "id"),
    reference("line", "part_no", "part", "part_no"),
)
_KEYS = {
    "thing": ("id",),
    "code": ("code",),
    "part": ("part_no",),
    "phone": ("thing_id", "kind"),
    "pair": ("thing_id", "part_no"),
    "line": ("thing_id", "part_no", "line_no"),
}


_TEXTS = st.sampled_from(["a", "b", None])
_NUMBERS = st.sampled_from([1, 2, 3, None])
_BATCHES = st.fixed_dictionaries(
    {
        "thing": st.lists(st.tuples(_NUMBERS, _TEXTS, _NUMBERS, _TEXTS), max_size=4),
        "code": st.lists(st.tuples(_TEXTS, _TEXTS), max_size=4),
        "part": st.lists(st.tuples(_NUMBERS, _TEXTS, _NUMBERS), max_size=4),
        "phone": st.lists(st.tuples(_NUMBERS, _TEXTS, _TEXTS), max_size=5),
        "pair": st.lists(st.tuples(_NUMBERS, _NUMBERS), max_size=5),
        "line": st.lists(st.tuples(_NUMBERS, _NUMBERS, _NUMBERS, _TEXTS), max_size=5),
    }
)


def _arrive(shop: Vault, batch: dict[str, list[tuple[object, ...]]]) -> None:
    """Put other rows into the source."""
    for table, rows in batch.items():
        shop.change(f"DELETE FROM shop.{table}")
        for row in rows:
            marks = ", ".join("?" for _ in row)
            shop.connection.execute(f"INSERT INTO shop.{table} VALUES ({marks})", row)


@dear_property
@given(batches=st.lists(_BATCHES, min_size=1, max_size=2))
def test_whatever_arrives_is_loaded_once_and_no_loss_is_silent(
    tmp_path_factory: pytest.TempPathFactory,
    batches: list[dict[str, list[tuple[object, ...]]]],
) -> None:
    """Loading the same again adds nothing; a row that isn't rebuilt is in quarantine."""
    with vault(tmp_path_factory.mktemp("shop"), _SHOP, _REFERENCES, keys=_KEYS) as shop:
        for batch in batches:
            _arrive(shop, batch)
            shop.load()
            assert shop.load() == {}
            if not broken_keys(shop.built):
                proof = prove(shop.built, shop.model)
                assert [t.table for t in proof.tables if t.verdict == "lost"] == []
            elif shop.lost():
                assert shop.broken()


def test_a_shop_becomes_every_piece_that_rows_can_be_lost_in(tmp_path: Path) -> None:
    """The tables above are what they are meant to be, and their keys hold at first."""
    with vault(tmp_path, _SHOP, _REFERENCES, keys=_KEYS) as shop:
        assert {build.name for build in shop.plan.published} >= {
            *("hub_thing", "hub_part", "ref_code", "msat_phone", "lnk_pair", "lnk_line"),
        }
        assert broken_keys(shop.built) == shop.broken() == shop.lost() == {}
