"""The similarity of names: scores from 0 to 1 that rank what is likelier meant."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.profiling.names.key_names import (
    hierarchy_score,
    is_hierarchical,
    own_key_score,
    reference_score,
    role_name,
    score_between,
)
from fluid_build.profiling.names.parsing import ParsedColumnName, ParsedTableName, parse_names
from fluid_build.profiling.names.similarity import (
    abbreviates,
    ending_similarity,
    phrase_similarity,
    word_similarity,
)
from fluid_build.profiling.weights import DEFAULT_WEIGHTS

WEIGHTS = DEFAULT_WEIGHTS.names

WORD = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=9)
PHRASE = st.lists(WORD, max_size=4).map(tuple)


class Named(NamedTuple):
    table: ParsedTableName
    column: ParsedColumnName


def named(table: str, column: str) -> Named:
    parsed = parse_names([(table, [column])])[0]
    return Named(parsed.table, parsed.columns[0])


def refers_to(child_table: str, child: str, parent_table: str, key: str) -> float:
    ours, theirs = named(child_table, child), named(parent_table, key)
    if child_table == parent_table:
        return hierarchy_score(ours.column, theirs.column, theirs.table, WEIGHTS)
    own_key = own_key_score(theirs.column, theirs.table, WEIGHTS)
    return reference_score(ours.column, theirs.column, theirs.table, own_key, WEIGHTS)


@pytest.mark.parametrize(
    ("short", "long"),
    [
        *[("cust", "customer"), ("qty", "quantity"), ("dept", "department"), ("emp", "employee")],
        *[("addr", "address"), ("prdct", "product"), ("mgr", "manager")],
    ],
)
def test_abbreviations_are_recognised(short: str, long: str) -> None:
    """A word's beginning, or its consonants in order, abbreviates it."""
    assert abbreviates(short, long)
    assert word_similarity(short, long) == 0.9


@pytest.mark.parametrize(("short", "long"), [("c", "customer"), ("cat", "car"), ("x", "x")])
def test_a_letter_or_another_word_abbreviates_nothing(short: str, long: str) -> None:
    """One letter says too little, and different words stay different."""
    assert not abbreviates(short, long)


def test_singular_and_plural_are_the_same_word() -> None:
    """Singular and plural are equal."""
    assert word_similarity("orders", "order") == 1.0


def test_synonyms_are_half_similar() -> None:
    """A vendor may be a supplier."""
    assert word_similarity("vendor", "supplier") == 0.5


def test_initials_abbreviate_a_phrase() -> None:
    """``po`` may be a purchase order, and ``custaddr`` a customer's address."""
    assert phrase_similarity(("po",), ("purchase", "order")) == 0.85
    assert phrase_similarity(("custaddr",), ("customer", "address")) == 0.85


def test_a_phrase_ends_with_another() -> None:
    """A ship-to address is an address."""
    assert ending_similarity(("ship", "to", "address"), ("address",)) == 1.0
    assert ending_similarity(("address",), ("address",)) == 0.0


