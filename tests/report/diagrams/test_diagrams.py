"""The diagrams of a source, of the business behind it and of a model say what is known of them."""

from collections.abc import Iterator

import pytest
from hypothesis import assume, given

from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.entities import conceptual_model
from fluid_build.modeling.logical import Technique
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling.profile import Profile
from fluid_build.report.diagrams.conceptual_diagram import conceptual_diagram
from fluid_build.report.diagrams.diagram import Diagram, DiagramBox, DiagramEdge
from fluid_build.report.diagrams.model_diagram import model_diagram
from fluid_build.report.diagrams.source_diagram import source_diagram
from fluid_build.report.view import source_view
from fluid_build.transform.plan.techniques import transform_plan
from tests.modeling.profiles import candidate, column, profile, profiles, reference, table
from tests.modeling.sources import changed_column, source

TECHNIQUES: tuple[Technique, ...] = ("flat", "data_vault_2", "dimensional")
SHOP = """
    customer *id, name text, city text/5
    payment  *id, payment_name text/3
    orders   *id, ordered date, total decimal, customer_id > customer, payment_id? > payment
"""


def diagram_of_source(measured: Profile) -> Diagram:
    return source_diagram(source_view(measured))


def diagram_of_business(measured: Profile) -> Diagram:
    return conceptual_diagram(conceptual_model(measured))


def diagram_of_model(measured: Profile, technique: Technique, **options: bool) -> Diagram:
    model = build_model(measured, technique, **options)
    return model_diagram(model, transform_plan(model))


def box(diagram: Diagram, name: str) -> DiagramBox:
    (result,) = (each for each in diagram.boxes if each.name == name)
    return result


def edge(diagram: Diagram, child: str, parent: str, label: str = "") -> DiagramEdge:
    (result,) = (
        each
        for each in diagram.edges
        if (each.child, each.parent, each.label) == (child, parent, label)
    )
    return result


def kinds(diagram: Diagram) -> dict[str, str]:
    return {each.name: each.kind for each in diagram.boxes}


def marked(diagram: Diagram, name: str) -> list[tuple[str, str]]:
    return [(row.name, " ".join(row.marks)) for row in box(diagram, name).rows if row.is_key]


def faults(diagram: Diagram) -> Iterator[str]:
    """Return what would keep a diagram from being drawn."""
    boxes = {each.id: each for each in diagram.boxes}
    if len(boxes) < len(diagram.boxes):
        yield "two boxes have the same id"
    if len({each.id for each in diagram.edges}) < len(diagram.edges):
        yield "two edges have the same id"
    for each in diagram.edges:
        if not {each.child, each.parent} <= boxes.keys():
            yield f"{each.id} ends at no box"
            continue
        for end, names in ((each.child, each.child_rows), (each.parent, each.parent_rows)):
            rows = {row.name: row for row in boxes[end].rows}
            if not set(names) <= rows.keys():
                yield f"{each.id} ends at no row of {end}"
            elif each.state != "question" and not all(rows[name].is_key for name in names):
                yield f"{each.id} ends at a row that may be hidden"
        if not each.text:
            yield f"{each.id} says nothing"
    for each_box in diagram.boxes:
        keys = [row.is_key for row in each_box.rows]
        if keys != sorted(keys, reverse=True):
            yield f"{each_box.id} doesn't begin with its keys"


@given(profiles())
def test_every_diagram_of_a_source_can_be_drawn(measured: Profile) -> None:
    """Ids are unique, edges end at rows that are always drawn, and keys come first."""
    assert [*faults(diagram_of_source(measured))] == []
    assert [*faults(diagram_of_business(measured))] == []


@given(profiles())
def test_every_diagram_of_a_model_can_be_drawn(measured: Profile) -> None:
    """No engine reads a table without a name, and a star can't be planned with one."""
    assume(all(each.name for each in measured.tables))
    for technique in TECHNIQUES:
        assert [*faults(diagram_of_model(measured, technique))] == []


def test_a_source_has_all_columns_with_their_types_and_keys_first() -> None:
    diagram = diagram_of_source(
        profile(
            table(
                "orders",
                column("placed", "DATE", declared_type="date"),
                column("customer"),
                column("number"),
                column("id"),
                primary_key=("id",),
                declared_keys=[
                    {"columns": ["number"], "evidence": {"origin": "declared", "rows": 100}}
                ],
            ),
            table("customers", column("id"), primary_key=("id",)),
            foreign_keys=[reference("orders", "customer", "customers", "id")],
        )
    )
    orders = box(diagram, "orders")
    assert [(row.name, row.type, row.marks) for row in orders.rows] == [
        ("id", "BIGINT", ("PK",)),
        ("customer", "BIGINT", ("FK",)),
        ("number", "BIGINT", ("UK",)),
        ("placed", "date", ()),
    ]
    assert (orders.remark, orders.tables, orders.group) == ("100 rows", ("orders",), "")


