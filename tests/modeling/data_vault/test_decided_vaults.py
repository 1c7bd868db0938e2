"""Decided vaults of real databases: they're as decided, or say why not, and they lose nothing."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.decisions.language import AnyDecision, BusinessKey, Classify, Merge, Split
from fluid_build.forging import forge
from fluid_build.sources import open_source
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.running import run_dbt
from fluid_build.transform.plan.techniques import transform_plan
from tests.folders import artifacts_of
from tests.modeling.data_vault.decided_vaults import Measured, measured
from tests.transform.data_vault.vaults import Vault
from tests.transform.databases import database, loaded
from tests.transform.dbt.projects import duckdb_access, written

_SHOP = (
    "CREATE TABLE country (code VARCHAR PRIMARY KEY, name VARCHAR NOT NULL)",
    "INSERT INTO country VALUES ('de', 'Germany'), ('fr', 'France'), ('ch', 'Switzerland')",
    """CREATE TABLE customer (id INTEGER PRIMARY KEY, number VARCHAR NOT NULL UNIQUE, name VARCHAR,
        city VARCHAR NOT NULL, nickname VARCHAR UNIQUE, country_code VARCHAR REFERENCES country)""",
    """INSERT INTO customer SELECT i, 'C' || i * 7919 % 9973, 'Name ' || i, 'City ' || i % 5,
        CASE WHEN i % 3 = 0 THEN 'nick' || i END, ['de', 'fr', 'ch', NULL][1 + i % 4]
        FROM range(1, 41) r(i)""",
    """CREATE TABLE account (id INTEGER PRIMARY KEY, owner_number VARCHAR NOT NULL UNIQUE,
        opened DATE, balance DECIMAL(10, 2))""",
    """INSERT INTO account SELECT 500 + i, 'C' || i * 7919 % 9973, DATE '2024-01-01' + i::INTEGER,
        i * 1.25 FROM range(20, 60) r(i)""",
    """CREATE TABLE branch (id INTEGER PRIMARY KEY, name VARCHAR, city_code VARCHAR NOT NULL,
        city_name VARCHAR, city_size INTEGER, opened DATE)""",
    """INSERT INTO branch SELECT i, 'Branch ' || i, 'c' || i % 7, 'City ' || i % 7,
        CASE WHEN i % 7 > 2 THEN i % 7 * 1000 END, DATE '2024-01-01' + i::INTEGER
        FROM range(1, 61) r(i)""",
    "CREATE TABLE vip (customer_id INTEGER PRIMARY KEY REFERENCES customer, lounge VARCHAR)",
    "INSERT INTO vip SELECT i, 'L' || i % 3 FROM range(1, 12) r(i)",
    """CREATE TABLE product (id INTEGER PRIMARY KEY, sku VARCHAR NOT NULL, name VARCHAR,
        size INTEGER)""",
    "INSERT INTO product SELECT i, 'S-' || i * 31, 'Product ' || i, i % 4 FROM range(1, 21) r(i)",
    """CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer,
        vip_id INTEGER REFERENCES vip, status VARCHAR, ordered DATE NOT NULL)""",
    """INSERT INTO orders SELECT i, 1 + i % 40, CASE WHEN i % 5 = 0 THEN 1 + i % 11 END,
        ['open', 'sent', NULL][1 + i % 3], DATE '2024-01-01' + i::INTEGER FROM range(1, 91) r(i)""",
    """CREATE TABLE line (order_id INTEGER REFERENCES orders, line_no INTEGER,
        product_id INTEGER NOT NULL REFERENCES product, quantity INTEGER,
        PRIMARY KEY (order_id, line_no))""",
    "INSERT INTO line SELECT 1 + i // 3, i % 3, 1 + i % 20, i % 9 FROM range(0, 240) r(i)",
    """CREATE TABLE likes (customer_id INTEGER REFERENCES customer,
        product_id INTEGER REFERENCES product, PRIMARY KEY (customer_id, product_id))""",
    "INSERT INTO likes SELECT DISTINCT 1 + i % 40, 1 + i * 7 % 20 FROM range(100) r(i)",
    "CREATE TABLE visit (customer_id INTEGER, page VARCHAR, product_id INTEGER)",
    "INSERT INTO visit SELECT 1 + i % 45, 'p' || i % 4, 1 + i % 20 FROM range(70) r(i)",
    "CREATE TABLE note (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer,"
    " words VARCHAR, tone VARCHAR, place VARCHAR)",
    "INSERT INTO note SELECT i, 1 + i % 40, 'w' || i % 7, 't' || i, 'x' FROM range(60) r(i)",
)  # fmt: skip


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    file = database(tmp_path_factory.mktemp("shop") / "shop.duckdb", *_SHOP)
    with measured(file) as source:
        source.source.connection.execute("SET threads = 1")
        yield source


_TABLES = ("country", "customer", "account", "vip", "product", "orders", "line", "likes", "visit",
           "note", "branch")  # fmt: skip
_COLUMNS = {
    "country": ("code", "name"),
    "customer": ("id", "number", "name", "city", "nickname"),
    "account": ("id", "owner_number", "opened"),
    "vip": ("customer_id", "lounge"),
    "product": ("id", "sku", "size"),
    "orders": ("id", "customer_id", "status", "ordered"),
    "line": ("order_id", "line_no", "product_id"),
    "likes": ("customer_id", "product_id"),
    "visit": ("customer_id", "page", "product_id"),
    "note": ("id", "customer_id", "words"),
    "branch": ("id", "city_code", "city_name", "city_size", "opened"),
}


@st.composite
def _keys(draw: st.DrawFn, most: int = 2) -> tuple[str, tuple[str, ...]]:
    table = draw(st.sampled_from(_TABLES))
    columns = st.lists(st.sampled_from(_COLUMNS[table]), min_size=1, max_size=most, unique=True)
    return table, tuple(draw(columns))


@st.composite
def _decisions(draw: st.DrawFn) -> AnyDecision:
    kind = draw(st.sampled_from(["classify", "classify", "business_key", "merge", "split"]))
    table, columns = draw(_keys())
    if kind == "classify":
        role = draw(st.sampled_from(["hub", "link", "satellite", "reference"]))
        return Classify(table=table, role=role)
    if kind == "business_key":
        return BusinessKey(table=table, columns=columns, despite_violations=True)
    if kind == "split":
        more = [column for column in _COLUMNS[table] if column not in columns]
        attributes = draw(st.lists(st.sampled_from(more), unique=True)) if more else []
        entity = draw(st.sampled_from(["city", "customer", "thing"]))
        return Split(table=table, columns=columns, attributes=tuple(attributes), entity=entity)
    into, into_columns = draw(_keys().filter(lambda key: key[0] != table))
    size = min(len(columns), len(into_columns))
    return Merge(table=table, columns=columns[:size], into_table=into,
                 into_columns=into_columns[:size], despite_violations=True)  # fmt: skip


@given(decisions=st.lists(_decisions(), min_size=1, max_size=6))
def test_whatever_is_decided_nothing_is_lost(shop: Measured, decisions: list[AnyDecision]) -> None:
    decided = shop.decided(*decisions)
    assert decided.verdict == "proven"
    assert all(message.endswith(".") for message in decided.refusals.values())


def test_a_decided_business_key_builds_the_hub(shop: Measured) -> None:
    decided = shop.decided(BusinessKey(table="product", columns=("sku",), reason="it's printed"))
    assert (decided.refusals, decided.verdict) == ({}, "proven")
    hub = decided.vault.hub("hub_product")
    assert hub.business_key_columns == ("sku",)
    assert "Decided by a person: it's printed." in hub.reason


def test_a_key_that_repeats_lists_each_value_once(shop: Measured) -> None:
    """The table's own key tells the rows of the satellite apart."""
    key = BusinessKey(table="note", columns=("words",), despite_violations=True)
    decided = shop.decided(key)
    assert (decided.refusals, decided.verdict) == ({}, "proven")
    hub = decided.vault.hub("hub_note")
    assert "words repeats in 53 rows." in hub.reason
    (notes,) = (s for s in decided.vault.satellites if s.table == "note")
    assert (notes.parent, notes.multi_active_keys) == ("hub_note", ("id",))


