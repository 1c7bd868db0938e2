"""The identity of each table, and the references that a vault can follow."""

import pytest

from fluid_build.modeling.data_vault.source_tables import SourceTables, source_tables
from fluid_build.profiling.profile import KeyClaim, Profile
from tests.modeling.profiles import reference
from tests.modeling.sources import changed, conceptual, source

SCHEMA = "customer *id, code text, name text\norders *id, customer_id, code text"


def tables(measured: Profile) -> SourceTables:
    return source_tables(conceptual(measured))


def claim(*columns: str, **evidence: object) -> KeyClaim:
    facts = {"origin": "declared", "rows": 100, **evidence}
    return KeyClaim.model_validate({"columns": columns, "evidence": facts})


def test_the_chosen_key_identifies_rows() -> None:
    assert tables(source(SCHEMA)).identity("customer") == ("id",)


@pytest.mark.parametrize("evidence", [{"violations": 1}, {"exact": False}])
def test_a_key_that_is_broken_or_estimated_yields_to_another_declared_one(
    evidence: dict[str, object],
) -> None:
    claims = (claim("id", **evidence), claim("code"))
    measured = changed(source(SCHEMA), "customer", declared_keys=claims, candidate_keys=())
    assert tables(measured).identity("customer") == ("code",)


def test_a_unique_column_with_nulls_identifies_nothing() -> None:
    """It holds, as SQL allows nulls in it; the rows with one have no name."""
    measured = changed(
        source(SCHEMA), "customer", primary_key=None, declared_keys=(claim("code", nulls=2),)
    )
    assert tables(measured).identity("customer") == ()


def test_a_unique_column_that_nobody_declared_identifies_nothing() -> None:
    measured = changed(
        source(SCHEMA), "customer", primary_key=None, declared_keys=(), candidate_keys=(("code",),)
    )
    assert tables(measured).identity("customer") == ()


def test_a_reference_is_listed_at_both_of_its_ends() -> None:
    result = tables(source(SCHEMA, reference("orders", "customer_id", "customer", "id")))
    assert [r.to_entity for r in result.references["orders"]] == ["customer"]
    assert result.references["orders"] == result.referrers["customer"]


def test_a_reference_to_a_unique_column_counts() -> None:
    measured = source(SCHEMA, reference("orders", "code", "customer", "code"))
    unique = changed(measured, "customer", candidate_keys=(("id",), ("code",)))
    assert len(tables(unique).references["orders"]) == 1
    assert tables(measured).references["orders"] == ()


@pytest.mark.parametrize(
    ("columns", "keys"), [("id", "id"), ("id code", "id id")], ids=["same row", "column twice"]
)
def test_a_reference_that_leads_to_no_other_row_is_left_out(columns: str, keys: str) -> None:
    table = "customer" if columns == keys else "orders"
    measured = source(SCHEMA, reference(table, columns, "customer", keys))
    assert tables(measured).references[table] == ()


def test_a_reference_to_a_keyless_table_is_left_out() -> None:
    measured = source("log message text\nnote *id, log_message text",
                      reference("note", "log_message", "log", "message"))  # fmt: skip
    assert tables(measured).references["note"] == ()


def test_completeness_needs_every_column_to_be_filled() -> None:
    result = tables(source("t *id, a, b?"))
    assert result.is_complete("t", ("id", "a"))
    assert not result.is_complete("t", ("a", "b"))


def test_words_that_all_columns_share_are_left_out() -> None:
    result = tables(source("customer *c_id, c_first_name text, c_city text, c_zip text"))
    assert result.bare_words("customer", "c_first_name") == ("first", "name")
