"""Decided texts reach every artifact as they were written, and act in none of them."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from fluid_build.contract.exports.formats import FORMATS, export
from fluid_build.contract.validation import validate
from fluid_build.contract.write.yaml_text import as_document
from fluid_build.decisions.language import (
    AnyDecision,
    Describe,
    Domain,
    Owner,
    ProductName,
    Rename,
)
from fluid_build.forging import Forged, forge
from fluid_build.sources import open_source
from fluid_build.transform.dbt.running import run_dbt
from tests.test_decided_elements import ELEMENTS
from tests.test_decided_names import TECHNIQUES, statuses
from tests.test_forge import build_shop

HOSTILE = '{{ 1/0 }} {% endraw %} {# "it\'s" */ -- ; <script>x</script> | `a` ${b} !!python/x &a *b'
PARAGRAPH = f"{HOSTILE}\n\n# Heading\n```\n: - {HOSTILE}\n"
TEXTS: tuple[AnyDecision, ...] = (
    Describe(table="Customer", text=f"customer {PARAGRAPH}"),
    Describe(table="Customer", column="State", text=f"state {PARAGRAPH}"),
    Describe(table="Order Details", text=f"lines {PARAGRAPH}"),
    Describe(table="Order Details", column="Total", text=f"total {PARAGRAPH}"),
    Domain(domain=HOSTILE),
    Owner(team=HOSTILE, email=HOSTILE),
    ProductName(name=HOSTILE),
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_shop(tmp_path_factory.mktemp("texts") / "shop.sqlite")


def forged(shop: Path, out: Path, technique: str, *more: AnyDecision) -> Forged:
    with closing(open_source(str(shop))) as source:
        return forge(source, out=out, technique=technique, decisions=(*TEXTS, *more))


def _texts(part: object) -> Iterator[str]:
    """Every text in a document."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict | list):
        for item in part.values() if isinstance(part, dict) else part:
            yield from _texts(item)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_hostile_text_comes_through_every_artifact(
    shop: Path, tmp_path: Path, technique: str
) -> None:
    element = Describe(element=ELEMENTS[technique][0], text=f"element {PARAGRAPH}")
    result = forged(shop, tmp_path, technique, element)
    assert "refused" not in statuses(result)
    assert result.proof.verdict == "proven"
    document = as_document(result.contract)
    assert validate(document) == ()
    assert yaml.safe_load((tmp_path / "contract.fluid.yaml").read_text()) == document
    texts = {
        column.description
        for expose in result.contract.exposes
        for column in expose.contract.columns or ()
    }
    assert {f"state {PARAGRAPH}", f"total {PARAGRAPH}"} <= texts
    exposed = {expose.expose_id: expose.description for expose in result.contract.exposes}
    assert exposed[ELEMENTS[technique][0]] == f"element {PARAGRAPH}"
    assert document["name"] == document["domain"] == HOSTILE
    assert "<script>" not in (tmp_path / "MODEL.md").read_text()
    for name in FORMATS:
        exported = yaml.safe_load(export(result.contract, name).text)
        assert f"state {PARAGRAPH}" in set(_texts(exported))


def test_of_two_descriptions_of_a_flat_table_the_one_of_the_element_counts(
    shop: Path, tmp_path: Path
) -> None:
    result = forged(shop, tmp_path, "flat", Describe(element="customer", text="Who buys."))
    verdict = result.verdicts[0]
    assert (verdict.status, verdict.message) == ("unused", "Another decision describes `Customer`.")


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_descriptions_of_tables_and_columns_reach_readers(
    shop: Path, tmp_path: Path, technique: str
) -> None:
    decisions = (
        Describe(table="Customer", text="Who buys."),
        Describe(table="Customer", column="State", text="Where they live."),
    )
    with closing(open_source(str(shop))) as source:
        result = forge(source, out=tmp_path, technique=technique, decisions=decisions)
    assert statuses(result) == ["accepted", "accepted"]
    exposed = {expose.expose_id: expose.description for expose in result.contract.exposes}
    assert exposed[ELEMENTS[technique][0]] == "Who buys."
    columns = {c.description for e in result.contract.exposes for c in e.contract.columns or ()}
    assert "Where they live." in columns
    semantic = "dbt/semantic" if technique == "dimensional" else "dbt/osi"
    for folder in ("dbt/models", semantic):
        written = "".join(p.read_text() for p in (tmp_path / folder).rglob("*") if p.is_file())
        assert "Who buys." in written and "Where they live." in written
    document = (tmp_path / "MODEL.md").read_text()
    assert "Who buys." in document and "Where they live." in document


@pytest.mark.usefixtures("dbt")
@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
def test_dbt_builds_what_was_renamed_and_described(
    shop: Path, tmp_path: Path, technique: str
) -> None:
    renamings = [
        Rename(element=element, new_name=f"part_{number}")
        for number, element in enumerate(ELEMENTS[technique])
    ]
    names = (
        Rename(table="Order Details", new_name="order"),
        Rename(table="Customer", column="State", new_name="select"),
    )
    forged(shop, tmp_path, technique, *renamings[:1], *names)
    result = run_dbt(tmp_path / "dbt")
    assert result.ok, result.failed