def test_a_key_with_nulls_is_refused_with_their_number(shop: Measured) -> None:
    decided = shop.decided(BusinessKey(table="customer", columns=("nickname",)))
    assert list(decided.refusals.values()) == [
        "`customer.nickname` is null in 27 of 40 rows, and a hub needs a key for each."
    ]
    assert decided.verdict == "proven"


def test_a_key_that_others_describe_the_table_without_is_refused(shop: Measured) -> None:
    decided = shop.decided(BusinessKey(table="customer", columns=("number",)))
    assert list(decided.refusals.values()) == [
        "The rows of `customer` are in hub_customer by `id`, which it shares with `vip`."
    ]
    without_subtype = shop.decided(
        Classify(table="vip", role="hub"), BusinessKey(table="customer", columns=("number",))
    )
    assert (without_subtype.refusals, without_subtype.verdict) == ({}, "proven")


def test_a_key_of_a_table_without_a_hub_is_refused(shop: Measured) -> None:
    key = BusinessKey(table="likes", columns=("customer_id", "product_id"))
    assert list(shop.decided(key).refusals.values()) == [
        "`likes` has no hub, so it has no business key."
    ]


def test_merged_tables_share_a_hub_with_a_satellite_each(shop: Measured) -> None:
    merge = Merge(table="account", columns=("owner_number",), into_table="customer",
                  into_columns=("number",), reason="same people")  # fmt: skip
    decided = shop.decided(Classify(table="vip", role="hub"), merge)
    assert (decided.refusals, decided.verdict) == ({}, "proven")
    hub = decided.vault.hub("hub_customer")
    assert hub.business_key_columns == ("number",)
    assert {s.table for s in decided.vault.satellites if s.parent == hub.name} == {
        "account", "customer",
    }  # fmt: skip
    (account,) = (s for s in decided.vault.satellites if s.table == "account")
    assert "Decided by a person: same people." in account.reason
    assert account.alternatives[0].choice == "a hub"


