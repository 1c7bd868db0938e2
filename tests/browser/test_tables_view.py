"""The view of tables: search, links between tables, folds and queries to copy."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.watched_pages import OpenPage


def _listed_tables(page: Page) -> list[str]:
    return page.locator("#table-list > tr:visible th").all_inner_texts()


def test_the_search_finds_a_table_by_its_name(open_page: OpenPage, demo_page: Path) -> None:
    page = open_page(demo_page, view="tables")
    assert len(_listed_tables(page)) == 14
    page.get_by_label("Find a table or column").fill("Vouch")
    assert _listed_tables(page) == ["orders", "vouchers"]


def test_the_search_finds_a_table_by_several_words(open_page: OpenPage, demo_page: Path) -> None:
    page = open_page(demo_page, view="tables")
    page.get_by_label("Find a table or column").fill("pos order")
    assert _listed_tables(page) == ["order_lines"]
    expect(page.get_by_role("status")).to_have_text("1 shown")


def test_an_emptied_search_lists_all_tables_again(open_page: OpenPage, demo_page: Path) -> None:
    page = open_page(demo_page, view="tables")
    search = page.get_by_label("Find a table or column")
    search.fill("nothing is called like this")
    assert _listed_tables(page) == []
    search.fill("")
    assert len(_listed_tables(page)) == 14


def test_a_reference_leads_to_its_table(open_page: OpenPage, demo_page: Path) -> None:
    page = open_page(demo_page, view="tables")
    page.locator("#table-list").get_by_role("link", name="order_lines").first.click()
    heading = page.locator(".panel:visible h2")
    expect(heading).to_have_text("order_lines")
    page.locator(".panel:visible .claims").get_by_role("link", name="products").first.click()
    expect(heading).to_have_text("products")


def test_a_column_unfolds_with_the_keyboard_and_shows_its_figures(
    open_page: OpenPage, demo_page: Path
) -> None:
    page = open_page(demo_page, view="tables")
    page.locator("#table-list").get_by_role("link", name="products").first.click()
    column = page.locator(".panel:visible .columns > li", has_text="list_price")
    figures = column.locator(".c-figures")
    expect(figures).to_be_hidden()
    column.locator("summary").first.focus()
    page.keyboard.press("Enter")
    expect(figures).to_contain_text("1,491")
    page.keyboard.press("Enter")
    expect(figures).to_be_hidden()


def test_values_of_personal_columns_are_not_in_the_page(
    open_page: OpenPage, demo_page: Path
) -> None:
    page = open_page(demo_page, view="tables")
    page.locator("#table-list").get_by_role("link", name="customers").first.click()
    column = page.locator(".panel:visible .columns > li", has_text="birth_date")
    column.locator("summary").first.click()
    expect(column).to_contain_text("personal")
    figures = set(column.locator(".c-figures dt").all_inner_texts())
    assert figures <= {"Rows", "Null", "Distinct", "Characters"}
    assert column.locator("svg, .c-values").count() == 0
