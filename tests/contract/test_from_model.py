"""The contract says what is promised, in words that the FLUID schema allows, and no figures."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given

from fluid_build.contract.consistency import check_consistency
from fluid_build.contract.fluid import ContractColumn, DqRule, Expose, FluidContract
from fluid_build.contract.validation import validate
from fluid_build.contract.write.evidence import evidence_document
from fluid_build.contract.write.from_model import contract_from_model
from fluid_build.contract.write.yaml_text import as_document, contract_yaml
from fluid_build.errors import EmptySourceError
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling.profile import Profile
from fluid_build.transform.plan.techniques import transform_plan
from tests.contract.official import validator as official
from tests.modeling.profiles import column, profile, profiles, reference, table, values
from tests.shared import FLUID_SCHEMA


def contract_of(measured: Profile) -> FluidContract:
    model = build_model(measured)
    return contract_from_model(measured, model, transform_plan(model))


def expose(measured: Profile) -> Expose:
    return contract_of(measured).exposes[0]


def one_column(name: str = "c", type_: str = "BIGINT", **more: object) -> ContractColumn:
    columns = expose(profile(table("t", column(name, type_, **more)))).contract.columns
    assert columns is not None
    return columns[0]


def evidence_of(measured: Profile) -> Any:
    return evidence_document(measured, transform_plan(build_model(measured)))


def rules(measured: Profile) -> Iterator[DqRule]:
    for exposed in contract_of(measured).exposes:
        yield from (exposed.contract.dq and exposed.contract.dq.rules) or ()


def rule(measured: Profile, id_: str) -> DqRule:
    return next(found for found in rules(measured) if found.id == id_)


@given(profiles())
def test_any_profile_gives_a_valid_contract(measured: Profile) -> None:
    """Whatever names, types and figures a source has, our validator and the schema accept it."""
    document = as_document(contract_of(measured))
    assert validate(document) == ()
    assert check_consistency(document) == ()
    if FLUID_SCHEMA.exists():
        assert official().is_valid(document)
    assert yaml.load(contract_yaml(contract_of(measured)), Loader=yaml.CSafeLoader) == document


@given(profiles())
def test_ids_are_unique_and_the_bytes_repeat(measured: Profile) -> None:
    """Exposes and rules have distinct ids, and a second time gives the same text."""
    contract = contract_of(measured)
    exposes = [exposed.expose_id for exposed in contract.exposes]
    assert len(set(exposes)) == len(exposes)
    ids = [found.id for found in rules(measured)]
    assert len(set(ids)) == len(ids)
    for exposed in contract.exposes:
        section = exposed.semantics
        assert section is not None
        parts = (*(section.entities or ()), *(section.measures or ()), *(section.dimensions or ()))
        assert len({part.name for part in parts}) == len(parts)
    assert contract_yaml(contract) == contract_yaml(contract_of(measured))


def test_twin_names_keep_their_own_ids_whatever_their_order() -> None:
    """Tables whose ids would clash get the same ids in any order."""
    names = ["OrderDetails", "order_details", "Order Details"]
    tables = [table(name, column("id")) for name in names]
    forwards = contract_of(profile(*tables)).exposes
    backwards = contract_of(profile(*reversed(tables))).exposes
    ids = {exposed.title: exposed.expose_id for exposed in forwards}
    assert ids == {exposed.title: exposed.expose_id for exposed in backwards}
    assert ids["order_details"] == "order_details"
    assert len(set(ids.values())) == 3


@pytest.mark.parametrize(
    ("measured", "name"),
    [
        ("DECIMAL(18,3)", "decimal(18,3)"),
        ("UBIGINT", "decimal(20,0)"),
        ("TIMESTAMP WITH TIME ZONE", "timestamptz"),
        ("VARCHAR[]", "array"),
        ("DECIMAL(10,2)[]", "array"),
        ("STRUCT(a INTEGER)", "struct"),
        ("MAP(VARCHAR, INTEGER)", "map"),
        ("JSON", "json"),
        ("ENUM('a', 'b')", "enum"),
        ("SOMETHING_NEW", "string"),
    ],
)
def test_types_are_named_as_the_schema_has_them(measured: str, name: str) -> None:
    """Each DuckDB type has a name that the schema allows, precision and scale kept."""
    assert one_column(type_=measured).type == name


@pytest.mark.parametrize(
    ("declared", "longest", "name"),
    [
        ("VARCHAR(30)", 30, "varchar(30)"),
        ("character varying(30)", 12, "varchar(30)"),
        ("NVARCHAR(30)", 12, "varchar(30)"),
        ("CHAR(2)", 2, "char(2)"),
        ("VARCHAR(30)", 31, "string"),
        ("VARCHAR", 12, "string"),
        ("TEXT", 12, "string"),
    ],
)
def test_a_declared_length_is_kept_where_the_data_keeps_it(
    declared: str, longest: int, name: str
) -> None:
    """A length limit is promised only if no value is longer."""
    made = one_column(type_="VARCHAR", declared_type=declared, max_length=longest)
    assert made.type == name


def test_a_date_in_text_is_a_date_and_says_how_it_is_stored() -> None:
    """The type is that of the values, and a label tells what they are stored as."""
    made = one_column(type_="VARCHAR", measured_type="DATE (%d.%m.%Y)")
    assert made.type == "date"
    assert made.labels is not None
    assert made.labels["type-reason"] == "Stored as VARCHAR; every value is a DATE (%d.%m.%Y)."


def test_personal_data_is_marked_and_its_values_are_not_shown() -> None:
    """A PII column is sensitive, tagged, and its values are nowhere in the contract."""
    secret = values(**{"ann@example.com": 50, "bob@example.com": 50})
    facts = {"min": "ann@example.com", "max": "bob@example.com", "distinct": 2}
    mail = column("mail", "VARCHAR", pii=True, semantic_type="email", top_values=secret, **facts)
    contract = contract_of(profile(table("t", mail)))
    columns = contract.exposes[0].contract.columns
    assert columns is not None
    assert (columns[0].sensitivity, columns[0].semantic_type) == ("pii", "email")
    assert columns[0].tags == ["pii"]
    assert contract.exposes[0].tags == ["pii", "no-key"]
    assert "example.com" not in contract_yaml(contract)


def test_a_column_that_is_never_null_is_required_and_has_a_rule() -> None:
    """Not-null is promised where it was measured, firmly where it was declared."""
    measured, declared = column("a"), column("b", nullable=False)
    shop = profile(table("t", measured, declared, column("c", nulls=1)))
    columns = expose(shop).contract.columns
    assert columns is not None
    assert [made.required for made in columns] == [True, True, False]
    assert rule(shop, "t.a.not_null").severity == "warn"
    assert rule(shop, "t.b.not_null").severity == "error"
    assert not any(found.id == "t.c.not_null" for found in rules(shop))


def test_a_declared_not_null_that_the_data_breaks_is_not_promised() -> None:
    """A column that holds nulls is not required, whatever is declared."""
    assert one_column(nullable=False, nulls=3).required is False


def test_structure_without_data_promises_what_is_declared() -> None:
    """From DDL, only NOT NULL columns are required, and no figure is made up."""
    columns = (column("a", rows=0, distinct=0), column("b", rows=0, distinct=0, nullable=False))
    shop = profile(table("t", *columns), source_kind="ddl", has_data=False)
    made = expose(shop).contract.columns
    assert made is not None
    assert [column_.required for column_ in made] == [False, True]
    assert "nulls" not in evidence_of(shop)["columns"]["t.a"]


def test_a_composite_key_is_one_rule_and_one_entity() -> None:
    """A key of two columns is promised for both together."""
    shop = profile(
        table("t", column("a", distinct=9), column("b", distinct=9), primary_key=("a", "b"))
    )
    found = rule(shop, "t.a_b.unique")
    assert (found.type, found.selector, found.severity) == ("uniqueness", "a, b", "error")
    assert found.labels is None
    section = expose(shop).semantics
    assert section is not None and section.entities is not None
    assert [(e.name, e.type, e.expr) for e in section.entities] == [("t", "primary", "(a, b)")]


def test_a_declared_key_that_the_data_violates_becomes_a_warning() -> None:
    """The rule allows for the violations that are there, and for what chance adds."""
    claim = {"columns": ["a"], "evidence": {"origin": "declared", "rows": 100, "violations": 7}}
    shop = profile(table("t", column("a"), declared_keys=[claim]))
    found = rule(shop, "t.a.unique")
    assert (found.severity, found.threshold, found.operator) == ("warn", 0.8, ">=")
    assert found.labels == {"limit": "measured"}
    assert evidence_of(shop)["rules"]["t.a.unique"]["violations"] == 7


def test_orphans_are_the_threshold_of_their_relationship() -> None:
    """A reference with known orphans allows for some, and its evidence has figures and query."""
    shop = profile(
        table("orders", column("id"), column("customer")),
        table("customers", column("id"), primary_key=("id",)),
        foreign_keys=[reference("orders", "customer", "customers", "id", orphans=3)],
    )
    found = rule(shop, "orders.orders_customer_to_customers.reference")
    assert (found.type, found.severity, found.threshold) == ("accuracy", "warn", 0.9)
    assert found.labels is not None
    assert found.labels["to-table"] == "customers"
    evidence = evidence_of(shop)["rules"][found.id]
    assert evidence["orphans"] == 3
    assert "LEFT JOIN" in evidence["sql"]


def test_the_figures_of_a_source_are_in_the_evidence_alone() -> None:
    """Rows, nulls, distinct values and orphans change every night, and the contract doesn't."""
    shop = profile(
        table("orders", column("id", rows=98765, distinct=98765, semantic_type="identifier",
                               semantic_reason="98765 of 98765 values are numbers."),
              column("customer", rows=98765, nulls=4321, distinct=54321)),
        table("customers", column("id", rows=65432, distinct=65432), primary_key=("id",)),
        foreign_keys=[reference("orders", "customer", "customers", "id", orphans=23)],
    )  # fmt: skip
    figures = {"98765", "4321", "54321", "65432", "23", "98,765", "65,432"}
    promised = set(re.findall(r"[0-9,]+", contract_yaml(contract_of(shop))))
    assert not figures & promised
    measured = set(re.findall(r"[0-9]+", json.dumps(evidence_of(shop))))
    assert {"98765", "4321", "54321", "65432", "23"} <= measured


