"""Contracts that were made to hurt: what is found is capped, and what is read is bounded."""

from pathlib import Path

import pytest

from fluid_build.contract.read.files import read_located, validate_file
from fluid_build.contract.read.located import LocatedDocument
from fluid_build.contract.read.parsers import read_json, read_yaml
from fluid_build.contract.validation import parse_contract, validate
from fluid_build.errors import ContractError, SourceUnreadableError

MANY = 20_000


def test_the_first_of_very_many_findings_are_listed_and_the_others_counted() -> None:
    """A thousand, and one that says how many more there are and how to see them."""
    found = validate({f"unknown_{number}": 1 for number in range(MANY)})
    assert len(found) == 1_001
    assert found[-1].level == "error"
    assert "more; correct these first, or raise FLUID_MAX_FINDINGS" in found[-1].message
    told = int(found[-1].message.split()[2].replace(",", ""))
    assert 1_000 + told >= MANY


def test_the_number_of_findings_can_be_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then all of them are listed, and none counted."""
    monkeypatch.setenv("FLUID_MAX_FINDINGS", "50000")
    found = validate({f"unknown_{number}": 1 for number in range(5_000)})
    assert len(found) > 5_000
    assert not any("FLUID_MAX_FINDINGS" in finding.message for finding in found)


def test_an_invalid_contract_is_refused_with_its_number_of_findings() -> None:
    """The error counts them all, also where they aren't all made."""
    with pytest.raises(ContractError, match=r"and 2\d,\d{3} more"):
        parse_contract({f"unknown_{number}": 1 for number in range(MANY)})


def test_a_file_of_many_faults_has_a_capped_report(tmp_path: Path) -> None:
    """From the file as well."""
    lines = [f"unknown_{number}: 1" for number in range(3_000)]
    (tmp_path / "c.yaml").write_text("\n".join(lines))
    assert len(validate_file(tmp_path / "c.yaml")) == 1_001


def _yaml_anchors(count: int) -> LocatedDocument:
    return read_yaml("x:\n" + "".join(f"- &a{n} v{n}\n" for n in range(count)), "c.yaml")


def _yaml_aliases(count: int) -> LocatedDocument:
    return read_yaml("a: &a {k: v}\nx:\n" + "- *a\n" * (count // 2), "c.yaml")


def _json(count: int) -> LocatedDocument:
    return read_json("[" + ",".join("1" * count) + "]", "c.json")


@pytest.mark.parametrize("read", [_yaml_anchors, _yaml_aliases, _json])
def test_a_contract_of_too_many_values_is_refused(
    monkeypatch: pytest.MonkeyPatch, read: object
) -> None:
    """Anchors, aliases and plain values count alike; the hint says how to allow more."""
    assert callable(read)
    monkeypatch.setenv("FLUID_MAX_CONTRACT_VALUES", "2000")
    assert read(1_900)
    with pytest.raises(SourceUnreadableError, match="more than 2,000 values") as caught:
        read(2_100)
    assert "FLUID_MAX_CONTRACT_VALUES" in (caught.value.hint or "")


def test_many_merged_mappings_take_no_squared_time() -> None:
    """``<<`` of thousands of mappings joins each of them once."""
    count = 20_000
    anchors = "".join(f"- &m{n} {{k{n}: {n}}}\n" for n in range(count))
    merged = ", ".join(f"*m{n}" for n in range(count))
    document = read_yaml(f"x:\n{anchors}y: {{<<: [{merged}]}}\n", "c.yaml").document
    assert len(document["y"]) == count


def test_a_contract_of_ordinary_size_is_read(tmp_path: Path) -> None:
    """The bound is far above what a contract holds."""
    (tmp_path / "c.yaml").write_text("".join(f"k{n}: [1, 2, 3]\n" for n in range(2_000)))
    assert len(read_located(tmp_path / "c.yaml").document) == 2_000
