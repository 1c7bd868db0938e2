"""The proof of many tables shows those with a loss, and never hides that there are more."""

import pytest

from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.proof_screen import after_a_loss, proof_section
from fluid_build.transform.proof.proof import Proof, TableProof


def _proof(count: int, *, lost: int) -> Proof:
    """A proof of tables that are the larger the later they come; the first ones are lost."""
    tables = [
        TableProof(
            table=f"t{number:03d}",
            id=f"t{number}",
            rows=number + 1,
            rebuilt=number + (number >= lost),
            missing=int(number < lost),
            unexpected=0,
            types_equal=True,
            by_value=("amount",),
            verdict="lost" if number < lost else "proven",
        )
        for number in range(count)
    ]
    verdict = "lost" if lost else "proven"
    return Proof(
        name="shop", technique="flat", verdict=verdict, reason="All was compared.", tables=tables
    )


def _screen(proof: Proof, capsys: pytest.CaptureFixture[str]) -> str:
    show(proof_section(proof))
    return capsys.readouterr().out


def test_up_to_25_tables_are_listed_in_the_order_of_the_source(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A proof that fits on a screen is shown as it is."""
    screen = _screen(_proof(25, lost=0), capsys)
    names = [line.split()[0] for line in screen.splitlines() if line.startswith("  t0")]
    assert names == [f"t{number:03d}" for number in range(25)]
    assert "more" not in screen.partition("Compared by value")[0]


def test_of_more_tables_the_lost_and_the_largest_are_listed_and_the_others_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A loss in a small table isn't hidden by 300 that are fine."""
    screen = _screen(_proof(300, lost=3), capsys)
    figures = screen.partition("Compared by value")[0]
    names = [line.split()[0] for line in figures.splitlines() if line.startswith("  t")][1:]
    assert len(names) == 20
    assert names[:4] == ["t002", "t001", "t000", "t299"]
    assert "and 280 more: see proof.json\n" in figures
    assert "t000.amount" in screen
    assert "and 288 more\n" in screen


def test_a_loss_in_a_reading_names_the_decision_that_avoids_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Only columns that are kept by value and differ are to be kept as text."""
    proof = _proof(2, lost=1)
    wrong = proof.tables[0].model_copy(update={"misread": ("amount",)})
    show(after_a_loss(proof.model_copy(update={"tables": (wrong, proof.tables[1])})))
    screen = " ".join(capsys.readouterr().out.split())
    assert "Keep the text of t000.amount as it is" in screen
    assert "please report it" in screen
    show(after_a_loss(_proof(2, lost=0)))
    assert capsys.readouterr().out == ""
