"""The views of a page, as a reader sees them."""

from playwright.sync_api import Page


def view_names(page: Page) -> list[str]:
    """Return the names of all views, in the order of their tabs."""
    return page.eval_on_selector_all("[data-tab]", "tabs => tabs.map(tab => tab.dataset.tab)")


def visible_views(page: Page) -> list[str]:
    """Return the names of the views that are to be seen."""
    return [view.get_attribute("id") or "" for view in page.locator("main > .view:visible").all()]


def current_tab(page: Page) -> str | None:
    """Return the name of the view whose tab is marked as the current one."""
    return page.locator("[data-tab][aria-current=page]").get_attribute("data-tab")


def open_view(page: Page, view: str) -> None:
    """Click on the tab of a view."""
    page.locator(f"[data-tab={view}]").click()
    page.locator(f"#{view}.active").wait_for()


def await_drawing(page: Page, layer: str = "source") -> None:
    """Wait until the map shows a layer, at a place that its script has chosen."""
    page.locator(f"svg.map-drawing[data-layer={layer}][data-level]").wait_for()
    settle(page)


def settle(page: Page) -> None:
    """Wait until the page has drawn two more frames, and so whatever it has already begun."""
    page.evaluate("() => new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))")
