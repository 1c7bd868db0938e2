"""Pictures of the page, as its readers see it: every view of the demo in both themes and widths.

    python bench/screenshots.py OUT            # OUT/overview-1280-light.png and so on
    python bench/screenshots.py OUT --page report.html
    python bench/screenshots.py --readme       # docs/images/report.png, with which README opens

Without ``--page`` it makes the demo shop and forges it as a star, which takes some ten seconds. It
needs Chromium.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from fluid_build.demo import build_shop  # noqa: E402
from tests.browser.chromium import NAMES, find_chromium, launch_chromium  # noqa: E402
from tests.browser.views import settle, view_names  # noqa: E402

README_IMAGE = ROOT / "docs" / "images" / "report.png"
_MOST_README_BYTES = 400_000
_SIZES = ((1280, 800), (390, 844))
_SCHEMES = ("light", "dark")
_README_SIZE = (1280, 800)


def main() -> int:
    options = read_options()
    path = find_chromium()
    if path is None:
        print(f"None of {', '.join(NAMES)} is installed.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        page = options.page or forged_demo(Path(scratch))
        with sync_playwright() as playwright:
            browser = launch_chromium(playwright, path)
            if options.out:
                take_all(browser, page, options.out)
            if options.readme:
                take_readme_image(browser, page)
            browser.close()
    return 0


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("out", type=Path, nargs="?", help="folder for the pictures")
    parser.add_argument("--page", type=Path, metavar="FILE", help="a page that is already there")
    parser.add_argument("--readme", action="store_true", help=f"write {README_IMAGE.name}")
    options = parser.parse_args()
    if not options.out and not options.readme:
        parser.error("name a folder, or use --readme")
    return options


def forged_demo(folder: Path) -> Path:
    """Make the demo shop, forge it with the command, and return its page."""
    build_shop(folder / "shop.db")
    command = (sys.executable, "-m", "fluid_build.cli.main", "forge", "data-model", "from-source")
    options = ("--uri", "shop.db", "--technique", "dimensional", "-o", "shop")
    environment = os.environ | {"FLUID_HOME": str(folder / "home"), "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [*command, *options], cwd=folder, env=environment, check=True, capture_output=True
    )
    return folder / "shop" / "report.html"


def take_all(browser: Browser, file: Path, folder: Path) -> None:
    """Write a picture of what is first seen of each view, in each width and theme."""
    folder.mkdir(parents=True, exist_ok=True)
    for width, height in _SIZES:
        for scheme in _SCHEMES:
            with opened(browser, file, (width, height), scheme) as page:
                for view in view_names(page):
                    page.locator(f"[data-tab={view}]").click()
                    settle(page)
                    picture = folder / f"{view}-{width}-{scheme}.png"
                    page.screenshot(path=picture, animations="disabled")
                    print(picture)


def take_readme_image(browser: Browser, file: Path) -> None:
    """Write the picture of the map, small enough for a README."""
    with opened(browser, file, _README_SIZE, "light", scale=2) as page:
        page.locator("[data-tab=map]").click()
        settle(page)
        image = page.screenshot(animations="disabled")
    if len(image) > _MOST_README_BYTES:
        raise SystemExit(f"The picture has {len(image):,} bytes: over {_MOST_README_BYTES:,}.")
    README_IMAGE.parent.mkdir(parents=True, exist_ok=True)
    README_IMAGE.write_bytes(image)
    print(f"{README_IMAGE}: {len(image):,} bytes")


@contextmanager
def opened(
    browser: Browser, file: Path, size: tuple[int, int], scheme: str, scale: int = 1
) -> Iterator[Page]:
    """Open a page in a window of that size in pixels; ``scale`` is pixels of the picture each."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        device_scale_factor=scale,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(file.resolve().as_uri())
    yield page
    context.close()


if __name__ == "__main__":
    sys.exit(main())
