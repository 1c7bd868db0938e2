"""The critic as "Agentic Primitives" documents it, sample by sample."""

from types import SimpleNamespace
from typing import Any

import pytest

from fluid_build.copilot.agents.critic_agent import CriticAgent
from fluid_build.copilot.scratchpad import CriticFinding, Scratchpad


def logical(**layers: Any) -> SimpleNamespace:
    return SimpleNamespace(**{"dv2": None, "dimensional": None, "conceptual": None, **layers})


def hub(**changes: Any) -> SimpleNamespace:
    sample = {
        "entity_name": "hub_customer",
        "business_key_columns": ["customer_id"],
        "mapped_source_tables": ["customers"],
    }
    return SimpleNamespace(**sample | changes)


def vault(*hubs: SimpleNamespace) -> SimpleNamespace:
    return logical(dv2=SimpleNamespace(hubs=list(hubs), links=[]))


@pytest.mark.parametrize("entity_name", ["hub_customer", "customer"])
def test_hub_without_a_business_key_is_found(entity_name: str) -> None:
    scratchpad = Scratchpad()
    findings = CriticAgent().review_logical(
        vault(hub(entity_name=entity_name, business_key_columns=[])), scratchpad=scratchpad
    )
    assert [finding.message for finding in findings] == ["hub_customer has no business_key_columns"]
    assert findings[0].stage == "logical"
    assert findings[0].severity == "warning"
    assert findings[0].target == "dv2.hubs.hub_customer.business_key_columns"
    assert scratchpad.critic_findings == findings


def test_suggestion_names_the_key_of_the_entity() -> None:
    key = SimpleNamespace(kind="primary", attributes=["customer_id"], origin="declared")
    entity = SimpleNamespace(name="customers", keys=[key], rows=100)
    model = vault(hub(business_key_columns=[]))
    model.conceptual = SimpleNamespace(entities=[entity], relationships=[])
    findings = CriticAgent().review_logical(model, scratchpad=Scratchpad())
    assert findings[0].suggestion == "set business_key_columns to ['customer_id']"


def test_fact_without_measures_is_found() -> None:
    fact = SimpleNamespace(name="fct_orders", measures=[])
    model = logical(dimensional=SimpleNamespace(facts=[fact], dimensions=[]))
    findings = CriticAgent().review_logical(model, scratchpad=Scratchpad())
    assert [finding.message for finding in findings] == ["fct_orders: fact has no measures"]


def test_conceptual_orphan_is_found() -> None:
    entities = [SimpleNamespace(name=name, keys=[], rows=100) for name in ("a", "b", "c")]
    relationship = SimpleNamespace(name="r", from_entity="a", to_entity="b")
    model = logical(conceptual=SimpleNamespace(entities=entities, relationships=[relationship]))
    (finding,) = CriticAgent().review_logical(model, scratchpad=Scratchpad())
    assert finding.message == "1 of 3 entities without a relationship: c"


def test_empty_exposes_and_missing_domain_are_errors() -> None:
    contract = {"metadata": {"owner": {"team": "shop"}}, "exposes": []}
    findings = CriticAgent().review_contract(contract, scratchpad=Scratchpad())
    assert [(finding.severity, finding.message) for finding in findings] == [
        ("error", "exposes is empty"),
        ("error", "metadata.domain missing"),
    ]
    assert {finding.stage for finding in findings} == {"contract"}


@pytest.mark.parametrize(
    "place",
    [
        {"domain": "sales"},
        {"metadata": {"owner": {"team": "a"}, "businessContext": {"domain": "sales"}}},
    ],
)
def test_domain_counts_in_both_places_that_the_schema_allows(place: dict[str, Any]) -> None:
    contract = {"metadata": {"owner": {"team": "a"}}, "exposes": [{"exposeId": "x"}], **place}
    findings = CriticAgent().review_contract(contract, scratchpad=Scratchpad())
    assert "metadata.domain" not in {finding.target for finding in findings}


@pytest.mark.parametrize(
    "plan",
    [
        {"builds": [{"name": "a", "depends_on": ["b"]}, {"name": "b", "depends_on": ["c"]},
                    {"name": "c", "depends_on": ["a"]}]},
        {"builds": [{"id": "c", "dependencies": [{"buildId": "a"}]},
                    {"id": "a", "dependencies": [{"buildId": "b"}]},
                    {"id": "b", "dependencies": [{"buildId": "c"}]}]},
        {"a": ["b"], "b": ["c"], "c": ["a"]},
        SimpleNamespace(builds=[SimpleNamespace(name="a", ref_models=("b",)),
                                SimpleNamespace(name="b", ref_models=("c",)),
                                SimpleNamespace(name="c", ref_models=("a",))]),
    ],
    ids=["depends_on", "dependencies", "mapping", "objects"],
)  # fmt: skip
def test_circular_dependency_is_an_error(plan: object) -> None:
    (finding,) = CriticAgent().review_transform(plan, None, scratchpad=Scratchpad())
    assert finding.message in (
        "circular dependency: a → b → c → a",
        "circular dependency: c → a → b → c",
    )
    assert finding.severity == "error"
    assert finding.stage == "transform"


def test_a_rule_can_be_added_as_documented() -> None:
    """The sample "Adding a new critic rule"."""

    class StrictCritic(CriticAgent):
        def review_logical(
            self, logical: Any, *, scratchpad: Scratchpad | None = None
        ) -> list[CriticFinding]:
            assert scratchpad is not None
            findings = super().review_logical(logical, scratchpad=Scratchpad())
            for hub in getattr(logical.dv2, "hubs", []) or []:
                if not hub.mapped_source_tables:
                    findings.append(
                        CriticFinding(
                            stage="logical",
                            severity="warning",
                            message=f"Hub {hub.entity_name!r} has no mapped_source_tables",
                            target=f"dv2.hubs.{hub.entity_name}.mapped_source_tables",
                        )
                    )
            for f in findings:
                scratchpad.add_critic_finding(f)
            return findings

    scratchpad = Scratchpad()
    StrictCritic().review_logical(vault(hub(mapped_source_tables=[])), scratchpad=scratchpad)
    assert [finding.message for finding in scratchpad.critic_findings_for_stage("logical")] == [
        "Hub 'hub_customer' has no mapped_source_tables"
    ]


def test_a_rule_can_be_passed_as_a_function() -> None:
    agent = CriticAgent(
        logical_rules=[lambda model: [CriticFinding("logical", "info", f"saw {model}")]]
    )
    (finding,) = agent.review_logical("it", scratchpad=Scratchpad())
    assert finding.message == "saw it"


@pytest.mark.parametrize("nothing", [None, {}, SimpleNamespace(), object(), "text", 3])
def test_nothing_is_reviewed_without_an_error(nothing: object) -> None:
    critic = CriticAgent()
    assert critic.review_logical(nothing, scratchpad=Scratchpad()) == []
    assert critic.review_transform(nothing, nothing, scratchpad=Scratchpad()) == []
    messages = [f.message for f in critic.review_contract(nothing, scratchpad=Scratchpad())]
    assert messages[:2] == ["exposes is empty", "metadata.domain missing"]
