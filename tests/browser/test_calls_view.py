"""The view of judgement calls: search, topics, folds, and commands to copy."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.page_contents import write_page
from tests.browser.watched_pages import OpenPage
from tests.report.page.questions import content_of, keyed_tables


@pytest.fixture(scope="module")
def long_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 120 questions about keys, and two about ownership."""
    source = keyed_tables(*(f"table_{n}" for n in range(120)))
    return write_page(content_of(source), tmp_path_factory.mktemp("long"))


def questions(page: Page) -> Locator:
    return page.locator("#call-list > li:visible")


def test_questions_are_narrowed_by_their_topic_and_by_words(
    open_page: OpenPage, long_page: Path
) -> None:
    page = open_page(long_page, view="calls")
    expect(questions(page)).to_have_count(122)
    page.get_by_role("button", name="Ownership 2").click()
    expect(questions(page)).to_have_count(2)
    page.get_by_label("Find a question").fill("team")
    expect(questions(page)).to_have_count(1)
    page.get_by_role("button", name="Key 120").click()
    expect(page.get_by_text("No question fits.")).to_be_visible()
    page.get_by_label("Find a question").fill("table_77")
    expect(questions(page)).to_have_count(1)


def test_only_the_first_questions_are_unfolded(open_page: OpenPage, long_page: Path) -> None:
    page = open_page(long_page, view="calls")
    expect(page.locator("#call-list > li > details[open]")).to_have_count(3)


@pytest.mark.parametrize("name", ["table_20", "table_110"])
def test_a_question_unfolds_its_commands_wherever_it_is(
    open_page: OpenPage, long_page: Path, name: str
) -> None:
    page = open_page(long_page, view="calls")
    question = questions(page).filter(has_text=f"of {name}?")
    question.locator("summary").first.click()
    command = question.locator("code", has_text=f"set-key {name} code").first
    expect(command).to_have_text(f"fluid decide 'shop model' set-key {name} code")


def test_an_address_leads_to_a_question_and_unfolds_it(
    open_page: OpenPage, long_page: Path
) -> None:
    page = open_page(long_page, view="call-key-table_99")
    command = page.get_by_text("fluid decide 'shop model' set-key table_99 id")
    expect(command).to_be_in_viewport()


def test_a_command_and_an_entry_are_copied(open_page: OpenPage, long_page: Path) -> None:
    page = open_page(long_page, view="call-key-table_99")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    question = page.locator("[id='call-key-table_99']")
    question.get_by_role("button", name="Copy command: code").click()
    expect_clipboard(page, "fluid decide 'shop model' set-key table_99 code")
    question.get_by_text("Entry for decisions.yaml").last.click()
    question.get_by_role("button", name="Copy entry: code").click()
    entry = "- decision: set_key\n  table: table_99\n  columns:\n  - code\n  by: person"
    expect_clipboard(page, entry)


def expect_clipboard(page: Page, text: str) -> None:
    is_copied = "text => navigator.clipboard.readText().then(copied => copied === text)"
    page.wait_for_function(is_copied, arg=text)
