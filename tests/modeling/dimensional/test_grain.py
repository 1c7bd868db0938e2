"""Which columns identify a row of a fact where few rows make many columns unique."""

from dataclasses import replace

from fluid_build.modeling.dimensional.facts.grain import StatedGrain, believable_grain
from fluid_build.modeling.dimensional.judging.reference_graph import reference_graph
from tests.modeling.sources import conceptual, source

PEOPLE = """
    patient *id, name text
    drug    *id, name text
"""


def grain(columns: str, *key: str, event_date: str | None = None, rows: int = 6) -> StatedGrain:
    """The grain of an undeclared key, in a few rows."""
    measured = source(f"{PEOPLE} dosage {columns}", rows=rows)
    graph = reference_graph(measured, conceptual(measured))
    unique = {**graph.unique, "dosage": frozenset({frozenset(key)})}
    graph = replace(graph, keys={**graph.keys, "dosage": key}, unique=unique)
    return believable_grain(graph, graph.entities["dosage"], event_date)


TREATED = "patient_id > patient, drug_id > drug, given date, dose decimal"


def test_a_reference_that_is_unique_by_accident_gives_way_to_all_of_them_and_the_date() -> None:
    assert grain(TREATED, "drug_id", event_date="given") == StatedGrain(
        ("patient_id", "drug_id", "given"),
        "They identify each of the 6 rows, but no key is declared.",
    )


def test_a_quantity_identifies_nothing() -> None:
    assert grain(TREATED, "patient_id", "dose") == StatedGrain(
        (), "patient_id, dose is unique in the 6 rows, but doesn't look like a key."
    )


def test_a_number_of_its_own_is_believed_in_few_rows() -> None:
    assert grain(f"dosage_no, {TREATED}", "dosage_no") == StatedGrain(("dosage_no",))


def test_a_reference_is_believed_in_many_rows() -> None:
    assert grain(TREATED, "drug_id", rows=60) == StatedGrain(("drug_id",))
