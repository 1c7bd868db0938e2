"""What columns say about the record, which makes no event of a person or a setting."""

from fluid_build.modeling.dimensional.judging.entity_roles import judged_roles
from fluid_build.modeling.dimensional.judging.reference_graph import ReferenceGraph, reference_graph
from tests.modeling.sources import conceptual, source

SIGNED_RECORDS = """
    member   *id, name text
    person   *id, sex text, created_by > member, created_at date
    provider *id, person_id > person, sort text, created_by > member, created_at date
    visit    *id, person_id > person, started date, created_by > member, created_at date
    address  *id, person_id > person, street text, created_by > member, created_at date
"""
SHOP = """
    customer *id, name text, created_at date
    store    *id, name text, created_at date
    sale     *id, customer_id > customer, store_id > store, created_at date
    sale_item *id, sale_id > sale, amount decimal
"""


def graph(schema: str) -> ReferenceGraph:
    measured = source(schema)
    return reference_graph(measured, conceptual(measured))


def facts(schema: str) -> set[str]:
    return {name for name, role in judged_roles(graph(schema)).items() if role.kind == "fact"}


def test_a_signed_record_with_a_date_of_creation_is_no_event() -> None:
    assert facts(SIGNED_RECORDS) == {"visit"}


def test_who_wrote_a_record_takes_no_part_in_the_event() -> None:
    records = graph(SIGNED_RECORDS)
    assert [parent.to_entity for parent in records.parents["visit"]] == ["person"]
    assert records.is_referring("visit", "created_by")


def test_a_date_of_creation_makes_an_event_of_a_header_with_measured_lines() -> None:
    assert facts(SHOP) == {"sale", "sale_item"}


def test_a_date_of_creation_of_one_table_is_no_habit() -> None:
    events = graph("customer *id, name text\n sale *id, customer_id > customer, created_at date")
    assert not events.record_keeping.stamps


def test_a_common_name_for_dates_is_no_habit() -> None:
    days = "\n".join(f"measured{number} *id, date date" for number in range(6))
    assert not graph(days).record_keeping.stamps


def test_the_records_of_a_log_are_events() -> None:
    log = graph(f"{SIGNED_RECORDS} audit_log *id, created_by > member, created_at date")
    assert [date.name for date in log.event_dates(log.entities["audit_log"])] == ["created_at"]
