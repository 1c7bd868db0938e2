"""Light and dark, and what is printed."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.views import open_view, view_names
from tests.browser.watched_pages import OpenPage, Scheme

_GROUND = "getComputedStyle(document.body).backgroundColor"


def _brightness(page: Page) -> int:
    colour = str(page.evaluate(_GROUND))
    return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))


@pytest.mark.parametrize(("scheme", "is_light"), [("light", True), ("dark", False)])
def test_the_page_is_light_or_dark_as_the_system_is(
    open_page: OpenPage, demo_page: Path, scheme: Scheme, is_light: bool
) -> None:
    page = open_page(demo_page, scheme=scheme)
    assert (_brightness(page) > 3 * 200) is is_light
    assert (_brightness(page) < 3 * 50) is not is_light


def test_the_button_goes_through_the_themes(open_page: OpenPage, demo_page: Path) -> None:
    page = open_page(demo_page, scheme="dark")
    button = page.get_by_role("button", name="Theme")
    shown = [(button.inner_text(), _brightness(page) > 3 * 200)]
    for _ in range(3):
        button.click()
        shown.append((button.inner_text(), _brightness(page) > 3 * 200))
    assert shown == [
        ("Theme: auto", False),
        ("Theme: light", True),
        ("Theme: dark", False),
        ("Theme: auto", False),
    ]


def test_the_chosen_theme_is_kept(open_page: OpenPage, demo_page: Path) -> None:
    page = open_page(demo_page)
    button = page.get_by_role("button", name="Theme")
    button.click()
    button.click()
    page.reload()
    assert button.inner_text() == "Theme: dark"


def test_the_current_view_is_printed_without_controls(open_page: OpenPage, demo_page: Path) -> None:
    page = open_page(demo_page, scheme="dark")
    for view in view_names(page):
        open_view(page, view)
        page.emulate_media(media="print")
        assert page.locator("main > .view:visible").count() == 1
        assert page.locator(f"#{view} h2").first.is_visible()
        assert page.locator("button:visible, input:visible, nav:visible").count() == 0
        # Paper is white, and nothing is cut off that a screen would scroll.
        assert _brightness(page) > 3 * 200
        cut = "all => all.filter(e => e.checkVisibility() && e.scrollHeight > e.clientHeight + 1)"
        assert page.eval_on_selector_all("pre", f"{cut}.length") == 0
        page.emulate_media(media="screen")
