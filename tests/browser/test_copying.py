"""Buttons that copy: with the clipboard's own interface, and where a browser refuses it."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.watched_pages import OpenPage

_QUERY = '"products"'


def _unfold_query(page: Page) -> str:
    """Unfold a query that names the products, and return its text."""
    evidence = page.locator(".view:visible details.evidence", has_text=_QUERY).first
    evidence.locator("summary").click()
    return evidence.locator("code").inner_text()


def _paste(page: Page) -> str:
    """Return what is in the clipboard, as a reader would paste it."""
    # The search field of another view is the only place of a page to paste into.
    page.locator("[data-tab=tables]").click()
    search = page.get_by_label("Find a table or column")
    search.focus()
    page.keyboard.press("ControlOrMeta+V")
    return search.input_value()


def _copy(page: Page) -> None:
    button = page.locator(".view:visible details[open] [data-copy]").first
    button.click()
    expect(button).to_have_text("Copied")
    expect(page.get_by_role("status")).to_have_text("Copied")
    expect(button).to_have_text("Copy query", timeout=5000)


@pytest.mark.parametrize("is_allowed", [True, False])
def test_a_query_is_copied(open_page: OpenPage, demo_page: Path, is_allowed: bool) -> None:
    """A browser may refuse the clipboard to a file, or not have it at all."""
    page = open_page(demo_page)
    if is_allowed:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    else:
        page.evaluate("delete Navigator.prototype.clipboard")
    query = _unfold_query(page)
    _copy(page)
    # A field of one line has spaces for the ends of lines.
    assert _paste(page).split() == query.split()
    assert query.split()[0] == "SELECT"
