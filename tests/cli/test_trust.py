"""What the folder of a stranger can't do: choose a server, read far files, run its code unasked."""

import json
import os
import pty
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fluid_build.contract.exports.formats import FORMATS
from fluid_build.forging import forge
from fluid_build.sources import open_source
from tests.cli.running import COMMAND, Fluid, Outcome
from tests.cli.servers import PasswordThief, password_thief
from tests.forges import forged_copy

SECRET = "geheim-from-the-environment"


@pytest.fixture
def thief() -> Iterator[PasswordThief]:
    """A server that asks whoever comes for the password."""
    with password_thief() as found:
        yield found


@pytest.fixture
def passwords_at_hand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A user who has put every password that libpq would take where it looks."""
    file = tmp_path / "pgpass"
    file.write_text(f"*:*:*:*:{SECRET}\n")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSWORD", SECRET)
    monkeypatch.setenv("PGPASSFILE", str(file))


@pytest.fixture
def folder(duckdb_shop: Path, tmp_path: Path) -> Path:
    """A forged folder, next to its source."""
    return forged_copy(duckdb_shop, tmp_path / "shop-model")


def edit(path: Path, change: Callable[[Any], None]) -> None:
    """Change a JSON document in place."""
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def lead_to(folder: Path, location: str, kind: str = "duckdb") -> None:
    """Have forge.json name another source."""
    edit(
        folder / "forge.json",
        lambda manifest: manifest["source"].update(kind=kind, location=location),
    )


def answer(reply: str, *arguments: str | Path) -> Outcome:
    """Run a command line on a terminal, where somebody answers its question."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)], stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        os.write(ours, f"{reply}\n".encode())
        shown_text = b"".join(iter(lambda: _read(ours), b""))
        code = process.wait(timeout=60)
    os.close(ours)
    return Outcome(code, shown_text.decode().replace("\r\n", "\n"), "")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux says so where the other side was closed.
        return b""


@pytest.mark.usefixtures("passwords_at_hand")
@pytest.mark.parametrize(
    "location",
    [
        "postgresql://reader@127.0.0.1:{port}/shop",
        "postgresql://reader@db.example.org/shop?host=127.0.0.1&port={port}",
        "host=127.0.0.1 port={port} user=reader dbname=shop",
        "hostaddr=127.0.0.1 port={port} host=db.example.org user=reader dbname=shop",
        "postgresql://reader@127.0.0.1:{port}/shop?service=x",
    ],
)
def test_a_folder_never_chooses_a_server(
    fluid: Fluid, folder: Path, thief: PasswordThief, location: str
) -> None:
    """Where nobody can be asked, no connection is opened, however forge.json names the server."""
    lead_to(folder, location.format(port=thief.port), "postgres")
    outcome = fluid("verify", folder)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("Error: forge.json names a server")
    assert (thief.connections, thief.passwords) == (0, [])


def test_a_folder_never_chooses_a_mysql_server(
    fluid: Fluid, folder: Path, thief: PasswordThief
) -> None:
    """It's named, and not contacted, nor is a file of this machine sent anywhere."""
    location = f"mysql://reader@127.0.0.1:{thief.port}/shop"
    lead_to(folder, location, "mysql")
    outcome = fluid("verify", folder)
    assert (outcome.code, outcome.out) == (2, "")
    shown = " ".join(outcome.err.split())
    assert f"(host 127.0.0.1, port {thief.port}, user reader, database shop)" in shown
    lead_to(folder, f"{location}?ssl-key=/etc/passwd", "mysql")
    assert fluid("verify", folder).code == 2
    assert thief.connections == 0


def test_the_command_to_paste_names_the_server(
    fluid: Fluid, folder: Path, thief: PasswordThief
) -> None:
    """Host, port, user and database are said, and the command says the same as one plain URI."""
    lead_to(folder, f"host=127.0.0.1 port={thief.port} user=reader dbname=shop", "postgres")
    output = " ".join(fluid("verify", folder, "--json").err.split())
    assert f"(host 127.0.0.1, port {thief.port}, user reader, database shop)" in output
    uri = f"postgresql://reader@127.0.0.1:{thief.port}/shop"
    assert output.endswith(f" run: fluid verify {folder} --json --uri {uri}")


