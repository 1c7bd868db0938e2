"""Maps of hundreds of tables: drawn as clearly as small ones, and quick to move about in."""

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

pytestmark = pytest.mark.slow

_TABLES = {300: 3_500, 1_000: 12_000}
"""How many tables there are, and how many crossings at most: a third more than there were."""
_LONGEST_TASK = 200
"""Milliseconds: what takes longer is felt as a jerk."""
_ROUNDS = 3
"""The best counts: what else the machine does can hold up any of them."""
_OBSERVE = """() => {
  window.longTasks = [];
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries()))
    .observe({ type: "longtask" });
}"""
_LONGEST = """async () => {
  await new Promise((done) => setTimeout(done, 100));
  return Math.max(0, ...window.longTasks.splice(0).map((task) => task.duration));
}"""


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


def test_moving_about_never_freezes_the_page(
    open_page: OpenPage, large_page: tuple[Path, int]
) -> None:
    page = open_page(large_page[0], view="map", reduced_motion="reduce")
    await_drawing(page)
    page.evaluate(_OBSERVE)
    rounds = []
    for _ in range(_ROUNDS):
        _zoom_in_and_out(page)
        _drag(page)
        _select(page)
        rounds.append(page.evaluate(_LONGEST))
    assert min(rounds) < _LONGEST_TASK, rounds


def test_a_frozen_page_is_noticed(open_page: OpenPage, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("<!doctype html><html lang=en><title>Page</title>", encoding="utf-8")
    page = open_page(file)
    page.evaluate(_OBSERVE)
    page.evaluate("() => { const end = Date.now() + 250; while (Date.now() < end); }")
    assert page.evaluate(_LONGEST) > _LONGEST_TASK


def _zoom_in_and_out(page: Page) -> None:
    page.mouse.move(640, 450)
    for step in (-400,) * 6 + (400,) * 6:
        page.mouse.wheel(0, step)
        settle(page)


def _drag(page: Page) -> None:
    page.mouse.move(640, 450)
    page.mouse.down()
    for step in range(10):
        page.mouse.move(640 - 25 * step, 450 - 10 * step)
        settle(page)
    page.mouse.up()


def _select(page: Page) -> None:
    search = page.get_by_role("combobox", name="Find a table or column")
    search.fill("order")
    search.press("Enter")
    settle(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Fit").click()
    settle(page)