def test_several_roles_to_one_parent_are_entities_of_their_own() -> None:
    """Two references to one table do not share a name; a single one is named after its parent."""
    shop = profile(
        table("orders", column("id"), column("ship"), column("bill"), column("shop")),
        table("address", column("id"), primary_key=("id",)),
        table("shop", column("id"), primary_key=("id",)),
        foreign_keys=[
            reference("orders", "ship", "address", "id", role="ship_to"),
            reference("orders", "bill", "address", "id", role="bill_to"),
            reference("orders", "shop", "shop", "id"),
        ],
    )
    section = expose(shop).semantics
    assert section is not None and section.entities is not None
    foreign = [entity.name for entity in section.entities if entity.type == "foreign"]
    assert foreign == ["address_ship_to", "address_bill_to", "shop"]


def test_a_small_closed_domain_becomes_accepted_values() -> None:
    """Few values in many rows, all of them known, are the values that are accepted."""
    state = column("state", "VARCHAR", distinct=2, top_values=values(shipped=60, open=40))
    found = rule(profile(table("t", state)), "t.state.accepted_values")
    assert (found.type, found.severity) == ("valid_values", "warn")
    assert found.labels is not None
    assert json.loads(found.labels["accepted-values"]) == ["open", "shipped"]


@pytest.mark.parametrize(
    "facts",
    [
        {"pii": True},
        {"distinct_exact": False},
        {"sample": 100},
        {"distinct": 3},
        {"rows": 20, "top_values": values(a=10, b=10)},
        {"top_values": values(a=99, b=1)},
        {"semantic_type": "city"},
        {"type": "BIGINT"},
        {"type": "DATE"},
    ],
    ids=lambda facts: next(iter(facts)),
)
def test_values_are_not_accepted_on_weak_grounds(facts: dict[str, object]) -> None:
    """Personal data, samples, unknown or single values and numbers aren't closed domains."""
    plain = {"name": "x", "type": "VARCHAR", "distinct": 2, "top_values": values(a=50, b=50)}
    merged = plain | facts
    measured = column(str(merged.pop("name")), str(merged.pop("type")), **merged)
    assert not any(found.type == "valid_values" for found in rules(profile(table("t", measured))))


