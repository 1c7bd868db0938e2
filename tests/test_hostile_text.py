"""What a terminal or a browser would obey in a stranger's names and values reaches no document."""

import re
import sqlite3
from pathlib import Path

import pytest

from fluid_build.forging import forge
from fluid_build.sources import open_source
from fluid_build.sources.sql import quote

LINK = "\x1b]8;;https://evil.example/\x07click\x1b]8;;\x07"
"""A hyperlink as terminals know it (OSC 8)."""

HOSTILE = (
    LINK,
    "\x1b]8;;https://evil.example/\x1b\\click\x1b]8;;\x1b\\",
    "\x9d8;;https://evil.example/\x9cclick\x9d8;;\x9c",
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "bell\x07 back\x08space",
    "right \u202eleft\u202c",
    "iso\u2066late\u2069",
    "zero\u200bwidth\ufeff",
    "line\u2028para\u2029",
    "[click](https://evil.example/)",
    "<a href='https://evil.example/'>click</a>",
    "<https://evil.example/>",
    "https://evil.example/path",
)

_ACTS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)


@pytest.fixture
def source(tmp_path: Path) -> str:
    """Hostile names of tables and columns, hostile values, few enough to be listed."""
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        for number, text in enumerate(HOSTILE):
            table, column = quote(f"t{number} {text}"), quote(f"c {text}")
            connection.execute(
                f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, {column} TEXT,"
                f" {quote(f'empty {text}')} TEXT, {quote(f'mixed {text}')} INTEGER,"
                f" {quote(f'parent {text}')} INTEGER REFERENCES {table} (id))"
            )
            # Values of other types and orphans, so that queries are shown to look at them.
            rows = [
                (row, f"{text} {row % 3}", None, text if row == 7 else row, row + (row > 36) * 90)
                for row in range(40)
            ]
            connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)", rows)
    connection.close()
    return f"sqlite:///{path}"


@pytest.mark.parametrize("technique", ["flat", "data_vault_2", "dimensional"])
def test_no_document_holds_a_character_that_acts(
    tmp_path: Path, source: str, technique: str
) -> None:
    """Neither a terminal's escapes nor what turns or hides text, in pages and YAML files.

    SQL has to name a table as it's called.
    """
    out = tmp_path / "out"
    with open_source(source) as opened:
        forge(opened, technique=technique, out=out)
    found = {
        f"{path.relative_to(out)}: {match[0]!r}"
        for path in out.rglob("*")
        if path.suffix in {".md", ".yaml", ".yml"}
        for match in [_ACTS.search(path.read_text(encoding="utf-8"))]
        if match
    }
    assert found == set()


def test_the_document_links_to_nothing_of_a_strangers(tmp_path: Path, source: str) -> None:
    """Text that is a link in Markdown or HTML is shown as it's written."""
    out = tmp_path / "out"
    with open_source(source) as opened:
        forge(opened, technique="flat", out=out)
    for name in ("MODEL.md", "dbt/README.md"):
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", (out / name).read_text(), flags=re.S)
        assert not re.search(r"https?://evil|\]\(https?://evil|<a |<https?:", prose)
