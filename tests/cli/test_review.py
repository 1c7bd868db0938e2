"""fluid review: the open judgement calls, and answers to them."""

import json
import os
import pty
import signal
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import pytest

from fluid_build.decisions.files import read_decision_file
from tests.cli.running import COMMAND, Fluid, Outcome
from tests.forges import forged


@pytest.fixture(scope="module")
def shop_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault with a choice of keys, and a name that acts on terminals."""
    folder = tmp_path_factory.mktemp("shop")
    source = folder / "shop.duckdb"
    with duckdb.connect(str(source)) as database:
        database.execute(
            """
            CREATE TABLE customers AS SELECT i * 7 + 100 AS id, 'C-' || (1000 + i) AS number
                FROM range(40) t(i);
            CREATE TABLE "\x1b[31mred" AS SELECT i AS id, 'x' || i * 3 AS code FROM range(40) t(i);
            """
        )
    return forged(source, folder / "shop-model", "data_vault_2")


@pytest.fixture(autouse=True)
def undecided(shop_model: Path) -> None:
    (shop_model / "decisions.yaml").unlink(missing_ok=True)


def listed(fluid: Fluid, folder: Path, *arguments: str) -> Any:
    outcome = fluid("review", folder, "--json", *arguments)
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def decisions(folder: Path) -> list[tuple[object, ...]]:
    recorded = read_decision_file(folder / "decisions.yaml").decisions
    return [tuple(d.model_dump(exclude_defaults=True).values()) for d in recorded]


def on_terminal(typed: str, *arguments: str | Path) -> Outcome:
    """Run a command line on a terminal of 80 columns, where somebody types."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "dumb"}
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
    ) as process:
        os.close(theirs)
        os.write(ours, typed.encode())
        output = b"".join(iter(lambda: _read(ours), b""))
        code = process.wait(timeout=60)
    os.close(ours)
    return Outcome(code, output.decode().replace("\r\n", "\n"), "")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux says so where the other side was closed.
        return b""


def test_the_least_certain_questions_come_first(fluid: Fluid, shop_model: Path) -> None:
    questions = listed(fluid, shop_model)["questions"]
    certainties = [question["certainty"] for question in questions]
    known = [certainty for certainty in certainties if certainty is not None]
    assert known == sorted(known)
    assert certainties == [*known, None, None]
    assert [question["id"] for question in questions[-2:]] == ["domain", "owner"]


def test_each_choice_has_the_entry_that_says_so(fluid: Fluid, shop_model: Path) -> None:
    by_id = {question["id"]: question for question in listed(fluid, shop_model)["questions"]}
    choices = by_id["key-customers"]["choices"]
    assert [(choice["label"], choice["chosen"]) for choice in choices] == [
        ("id", True),
        ("number", False),
    ]
    assert choices[1]["decision"] == {
        "decision": "set_key",
        "table": "customers",
        "columns": ["number"],
        "by": "person",
    }


def test_an_answer_is_written_and_not_asked_again(fluid: Fluid, shop_model: Path) -> None:
    before = listed(fluid, shop_model)["open"]
    after = listed(fluid, shop_model, "--answer", "key-customers=2", "--answer", "owner=Ann = Bob")
    assert decisions(shop_model) == [("customers", ("number",)), ("Ann = Bob",)]
    assert after["open"] == before - 2
    assert "key-customers" not in {question["id"] for question in after["questions"]}
    assert [entry["decision"] for entry in after["answered"]] == ["set_key", "owner"]


def test_a_limit_keeps_the_first(fluid: Fluid, shop_model: Path) -> None:
    document = listed(fluid, shop_model, "--limit", "1")
    assert len(document["questions"]) == 1
    assert document["open"] > 1


