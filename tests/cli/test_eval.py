"""``fluid eval``: scripted models of three qualities move the figures as they should."""

import contextlib
import html
import io
import itertools
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from fluid_build.cli.interrupts import Interrupts
from fluid_build.cli.main import run
from fluid_build.copilot.llm.answers import Usage
from tests.cli.running import Fluid
from tests.fault_server import (
    LoopbackServer,
    ReceivedRequest,
    Reply,
    unauthorized,
)
from tests.fault_server.faults import Fault

_TABLES = (
    "CREATE TABLE staff AS SELECT n + 1 AS staff_no, 'Name ' || n AS nm FROM range(9) t(n)",
    "CREATE TABLE room AS SELECT n + 1 AS room_no, 10 + n % 7 AS seats FROM range(12) t(n)",
    "CREATE TABLE booking AS SELECT n + 500 AS booking_no, n * 7 % 12 + 1 AS room_no,"
    " n * 5 % 9 + 1 AS cht, n % 4 + 1 AS hours FROM range(90) t(n)",
)
CHAIR = "booking(cht) -> staff(staff_no)"
"""A true reference that no name speaks for: the forge without a model doesn't claim it."""
TRUTH = {
    "tables": {
        "staff": {"primary_key": ["staff_no"]},
        "room": {"primary_key": ["room_no"]},
        "booking": {"primary_key": ["booking_no"]},
    },
    "foreign_keys": [
        {
            "from_table": "booking",
            "from_columns": [column],
            "to_table": parent,
            "to_columns": [key],
        }
        for column, parent, key in (("room_no", "room", "room_no"), ("cht", "staff", "staff_no"))
    ],
    "names": [
        {"table": "staff", "column": "nm", "names": ["name", "full_name"]},
        {"table": "room", "column": "seats", "names": ["seats", "seat_count"]},
        {"table": "room", "column": "room_no", "names": ["room_no", "room_number"]},
    ],
    "descriptions": [
        {"table": "booking", "text": "A reservation of a meeting room for some hours."},
        {"table": "staff", "text": "A person who is employed in the office."},
    ],
}


def proposal(decision: str, table: str, *columns: str, **fields: object) -> dict[str, object]:
    """An entry of a model's answer."""
    return {
        "decision": decision,
        "table": table,
        "columns": columns,
        "reason": "So it is.",
    } | fields


GOOD = [
    proposal("add_relationship", "booking", "cht", to_table="staff", to_columns=["staff_no"]),
    proposal("rename", "staff", "nm", value="full_name"),
    proposal("describe", "booking", value="Who has reserved which room for a meeting."),
    proposal("describe", "staff", value="An employed person of the office."),
]
LIES = [
    proposal("set_key", "booking", "cht"),
    proposal("add_relationship", "booking", "booking_no", to_table="room", to_columns=["room_no"]),
    proposal("rename", "room", "seats", value="sofas"),
    proposal("rename", "room", "room_no", value="floor"),
    proposal("describe", "staff", value="Long wooden sticks."),
]
MODELS: dict[str, list[dict[str, object]]] = {
    "good": GOOD,
    "middling": [*GOOD[1:3], LIES[0], LIES[2]],
    "liar": LIES,
}
COST = Decimal("0.0014")
"""Of an answer, by the prices and the usage below."""


def answer(request: ReceivedRequest) -> Reply | Fault:
    """Answer as the model that is asked; what isn't one of them is refused."""
    name = str(request.body["model"]).removeprefix("scripted-")
    if name not in MODELS:
        return unauthorized()
    return Reply(json.dumps({"decisions": MODELS[name]}), usage=Usage(1_000, 200))


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of databases: one, with its truth."""
    folder = tmp_path_factory.mktemp("databases")
    (folder / "office").mkdir()
    with duckdb.connect(str(folder / "office" / "data.duckdb")) as connection:
        connection.execute(";".join(_TABLES))
    (folder / "office" / "truth.json").write_text(json.dumps(TRUTH))
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackServer]:
    """The scripted models behind a provider's API, with known prices."""
    home = tmp_path_factory.mktemp("home")
    names = (*MODELS, "refused")
    prices = "".join(f"    scripted-{name}: [1.0, 2.0]\n" for name in names)
    (home / "config.yaml").write_text(f"prices:\n  prices:\n{prices}")
    with LoopbackServer(answer) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", server.key)
        patch.setenv("FLUID_HOME", str(home))
        yield server


def command(server: LoopbackServer, *models: str) -> list[str]:
    named = [f"--llm-model=openai:scripted-{model}" for model in models]
    return ["eval", f"--llm-endpoint={server.base_url('openai')}", *named]


