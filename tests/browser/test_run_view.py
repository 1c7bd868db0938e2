"""The view of a run: its verdict, its timeline, and its lists."""

from pathlib import Path

from playwright.sync_api import expect

from fluid_build.report.page.run_facts import RunFacts
from tests.browser.page_contents import write_page
from tests.browser.watched_pages import OpenPage
from tests.report.page.runs import content_with, proof_of, proposal, stage, table_proof


def test_the_verdict_comes_first_and_is_not_only_a_color(
    open_page: OpenPage, demo_page: Path
) -> None:
    page = open_page(demo_page, view="run")
    expect(page.locator("#run > p").first).to_have_text(
        "Proven: 14 of 14 tables match the source row by row."
    )


def test_parallel_stages_are_drawn_at_the_same_time(open_page: OpenPage, tmp_path: Path) -> None:
    stages = (stage("profile", (0, 4)), stage("dbt", (4, 8)), stage("docs", (4, 6)))
    page = open_page(
        write_page(content_with(run=RunFacts("1", stages=stages)), tmp_path), view="run"
    )
    boxes = [bar.bounding_box() for bar in page.locator(".stages rect").all()]
    lefts = [round(box["x"]) for box in boxes if box]
    widths = [round(box["width"]) for box in boxes if box]
    assert lefts[1] == lefts[2] == lefts[0] + widths[0]
    assert abs(widths[1] - 2 * widths[2]) <= 1
    expect(page.get_by_role("img", name="4 s to 6 s")).to_be_visible()


def test_of_many_proposals_the_refused_are_shown_until_others_are_asked_for(
    open_page: OpenPage, tmp_path: Path
) -> None:
    proposals = (*(proposal("accepted", f"ignore t{n}") for n in range(30)), proposal("refused"))
    run = RunFacts("1", model="m", proposals=proposals)
    page = open_page(write_page(content_with(run=run), tmp_path), view="run")
    entries = page.locator("#proposal-list > li:visible")
    expect(entries).to_have_count(1)
    expect(entries).to_contain_text("1 of 9 rows repeats a value.")
    page.get_by_role("button", name="Accepted 30").click()
    expect(entries).to_have_count(30)
    page.get_by_label("Find a decision").fill("t7")
    expect(entries).to_have_count(1)


def test_what_was_lost_is_a_link_away(open_page: OpenPage, tmp_path: Path) -> None:
    lost = table_proof("orders", verdict="lost", missing=3)
    proof = proof_of(lost, verdict="lost", reason="1 of 1 tables differ from their source.")
    page = open_page(write_page(content_with(proof), tmp_path), view="run")
    page.get_by_role("link", name="See what differs").click()
    expect(page.get_by_role("heading", name="orders: 3 rows missing")).to_be_in_viewport()
