"""``fluid export`` and ``fluid import``: checked documents, in a file or alone on stdout."""

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.running import Fluid

CONTRACT = """\
fluidVersion: 0.7.2
kind: DataProduct
id: shop
name: Shop
metadata:
  owner:
    team: sales
exposes:
- exposeId: orders
  kind: table
  binding:
    platform: local
    format: csv
    location:
      path: orders.csv
  contract:
    schema:
    - name: order_id
      type: decimal(10,0)
      required: true
      description: '!!python/object/apply:os.system [echo]'
builds:
- id: made
  engine: dbt
"""


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    path = tmp_path / "contract.fluid.yaml"
    path.write_text(CONTRACT)
    return path


@pytest.mark.parametrize(
    ("format_", "first"),
    [
        ("odcs", {"apiVersion": "v3.2.0"}),
        ("dcs", {"dataContractSpecification": "1.2.1"}),
        ("osi", {"version": "0.1.1"}),
    ],
)
def test_the_document_is_all_there_is_on_stdout(
    fluid: Fluid, contract: Path, format_: str, first: dict[str, str]
) -> None:
    """Only the YAML document is on stdout; the check and what was left out are on stderr."""
    outcome = fluid("export", format_, contract)
    assert outcome.code == 0
    assert yaml.safe_load(outcome.out).items() >= first.items()
    assert "valid" in outcome.err
    assert "builds (2)" in outcome.err


def test_odcs_is_written_in_the_version_that_is_asked_for(fluid: Fluid, contract: Path) -> None:
    """``--version`` names it, with or without the v of ODCS."""
    for version in ("3.1.0", "v3.1.0"):
        outcome = fluid("export", "odcs", contract, "--version", version)
        assert yaml.safe_load(outcome.out)["apiVersion"] == "v3.1.0"


def test_a_file_is_written_and_comes_back(fluid: Fluid, contract: Path, tmp_path: Path) -> None:
    """Through ODCS and back, the contract has lost only what was reported."""
    odcs, back = tmp_path / "made" / "shop.odcs.yaml", tmp_path / "back.yaml"
    outcome = fluid("export", "odcs", contract, "-o", odcs)
    assert (outcome.code, outcome.out) == (0, "")
    outcome = fluid("import", "odcs", odcs, "-o", back)
    assert (outcome.code, outcome.out) == (0, "")
    assert "labels" not in outcome.err
    expected = yaml.safe_load(CONTRACT)
    del expected["builds"]
    assert yaml.safe_load(back.read_text()) == expected
    assert fluid("validate", back).code == 0


def test_an_import_lists_what_it_keeps_as_labels(fluid: Fluid, tmp_path: Path) -> None:
    """What FLUID has no key for is named on stderr with its number of values."""
    path = tmp_path / "foreign.odcs.yaml"
    path.write_text(
        "apiVersion: v3.1.0\nkind: DataContract\nid: x\nversion: 1.0.0\nstatus: active\n"
        "price: {priceAmount: 1, priceCurrency: EUR}\n"
        "schema: [{name: t, properties: [{name: a, logicalType: string}]}]\n"
    )
    done = fluid("import", "odcs", path)
    assert "price (2)" in done.err
    assert "price" in yaml.safe_load(done.out)["labels"]


def test_json_has_everything_at_once(fluid: Fluid, contract: Path, tmp_path: Path) -> None:
    """The document, or where it was written, and all that is unsaid."""
    document = json.loads(fluid("export", "odcs", contract, "--json").out)
    assert (document["format"], document["version"], document["valid"]) == ("odcs", "3.2.0", True)
    assert document["document"]["id"] == "shop"
    assert document["unsaid"] == [{"path": "builds", "count": 2}]
    out = tmp_path / "shop.odcs.yaml"
    document = json.loads(fluid("export", "odcs", contract, "--json", "-o", out).out)
    assert (document["file"], document["document"]) == (str(out), None)
    document = json.loads(fluid("import", "odcs", out, "--json").out)
    assert (document["version"], document["contract"]["id"], document["unsaid"]) == (
        "3.2.0",
        "shop",
        [],
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("export", "odbc", "{contract}"), "Use `fluid export odcs|dcs|osi CONTRACT`."),
        (("import", "dcs", "{contract}"), "Use `fluid import odcs CONTRACT`."),
        (
            ("export", "odcs", "{contract}", "--version", "2.2.2"),
            "Supported versions: `3.1.0` or `3.2.0`.",
        ),
        (("export", "odcs", "nowhere.yaml"), "nowhere.yaml doesn't exist."),
        (("export", "odcs", "{contract}", "-o", "{contract}"), "is the input"),
        (("import", "odcs", "{contract}"), "already a FLUID contract"),
    ],
)
def test_what_cannot_be_done_is_reported_in_two_sentences(
    fluid: Fluid, contract: Path, arguments: tuple[str, ...], message: str
) -> None:
    """Exit code 2, nothing on stdout, nothing changed, and the known words where one is unknown."""
    outcome = fluid(*(word.format(contract=contract) for word in arguments))
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert contract.read_text() == CONTRACT


def test_no_contract_is_not_exported(fluid: Fluid, tmp_path: Path) -> None:
    """A document that FLUID's validator refuses is not turned into anything."""
    path, out = tmp_path / "broken.yaml", tmp_path / "out.yaml"
    path.write_text(CONTRACT.replace("kind: table", "kind: tabel"))
    outcome = fluid("export", "dcs", path, "-o", out)
    assert outcome.code == 2
    assert "exposes[0].kind" in outcome.err
    assert not out.exists()


def test_an_old_odcs_document_is_refused_by_its_version(fluid: Fluid, tmp_path: Path) -> None:
    """2.x is another format by the same name."""
    path = tmp_path / "old.yaml"
    path.write_text("apiVersion: v2.2.2\nkind: DataContract\nuuid: x\n")
    outcome = fluid("import", "odcs", path)
    assert outcome.code == 2
    assert "ODCS 2.2.2" in outcome.err


def test_the_same_contract_gives_the_same_bytes(fluid: Fluid, contract: Path) -> None:
    """Run twice, every export is the same."""
    for format_ in ("odcs", "dcs", "osi"):
        first, second = (fluid("export", format_, contract).out for _ in range(2))
        assert first == second


def test_a_terminal_that_cannot_write_the_document_is_reported(
    fluid_process: Fluid, tmp_path: Path
) -> None:
    """YAML with characters missing would be another document: none is written then."""
    path = tmp_path / "contract.yaml"
    path.write_text(CONTRACT.replace("name: Shop", "name: Läden"), encoding="utf-8")
    outcome = fluid_process("export", "odcs", path, PYTHONIOENCODING="ascii")
    assert (outcome.code, outcome.out) == (2, "")
    assert "-o" in outcome.err