@pytest.fixture(scope="module")
def evaluated(
    server: LoopbackServer, office: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[int, dict[str, Any], str]:
    """One evaluation of all models: the exit code, the JSON by model, and the page."""
    page = tmp_path_factory.mktemp("page") / "eval.html"
    arguments = [*command(server, *MODELS, "refused"), f"--databases={office}", f"--html={page}"]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = run([*arguments, "--repeats=2", "--json"], Interrupts())
    return code, json.loads(out.getvalue()), page.read_text()


def by_name(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {model["name"].removeprefix("openai:scripted-"): model for model in document["models"]}


def subjects(changes: list[dict[str, Any]]) -> list[tuple[str, str, str, int]]:
    return sorted((c["kind"], c["subject"], c["now"], c["times"]) for c in changes)


def test_a_good_model_gains_what_the_forge_missed_and_loses_nothing(
    evaluated: tuple[int, dict[str, Any], str],
) -> None:
    models = by_name(evaluated[1])
    plain, good = models[""], models["good"]
    assert {kind: (each["right"], each["missed"]) for kind, each in plain["kinds"].items()} == {
        "references": (1, 1),
        "keys": (3, 0),
        "names": (2, 1),
        "descriptions": (0, 2),
    }
    assert subjects(good["gained"]) == [
        ("descriptions", "booking", "right", 2),
        ("descriptions", "staff", "right", 2),
        ("names", "staff.nm", "right", 2),
        ("references", CHAIR, "right", 2),
    ]
    assert good["lost"] == []
    assert (good["proposed"], good["refused"], good["let_in"]) == (8, 0, 0)


def test_a_liar_is_refused_where_the_data_speaks_and_loses_where_it_does_not(
    evaluated: tuple[int, dict[str, Any], str],
) -> None:
    liar = by_name(evaluated[1])["liar"]
    assert liar["gained"] == []
    assert subjects(liar["lost"]) == [
        ("names", "room.room_no", "wrong", 2),
        ("names", "room.seats", "wrong", 2),
    ]
    assert (liar["refused"], liar["let_in"]) == (4, 4)
    assert liar["kinds"]["references"] == {
        "right": 1, "wrong": 0, "missed": 1, "gained": 0, "lost": 0,
    }  # fmt: skip


def test_each_figure_puts_the_models_in_the_order_of_their_quality(
    evaluated: tuple[int, dict[str, Any], str],
) -> None:
    models = by_name(evaluated[1])
    ranked = [models[name] for name in ("good", "middling", "liar")]

    def falling(values: list[float]) -> bool:
        return all(first > second for first, second in itertools.pairwise(values))

    assert falling([len(model["gained"]) for model in ranked])
    assert falling([-len(model["lost"]) for model in ranked])
    assert falling([-model["refused"] - model["let_in"] for model in ranked])
    totals = [sum(each["change"]["mean"] for each in model["differences"]) for model in ranked]
    assert falling(totals)
    assert totals[0] > 0 > totals[2]


def test_costs_seconds_and_failures_are_those_of_the_forges(
    evaluated: tuple[int, dict[str, Any], str],
) -> None:
    code, document, _ = evaluated
    models = by_name(document)
    assert code == 1  # One model failed.
    assert Decimal(models["good"]["cost_usd"]) == 2 * COST
    assert Decimal(models["liar"]["cost_usd"]) == 4 * COST  # It was asked to correct itself.
    assert models[""]["cost_usd"] == "0"
    for name, model in models.items():
        assert 0 < model["model_seconds"] < model["seconds"] if name else model["seconds"] > 0
    assert [len(model["failures"]) for model in models.values()] == [0, 0, 0, 0, 2]
    assert models["refused"]["failures"][0].startswith("office: ProviderAuthError")
    assert models["refused"]["gained"] == models["refused"]["lost"] == []


def test_the_page_is_one_file_and_shows_every_change(
    evaluated: tuple[int, dict[str, Any], str],
) -> None:
    _, document, page = evaluated
    assert not re.search(r"<script|<link|src=|url\(|@import", page)
    assert "default-src 'none'" in html.unescape(page)
    for model in document["models"][1:]:
        for change in (*model["gained"], *model["lost"], {"subject": model["name"]}):
            assert html.escape(change["subject"]) in page
    # Nobody but a reader can judge a description in other words.
    assert "Long wooden sticks." in page


def test_the_table_has_a_row_for_each_model(
    fluid: Fluid, server: LoopbackServer, office: Path
) -> None:
    done = fluid(*command(server, "good"), "--databases", office / "office")
    assert done.code == 0
    assert re.search(r"no model +1 of 2 +3 of 3 +2 of 3 +0 of 2", done.out)
    row = r"scripted-good +2 of 2 \(\+1 -0\) +3 of 3 +3 of 3 \(\+1 -0\) +2 of 2 \(\+2 -0\)"
    assert re.search(row + r" +0 of 0 +\$0\.0014", done.out)
    assert f"gained: office references {CHAIR} [right]" in done.out


def test_without_databases_it_is_the_demo(fluid: Fluid, server: LoopbackServer) -> None:
    better = [
        proposal("rename", "products", "cat_id", value="category_id"),
        proposal("describe", "stores", value="A branch of the shop and its location."),
        proposal("drop_relationship", "orders", "customer_id", to_table="customers"),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(MODELS, "good", better)
        done = fluid(*command(server, "good"), "--json")
    plain, good = by_name(json.loads(done.out)).values()
    rights = {kind: each["right"] for kind, each in plain["kinds"].items()}
    assert (rights["references"], rights["keys"], rights["descriptions"]) == (20, 14, 0)
    assert subjects(good["gained"]) == [
        ("descriptions", "stores", "right", 1),
        ("names", "products.cat_id", "right", 1),
    ]
    assert good["lost"] == []


def test_the_ceiling_holds_over_all_models_and_what_was_forged_is_told(
    fluid: Fluid, server: LoopbackServer, office: Path
) -> None:
    before = len(server.requests)
    arguments = (*command(server, "good", "middling"), "--databases", office, "--repeats", "9")
    done = fluid(*arguments, "--max-cost", "0.02", "--json")
    document = json.loads(done.out)
    assert done.code == 1
    assert "cost limit of $0.02" in document["stopped"]
    assert [model["name"] for model in document["models"]] == ["", "openai:scripted-good"]
    spent = Decimal(document["models"][1]["cost_usd"])
    assert 0 < spent <= Decimal("0.02")
    assert (len(server.requests) - before) * COST == spent


def test_a_folder_that_a_person_decided_on_is_forged_without_those_decisions(
    fluid: Fluid, server: LoopbackServer, office: Path, tmp_path: Path
) -> None:
    data = tmp_path / "rooms.duckdb"
    data.write_bytes((office / "office" / "data.duckdb").read_bytes())
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "decisions.yaml").write_text(
        "version: 1\ndecisions:\n"
        "- {decision: add_relationship, from_table: booking, from_columns: [cht],"
        " to_table: staff, to_columns: [staff_no]}\n"
        "- {decision: describe, table: staff, text: A person employed in the office.}\n"
        "- {decision: ignore, table: room}\n"
        "- {decision: describe, table: booking, text: A lie., by: model}\n"
    )
    forge = ("forge", "data-model", "from-source", "--uri", data, "--deterministic", "-o")
    assert fluid(*forge, tmp_path / "mine").code == 0
    assert fluid(*forge, tmp_path / "undecided").code == 0
    files = {path: path.read_bytes() for path in (tmp_path / "mine").rglob("*") if path.is_file()}
    done = fluid(*command(server, "good"), "--databases", tmp_path, "--json")
    assert f"{tmp_path / 'undecided'} is left out" in done.err
    plain, good = by_name(json.loads(done.out)).values()
    assert plain["kinds"]["references"]["missed"] == plain["kinds"]["descriptions"]["missed"] == 1
    assert subjects(good["gained"]) == [
        ("descriptions", "staff", "right", 1),
        ("references", CHAIR, "right", 1),
    ]
    assert files == {path: path.read_bytes() for path in files}


def test_a_folder_does_not_choose_what_is_read(
    fluid: Fluid, server: LoopbackServer, office: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "far"
    forge = ("forge", "data-model", "from-source", "--uri", office / "office" / "data.duckdb")
    assert fluid(*forge, "-o", folder, "--deterministic").code == 0
    decided = fluid("decide", folder, "describe", "staff", "A person employed here.")
    assert decided.code == 0, decided.err
    done = fluid(*command(server, "good"), "--databases", folder, "--json")
    assert (done.code, json.loads(done.out)["error"]) == (2, "NotTrustedError")
    assert "--uri" not in done.err


def test_no_forge_is_recorded_or_remembered(
    fluid: Fluid, server: LoopbackServer, office: Path
) -> None:
    def kept() -> list[str]:
        return [fluid(*words, "--json").out for words in (("runs", "list"), ("memory", "list"))]

    before = kept(), len(server.requests)
    for times in (1, 2):  # The answers of the first aren't kept either.
        assert fluid(*command(server, "good"), "--databases", office).code == 0
        assert (kept(), len(server.requests)) == (before[0], before[1] + times)


def test_what_cannot_be_evaluated_is_refused_before_anything_is_forged(
    fluid: Fluid, server: LoopbackServer, office: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "faulty").mkdir()
    (tmp_path / "faulty" / "truth.json").write_text('{"foreign_keys": [{"from_table": 3}]}')
    (tmp_path / "faulty" / "data").mkdir()
    good = command(server, "good")
    for arguments, error, says in (
        ([*good, "--databases", tmp_path / "empty"], "UsageError", "no database whose truth"),
        ([*good, "--databases", tmp_path / "none"], "UsageError", "There is no folder"),
        ([*good, "--databases", tmp_path / "faulty"], "FaultyFileError", "foreign_keys.0"),
        ([*good, f"--databases={office}", f"--databases={office}"], "UsageError", "'office'"),
        ([*good, *good[2:], f"--databases={office}"], "UsageError", "named twice"),
        ([*good, "--repeats", "0"], "UsageError", "at least 1"),
        ([*good, "--max-cost", "much"], "UsageError", "amount of dollars"),
        ([*good, "--html", tmp_path], "OutputError", "is a folder"),
        (["eval"], "UsageError", "no model to evaluate"),
        ([*good, "--llm-model", "openai:unpriced", "--max-cost=1"], "UnknownPriceError", "price"),
    ):
        done = fluid(*arguments, "--json")
        document = json.loads(done.out)
        assert (done.code, document["error"]) == (2, error), arguments
        assert says in f"{document['message']}{done.err}"
