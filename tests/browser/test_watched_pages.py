"""The checks of every page can fail: each complaint of a browser is noticed."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.watched_pages import watched_page

_POLICY = '<meta http-equiv="Content-Security-Policy" content="{}">'


def _write_page(folder: Path, body: str, *, policy: str = "") -> Path:
    file = folder / "page.html"
    head = _POLICY.format(policy) if policy else ""
    text = f'<!doctype html><html lang="en"><meta charset="utf-8">{head}<title>t</title>{body}'
    file.write_text(text, encoding="utf-8")
    return file


def test_a_quiet_page_passes_and_shows_its_text(browser: Browser, tmp_path: Path) -> None:
    file = _write_page(tmp_path, "<span id=n>iii</span><br><span id=w>WWW</span>")
    with watched_page(browser, file) as page:
        narrow, wide = (page.locator(name).bounding_box() for name in ("#n", "#w"))
    assert narrow is not None and wide is not None
    # Without a font, all letters are the same box or nothing at all.
    assert 0 < narrow["width"] < wide["width"]


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("<script>missing()</script>", "missing is not defined"),
        ("<script>console.error('too late')</script>", "console error: too late"),
        ("<script>console.warn('careful')</script>", "console warning: careful"),
        ("<script>Promise.reject(new Error('lost'))</script>", "error: lost"),
        ("<script>alert('hello')</script>", "dialog: hello"),
        ("<img src='other.png' alt=''>", "other.png"),
        ("<script src='https://example.invalid/x.js'></script>", "https://example.invalid/x.js"),
        ("<script>setTimeout(() => fetch('https://example.invalid/'))</script>", "request: https"),
    ],
)
def test_a_complaint_of_the_browser_fails_the_test(
    browser: Browser, tmp_path: Path, body: str, complaint: str
) -> None:
    with (
        pytest.raises(AssertionError, match=complaint),
        watched_page(browser, _write_page(tmp_path, body)),
    ):
        pass


@pytest.mark.parametrize(
    "body",
    ["<p style='color: red'>red</p>", "<script>alert(1)</script>", "<svg onload='x()'></svg>"],
)
def test_a_violation_of_the_policy_fails_the_test(
    browser: Browser, tmp_path: Path, body: str
) -> None:
    file = _write_page(tmp_path, body, policy="default-src 'none'")
    with (
        pytest.raises(AssertionError, match="Content Security Policy"),
        watched_page(browser, file),
    ):
        pass
