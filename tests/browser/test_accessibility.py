"""No view breaks a rule of WCAG 2.1 A and AA, or of best practice, in any theme and width."""

from itertools import pairwise
from pathlib import Path

import pytest

from tests.browser.axe import violations
from tests.browser.views import open_view, settle, view_names
from tests.browser.watched_pages import LAPTOP, PHONE, OpenPage, Scheme

_REMOVE_HIDDEN = """() => {
  const hidden = document.querySelectorAll(".view:not(.active), .panel:not(.active)");
  for (const part of hidden) part.remove();
}"""
"""The checks look at hidden parts as well, which takes four times as long."""


@pytest.mark.parametrize("width", [LAPTOP, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_breaks_a_rule(
    open_page: OpenPage, demo_page: Path, axe: str, scheme: Scheme, width: int
) -> None:
    page = open_page(demo_page, scheme=scheme, width=width)
    faults: list[str] = []
    for view in view_names(page):
        open_view(page, view)
        settle(page)
        page.evaluate(_REMOVE_HIDDEN)
        faults += [f"{view}: {line}" for line in violations(page, axe)]
        page.reload()
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_table_with_everything_unfolded_breaks_no_rule(
    open_page: OpenPage, demo_page: Path, axe: str, scheme: Scheme
) -> None:
    page = open_page(demo_page, view="table-7", scheme=scheme)
    page.evaluate(_REMOVE_HIDDEN)
    page.evaluate("document.querySelectorAll('.panel.active details').forEach(d => d.open = true)")
    faults = violations(page, axe)
    assert not faults, "\n".join(faults)


def test_headings_of_a_view_leave_no_level_out(open_page: OpenPage, demo_page: Path) -> None:
    page = open_page(demo_page)
    for view in view_names(page):
        open_view(page, view)
        levels = page.eval_on_selector_all(
            "h1, h2, h3, h4, h5, h6",
            "all => all.filter(h => h.checkVisibility()).map(h => Number(h.tagName[1]))",
        )
        assert all(deeper <= level + 1 for level, deeper in pairwise(levels)), (view, levels)
        assert levels[0] == 1


@pytest.mark.parametrize("width", [LAPTOP, PHONE])
def test_no_view_is_wider_than_the_window(open_page: OpenPage, demo_page: Path, width: int) -> None:
    """What is wide scrolls in a box of its own."""
    page = open_page(demo_page, width=width)
    for view in view_names(page):
        open_view(page, view)
        room = page.evaluate("document.documentElement.clientWidth")
        assert page.evaluate("document.documentElement.scrollWidth") <= room, view
