"""Chromium as it's started for tests: the one that is installed, never one that is downloaded."""

import shutil

from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
"""Debian's name comes first: it's the browser that continuous integration tests with."""
_ARGUMENTS = (
    # Root, as in most containers, can't start Chromium's sandbox.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def find_chromium() -> str | None:
    """Return the path of an installed Chromium; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def launch_chromium(playwright: Playwright, path: str) -> Browser:
    """Start a headless Chromium with scrollbars, which readers have too."""
    return playwright.chromium.launch(
        executable_path=path, args=_ARGUMENTS, ignore_default_args=["--hide-scrollbars"]
    )
