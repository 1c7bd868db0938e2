"""Nothing moves by itself: neither while the page loads, nor between views."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.views import open_view, settle, view_names
from tests.browser.watched_pages import LAPTOP, PHONE, OpenPage

_SHIFTS = """async () => {
  let sum = 0;
  const observer = new PerformanceObserver((list) => {
    for (const shift of list.getEntries()) sum += shift.value;
  });
  observer.observe({ type: "layout-shift", buffered: true });
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)));
  return sum;
}"""
_TOLERANCE = 0.01
"""A tenth of what counts as good (https://web.dev/articles/cls)."""


def _layout_shift(page: Page) -> float:
    """Return how much has moved since the page was opened, whether somebody clicked or not."""
    settle(page)
    return float(page.evaluate(_SHIFTS))


def test_a_shift_is_measured(open_page: OpenPage, tmp_path: Path) -> None:
    """Text that pushes other text down is noticed."""
    file = tmp_path / "page.html"
    lines = "<p id=late></p>" + "<p>line</p>" * 20
    file.write_text(f"<!doctype html><html lang=en><title>Page</title>{lines}", encoding="utf-8")
    page = open_page(file)
    settle(page)
    page.evaluate("document.getElementById('late').textContent = 'late '.repeat(900)")
    assert _layout_shift(page) > 10 * _TOLERANCE


@pytest.mark.parametrize("width", [LAPTOP, PHONE])
def test_nothing_moves_while_the_page_loads_or_the_view_changes(
    open_page: OpenPage, demo_page: Path, width: int
) -> None:
    page = open_page(demo_page, width=width)
    assert _layout_shift(page) < _TOLERANCE
    for view in view_names(page):
        open_view(page, view)
        settle(page)
    assert _layout_shift(page) < _TOLERANCE


def test_the_tabs_stay_where_they_are_in_every_view(open_page: OpenPage, demo_page: Path) -> None:
    page = open_page(demo_page)
    places = []
    for view in view_names(page):
        open_view(page, view)
        places.append(page.locator("[data-tab=overview]").bounding_box())
    assert all(place == places[0] for place in places)
