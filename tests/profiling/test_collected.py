"""Databases that are fetched again: built from a clone's script, drawn into halves, settled."""

import json
import subprocess
from pathlib import Path

import duckdb
import pytest

from bench import accuracy
from bench.collected.clones import MissingFileError, find_clone
from bench.collected.declared import stated_reference
from bench.collected.listing import (
    FRESH,
    LEARN,
    LOOK_ONCE,
    Source,
    draw_halves,
    read_sources,
    set_fields,
)
from bench.collected.loading import Place, load
from bench.collected.servers import Servers
from bench.collected.settled import Settled, parse_settled, read_settled, settled_truth
from bench.collected.truth import write
from bench.keys.databases import Database
from bench.keys.naming import renaming
from bench.keys.scores import score_foreign_keys
from bench.sources import LIST, check_settled, draw, scanning_engine
from tests.modeling.profiles import column, profile, reference, table

SCRIPT = """
CREATE TABLE land (code TEXT PRIMARY KEY, naam TEXT);
CREATE TABLE stad (naam TEXT, land TEXT REFERENCES land, PRIMARY KEY (naam, land));
CREATE TABLE wijk (nr INTEGER PRIMARY KEY, stad TEXT, land TEXT,
    FOREIGN KEY (stad, land) REFERENCES stad (naam, land));
CREATE TABLE leeg (nr INTEGER PRIMARY KEY);
INSERT INTO land VALUES ('NL', 'Nederland'), ('BE', 'België');
INSERT INTO stad VALUES ('Gent', 'BE'), ('Breda', 'NL'), ('Oslo', 'NO');
INSERT INTO wijk VALUES (1, 'Gent', 'BE'), (2, 'Breda', 'NL'), (3, NULL, NULL);
INSERT INTO nergens VALUES (1);
"""
SHOP = {
    "name": "shop",
    "tables": {
        "line": {"columns": ["item", "unit", "owner"], "primary_key": [], "rows": 9},
        "item": {"columns": ["item"], "primary_key": ["item"], "rows": 9},
    },
    "foreign_keys": [],
}
SETTLED = """
nothing_to_add = ["farm"]

[shop]
read = "Mappings."
code = ["line(item) -> item(item)"]
open = ["line(owner) -> item(item)"]
"""


def source(name: str = "steden", owner: str = "someone", composite: int = 0) -> Source:
    return Source(
        name=name,
        repository=f"https://github.com/{owner}/steden",
        commit="HEAD",
        format="sqlite-script",
        files=("db/*.sql",),
        composite=composite,
    )


