"""What a source's change of a type is called, and what rows are loaded as, say the same."""

from itertools import product

import pytest

from fluid_build.changes.types import type_change, wider_type

TYPES = (
    *("TINYINT", "UTINYINT", "INTEGER", "UINTEGER", "BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT"),
    *("DECIMAL(9,2)", "DECIMAL(18,6)", "DECIMAL(38,0)", "FLOAT", "DOUBLE"),
    *("DATE", "TIMESTAMP_S", "TIMESTAMP", "TIMESTAMP_NS", "VARCHAR", "ENUM('a')", "BOOLEAN"),
)


@pytest.mark.parametrize(("before", "after"), [*product(TYPES, TYPES)])
def test_a_widened_type_is_loaded_as_one_that_holds_both_and_a_narrowed_as_the_old(
    before: str, after: str
) -> None:
    wide = wider_type(before, after)
    change = type_change(before, after)
    if change == "changed":
        assert wide in {"VARCHAR", "DOUBLE"}
    elif change == "narrowed":
        assert wide == before
    elif change == "widened" and wide != after:
        assert {type_change(each, wide) for each in (before, after)} == {"widened"}
    else:
        assert wide == after
    assert wider_type(after, before) == wide


@pytest.mark.parametrize("after", ["DECIMAL(8,3)", "DECIMAL(30,0)", "DECIMAL(5,1)"], ids=str)
def test_a_whole_number_that_becomes_a_decimal_is_widened(after: str) -> None:
    assert type_change("INTEGER", after) == "widened"


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ("UTINYINT", "TINYINT", "SMALLINT"),
        ("UBIGINT", "BIGINT", "HUGEINT"),
        ("UHUGEINT", "INTEGER", "DOUBLE"),
        ("DECIMAL(9,2)", "INTEGER", "DECIMAL(12,2)"),
        ("DECIMAL(38,0)", "DECIMAL(9,2)", "DOUBLE"),
        ("BIGINT", "DOUBLE", "DOUBLE"),
        ("DATE", "TIMESTAMP_NS", "TIMESTAMP_NS"),
        ("DATE", "INTEGER", "VARCHAR"),
        ("VARCHAR", "BIGINT", "VARCHAR"),
    ],
)
def test_the_type_of_two(first: str, second: str, both: str) -> None:
    assert wider_type(first, second) == both
