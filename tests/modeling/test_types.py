"""The types of a model: what the values really are, as far as that is safe."""

import pytest

from fluid_build.modeling.types import column_type, family, is_number, type_name
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


@pytest.mark.parametrize(
    ("duckdb", "expected"),
    [
        ("BIGINT", "bigint"),
        ("UINTEGER", "bigint"),
        ("HUGEINT", "decimal(39,0)"),
        ("DECIMAL(10, 2)", "decimal(10,2)"),
        ("VARCHAR[]", "array"),
        ("INTEGER[3]", "array"),
        ("STRUCT(a INTEGER)", "struct"),
        ("STRUCT(a INTEGER)[]", "array"),
        ("MAP(VARCHAR, INTEGER)", "map"),
        ("ENUM('a', 'b')", "enum"),
        ("DATE (%d.%m.%Y)", "date"),
        ("TIMESTAMP WITH TIME ZONE", "timestamptz"),
        ("SOMETHING_NEW", "string"),
    ],
)
def test_a_duckdb_type_has_a_name_in_the_contract(duckdb: str, expected: str) -> None:
    assert type_name(duckdb) == expected


@pytest.mark.parametrize(
    ("declared", "longest", "expected"),
    [
        ("varchar(20)", 20, "varchar(20)"),
        ("NVARCHAR2 (20 CHAR)", 5, "varchar(20)"),
        ("character varying(20)", 5, "varchar(20)"),
        ("char(2)", 2, "char(2)"),
        ("bpchar(2)", None, "char(2)"),
        ("varchar(20)", 21, "string"),
        ("varchar(0)", 0, "string"),
        ("varchar(max)", 5, "string"),
        ("text", 5, "string"),
        ("numeric(10,2)", 5, "string"),
    ],
)
def test_a_declared_length_counts_if_no_value_is_longer(
    declared: str, longest: int | None, expected: str
) -> None:
    stored = column("c", "VARCHAR", declared_type=declared, max_length=longest)
    assert column_type(stored) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("varchar(20)", "text"),
        ("decimal(10,2)", "decimal"),
        ("real", "float"),
        ("timestamptz", "timestamp"),
        ("json", "nested"),
        ("binary", "other"),
    ],
)
def test_a_type_belongs_to_a_family(name: str, expected: str) -> None:
    assert family(name) == expected


@pytest.mark.parametrize(
    ("type_", "expected"),
    [("UTINYINT", True), ("DECIMAL(10,2)", True), ("DOUBLE", True), ("BOOLEAN", False)],
)
def test_numbers_are_numbers_of_any_width(type_: str, expected: bool) -> None:
    assert is_number(type_) == expected