@pytest.fixture
def truth(tmp_path: Path) -> dict[str, object]:
    """The truth of a database that was built from a clone."""
    clone = tmp_path / "clones" / "someone+steden"
    (clone / "db").mkdir(parents=True)
    (clone / "db" / "steden.sql").write_text(SCRIPT, encoding="utf-8")
    git = ["git", "-C", str(clone), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Steden"]):
        subprocess.run([*git, *arguments], check=True)
    with scanning_engine() as engine:
        found = find_clone(tmp_path / "clones", source())
        loaded = load(source(), Place(found, tmp_path, Servers(tmp_path), engine))
        written = write("steden", loaded, tmp_path / "steden", engine)
    assert (written.failed, written.empty) == (1, 1)
    rows = duckdb.sql(f"SELECT nr FROM '{tmp_path}/steden/data/wijk.parquet'").fetchall()
    assert rows == [(1,), (2,), (3,)]
    described: dict[str, object] = json.loads((tmp_path / "steden" / "truth.json").read_bytes())
    return described


def test_declared_keys_are_those_of_the_catalog(truth: dict[str, dict[str, dict[str, object]]]):
    keys = {name: table["primary_key"] for name, table in truth["tables"].items()}
    assert keys == {"land": ["code"], "stad": ["naam", "land"], "wijk": ["nr"]}


def test_a_reference_is_supported_where_the_data_bears_it_out(truth: dict[str, list[dict]]):
    supported = {
        (key["from_table"], *key["from_columns"]): key["supported"] for key in truth["foreign_keys"]
    }
    assert supported == {("stad", "land"): False, ("wijk", "stad", "land"): True}


def test_a_clone_that_is_missing_is_named(tmp_path: Path):
    with pytest.raises(MissingFileError, match="No clone of"):
        find_clone(tmp_path, source())


def test_a_stated_reference_may_be_composite():
    reference = stated_reference("stad(provincie, land) -> provincie(naam, land)")
    assert (reference.child, reference.columns) == ("stad", ("provincie", "land"))
    assert (reference.parent, reference.parent_columns) == ("provincie", ("naam", "land"))


def test_databases_of_one_owner_are_in_one_half():
    sources = [source(f"d{number}", f"o{number // 2}") for number in range(8)]
    halves = draw_halves(sources, seed=1)
    assert all(halves[f"d{number}"] == halves[f"d{number + 1}"] for number in range(0, 8, 2))
    assert sorted(halves.values()) == [LEARN] * 4 + [LOOK_ONCE] * 4


def test_composite_references_are_in_both_halves():
    sources = [source(f"d{number}", f"o{number}", composite=number // 6) for number in range(8)]
    halves = draw_halves(sources, seed=1)
    assert halves["d6"] != halves["d7"]


def test_a_field_of_the_list_is_set_in_its_entry_alone():
    text = '[[database]]\nname = "a"\nrows = 1\n\n[[database]]\nname = "b"\nrows = 2\n'
    changed = set_fields(set_fields(text, "a", {"rows": 7}), "b", {"half": LEARN})
    expected = (
        '[[database]]\nname = "a"\nrows = 7\n\n[[database]]\nname = "b"\nrows = 2\nhalf = "learn"\n'
    )
    assert changed == expected


def test_settled_references_count_and_open_ones_do_neither_way() -> None:
    """What is settled is right or missed; what is open is neither right nor wrong."""
    truth = settled_truth(SHOP, parse_settled(SETTLED)["shop"])
    keys = [reference("line", name, "item", "item") for name in ("item", "unit", "owner")]
    lines = table("line", column("item"), column("unit"), column("owner"))
    items = table("item", column("item"), primary_key=("item",))
    names = renaming("as-is", truth)
    score, _ = score_foreign_keys(profile(lines, items, foreign_keys=keys), truth, names)
    assert (score.right, score.wrong, score.missed) == (1, 1, 0)
    score, _ = score_foreign_keys(profile(lines, items), truth, names)
    assert (score.right, score.wrong, score.missed) == (0, 0, 1)


def test_a_truth_as_declared_stays_as_it_is() -> None:
    """Both figures come of one reading."""
    database = Database(Path("shop"), SHOP)
    declared, settled = accuracy.truths(database, parse_settled(SETTLED)).values()
    assert declared.truth["foreign_keys"] == []
    assert [key["kind"] for key in settled.truth["foreign_keys"]] == ["code", "open"]


def test_fresh_databases_are_of_repositories_that_nobody_has_read() -> None:
    """What was learnt from a repository tells of its other databases."""
    read, fresh = set(), set()
    for each in read_sources(LIST):
        (fresh if each.half == FRESH else read).add(each.repository)
    assert fresh
    assert not read & fresh


def test_fresh_databases_are_never_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A draw for databases that were added leaves them, and the balance of the halves, alone."""
    entry = '[[database]]\nname = "{}"\nrepository = "https://x/{}/r"\ncommit = "HEAD"\n'
    entry += 'format = "mariadb"\nfiles = []\n{}\n'
    text = entry.format("a", "a", 'half = "fresh"\n') + entry.format("b", "b", "")
    (tmp_path / "list.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr("bench.sources.LIST", tmp_path / "list.toml")
    assert draw(read_sources(tmp_path / "list.toml"), seed=1) == 0
    halves = [each.half for each in read_sources(tmp_path / "list.toml")]
    assert halves[0] == FRESH
    assert halves[1] in (LEARN, LOOK_ONCE)


@pytest.mark.parametrize("half", [LEARN, LOOK_ONCE, FRESH])
def test_what_is_settled_is_of_databases_of_that_half(half: str) -> None:
    """A name that is spelt wrongly would settle nothing."""
    assert set(read_settled(half)) <= {
        each.name for each in read_sources(LIST) if each.half == half
    }


def test_a_settled_reference_that_the_data_denies_is_named(
    truth: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was settled holds for the data as it is fetched again."""
    references = (
        stated_reference("wijk(stad) -> stad(naam)"),
        stated_reference("stad(land) -> land(code)"),
    )
    settled = {"steden": Settled(true=references)}
    monkeypatch.setattr("bench.sources.read_settled", lambda _: settled)
    problems = check_settled(source(), tmp_path / str(truth["name"]))
    assert problems == ["steden: the data doesn't bear out stad -> land."]


def test_errors_of_fresh_are_not_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who writes rules never sees them."""
    monkeypatch.setattr("sys.argv", ["accuracy.py", "--collected", FRESH, "--errors"])
    with pytest.raises(SystemExit):
        accuracy.main()
    assert "no rule is written for them" in capsys.readouterr().err


def test_collected_databases_are_scored_by_both_truths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One run prints the figures as declared and those with what was settled."""
    data = tmp_path / LEARN / "shop" / "data"
    data.mkdir(parents=True)
    for select, name in (
        ("range AS item, range // 2 AS unit, 1 AS owner FROM range(60)", "line"),
        ("range AS item FROM range(60)", "item"),
    ):
        duckdb.sql(f"COPY (SELECT {select}) TO '{data / name}.parquet'")
    (data.parent / "truth.json").write_text(json.dumps(SHOP), encoding="utf-8")
    monkeypatch.setattr(accuracy, "COLLECTED", tmp_path)
    monkeypatch.setattr(accuracy, "read_settled", lambda _: parse_settled(SETTLED))
    monkeypatch.setattr("sys.argv", ["accuracy.py", "--collected", LEARN])
    assert accuracy.main() == 0
    printed = capsys.readouterr().out
    assert "foreign keys as declared" in printed
    assert "foreign keys settled" in printed