def test_rows_without_a_parent_break_a_relationship() -> None:
    diagram = diagram_of_source(
        profile(
            table("orders", column("id"), column("customer"), primary_key=("id",)),
            table("customers", column("id"), primary_key=("id",)),
            foreign_keys=[reference("orders", "customer", "customers", "id", orphans=7, nulls=3)],
        )
    )
    broken = edge(diagram, "orders", "customers")
    assert (broken.state, broken.orphans) == ("broken", 7)
    assert (broken.child_count, broken.parent_count) == ("many", "zero-or-one")
    assert broken.text == (
        "orders (customer) refers to customers (id). 7 of 100 rows have no match; 3 more are null."
    )


def test_open_questions_are_drawn_as_such_and_unlikely_ones_not_at_all() -> None:
    shares = {"a": 0.45, "b": 0.1}
    diagram = diagram_of_source(
        profile(
            table("t", *map(column, ("id", "a", "b")), primary_key=("id",)),
            candidates=[
                candidate("t", name, "t", "id", confidence=share) for name, share in shares.items()
            ],
        )
    )
    (question,) = diagram.edges
    assert (question.state, question.child_rows) == ("question", ("a",))
    assert question.text == (
        "t (a) may refer to t (id), with a confidence of 0.45: the evidence isn't strong enough."
    )


def test_structure_without_data_is_drawn_without_figures() -> None:
    diagram = diagram_of_source(source(SHOP, source_kind="ddl", has_data=False))
    assert {each.remark for each in diagram.boxes} == {""}
    assert edge(diagram, "orders", "customer").text == (
        "orders (customer_id) refers to customer (id)."
    )


@pytest.mark.parametrize(
    ("places", "groups"),
    [
        (('"sales"."a"', '"crm"."b"'), ["sales", "crm"]),
        (('"sales"."a"', '"sales"."b"'), ["", ""]),
        (('"say ""hi"""."a"', '"b.c"'), ['say "hi"', ""]),
    ],
)
def test_tables_are_grouped_by_schema_where_there_are_several(
    places: tuple[str, str], groups: list[str]
) -> None:
    tables = [
        table(name, column("id"), place=place) for name, place in zip("ab", places, strict=True)
    ]
    assert [each.group for each in diagram_of_source(profile(*tables)).boxes] == groups


def test_tables_are_grouped_by_source_where_there_are_several() -> None:
    tables = [
        table(f"{name}.t", column("id"), place=f'"{name}"."main"."t"', source=name)
        for name in ("shop", "crm")
    ]
    diagram = diagram_of_source(profile(*tables))
    assert [each.group for each in diagram.boxes] == ["shop", "crm"]


def test_a_table_that_only_pairs_two_others_is_a_relationship_of_the_business() -> None:
    diagram = diagram_of_business(
        source("""
            film  *id, title text
            actor *id, actor_name text
            plays *film_id > film, *actor_id > actor, last_update timestamp
        """)
    )
    assert kinds(diagram) == {"film": "entity", "actor": "entity"}
    (pairing,) = diagram.edges
    assert (pairing.child, pairing.parent, pairing.label) == ("film", "actor", "plays")
    assert (pairing.child_count, pairing.parent_count) == ("many", "many")
    assert pairing.text == "plays pairs film with actor."


def test_a_pair_that_has_something_of_its_own_is_an_entity() -> None:
    diagram = diagram_of_business(
        source("""
            film  *id, title text
            actor *id, actor_name text
            plays *film_id > film, *actor_id > actor, role text
        """)
    )
    assert [row.name for row in box(diagram, "plays").rows] == ["role"]
    assert len(diagram.edges) == 2


def test_an_entity_has_neither_references_nor_columns_that_keep_records() -> None:
    diagram = diagram_of_business(
        source("""
            customer *id, name text
            orders   *id, customer_id > customer, total decimal, created_at timestamp, row_id uuid
        """)
    )
    assert [row.name for row in box(diagram, "orders").rows] == ["id", "total"]


def test_an_entity_with_the_key_of_another_may_be_a_subtype() -> None:
    diagram = diagram_of_business(
        source("""
            person   *id, name text
            employee *id > person, salary decimal
        """)
    )
    shared = edge(diagram, "employee", "person", "same key")
    assert (shared.child_count, shared.parent_count) == ("one", "one")
    assert shared.text == (
        "Each employee shares its key with one person, as a subtype or an extension does."
    )


