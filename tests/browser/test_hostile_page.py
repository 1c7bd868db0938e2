"""Text from the data is shown as it is, and none of it runs."""

from pathlib import Path

import duckdb
import pytest
from playwright.sync_api import Locator, Page, expect

from fluid_build.sources.sql import literal, quote
from tests.browser.page_contents import example_run, forged_content, write_page
from tests.browser.views import open_view, settle, view_names
from tests.browser.watched_pages import OpenPage

_RUN = "window.hasRun = true"
HOSTILE = (
    f"<script>{_RUN}</script>",
    f"\"><img src=x onerror='{_RUN}'>",
    f"</script><script>{_RUN}</script>",
    f"</style><svg onload='{_RUN}'>",
    f"'-alert(1)-'`${{{_RUN}}}`",
    f"javascript:{_RUN}",
    "{{7*7}}{% raw %}",
    "&lt;b&gt;&amp;amp;",
    "<!-- --> ]]>",
    "right \u202eleft\u202c",
    "bell\x07 escape\x1b[31m",
    "line\u2028para\u2029",
    "#table-1",
    "__proto__",
)


@pytest.fixture(scope="session")
def hostile_page(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a database with hostile names, comments and values."""
    folder = tmp_path_factory.mktemp("hostile")
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        for number, text in enumerate(HOSTILE):
            _make_table(connection, number, text)
    content = forged_content(folder / "shop.duckdb", "data_vault_2", example_run(HOSTILE[0]))
    return write_page(content, folder)


def _make_table(connection: duckdb.DuckDBPyConnection, number: int, text: str) -> None:
    """Make a table of that name, whose rows refer to the table before."""
    table, column = quote(text), quote(f"c {text}")
    before = quote(HOSTILE[max(number - 1, 0)])
    parent = "i // 2" if number else "NULL"
    connection.execute(
        f"CREATE TABLE {table} (id INTEGER PRIMARY KEY,"
        f" {quote(f'parent {text}')} INTEGER REFERENCES {before} (id), {column} VARCHAR)"
    )
    connection.execute(
        f"INSERT INTO {table} SELECT i, {parent}, {literal(f'v {text}')} || i % 3"
        " FROM range(40) AS t(i)"
    )
    connection.execute(f"COMMENT ON TABLE {table} IS {literal(f'About {text}')}")
    connection.execute(f"COMMENT ON COLUMN {table}.{column} IS {literal(f'On {text}')}")


def _open_table(page: Page, text: str) -> Locator:
    """Open a table by its link in the list, unfold everything, and return its panel."""
    open_view(page, "tables")
    page.get_by_label("Find a table or column").fill("")
    page.locator("#table-list th a").get_by_text(text, exact=True).click()
    panel = page.locator("#tables .panel:visible")
    expect(panel.locator(".columns")).to_be_visible()
    _unfold(page)
    return panel


def _unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    settle(page)


def test_nothing_in_the_data_runs_in_any_view(open_page: OpenPage, hostile_page: Path) -> None:
    """A handler or a script that got into the page would run, or violate the policy."""
    page = open_page(hostile_page)
    for view in view_names(page):
        open_view(page, view)
        _unfold(page)
    for text in filter(str.isprintable, HOSTILE):
        _open_table(page, text)
    assert page.evaluate("window.hasRun") is None
    assert page.locator("img, iframe, object, embed, form, link, base").count() == 0
    assert page.locator("script[src], [onerror], [onload]").count() == 0
    assert page.locator("a:not([href^='#'])").count() == 0


def test_names_comments_and_values_are_shown_literally(
    open_page: OpenPage, hostile_page: Path
) -> None:
    page = open_page(hostile_page)
    for text in filter(str.isprintable, HOSTILE):
        panel = _open_table(page, text)
        expect(panel.locator("h2 bdi").first).to_have_text(text)
        for shown in (f"c {text}", f"About {text}", f"On {text}", f"v {text}0"):
            expect(panel).to_contain_text(shown)


def test_the_contract_and_the_run_show_text_literally(
    open_page: OpenPage, hostile_page: Path
) -> None:
    page = open_page(hostile_page)
    open_view(page, "run")
    _unfold(page)
    expect(page.locator("#run")).to_contain_text(f"{HOSTILE[0]} has orphans.")
    open_view(page, "contract")
    page.get_by_label("Find", exact=True).fill(HOSTILE[0])
    page.keyboard.press("Enter")
    expect(page.locator("#contract .hit")).to_contain_text(HOSTILE[0])


def test_text_that_runs_backwards_ends_with_its_element(
    open_page: OpenPage, hostile_page: Path
) -> None:
    page = open_page(hostile_page, view="tables")
    name = page.locator("#table-list th bdi", has_text="left")
    assert name.count() == 1
    assert name.evaluate("bdi => getComputedStyle(bdi).unicodeBidi") == "isolate"
