"""The run in the page: green only where all was compared, and bounded whatever was found."""

from dataclasses import replace
from decimal import Decimal

import pytest

from fluid_build.report.page.page import report_page
from fluid_build.report.page.run import run_page
from fluid_build.report.page.run_facts import CostFacts, RunFacts, UsageFacts
from fluid_build.report.page.run_proof import ProofPart
from fluid_build.report.page.run_timeline import duration, timeline
from fluid_build.transform.proof.delimited_text import TextProof
from fluid_build.transform.proof.differing_rows import DifferingRow
from fluid_build.transform.proof.figure_checks import FigureProof
from fluid_build.transform.proof.proof import Proof
from tests.report.page.runs import (
    content_with,
    finding,
    proof_of,
    proposal,
    stage,
    table_proof,
)

HOSTILE = "<img src=x onerror=alert(1)>"
FAILED = FigureProof(
    name="sum of total", kind="sum", expected="7", actual="5", holds=False, reason="Added up."
)
BY_FIGURES = {"rebuilt": None, "missing": None, "unexpected": None, "types_equal": None}


def proof_part_of(proof: Proof) -> ProofPart:
    part = run_page(content_with(proof)).proof
    assert part is not None
    return part


# The proof.


def test_a_proof_of_every_table_says_how_many_came_back_row_by_row() -> None:
    part = proof_part_of(proof_of(table_proof("orders"), table_proof("lines")))
    assert (part.verdict.word, part.verdict.style) == ("Proven", "good")
    assert part.verdict.sentence == "2 of 2 tables match the source row by row."
    assert [(row.label, row.style) for row in part.rows] == [("same", "good")] * 2


def test_tables_that_are_empty_or_compared_by_figures_are_counted_apart() -> None:
    part = proof_part_of(
        proof_of(
            table_proof("orders"),
            table_proof("sums", **BY_FIGURES),
            table_proof("none", rows=0, rebuilt=0, verdict="empty"),
        )
    )
    assert part.verdict.sentence == (
        "1 of 3 tables match the source row by row, 1 agree in every figure that was compared,"
        " 1 is empty on both sides."
    )
    assert part.rows[2].style == ""


@pytest.mark.parametrize("verdict", ["lost", "not proven"])
def test_nothing_is_green_where_the_proof_as_a_whole_does_not_hold(verdict: str) -> None:
    lost = table_proof("lines", verdict="lost" if verdict == "lost" else "not compared")
    content = content_with(proof_of(table_proof("orders"), lost, verdict=verdict))
    part = run_page(content).proof
    assert part is not None
    assert "good" not in {part.verdict.style, *(row.style for row in part.rows)}


def test_a_table_that_could_not_be_read_makes_the_proof_one_in_part() -> None:
    skipped = [{"name": "broken", "reason": "It's broken."}]
    part = run_page(content_with(proof_of(table_proof("orders")), skipped=skipped)).proof
    assert part is not None
    assert (part.verdict.word, part.verdict.style) == ("Proven in part", "warn")
    assert part.rows[0].style == ""


def test_a_loss_shows_what_identifies_a_row_and_what_differs() -> None:
    values: dict[str, str | None] = {f"c{n}": str(n) for n in range(20)}
    rows = tuple(
        DifferingRow(side=side, times=1, values={**values, "c9": value}, differs=("c9",))
        for side, value in (("missing", "old"), ("unexpected", None))
    )
    lost = table_proof("orders", verdict="lost", missing=1, unexpected=1, differing=rows)
    (loss,) = proof_part_of(proof_of(lost, verdict="lost")).losses
    assert (loss.columns, loss.left) == (("c0", "c1", "c9"), 17)
    assert [(row.side, row.cells[2].value) for row in loss.rows] == [
        ("missing", "old"),
        ("unexpected", None),
    ]
    assert [cell.differs for cell in loss.rows[0].cells] == [False, False, True]


def test_a_check_that_failed_shows_both_figures() -> None:
    lost = table_proof("orders", verdict="lost", checks=[FAILED], **BY_FIGURES)
    content = content_with(proof_of(lost, verdict="lost"))
    part = run_page(content).proof
    assert part is not None
    assert part.losses[0].failed == (FAILED,)
    page = report_page(content)
    assert '<bdi>7</bdi></td><td class="number broken"><bdi>5</bdi>' in page


def test_a_misread_file_and_lines_that_are_no_rows_are_said() -> None:
    text = TextProof(rows=9, lines=10, differing=("total",), left_out=("a heading",))
    lost = table_proof("orders", verdict="lost", text=text)
    page = report_page(content_with(proof_of(lost, verdict="lost")))
    assert "9 rows read, but its files have 10" in page
    assert "Lines of orders that aren&#39;t rows: a heading." in page


def test_a_thousand_tables_that_differ_stay_bounded() -> None:
    checks = [FAILED] * 3
    tables = [table_proof(f"t{n}", verdict="lost", missing=1, checks=checks) for n in range(1000)]
    part = proof_part_of(proof_of(*tables, verdict="lost"))
    assert (len(part.rows), len(part.losses), part.hidden_losses) == (1000, 50, 950)
    assert (len(part.figures), part.hidden_figures) == (1000, 2000)


# The run.


