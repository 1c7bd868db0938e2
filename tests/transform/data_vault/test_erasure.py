"""A person is erased from the satellite of personal data, and from nothing else."""

from pathlib import Path

import pytest

from tests.transform.data_vault.vaults import Vault, vault

PEOPLE = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, email VARCHAR NOT NULL, phone VARCHAR,"
    " segment VARCHAR, credit_limit DECIMAL(9,2))",
    "INSERT INTO customer SELECT i, 'ann' || i || '@example.org', '+44 20 7946 0' || (100 + i),"
    " 'segment ' || (i % 4), 100 * i FROM range(1, 61) t(i)",
    "CREATE TABLE product (id INTEGER PRIMARY KEY, title VARCHAR, weight DOUBLE)",
    "INSERT INTO product SELECT i, 'thing ' || i, i / 4 FROM range(1, 31) t(i)",
    "CREATE TABLE delivery (customer_id INTEGER,"
    " product_id INTEGER, day DATE, contact_email VARCHAR,"
    " PRIMARY KEY (customer_id, product_id))",
    "INSERT INTO delivery SELECT 1 + i % 60, 1 + i // 60, DATE '2024-01-01' + (i % 90)::INTEGER,"
    " 'at' || (i % 70) || '@example.org' FROM range(240) t(i)",
)
ERASE = """
    DELETE FROM model.sat_customer_personal WHERE customer_hk IN (
        SELECT customer_hk FROM model.hub_customer WHERE id = 7
    )"""
"""As docs/modeling.md has it."""


def test_each_kind_of_column_is_given_back_from_its_satellite(tmp_path: Path) -> None:
    with vault(tmp_path, PEOPLE) as loaded:
        columns = {satellite.name: satellite.columns for satellite in loaded.dv2.satellites}
        assert columns["sat_customer_personal"] == ("email", "phone")
        assert columns["sat_delivery_personal"] == ("contact_email",)
        assert loaded.lost() == {}
        assert loaded.broken() == {}
        loaded.change("UPDATE shop.delivery SET contact_email = NULL WHERE product_id = 3")
        assert loaded.load() == {"sat_delivery_personal": 60}
        assert loaded.lost() == {}


@pytest.mark.parametrize(
    "at_the_source",
    [
        "UPDATE shop.customer SET email = 'erased', phone = NULL WHERE id = 7",
        "DELETE FROM shop.customer WHERE id = 7",
    ],
    ids=["overwritten", "deleted"],
)
def test_an_erased_person_stays_erased_and_keeps_the_other_history(
    tmp_path: Path, at_the_source: str
) -> None:
    with vault(tmp_path, PEOPLE) as loaded:
        loaded.change("UPDATE shop.customer SET segment = 'segment 9' WHERE id = 7")
        loaded.load()
        loaded.change(at_the_source)
        loaded.load()
        history = loaded.rows("FROM model.sat_customer ORDER BY ALL")
        loaded.change(ERASE)
        loaded.load()
        assert loaded.load() == {}
        assert _values(loaded) <= {("erased", None)}
        assert loaded.rows("FROM model.sat_customer ORDER BY ALL") == history
        assert loaded.lost() == {}
        assert loaded.broken() == {}


def test_who_is_erased_before_the_source_forgets_is_loaded_once_more(tmp_path: Path) -> None:
    """The chain of hashes begins anew: what the source still says is a change."""
    with vault(tmp_path, PEOPLE) as loaded:
        loaded.change(ERASE)
        assert loaded.load() == {"sat_customer_personal": 1}
        assert loaded.load() == {}
        assert loaded.lost() == {}


def test_snapshots_that_are_made_again_lead_to_what_is_left(tmp_path: Path) -> None:
    with vault(tmp_path, PEOPLE, business_vault=True) as loaded:
        loaded.change("UPDATE shop.customer SET email = 'erased', phone = NULL WHERE id = 7")
        loaded.load()
        loaded.change(ERASE)
        loaded.load()
        assert list(loaded.broken()) == ["pit_customer_sat_customer_personal_hk_reference"]
        loaded.change("DELETE FROM model.pit_customer", "DELETE FROM model.snapshot_dates")
        loaded.load()
        assert loaded.broken() == {}


def _values(loaded: Vault) -> set[tuple[object, ...]]:
    return set(
        loaded.rows(
            "SELECT email, phone FROM model.sat_customer_personal JOIN model.hub_customer"
            " USING (customer_hk) WHERE id = 7"
        )
    )
