"""Names in a vault: prefixed, distinct, and never those of a source column."""

import pytest

from fluid_build.modeling.data_vault.vault_names import VaultNames
from fluid_build.modeling.sql_names import SqlNames
from tests.modeling.sources import source, vault


def names(*columns: str) -> VaultNames:
    return VaultNames(SqlNames({"t": "t"}, {"t": "stg_t"}, {"t": {c: c for c in columns}}))


def test_a_relation_has_its_prefix_and_stems() -> None:
    assert names().relation("lnk", "orders", "customer", "") == "lnk_orders_customer"


def test_a_name_that_is_used_gets_a_number() -> None:
    given = names()
    assert [given.relation("sat", "a") for _ in range(3)] == ["sat_a", "sat_a_2", "sat_a_3"]


def test_a_staging_keeps_its_name() -> None:
    assert names().relation("stg", "t") == "stg_t_2"


def test_a_reserved_word_needs_no_underscore_behind_a_prefix() -> None:
    assert names().relation("hub", "order_") == "hub_order"


def test_hash_keys_are_named_for_their_hub_or_link() -> None:
    given = names()
    assert given.hub_key("hub_customer") == "customer_hk"
    assert given.link_key("lnk_orders_customer") == "orders_customer_lk"


@pytest.mark.parametrize("column", ["customer_hk", "row_hash"])
def test_a_hash_key_never_has_the_name_of_a_source_column_or_of_the_builds(column: str) -> None:
    assert names(column).hub_key(f"hub_{column.removesuffix('_hk')}") != column


def test_a_role_is_part_of_the_hash_key() -> None:
    given = names()
    key = given.hub_key("hub_customer")
    assert given.hub_key_in_role(key, "", set()) == "customer_hk"
    assert given.hub_key_in_role(key, "payer", set()) == "customer_payer_hk"
    assert given.hub_key_in_role(key, "payer", {"customer_payer_hk"}) == "customer_payer_hk_2"
    assert given.hub_key_in_role(key, "", {"customer_hk"}) == "customer_hk_2"


@pytest.mark.parametrize("length", [57, 58, 59, 80])
def test_long_names_are_cut_but_keep_prefix_and_ending(length: int) -> None:
    given = names()
    hub = given.relation("hub", "x" * length)
    key = given.hub_key(f"hub_{'x' * length}")
    assert hub.startswith("hub_x") and len(hub) <= 63
    assert key.endswith("_hk") and len(key) <= 63


def test_every_prefix_says_what_a_relation_is() -> None:
    model = vault(
        source(
            """
            customer  *id, name text, city text, street text
            product   *id, title text, size text, maker_id > customer
            part      *id, whole_id > part, label text
            contact   *id, duplicate_of > contact, label text
            line      *customer_id > customer, *no, product_id > product, q decimal
            interest  *customer_id > customer, product_id > product
            phone     *customer_id > customer, *kind/3, digits text
            log       message text
            """
        )
    )
    assert [hub.name.split("_")[0] for hub in model.hubs] == ["hub"] * len(model.hubs)
    assert {link.link_type: link.name.split("_")[0] for link in model.links} == {
        "standard": "lnk",
        "hierarchical": "hal",
        "same-as": "sal",
        "transactional": "tl",
    }
    prefixes = {s.name.removesuffix("_" + s.name.split("sat_")[1]): s for s in model.satellites}
    assert set(prefixes) == {"sat", "msat", "eff_sat"}
    assert prefixes["msat"].multi_active_keys == ("kind",)
    assert prefixes["eff_sat"].kind == "effectivity"
    assert [table.name for table in model.keyless_tables] == ["psa_log"]


@pytest.mark.parametrize(
    ("table", "hub"),
    [("dim_account", "hub_account"), ("raw_orders", "hub_orders"), ("date_dim", "hub_date"),
     ("dim", "hub_dim"), ("dimension", "hub_dimension")],
)  # fmt: skip
def test_the_layer_that_a_table_was_in_is_no_part_of_a_hubs_name(table: str, hub: str) -> None:
    model = vault(source(f"{table} *id, title text"))
    assert [each.name for each in model.hubs] == [hub]


def test_the_hub_of_parts_is_named_for_the_whole() -> None:
    model = vault(source("description *product_key/20, *culture_name text/5, words text"))
    assert [each.name for each in model.hubs] == ["hub_product"]
    assert [each.name for each in model.satellites] == ["msat_description"]
