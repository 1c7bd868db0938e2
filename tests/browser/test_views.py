"""Every view of the page opens by its tab, by the keyboard and by its address."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.views import current_tab, open_view, view_names, visible_views
from tests.browser.watched_pages import OpenPage

_VIEWS = ["overview", "map", "tables", "model", "calls", "run", "contract"]


def test_a_forged_page_has_a_view_for_each_part(open_page: OpenPage, demo_page: Path) -> None:
    page = open_page(demo_page)
    assert view_names(page) == _VIEWS
    assert page.title() == "shop · Fluid Forge"


def test_the_overview_comes_first(open_page: OpenPage, demo_page: Path) -> None:
    page = open_page(demo_page)
    assert visible_views(page) == ["overview"] == [current_tab(page)]


def test_a_tab_opens_its_view_and_changes_the_address(open_page: OpenPage, demo_page: Path) -> None:
    page = open_page(demo_page)
    for view in reversed(view_names(page)):
        open_view(page, view)
        assert visible_views(page) == [view] == [current_tab(page)]
        assert page.url.endswith(f"#{view}")
        assert page.locator(f"#{view} h2").first.is_visible()


def test_tabs_open_with_the_keyboard_alone(open_page: OpenPage, demo_page: Path) -> None:
    page = open_page(demo_page)
    for view in view_names(page)[1:]:
        page.locator(".skip").focus()
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.dataset.tab") == view:
                break
        page.keyboard.press("Enter")
        expect(page.locator(f"#{view}")).to_be_visible()
        assert visible_views(page) == [view]
        # A screen reader goes on at the heading of the view that was opened.
        assert page.evaluate("document.activeElement.closest('.view')?.id") == view


def test_the_first_stop_of_the_keyboard_skips_to_the_content(
    open_page: OpenPage, demo_page: Path
) -> None:
    page = open_page(demo_page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert visible_views(page) == ["overview"]


def test_an_address_opens_its_view(open_page: OpenPage, demo_page: Path) -> None:
    for view in view_names(open_page(demo_page)):
        assert visible_views(open_page(demo_page, view=view)) == [view]


def test_an_address_of_a_table_opens_that_table(open_page: OpenPage, demo_page: Path) -> None:
    page = open_page(demo_page, view="table-7")
    assert visible_views(page) == ["tables"]
    assert [panel.get_attribute("id") for panel in page.locator(".panel:visible").all()] == [
        "table-7"
    ]


@pytest.mark.parametrize("address", ["no-such-view", "%zz", "table-999-1"])
def test_an_unknown_address_opens_the_overview(
    open_page: OpenPage, demo_page: Path, address: str
) -> None:
    assert visible_views(open_page(demo_page, view=address)) == ["overview"]


def test_back_and_forward_return_to_the_views_that_were_open(
    open_page: OpenPage, demo_page: Path
) -> None:
    page = open_page(demo_page)
    open_view(page, "tables")
    page.locator("#table-list a").first.click()
    table = page.url
    page.go_back()
    expect(page.locator("#table-list")).to_be_visible()
    page.go_back()
    assert visible_views(page) == ["overview"] == [current_tab(page)]
    page.go_forward()
    page.go_forward()
    assert page.url == table
    expect(page.locator(".panel:visible h2")).to_have_count(1)
    assert visible_views(page) == ["tables"] == [current_tab(page)]
