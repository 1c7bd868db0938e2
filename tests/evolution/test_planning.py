"""A plan in words: what needs a decision, which version follows, and when it's no longer true."""

from pathlib import Path

import pytest

from fluid_build.changes import ChangeEvidence, ChangeKind, Effect, OtherName, SourceChange
from fluid_build.contract.differences import Differences, DocumentChange, differences
from fluid_build.contract.differences.change import Level
from fluid_build.contract.differences.differing import (
    Bump,
    NextVersion,
    highest_version,
    version_after,
)
from fluid_build.contract.differences.reading import Comparable
from fluid_build.contract.differences.rule_strength import ACCEPTED_VALUES
from fluid_build.decisions.language import Exposure
from fluid_build.errors import PlanOutdatedError, SourceUnreadableError
from fluid_build.evolution.migrating import Mark, Step
from fluid_build.evolution.planning import (
    DeploymentPlan,
    check_still_true,
    plan_json,
    planned_changes,
    planned_contract,
    read_plan,
    unchanged_contract,
)
from fluid_build.evolution.states import States
from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.evolution import EMPTIED, RETIRED
from fluid_build.modeling.logical import LogicalModel

STATES = States(folder="a", source="b", warehouse="c")


def change(kind: ChangeKind, effect: Effect, **fields: object) -> SourceChange:
    """A change of the table ``sale``."""
    return SourceChange.model_validate(
        {"kind": kind, "table": "sale", "effect": effect, "sentence": "sale changed", **fields}
    )


def plan(**fields: object) -> DeploymentPlan:
    """A plan with nothing but these fields."""
    start = {"states": STATES, "warehouse_is_new": False, "contract": unchanged_contract("1.0.0")}
    return DeploymentPlan.model_validate({**start, **fields})


def test_a_possible_new_name_needs_a_decision_that_is_ready_to_paste() -> None:
    """Each candidate has its own line."""
    renamed = change(
        ChangeKind.COLUMN_RENAMED,
        Effect.NEEDS_DECISION,
        columns=("zip",),
        other_names=(
            OtherName(name="postcode", likelihood=0.9, reason="the same values"),
            OtherName(name="code", likelihood=0.4, reason="the same place"),
        ),
    )
    (planned,) = planned_changes([renamed], "shop-model")
    assert planned.mark is Mark.NEEDS_DECISION
    assert len(planned.commands) == 4
    assert planned.commands[0].startswith("fluid decide shop-model renamed ")
    assert "postcode" in planned.commands[0]
    assert "zip" in planned.commands[0]


@pytest.mark.parametrize(
    "kind",
    [
        ChangeKind.KEY_BROKEN,
        ChangeKind.KEY_WIDENED,
        ChangeKind.TABLE_SHRUNK,
        ChangeKind.TABLE_EMPTIED,
        ChangeKind.TYPE_CHANGED,
        ChangeKind.VALUES_MISFIT,
        ChangeKind.TABLE_SPLIT,
        ChangeKind.TABLE_UNREADABLE,
    ],
)
def test_what_needs_a_decision_says_what_to_do(kind: ChangeKind) -> None:
    """A sentence of advice, whatever the change."""
    found = change(kind, Effect.BREAKS, columns=("id",), to_columns=("id", "year"))
    (planned,) = planned_changes([found], "shop-model")
    assert planned.mark is Mark.NEEDS_DECISION
    assert planned.advice.endswith(".")


def test_a_longer_key_can_be_decided() -> None:
    """The line has the key that holds."""
    longer = change(
        ChangeKind.KEY_WIDENED, Effect.NEEDS_DECISION, columns=("id",), to_columns=("id", "year")
    )
    (planned,) = planned_changes([longer], "shop-model")
    assert planned.commands == ("fluid decide shop-model set-key sale id year",)


@pytest.mark.parametrize("kind", [ChangeKind.KEY_BROKEN, ChangeKind.COLUMN_DROPPED])
def test_where_no_other_key_is_known_nobody_is_asked_for_one(kind: ChangeKind) -> None:
    """The advice is what to do at the source."""
    (planned,) = planned_changes([change(kind, Effect.NEEDS_DECISION)], "shop-model")
    assert planned.commands == ()
    assert "decide" not in planned.advice.lower()
    found = change(kind, Effect.NEEDS_DECISION, columns=("id",), to_columns=("code",))
    (planned,) = planned_changes([found], "shop-model")
    assert planned.commands == ("fluid decide shop-model set-key sale code",)


