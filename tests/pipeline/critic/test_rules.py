"""The critic's rules: what each finds, and what it leaves alone."""

from types import SimpleNamespace
from typing import Any

import pytest

from fluid_build.copilot.agents.critic_agent import CriticAgent
from fluid_build.copilot.scratchpad import CriticFinding, Scratchpad
from fluid_build.pipeline.critic.findings import MOST_FINDINGS
from tests.contract.contracts import contract, expose


def part(**fields: Any) -> SimpleNamespace:
    return SimpleNamespace(**fields)


def logical(**layers: Any) -> list[CriticFinding]:
    return CriticAgent().review_logical(part(**layers), scratchpad=Scratchpad())


def vault(**parts: Any) -> list[CriticFinding]:
    hubs = [
        part(name=f"hub_{name}", mapped_source_tables=[name], business_key_columns=["id"])
        for name in ("a", "b")
    ]
    return logical(dv2=part(**{"hubs": hubs, **parts}))


def star(*facts: SimpleNamespace, dimensions: tuple[str, ...] = ("dim_a",)) -> list[CriticFinding]:
    layer = part(facts=list(facts), dimensions=[part(name=name) for name in dimensions])
    return logical(dimensional=layer)


def fact(**changes: Any) -> SimpleNamespace:
    measure = part(name="price", aggregation="sum", additivity="additive")
    fields = {
        "name": "fct",
        "measures": [measure],
        "dimensions": [part(dimension="dim_a")],
        "dated_by": part(attribute="day"),
    }
    return part(**fields | changes)


def entities(*names: str, **fields: Any) -> list[SimpleNamespace]:
    return [part(**{"name": name, "rows": 100, "keys": [], **fields}) for name in names]


def messages(findings: list[CriticFinding]) -> list[tuple[str, str]]:
    return [(finding.severity, finding.message) for finding in findings]


def test_complete_vault_has_no_findings() -> None:
    link = part(name="lnk", hubs=[part(hub="hub_a"), part(hub="hub_b")])
    satellites = [part(name="sat_a", parent="hub_a"), part(name="sat_l", parent="lnk")]
    assert vault(links=[link], satellites=satellites) == []


def test_complete_star_has_no_findings() -> None:
    assert star(fact()) == []


def test_link_needs_two_hubs() -> None:
    assert messages(vault(links=[part(name="lnk", hubs=[part(hub="hub_a")])])) == [
        ("warning", "lnk connects 1 hub; a link needs at least two")
    ]


@pytest.mark.parametrize("more", [{"dependent_child_keys": ["line"]}, {"of_rows": True}])
def test_link_with_other_identifying_columns_may_have_one_hub(more: dict[str, Any]) -> None:
    assert vault(links=[part(name="lnk", hubs=[part(hub="hub_a")], **more)]) == []


def test_link_to_a_hub_that_is_not_there_is_an_error() -> None:
    link = part(name="lnk", hubs=[part(hub="hub_a"), part(hub="hub_x")])
    assert messages(vault(links=[link])) == [("error", "lnk refers to hub_x, which isn't a hub")]


@pytest.mark.parametrize(
    ("parent", "problem"), [("", "there is none"), ("hub_x", "hub_x isn't a hub or link")]
)
def test_satellite_without_its_parent_is_an_error(parent: str, problem: str) -> None:
    assert messages(vault(satellites=[part(name="sat", parent=parent)])) == [
        ("error", f"sat has no parent: {problem}")
    ]


def test_two_hubs_on_one_key_are_found() -> None:
    hub = {"mapped_source_tables": ["a"], "business_key_columns": ["id"]}
    hubs = [part(name=name, **hub) for name in ("hub_a", "hub_b")]
    assert messages(vault(hubs=hubs)) == [("warning", "hub_a and hub_b have the same business key")]


def test_surrogate_key_is_mentioned_where_the_source_declares_another() -> None:
    keys = [
        part(kind="primary", attributes=["id"], origin="declared", holds=True),
        part(kind="declared", attributes=["email"], origin="declared", holds=True),
    ]
    hub = part(
        name="hub_a",
        entity_name="a",
        mapped_source_tables=["a"],
        business_key_columns=["id"],
        business_key_kind="surrogate",
    )
    conceptual = part(entities=entities("a", keys=keys), relationships=[])
    (finding,) = logical(dv2=part(hubs=[hub]), conceptual=conceptual)
    assert finding.severity == "info"
    assert finding.message.endswith("while the source declares another unique key: hub_a")