def test_small_numbers_are_a_domain_where_the_name_says_so() -> None:
    """A status in whole numbers is a closed domain, a quantity is not."""
    facts: dict[str, object] = {"distinct": 2, "top_values": values(**{"1": 50, "2": 50})}
    shop = profile(table("t", column("status", **facts), column("quantity", **facts)))
    found = [one.selector for one in rules(shop) if one.type == "valid_values"]
    assert found == ["status"]


def test_measures_are_what_can_be_added_up() -> None:
    """Amounts are summed, prices averaged; keys, codes and years aren't measures."""
    columns = [
        column(name, "DECIMAL(10,2)" if "price" in name or "amount" in name else "BIGINT", **facts)
        for name, facts in {
            "id": {},
            "customer_id": {},
            "amount": {},
            "unit_price": {},
            "quantity": {"distinct": 9},
            "order_number": {},
            "year": {"distinct": 9},
            "status_code": {"distinct": 4},
        }.items()
    ]
    section = expose(profile(table("t", *columns, primary_key=("id",)))).semantics
    assert section is not None and section.measures is not None
    assert [(measure.name, measure.agg) for measure in section.measures] == [
        ("row_count", "count"),
        ("amount", "sum"),
        ("unit_price", "avg"),
        ("quantity", "sum"),
    ]


def test_a_level_is_summed_at_its_last_time() -> None:
    """Across accounts balances add up; over time the last one counts."""
    balance = column("balance", "DECIMAL(10,2)", distinct=40)
    dated = table("accounts", balance, column("closed_on", "DATE", distinct=9))
    for measured, agg, dimension in ((dated, "sum", "closed_on"), (table("t", balance), "avg", "")):
        section = expose(profile(measured)).semantics
        assert section is not None and section.measures is not None
        level = section.measures[1]
        last = level.non_additive_dimension
        assert (level.agg, last.name if last else "") == (agg, dimension)
        assert last is None or last.window_choice == "max"


def test_what_nobody_knows_reads_unassigned() -> None:
    """Owner and domain are placeholders that say so."""
    contract = contract_of(profile(table("t", column("id"))))
    assert contract.metadata.owner.team == "unassigned"
    assert contract.domain == "unassigned"


def test_a_source_without_tables_has_no_contract() -> None:
    """Nothing to expose is said in a sentence, not written as an empty contract."""
    with pytest.raises(EmptySourceError) as caught:
        contract_of(profile())
    assert caught.value.hint
