"""The types of a model: what the values really are, as far as that is safe."""

import pytest

from fluid_build.modeling.types import column_type
from tests.modeling.profiles import column


@pytest.mark.parametrize(
    ("semantic_type", "pii", "measured", "expected"),
    [
        ("card_number", True, "BIGINT", "varchar(19)"),
        ("postal_code", True, "INTEGER", "varchar(19)"),
        ("ean", False, "BIGINT", "varchar(19)"),
        ("latitude", True, "DOUBLE", "double"),
        ("date_of_birth", True, "DATE (%d.%m.%Y)", "date"),
        (None, False, "BIGINT", "bigint"),
        ("uuid", False, "UUID", "uuid"),
    ],
)
def test_codes_in_text_stay_text_and_quantities_do_not(
    semantic_type: str | None, pii: bool, measured: str, expected: str
) -> None:
    """Digits that name something are no number: the next one may start with a nought."""
    facts = {"declared_type": "varchar(19)", "semantic_type": semantic_type, "pii": pii}
    stored = column("c", "VARCHAR", measured_type=measured, max_length=19, **facts)
    assert column_type(stored) == expected
