"""Names in a star are short, say nothing twice and are legal everywhere."""

import pytest

from fluid_build.modeling.dimensional.star_names import (
    StarNames,
    free_alias,
    free_column,
    prefixed,
)
from fluid_build.modeling.sql_names import sql_names
from fluid_build.profiling.profile import Profile
from tests.modeling.profiles import reference
from tests.modeling.sources import conceptual, source


def names(measured: Profile) -> StarNames:
    return StarNames(sql_names(conceptual(measured)))


@pytest.mark.parametrize(
    ("table", "stem", "member"),
    [
        ("orders", "orders", "order"),
        ("dim_customers", "customers", "customer"),
        ("stg_raw_orders", "orders", "order"),
        ("tbl_categories_lkp", "categories", "category"),
        ("fact", "fact", "fact"),
        ("OrderLines", "order_lines", "order_line"),
    ],
)
def test_a_table_loses_the_words_that_say_what_kind_it_was(
    table: str, stem: str, member: str
) -> None:
    given = names(source(f"{table} *id, a"))
    assert (given.stem(table), given.member(table)) == (stem, member)


def test_a_prefix_of_all_columns_is_left_out() -> None:
    measured = source("customer *c_id, c_name text, c_city text")
    entity = conceptual(measured).entity("customer")
    assert names(measured).bare_column(entity, "c_name") == "name"


@pytest.mark.parametrize(
    ("attribute", "role"),
    [
        ("ordered", "ordered_date"),
        ("order_date", "order_date"),
        ("ordered_at", "ordered_date"),
        ("paid_day", "paid_day"),
        ("orderdate", "orderdate"),
        ("timestamp", "date"),
        ("date_created", "created_date"),
        ("date_of_entry", "entry_date"),
        ("data_rozpoczecia", "rozpoczecia_date"),
        ("czas_pomiaru", "pomiaru_date"),
        ("s_date_created_d", "created_date"),
        ("lieferdatum", "lieferdatum"),
        ("acknowledgetime", "acknowledge_date"),
    ],
)
def test_a_date_gets_a_role_that_ends_in_date(attribute: str, role: str) -> None:
    measured = source(f"orders *id, {attribute} date")
    entity = conceptual(measured).entity("orders")
    assert names(measured).date_role(entity, attribute) == role


def _stems(*tables: str) -> list[str]:
    star_names = names(source("\n".join(f"{table} *id" for table in tables)))
    return [star_names.stem(table) for table in tables]


@pytest.mark.parametrize(
    ("tables", "stems"),
    [
        ("llx_user llx_order llx_bank llx_tax log", "user order bank tax log"),
        ("app_hr_job app_hr_unit app_hr_pay app_hr_leave app_log", "job unit pay leave log"),
    ],
)
def test_a_prefix_of_most_tables_is_left_out(tables: str, stems: str) -> None:
    assert _stems(*tables.split()) == stems.split()


@pytest.mark.parametrize(
    "tables",
    [
        "llx_user llx_order llx_bank llx_tax user",
        "sale sale_line sale_tax sale_note sale_state",
        "sales_orders sales_lines stores",
    ],
)
def test_a_prefix_stays_where_it_is_a_word_or_keeps_names_apart(tables: str) -> None:
    first = tables.split()[1 if tables.startswith("sale ") else 0]
    assert _stems(*tables.split())[tables.split().index(first)] == first


@pytest.mark.parametrize(
    ("column", "known_role", "role", "by_columns"),
    [
        ("manager_id", "", "", "manager"),
        ("manager_id", "Boss Of", "boss_of", "boss_of"),
        ("id_key", "", "", "id_key"),
        ("manager", "", "", "manager"),
        ("id_2", "", "", "id_2"),
    ],
)
def test_a_role_is_the_known_one_or_made_of_the_columns(
    column: str, known_role: str, role: str, by_columns: str
) -> None:
    key = reference("staff", column, "person", "id", role=known_role)
    measured = source(f"person *id, name text\nstaff *no, {column}, x text", key)
    model = conceptual(measured)
    relationship = model.relationships[0]
    given = names(measured)
    assert given.role(relationship) == role
    assert given.role_by_columns(relationship, model.entity("staff")) == by_columns


@pytest.mark.parametrize(
    ("prefix", "name", "expected"),
    [
        ("customer", "city", "customer_city"),
        ("customer", "customer_city", "customer_city"),
        ("ship_customer", "customer_key", "ship_customer_key"),
        ("order", "orders_total", "orders_total"),
        ("ship", "ship", "ship"),
        ("category", "parent_category_id", "parent_category_id"),
    ],
)
def test_a_prefix_repeats_no_word(prefix: str, name: str, expected: str) -> None:
    assert prefixed(prefix, name) == expected


def test_a_used_name_gets_a_number_and_is_used_from_then_on() -> None:
    used = {"city"}
    assert [free_column("city", used), free_column("city", used)] == ["city_2", "city_3"]
    assert used == {"city", "city_2", "city_3"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [("order", "order_"), ("valid_from", "valid_from_"), ("date", "date_"), ("own", "own_2")],
)
def test_an_alias_is_no_reserved_word_type_or_alias_of_the_builds(name: str, expected: str) -> None:
    assert free_alias(name, set()) == expected


def test_a_long_name_is_cut_to_what_every_target_keeps() -> None:
    assert len(free_column("x" * 80, set())) <= 63