@pytest.mark.parametrize("kind", [ChangeKind.COLUMN_ADDED, ChangeKind.TABLE_DROPPED])
def test_what_loses_nothing_is_safe(kind: ChangeKind) -> None:
    """A dropped table stays with its rows."""
    effect = Effect.SAFE if kind is ChangeKind.COLUMN_ADDED else Effect.NEEDS_DECISION
    (planned,) = planned_changes([change(kind, effect)], "shop-model")
    assert (planned.mark, planned.commands) == (Mark.SAFE, ())


def test_the_outcome_is_that_of_the_gravest_entry() -> None:
    """A step that destroys something has to be decided, too."""
    step = Step(kind="create", relation="hub_sale", sentence="create hub_sale")
    destroys = step.model_copy(update={"mark": Mark.DESTROYS})
    assert plan().outcome == "nothing"
    assert plan(model=["hub_sale is new"]).outcome == "changes"
    assert plan(warehouse=[step]).outcome == "changes"
    assert plan(warehouse=[step, destroys]).outcome == "needs_decision"


def test_a_plan_is_read_from_its_file_as_it_was(tmp_path: Path) -> None:
    """With evidence and commands."""
    found = change(ChangeKind.TABLE_SHRUNK, Effect.NEEDS_DECISION, evidence=ChangeEvidence(rows=3))
    planned = plan(source=planned_changes([found], "shop-model"), model=["hub_sale is new"])
    (tmp_path / "plan.json").write_text(plan_json(planned))
    assert read_plan(tmp_path / "plan.json") == planned


def test_another_file_is_no_plan(tmp_path: Path) -> None:
    """The error says what doesn't fit."""
    (tmp_path / "plan.json").write_text('{"version": 7}')
    with pytest.raises(SourceUnreadableError, match=r"isn't a plan of this version"):
        read_plan(tmp_path / "plan.json")


@pytest.mark.parametrize("moved", ["folder", "source", "warehouse"])
def test_a_plan_is_refused_where_a_state_moved(moved: str) -> None:
    """The error names it."""
    check_still_true(plan(), STATES)
    with pytest.raises(PlanOutdatedError, match=f"the {moved} changed"):
        check_still_true(plan(), STATES.model_copy(update={moved: "other"}))


def _model() -> LogicalModel:
    conceptual = ConceptualModel(entities=())
    return LogicalModel(name="shop", technique="flat", source_kind="duckdb", conceptual=conceptual)


def test_a_breaking_change_names_its_readers() -> None:
    """The dashboard that somebody declared, and whoever else reads the relation."""
    gone = DocumentChange("breaking", "removed", "column", ("dim_sale", "paid"))
    more = DocumentChange("additive", "added", "column", ("dim_sale", "net"))
    board = Exposure(name="board", type="dashboard", models=("dim_sale",), owner="Ann")
    found = planned_contract(
        NextVersion("1.2.0", "2.0.0", "major", "column paid of dim_sale is removed"),
        Differences("contract", (more, gone), "major"),
        (_model(), _model()),
        [board],
    )
    assert (found.version, found.next_version) == ("1.2.0", "2.0.0")
    assert found.reason == "column paid of dim_sale is removed"
    assert found.readers == (
        "board, which reads dim_sale",
        "readers of dim_sale: column paid is removed",
    )


def test_readers_are_told_why_in_the_order_of_what_is_gravest() -> None:
    """Also where it isn't what the version is called after, and without the relation's name."""

    def breaking(kind: str, *names: str, **fields: str) -> DocumentChange:
        return DocumentChange("breaking", "changed", kind, names, **fields)

    changes = (
        breaking("rule", "dim_meter", "dim_meter.maker.accepted_values", field=ACCEPTED_VALUES),
        breaking("column", "fct_sale", "paid", field="required"),
        breaking("rule", "fct_sale", "fct_sale.paid.not_null", field="limit"),
        breaking("column", "dim_tariff", "kw", field="type", before="`a`", after="`b`"),
        DocumentChange("breaking", "removed", "expose", ("dim_depot",)),
        DocumentChange("additive", "added", "column", ("dim_car", "kw")),
    )
    found = planned_contract(
        version_after("1.2.0", Differences("contract", changes, "major")),
        Differences("contract", changes, "major"),
        (_model(), _model()),
        [],
    )
    assert found.reason == "expose dim_depot is removed, and 4 more changes"
    assert found.readers == (
        "readers of dim_depot: expose is removed",
        "readers of dim_tariff: type of column kw is changed `a` → `b`",
        "readers of fct_sale: column paid may be null, and 1 more change",
        "readers of dim_meter: rule maker.accepted_values accepts other values",
    )


