"""Forging and verifying from Python."""

import datetime
import decimal
import io
import json
import sqlite3
import uuid
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import fluid_build as fluid
from fluid_build.cli.interrupts import Interrupts
from fluid_build.cli.main import run
from fluid_build.decisions.language import Owner, SetKey
from tests.api.conftest import Frames
from tests.folders import artifacts_of

OWNER = {"decision": "owner", "team": "sales", "email": "sales@example.org"}


def forged_by_command(database: Path, out: Path, *options: str) -> None:
    arguments = ["forge", "data-model", "from-source", "--uri", str(database), *options]
    assert run([*arguments, "-o", str(out)], Interrupts()) == 0


def test_a_forge_has_profile_model_contract_and_proof(frames: Frames) -> None:
    forged = fluid.forge(frames, name="shop", technique="dimensional")
    assert forged.proof.holds
    assert forged.profile.tables["orders"].primary_key == ("order_id",)
    assert forged.model.technique == "dimensional"
    assert forged.contract.name == "shop"
    assert fluid.validate(forged.contract)
    assert forged.contract_yaml.startswith("fluidVersion:")
    assert (forged.files, forged.folder, forged.page) == ((), None, None)


def test_a_forge_writes_what_the_command_writes(database: Path, tmp_path: Path) -> None:
    forged = fluid.forge(database, technique="dv2", out=tmp_path / "ours")
    forged_by_command(database, tmp_path / "theirs", "--technique", "dv2")
    assert artifacts_of(tmp_path / "ours") == artifacts_of(tmp_path / "theirs")
    assert forged.page == tmp_path / "ours" / "report.html"
    assert set(forged.files) == {p for p in (tmp_path / "ours").rglob("*") if p.is_file()}


def test_saving_later_writes_the_same(database: Path, tmp_path: Path) -> None:
    forged = fluid.forge(database)
    files = forged.save(tmp_path / "later")
    fluid.forge(database, out=tmp_path / "now")
    assert artifacts_of(tmp_path / "later") == artifacts_of(tmp_path / "now")
    assert files == forged.files
    assert forged.folder == tmp_path / "later"
    assert fluid.verify(tmp_path / "later")


def test_saving_refuses_rows_that_have_changed(database: Path, tmp_path: Path) -> None:
    """The proof is of other rows, even where their number is the same."""
    forged = fluid.forge(database)
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE orders SET total = 7 WHERE order_id = 1")
    connection.close()
    with pytest.raises(fluid.SourceChangedError, match="orders has changed"):
        forged.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("change", ["CREATE TABLE more AS SELECT 1 AS a", "DROP TABLE orders"])
def test_saving_refuses_a_source_with_other_tables(
    database: Path, tmp_path: Path, change: str
) -> None:
    forged = fluid.forge(database)
    with sqlite3.connect(database) as connection:
        connection.execute(change)
    connection.close()
    with pytest.raises(fluid.SourceChangedError):
        forged.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_saving_what_was_in_memory_copies_it_for_dbt(frames: Frames, tmp_path: Path) -> None:
    forged = fluid.forge(frames, name="shop")
    forged.save(tmp_path / "shop")
    copy = tmp_path / "shop/dbt/land/orders.parquet"
    assert duckdb.sql(f"SELECT count(*) FROM '{copy}'").fetchall() == [(1000,)]
    assert any("in memory" in note for note in forged.notes)
    manifest = json.loads((tmp_path / "shop/forge.json").read_text())
    assert manifest["source"]["kind"] == "in_memory"
    assert "location" not in manifest["source"]


