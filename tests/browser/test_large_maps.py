"""Maps of hundreds of tables: drawn as clearly as small ones, and quick to move about in."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from fluid_build.report.page.content import PageContent
from fluid_build.report.view import source_view
from tests.browser.map_geometry import measure_map
from tests.browser.page_contents import write_page
from tests.browser.synthetic_profiles import synthetic_profile
from tests.browser.views import await_drawing, settle
from tests.browser.watched_pages import OpenPage

_TABLES = {300: 3_500, 1_000: 12_000}
"""How many tables there are, and how many crossings at most: a third more than there were."""
_LONGEST_BLOCK = 0.2
"""Seconds: what takes longer is felt as a jerk."""
_ROUNDS = 3


@pytest.fixture(scope="module", params=_TABLES)
def large_page(
    chromium_path: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, int]:
    """The page of a made-up database, and how many tables that has."""
    tables: int = request.param
    content = PageContent(source_view(synthetic_profile(tables)))
    return write_page(content, tmp_path_factory.mktemp(f"of-{tables}")), tables


def test_many_tables_have_a_clear_drawing(
    open_page: OpenPage, large_page: tuple[Path, int]
) -> None:
    file, tables = large_page
    page = open_page(file, view="map")
    await_drawing(page)
    geometry = measure_map(page)
    assert geometry.faults == []
    assert geometry.boxes == tables
    assert geometry.edges > 2 * tables
    assert geometry.crossings <= _TABLES[tables]


def test_zooming_and_dragging_never_block_the_page(
    open_page: OpenPage, large_page: tuple[Path, int]
) -> None:
    page = open_page(large_page[0], view="map", reduced_motion="reduce")
    await_drawing(page)
    clock = _main_thread_clock(page)
    rounds = [[*_zoom_in_and_out(page, clock), *_drag(page, clock)] for _ in range(_ROUNDS)]
    # What else the machine does makes a step slower by chance, but not in every round.
    assert max(map(min, zip(*rounds, strict=True))) < _LONGEST_BLOCK, rounds


def test_a_block_of_the_page_is_measured(open_page: OpenPage, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("<!doctype html><html lang=en><title>Page</title>", encoding="utf-8")
    page = open_page(file)
    clock = _main_thread_clock(page)
    clock()
    page.evaluate(
        """() => new Promise((done) => setTimeout(() => {
          const end = performance.now() + 1000;
          while (performance.now() < end);
          done();
        }))"""
    )
    assert clock() > 0.1


def _main_thread_clock(page: Page) -> Callable[[], float]:
    """Return a function that returns the page's seconds of processor time since its last call.

    Only the thread counts that scripts, styles and layout run in, and that answers clicks.
    """
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    last = 0.0

    def seconds() -> float:
        nonlocal last
        metrics = session.send("Performance.getMetrics")["metrics"]
        now = next(each["value"] for each in metrics if each["name"] == "TaskDuration")
        elapsed, last = now - last, now
        return float(elapsed)

    return seconds


def _zoom_in_and_out(page: Page, clock: Callable[[], float]) -> Iterator[float]:
    page.mouse.move(640, 450)
    settle(page)
    clock()
    for step in (-400,) * 6 + (400,) * 6:
        page.mouse.wheel(0, step)
        settle(page)
        yield clock()


def _drag(page: Page, clock: Callable[[], float]) -> Iterator[float]:
    page.mouse.down()
    for step in range(8):
        page.mouse.move(640 - 25 * step, 450 - 10 * step)
        settle(page)
        yield clock()
    page.mouse.up()