def test_an_addition_breaks_nobody() -> None:
    """The next version is a minor one."""
    more = DocumentChange("additive", "added", "column", ("dim_sale", "net"))
    version = version_after("1.2.0", Differences("contract", (more,), "minor"))
    found = planned_contract(
        version, Differences("contract", (more,), "minor"), (_model(), _model()), []
    )
    assert (found.next_version, found.readers) == ("1.3.0", ())
    assert found.reason == "column net of dim_sale is added"


def test_the_version_of_a_contract_is_the_highest_of_its_exposes() -> None:
    """By number, not by letters."""
    versions = [{"version": "1.9.0"}, {"version": "1.10.0"}, {"version": "draft"}, {}]
    assert highest_version({"exposes": versions}) == "1.10.0"


@pytest.mark.parametrize(
    ("level", "version"), [("breaking", "9.0.0"), ("additive", "6.1.0"), ("cosmetic", "6.0.2")]
)
def test_a_version_that_was_published_is_given_once(level: Level, version: str) -> None:
    """A deployment that was undone published it, with something else in it."""
    taken = {"6.0.1", "7.0.0", "8.0.0"}
    change = DocumentChange(level, "changed", "expose", ("dim_sale",), "title")
    bumps: dict[Level, Bump] = {"breaking": "major", "additive": "minor", "cosmetic": "patch"}
    found = Differences("contract", (change,), bumps[level])
    assert version_after("6.0.0", found, taken).next == version
    assert version_after("7.0.0", Differences("contract", (), "none"), taken).next == "7.0.0"


def test_that_no_row_keeps_a_value_breaks_readers() -> None:
    """Somebody counted on what was there, and the reason says which column."""
    documents = [
        {
            "exposes": [
                {
                    "exposeId": "fct_visit",
                    "contract": {
                        "schema": [{"name": "note", "type": "VARCHAR", "description": words}]
                    },
                }
            ]
        }
        for words in ("Said.", f"Said. {EMPTIED}")
    ]
    old, new = (Comparable("contract", Path("contract.fluid.yaml"), each) for each in documents)
    after = version_after("1.2.0", differences(old, new))
    assert after.next == "2.0.0"
    assert after.reason.startswith("column note of fct_visit is null in all rows")


def _contract_of(**descriptions: str) -> Comparable:
    """A contract of relations that only have a description."""
    exposes = [{"exposeId": name, "description": words} for name, words in descriptions.items()]
    return Comparable("contract", Path("contract.fluid.yaml"), {"exposes": exposes})


def test_that_a_relation_is_loaded_no_more_breaks_its_readers() -> None:
    """They get no new row, however long the words before are; loaded again, it's an addition."""
    words = "The link between rows of contract and customer. " * 9
    then = _contract_of(lnk=words, sat="Its state.", hub="Contracts.")
    now = _contract_of(
        lnk=f"{words}{RETIRED}", sat=f"Its state. {RETIRED}", hub="Contracts.", lnk_2="The rest."
    )
    found = differences(then, now)
    after = version_after("2.0.0", found)
    assert (after.next, after.reason) == ("3.0.0", "lnk, sat are loaded no more")
    planned = planned_contract(after, found, (_model(), _model()), ())
    assert [readers.partition(":")[0] for readers in planned.readers] == [
        "readers of lnk",
        "readers of sat",
    ]
    again = version_after(
        "3.0.0",
        differences(
            now, _contract_of(lnk=words, sat="Its state.", hub="Contracts.", lnk_2="The rest.")
        ),
    )
    assert (again.next, again.reason) == ("3.1.0", "lnk, sat are loaded again")


def test_what_is_loaded_no_more_is_the_reason_of_what_follows_from_it() -> None:
    """Its rules and its missing values are by-products."""
    names = ("sat_sale", "note")
    gone = DocumentChange(
        "cosmetic", "added", "column", names, "description", after="`The source no longer has it.`"
    )
    null = DocumentChange("breaking", "changed", "column", names, "required", after="`false`")
    found = Differences("contract", (null, gone), "major")
    reason = version_after("1.2.0", found).reason
    assert reason == "column note of sat_sale is loaded no more, and may be null"
    found = Differences("contract", (gone,), "patch")
    assert version_after("1.2.0", found).reason == "column note of sat_sale is loaded no more"
    added = DocumentChange("breaking", "removed", "column", ("sat_sale", "net"))
    found = Differences("contract", (null, gone, added), "major")
    assert version_after("1.2.0", found).reason.startswith("column net of sat_sale is removed")
