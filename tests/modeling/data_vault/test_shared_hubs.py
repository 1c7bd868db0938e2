"""Hubs that several sources share, same-as links, and what stays apart."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import dear_property
from tests.modeling.several_sources import Modelled, modelled

_SPARSE = "'K' || (10000 + (i * 7919) % 90000)"
"""Codes that lie far apart."""


def customers(key: str, first: int, last: int, name: str = "'Name ' || i", **more: str) -> str:
    """Return a table of customers whose columns are SQL of the number ``i``."""
    columns = ", ".join(f"{sql} AS {column}" for column, sql in more.items())
    return (
        f"CREATE TABLE customers AS SELECT {key} AS customer_no, {name} AS full_name,"
        " DATE '2020-01-01' + CAST(i * 3 % 700 AS INTEGER) AS since, i % 7 AS visits, i % 5 AS"
        " grade"
        f"{', ' + columns if columns else ''} FROM range({first}, {last}) AS t(i)"
    )


def test_codes_that_both_sources_have_make_one_hub(tmp_path: Path) -> None:
    """Each source has its own satellite on it."""
    both = modelled(
        tmp_path,
        {"crm": [customers(_SPARSE, 0, 200)], "shop": [customers(_SPARSE, 100, 300)]},
    )
    assert both.hubs == {"hub_customers": ("crm.customers", "shop.customers")}
    assert both.proof.verdict == "proven"


def test_keys_of_tables_with_too_many_rows_are_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fluid_build.observations.key_overlaps._MOST_ROWS", 199)
    both = modelled(
        tmp_path, {"crm": [customers(_SPARSE, 0, 200)], "shop": [customers(_SPARSE, 100, 300)]}
    )
    assert set(both.hubs) == {"hub_customers_crm", "hub_customers_shop"}


def test_a_source_without_the_keys_of_another_keeps_its_own_hub(tmp_path: Path) -> None:
    both = modelled(
        tmp_path,
        {"crm": [customers(_SPARSE, 0, 200)], "shop": [customers(_SPARSE, 200, 400)]},
    )
    assert both.hubs == {
        "hub_customers_crm": ("crm.customers",),
        "hub_customers_shop": ("shop.customers",),
    }


@pytest.mark.parametrize("key", ["i", "'C-' || lpad(CAST(i AS VARCHAR), 5, '0')"])
def test_keys_assigned_in_order_need_another_column_that_agrees(tmp_path: Path, key: str) -> None:
    same = {"crm": [customers(key, 1, 200)], "shop": [customers(key, 1, 150)]}
    shared = modelled(tmp_path, same)
    assert shared.hubs == {"hub_customers": ("crm.customers", "shop.customers")}
    assert "full_name agrees in 149 of 149 rows" in shared.vault.hubs[0].reason
    other_names = customers(key, 1, 150, name="'Somebody ' || (i * 37)")
    apart = modelled(tmp_path, {"crm": [customers(key, 1, 200)], "shop": [other_names]})
    assert set(apart.hubs) == {"hub_customers_crm", "hub_customers_shop"}
    (reason, _) = (hub.reason for hub in apart.vault.hubs)
    assert "agrees in 0 of 149 rows" in reason
    assert not apart.model.conceptual.candidates


def test_keys_that_nothing_can_be_said_of_are_a_question(tmp_path: Path) -> None:
    """No column could be compared, so a person has to say."""
    both = modelled(
        tmp_path,
        {
            "crm": [
                "CREATE TABLE customers AS SELECT i AS id, i % 3 AS segment FROM range(1, 200) t(i)"
            ],
            "shop": [
                "CREATE TABLE customers AS SELECT i AS id, i % 5 AS visits FROM range(1, 150) t(i)"
            ],
        },
    )
    (question,) = both.model.conceptual.candidates
    assert (question.from_entity, question.to_entity) == ("shop.customers", "crm.customers")
    assert "149 of 149 values in shop.customers are in crm.customers too" in question.reason
    assert "no other column could be compared" in question.reason


def test_a_question_says_that_too_few_rows_could_be_compared(tmp_path: Path) -> None:
    name = "CASE WHEN i > 195 THEN 'Name ' || i END"
    both = modelled(
        tmp_path,
        {
            "crm": [
                f"CREATE TABLE customers AS SELECT i AS id, {name} AS full_name"
                " FROM range(1, 200) t(i)"
            ],
            "shop": [
                f"CREATE TABLE customers AS SELECT i AS id, {name} AS full_name"
                " FROM range(1, 200) t(i)"
            ],
        },
    )
    (question,) = both.model.conceptual.candidates
    assert "other columns could be compared in only 4 rows" in question.reason


def test_an_attribute_of_both_links_rows_that_have_different_keys(tmp_path: Path) -> None:
    email = "'p' || (i * 7919 % 90000) || '@example.org'"
    both = modelled(
        tmp_path,
        {
            "crm": [customers("'A' || (i * 31337 % 99991)", 0, 200, email=email)],
            "shop": [customers("'B' || (i * 17389 % 99991)", 100, 300, email=email)],
        },
    )
    (link,) = both.vault.links
    assert (link.name, link.link_type) == ("sal_customers", "same-as")
    assert [end.hub for end in link.hubs] == ["hub_customers_shop", "hub_customers_crm"]
    assert link.key_match is not None
    assert link.key_match.shared == 100
    assert both.proof.verdict == "proven"


def test_three_sources_share_one_hub(tmp_path: Path) -> None:
    """The third one has it under another name, and only the values say so."""
    both = modelled(
        tmp_path,
        {
            "crm": [customers(_SPARSE, 0, 200)],
            "shop": [customers(_SPARSE, 100, 300)],
            "erp": [
                f"CREATE TABLE accounts AS SELECT {_SPARSE} AS account_code, i % 7 AS grade"
                " FROM range(50, 250) t(i)"
            ],
        },
    )
    assert both.hubs == {"hub_customers": ("crm.customers", "shop.customers", "erp.accounts")}


def test_rows_of_a_source_without_a_table_of_its_own_lead_to_the_hub_of_another(
    tmp_path: Path,
) -> None:
    code = _SPARSE.replace("i", "(i % 90)")
    bookings = (
        f"CREATE TABLE bookings AS SELECT i + 1000 AS booking_id, {code} AS customer_no,"
        " DATE '2024-01-01' + CAST(i AS INTEGER) AS booked, 1.5 * i AS amount"
        " FROM range(300) t(i)"
    )
    both = modelled(tmp_path, {"crm": [customers(_SPARSE, 0, 200)], "loyalty": [bookings]})
    ends = {end.hub for link in both.vault.links for end in link.hubs}
    ends |= {s.via.hub for s in both.vault.satellites if s.via is not None}
    assert "hub_customers" in ends
    assert "loyalty.bookings" in both.vault.hub("hub_customers").mapped_source_tables
    assert both.proof.verdict == "proven"


def test_what_no_table_lists_is_one_thing_within_its_source_only(tmp_path: Path) -> None:
    quotas = (
        "CREATE TABLE {} AS SELECT i % 20 + 1 AS employee_id, DATE '2024-01-01' + CAST(i // 20 * 30"
        " AS INTEGER) AS quarter_start, 1000.5 + i * {} AS amount FROM range(240) AS t(i)"
    )
    both = modelled(
        tmp_path,
        {"sales": [quotas.format("quotas", 7)], "plant": [quotas.format("shifts", 13)]},
    )
    feeds = [hub.mapped_source_tables for hub in both.vault.hubs]
    assert not any({"sales.quotas", "plant.shifts"} <= set(tables) for tables in feeds)
    assert both.proof.verdict == "proven"


def test_a_code_list_of_one_source_is_a_hub_where_another_has_more_to_say(tmp_path: Path) -> None:
    code = "chr(CAST(65 + i % 20 AS INTEGER)) || chr(CAST(90 - i % 20 AS INTEGER))"
    crm = [
        "CREATE TABLE regions (region_code VARCHAR PRIMARY KEY, region_name VARCHAR)",
        f"INSERT INTO regions SELECT {code}, 'Region ' || i FROM range(20) AS t(i)",
        "CREATE TABLE stores (store_id INTEGER PRIMARY KEY, store_name VARCHAR, region_code VARCHAR"
        " REFERENCES regions)",
        f"INSERT INTO stores SELECT i, 'Store ' || i * 7, {code} FROM range(1, 80) AS t(i)",
    ]
    alone = modelled(tmp_path, {"crm": crm, "other": [customers(_SPARSE, 0, 200)]})
    assert "hub_regions" not in alone.hubs
    shop = [
        "CREATE TABLE regions (region_code VARCHAR PRIMARY KEY, title VARCHAR, area INTEGER,"
        " founded DATE, manager VARCHAR)",
        f"INSERT INTO regions SELECT {code}, 'R' || i, i * 3, DATE '2020-01-01' + CAST(i AS"
        " INTEGER), 'm' || i * 7 FROM range(20) AS t(i)",
    ]
    both = modelled(tmp_path, {"crm": crm, "shop": shop})
    assert both.hubs["hub_regions"] == ("crm.regions", "shop.regions")
    assert both.proof.verdict == "proven"


@st.composite
def _key_ranges(draw: st.DrawFn) -> tuple[str, int, int, int, int]:
    key = draw(st.sampled_from([_SPARSE, "i", "i * 1000", "CAST(i AS VARCHAR)"]))
    first, others = draw(st.integers(0, 40)), draw(st.integers(0, 40))
    return key, first, first + draw(st.integers(1, 60)), others, others + draw(st.integers(1, 60))


@dear_property
@given(ranges=_key_ranges(), names=st.sampled_from(["'Name ' || i", "'N' || i * 37 % 11", "NULL"]))
def test_every_row_of_each_source_is_rebuilt_whatever_they_share(
    ranges: tuple[str, int, int, int, int], names: str
) -> None:
    key, first, last, other_first, other_last = ranges
    with tempfile.TemporaryDirectory() as folder:
        both = modelled(
            Path(folder),
            {
                "a": [customers(key, first, last)],
                "b": [customers(key, other_first, other_last, name=names)],
            },
        )
    assert both.proof.verdict == "proven"
    assert _tables_once(both)


def _tables_once(both: Modelled) -> bool:
    """Return whether each table is in at most one hub, and each hub has one table of a source."""
    tables = [table for hub in both.hubs.values() for table in hub]
    sources = [[table.partition(".")[0] for table in hub] for hub in both.hubs.values()]
    return len(set(tables)) == len(tables) and all(len(set(s)) == len(s) for s in sources)
