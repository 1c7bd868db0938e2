"""Which columns of two sources say that rows are the same."""

from fluid_build.modeling.data_vault.source_overlaps import same_as_overlaps
from fluid_build.observations.key_overlaps import KeyOverlap
from tests.modeling.sources import conceptual, source

SCHEMA = """
    clients *id, email text, phone text, code text
    people *id, email text, phone text, code text
"""


def overlap(column: str, shared: int) -> KeyOverlap:
    return KeyOverlap(
        "clients", column, "people", column, 100, 100, shared,
        is_dense=False, average_length=12.0, are_tables_alike=False, are_columns_alike=True,
    )  # fmt: skip


def test_the_column_that_says_most_comes_first() -> None:
    entities = {entity.name: entity for entity in conceptual(source(SCHEMA)).entities}
    overlaps = [overlap("phone", 60), overlap("email", 95), overlap("code", 80)]
    found = same_as_overlaps(entities, overlaps, ())
    assert [each.left_column for each in found] == ["email", "code", "phone"]
