"""Which types write equal key values alike, and which type holds them all."""

import pytest

from fluid_build.modeling.conceptual import Attribute, Conversion
from fluid_build.modeling.data_vault.key_types import are_written_alike, vault_type
from fluid_build.profiling.profile import Evidence


@pytest.mark.parametrize(
    ("left", "right", "alike"),
    [
        ("BIGINT", "SMALLINT", True),
        ("BIGINT", "UTINYINT", True),
        ("INTEGER", "DECIMAL(10,0)", True),
        ("DECIMAL(10,2)", "DECIMAL(18,2)", True),
        ("DECIMAL(10,2)", "DECIMAL(10,1)", False),
        ("INTEGER", "DECIMAL(10,2)", False),
        ("VARCHAR", "ENUM('a', 'b')", True),
        ("VARCHAR", "INTEGER", False),
        ("UUID", "VARCHAR", False),
        ("UUID", "UUID", True),
        ("DATE", "TIMESTAMP", False),
    ],
)
def test_equal_values_have_equal_texts_only_in_like_types(
    left: str, right: str, alike: bool
) -> None:
    assert are_written_alike([left], [right]) == alike
    assert are_written_alike([right], [left]) == alike


def test_keys_are_compared_column_by_column() -> None:
    assert are_written_alike(["BIGINT", "VARCHAR"], ["INTEGER", "VARCHAR"])
    assert not are_written_alike(["BIGINT", "VARCHAR"], ["VARCHAR", "BIGINT"])
    assert not are_written_alike(["BIGINT"], ["BIGINT", "BIGINT"])


@pytest.mark.parametrize(("reversible", "expected"), [(True, "BIGINT"), (False, "VARCHAR")])
def test_a_vault_converts_text_only_if_every_spelling_can_be_restored(
    reversible: bool, expected: str
) -> None:
    attribute = Attribute(
        name="id",
        type="bigint",
        conversion=Conversion(to_type="BIGINT", reversible=reversible),
        required=True,
        evidence=Evidence(origin="measured", rows=3),
    )
    assert vault_type(attribute) == expected
