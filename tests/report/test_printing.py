"""What is printed is wrapped between words, and never inside a path, a command or a name."""

import contextlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.table import Column

from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import indented, text, unbroken, whole
from fluid_build.report.terminal.unbroken_grid import Grid
from tests.modeling.profiles import NASTY

WIDTH = 40
PATH = "Ann's data/the model of all shops/contract.fluid.yaml"
ANSWER = "`fluid review 'the model' --answer ID=CHOICE`"
VERIFY = "`/opt/my tools/fluid verify DIR --dbt`"


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(
    ("unit", "sentence"),
    [
        (PATH, f"Written to {whole(PATH)} as you asked."),
        (ANSWER, f"Answer with {ANSWER} or later."),
        (VERIFY, f"Or run {VERIFY} yourself."),
    ],
    ids=["path", "command", "command by its path"],
)
def test_a_path_or_command_in_a_sentence_stays_on_one_line(
    unit: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has a line of its own where it needs one, and the words around it are wrapped."""
    show([indented(sentence)])
    lines = capsys.readouterr().out.splitlines()
    assert sum(unit in line for line in lines) == 1
    assert all(len(line) <= WIDTH for line in lines if unit not in line)
    assert " ".join(line.strip() for line in lines) == sentence.replace(whole(PATH), PATH)


@pytest.mark.usefixtures("narrow")
@given(
    st.lists(st.sampled_from(["a", "table", "x" * 39, "y" * 40, "名前" * 30, *NASTY]), min_size=1)
)
def test_only_a_word_without_room_makes_a_line_too_long(words: list[str]) -> None:
    """Nothing is lost or broken, whatever the words are."""
    sentence = text(" ".join(words))
    with contextlib.redirect_stdout(io.StringIO()) as out:
        show([sentence])
    lines = out.getvalue().splitlines()
    assert " ".join(lines).split() == sentence.plain.split()
    assert all(cell_len(line) <= WIDTH or len(line.split()) == 1 for line in lines)


@pytest.mark.usefixtures("narrow")
def test_a_table_that_is_too_wide_goes_on_below_each_row(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As many columns stand on a line as fit there, with their titles, and no name is broken."""
    grid = Grid(Column("from"), "to", Column("orphans", justify="right"))
    grid.add_row(unbroken("orders.customer_no"), unbroken("→ customers.customer_no"), text("12"))
    grid.add_row(unbroken("lines.order_no"), unbroken("→ orders.order_no"), text("-"))
    show([indented(grid)])
    assert capsys.readouterr().out.splitlines() == [
        "  from",
        "    to                       orphans",
        "  orders.customer_no",
        "    → customers.customer_no       12",
        "  lines.order_no",
        "    → orders.order_no              -",
    ]


@pytest.mark.usefixtures("narrow")
def test_a_long_word_at_the_end_of_a_row_leaves_the_other_rows_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A path in a last column goes beyond the edge, and the table keeps its columns."""
    grid = Grid("check", "finding")
    grid.add_row(unbroken("engine"), text("is installed"))
    grid.add_row(unbroken("store"), text(f"/srv/{'x' * 60} is writable"))
    show([grid])
    assert capsys.readouterr().out.splitlines() == [
        "check   finding",
        "engine  is installed",
        f"store   /srv/{'x' * 60}",
        "        is writable",
    ]
