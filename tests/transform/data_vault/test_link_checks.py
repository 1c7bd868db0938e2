"""What a link relates is compared with the source, also where a satellite has the reference too."""

from pathlib import Path

import pytest

from fluid_build.transform.proof.proof import Proof, prove
from tests.modeling.profiles import reference
from tests.transform.data_vault.vaults import Vault, vault

STATEMENTS = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, customer_no VARCHAR UNIQUE, name VARCHAR,"
    " town VARCHAR)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, order_no VARCHAR UNIQUE, customer_id INTEGER,"
    " note VARCHAR)",
    "INSERT INTO customer SELECT i, 'C' || i, 'n' || i, 't' || i % 3 FROM range(1, 9) r(i)",
    "INSERT INTO orders SELECT i, 'O' || i * 7, CASE WHEN i % 5 > 0 THEN 1 + i % 8 END, 'x' || i"
    " FROM range(1, 31) r(i)",
)
REFERENCES = [reference("orders", "customer_id", "customer", "id")]


def _proof(shop: Vault) -> Proof:
    return prove(shop.built, shop.model)


def test_a_link_whose_keys_are_looked_up_is_proven(tmp_path: Path) -> None:
    with vault(tmp_path, STATEMENTS, REFERENCES) as shop:
        (link,) = shop.dv2.links
        assert link.hubs[1].lookup is not None
        assert _proof(shop).verdict == "proven"
        shop.change("UPDATE shop.orders SET customer_id = 3 WHERE id < 4")
        shop.load()
        assert _proof(shop).verdict == "proven"


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM model.{link}",
        "DELETE FROM model.{effectivity}",
        "UPDATE model.{link} SET customer_hk = (SELECT max(customer_hk) FROM model.hub_customer)",
        "INSERT INTO model.{link} SELECT * FROM model.{link} LIMIT 1",
        "UPDATE model.hub_customer SET customer_no = customer_no || 'x'",
    ],
)
def test_a_damaged_link_is_lost(tmp_path: Path, damage: str) -> None:
    with vault(tmp_path, STATEMENTS, REFERENCES) as shop:
        (link,) = shop.dv2.links
        (effectivity,) = (s.name for s in shop.dv2.satellites if s.parent == link.name)
        shop.change(damage.format(link=link.name, effectivity=effectivity))
        assert _proof(shop).verdict == "lost"
