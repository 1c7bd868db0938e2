"""How long the page of a source takes to make and to open, and how large it is.

    python bench/report.py                     # 50 and 500 tables
    python bench/report.py --tables 300 --technique flat

The source is a made-up business database (``synthetic.py``), profiled and modelled as a forge does
it. ``page s`` is the time from the content to the file, processor time of this process; ``map s``
is the part of it that lays the map out. A page is interactive when its first view is drawn and its
script has run (``interactive``), and has answered when a click on a tab shows the tables
(``answered``): seconds on the clock since the navigation began, in a headless Chromium that starts
with each run; medians of ``--repeat``. ``map opened`` is the time from a click on the map's tab to
its first frame.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from playwright.sync_api import Playwright, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.synthetic import write_duckdb  # noqa: E402
from fluid_build.report.page.content import PageContent  # noqa: E402
from fluid_build.report.page.map import map_data  # noqa: E402
from fluid_build.report.page.page import report_page  # noqa: E402
from tests.browser.chromium import NAMES, find_chromium, launch_chromium  # noqa: E402
from tests.browser.page_contents import forged_content  # noqa: E402
from tests.browser.views import await_drawing  # noqa: E402

T = TypeVar("T")
_INTERACTIVE = """() => new Promise((done) => {
  const look = () => {
    const [mark] = performance.getEntriesByName("interactive");
    if (mark) done(mark.startTime);
    else requestAnimationFrame(look);
  };
  look();
})"""


@dataclass(frozen=True)
class Opening:
    """Seconds until a page is interactive, until it answers, and for opening the map."""

    interactive: float
    answered: float
    map_opened: float


def main() -> int:
    options = read_options()
    path = find_chromium()
    if path is None:
        print(f"None of {', '.join(NAMES)} is installed.", file=sys.stderr)
        return 2
    print("| tables | page s | map s | MB | interactive s | answered s | map opened s |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        for count in options.tables:
            content = made_content(Path(scratch), count, options.technique)
            _, map_seconds = timed(lambda content=content: map_data(content))
            html, page_seconds = timed(lambda content=content: report_page(content))
            file = Path(scratch) / f"report-{count}.html"
            file.write_text(html, encoding="utf-8")
            megabytes = file.stat().st_size / 1e6
            openings = [open_page(playwright, path, file) for _ in range(options.repeat)]
            figures = (
                statistics.median(getattr(each, name) for each in openings)
                for name in ("interactive", "answered", "map_opened")
            )
            cells = (page_seconds, map_seconds, megabytes, *figures)
            print(f"| {count} | {' | '.join(f'{cell:.2f}' for cell in cells)} |", flush=True)
    return 0


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tables", type=int, nargs="+", default=[50, 500])
    parser.add_argument("--technique", default="dimensional")
    parser.add_argument("--repeat", type=int, default=5)
    return parser.parse_args()


def made_content(folder: Path, count: int, technique: str) -> PageContent:
    """Return the content of the page of that many tables."""
    database = folder / f"synthetic-{count}.duckdb"
    write_duckdb(database, count)
    return forged_content(database, technique)


def timed(call: Callable[[], T]) -> tuple[T, float]:
    """Return what a call returns, and its seconds of processor time."""
    began = time.process_time()
    result = call()
    return result, time.process_time() - began


def open_page(playwright: Playwright, path: str, file: Path) -> Opening:
    """Open a page in a new browser, click on a tab, and open the map."""
    browser = launch_chromium(playwright, path)
    page = browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    began = time.perf_counter()
    page.goto(file.as_uri(), wait_until="commit")
    interactive = page.evaluate(_INTERACTIVE) / 1000
    page.locator("[data-tab=tables]").click()
    page.locator("#tables.active").wait_for()
    answered = time.perf_counter() - began
    clicked = time.perf_counter()
    page.locator("[data-tab=map]").click()
    await_drawing(page)
    map_opened = time.perf_counter() - clicked
    browser.close()
    return Opening(interactive, answered, map_opened)


if __name__ == "__main__":
    sys.exit(main())
