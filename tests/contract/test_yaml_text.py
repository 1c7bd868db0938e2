"""A contract as YAML: the same contract again, in the order of the types, twice the same."""

from random import Random

import yaml
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.contract.fluid import (
    Binding,
    BindingLocation,
    ContractColumn,
    Expose,
    ExposeContract,
    FluidContract,
    Metadata,
    ProductOwner,
)
from fluid_build.contract.read.parsers import read_yaml
from fluid_build.contract.validation import parse_contract
from fluid_build.contract.write.yaml_text import as_document, contract_yaml
from tests.contract.contracts import contract, expose
from tests.contract.official import Maker, places
from tests.shared import needs_shared


def read_back(contract: FluidContract) -> object:
    text = contract_yaml(contract)
    ours = read_yaml(text, "c.yaml").document
    assert repr(yaml.load(text, Loader=yaml.CSafeLoader)) == repr(ours)
    return ours


@needs_shared
def test_contracts_of_every_part_of_the_schema_are_read_back() -> None:
    """A contract with any part of the schema is the same after writing and reading."""
    for index, place in enumerate(places()):
        parsed = parse_contract(Maker(Random(index), richness=0.1).document(place))
        assert parse_contract(read_back(parsed)) == parsed, place.pointer


@given(st.text(), st.dictionaries(st.text(max_size=20), st.text(), max_size=4))
def test_any_text_is_read_back(text: str, labels: dict[str, str]) -> None:
    """Whatever a text looks like to YAML, it is the same text after reading."""
    document = contract(description=text, labels=labels, exposes=[expose(title=text)])
    parsed = parse_contract(document)
    assert read_back(parsed) == as_document(parsed)
    assert as_document(parsed) == document


def test_a_null_that_means_something_is_kept() -> None:
    """Where anything may stand, null is a value, and stays."""
    tasks = [{"taskId": "a", "xcom": {"push": [{"key": "k", "value": None}]}, "own": None}]
    airflow = {"dagId": "d", "tasks": tasks}
    document = contract(orchestration={"engine": "airflow", "airflow": airflow})
    assert read_back(parse_contract(document)) == document


def test_keys_come_in_the_order_of_the_types() -> None:
    """However a contract was put together, its keys are written in one order."""
    built = FluidContract(
        exposes=[
            Expose(
                binding=Binding(location=BindingLocation(), format="csv", platform="local"),
                contract=ExposeContract(
                    columns=[ContractColumn(labels={"a": "1"}, type="int", name="id")]
                ),
                kind="table",
                expose_id="t",
            )
        ],
        metadata=Metadata(owner=ProductOwner()),
        name="T",
        id="t",
        kind="DataProduct",
        fluid_version="0.7.2",
    )
    assert contract_yaml(built) == (
        "fluidVersion: '0.7.2'\n"
        "kind: DataProduct\n"
        "id: t\n"
        "name: T\n"
        "metadata: {owner: {}}\n"
        "exposes:\n"
        "- exposeId: t\n"
        "  kind: table\n"
        "  contract: {schema: [{name: id, type: int, labels: {a: '1'}}]}\n"
        "  binding: {platform: local, format: csv, location: {}}\n"
    )


def test_what_is_used_twice_is_written_twice() -> None:
    """No aliases stand in the file."""
    labels = {"a": "b"}
    table = expose(labels=labels)
    text = contract_yaml(parse_contract(contract(labels=labels, exposes=[table, table])))
    assert "&" not in text
    assert "*" not in text