@pytest.mark.parametrize("fact_type", ["factless", "accumulating_snapshot"])
def test_fact_that_is_counted_needs_no_measure(fact_type: str) -> None:
    assert star(fact(measures=[], fact_type=fact_type)) == []


@pytest.mark.parametrize("additivity", ["non-additive", "semi_additive"])
def test_sum_of_what_does_not_add_up_is_found(additivity: str) -> None:
    measure = part(name="rate", aggregation="sum", additivity=additivity)
    (finding,) = star(fact(measures=[measure]))
    assert finding.message == f"fct.rate is {additivity.replace('_', '-')} and summed"


def test_fact_without_dimensions_is_found() -> None:
    assert ("warning", "fct has no dimensions") in messages(star(fact(dimensions=[])))


def test_dimension_of_a_fact_that_is_not_there_is_an_error() -> None:
    references = [part(dimension="dim_a"), part(dimension="dim_x")]
    assert messages(star(fact(dimensions=references))) == [
        ("error", "fct refers to dim_x, which isn't a dimension")
    ]


def test_undated_facts_and_unused_dimensions_are_mentioned_once() -> None:
    facts = [fact(name=f"fct_{at}", dated_by=None) for at in range(5)]
    assert messages(star(*facts, dimensions=("dim_a", "dim_b", "dim_c"))) == [
        ("info", "5 facts without a date: fct_0, fct_1, fct_2 and 2 more"),
        ("info", "2 dimensions that no fact refers to: dim_b, dim_c"),
    ]


def test_relationship_that_rows_break_is_found_with_their_number() -> None:
    relationship = part(
        name="r",
        from_entity="orders",
        to_entity="customers",
        from_attributes=["customer_id"],
        evidence=part(orphans=12, rows=830),
    )
    conceptual = part(entities=entities("orders", "customers"), relationships=[relationship])
    assert messages(logical(conceptual=conceptual)) == [
        ("warning", "12 rows of 830 in orders refer to no row of customers (by customer_id)")
    ]


def test_rows_that_refer_by_the_source_s_collation_break_no_relationship() -> None:
    relationship = part(
        name="r",
        from_entity="orders",
        to_entity="customers",
        from_attributes=["customer_id"],
        evidence=part(orphans=12, by_collation=12, rows=830),
    )
    conceptual = part(entities=entities("orders", "customers"), relationships=[relationship])
    assert messages(logical(conceptual=conceptual)) == []


def test_declared_key_that_rows_break_is_found_with_their_number() -> None:
    evidence = part(violations=1, nulls=0)
    key = part(kind="declared", attributes=["a", "b"], origin="declared", evidence=evidence)
    assert messages(logical(conceptual=part(entities=entities("t", keys=[key])))) == [
        ("warning", "1 row of t breaks the declared key (a, b)")
    ]


@pytest.mark.parametrize(("kind", "found"), [("declared", 0), ("primary", 1)])
def test_a_null_breaks_a_primary_key_and_no_unique_one(kind: str, found: int) -> None:
    """UNIQUE allows any number of nulls, on every server."""
    evidence = part(violations=0, nulls=20)
    key = part(kind=kind, attributes=["email"], origin="declared", evidence=evidence)
    conceptual = part(entities=entities("t", keys=[key]))
    said = [text for _, text in messages(logical(conceptual=conceptual)) if "break" in text]
    assert len(said) == found


def test_key_measured_on_few_rows_is_mentioned() -> None:
    key = part(kind="primary", attributes=["a"], origin="measured")
    (finding,) = logical(conceptual=part(entities=entities("t", keys=[key], rows=7)))
    assert finding.message == "the key of 1 table was measured on fewer than 20 rows: t"


def reviewed(**changes: Any) -> list[tuple[str, str]]:
    document = contract(domain="sales", exposes=[expose(description="Orders.", **changes)])
    return messages(CriticAgent().review_contract(document, scratchpad=Scratchpad()))