def test_a_merge_of_keys_that_repeat_is_refused(shop: Measured) -> None:
    merge = Merge(table="note", columns=("customer_id",), into_table="customer",
                  into_columns=("id",), despite_violations=True)  # fmt: skip
    assert list(shop.decided(merge).refusals.values()) == [
        "The values that `note` would be merged by repeat or are missing in 20 rows."
    ]


_CITY = Split(table="branch", columns=("city_code",), attributes=("city_name", "city_size"),
              entity="city", reason="cities have no table")  # fmt: skip


def test_what_is_split_off_has_a_hub_and_a_satellite_and_is_linked(shop: Measured) -> None:
    decided = shop.decided(_CITY)
    assert (decided.refusals, decided.verdict) == ({}, "proven")
    hub = decided.vault.hub("hub_city")
    assert hub.business_key_columns == ("city_code",)
    assert "Decided by a person: cities have no table." in hub.reason
    columns = {s.name: s.columns for s in decided.vault.satellites if s.table == "branch"}
    assert columns["sat_city"] == ("city_name", "city_size")
    assert columns["sat_branch"] == ("id", "opened")
    (link,) = (link for link in decided.vault.links if link.table == "branch")
    assert [end.hub for end in link.hubs] == ["hub_branch", "hub_city"]


def test_what_is_split_off_keeps_its_history(shop: Measured, tmp_path: Path) -> None:
    """Renaming a city changes a single row of its satellite, and everything is rebuilt."""
    file = database(tmp_path / "shop.duckdb", *_SHOP)
    model = shop.decided(_CITY).model
    with loaded(file, shop.source.tables, transform_plan(model)) as built:
        vault = Vault(model, built.plan, built)
        assert vault.load() == {}
        vault.change(
            "UPDATE shop.branch SET city_name = 'Elsewhere' WHERE city_code = 'c1'",
            "DELETE FROM shop.branch WHERE city_code = 'c2'",
        )
        added = vault.load()
        assert (added["sat_city"], "hub_city" in added) == (2, False)
        assert vault.lost() == {}
        assert vault.broken() == {}