@pytest.mark.usefixtures("passwords_at_hand")
def test_a_server_that_the_user_names_is_contacted(
    fluid: Fluid, folder: Path, thief: PasswordThief
) -> None:
    """With --uri the user chose it, and libpq does what it always does."""
    fluid("verify", folder, "--uri", f"postgresql://reader@127.0.0.1:{thief.port}/shop")
    assert thief.connections > 0
    assert set(thief.passwords) == {SECRET}


@pytest.mark.usefixtures("passwords_at_hand")
@pytest.mark.parametrize(("reply", "contacted"), [("y", True), ("n", False), ("", False)])
def test_on_a_terminal_the_user_is_asked(
    folder: Path, thief: PasswordThief, reply: str, contacted: bool
) -> None:
    """The question shows where to; only a yes opens a connection."""
    lead_to(folder, f"host=db.example.org port={thief.port} hostaddr=127.0.0.1", "postgres")
    outcome = answer(reply, "verify", folder)
    assert outcome.code == 2
    for shown in ("host      db.example.org", f"port      {thief.port}", "hostaddr  127.0.0.1"):
        assert shown in outcome.out
    assert (thief.connections > 0) is contacted
    assert bool(thief.passwords) is contacted


@pytest.mark.parametrize("way", ["relative", "absolute", "symbolic link", "hidden"])
def test_a_folder_leads_to_no_far_file(
    fluid: Fluid, duckdb_shop: Path, folder: Path, tmp_path: Path, way: str
) -> None:
    """Only files in the folder or next to it are read; for links, the target counts."""
    mine = tmp_path / "mine"
    mine.mkdir()
    folder = Path(shutil.move(folder, mine))
    location = {
        "relative": "../../two.duckdb",
        "absolute": str(duckdb_shop),
        "symbolic link": "../link.duckdb",
        "hidden": "../.private/two.duckdb",
    }[way]
    (mine / "link.duckdb").symlink_to(duckdb_shop)
    (mine / ".private").mkdir()
    shutil.copy(duckdb_shop, mine / ".private")
    lead_to(folder, location)
    outcome = fluid("verify", folder)
    assert (outcome.code, outcome.out) == (2, "")
    assert "a folder may only choose files in it or next to it" in outcome.err
    assert f"fluid verify {folder} --uri " in " ".join(outcome.err.split())
    assert fluid("verify", folder, "--uri", duckdb_shop).code == 0


def test_a_folder_of_files_holds_no_link_to_a_far_file(fluid: Fluid, tmp_path: Path) -> None:
    """A link among the data files, or in a folder of parts, leads out as well as a path does."""
    (tmp_path / "secret.csv").write_text("id,name\n1,geheim\n2,geheimer\n")
    data = tmp_path / "mine" / "data"
    (data / "parts").mkdir(parents=True)
    (data / "shops.csv").write_text("id,city\n1,Bonn\n2,Ulm\n")
    with open_source(data) as source:
        forge(source, out=tmp_path / "mine" / "model")
    assert fluid("verify", tmp_path / "mine" / "model").code == 0
    (data / "parts" / "more.csv").symlink_to(tmp_path / "secret.csv")
    outcome = fluid("verify", tmp_path / "mine" / "model")
    assert outcome.code == 2
    assert "more.csv, and a folder may only choose files in it or next to it" in outcome.err


def test_on_a_terminal_a_far_file_is_asked_for(folder: Path, tmp_path: Path) -> None:
    """A yes reads it."""
    (tmp_path / "mine").mkdir()
    folder = Path(shutil.move(folder, tmp_path / "mine"))
    lead_to(folder, "../../two.duckdb")
    assert answer("n", "verify", folder).code == 2
    outcome = answer("yes", "verify", folder)
    assert (outcome.code, "Read it?" in outcome.out, "Proven." in outcome.out) == (0, True, True)


