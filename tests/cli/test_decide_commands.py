"""The command line of a decision: run, it makes that decision, whatever the names in it are."""

import json
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fluid_build.cli.deciding.targets import FolderNames, reference_of
from fluid_build.decisions.commands import decide_command
from fluid_build.decisions.editing import entry_fields, entry_text
from fluid_build.decisions.files import parse_decisions
from fluid_build.decisions.language import (
    DECISION_TYPES,
    AddRelationship,
    AnyDecision,
    BusinessKey,
    Classify,
    Describe,
    Domain,
    DropRelationship,
    Exposure,
    Grain,
    Ignore,
    Measure,
    Merge,
    OneTable,
    Owner,
    PersonalData,
    ProductName,
    Rename,
    Renamed,
    Separate,
    SetConventions,
    SetDelivery,
    SetKey,
    SetValidity,
    Split,
    TextType,
)
from tests.cli.running import Fluid
from tests.forges import forged

LINES, SHOPS = 'my "lines", 2024', "-shops.old"
DECISIONS: tuple[AnyDecision, ...] = (
    SetKey(table=LINES, columns=("no.", "a,b"), despite_violations=True),
    BusinessKey(table=SHOPS, columns=('say "hi"',), reason="$(id) isn't run"),
    Grain(table=LINES, columns=("no.",)),
    AddRelationship(
        from_table=LINES,
        from_columns=("no.", "a,b"),
        to_table=SHOPS,
        to_columns=('say "hi"', "--x"),
    ),
    DropRelationship(
        from_table=LINES, from_columns=("a,b",), to_table=SHOPS, to_columns=('say "hi"',)
    ),
    Classify(table=SHOPS, role="hub"),
    Measure(table=LINES, column="no.", additivity="semi-additive"),
    TextType(table=LINES, column="placed", read_as="date", date_format="%d/%m/%Y"),
    TextType(table=LINES, column="placed", read_as="timestamp", date_format="%d/%m/%Y %H:%M"),
    TextType(table=LINES, column="placed", read_as="number", decimal="comma"),
    TextType(table=LINES, column="placed", read_as="text"),
    PersonalData(table=SHOPS, column="--x"),
    PersonalData(table=SHOPS, column="--x", is_personal=False),
    Rename(table=SHOPS, new_name="shop"),
    Rename(table=LINES, column="a,b", new_name="ab"),
    Rename(element="psa_shops_old", new_name="line"),
    Describe(table=LINES, column="no.", text="It's `x`;\nsecond line"),
    Describe(element="psa_shops_old", text="-5 degrees"),
    Domain(domain="Sales & more"),
    Owner(team="-Ann", email="a@x.org"),
    Owner(team="Ann's"),
    ProductName(name="Bike shop"),
    SetConventions(preset="automate_dv"),
    Exposure(
        name="sales",
        type="notebook",
        models=("psa_shops_old",),
        owner="-Ann",
        text="It's `x`;\nsecond line",
        url="https://x.org/?a=$(id)&b",
    ),
    Renamed(table="-new", was=SHOPS),
    Renamed(table=LINES, column='"new", name', was="a,b"),
    SetDelivery(table=LINES, delivers="delta"),
    SetValidity(table=SHOPS, follows="stamp", column="--x"),
    SetValidity(table=LINES, follows="load"),
    Ignore(table=SHOPS),
    OneTable(table=LINES, parts=(SHOPS, "it's *")),
    Separate(table=SHOPS),
    Merge(table=LINES, columns=("no.",), into_table=SHOPS, into_columns=("--x",)),
    Split(table=LINES, columns=("no.",), attributes=("--y", "a,b"), entity="line"),
    Split(table=LINES, columns=("no.",), entity="line"),
)
TEXT = st.text("ab.,\" '-", min_size=1, max_size=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault of two tables whose names need care, next to its source."""
    place = tmp_path_factory.mktemp("it's here")
    with closing(sqlite3.connect(place / "shop.db")) as database, database:
        database.execute(
            'CREATE TABLE "my ""lines"", 2024" ("no." INT, "a,b" INT, "--y" INT, placed TEXT)'
        )
        database.execute('CREATE TABLE "-shops.old" ("say ""hi""" INT, "--x" INT)')
        database.execute("""INSERT INTO "my ""lines"", 2024" VALUES (1, 2, 3, '31/12/2024')""")
    return forged(place / "shop.db", place / "model", "data_vault_2")


def test_every_kind_is_among_the_examples() -> None:
    assert {type(decision) for decision in DECISIONS} == set(DECISION_TYPES)


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda decision: decision.decision)
def test_a_command_makes_the_decision_that_it_was_made_of(
    fluid: Fluid, folder: Path, decision: AnyDecision
) -> None:
    program, *arguments = shlex.split(decide_command(decision, str(folder)))
    assert program == "fluid"
    kind = arguments.index(decision.decision.replace("_", "-"))
    outcome = fluid(*arguments[: kind + 1], "--json", *arguments[kind + 1 :])
    assert outcome.out, outcome.err
    assert json.loads(outcome.out)["decision"] == entry_fields(decision)


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda decision: decision.decision)
def test_an_entry_reads_as_the_decision_that_it_was_made_of(decision: AnyDecision) -> None:
    assert parse_decisions(f"version: 1\ndecisions:\n{entry_text(decision)}\n") == (decision,)


@given(TEXT, st.lists(TEXT, min_size=1, max_size=3, unique=True), st.sets(TEXT))
def test_a_reference_is_found_among_tables_with_names_like_it(
    table: str, columns: list[str], others: set[str]
) -> None:
    """A dot, a comma or a quote in a name is never taken for one between names."""
    assume(not any(table != other and table.casefold() == other.casefold() for other in others))
    decision = DropRelationship(
        from_table=table, from_columns=tuple(columns), to_table=table, to_columns=tuple(columns)
    )
    names = FolderNames({name: tuple(columns) for name in (*others, table)})
    child, parent = shlex.split(decide_command(decision, "model"))[-2:]
    assert reference_of(child, names) == (table, tuple(columns))
    assert reference_of(parent, names) == (table, tuple(columns))


def test_text_of_no_format_has_no_command() -> None:
    decision = TextType(table="t", column="c", read_as="date")
    assert decide_command(decision, "model") == ""


def test_a_folder_that_looks_like_an_option_is_a_path() -> None:
    assert decide_command(Ignore(table="t"), "-m") == "fluid decide ./-m ignore t"
