"""The view of a source carries what any document, screen or page shows of it."""

import pytest

from fluid_build.modeling.element import Alternative
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling.profile import Profile
from fluid_build.report.diagrams.model_diagram import model_diagram
from fluid_build.report.markdown_document import model_document
from fluid_build.report.model_elements import ElementView, Name, plain
from fluid_build.report.view import SourceView, confidence_label, source_view
from fluid_build.transform.plan.techniques import transform_plan
from tests.modeling.profiles import column, profile, reference, table

TECHNIQUES = ("flat", "data_vault_2", "dimensional")


def shop() -> Profile:
    """Orders of customers, with their lines: keys, references and a second candidate key."""
    return profile(
        table(
            "customers",
            column("customer_id"),
            column("email", "VARCHAR", pii=True),
            column("city", "VARCHAR", distinct=5),
            primary_key=("customer_id",),
            candidate_keys=[("customer_id",), ("email",)],
        ),
        table(
            "orders",
            column("order_id"),
            column("customer_id"),
            column("ordered_on", "DATE"),
            column("total", "DECIMAL(8,2)"),
            primary_key=("order_id",),
            candidate_keys=[("order_id",)],
        ),
        foreign_keys=[reference("orders", "customer_id", "customers", "customer_id", orphans=3)],
    )


def forged_view(technique: str) -> SourceView:
    model = build_model(shop(), technique)
    return source_view(shop(), model, transform_plan(model))


def elements(view: SourceView) -> list[ElementView]:
    assert view.model is not None
    return [element for group in view.model.groups for element in group.elements]


def test_a_profile_alone_has_tables_keys_relationships_and_notices() -> None:
    """Without a model there is nothing built, and everything that was measured."""
    view = source_view(shop())
    customers, orders = view.tables
    assert (view.model, view.proof, customers.proof) == (None, None, None)
    assert orders.key is not None
    assert orders.key.attributes == ("order_id",)
    assert [key.attributes for key in customers.entity.keys] == [("customer_id",), ("email",)]
    assert [each.measured.name for each in orders.columns] == [
        each.attribute.name for each in orders.columns
    ]
    (relationship,) = view.conceptual.relationships
    assert relationship.evidence.orphans == 3
    assert relationship.evidence.sql
    assert view.notices[0].kind == "orphans"


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_every_relation_that_is_built_is_counted_by_a_kind_of_its_technique(
    technique: str,
) -> None:
    """None falls under the general word for a relation."""
    view = forged_view(technique)
    assert view.model is not None
    counts = dict(view.model.relation_counts)
    model = build_model(shop(), technique)
    assert sum(counts.values()) == len(transform_plan(model).published)
    assert "relation" not in counts


@pytest.mark.parametrize("technique", TECHNIQUES[1:])
def test_every_element_of_a_model_has_its_reason(technique: str) -> None:
    """Each says why it is there, and has a fact for each heading between its name and reason."""
    view = forged_view(technique)
    assert view.model is not None
    for group in view.model.groups:
        for element in group.elements:
            assert element.reason
            assert len(element.facts) == len(group.headings) - 2


def test_hubs_and_satellites_come_with_the_source_columns_they_are_made_of() -> None:
    """A page can lead from an element to its columns at the source."""
    view = forged_view("data_vault_2")
    columns = {element.name: element.source_columns for element in elements(view)}
    hub = next(name for name in columns if name.startswith("hub_customer"))
    assert [(column.table, column.column) for column in columns[hub]] == [
        ("customers", "customer_id"),
        ("orders", "customer_id"),
    ]


def test_prose_is_plain_text_without_its_marks() -> None:
    """A renderer that can't set names apart shows them as they are."""
    assert plain(("a ", Name("b"), ".")) == "a b."


@pytest.mark.parametrize(
    ("confidence", "label"), [(1.0, "1.00"), (0.9999, "0.99"), (0.29, "0.29"), (0.005, "0.00")]
)
def test_a_confidence_is_rounded_down(confidence: float, label: str) -> None:
    """What isn't certain never shows as certain, and a hundredth that is there stays."""
    assert confidence_label(confidence) == label


def test_the_choices_that_lost_follow_the_reason_of_an_element() -> None:
    """A reader sees what else an element could have been, and why it isn't."""
    model = build_model(shop(), "data_vault_2")
    assert model.dv2 is not None
    first, *others = model.dv2.hubs
    decided = first.model_copy(
        update={
            "reason": "It has a key.",
            "alternatives": (Alternative(choice="a link", reason="others refer to it"),),
        }
    )
    vault = model.dv2.model_copy(update={"hubs": (decided, *others)})
    view = source_view(shop(), model.model_copy(update={"dv2": vault}))
    (hub,) = (element for element in elements(view) if element.name == first.name)
    assert hub.reason == "It has a key. Not a link: others refer to it."


def test_a_dimension_says_what_happens_to_each_of_its_columns() -> None:
    """Every column of it is listed once, with its SCD type."""
    model = build_model(shop(), "dimensional")
    assert model.dimensional is not None
    (customers,) = (d for d in model.dimensional.dimensions if d.entity_name == "customers")
    star = model.dimensional.model_copy(update={"dimensions": (customers,)})
    view = source_view(shop(), model.model_copy(update={"dimensional": star}))
    assert view.model is not None
    (changes,) = (g for g in view.model.groups if g.headings[1:2] == ("SCD type",))
    columns = [plain(element.facts[1]) for element in changes.elements]
    assert sorted(", ".join(columns).split(", ")) == sorted(a.name for a in customers.attributes)


def test_tables_of_a_business_vault_come_with_a_query_that_uses_them() -> None:
    detail = table(
        "details",
        column("customer_id"),
        column("hobby", "VARCHAR"),
        primary_key=("customer_id",),
        candidate_keys=[("customer_id",)],
    )
    detailed = shop().model_copy(update={"tables": (*shop().tables, detail)})
    reference_to_customers = reference("details", "customer_id", "customers", "customer_id")
    detailed = detailed.model_copy(update={"foreign_keys": (reference_to_customers,)})
    model = build_model(detailed, "data_vault_2", business_vault=True)
    plan = transform_plan(model)
    view = source_view(detailed, model, plan)
    assert view.model is not None and ("point-in-time table", 1) in view.model.relation_counts
    (table_view,) = (element for element in elements(view) if element.name == "pit_customers")
    assert "JOIN sat_details\n    ON sat_details.customers_hk" in table_view.query
    assert f"```sql\n{table_view.query}\n```" in model_document(view, model_diagram(model, plan))


def test_an_empty_business_vault_is_reported() -> None:
    tables = tuple(
        table.model_copy(
            update={"columns": tuple(c.model_copy(update={"pii": False}) for c in table.columns)}
        )
        for table in shop().tables
    )
    nobody = shop().model_copy(update={"tables": tables})
    model = build_model(nobody, "data_vault_2", business_vault=True)
    view = source_view(nobody, model, transform_plan(model)).model
    assert view is not None
    assert view.note == (
        "The business vault is empty: no hub has two satellites, and no chain has two links."
    )