@pytest.fixture
def trap(folder: Path, tmp_path: Path) -> Path:
    """A file that the folder's dbt project writes as soon as dbt loads it."""
    sprung = tmp_path / "sprung"
    project = folder / "dbt" / "dbt_project.yml"
    model = folder / "dbt" / "models" / "trap.sql"
    model.write_text(f"{{{{ config(pre_hook=\"COPY (SELECT 1) TO '{sprung}'\") }}}} SELECT 1 AS x")
    assert project.is_file()
    return sprung


def test_the_code_of_a_folder_is_not_run_unasked(fluid: Fluid, folder: Path, trap: Path) -> None:
    """Without a terminal and without --trust nothing of it runs, and one sentence says why."""
    outcome = fluid("verify", folder, "--dbt")
    assert (outcome.code, outcome.out, trap.exists()) == (2, "", False)
    output = " ".join(outcome.err.split())
    assert "runs the code in" in output
    assert f"run: fluid verify {folder} --dbt --trust" in output


@pytest.mark.usefixtures("dbt")
def test_the_code_of_a_folder_is_asked_for(folder: Path, trap: Path) -> None:
    """On a terminal a no ends it; with --trust nobody is asked."""
    outcome = answer("n", "verify", folder, "--dbt")
    assert (outcome.code, trap.exists()) == (2, False)
    assert "Do you trust its author?" in outcome.out
    outcome = answer("n", "verify", folder, "--dbt", "--trust")
    assert (trap.exists(), "Do you trust" in outcome.out) == (True, False)


def test_trust_in_the_code_chooses_no_server(
    fluid: Fluid, folder: Path, thief: PasswordThief
) -> None:
    """--trust is about the project's code; where the data is stays the user's to say."""
    lead_to(folder, f"postgresql://reader@127.0.0.1:{thief.port}/shop", "postgres")
    assert fluid("verify", folder, "--dbt", "--trust").code == 2
    assert thief.connections == 0


def test_a_warehouse_by_name_chooses_no_source(
    fluid: Fluid, duckdb_shop: Path, folder: Path, thief: PasswordThief
) -> None:
    """--warehouse says where the model was built; where the data is stays the user's to say."""
    lead_to(folder, f"postgresql://reader@127.0.0.1:{thief.port}/shop", "postgres")
    outcome = fluid("verify", folder, "--warehouse", duckdb_shop)
    assert (outcome.code, "forge.json names a server" in outcome.err) == (2, True)
    assert thief.connections == 0


@pytest.mark.usefixtures("passwords_at_hand")
def test_no_command_goes_where_a_contract_or_project_points(
    fluid: Fluid, duckdb_shop: Path, folder: Path, thief: PasswordThief
) -> None:
    """Bindings, descriptions and profiles are words: whatever reads them connects to nothing."""
    uri = f"postgresql://reader@127.0.0.1:{thief.port}/shop"
    contract = folder / "contract.fluid.yaml"
    document = yaml.safe_load(contract.read_text())
    document["exposes"][0]["binding"]["location"] |= dict.fromkeys(
        ("database", "path", "baseUrl"), uri
    )
    document["metadata"]["owner"]["team"] = uri
    contract.write_text(yaml.safe_dump(document))
    profiles = folder / "dbt" / "profiles.yml"
    profiles.write_text(
        f"shop: {{target: a, outputs: {{a: {{type: duckdb, attach: [{{path: '{uri}'}}]}}}}}}"
    )
    odcs = folder / "odcs.yaml"
    for command in (
        ("validate", contract),
        ("test", contract, "--uri", duckdb_shop),
        ("diff", contract, folder),
        ("export", "odcs", contract, "-o", odcs),
        *(("export", name, contract) for name in FORMATS),
        ("import", "odcs", odcs),
        ("verify", folder),
        ("forge", "data-model", "from-source", "--uri", duckdb_shop, "-o", folder),
    ):
        outcome = fluid(*command)
        assert "bug" not in outcome.err, (command, outcome.err)
    assert thief.connections == 0
