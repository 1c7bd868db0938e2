"""Forges that follow decisions: what a person insists on is declared as violated, and no more."""

import json
from pathlib import Path

import pytest
import yaml

from fluid_build.contract.consistency import check_consistency
from fluid_build.contract.validation import validate
from fluid_build.decisions.language import AnyDecision, Ignore, SetKey, TextType
from fluid_build.forging import forge
from fluid_build.sources import open_source
from fluid_build.transform.proof.proof import Proof
from tests.decisions.test_references import refers
from tests.forges import demo_shop
from tests.shared import CORPUS, needs_shared

TECHNIQUES = ("flat", "dimensional", "data_vault_2")
on_every_technique = pytest.mark.parametrize("technique", TECHNIQUES)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "demo.sqlite"
    demo_shop(path)
    return path


def forge_with(
    source_path: Path, technique: str, out: Path, decisions: list[AnyDecision]
) -> tuple[Proof, dict[str, object], list[str]]:
    """Return the proof, the contract as written, and the status of each decision."""
    with open_source(source_path) as source:
        forged = forge(source, technique=technique, decisions=decisions, out=out)
    contract = yaml.safe_load((out / "contract.fluid.yaml").read_text(encoding="utf-8"))
    return forged.proof, contract, [verdict.status for verdict in forged.verdicts]


def assert_declared_and_violated(contract: object, out: Path, key: str) -> None:
    """Check the contract's promise that a key is unique: ``customers(last_name)``."""
    evidence = json.loads((out / "evidence.json").read_text(encoding="utf-8"))["rules"]
    assert isinstance(contract, dict)
    promised = [
        rule
        for expose in contract["exposes"]
        for rule in expose["contract"].get("dq", {}).get("rules", ())
        if evidence[rule["id"]].get("promise") == f"unique {key}"
    ]
    assert promised
    for rule in promised:
        found = evidence[rule["id"]]
        assert (found["origin"], rule["severity"]) == ("declared", "warn")
        assert found["violations"] > 0
        assert rule["threshold"] < 1
        assert "HAVING COUNT(*) > 1" in found["sql"]


@pytest.mark.parametrize(
    "technique",
    [
        pytest.param("flat", marks=pytest.mark.thorough),
        pytest.param("dimensional", marks=pytest.mark.thorough),
        "data_vault_2",
    ],
)
def test_an_insisted_key_of_the_demo_is_declared_as_violated(
    demo: Path, tmp_path: Path, technique: str
) -> None:
    insisted = SetKey(table="customers", columns=("last_name",), despite_violations=True)
    proof, contract, statuses = forge_with(demo, technique, tmp_path / "out", [insisted])
    assert statuses == ["insisted"]
    assert proof.verdict == "proven"
    assert (validate(contract), check_consistency(contract)) == ((), ())
    assert_declared_and_violated(contract, tmp_path / "out", "customers(last_name)")


@needs_shared
@on_every_technique
def test_an_insisted_key_of_a_real_database_is_declared_as_violated(
    tmp_path: Path, technique: str
) -> None:
    insisted = SetKey(table="Customer", columns=("Country",), despite_violations=True)
    data = CORPUS / "chinook" / "data"
    proof, contract, statuses = forge_with(data, technique, tmp_path / "out", [insisted])
    assert statuses == ["insisted"]
    assert proof.verdict == "proven"
    assert (validate(contract), check_consistency(contract)) == ((), ())
    assert_declared_and_violated(contract, tmp_path / "out", "Customer(Country)")


@on_every_technique
def test_an_insisted_relationship_keeps_its_orphans(
    shop_file: Path, tmp_path: Path, technique: str
) -> None:
    insisted = refers("clients.mail", "customers.email", insist=True)
    proof, contract, statuses = forge_with(shop_file, technique, tmp_path / "out", [insisted])
    assert statuses == ["insisted"]
    assert proof.verdict == "proven"
    assert "20 rows violate it" in (tmp_path / "out" / "evidence.json").read_text(encoding="utf-8")
    assert validate(contract) == ()


@on_every_technique
def test_an_ignored_table_is_named_and_left_out(
    shop_file: Path, tmp_path: Path, technique: str
) -> None:
    ignore = Ignore(table="returns", reason="It's a copy")
    proof, contract, _ = forge_with(shop_file, technique, tmp_path / "out", [ignore])
    assert proof.verdict == "proven"
    assert "returns" not in {table.table for table in proof.tables}
    labels = contract["labels"]
    assert isinstance(labels, dict)
    assert labels["ignored"] == '["returns"]'
    document = (tmp_path / "out" / "MODEL.md").read_text(encoding="utf-8")
    assert "returns is ignored. Decided by a person: It's a copy." in document


@on_every_technique
def test_text_that_is_read_as_decided_is_proven(
    shop_file: Path, tmp_path: Path, technique: str
) -> None:
    readings: list[AnyDecision] = [
        TextType(table="orders", column="placed", read_as="timestamp", date_format="%m/%d/%Y"),
        TextType(table="orders", column="price_text", read_as="number", decimal="comma"),
    ]
    proof, _, statuses = forge_with(shop_file, technique, tmp_path / "out", readings)
    assert statuses == ["accepted", "accepted"]
    assert proof.verdict == "proven"
