"""The screen of a plan is one screen, however much changed."""

from datetime import datetime
from pathlib import Path

import pytest

from fluid_build.changes import ChangeKind, Effect, OtherName, SourceChange
from fluid_build.cli.deploying.arguments import command_line
from fluid_build.cli.deploying.plan_screen import plan_screen
from fluid_build.evolution.migrating import Mark, Step
from fluid_build.evolution.planning import (
    DeploymentPlan,
    PlannedContract,
    Unfinished,
    planned_changes,
)
from fluid_build.evolution.states import States
from fluid_build.report.terminal.printing import show
from fluid_build.secrets import redact

RENAMED = SourceChange(
    kind=ChangeKind.COLUMN_RENAMED,
    table="sale",
    columns=("zip",),
    other_names=(OtherName(name="postcode", likelihood=0.9, reason="the same values"),),
    effect=Effect.NEEDS_DECISION,
    sentence="sale no longer has the column zip, which may be called postcode (90%: the same values"
    " in a column of the same type at the same place of the table) now",
)
ADDED = SourceChange(
    kind=ChangeKind.COLUMN_ADDED,
    table="sale",
    columns=("net",),
    effect=Effect.SAFE,
    sentence="sale has a new column net (DECIMAL(9,2))",
)


def shown(plan: DeploymentPlan, capsys: pytest.CaptureFixture[str]) -> str:
    """What a terminal of 100 columns shows."""
    apply = ("fluid", "apply", "shop-model")
    show(
        plan_screen(Path("shop-model"), plan, apply, lambda table: (*apply, "--allow-loss", table))
    )
    return capsys.readouterr().out


def test_a_hundred_changes_take_forty_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What destroys something or needs a decision comes first, and the others are counted."""
    monkeypatch.setenv("COLUMNS", "100")
    step = Step(kind="add_column", relation="hub", sentence="add column dim_sale_history.net")
    destroys = Step(kind="replace", relation="old", mark=Mark.DESTROYS, sentence="replace old")
    plan = DeploymentPlan(
        states=States(folder="", source="", warehouse=""),
        warehouse_is_new=False,
        source=planned_changes([ADDED] * 50 + [RENAMED] * 50, "shop-model"),
        model=tuple(f"dim_{i} gets net, gross, tax, discount and 3 more" for i in range(100)),
        contract=PlannedContract(
            version="1.0.0",
            next_version="2.0.0",
            bump="major",
            reason="column net of dim_sale is removed, and 99 more changes like it",
            readers=tuple(f"readers of dim_{i}" for i in range(100)),
        ),
        warehouse=(*[step] * 100, destroys),
        unfinished=Unfinished(
            number=1, load_date=datetime(2024, 5, 1), ended=True, reason="many words " * 90
        ),
    )
    text = shown(plan, capsys)
    assert len(text.splitlines()) <= 40
    assert "  fluid decide shop-model renamed sale.zip postcode\n" in text
    assert text.index("replace old · destroys something") < text.index("add column")
    assert text.count("more: see --json") == 4
    assert "51 entries to decide about. `fluid apply` waits for the 50 that need it first" in text
    assert "· needs a decision first" in " ".join(text.split())


def test_what_is_left_out_is_counted_in_changes_and_one_more_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change takes several lines, with its answers: they belong together."""
    monkeypatch.setenv("COLUMNS", "120")
    plan = DeploymentPlan(
        states=States(folder="", source="", warehouse=""),
        warehouse_is_new=False,
        source=planned_changes([RENAMED] * 4, "shop-model"),
        model=tuple(f"dim_{i} gets net" for i in range(6)),
        contract=PlannedContract(version="1.0.0", next_version="1.0.0"),
    )
    text = shown(plan, capsys)
    assert "dim_5 gets net" in text
    assert text.count("and 2 more: see --json") == 1
    assert text.count("renamed --not sale.zip postcode") == 2


def test_a_command_to_paste_has_no_password() -> None:
    """It comes from the environment; a user without one keeps their name."""
    warehouse = "postgresql://ann:secret@host/shop"
    line = command_line("apply", Path("m"), uris=["postgresql://ann:@/s"], warehouse=warehouse)
    assert line[3:] == (
        "--uri",
        "postgresql://ann@/s",
        "--warehouse",
        "postgresql://ann@host/shop",
    )
    assert redact("postgresql://ann:@/s?host=x") == "postgresql://ann:@/s?host=x"
