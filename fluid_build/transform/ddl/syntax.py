"""How each target writes names, texts, comments and keys in its DDL.

Sources: "CREATE TABLE" and "COMMENT" in the SQL references of DuckDB, PostgreSQL, Snowflake,
BigQuery and Databricks. The last three record keys and don't enforce them; with RELY, Snowflake's
and Databricks' optimizers use them.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fluid_build.modeling.sql_names import RESERVED
from fluid_build.sources.sql import literal, quote
from fluid_build.text import clip
from fluid_build.transform.dbt.targets import Target

_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*", re.ASCII)
_LONGEST_BIGQUERY_COMMENT = 1024
"""Characters of a column's description: https://cloud.google.com/bigquery/quotas#tables"""


@dataclass(frozen=True, slots=True)
class Syntax:
    """The DDL of one target.

    ``after_key`` follows a key. ``text_with_length`` is the type of text up to a length, "" where
    there's none. ``column_comment`` and ``table_comment`` are where a comment goes inside of a
    statement; where they're "", comments are statements of their own. ``references_unique`` says
    whether a foreign key may refer to a unique key, ``allows_circles`` whether tables can refer to
    each other, and to themselves, and still be loaded.
    """

    text: Callable[[str], str]
    name_quote: str = '"'
    after_key: str = ""
    text_with_length: str = "VARCHAR({})"
    column_comment: str = ""
    table_comment: str = ""
    references_unique: bool = True
    allows_circles: bool = True

    def name(self, name: str) -> str:
        """Return a name as dbt writes it, without quotes unless it needs them."""
        if _PLAIN_NAME.fullmatch(name) and name not in RESERVED:
            return name
        mark = self.name_quote
        return quote(name) if mark == '"' else f"{mark}{name.replace(mark, mark * 2)}{mark}"


def _standard_text(text: str) -> str:
    return literal(text.replace("\0", ""))


def _postgres_text(text: str) -> str:
    """Return a literal that means the same whatever ``standard_conforming_strings`` is set to."""
    standard = _standard_text(text)
    return "E" + standard.replace("\\", "\\\\") if "\\" in standard else standard


def _escaped_text(text: str) -> str:
    """Return a literal of a database that reads backslashes as escapes."""
    escaped = text.replace("\0", "").replace("\\", "\\\\").replace("'", "\\'")
    return "'" + escaped.replace("\r", "\\r").replace("\n", "\\n") + "'"


def _bigquery_text(text: str) -> str:
    """Return a literal in double quotes, whose escapes are those of JSON."""
    return json.dumps(clip(text.replace("\0", ""), _LONGEST_BIGQUERY_COMMENT), ensure_ascii=False)


SYNTAX: Mapping[Target, Syntax] = {
    # DuckDB doesn't keep the length of a text, can't add a foreign key later, and doesn't find a
    # parent that the same INSERT brings.
    "duckdb": Syntax(_standard_text, text_with_length="", allows_circles=False),
    "postgres": Syntax(_postgres_text),
    "snowflake": Syntax(
        _escaped_text,
        after_key=" RELY",
        column_comment=" COMMENT {}",
        table_comment=" COMMENT = {}",
    ),
    "bigquery": Syntax(
        _bigquery_text,
        name_quote="`",
        after_key=" NOT ENFORCED",
        text_with_length="STRING({})",
        column_comment=" OPTIONS(description={})",
        table_comment=" OPTIONS(description={})",
        references_unique=False,
    ),
    "databricks": Syntax(
        _escaped_text,
        name_quote="`",
        after_key=" NOT ENFORCED RELY",
        column_comment=" COMMENT {}",
        table_comment=" COMMENT {}",
        references_unique=False,
    ),
}
