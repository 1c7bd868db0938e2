"""Personal data inside JSON, lists, structs and maps, as profiles and contracts show it."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.contract.write.evidence import evidence_document
from fluid_build.contract.write.from_model import contract_from_model
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import ColumnProfile, Profile
from fluid_build.profiling.semantic_types import ColumnFacts, classify
from fluid_build.sources import open_source
from fluid_build.transform.plan.techniques import transform_plan

_PEOPLE = "['Anna Schmidt', 'John Smith', 'Maria Garcia', 'Luca Rossi'][1 + i % 4]"
_ORDERS = f"""
    SELECT
        i AS order_id,
        CAST(json_object(
            'customer', json_object(
                'name', {_PEOPLE}, 'contact', json_object('email', 'kanari' || i || '@example.org')
            ),
            'total', i
        ) AS JSON) AS payload,
        ['+49 30 12345' || (10 + i), '0151 998877' || (10 + i)] AS telephones,
        ['kanari' || i || '@example.org'] AS notified,
        {{'street': 'Hauptstr. ' || i, 'zip': CAST(10115 + i AS VARCHAR)}} AS address,
        [{{'name': {_PEOPLE}, 'born_on': DATE '1980-01-01' + CAST(i AS INTEGER)}}] AS family,
        MAP {{'kanari' || i || '@example.org': {_PEOPLE}}} AS followers,
        CAST('["kanari' || i || '@example.org"]' AS JSON) AS copies,
        ['red', 'blue'] AS colors,
        {{'sku': 'A-' || i, 'name': 'Oak Table ' || i}} AS product,
        [1000000000 + i * 7919] AS codes,
        CAST(json_object('sku', 'A-' || i, 'name', 'Oak Table') AS JSON) AS item
    FROM range(60) t(i)
"""
PERSONAL = {
    "payload": ("customer.contact.email", "customer.name"),
    "telephones": (),
    "notified": (),
    "address": ("street", "zip"),
    "family": ("[].name", "[].born_on"),
    "followers": (),
    "copies": (),
}


def _profiled(folder: Path, file_format: str) -> Profile:
    path = folder / f"orders.{'ndjson' if file_format == 'json' else file_format}"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({_ORDERS}) TO '{path}' (FORMAT {file_format})")
    with open_source(str(path), nested="keep") as source:
        return profile_source(source)


@pytest.fixture(params=["parquet", "json"])
def profile(request: pytest.FixtureRequest, tmp_path: Path) -> Profile:
    """Orders with nested columns of every sort, read from a file."""
    return _profiled(tmp_path, request.param)


def _columns(profile: Profile) -> dict[str, ColumnProfile]:
    return {column.name: column for column in profile.tables[0].columns}


def test_nested_personal_data_is_marked_and_nothing_else(profile: Profile) -> None:
    """A column counts as personal if a field of its documents does; products and codes don't."""
    marked = {name for name, column in _columns(profile).items() if column.pii}
    assert marked == set(PERSONAL)


def test_the_reason_gives_the_path_of_each_personal_field(profile: Profile) -> None:
    """Whoever reads the reason finds the field."""
    columns = _columns(profile)
    for name, paths in PERSONAL.items():
        for path in paths:
            assert f"`{path}` (" in columns[name].semantic_reason


def test_items_of_a_list_have_their_own_type(profile: Profile) -> None:
    """A list of phone numbers is of the type phone, a list of colours of the type color."""
    columns = _columns(profile)
    assert columns["telephones"].semantic_type == "phone"
    assert columns["notified"].semantic_type == "email"
    assert columns["copies"].semantic_type == "email"
    assert columns["colors"].semantic_type == "color"


def test_a_struct_with_an_address_inside_is_an_address(profile: Profile) -> None:
    """The column's name decides between the types of its fields."""
    assert _columns(profile)["address"].semantic_type == "address"


def test_no_nested_value_is_in_the_profile(profile: Profile) -> None:
    """Bounds, frequent values and reasons hold nothing of what is nested, map keys included."""
    for column in _columns(profile).values():
        if column.name in PERSONAL:
            assert (column.min, column.max, column.top_values) == (None, None, ())
    shown = profile.model_dump_json()
    assert not any(value in shown for value in ("kanari", "Anna", "Hauptstr", "12345", "998877"))


def test_the_contract_marks_nested_personal_data(tmp_path: Path) -> None:
    """A nested column with personal data is sensitive in the contract, with a reason beside it."""
    profile = _profiled(tmp_path, "parquet")
    model = build_model(profile)
    plan = transform_plan(model)
    contract = contract_from_model(profile, model, plan)
    columns = {
        column.name: column
        for expose in contract.exposes
        for column in (expose.contract.columns or ())
    }
    marked = {name for name, column in columns.items() if column.sensitivity == "pii"}
    assert marked == set(PERSONAL)
    evidence = evidence_document(profile, plan)["columns"]
    reasons = [str(evidence[name]) for name in evidence if name.endswith(".payload")]
    assert reasons and all("`customer.name`" in reason for reason in reasons)


def _nested(documents: list[str], type_name: str = "JSON") -> str:
    facts = ColumnFacts(
        table="events",
        column="data",
        type=type_name,
        rows=len(documents),
        nulls=0,
        distinct=len(documents),
        values=tuple(documents),
    )
    meaning = classify(facts)
    assert meaning is not None
    assert meaning.pii
    return meaning.reason


def test_keys_that_are_data_are_not_in_the_reason() -> None:
    """A document keyed by people shows a star instead of their names."""
    people = ["Anna", "Berta", "Clara", "Dora", "Emma", "Frida"]
    reason = _nested([f'{{"{name}": {{"email": "{name}@example.org"}}}}' for name in people])
    assert "`*.email` (email)" in reason
    assert not any(name in reason for name in people)


def test_a_large_map_is_judged_as_a_whole() -> None:
    """Fields below data keys are judged together, since each key has only one value."""
    entries = ", ".join(f'"u{n}": {{"first_name": "Anna"}}' for n in range(500))
    assert _nested([f"{{{entries}}}"]) == "Personal data in `*.*` (person_name)."


def test_a_name_inside_an_object_is_judged_by_the_object() -> None:
    """The name of a patient is a person's, the name of a product isn't."""
    documents = [
        f'{{"patient": {{"name": "{name}"}}, "product": {{"name": "Madison Lamp"}}}}'
        for name in ("Anna Schmidt", "John Smith", "Luca Rossi", "Mary Jones")
    ]
    assert _nested(documents) == "Personal data in `patient.name` (person_name)."
