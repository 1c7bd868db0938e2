"""The map answers to the mouse, the wheel and the keyboard."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.views import await_drawing, settle
from tests.browser.watched_pages import OpenPage

_PLACE = r"""() => {
  const box = document.querySelector("svg.map-drawing .box");
  const [x, y] = box.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
  const frame = box.querySelector(".frame");
  const { left, top, width } = frame.getBoundingClientRect();
  const scale = width / Number(frame.getAttribute("width"));
  return [scale, left - x * scale, top - y * scale];
}"""
"""The scale of the drawing, and where its corner is in the window."""


@pytest.fixture
def map_page(open_page: OpenPage, demo_page: Path) -> Page:
    page = open_page(demo_page, view="map", reduced_motion="reduce")
    await_drawing(page)
    return page


def _box(page: Page, name: str) -> Locator:
    return page.locator(f'svg.map-drawing .box[data-id="{name}"]')


def _place(page: Page) -> list[float]:
    settle(page)
    return list(page.evaluate(_PLACE))


def _middle(locator: Locator) -> tuple[float, float]:
    box = locator.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def _lit_boxes(page: Page) -> set[str]:
    lit = page.locator("svg.map-drawing .box.lit").all()
    return {box.get_attribute("data-id") or "" for box in lit}


def test_a_click_on_a_table_shows_its_neighbourhood(map_page: Page) -> None:
    _box(map_page, "orders").click()
    neighbours = {
        *("addresses", "customers", "employees", "vouchers"),
        *("order_lines", "payments", "shipments"),
    }
    assert _lit_boxes(map_page) == {"orders", *neighbours}
    panel = map_page.get_by_role("complementary", name="Details")
    expect(panel.get_by_role("heading", level=3)).to_have_text("orders")
    expect(panel.get_by_role("heading", name="Refers to")).to_have_text("Refers to (5)")
    expect(panel.get_by_role("heading", name="Referred to by")).to_have_text("Referred to by (3)")


def test_a_click_on_a_line_says_what_it_means(map_page: Page) -> None:
    line = map_page.locator('.edge[data-child="order_lines"][data-parent="products"]')
    x, y = line.evaluate(
        """path => {
          const { x, y } = path.getPointAtLength(path.getTotalLength() / 2);
          const point = new DOMPoint(x, y).matrixTransform(path.getScreenCTM());
          return [point.x, point.y];
        }"""
    )
    map_page.mouse.move(x, y)
    expect(map_page.locator(".map-tip")).to_contain_text("287")
    map_page.mouse.click(x, y)
    assert _lit_boxes(map_page) == {"order_lines", "products"}
    expect(map_page.locator("#map-panel")).to_contain_text("287 orphans")


def test_escape_and_a_click_beside_end_the_selection(map_page: Page) -> None:
    panel = map_page.locator("#map-panel")
    _box(map_page, "orders").click()
    map_page.keyboard.press("Escape")
    assert _lit_boxes(map_page) == set()
    expect(panel).to_be_hidden()
    _box(map_page, "orders").click()
    map_page.locator(".map-window").click(position={"x": 5, "y": 5})
    assert _lit_boxes(map_page) == set()
    expect(panel).to_be_hidden()


def test_the_panel_leads_to_the_table(map_page: Page) -> None:
    _box(map_page, "orders").click()
    map_page.locator("#map-panel .map-links a").first.click()
    expect(map_page.locator("#tables .panel:visible h2")).to_have_text("orders")
    map_page.go_back()
    expect(_box(map_page, "orders")).to_be_visible()


def test_broken_relationships_are_marked_with_their_orphans(map_page: Page) -> None:
    broken = map_page.locator("svg.map-drawing .line.broken")
    assert broken.count() == 3
    colours = [
        map_page.locator(f"svg.map-drawing .line.{state} .edge").first.evaluate(
            "path => getComputedStyle(path).stroke"
        )
        for state in ("broken", "sound")
    ]
    assert colours[0] != colours[1]
    assert {"177 orphans", "287 orphans"} <= set(broken.locator("text").all_text_contents())


def test_the_search_finds_a_table_by_a_column(map_page: Page) -> None:
    search = map_page.locator("#map-query")
    search.fill("iban")
    expect(map_page.get_by_role("option")).to_have_text("suppliers · iban")
    search.press("Enter")
    expect(map_page.locator("#map-panel h3")).to_have_text("suppliers")
    assert "suppliers" in _lit_boxes(map_page)
    expect(_box(map_page, "suppliers")).to_be_in_viewport(ratio=1)


def test_the_layers_are_switched_by_mouse_and_keyboard(map_page: Page) -> None:
    await_drawing(map_page, "source")
    map_page.get_by_text("Conceptual", exact=True).click()
    await_drawing(map_page, "conceptual")
    map_page.keyboard.press("ArrowRight")
    await_drawing(map_page, "model")
    assert map_page.locator("svg.map-drawing .box.fact").count() > 0
    assert map_page.locator("svg.map-drawing .box.dimension").count() > 0


def test_all_columns_are_drawn_on_demand(map_page: Page) -> None:
    rows = _box(map_page, "products").locator(".row")
    assert rows.all_text_contents()[-1] == "+ 7 columns"
    map_page.get_by_role("button", name="All columns").click()
    expect(rows).to_have_count(10)
    map_page.get_by_role("button", name="All columns").click()
    expect(rows).to_have_count(4)


def test_dragging_moves_the_map(map_page: Page) -> None:
    scale, x, y = _place(map_page)
    map_page.mouse.move(600, 720)
    map_page.mouse.down()
    map_page.mouse.move(500, 670, steps=5)
    map_page.mouse.up()
    assert _place(map_page) == pytest.approx([scale, x - 100, y - 50], abs=0.5)
    # A drag isn't a click.
    expect(map_page.locator("#map-panel")).to_be_hidden()


def test_the_wheel_zooms_around_the_pointer(map_page: Page) -> None:
    box = _box(map_page, "orders")
    at = _middle(box)
    before = _place(map_page)[0]
    map_page.mouse.move(*at)
    map_page.mouse.wheel(0, -300)
    assert _place(map_page)[0] > 1.2 * before
    assert _middle(box) == pytest.approx(at, abs=1)
    map_page.mouse.wheel(0, 300)
    assert _place(map_page)[0] == pytest.approx(before, rel=0.01)


def test_buttons_zoom_and_fit(map_page: Page) -> None:
    fitting = _place(map_page)
    map_page.get_by_role("button", name="Zoom in").click()
    assert _place(map_page)[0] > fitting[0]
    map_page.get_by_role("button", name="Fit").click()
    assert _place(map_page) == pytest.approx(fitting, abs=0.5)
    map_page.get_by_role("button", name="Zoom out").click()
    assert _place(map_page)[0] < fitting[0]


def test_the_keyboard_walks_zooms_and_opens(map_page: Page) -> None:
    _box(map_page, "orders").locator(".frame").focus()
    fitting = _place(map_page)
    map_page.keyboard.press("+")
    assert _place(map_page)[0] > fitting[0]
    map_page.keyboard.press("0")
    assert _place(map_page) == pytest.approx(fitting, abs=0.5)
    map_page.keyboard.press("ArrowRight")
    focused = map_page.evaluate("document.activeElement.closest('.box').dataset.id")
    assert focused in {"order_lines", "payments", "shipments"}
    map_page.keyboard.press("Enter")
    expect(map_page.locator("#map-panel h3")).to_have_text(focused)


def test_the_map_is_one_stop_of_the_tab_key(map_page: Page) -> None:
    assert map_page.locator('svg.map-drawing [tabindex="0"]').count() == 1


def test_the_list_reads_without_the_drawing(map_page: Page) -> None:
    map_page.get_by_role("button", name="List").click()
    panel = map_page.get_by_role("complementary", name="Details")
    expect(panel).to_be_focused()
    expect(panel.get_by_role("heading", level=4)).to_have_text(["Boxes (14)", "Relationships (20)"])
    panel.get_by_role("button", name="vouchers").first.click()
    assert _lit_boxes(map_page) == {"vouchers", "orders"}


def test_the_map_keeps_its_place_when_another_view_was_open(map_page: Page) -> None:
    map_page.get_by_role("button", name="Zoom in").click()
    place = _place(map_page)
    map_page.locator("[data-tab=tables]").click()
    settle(map_page)
    map_page.locator("[data-tab=map]").click()
    await_drawing(map_page)
    assert _place(map_page) == pytest.approx(place, abs=0.5)
