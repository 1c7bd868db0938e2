"""A hub is built on the key that the business knows, where there is evidence for one."""

import pytest

from fluid_build.modeling.data_vault.business_keys import BusinessKey, business_key, natural_key
from fluid_build.profiling.profile import Profile
from tests.modeling.sources import changed, changed_column, conceptual, source


def chosen(
    measured: Profile, table: str = "product", subtypes: tuple[str, ...] = ()
) -> BusinessKey:
    entity = conceptual(measured).entity(table)
    identity = entity.primary_key
    assert identity is not None
    return business_key(entity, identity, subtypes)


def with_unique(measured: Profile, *columns: str, table: str = "product") -> Profile:
    """The profile with columns that turned out to be unique and that nobody declared."""
    keys = [*measured.table(table).candidate_keys, *((column,) for column in columns)]
    return changed(measured, table, candidate_keys=tuple(keys))


def test_a_key_in_text_is_natural_and_gives_the_reason_of_its_choice() -> None:
    result = chosen(source("product *sku text, title text"))
    assert (result.kind, result.key.attributes) == ("natural", ("sku",))
    assert result.reason.startswith("sku identifies its rows: ")


def test_a_number_that_is_called_a_code_is_natural() -> None:
    assert chosen(source("product *article_no, title text")).kind == "natural"


@pytest.mark.parametrize("type_", ["", " decimal", " uuid"])
def test_an_assigned_number_or_uuid_is_a_surrogate(type_: str) -> None:
    result = chosen(source(f"product *id{type_}, title text"))
    assert result.kind == "surrogate"
    assert result.reason == (
        "id is a number that the source assigned, and no other key is a code that people use."
    )


def test_a_composite_key_of_assigned_numbers_is_a_surrogate() -> None:
    result = chosen(source("product *shop_key, *id, title text"))
    assert result.kind == "surrogate"
    assert result.reason.startswith("shop_key, id are numbers that the source assigned")


def test_a_composite_key_with_one_code_is_natural() -> None:
    result = chosen(source("product *country_code text, *id, title text"))
    assert result.kind == "natural"
    assert result.reason.startswith("country_code, id identify its rows")


def test_a_measured_code_is_preferred_with_its_figures() -> None:
    result = chosen(with_unique(source("product *id, sku text"), "sku"))
    assert result.key.attributes == ("sku",)
    assert "sku is preferred to id" in result.reason
    assert "unique and never null in 100 rows" in result.reason


@pytest.mark.parametrize(
    ("facts", "is_code"),
    [
        ({"semantic_type": "isbn"}, True),
        ({"semantic_type": "country_code"}, True),
        ({"semantic_type": "vin", "pii": True}, True),
        ({"semantic_type": "email"}, False),
        ({"semantic_type": "url"}, False),
        ({"pii": True}, False),
        ({"nulls": 1, "nullable": True}, False),
        ({}, False),
    ],
    ids=["isbn", "country", "vehicle", "email", "url", "personal", "null", "plain text"],
)
def test_what_values_mean_decides_on_a_column_without_a_telling_name(
    facts: dict[str, object], is_code: bool
) -> None:
    measured = with_unique(source("product *id, label text"), "label")
    key = natural_key(conceptual(changed_column(measured, "product", "label", **facts)).entities[0])
    assert (key is not None) == is_code


@pytest.mark.parametrize(
    "name",
    ["phone_no", "credit_card_number", "row_number", "house_no", "zip_code", "password_nr"],
)
def test_a_number_of_a_person_place_or_position_is_no_business_key(name: str) -> None:
    measured = with_unique(source(f"product *id, {name} text"), name)
    assert chosen(measured).kind == "surrogate"


def test_a_declared_code_is_preferred_to_one_that_was_only_measured() -> None:
    measured = with_unique(source("product *id, barcode text, sku text"), "barcode")
    claims = [
        *measured.table("product").declared_keys,
        {"columns": ["sku"], "evidence": {"origin": "declared", "rows": 100}},
    ]
    data = measured.table("product").model_dump() | {"declared_keys": claims}
    table = type(measured.tables[0]).model_validate(data)
    result = chosen(measured.model_copy(update={"tables": (table,)}))
    assert result.key.attributes == ("sku",)
    assert "declared unique" in result.reason


def test_of_two_measured_codes_the_first_column_is_preferred() -> None:
    measured = with_unique(source("product *id, sku text, barcode text"), "barcode", "sku")
    assert chosen(measured).key.attributes == ("sku",)


@pytest.mark.parametrize("authority", ["tenant_id", "vocabulary", "codesystem", "mandt text/2"])
def test_a_measured_code_next_to_its_authority_isnt_preferred(authority: str) -> None:
    measured = with_unique(source(f"product *id, concept_code text, {authority}"), "concept_code")
    result = chosen(measured)
    assert result.kind == "surrogate"
    assert f"may be unique only within one {authority.split()[0]}" in result.reason


def test_a_worldwide_code_is_preferred_whoever_else_assigns_codes() -> None:
    measured = with_unique(source("product *id, gtin text, tenant_id/2"), "gtin")
    assert chosen(measured).key.attributes == ("gtin",)


def test_an_entity_with_subtypes_keeps_the_key_that_they_share() -> None:
    result = chosen(with_unique(source("product *id, sku text"), "sku"), subtypes=("book", "dvd"))
    assert (result.kind, result.key.attributes) == ("surrogate", ("id",))
    assert "only id is shared with book, dvd" in result.reason


def test_a_composite_key_gives_no_way_to_a_code() -> None:
    measured = with_unique(source("product *shop, *id, sku text"), "sku")
    assert natural_key(conceptual(measured).entity("product")) is None
