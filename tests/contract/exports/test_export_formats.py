"""Every export: valid under the official validators, complete or honest, and always the same."""

import hashlib
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.contract.exports.formats import FORMATS, Exported, export, known_format
from fluid_build.contract.exports.odcs.versions import odcs_schema
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.structure import Path as Place
from fluid_build.contract.validation import parse_contract
from fluid_build.contract.write.from_model import contract_from_model
from fluid_build.contract.write.yaml_text import as_document
from fluid_build.errors import UsageError
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.transform.plan.techniques import transform_plan
from tests.contract.contracts import contract, expose
from tests.contract.exports.shops import shops
from tests.contract.exports.verdicts import (
    refused_by_dcs,
    refused_by_odcs,
    refused_by_osi,
)
from tests.contract.official import Maker, places
from tests.shared import CORPUS, needs_shared

OFFICIAL_3_1 = "5bfad9239736423b7de771c03e9d87d0b472e0bed28ae76fea4b927943926cb9"
ANNOTATIONS = {"description", "examples", "title", "default", "deprecated"}


def exports(contract: FluidContract) -> Iterator[Exported]:
    yield export(contract, "odcs", "3.1.0")
    yield export(contract, "odcs", "3.2.0")
    yield export(contract, "dcs")
    yield export(contract, "osi")


def refused(exported: Exported) -> str | None:
    judges = {"odcs": refused_by_odcs, "dcs": refused_by_dcs, "osi": refused_by_osi}
    return judges[exported.format](exported.document)


@needs_shared
@given(shops())
def test_exports_of_drawn_contracts_pass_the_official_validators(contract: FluidContract) -> None:
    """Whatever tables, keys, references and rules there are, each export is valid."""
    for exported in exports(contract):
        assert refused(exported) is None


@needs_shared
@given(st.randoms(use_true_random=False))
def test_exports_of_any_valid_contract_are_valid(random: Random) -> None:
    """A contract made from the official FLUID schema can be written in every format."""
    contract = parse_contract(Maker(random, richness=0.5).document())
    for exported in exports(contract):
        assert refused(exported) is None


@needs_shared
def test_every_place_of_a_contract_can_be_exported() -> None:
    """For each node of the FLUID schema, a contract that holds it can be written."""
    for index, place in enumerate(places()):
        document = Maker(Random(index), richness=0.1).document(place)
        for exported in exports(parse_contract(document)):
            assert exported.document, place.pointer


@needs_shared
@pytest.mark.parametrize(
    ("name", "technique"), [("pubs", "flat"), ("chinook", "flat"), ("jaffle_shop", "data_vault_2")]
)
def test_exports_of_forged_contracts_are_valid(name: str, technique: str) -> None:
    """What a forge writes can be written in every format, and says nearly everything there."""
    with open_source(str(CORPUS / name / "data")) as source:
        profile = profile_source(source)
    model = build_model(profile, technique)
    contract = contract_from_model(profile, model, transform_plan(model))
    for exported in exports(contract):
        assert refused(exported) is None
        if exported.format != "osi":
            assert {unsaid.path for unsaid in exported.unsaid} <= {"builds"}


@given(shops())
def test_nothing_is_dropped_in_silence(contract: FluidContract) -> None:
    """Every value of the contract is found in the export, or is listed as unsaid."""
    whole = as_document(contract)
    for exported in exports(contract):
        left = set(exported.left)
        told = told_values(exported.document)
        for path, value in leaves(whole, ()):
            if path not in left and value not in ([], {}):
                assert is_told(value, path, told), (exported.format, path, value)


def leaves(value: Any, path: Place) -> Iterator[tuple[Place, Any]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value


def told_values(value: Any) -> set[str]:
    """Every scalar and key of a document as JSON, those in JSON texts included."""
    found = set()
    for path, leaf in leaves(value, ()):
        found |= {json.dumps(leaf), *map(json.dumps, path)}
        if isinstance(leaf, str) and leaf[:1] in "[{":
            found |= told_values(json.loads(leaf)) if is_json(leaf) else set()
    return found


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def is_told(value: Any, path: Place, told: set[str]) -> bool:
    """Whether the value is somewhere: as it is, in ODCS's word for it, or in an address."""
    if path[-1] == "state":
        value = {"preview": "draft"}.get(value, value)
    if "location" in path:
        return any(json.dumps(value)[1:-1] in text for text in told)
    return json.dumps(value) in told


@given(shops())
def test_the_yaml_is_safe_and_means_the_document(contract: FluidContract) -> None:
    """Read by a plain YAML library, the text is the document; no value becomes a tag or a key."""
    for exported in exports(contract):
        assert yaml.safe_load(exported.text) == json.loads(json.dumps(exported.document))


@given(shops())
def test_an_export_is_always_the_same(contract: FluidContract) -> None:
    """The same contract gives the same bytes."""
    again = parse_contract(as_document(contract))
    for first, second in zip(exports(contract), exports(again), strict=True):
        assert first.text == second.text


def test_the_schema_of_3_1_is_the_official_one() -> None:
    """Without its annotations, our 3.1.0 is the schema in open-data-contract-standard 3.1.2."""
    plain = json.dumps(without_annotations(odcs_schema("3.1.0")), sort_keys=True)
    assert hashlib.sha256(plain.encode()).hexdigest() == OFFICIAL_3_1


def without_annotations(value: Any, are_names: bool = False) -> Any:
    if isinstance(value, dict):
        return {
            key: without_annotations(
                item, key in ("properties", "$defs", "ServerSource") and not are_names
            )
            for key, item in value.items()
            if are_names or key not in ANNOTATIONS
        }
    if isinstance(value, list):
        items = [without_annotations(item) for item in value]
        return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
    return value


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    """A format that is not known is an error that names those that are."""
    with pytest.raises(UsageError) as error:
        known_format("odbc")
    assert "|".join(FORMATS) in str(error.value.hint)


def test_infinite_numbers_are_left_out_and_listed() -> None:
    """No format has infinity: such a value is unsaid, and the rest is written."""
    document = as_document(parse_contract(_with_threshold(float("inf"))))
    exported = export(parse_contract(document), "odcs")
    assert ("exposes", 0, "contract", "dq", "rules", 0, "threshold") in exported.left
    assert "inf" not in exported.text


def _with_threshold(threshold: float) -> dict[str, Any]:
    table = expose()
    rule = {"id": "r", "type": "freshness", "severity": "warn", "threshold": threshold}
    table["contract"]["dq"] = {"rules": [rule]}
    return contract(exposes=[table])