def renamed(conceptual: ConceptualModel, name: str, new_name: str) -> ConceptualModel:
    entities = tuple(
        entity.model_copy(update={"new_name": new_name}) if entity.name == name else entity
        for entity in conceptual.entities
    )
    return conceptual.model_copy(update={"entities": entities})


def test_the_business_has_the_names_that_were_decided() -> None:
    conceptual = renamed(conceptual_model(source(SHOP)), "customer", "client")
    diagram = conceptual_diagram(conceptual)
    assert box(diagram, "client").id == "customer"
    assert edge(diagram, "orders", "customer").text == "Each orders refers to one client."


def test_flat_tables_refer_to_each_other_as_their_tests_check() -> None:
    diagram = diagram_of_model(source(SHOP), "flat")
    assert set(kinds(diagram).values()) == {"table"}
    assert marked(diagram, "orders") == [("id", "PK"), ("customer_id", "FK"), ("payment_id", "FK")]
    assert edge(diagram, "orders", "customer").parent_count == "one"
    assert edge(diagram, "orders", "payment").parent_count == "zero-or-one"


def test_a_vault_has_its_links_and_satellites_around_its_hubs() -> None:
    diagram = diagram_of_model(source(SHOP), "data_vault_2")
    assert kinds(diagram) == {
        "hub_payment": "hub",
        "sat_payment": "satellite",
        "hub_customer": "hub",
        "hub_orders": "hub",
        "lnk_orders": "link",
        "sat_customer": "satellite",
        "sat_orders": "satellite",
        "eff_sat_orders": "satellite",
    }
    assert edge(diagram, "lnk_orders", "hub_customer").child_rows == ("customer_hk",)
    assert edge(diagram, "sat_customer", "hub_customer").parent_rows == ("customer_hk",)
    assert edge(diagram, "eff_sat_orders", "lnk_orders")
    assert box(diagram, "eff_sat_orders").remark == "effectivity"
    assert marked(diagram, "hub_customer") == [("customer_hk", "PK"), ("id", "BK")]


def test_a_satellite_refers_to_the_codes_of_a_reference_table() -> None:
    measured = source(
        "colour *code text, label text\nshirt *id, c text > colour, size text", rows=40
    )
    coded = changed_column(measured, "colour", "code", max_length=2)
    diagram = diagram_of_model(coded, "data_vault_2")
    assert kinds(diagram)["ref_colour"] == "reference"
    assert edge(diagram, "sat_shirt", "ref_colour").child_rows == ("c",)


def test_a_business_vault_refers_to_what_it_is_derived_from() -> None:
    films = """
        store *id, store_name text
        customer *id, name text, store_id > store
        orders *id, total decimal, ordered date, customer_id > customer
    """
    diagram = diagram_of_model(source(films), "data_vault_2", business_vault=True)
    (bridge,) = (each for each in diagram.boxes if each.remark == "bridge")
    assert bridge.kind == "business"
    assert edge(diagram, bridge.id, "snapshot_dates")
    assert edge(diagram, bridge.id, "hub_store")


def test_a_star_has_an_edge_for_each_role_of_a_dimension() -> None:
    diagram = diagram_of_model(
        source("""
            airport *id, airport_name text
            flight  *id, flown date, fare decimal, origin_id > airport, target_id > airport
        """),
        "dimensional",
    )
    roles = {each.label for each in diagram.edges if each.parent == "dim_airport"}
    assert roles == {"origin", "target"}
    assert kinds(diagram)["fct_flight"] == "fact"
    assert box(diagram, "dim_airport").tables == ("airport",)


def test_versions_of_a_dimension_are_next_to_it() -> None:
    diagram = diagram_of_model(
        source("""
            customer *id, city text/5, street text, segment text/4
            sale     *id, sold date, amount decimal, customer_id > customer
        """),
        "dimensional",
    )
    versions = box(diagram, "dim_customer_history")
    assert (versions.kind, versions.remark) == ("table", "version table")
    assert edge(diagram, versions.id, "dim_customer").parent_rows == ("id",)


def test_a_bridge_refers_to_the_events_by_their_number() -> None:
    diagram = diagram_of_model(
        source("""
            customer *id, name text
            reason   *id, reason_name text
            sale     *id, sold date, amount decimal, customer_id > customer
            because  *reason_id > reason, *sale_id > sale
        """),
        "dimensional",
    )
    assert edge(diagram, "brg_because", "fct_sale").child_rows == ("sale_id",)
    assert kinds(diagram)["brg_because"] == "bridge"
