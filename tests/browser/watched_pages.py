"""A page that is watched while a test uses it: whatever the browser complains about is noted."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request

Scheme = Literal["light", "dark"]
OpenPage = Callable[..., Page]
"""``watched_page`` without its browser; the page closes at the end of the test."""
LAPTOP = 1280
PHONE = 390
_PATIENCE = 10_000
"""Milliseconds; a page is ready in a tenth of that, on a machine that does nothing else."""
_HEIGHTS = {LAPTOP: 800, PHONE: 844}


@dataclass
class Complaints:
    """Errors, warnings and requests of a page; a page that only shows itself has none."""

    address: str
    lines: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Note from now on what happens in the page."""
        page.on("console", self._note_message)
        page.on("pageerror", lambda error: self.lines.append(f"error: {error}"))
        page.on("request", self._note_request)
        page.on("crash", lambda _: self.lines.append("the page crashed"))
        page.on("dialog", self._note_dialog)
        page.on("popup", lambda popup: self.lines.append(f"window: {popup.url}"))

    def _note_message(self, message: ConsoleMessage) -> None:
        # Violations of the page's Content-Security-Policy are console errors.
        if message.type in ("error", "warning", "assert"):
            self.lines.append(f"console {message.type}: {message.text}")

    def _note_dialog(self, dialog: Dialog) -> None:
        self.lines.append(f"dialog: {dialog.message}")
        # The page waits until somebody has answered.
        dialog.dismiss()

    def _note_request(self, request: Request) -> None:
        if request.url.partition("#")[0] != self.address:
            self.lines.append(f"request: {request.url}")


@contextmanager
def watched_page(
    browser: Browser,
    file: Path,
    *,
    view: str = "",
    width: int = LAPTOP,
    scheme: Scheme = "light",
    reduced_motion: Literal["no-preference", "reduce"] = "no-preference",
) -> Iterator[Page]:
    """Open a file, and fail at the end if the browser complained about anything.

    ``view`` is the hash to open it at, such as ``map``.
    """
    address = file.as_uri()
    complaints = Complaints(address)
    context = browser.new_context(
        viewport={"width": width, "height": _HEIGHTS[width]},
        color_scheme=scheme,
        reduced_motion=reduced_motion,
    )
    try:
        context.set_default_timeout(_PATIENCE)
        page = context.new_page()
        complaints.watch(page)
        page.goto(f"{address}#{view}" if view else address)
        yield page
        # A round trip, so that what already happened in the page has arrived here.
        page.evaluate("() => new Promise(requestAnimationFrame)")
    except Exception as error:
        error.add_note("\n".join(complaints.lines))
        raise
    finally:
        context.close()
    assert not complaints.lines, "\n".join(complaints.lines)
