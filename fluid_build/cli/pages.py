"""Pages for the browser: where a command wrote one, and how to open it."""

import os
import shlex
import shutil
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from pathlib import Path

from fluid_build.report.terminal.screen_parts import Copyable, Part, heading, whole


def page_section(path: Path) -> Iterator[Part]:
    """Yield where a page is, and how to open it."""
    yield heading("Page", f"in {whole(path)}")
    yield from opening(path)


def opening(path: Path) -> Iterator[Part]:
    """Yield the command that opens a page on this system."""
    command = open_command(path)
    if command:
        yield Copyable("# open it in the browser", "dim")
        yield Copyable(command)
    else:
        yield Copyable(f"# open it in a browser: {path.absolute().as_uri()}", "dim")


def open_command(path: Path) -> str:
    """Return the command line that opens a file in the browser; "" where there is none.

    Without a display, as over SSH, ``xdg-open`` finds no browser.
    """
    if sys.platform == "win32":
        return f"start {subprocess.list2cmdline(['', str(path)])}"
    if sys.platform == "darwin":
        opener = "open"
    elif os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        opener = "xdg-open"
    else:
        return ""
    return f"{opener} {shlex.quote(str(path))}" if shutil.which(opener) else ""


def open_page(path: Path) -> bool:
    """Open a page in the system's browser; return whether there is one."""
    try:
        return webbrowser.open(path.absolute().as_uri())
    except webbrowser.Error:
        return False