def test_what_is_split_off_has_its_personal_data_apart(tmp_path: Path) -> None:
    file = database(
        tmp_path / "houses.duckdb",
        "CREATE TABLE house (id INTEGER PRIMARY KEY, name VARCHAR, owner_no VARCHAR NOT NULL,"
        " email VARCHAR, phone VARCHAR, tier VARCHAR, country VARCHAR, opened DATE)",
        "INSERT INTO house SELECT i, 'House ' || i, 'G-' || i % 20,"
        " 'g' || i % 20 || '@example.org', '+44 20 7946 0' || (100 + i % 20), 't' || i % 4,"
        " 'c' || i % 5, DATE '2024-01-01' + i::INTEGER FROM range(90) t(i)",
    )
    split = Split(table="house", columns=("owner_no",), entity="owner",
                  attributes=("email", "phone", "tier", "country"), reason="owners")  # fmt: skip
    with measured(file) as source:
        decided = source.decided(split)
    assert (decided.refusals, decided.verdict) == ({}, "proven")
    columns = {s.name: s.columns for s in decided.vault.satellites}
    assert columns["sat_owner"] == ("tier", "country")
    assert columns["sat_owner_personal"] == ("email", "phone")


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (_CITY.model_copy(update={"attributes": ("city_name", "name")}),
         "`city_code` doesn't decide the attributes of `city`: they differ in 53 cases."),
        (_CITY.model_copy(update={"columns": ("city_size",), "attributes": ()}),
         "`branch.city_size` is null in 26 of 60 rows, and a hub needs a key for each."),
        (_CITY.model_copy(update={"columns": ("id",)}),
         "`id` identifies the rows of `branch` itself."),
        (_CITY.model_copy(update={"attributes": ("id",)}),
         "`id` is part of the key of `branch`, which stays with its rows."),
        (Split(table="likes", columns=("product_id",), entity="thing"),
         "No hub has each row of `likes` once, so nothing can be split off."),
    ],
)  # fmt: skip
def test_a_split_that_would_lose_something_is_refused(
    shop: Measured, split: Split, message: str
) -> None:
    decided = shop.decided(split)
    assert list(decided.refusals.values()) == [message]
    assert decided.verdict == "proven"


_EVERY_KIND: tuple[AnyDecision, ...] = (
    Classify(table="vip", role="hub", reason="a program of its own"),
    Classify(table="likes", role="hub", reason="likes are counted"),
    Classify(table="product", role="hub", by="model", reason="products are counted"),
    BusinessKey(table="note", columns=("words",), despite_violations=True),
    Merge(table="account", columns=("owner_number",), into_table="customer",
          into_columns=("number",)),
    _CITY,
)  # fmt: skip


def test_forging_twice_with_the_same_decisions_gives_the_same_bytes(tmp_path: Path) -> None:
    file = database(tmp_path / "shop.duckdb", *_SHOP)
    for number in (1, 2):
        with open_source(file) as source:
            forge(source, out=tmp_path / f"out{number}", technique="dv2", decisions=_EVERY_KIND,
                  business_vault=True)  # fmt: skip
    first, second = (artifacts_of(tmp_path / f"out{number}") for number in (1, 2))
    assert first == second
    assert b"likes are counted" in first["model.json"]
    assert b"Suggested by a language model: products are counted." in first["model.json"]


@pytest.mark.usefixtures("dbt")
def test_dbt_builds_a_decided_vault_and_its_tests_hold(shop: Measured, tmp_path: Path) -> None:
    file = database(tmp_path / "shop.duckdb", *_SHOP)
    model = shop.decided(*_EVERY_KIND).model
    plan = transform_plan(model)
    project = written(dbt_project(plan, model, access=duckdb_access(plan, file)), tmp_path / "dbt")
    result = run_dbt(project, variables={"load_date": "2024-01-01 00:00:00"})
    assert {node.status for node in result.nodes} == {"built", "passed"}
    with duckdb.connect(str(project / "shop.duckdb"), read_only=True) as connection:
        cities = connection.execute(
            "SELECT count(*), count(DISTINCT city_name) FROM sat_city"
        ).fetchone()
    assert cities == (7, 7)
