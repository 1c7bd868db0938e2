"""Fixtures of the tests in a browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.availability import skip_or_fail
from tests.browser.axe import AxeUnavailableError, fetch_axe, read_axe
from tests.browser.chromium import NAMES, find_chromium, launch_chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium for the tests of a module.

    Playwright keeps an event loop running in the thread, in which ``asyncio.run`` fails: the loop
    ends with the module, before the tests of other modules need their own.
    """
    path = find_chromium()
    if path is None:
        skip_or_fail(f"none of {', '.join(NAMES)} is installed")
    with sync_playwright() as playwright:
        chromium = launch_chromium(playwright, path)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def axe(pytestconfig: pytest.Config) -> str:
    """The script of axe-core, from pytest's cache once it was fetched."""
    try:
        return read_axe(fetch_axe(pytestconfig.cache.mkdir("axe-core")))
    except AxeUnavailableError as error:
        skip_or_fail(str(error))