def test_a_folder_of_data_in_memory_is_verified_with_the_data(
    frames: Frames, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "shop"
    fluid.forge(frames, out=folder, technique="dv2")
    with pytest.raises(fluid.UsageError, match="was generated from data in memory"):
        fluid.verify(folder)
    assert run(["verify", str(folder)], Interrupts()) == 2
    assert "fluid_build.verify(folder, source=…)" in capsys.readouterr().err
    assert fluid.verify(folder, source=frames).holds
    fewer = {**frames, "orders": frames["orders"].head(10)}
    result = fluid.verify(folder, source=fewer)
    assert result.row_changes == ("orders had 1,000 rows and has 10 now",)
    with pytest.raises(fluid.SourceChangedError):
        fluid.verify(folder, source={"orders": frames["orders"]})


@pytest.mark.slow
def test_dbt_builds_a_folder_of_data_in_memory(dbt: None, frames: Frames, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    fluid.forge(frames, out=folder)
    with pytest.raises(fluid.NotTrustedError, match="runs the code"):
        fluid.verify(folder, source=frames, dbt=True)
    result = fluid.verify(folder, source=frames, dbt=True, trust=True)
    assert result.holds
    assert result.dbt is not None


def test_an_open_source_is_forged_several_times(frames: Frames, tmp_path: Path) -> None:
    with fluid.open(frames, name="shop") as source:
        flat = fluid.forge(source)
        vault = fluid.forge(source, technique="dv2", out=tmp_path / "vault")
        flat.save(tmp_path / "flat")
    assert flat.proof.holds
    assert vault.proof.holds


def test_saving_opens_a_closed_source_again(frames: Frames, tmp_path: Path) -> None:
    with fluid.open(frames, name="shop") as source:
        forged = fluid.forge(source)
    assert forged.save(tmp_path / "shop")
    assert fluid.verify(tmp_path / "shop", source=frames)


@pytest.mark.parametrize("form", ["dict", "typed", "file"])
def test_decisions_are_dicts_typed_or_a_file(frames: Frames, tmp_path: Path, form: str) -> None:
    file = tmp_path / "decisions.yaml"
    file.write_text(f"version: 1\ndecisions:\n  - {json.dumps(OWNER)}\n")
    forms: dict[str, Any] = {"dict": [OWNER], "typed": [Owner(**OWNER)], "file": file}
    forged = fluid.forge(frames, decisions=forms[form])
    (verdict,) = forged.verdicts
    assert verdict.status == "accepted"
    assert forged.contract.metadata.owner is not None
    assert forged.contract.metadata.owner.team == "sales"
    forged.save(tmp_path / "out")
    assert "sales@example.org" in (tmp_path / "out/decisions.yaml").read_text()


def test_a_decision_that_the_data_contradicts_is_refused(frames: Frames) -> None:
    key = SetKey(table="orders", columns=("customer_id",))
    (verdict,) = fluid.forge(frames, decisions=[key]).verdicts
    assert verdict.status == "refused"


def test_a_decision_that_is_wrong_says_which_and_why(frames: Frames) -> None:
    with pytest.raises(fluid.DecisionError, match="entry 2") as error:
        fluid.forge(frames, decisions=[OWNER, {"decision": "set_kye"}])
    assert "set_key" in error.value.problems[0].allowed


def test_the_decisions_of_the_folder_are_followed_too(database: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    fluid.forge(database, out=out, decisions=[OWNER])
    again = fluid.forge(database, out=out, decisions=[{"decision": "domain", "domain": "sales"}])
    assert [verdict.decision.decision for verdict in again.verdicts] == ["owner", "domain"]


def test_saving_loses_no_decision_of_the_folder(database: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    fluid.forge(database, out=out)
    (out / "decisions.yaml").write_text(f"version: 1\ndecisions:\n  - {json.dumps(OWNER)}\n")
    forged = fluid.forge(database)
    with pytest.raises(fluid.UsageError, match="didn't follow"):
        forged.save(out)
    assert forged.save(out, overwrite=True)


def test_a_source_is_never_written_to(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id\n1\n2\n")
    with pytest.raises(fluid.UsageError, match="never writes to a source"):
        fluid.forge(tmp_path, out=tmp_path / "out")
    with pytest.raises(fluid.UsageError, match="never writes to a source"):
        fluid.forge(tmp_path).save(tmp_path / "out")


def test_edited_files_are_kept_and_named(database: Path, tmp_path: Path) -> None:
    forged = fluid.forge(database, out=tmp_path / "out")
    (tmp_path / "out/MODEL.md").write_text("mine")
    again = fluid.forge(database, out=tmp_path / "out")
    assert (forged.kept, again.kept) == ((), ("MODEL.md",))


def test_several_sources_make_one_vault(database: Path, tmp_path: Path) -> None:
    visits = pd.DataFrame({"visit_id": range(50), "customer_id": [i % 9 + 1 for i in range(50)]})
    sources = {"crm": database, "web": {"visits": visits}}
    forged = fluid.forge(sources, technique="dv2", out=tmp_path / "out")
    assert forged.proof.holds
    with pytest.raises(fluid.UsageError):
        fluid.verify(tmp_path / "out")
    assert fluid.verify(tmp_path / "out", source={"web": {"visits": visits}})
    with pytest.raises(fluid.UsageError, match="are crm, web"):
        fluid.verify(tmp_path / "out", source={"other": {"visits": visits}})


def test_ddl_makes_a_model_without_a_proof(tmp_path: Path) -> None:
    (tmp_path / "shop.sql").write_text("CREATE TABLE t (id int PRIMARY KEY, name text);")
    forged = fluid.forge(tmp_path / "shop.sql", dialect="postgres")
    assert not forged.proof.holds
    assert forged.profile.tables["t"].primary_key == ("id",)


def test_a_wrong_technique_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(fluid.UsageError, match="Unknown technique"):
        fluid.forge(pd.DataFrame({"a": [1]}), technique="cube")
    with pytest.raises(fluid.UsageError, match="Several sources"):
        frame = pd.DataFrame({"a": [1]})
        fluid.forge({"a": {"t": frame}, "b": {"t": frame}}, technique="dv2", target="snowflake")


def test_a_folder_never_chooses_a_place_on_a_network_or_a_distant_file(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fluid.forge(database, out=tmp_path / "near")
    assert fluid.verify(tmp_path / "near")
    manifest = tmp_path / "near/forge.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"../shop.db"', '"../../../../../../etc/passwd"'))
    with pytest.raises(fluid.NotTrustedError):
        fluid.verify(tmp_path / "near")
    server = text.replace('"sqlite"', '"postgres"').replace('"../shop.db"', '"postgresql://evil/x"')
    url = text.replace('"sqlite"', '"s3"').replace('"../shop.db"', '"s3://evil/x.csv"')
    monkeypatch.chdir(tmp_path)
    for elsewhere in (server, url):
        manifest.write_text(elsewhere)
        with pytest.raises(fluid.NotTrustedError, match="never choose"):
            fluid.verify(tmp_path / "near")


def test_a_verification_has_the_document_of_the_command(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fluid.forge(database, out=tmp_path / "out")
    result = fluid.verify(tmp_path / "out")
    run(["verify", str(tmp_path / "out"), "--json"], Interrupts())
    assert json.loads(json.dumps(result.to_dict())) == json.loads(capsys.readouterr().out)
    assert "holds: Every table was rebuilt exactly" in repr(result)


def test_a_verification_updates_the_proof_and_the_page(database: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    fluid.forge(database, out=out)
    with sqlite3.connect(database) as connection:
        connection.execute("INSERT INTO orders VALUES (5000, 1, 2)")
    connection.close()
    result = fluid.verify(out)
    assert (result.holds, result.note) == (True, "")
    assert '"rows":1001' in (out / "proof.json").read_text().replace(" ", "")


def test_a_warehouse_is_compared_as_it_is(database: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    forged = fluid.forge(database, out=out)
    warehouse = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("CREATE TABLE unrelated AS SELECT 1 AS a")
    result = fluid.verify_warehouse(out, str(warehouse))
    assert not result
    assert result.faults
    assert result.to_dict()["holds"] is False
    assert forged.proof.holds


def test_live_data_is_tested_against_a_contract(frames: Frames, tmp_path: Path) -> None:
    forged = fluid.forge(frames, name="shop", out=tmp_path / "shop")
    built = {expose.expose_id: frames[expose.expose_id] for expose in forged.contract.exposes}
    result = fluid.test(forged.contract, built)
    assert result.passed, result.failed
    assert result == fluid.test(tmp_path / "shop/contract.fluid.yaml", built)
    built["orders"] = pd.concat([frames["orders"], frames["orders"].head(1)])
    broken = fluid.test(forged.contract, built)
    assert not broken
    assert broken.failed[0].type == "uniqueness"
    assert broken.to_dict()["passed"] is False
    assert "violates" in broken._repr_html_()
    assert repr(result).startswith("<Passed: ")


def test_a_contract_is_validated_as_a_file_data_or_type(tmp_path: Path) -> None:
    path = tmp_path / "contract.yaml"
    path.write_text("fluidVersion: 0.7.2\nkind: DataProduct\n")
    invalid = fluid.validate(path)
    assert not invalid
    assert invalid.errors[0].line == 1
    assert [e.message for e in fluid.validate({"kind": "DataProduct"}).errors]
    assert "finding" in repr(invalid)
    with pytest.raises(fluid.ContractError):
        fluid.test({"kind": "DataProduct"}, pd.DataFrame({"a": [1]}))


def test_nothing_is_printed(
    frames: Frames, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    forged = fluid.forge(frames, out=tmp_path / "out")
    fluid.verify(tmp_path / "out", source=frames)
    fluid.test(forged.contract, frames)
    assert capfd.readouterr() == ("", "")


def test_a_password_is_in_no_representation(tmp_path: Path) -> None:
    with pytest.raises(fluid.SourceError) as error:
        fluid.forge("postgresql://user:s3cret@localhost:1/none", out=tmp_path / "out")
    assert "s3cret" not in f"{error.value!r} {error.value.hint}"


def test_results_show_themselves(frames: Frames, tmp_path: Path) -> None:
    forged = fluid.forge(frames, name="shop", decisions=[OWNER])
    assert repr(forged) == "<Forged shop: flat, 2 relations, proven>"
    html = forged._repr_html_()
    assert '<span class="good">Proven.</span>' in html
    assert "<td>accepted</td>" in html
    forged.save(tmp_path / "out")
    assert repr(forged).endswith(f"proven, in {tmp_path / 'out'}>")
    verified = fluid.verify(tmp_path / "out", source=frames)
    assert '<span class="good">holds</span>' in verified._repr_html_()


def test_progress_ends_with_the_writing(database: Path, tmp_path: Path) -> None:
    log = io.StringIO()
    fluid.forge(database, out=tmp_path / "out", on_progress=fluid.show_progress(log))
    lines = log.getvalue().splitlines()
    assert lines[0] == "Reading tables ..."
    assert lines[-1] == "Writing files ..."


@pytest.mark.parametrize("technique", ["flat", "dv2", "dimensional"])
def test_every_type_that_a_frame_may_have_comes_through_the_proof(technique: str) -> None:
    rows = 3
    odd = pd.DataFrame(
        {
            "id": range(rows),
            "several types": pd.Series([1, "x", None], dtype=object),
            "category": pd.Categorical(["u", "v", None]),
            "zone": pd.to_datetime(["2024-01-01", None, "2024-03-01"]).tz_localize("Asia/Tokyo"),
            "exact": pd.Series([decimal.Decimal("1.20"), None, decimal.Decimal("9")], dtype=object),
            "identity": pd.Series([uuid.UUID(int=i) for i in range(rows)], dtype=object),
            "bytes": pd.Series([b"a", None, b"\xff"], dtype=object),
            "time": pd.Series([datetime.time(1, 2), None, datetime.time(3)], dtype=object),
            "period": pd.period_range("2024-01", periods=rows, freq="M"),
            "lists": pd.Series([[1, 2], None, [3]], dtype=object),
            'we"ird `näme`\n': [2**70, 1, None],
            "nothing": pd.Series([None] * rows, dtype=object),
        }
    )
    forged = fluid.forge({"select": odd, "empty": odd.head(0)}, technique=technique)
    assert forged.profile.skipped == ()
    assert forged.proof.holds