def test_complete_contract_has_no_findings() -> None:
    assert reviewed() == []


def test_unassigned_domain_and_owner_are_warnings() -> None:
    document = contract(
        domain="unassigned",
        metadata={"owner": {"team": "unassigned"}},
        exposes=[expose(description="Orders.")],
    )
    assert messages(CriticAgent().review_contract(document, scratchpad=Scratchpad())) == [
        ("warning", "metadata.domain is unassigned"),
        ("warning", "metadata.owner is unassigned"),
    ]


def test_personal_column_needs_a_classification_and_a_protection() -> None:
    column = {"name": "email", "type": "string", "tags": ["pii"]}
    assert reviewed(contract={"schema": [column]}) == [
        (
            "warning",
            "1 column with personal data without a sensitivity: orders.email",
        )
    ]
    classified = {"schema": [{**column, "sensitivity": "pii"}]}
    ((severity, message),) = reviewed(contract=classified)
    assert severity == "info"
    assert "without a masking rule" in message
    policy = {"privacy": {"masking": [{"column": "email", "strategy": "hash"}]}}
    assert reviewed(contract=classified, policy=policy) == []


def test_key_that_no_rule_checks_is_found() -> None:
    column = {"name": "order_id", "type": "integer", "tags": ["primary-key"]}
    assert reviewed(contract={"schema": [column]}) == [
        ("warning", "1 table with a primary key that no uniqueness rule checks: orders")
    ]


def transform(*builds: SimpleNamespace, model: object = None) -> list[tuple[str, str]]:
    plan = part(builds=list(builds))
    return messages(CriticAgent().review_transform(plan, model, scratchpad=Scratchpad()))


def test_build_that_is_read_and_not_there_is_an_error() -> None:
    assert transform(part(name="a", ref_models=["b"])) == [
        ("error", "a reads b, which no build makes")
    ]


def test_build_that_reads_itself_is_a_circle() -> None:
    assert transform(part(name="a", ref_models=["a"])) == [("error", "circular dependency: a → a")]


def test_each_circle_is_found() -> None:
    pairs = [("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")]
    assert transform(*(part(name=name, ref_models=[read]) for name, read in pairs)) == [
        ("error", "circular dependency: a → b → a"),
        ("error", "circular dependency: c → d → c"),
    ]


def test_relation_that_no_build_makes_is_an_error() -> None:
    model = part(dv2=part(hubs=[part(name="hub_a")]))
    assert transform(part(name="b", ref_models=[]), model=model) == [
        ("error", "hub_a is in the model, and no build makes it")
    ]


def test_staging_that_nothing_reads_is_mentioned() -> None:
    assert transform(part(name="stg", layer="staging")) == [
        ("info", "1 staging build that no other build reads: stg")
    ]


@pytest.mark.parametrize("name", ["order", "Select", "a" * 64])
def test_name_that_a_target_refuses_is_found(name: str) -> None:
    ((severity, message),) = transform(part(name="t", columns=[part(name=name)]))
    assert severity == "warning"
    assert message.startswith("1 name too long or reserved on a target database: ")


def test_many_findings_of_a_rule_end_with_their_count() -> None:
    hubs = [part(name=f"hub_{at}", business_key_columns=[]) for at in range(500)]
    findings = vault(hubs=hubs)
    assert len(findings) == MOST_FINDINGS
    assert findings[-1].message.startswith("491 more of the same kind: dv2.hubs.hub_9.")
    assert findings[-1].severity == "warning"


def test_no_error_hides_among_many_warnings() -> None:
    links = [part(name=f"lnk_{at}", hubs=[part(hub="hub_a")]) for at in range(50)]
    findings = vault(links=[*links, part(name="last", hubs=["hub_a", "hub_x"])])
    assert [finding.severity for finding in findings].count("error") == 1


def test_reviewing_twice_finds_the_same() -> None:
    layer = part(hubs=[part(name=f"hub_{at}", business_key_columns=[]) for at in range(30)])
    assert logical(dv2=layer) == logical(dv2=layer)


def test_long_names_of_strangers_are_cut() -> None:
    (finding,) = vault(hubs=[part(name="x" * 5_000, business_key_columns=[])])
    assert len(finding.message) <= 300
    assert len(finding.target or "") <= 300
