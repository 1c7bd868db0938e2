"""A folder whose decisions say which tables of its source are one, and which aren't."""

import json
from pathlib import Path

import duckdb
import pytest

from tests.cli.running import Fluid

FORGE = ("forge", "data-model", "from-source", "--uri")


@pytest.fixture(params=["files", "database"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Sales of two years that are one table by their names, and visits that aren't."""
    if request.param == "files":
        place = tmp_path / "shop"
        place.mkdir()
        for name in ("sales_2023", "sales_2024", "visits_1997", "visits_dec_1998"):
            (place / f"{name}.csv").write_text("id,city\n1,Bern\n2,Basel\n")
        return place
    place = tmp_path / "shop.duckdb"
    with duckdb.connect(str(place)) as connection:
        for name in ("sales_2023", "sales_2024", "visits_1997", "visits_dec_1998"):
            connection.execute(f"CREATE TABLE {name} (id INTEGER, city VARCHAR(9))")
            connection.execute(f"INSERT INTO {name} VALUES (1, 'Bern'), (2, 'Basel')")
    return place


def tables(folder: Path) -> list[str]:
    model = json.loads((folder / "model.json").read_text())
    return sorted(entity["name"] for entity in model["conceptual"]["entities"])


def regroup(fluid: Fluid, folder: Path) -> None:
    for decision in (("separate", "sales"), ("one-table", "visits", "visits_*")):
        decided = fluid("decide", folder, *decision)
        assert (decided.code, "Written" in decided.out) == (0, True), decided.out + decided.err
        assert "--redesign all" in decided.out


def test_a_forge_reads_the_tables_as_they_were_decided(
    fluid: Fluid, shop: Path, tmp_path: Path
) -> None:
    """As often as it's forged, and what comes after knows them as well."""
    folder = tmp_path / "model"
    assert fluid(*FORGE, shop, "-o", folder).code == 0
    assert tables(folder) == ["sales", "visits_1997", "visits_dec_1998"]
    regroup(fluid, folder)
    anew = fluid(*FORGE, shop, "-o", folder, "--redesign", "all")
    assert anew.code == 0, anew.err
    assert "2 accepted" in anew.out
    assert tables(folder) == ["sales_2023", "sales_2024", "visits"]
    written = {path: path.read_bytes() for path in folder.glob("*.*") if path.suffix != ".html"}
    assert fluid(*FORGE, shop, "-o", folder).code == 0
    assert written == {path: path.read_bytes() for path in written}
    verified = fluid("verify", folder)
    assert verified.code == 0, verified.out + verified.err
    key = fluid("decide", folder, "set-key", "visits", "id", "period")
    assert (key.code, "Written" in key.out) == (0, True), key.out + key.err


def test_other_tables_than_the_models_are_refused_until_it_is_designed_anew(
    fluid: Fluid, shop: Path, tmp_path: Path
) -> None:
    """What was loaded by the model would be left behind."""
    folder = tmp_path / "model"
    assert fluid(*FORGE, shop, "-o", folder).code == 0
    regroup(fluid, folder)
    for command in ((*FORGE, shop, "-o", folder), ("plan", folder), ("apply", folder, "--yes")):
        refused = fluid(*command)
        assert refused.code == 2
        said = " ".join(refused.err.split())
        assert "visits_* as the one table visits, the parts of sales as tables" in said
        assert "--redesign all" in said
    assert fluid("verify", folder).code == 0
    assert tables(folder) == ["sales", "visits_1997", "visits_dec_1998"]


def test_a_folder_that_is_named_after_its_source_is_read_as_decided(
    fluid: Fluid, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which folder that is follows from the source's name, once it's open."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "shop-model"
    folder.mkdir()
    regrouped = "version: 1\ndecisions:\n- {decision: separate, table: sales}\n"
    (folder / "decisions.yaml").write_text(regrouped)
    assert fluid(*FORGE, shop).code == 0
    assert tables(folder) == ["sales_2023", "sales_2024", "visits_1997", "visits_dec_1998"]


def test_tables_of_several_sources_are_named_with_their_source(
    fluid: Fluid, shop: Path, tmp_path: Path
) -> None:
    """Only those of that source are regrouped."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "decisions.yaml").write_text(
        "version: 1\ndecisions:\n- {decision: separate, table: b.sales}\n"
        "- {decision: one_table, table: a.visits, parts: ['a.visits_*']}\n"
    )
    forged = fluid(*FORGE, f"a={shop}", "--uri", f"b={shop}", "--technique", "dv2", "-o", folder)
    assert forged.code == 0, forged.err
    assert tables(folder) == [
        "a.sales",
        "a.visits",
        "b.sales_2023",
        "b.sales_2024",
        "b.visits_1997",
        "b.visits_dec_1998",
    ]


def test_what_cannot_be_one_table_is_refused_with_the_reason(
    fluid: Fluid, shop: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    assert fluid(*FORGE, shop, "-o", folder).code == 0
    refused = fluid("decide", folder, "one-table", "visits", "visitors_*")
    assert refused.code == 1
    assert "No two tables are called visitors_*." in " ".join(refused.out.split())
    assert not (folder / "decisions.yaml").exists()
