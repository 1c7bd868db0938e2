"""Fixtures of the tests in a browser."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.availability import skip_or_fail
from tests.browser.axe import AxeUnavailableError, fetch_axe, read_axe
from tests.browser.chromium import NAMES, find_chromium, launch_chromium
from tests.browser.page_contents import example_run, forged_content, write_page
from tests.browser.watched_pages import OpenPage, watched_page
from tests.forges import demo_shop


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """The path of the installed Chromium; without one, the test is skipped."""
    path = find_chromium()
    if path is None:
        skip_or_fail(f"none of {', '.join(NAMES)} is installed")
    return path


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    """A Chromium for the tests of a module.

    Playwright keeps an event loop running in the thread, in which ``asyncio.run`` fails: the loop
    ends with the module, before the tests of other modules need their own.
    """
    with sync_playwright() as playwright:
        chromium = launch_chromium(playwright, chromium_path)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Open watched pages as ``watched_page`` does; they close at the end of the test."""
    with ExitStack() as stack:
        yield lambda *args, **options: stack.enter_context(watched_page(browser, *args, **options))


@pytest.fixture(scope="session")
def axe(pytestconfig: pytest.Config) -> str:
    """The script of axe-core, from pytest's cache once it was fetched."""
    try:
        return read_axe(fetch_axe(pytestconfig.cache.mkdir("axe-core")))
    except AxeUnavailableError as error:
        skip_or_fail(str(error))


@pytest.fixture(scope="session")
def demo_page(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the demo shop: modelled, proven, and run with a language model."""
    folder = tmp_path_factory.mktemp("demo")
    demo_shop(folder / "shop.db")
    content = forged_content(folder / "shop.db", "dimensional", example_run(), is_proven=True)
    return write_page(content, folder)
