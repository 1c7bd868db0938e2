"""``fluid diff``: what it prints, and how it ends."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.running import Fluid
from tests.forges import forged_copy


@pytest.fixture
def model(duckdb_shop: Path, tmp_path: Path) -> Path:
    """A folder that was forged."""
    return forged_copy(duckdb_shop, tmp_path / "model")


def edited(model: Path, before: str, after: str, name: str = "contract.fluid.yaml") -> Path:
    """A copy of the folder in which the first occurrence of a text is another one."""
    other = model.parent / f"{model.name} edited"
    shutil.copytree(model, other)
    text = (model / name).read_text(encoding="utf-8")
    assert before in text
    (other / name).write_text(text.replace(before, after, 1), encoding="utf-8")
    return other


def test_the_same_is_no_difference(fluid: Fluid, model: Path) -> None:
    """A folder, its contract and its model each agree with themselves."""
    for same in (model, model / "contract.fluid.yaml", model / "model.json"):
        outcome = fluid("diff", same, same)
        assert (outcome.code, outcome.err) == (0, "")
        assert "Nothing changed." in outcome.out


def test_a_breaking_change_ends_with_1(fluid: Fluid, model: Path) -> None:
    """It is shown with the old and the new value, and asks for a major version."""
    other = edited(model, "required: true", "required: false")
    outcome = fluid("diff", model, other)
    assert outcome.code == 1
    assert "Breaking  1 change" in outcome.out
    assert "column customer_id: required true → false" in outcome.out
    assert "Next version  major" in outcome.out
    assert "1.0.0" in outcome.out


def test_an_additive_change_ends_with_0(fluid: Fluid, model: Path) -> None:
    """Going back is what breaks."""
    other = edited(model, "severity: warn", "severity: error")
    outcome = fluid("diff", model, other)
    assert outcome.code == 0
    assert "Next version  minor" in outcome.out
    assert fluid("diff", other, model).code == 1


def test_json_has_every_change(fluid: Fluid, model: Path) -> None:
    """Stdout is one document, whose counts add up."""
    renamed = edited(model, "name: email", "name: e_mail")
    other = edited(renamed, "targetField: customer.email", "targetField: customer.e_mail")
    outcome = fluid("diff", model, other, "--json")
    document = json.loads(outcome.out)
    assert (outcome.code, document["kind"], document["breaks"], document["bump"]) == (
        1,
        "contract",
        True,
        "major",
    )
    assert sum(document["counts"].values()) == len(document["changes"])
    removed = [change for change in document["changes"] if change["action"] == "removed"]
    assert [(c["names"], c["renamed_to"]) for c in removed] == [(["customer", "email"], "e_mail")]


def test_models_are_compared_as_well(fluid: Fluid, model: Path) -> None:
    """Two files model.json, by the elements of their layers."""
    other = edited(model, '"required": true', '"required": false', name="model.json")
    outcome = fluid("diff", model / "model.json", other / "model.json")
    assert outcome.code == 1
    assert "attribute customer_id" in outcome.out


def test_a_contract_and_a_model_cannot_be_compared(fluid: Fluid, model: Path) -> None:
    """Each is named for what it is."""
    outcome = fluid("diff", model, model / "model.json")
    assert (outcome.code, outcome.out) == (2, "")
    assert "is a contract and" in outcome.err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.yaml", "a: [1"),
        ("x.yaml", "kind: DataProduct\n"),
        ("x.json", '{"technique": "flat", "conceptual": {"entities": 3}}'),
        ("x.json", "[]"),
    ],
)
def test_what_is_neither_ends_with_2(fluid: Fluid, model: Path, name: str, text: str) -> None:
    """The message names the file."""
    file = model.parent / name
    file.write_text(text)
    outcome = fluid("diff", model, file)
    assert (outcome.code, outcome.out) == (2, "")
    assert name in outcome.err


def test_a_folder_without_a_contract_ends_with_2(fluid: Fluid, model: Path) -> None:
    """And so does a place where nothing is."""
    assert "has no contract.fluid.yaml" in fluid("diff", model, model.parent).err
    assert fluid("diff", model, model.parent / "nowhere").code == 2


def test_a_strangers_names_do_not_act_on_the_terminal(fluid: Fluid, model: Path) -> None:
    """Control characters of a contract are shown as escapes."""
    other = edited(model, "name: email", 'name: "\\e[2Jx"')
    outcome = fluid("diff", model, other)
    assert "\x1b" not in outcome.out
    assert "[2Jx" in outcome.out
