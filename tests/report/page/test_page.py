"""The page as text: what a browser isn't needed for."""

import base64
import hashlib
import re

from fluid_build.profiling.profile import ColumnProfile, Profile, TableProfile
from fluid_build.report.page.content import PageContent
from fluid_build.report.page.page import report_page
from fluid_build.report.view import source_view

HOSTILE = "<script>alert(1)</script>"


def page_of(name: str) -> str:
    column = ColumnProfile(name=name, type="VARCHAR", rows=1, nulls=0, distinct=1)
    table = TableProfile(name=name, rows=1, columns=(column,))
    profile = Profile(source_kind="duckdb", source_name="shop", tables=(table,))
    return report_page(PageContent(source_view(profile)))


def test_names_from_the_data_are_escaped() -> None:
    """A table that is called like a tag is text in the page."""
    page = page_of(HOSTILE)
    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_the_policy_allows_the_style_and_the_script_of_the_page_alone() -> None:
    """The hashes in the policy are those of the page's only style sheet and only script."""
    page = page_of("orders")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    for tag in ("style", "script"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;" in policy[1]
    assert "unsafe" not in policy[1]


def test_the_same_content_gives_the_same_page() -> None:
    """Nothing of the moment or the machine is in a page."""
    assert page_of("orders") == page_of("orders")