def test_a_page_without_a_run_says_so_and_shows_the_proof() -> None:
    page = report_page(content_with(proof_of(table_proof("orders"))))
    assert "No run is recorded for this page" in page
    assert "1 of 1 table match the source row by row" in page


def test_a_run_without_a_model_says_that_everything_is_measured() -> None:
    data = run_page(content_with(run=RunFacts("1")))
    assert data.participation == "No language model took part: everything is measured."
    assert data.spending is None


def test_a_model_that_failed_is_announced() -> None:
    run = RunFacts("1", model="openai m", failures=(f"It answered {HOSTILE}",))
    page = report_page(content_with(run=run))
    assert "The model failed:" in page
    assert "so this is the draft without it" in page
    assert HOSTILE not in page


def test_proposals_are_listed_with_the_refused_first() -> None:
    proposals = (proposal("accepted"), proposal("refused", sql="SELECT 1"))
    data = run_page(content_with(run=RunFacts("1", model="m", proposals=proposals)))
    assert [label for _, label, _ in data.proposals.entries] == ["Refused", "Accepted"]
    assert [(kind.id, kind.count) for kind in data.proposals.kinds] == [
        ("refused", 1),
        ("accepted", 1),
    ]


def test_of_thousands_of_findings_and_proposals_the_first_of_each_kind_are_listed() -> None:
    run = RunFacts(
        "1",
        model="m",
        findings=(*(finding("info") for _ in range(5000)), finding("error")),
        proposals=tuple(proposal("accepted") for _ in range(5000)),
    )
    data = run_page(content_with(run=run))
    assert (len(data.findings.entries), data.findings.left) == (151, 4850)
    assert data.findings.entries[0][0].severity == "error"
    assert (len(data.proposals.entries), data.proposals.left) == (150, 4850)
    assert "4,850 more aren&#39;t listed" in report_page(content_with(run=run)).replace(
        "'", "&#39;"
    )


def test_errors_that_no_repair_removed_are_announced() -> None:
    run = RunFacts("1", findings=(finding("error"),), conformance_errors=("fluid: wrong",))
    assert run_page(content_with(run=run)).errors == 2
    for shown in (run, replace(run, id="")):
        assert "<strong>2 errors</strong> in the results" in report_page(content_with(run=shown))


def test_text_of_a_model_is_text() -> None:
    run = RunFacts(
        "1",
        model=HOSTILE,
        findings=(finding("error", f"`{HOSTILE}` is odd"),),
        proposals=(proposal("refused", HOSTILE, reason=HOSTILE, sql=HOSTILE),),
        decisions=(proposal("accepted", HOSTILE),),
        invalid=(HOSTILE,),
        conformance=((HOSTILE, HOSTILE),),
        notes=(HOSTILE,),
        repairs=(HOSTILE,),
        stages=(stage(HOSTILE, (0, 1)),),
        cost=CostFacts(models=(UsageFacts(HOSTILE, 1, 1, 1, 0, None),)),
    )
    assert HOSTILE not in report_page(content_with(run=run))


def test_costs_are_shown_with_their_limit_and_an_unknown_price_as_unknown() -> None:
    use = UsageFacts("openai/m", 2, 900, 100, 0, None)
    cost = CostFacts(Decimal("0.5"), limit_usd=Decimal(2), calls=2, cache_hits=1, models=(use,))
    spending = run_page(content_with(run=RunFacts("1", model="m", cost=cost))).spending
    assert spending is not None
    assert dict(spending.totals)["Cost"] == "$0.5000 of $2.0000"
    assert spending.uses == (("Model", ((use, "unknown"),)),)


# The timeline.


def test_stages_that_ran_together_are_next_to_each_other() -> None:
    line = timeline((stage("a", (0, 4)), stage("b", (4, 8)), stage("c", (4, 6), (8, 10))))
    assert [[(bar.start, bar.width) for bar in lane.bars] for lane in line.lanes] == [
        [(0, 40)],
        [(40, 40)],
        [(40, 20), (80, 20)],
    ]
    assert [tick.label for tick in line.ticks] == ["0 s", "2 s", "4 s", "6 s", "8 s", "10 s"]


def test_a_stage_too_short_to_see_is_drawn_within_the_axis() -> None:
    line = timeline((stage("a", (0, 1000)), stage("b", (1000, 1000))))
    bar = line.lanes[1].bars[0]
    assert bar.width > 0
    assert bar.start + bar.width <= 100


def test_without_the_start_of_every_stage_there_is_no_axis() -> None:
    line = timeline((stage("a", (0, 1)), stage("b")))
    assert line.ticks == ()
    assert {lane.bars for lane in line.lanes} == {()}


@pytest.mark.parametrize("seconds", [0.0003, 0.02, 1, 59, 61, 7000, 90000])
def test_an_axis_has_few_ticks_whatever_the_run_takes(seconds: float) -> None:
    line = timeline((stage("a", (0, seconds)),))
    assert 2 <= len(line.ticks) <= 7


@pytest.mark.parametrize(
    ("seconds", "label"),
    [(0, "0 s"), (0.004, "< 0.01 s"), (0.25, "0.25 s"), (12.34, "12.3 s"), (125, "2 min 5 s")],
)
def test_durations_read_as_people_say_them(seconds: float, label: str) -> None:
    assert duration(seconds) == label
