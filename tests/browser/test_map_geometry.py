"""The map in numbers, as the browser draws it: nothing on anything else, and few crossings."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.map_geometry import measure_map
from tests.browser.page_contents import forged_content, write_page
from tests.browser.views import await_drawing
from tests.browser.watched_pages import OpenPage
from tests.shared import CORPUS, on_databases

_MOST_CROSSINGS = {
    "adventureworks": 70,
    "chinook": 10,
    "northwind": 10,
    "pubs": 10,
    "sakila": 40,
    "tpcds": 1_600,
}
"""Of the source: a third more than there were when the layout was written."""


def _show_layer(page: Page, layer: str) -> None:
    page.locator(f"[name=map-layer][value={layer}] + span").click()
    await_drawing(page, layer)


@pytest.mark.parametrize(
    ("layer", "most_crossings"), [("source", 10), ("conceptual", 10), ("model", 225)]
)
def test_the_demo_has_a_clear_drawing(
    open_page: OpenPage, demo_page: Path, layer: str, most_crossings: int
) -> None:
    page = open_page(demo_page, view="map")
    _show_layer(page, layer)
    keys_only = measure_map(page)
    columns = page.get_by_role("button", name="All columns")
    columns.click()
    expect(columns).to_have_attribute("aria-pressed", "true")
    in_full = measure_map(page)
    assert keys_only.faults == in_full.faults == []
    assert keys_only.crossings <= most_crossings
    assert in_full.crossings <= 1.3 * most_crossings
    assert keys_only.boxes >= 14
    assert keys_only.edges >= 20


@on_databases("chinook northwind sakila", thorough="adventureworks tpcds pubs")
def test_a_database_of_the_corpus_has_a_clear_drawing(
    open_page: OpenPage, tmp_path: Path, name: str
) -> None:
    content = forged_content(CORPUS / name / "data", "data_vault_2")
    page = open_page(write_page(content, tmp_path), view="map")
    await_drawing(page)
    source = measure_map(page)
    _show_layer(page, "model")
    assert source.faults == measure_map(page).faults == []
    assert source.boxes == len(content.view.tables)
    assert source.crossings <= _MOST_CROSSINGS[name]


_BOX = (
    '<g class="box" data-id="{0}" transform="translate({1} {2})"><rect class="frame" width="100"'
    ' height="40"/><text class="title" x="4" y="20">{3}</text><text class="far"></text></g>'
)
_EDGE = (
    '<g class="line"><path class="edge" data-id="{0}" data-child="{1}" data-parent="{2}" d="{3}"/>'
    "</g>"
)


def _drawing(folder: Path, *parts: str) -> Path:
    file = folder / "page.html"
    svg = f'<svg class="map-drawing" viewBox="0 0 900 300">{"".join(parts)}</svg>'
    text = f"<!doctype html><html lang=en><meta charset=utf-8><title>Drawing</title>{svg}"
    file.write_text(text, encoding="utf-8")
    return file


_LEFT, _MIDDLE, _RIGHT = (
    _BOX.format(name, x, y, name) for name, x, y in (("a", 0, 0), ("b", 200, 60), ("c", 400, 0))
)


@pytest.mark.parametrize(
    ("parts", "faults"),
    [
        ((_LEFT, _RIGHT, _EDGE.format("e", "a", "c", "M100 20L400 20")), []),
        (
            (_LEFT, _RIGHT, _EDGE.format("e", "a", "c", "M100 20L245 20Q250 20 250 25L250 80")),
            ["loose: e"],
        ),
        (
            (
                _LEFT,
                _MIDDLE,
                _RIGHT,
                _EDGE.format("e", "a", "c", "M100 20Q150 20 150 25Q150 70 155 70Q350 70 350 65"
                             "Q350 20 355 20L400 20"),
            ),
            ["crossed: e through b"],
        ),
        ((_LEFT, _RIGHT, _EDGE.format("e", "a", "c", "M100 10L400 30")), ["slanted: e"]),
        ((_LEFT, _BOX.format("d", 90, 30, "d")), ["overlapping: a and d"]),
        ((_BOX.format("d", 0, 0, "a name wider than its box"),), ["wide: d: a name wider"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_drawing_is_found(
    open_page: OpenPage, tmp_path: Path, parts: tuple[str, ...], faults: list[str]
) -> None:
    found = measure_map(open_page(_drawing(tmp_path, *parts))).faults
    assert [fault[: len(expected)] for fault, expected in zip(found, faults, strict=True)] == faults


def test_crossings_are_counted(open_page: OpenPage, tmp_path: Path) -> None:
    """Two edges that change places cross once."""
    down = _EDGE.format("down", "a", "c", "M100 10L200 10Q250 10 250 15Q250 30 255 30L400 30")
    up = _EDGE.format("up", "a", "c", "M100 30L200 30Q230 30 230 25Q230 5 235 5L400 5")
    assert measure_map(open_page(_drawing(tmp_path, _LEFT, _RIGHT, down, up))).crossings == 1
