"""The page of a profile, the page of every forge, and ``fluid report``, which makes it again."""

import base64
import copy
import gzip
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fluid_build.errors import OutputError
from fluid_build.forging import forge
from fluid_build.forging.documents import REPORT_FILE
from fluid_build.pipeline.folder_page import reviewed_facts
from fluid_build.report.page.page_file import is_page
from fluid_build.sources import open_source
from fluid_build.verification.page_sources import read_page_sources
from tests.cli.running import STATEMENTS, Fluid
from tests.forges import forged, forged_copy
from tests.postgres import PostgresDatabase

FROM_SOURCE = ("forge", "data-model", "from-source")
_PACKED = re.compile(r'<script type="text/plain"[^>]*>([^<]+)</script>')


def leaves(document: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every value of a JSON document that isn't a list or an object, with the way to it."""
    if isinstance(document, dict | list):
        items = document.items() if isinstance(document, dict) else enumerate(document)
        for key, value in items:
            yield from leaves(value, (*place, key))
    else:
        yield place, document


def changed(document: Any, place: tuple[Any, ...], value: object) -> Any:
    """The same document with another value at a place."""
    copied = copy.deepcopy(document)
    part = copied
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return copied


def whole_text(page: Path) -> str:
    """The text of a page, and of what is compressed in it."""
    text = page.read_text()
    packed = _PACKED.findall(text)
    assert len(packed) >= 2
    return "\n".join((text, *(gzip.decompress(base64.b64decode(each)).decode() for each in packed)))


def test_a_profile_is_written_as_a_page(fluid: Fluid, sqlite_shop: Path, tmp_path: Path) -> None:
    page = tmp_path / "shop.html"
    outcome = fluid("profile", sqlite_shop, "--html", page)
    assert outcome.code == 0
    assert is_page(page)
    assert "orders" in page.read_text()
    assert f"Page  in {page}" in outcome.out


def test_json_stays_alone_on_stdout_next_to_a_page(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    page = tmp_path / "shop.html"
    outcome = fluid("profile", sqlite_shop, "--html", page, "--json")
    assert outcome.out == fluid("profile", sqlite_shop, "--json").out
    assert f"The page is in {page}." in outcome.err
    assert is_page(page)


def test_a_page_of_an_earlier_profile_is_replaced(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    page = tmp_path / "shop.html"
    fluid("profile", sqlite_shop, "--html", page)
    whole = page.read_bytes()
    page.write_bytes(whole[: len(whole) // 2])
    assert fluid("profile", sqlite_shop, "--html", page).code == 0
    assert page.read_bytes() == whole


def test_a_file_that_is_no_page_of_ours_is_never_replaced(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.html"
    own.write_text("<html>mine</html>")
    outcome = fluid("profile", sqlite_shop, "--html", own)
    assert outcome.code == 2
    assert "isn't a page that Fluid Forge wrote" in outcome.err
    assert own.read_text() == "<html>mine</html>"


@pytest.mark.parametrize(
    ("place", "message"),
    [("", "is a folder"), ("missing/page.html", "doesn't exist"), ("two.sqlite/x.html", "a file")],
)
def test_a_page_that_cannot_be_written_is_refused_before_anything_is_read(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path, place: str, message: str
) -> None:
    outcome = fluid("profile", sqlite_shop, "--html", tmp_path / place)
    assert outcome.code == 2
    assert message in outcome.err
    assert "Reading tables" not in outcome.err


def test_a_page_has_every_table(fluid: Fluid, sqlite_shop: Path, tmp_path: Path) -> None:
    outcome = fluid("profile", sqlite_shop, "--html", tmp_path / "x.html", "--table", "orders")
    assert outcome.code == 2
    assert "--html and --table can't be combined" in outcome.err


def test_every_forge_writes_a_page_and_names_it(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    outcome = fluid(*FROM_SOURCE, "--uri", sqlite_shop, "-o", folder)
    assert is_page(folder / REPORT_FILE)
    assert "report.html" in outcome.out


@pytest.mark.parametrize("way", ["guided", "several", "ddl", "intent", "demo"])
def test_the_page_is_the_same_again_whichever_way_it_was_forged(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.sql").write_text(
        "CREATE TABLE customer (id INT PRIMARY KEY, email VARCHAR(80));\n"
        "CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT REFERENCES customer (id));\n"
    )
    Path("other.csv").write_text("id,name\n1,x\n2,y\n")
    Path("intent.yaml").write_text(fluid("forge", "data-model", "from-intent", "--template").out)
    several = ("--uri", f"shop={sqlite_shop}", "--uri", "other=other.csv", "--technique", "dv2")
    commands = {
        "guided": ("forge", "--yes"),
        "several": (*FROM_SOURCE, *several),
        "ddl": ("forge", "data-model", "from-ddl", "shop.sql"),
        "intent": ("forge", "data-model", "from-intent", "intent.yaml"),
        "demo": ("demo",),
    }
    outcome = fluid(*commands[way], "-o", "model")
    assert outcome.code == 0, outcome.err
    assert "report model --open" in outcome.out
    written = Path("model", REPORT_FILE).read_bytes()
    again = fluid("report", "model")
    assert again.code == 0, again.err
    assert Path("model", REPORT_FILE).read_bytes() == written


def test_a_page_has_no_password_of_its_source(
    fluid: Fluid, postgres: PostgresDatabase, tmp_path: Path
) -> None:
    postgres.run(";".join(STATEMENTS))
    folder = tmp_path / "model"
    uri = postgres.uri_of("postgres", "geheim")
    assert fluid(*FROM_SOURCE, "--uri", uri, "-o", folder).code == 0
    written = whole_text(folder / REPORT_FILE)
    assert "geheim" not in written
    assert "prove again that nothing was lost (add the password)" in written.lower()
    assert fluid("report", folder).code == 0
    assert whole_text(folder / REPORT_FILE) == written


def test_two_forges_in_a_program_write_the_same_page(
    sqlite_shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a run, nothing in a page is of the moment."""
    pages = []
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        monkeypatch.chdir(tmp_path / place)
        forged(sqlite_shop, Path("model"))
        pages.append(Path("model", REPORT_FILE).read_bytes())
    assert pages[0] == pages[1]


def test_the_page_is_replaced_by_the_next_forge(sqlite_shop: Path, tmp_path: Path) -> None:
    page = forged_copy(sqlite_shop, tmp_path / "model") / REPORT_FILE
    whole = page.read_bytes()
    page.write_bytes(whole[: len(whole) // 2])
    forged(sqlite_shop, tmp_path / "model")
    assert page.read_bytes() == whole


def test_a_report_of_your_own_is_kept_unless_you_say_so(sqlite_shop: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    own = folder / REPORT_FILE
    own.write_text("<html>mine</html>")
    with open_source(sqlite_shop) as source:
        result = forge(source, out=folder)
        assert [change.name for change in result.kept] == [REPORT_FILE]
        assert own not in result.files
        assert own.read_text() == "<html>mine</html>"
        result = forge(source, out=folder, overwrite=True)
    assert own in result.files
    assert is_page(own)


def test_a_page_that_cannot_be_written_leaves_the_folder_whole(
    sqlite_shop: Path, tmp_path: Path
) -> None:
    folder = forged_copy(sqlite_shop, tmp_path / "model")
    (folder / "MODEL.md").unlink()
    (folder / REPORT_FILE).unlink()
    (folder / REPORT_FILE).mkdir()
    with (
        open_source(sqlite_shop) as source,
        pytest.raises(OutputError, match=r"All other files of .* are written") as raised,
    ):
        forge(source, out=folder, overwrite=True)
    assert raised.value.command == f"fluid report {folder}"
    assert (folder / "MODEL.md").is_file()


def test_a_run_whose_page_cannot_be_written_is_finished_all_the_same(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    """What was forged is there and recorded; only the page is to be made again."""
    folder = tmp_path / "model"
    (folder / REPORT_FILE).mkdir(parents=True)
    outcome = fluid(*FROM_SOURCE, "--uri", sqlite_shop, "-o", folder, "--force")
    assert outcome.code == 2
    assert f"fluid report {folder}" in outcome.err
    (run,) = [
        run
        for run in json.loads(fluid("runs", "list", "--json").out)["runs"]
        if run["folder"] == str(folder)
    ]
    assert run["state"] == "finished"
    (folder / REPORT_FILE).rmdir()
    assert json.loads(fluid("report", folder, "--json").out)["run"] == run["run"]


def test_nothing_is_written_where_nothing_was_to_be(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    for option in ("--dry-run", "--diff"):
        fluid(*FROM_SOURCE, "--uri", sqlite_shop, "-o", tmp_path / "model", option)
        assert not (tmp_path / "model").exists()


def test_only_a_command_that_makes_a_page_waits_for_its_templates() -> None:
    """Jinja2 isn't imported by a profile, a review or the help."""
    modules = "main demo profile report forging.guided deciding.review checking.verify"
    imports = "; ".join(f"import fluid_build.cli.{module}" for module in modules.split())
    program = f"import sys; {imports}; print('jinja2' in sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert process.stdout == "False\n"


@pytest.fixture
def recorded(fluid: Fluid, sqlite_shop: Path, tmp_path: Path) -> Path:
    """A folder that a command forged, so that its run is recorded."""
    folder = tmp_path / "model"
    assert fluid(*FROM_SOURCE, "--uri", sqlite_shop, "-o", folder).code == 0
    return folder


@pytest.mark.parametrize("technique", ["flat", "data_vault_2", "dimensional"])
def test_the_page_is_made_again_as_the_forge_wrote_it(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path, technique: str
) -> None:
    """The same folder and the same record of its run give the same bytes."""
    folder = tmp_path / "model"
    fluid(*FROM_SOURCE, "--uri", sqlite_shop, "--technique", technique, "-o", folder)
    written = (folder / REPORT_FILE).read_bytes()
    (folder / REPORT_FILE).unlink()
    outcome = fluid("report", folder, "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["run"]
    assert (folder / REPORT_FILE).read_bytes() == written


def test_a_folder_that_was_edited_is_shown_as_it_is(fluid: Fluid, recorded: Path) -> None:
    contract, query = recorded / "contract.fluid.yaml", recorded / "dbt/models/flat/orders.sql"
    contract.write_text(contract.read_text() + "\n# looked at by the finance team\n")
    query.write_text(query.read_text() + "\n-- edited by hand\n")
    assert fluid("report", recorded).code == 0
    text = whole_text(recorded / REPORT_FILE)
    assert "looked at by the finance team" in text
    assert "edited by hand" in text


def test_a_column_that_was_decided_to_be_personal_shows_no_value(
    fluid: Fluid, recorded: Path
) -> None:
    """The next forge takes the values out of the folder, and the page has none before."""
    assert "<bdi>Town 3</bdi>" in whole_text(recorded / REPORT_FILE)
    assert fluid("decide", recorded, "personal-data", "customer.city").code == 0
    assert fluid("report", recorded).code == 0
    assert "<bdi>Town 3</bdi>" not in whole_text(recorded / REPORT_FILE)


def test_commands_of_a_folder_that_looks_like_an_option_paste(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    folder = forged_copy(sqlite_shop, tmp_path / "--model")
    assert fluid("report", folder).code == 0
    assert "fluid report ./--model --open" in (folder / REPORT_FILE).read_text()


def test_what_was_edited_after_the_proof_is_not_shown_as_proven(
    fluid: Fluid, recorded: Path
) -> None:
    query = recorded / "dbt/models/flat/orders.sql"
    query.write_text(query.read_text() + " WHERE FALSE")
    (recorded / "MODEL.md").write_text("My notes.")
    assert fluid("report", recorded).code == 0
    page = (recorded / REPORT_FILE).read_text()
    assert "Proven as forged" in page
    assert f"weren&#39;t compared: {query.relative_to(recorded).as_posix()}." in page


def test_a_link_to_another_tree_is_not_walked(fluid: Fluid, recorded: Path, tmp_path: Path) -> None:
    """The dbt project of a stranger's folder may be a link to all files of this machine."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "customers.sql").write_text("a secret of this machine")
    (recorded / "dbt/models").rename(tmp_path / "models")
    (recorded / "dbt/models").symlink_to(tmp_path / "tree")
    assert fluid("report", recorded).code == 0
    text = whole_text(recorded / REPORT_FILE)
    assert "customers.sql isn't shown" not in text
    assert "a secret of this machine" not in text


def test_without_a_record_the_folder_is_reviewed(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    """A folder that a program forged has no run, and its page has what a review finds now."""
    folder = forged_copy(sqlite_shop, tmp_path / "model")
    outcome = fluid("report", folder, "--json")
    assert (outcome.code, json.loads(outcome.out)["run"]) == (0, None)
    page = (folder / REPORT_FILE).read_text()
    assert "The findings are those of a review of its folder." in page
    assert "unassigned" in page


def test_a_contract_that_is_not_valid_is_a_finding(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    folder = forged_copy(sqlite_shop, tmp_path / "model")
    contract = folder / "contract.fluid.yaml"
    contract.write_text(contract.read_text().replace("kind: ", "sort: ", 1))
    assert fluid("report", folder).code == 0
    sources = read_page_sources(folder)
    (finding,) = reviewed_facts(folder, sources.model, sources.plan).findings
    assert finding.severity == "error"


def test_a_folder_that_was_moved_has_no_record(
    fluid: Fluid, recorded: Path, tmp_path: Path
) -> None:
    moved = recorded.rename(tmp_path / "elsewhere")
    assert json.loads(fluid("report", moved, "--json").out)["run"] is None


def test_a_run_that_wrote_another_model_there_is_not_shown(
    fluid: Fluid, recorded: Path, sqlite_shop: Path
) -> None:
    forged(sqlite_shop, recorded, "data_vault_2")
    assert json.loads(fluid("report", recorded, "--json").out)["run"] is None


def test_a_store_that_cannot_be_read_has_no_record(
    fluid: Fluid, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "broken"
    home.mkdir()
    (home / "fluid.db").write_bytes(b"this is no database" * 100)
    monkeypatch.setenv("FLUID_HOME", str(home))
    outcome = fluid("report", recorded, "--json")
    assert (outcome.code, json.loads(outcome.out)["run"]) == (0, None)


def test_the_page_can_be_written_elsewhere(fluid: Fluid, recorded: Path, tmp_path: Path) -> None:
    written = (recorded / REPORT_FILE).read_bytes()
    page = tmp_path / "for-the-team.html"
    outcome = fluid("report", recorded, "--out", page)
    assert outcome.code == 0
    assert str(page) in outcome.out
    assert page.read_bytes() == written


def test_a_report_of_your_own_is_not_replaced(fluid: Fluid, recorded: Path) -> None:
    (recorded / REPORT_FILE).write_text("<html>mine</html>")
    outcome = fluid("report", recorded)
    assert outcome.code == 2
    assert "isn't a page that Fluid Forge wrote" in outcome.err
    assert (recorded / REPORT_FILE).read_text() == "<html>mine</html>"


@pytest.mark.parametrize("place", ["missing", "two.sqlite", "."])
def test_only_a_forged_folder_has_a_page(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path, place: str
) -> None:
    outcome = fluid("report", tmp_path / place)
    assert outcome.code == 2
    assert "fluid forge" in outcome.err
    assert not (tmp_path / place / REPORT_FILE).exists()


def test_a_folder_of_an_older_version_is_to_be_forged_again(fluid: Fluid, recorded: Path) -> None:
    """Its ``profile.json`` has tables and foreign keys alone."""
    path = recorded / "profile.json"
    profile = json.loads(path.read_text())
    path.write_text(json.dumps({name: profile[name] for name in ("tables", "foreign_keys")}))
    outcome = fluid("report", recorded)
    assert outcome.code == 2
    assert "profile.json isn't as `fluid forge` writes it" in outcome.err
    assert "Run `fluid forge` again." in outcome.err


def test_files_of_two_models_are_refused(fluid: Fluid, recorded: Path) -> None:
    path = recorded / "profile.json"
    profile = json.loads(path.read_text())
    profile["tables"].pop()
    path.write_text(json.dumps(profile))
    outcome = fluid("report", recorded)
    assert outcome.code == 2
    assert "don't fit together any more" in outcome.err


@pytest.mark.parametrize("name", ["model.json", "plan.json", "proof.json", "profile.json"])
def test_a_damaged_file_never_ends_in_a_bug(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path, name: str
) -> None:
    """Whatever value is changed: there's a page, or an error that names the files."""
    path = forged_copy(sqlite_shop, tmp_path / "model", "data_vault_2") / name
    document = json.loads(path.read_text())
    places = [place for place, value in leaves(document) if isinstance(value, str)]
    for place in random.Random(14).sample(places, min(15, len(places))):
        path.write_text(json.dumps(changed(document, place, "elsewhere")))
        outcome = fluid("report", path.parent)
        assert outcome.code == 0 or "bug" not in outcome.err, (place, outcome.err)


def test_a_link_out_of_the_folder_is_not_followed(
    fluid: Fluid, recorded: Path, tmp_path: Path
) -> None:
    """A folder may be a stranger's, and a page may be passed on."""
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret of this machine")
    query = recorded / "dbt/models/flat/orders.sql"
    query.unlink()
    query.symlink_to(secret)
    assert fluid("report", recorded).code == 0
    text = whole_text(recorded / REPORT_FILE)
    assert "a secret of this machine" not in text
    assert "a link that leads out of its folder" in text


def test_a_broken_decision_is_reported_with_its_line(fluid: Fluid, recorded: Path) -> None:
    (recorded / "decisions.yaml").write_text("version: 1\ndecisions:\n  - decision: set_kee\n")
    outcome = fluid("report", recorded)
    assert outcome.code == 2
    assert "line 3" in outcome.err


def test_the_page_is_opened_in_the_browser_of_the_system(
    fluid_process: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    folder = forged_copy(sqlite_shop, tmp_path / "model")
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}\n')
    browser.chmod(0o755)
    outcome = fluid_process("report", folder, "--open", BROWSER=f"{browser} %s")
    assert (outcome.code, outcome.err) == (0, "")
    assert opened.read_text() == (folder / REPORT_FILE).as_uri()


def test_without_a_browser_the_path_is_printed(
    fluid_process: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    folder = forged_copy(sqlite_shop, tmp_path / "model")
    outcome = fluid_process("report", folder, "--open", BROWSER="", PATH="", DISPLAY="")
    assert outcome.code == 0
    assert "There is no browser" in outcome.err
    assert str(folder / REPORT_FILE) in outcome.err


def test_without_a_display_an_address_is_printed_and_no_command(
    fluid_process: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    folder = forged_copy(sqlite_shop, tmp_path / "model")
    outcome = fluid_process("report", folder, DISPLAY="", WAYLAND_DISPLAY="")
    assert (folder / REPORT_FILE).as_uri() in outcome.out
    assert "xdg-open" not in outcome.out


def test_the_home_folder_is_not_in_a_page(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page is passed on: it says nothing of whose machine it was made on."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "model"
    for where in (tmp_path, Path("/")):
        monkeypatch.chdir(where)
        fluid(*FROM_SOURCE, "--uri", sqlite_shop, "-o", folder)
        assert tmp_path.name not in whole_text(folder / REPORT_FILE)
        fluid("report", os.path.relpath(folder, where))
        assert tmp_path.name not in whole_text(folder / REPORT_FILE)


def test_a_page_is_the_same_wherever_its_folder_lies(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other part of a folder's path than its name is in its page."""
    folder = forged_copy(sqlite_shop, tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    fluid("report", "model")
    page = (folder / REPORT_FILE).read_bytes()
    monkeypatch.chdir("/")
    fluid("report", folder)
    assert (folder / REPORT_FILE).read_bytes() == page
    assert tmp_path.name not in whole_text(folder / REPORT_FILE)


def test_a_page_asks_where_far_files_are(fluid: Fluid, sqlite_shop: Path, tmp_path: Path) -> None:
    """A folder may not choose files far from it, and the page doesn't say where they are."""
    folder = tmp_path / "far" / "away" / "model"
    fluid(*FROM_SOURCE, "--uri", sqlite_shop, "-o", folder)
    assert "fluid verify model --uri SOURCE" in whole_text(folder / REPORT_FILE)
