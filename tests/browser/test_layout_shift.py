"""Nothing moves by itself: neither while the page loads, nor between views."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.views import open_view, settle, view_names
from tests.browser.watched_pages import LAPTOP, PHONE, OpenPage

_SHIFTS = """async () => {
  const shifts = [];
  const observer = new PerformanceObserver((list) => shifts.push(...list.getEntries()));
  observer.observe({ type: "layout-shift", buffered: true });
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)));
  return shifts.map((shift) => [
    shift.value,
    shift.sources.map(({ node }) => (node?.parentElement ?? node)?.outerHTML.slice(0, 100)).join(),
  ]);
}"""
_TOLERANCE = 0.01
"""A tenth of what counts as good (https://web.dev/articles/cls)."""


def _assert_nothing_moved(page: Page) -> None:
    """Fail if something has moved since the page was opened, whether somebody clicked or not."""
    settle(page)
    shifts = page.evaluate(_SHIFTS)
    assert sum(value for value, _ in shifts) < _TOLERANCE, shifts


def test_a_shift_is_measured(open_page: OpenPage, tmp_path: Path) -> None:
    """Text that pushes other text down is noticed."""
    file = tmp_path / "page.html"
    lines = "<p id=late></p>" + "<p>line</p>" * 20
    file.write_text(f"<!doctype html><html lang=en><title>Page</title>{lines}", encoding="utf-8")
    page = open_page(file)
    settle(page)
    page.evaluate("document.getElementById('late').textContent = 'late '.repeat(900)")
    with pytest.raises(AssertionError, match="late late"):
        _assert_nothing_moved(page)


@pytest.mark.parametrize("width", [LAPTOP, PHONE])
def test_nothing_moves_while_the_page_loads_or_the_view_changes(
    open_page: OpenPage, demo_page: Path, width: int
) -> None:
    page = open_page(demo_page, width=width)
    _assert_nothing_moved(page)
    for view in view_names(page):
        open_view(page, view)
        settle(page)
    _assert_nothing_moved(page)


def test_the_tabs_stay_where_they_are_in_every_view(open_page: OpenPage, demo_page: Path) -> None:
    page = open_page(demo_page)
    places = []
    for view in view_names(page):
        open_view(page, view)
        places.append(page.locator("[data-tab=overview]").bounding_box())
    assert all(place == places[0] for place in places)
