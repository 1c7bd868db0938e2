"""A folder's decisions.yaml is a person's: a forge follows it, adds evidence, and loses nothing."""

from pathlib import Path

import pytest

from tests.cli.running import Fluid
from tests.folders import artifacts_of

WRITTEN = """\
# Ours.
decisions:
- decision: domain   # as in the wiki
  domain: Sales
- {decision: set_key, table: CUSTOMER, columns: [customer_id]}
- decision: set_key
  table: orders
  columns: [customer_id]
"""


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "shop-model"


def forge(fluid: Fluid, source: Path, out: Path, *options: str | Path) -> int:
    outcome = fluid("forge", "data-model", "from-source", "--uri", source, "-o", out, *options)
    return outcome.code


def write(folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "decisions.yaml").write_text(text)


def test_without_decisions_no_file_is_written(fluid: Fluid, duckdb_shop: Path, out: Path) -> None:
    assert forge(fluid, duckdb_shop, out) == 0
    assert not {"decisions.yaml", "decisions.schema.json"} & {*artifacts_of(out)}


def test_a_forge_adds_evidence_and_keeps_the_text(
    fluid: Fluid, duckdb_shop: Path, out: Path
) -> None:
    write(out, WRITTEN)
    forge(fluid, duckdb_shop, out)
    text = (out / "decisions.yaml").read_text()
    lines = text.splitlines()
    assert lines[0] == "# yaml-language-server: $schema=decisions.schema.json"
    assert "- decision: domain   # as in the wiki" in lines
    (key,) = [line for line in lines if "CUSTOMER" in line]
    assert (
        '{decision: set_key, table: CUSTOMER, columns: [customer_id], evidence: {"rows":40' in key
    )
    assert text.endswith("  table: orders\n  columns: [customer_id]\n")
    assert "table: customer\n" not in text


def test_the_evidence_of_a_relationship_is_written(
    fluid: Fluid, duckdb_shop: Path, out: Path
) -> None:
    fields = "from_table: orders, from_columns: [customer_id], to_table: customer"
    entry = f"{{decision: add_relationship, {fields}, to_columns: [customer_id]}}"
    write(out, f"decisions:\n# why\n- {entry}\n")
    assert forge(fluid, duckdb_shop, out) == 0
    text = (out / "decisions.yaml").read_text()
    assert '"matched":120' in text
    assert "# why\n" in text


def test_forging_again_changes_no_byte(fluid: Fluid, duckdb_shop: Path, out: Path) -> None:
    write(out, WRITTEN)
    forge(fluid, duckdb_shop, out)
    before = artifacts_of(out)
    forge(fluid, duckdb_shop, out)
    assert artifacts_of(out) == before


def test_an_edited_file_is_followed_and_never_kept_back(
    fluid: Fluid, duckdb_shop: Path, out: Path
) -> None:
    write(out, WRITTEN)
    forge(fluid, duckdb_shop, out)
    write(out, "decisions:\n- {decision: domain, domain: Finance}\n")
    outcome = fluid("forge", "data-model", "from-source", "--uri", duckdb_shop, "-o", out, "--json")
    assert '"kept": []' in outcome.out
    assert "domain: Finance" in (out / "decisions.yaml").read_text()
    assert "Finance" in (out / "contract.fluid.yaml").read_text()


def test_verify_and_diff_do_not_mind_an_edit(fluid: Fluid, duckdb_shop: Path, out: Path) -> None:
    forge(fluid, duckdb_shop, out)
    write(out, WRITTEN)
    assert fluid("verify", out).code == 0
    assert fluid("diff", out, out).code == 0


def test_a_removed_file_takes_its_schema_with_it(
    fluid: Fluid, duckdb_shop: Path, out: Path
) -> None:
    write(out, WRITTEN)
    forge(fluid, duckdb_shop, out)
    (out / "decisions.yaml").unlink()
    forge(fluid, duckdb_shop, out)
    assert not {"decisions.yaml", "decisions.schema.json"} & {*artifacts_of(out)}


def test_another_file_is_read_instead(
    fluid: Fluid, duckdb_shop: Path, out: Path, tmp_path: Path
) -> None:
    other = tmp_path / "ours.yaml"
    other.write_text("decisions:\n# why\n- {decision: domain, domain: Finance}\n")
    assert forge(fluid, duckdb_shop, out, "--decisions", other) == 0
    assert "# why\n- {decision: domain, domain: Finance}\n" in (out / "decisions.yaml").read_text()
    assert other.read_text().startswith("decisions:")
    other.write_text("decisions:\n- {decision: domain, domain: HR}\n")
    assert forge(fluid, duckdb_shop, out, "--decisions", other) == 0
    assert "HR" in (out / "decisions.yaml").read_text()


def test_another_file_does_not_replace_what_a_person_wrote(
    fluid: Fluid, duckdb_shop: Path, out: Path, tmp_path: Path
) -> None:
    write(out, WRITTEN)
    other = tmp_path / "ours.yaml"
    other.write_text("decisions:\n- {decision: domain, domain: Finance}\n")
    command = ("forge", "data-model", "from-source", "--uri", duckdb_shop, "-o", out)
    outcome = fluid(*command, "--decisions", other)
    assert outcome.code == 2
    assert "doesn't have all of its decisions." in outcome.err
    assert (out / "decisions.yaml").read_text() == WRITTEN
    assert forge(fluid, duckdb_shop, out, "--decisions", other, "--force") == 0
    assert "Finance" in (out / "decisions.yaml").read_text()


def test_a_file_that_is_not_valid_stops_the_forge_with_every_problem(
    fluid: Fluid, duckdb_shop: Path, out: Path
) -> None:
    write(out, "decisions:\n- decision: sing\n- decision: ignore\n")
    outcome = fluid("forge", "data-model", "from-source", "--uri", duckdb_shop, "-o", out)
    assert outcome.code == 2
    assert "decisions.yaml has 2 problems." in outcome.err
    assert "line 2, entry 1: unknown decision 'sing'." in outcome.err
    assert "line 3, entry 2 (ignore): `table` is missing." in outcome.err
    assert {*artifacts_of(out)} == {"decisions.yaml"}
