"""``fluid validate``: a verdict, and where it comes from."""

import json
from pathlib import Path

import pytest

from tests.cli.running import Fluid

VALID = """\
fluidVersion: 0.7.2
kind: DataProduct
id: shop
name: Shop
domain: sales
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
      type: bigint
      required: true
"""


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    path = tmp_path / "contract.fluid.yaml"
    path.write_text(VALID)
    return path


def test_a_valid_contract_is_called_valid_with_what_was_checked(
    fluid: Fluid, contract: Path
) -> None:
    """Code 0, and how much there was to check."""
    outcome = fluid("validate", contract)
    assert outcome.code == 0, outcome.out
    assert "is a valid FLUID 0.7.2 contract" in outcome.out
    assert "Checked: 1 expose, 1 column, 0 quality rules." in outcome.out


def test_a_finding_has_path_line_found_allowed_and_nearest(fluid: Fluid, contract: Path) -> None:
    """Code 1, and each finding precisely."""
    contract.write_text(VALID.replace("kind: table", "kind: tabel"))
    outcome = fluid("validate", contract)
    assert outcome.code == 1
    assert "isn't a valid FLUID 0.7.2 contract: 1 finding" in " ".join(outcome.out.split())
    assert "line 11: exposes[0].kind: `tabel` isn't allowed here" in outcome.out
    assert "found    `tabel`" in outcome.out
    assert "allowed  one of `table`, `view`" in outcome.out
    assert "nearest  table" in outcome.out


def test_json_holds_the_same_findings(fluid: Fluid, contract: Path) -> None:
    """For machines: the verdict and the findings, on stdout alone."""
    contract.write_text(VALID.replace("required: true", "required: maybe"))
    outcome = fluid("validate", contract, "--json")
    assert (outcome.code, outcome.err) == (1, "")
    verdict = json.loads(outcome.out)
    assert (verdict["valid"], verdict["file"]) == (False, str(contract))
    (finding,) = verdict["findings"]
    assert finding["path"] == "exposes[0].contract.schema[0].required"
    assert finding["line"] == 21
    assert set(finding) == {"level", "path", "line", "message", "found", "allowed", "nearest"}


def test_a_warning_does_not_make_a_contract_invalid(fluid: Fluid, contract: Path) -> None:
    """A duplicate is shown, and the code is 0."""
    expose = VALID[VALID.index("- exposeId") :]
    contract.write_text(VALID + expose)
    outcome = fluid("validate", contract)
    assert outcome.code == 0
    assert "Warnings  1 finding" in outcome.out


@pytest.mark.parametrize(
    "content", ["a: [", "- just\n- a list", "", "a: !!python/object:os.system x", "\0\0"]
)
def test_what_is_no_document_is_no_contract(fluid: Fluid, contract: Path, content: str) -> None:
    """Broken YAML is unreadable input (2); a readable document of another shape is invalid (1)."""
    contract.write_text(content)
    outcome = fluid("validate", contract)
    assert outcome.code in {1, 2}
    assert "Traceback" not in outcome.err
    assert (outcome.code == 2) == outcome.err.startswith("Error: ")


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_what_cannot_be_read_is_an_error(fluid: Fluid, tmp_path: Path, name: str) -> None:
    """A missing file or a folder: code 2."""
    outcome = fluid("validate", tmp_path / name)
    assert outcome.code == 2
    assert outcome.err.startswith("Error: ")