@given(PHRASE, PHRASE)
def test_similarity_is_symmetric_and_bounded(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    """Phrases are as similar one way as the other, from 0 to 1."""
    assert phrase_similarity(one, other) == phrase_similarity(other, one)
    assert 0.0 <= phrase_similarity(one, other) <= 1.0


@given(PHRASE.filter(bool))
def test_a_phrase_equals_itself(phrase: tuple[str, ...]) -> None:
    """Nothing is more similar than the same words."""
    assert phrase_similarity(phrase, phrase) == 1.0


@given(WORD, WORD, WORD, WORD)
def test_scores_stay_between_0_and_1(child: str, column: str, parent: str, key: str) -> None:
    """Whatever the names, a score is from 0 to 1."""
    assert 0.0 <= refers_to(child, column, parent, key) <= 1.0
    parsed = named(parent, key)
    assert 0.0 <= own_key_score(parsed.column, parsed.table, WEIGHTS) <= 1.0


@pytest.mark.parametrize(
    ("table", "key"),
    [("customers", "customer_id"), ("DimCustomer", "CustomerKey"), ("customer", "customerid")],
)
def test_a_key_named_for_its_table_scores_1(table: str, key: str) -> None:
    """``customer_id`` is the usual name for the key of customers."""
    parsed = named(table, key)
    assert own_key_score(parsed.column, parsed.table, WEIGHTS) == 1.0


def test_a_bare_id_scores_nearly_1() -> None:
    """``id`` is any table's own key."""
    parsed = named("customers", "id")
    assert 0.9 <= own_key_score(parsed.column, parsed.table, WEIGHTS) < 1.0


def test_another_tables_key_scores_0() -> None:
    """``store_id`` isn't the key of customers by name."""
    parsed = named("customers", "store_id")
    assert own_key_score(parsed.column, parsed.table, WEIGHTS) == 0.0


@pytest.mark.parametrize(
    "child",
    ["customer_id", "CustomerID", "customerId", "CUSTOMER_ID", "customerid", "cust_id", "custid"],
)
def test_every_style_refers_to_the_parent(child: str) -> None:
    """A column named after its parent refers to it, in every spelling."""
    assert refers_to("orders", child, "customers", "id") >= 0.8


@pytest.mark.parametrize("child", ["ship_to_address_id", "BillingAddressID", "home_address_id"])
def test_a_role_in_front_still_refers(child: str) -> None:
    """Words before the parent's name are a role."""
    assert refers_to("orders", child, "address", "address_id") >= 0.8


def test_an_unrelated_column_does_not_refer() -> None:
    """A quantity isn't a product."""
    assert refers_to("order_line", "quantity", "product", "product_id") < 0.2


def test_a_named_parent_beats_one_with_the_same_ending() -> None:
    """``product_category_id`` means the category of products, not any category."""
    exact = refers_to("product", "product_category_id", "product_category", "id")
    assert exact > refers_to("product", "product_category_id", "category", "id")


@pytest.mark.parametrize("child", ["parent_id", "parent_category_id", "root_id", "replaces_id"])
def test_structural_words_mean_the_own_table(child: str) -> None:
    """A parent, root or predecessor is a row of the same table."""
    parsed = named("category", child)
    assert is_hierarchical(parsed.column, parsed.table)
    assert refers_to("category", child, "category", "category_id") >= 0.7


def test_managers_are_people() -> None:
    """A manager is a row of the same table among employees, not among warehouses."""
    staff, warehouse = named("employees", "manager_id"), named("warehouses", "manager_id")
    assert is_hierarchical(staff.column, staff.table)
    assert not is_hierarchical(warehouse.column, warehouse.table)


@pytest.mark.parametrize(
    ("child", "role"),
    [("ship_to_address_id", "ship_to"), ("BillingAddressID", "billing"), ("address_id", "")],
)
def test_the_role_is_what_the_name_adds(child: str, role: str) -> None:
    """Words beyond the parent's name are the role."""
    key = named("address", "address_id")
    assert role_name(named("orders", child).column, key.column, key.table) == role


@pytest.mark.parametrize("table", ["t1", "col_7", "12", "_"])
def test_a_table_name_without_words_has_no_own_key(table: str) -> None:
    """If the table's name has no words, a key's words match nothing and break nothing."""
    parsed = named(table, "customer_id")
    assert own_key_score(parsed.column, parsed.table, WEIGHTS) == 0.0
    assert refers_to("orders", "customer_id", table, "customer_id") <= 1.0
    assert refers_to(table, "customer_id", "customers", "customer_id") >= 0.8


@pytest.mark.parametrize(
    ("child", "parent", "key", "least"),
    [
        *[("study1_id", "study", "study_id", 0.9), ("bus0", "buses", "name", 0.8)],
        *[("node_from", "nodes", "id", 0.7), ("variation_set_sub", "variation_set", "id", 0.7)],
        *[("id_client_facturation", "client", "id_client", 0.7)],
        *[("course_code_before", "subjects", "course_code", 0.5)],
        *[("planet", "planets", "name", 0.8), ("dept_name", "department", "dept_name", 0.8)],
        *[("account", "ledger_accounts", "account_code", 0.5), ("s_ID", "student", "ID", 0.45)],
    ],
)
def test_a_role_a_number_or_a_label_does_not_hide_the_parent(
    child: str, parent: str, key: str, least: float
) -> None:
    """Numbered roles, roles behind the name, labels and initials still point at the parent."""
    assert refers_to("t", child, parent, key) >= least


@pytest.mark.parametrize(
    ("child", "parent", "key"),
    [
        *[("created_by", "users", "user_id"), ("mngr_no", "employee", "emp_no")],
        *[("team_leader", "employee", "emp_no"), ("codigo_jefe", "empleado", "codigo_empleado")],
        *[("capital", "city", "id"), ("nationality", "countries", "code")],
    ],
)
def test_some_words_mean_a_parent_without_naming_it(child: str, parent: str, key: str) -> None:
    """Who acts or leads is a person; a capital is a city."""
    assert refers_to("t", child, parent, key) >= 0.6


def test_who_created_an_account_is_another_account() -> None:
    """``users.creator`` refers to its own table."""
    user, person = named("users", "creator"), named("person", "creator")
    assert is_hierarchical(user.column, user.table)
    assert not is_hierarchical(person.column, person.table)


@pytest.mark.parametrize(
    ("child", "parent", "key"),
    [
        *[("order_status", "orders", "id"), ("quantity_ordered", "orders", "order_number")],
        *[("max_stat", "stats", "id"), ("targets", "move_targets", "id")],
        *[("person_name_id", "person", "person_id")],
    ],
)
def test_an_attribute_or_an_amount_is_no_plain_reference(child: str, parent: str, key: str) -> None:
    """A name that begins with a parent's, counts, or was ordered isn't that parent's key."""
    assert refers_to("t", child, parent, key) <= 0.6


@pytest.mark.parametrize(
    ("left", "right", "similarity"),
    [
        *[("cliente", "clienti", 0.9), ("pracownika", "pracownicy", 0.7)],
        *[("produktu", "produkty", 0.7), ("invoice", "invoiced", 0.0)],
        *[("order", "ordered", 0.0), ("producer", "production", 0.0)],
    ],
)
def test_inflected_words_share_a_stem(left: str, right: str, similarity: float) -> None:
    """Endings of gender, number and case are forms of one word, English derivations aren't."""
    assert word_similarity(left, right) == similarity


def test_a_parent_is_named_by_the_childs_table_and_its_column() -> None:
    """The status of an invoice is an invoice status."""
    invoice, status = named("invoice", "status_id"), named("invoice_status", "id")
    other = named("order_status", "id")
    score = score_between(0.5, invoice.column, invoice.table, status.table, WEIGHTS)
    assert score > 0.9
    assert score_between(0.5, invoice.column, invoice.table, other.table, WEIGHTS) == 0.5


def test_a_parent_of_the_same_module_is_meant() -> None:
    """In ``conquest_…``, a stat is a ``conquest_stat``."""
    parsed = parse_names(
        [
            *[("conquest_rank", ["id"]), ("conquest_stats", ["id"]), ("stats", ["id"])],
            ("conquest_moves", ["required_stat_id"]),
        ]
    )
    tables = [names.table for names in parsed]
    child, key = parsed[3].columns[0], parsed[1].columns[0]
    scores = [
        score_between(
            reference_score(child, key, parent, 0.95, WEIGHTS), child, tables[3], parent, WEIGHTS
        )
        for parent in (tables[1], tables[2])
    ]
    assert scores[0] > scores[1] > 0.9


def test_the_last_word_that_only_one_table_has_names_it() -> None:
    """``initial_state_id`` means the one table of states."""
    parsed = parse_names([("order_state", ["id"]), ("orders", ["initial_state_id"])])
    child, parent = parsed[1].columns[0], parsed[0]
    assert reference_score(child, parent.columns[0], parent.table, 0.95, WEIGHTS) == 0.85


def test_a_key_that_is_called_like_another_table_belongs_to_that_one() -> None:
    """``person_id`` isn't the key of ``person_address``."""
    parsed = parse_names(
        [("person", ["person_id"]), ("person_address", ["person_id"]), ("visit", ["person_id"])]
    )
    child = parsed[2].columns[0]
    home, other = (
        reference_score(
            child,
            names.columns[0],
            names.table,
            own_key_score(names.columns[0], names.table, WEIGHTS),
            WEIGHTS,
        )
        for names in parsed[:2]
    )
    assert (home, other) == (1.0, WEIGHTS.key_name)


def test_a_numbered_column_is_not_its_tables_key() -> None:
    """``address2`` is the second line of an address."""
    parsed = named("address", "address2")
    assert own_key_score(parsed.column, parsed.table, WEIGHTS) == 0.0


def test_repeated_letters_are_compared_at_once() -> None:
    """A long name that can be cut in countless ways costs no more than another."""
    assert phrase_similarity(("a" * 60 + "b",), ("aaaaaa",) * 12) == 0.0
    assert phrase_similarity(("a" * 60,), ("aaaaaa",) * 12) > 0.0


ANY = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


@given(ANY, ANY, ANY, ANY)
def test_any_names_can_be_compared(child: str, column: str, parent: str, key: str) -> None:
    """No name, whatever its characters, breaks a comparison."""
    assert 0.0 <= refers_to(child, column, parent, key) <= 1.0