def test_elsewhere_than_on_a_terminal_the_questions_are_listed(
    fluid: Fluid, shop_model: Path
) -> None:
    outcome = fluid("review", shop_model)
    assert outcome.code == 0
    assert "What identifies a row of customers?  key-customers" in outcome.out
    assert "\x1b" not in outcome.out
    assert "\\x1b[31mred" in outcome.out


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("key-customers", "isn't a question and a choice"),
        (
            "key-custmers=1",
            "There's no open question 'key-custmers'. Did you mean 'key-customers'?",
        ),
        (
            "key-customers=3",
            "doesn't answer 'What identifies a row of customers?'. Choose a number from 1 to 2.",
        ),
        ("owner=\x1b[31m", "This can't be used: the text has control characters."),
    ],
)
def test_a_wrong_answer_writes_nothing(
    fluid: Fluid, shop_model: Path, answer: str, message: str
) -> None:
    outcome = fluid("review", shop_model, "--answer", "domain=Sales", "--answer", answer)
    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())
    assert not (shop_model / "decisions.yaml").exists()


def test_a_profile_that_no_forge_wrote_is_refused(
    fluid: Fluid, shop_model: Path, tmp_path: Path
) -> None:
    for name in ("forge.json", "model.json"):
        (tmp_path / name).write_bytes((shop_model / name).read_bytes())
    (tmp_path / "profile.json").write_text('{"tables": [3]}')
    outcome = fluid("review", tmp_path)
    assert outcome.code == 2
    assert "profile.json isn't as `fluid forge` writes it." in outcome.err


def test_the_keyboard_answers_one_question_at_a_time(fluid: Fluid, shop_model: Path) -> None:
    questions = listed(fluid, shop_model)["questions"]
    places = [question["id"] for question in questions]
    skips = "s\n" * places.index("key-customers")
    outcome = on_terminal(f"{skips}s\nb\n9\n2\nq\n", "review", shop_model)
    assert outcome.code == 0
    assert decisions(shop_model) == [("customers", ("number",))]
    total = len(places)
    number = places.index("key-customers") + 1
    assert outcome.out.count(f"What identifies a row of customers?  {number} of {total}") == 2
    assert (
        "'9' doesn't answer 'What identifies a row of customers?'. Choose a number from 1 to 2."
        in outcome.out
    )
    assert "set_key customers (number)" in outcome.out
    assert "\x1b[31m" not in outcome.out


def test_enter_keeps_and_d_describes(fluid: Fluid, shop_model: Path) -> None:
    (first, *_) = listed(fluid, shop_model, "--limit", "1")["questions"]
    outcome = on_terminal("d\nThe ones we sell to.\n\nq\n", "review", shop_model)
    assert outcome.code == 0
    (described, kept) = read_decision_file(shop_model / "decisions.yaml").decisions
    assert described.model_dump()["text"] == "The ones we sell to."
    assert kept.model_dump(mode="json").items() >= first["choices"][0]["decision"].items()


def test_words_answer_the_last_questions(fluid: Fluid, shop_model: Path) -> None:
    count = listed(fluid, shop_model)["open"]
    outcome = on_terminal("s\n" * (count - 2) + "Sales\nAnn\n", "review", shop_model)
    assert outcome.code == 0
    assert decisions(shop_model) == [("Sales",), ("Ann",)]


def test_the_end_of_the_input_ends_the_review(shop_model: Path) -> None:
    outcome = on_terminal("\x04", "review", shop_model)
    assert outcome.code == 0
    assert not (shop_model / "decisions.yaml").exists()


def test_an_interrupt_says_that_the_answers_so_far_are_kept(shop_model: Path) -> None:
    ours, theirs = pty.openpty()
    command = [*COMMAND, "review", str(shop_model)]
    environment = {**os.environ, "COLUMNS": "80", "TERM": "dumb"}
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        os.close(theirs)
        os.write(ours, b"\n")
        shown = b""
        while b" 2 of " not in shown:
            shown += os.read(ours, 65536)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=30)
    os.close(ours)
    assert process.returncode == 2
    assert "Your answers so far are in" in error
    assert len(decisions(shop_model)) == 1


def test_ambiguous_text_is_asked_first(fluid: Fluid, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.csv").write_text("id,day\n" + "".join(f"{i},0{i}/02/2024\n" for i in range(1, 9)))
    folder = forged(data, tmp_path / "model")
    question = listed(fluid, folder)["questions"][0]
    assert (question["id"], question["certainty"]) == ("text-a.day", 0.5)
    assert [choice["decision"].get("date_format") for choice in question["choices"]] == [
        None,
        "%d/%m/%Y",
        "%m/%d/%Y",
    ]
