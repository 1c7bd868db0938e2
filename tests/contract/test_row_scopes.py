"""The rows that a quality rule is about."""

from collections.abc import Iterator

import duckdb
import pytest

from fluid_build.contract.fluid import DqRule
from fluid_build.contract.row_scopes import scope_of
from fluid_build.transform.plan.elements import EVERY_ROW, RowScope
from fluid_build.transform.plan.scoped_rows import rows_in


@pytest.fixture
def history() -> Iterator[duckdb.DuckDBPyConnection]:
    """Key 1 was corrected, key 2 was deleted, key 0 means none."""
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE h AS SELECT * FROM (VALUES"
            " (1, 1, FALSE, NULL), (1, 2, FALSE, 'a'), (2, 1, FALSE, NULL), (2, 2, TRUE, NULL),"
            " (0, 1, FALSE, NULL), (3, 1, FALSE, NULL)) AS v(k, load_date, is_deleted, name)"
        )
        yield connection


@pytest.mark.parametrize(
    ("scope", "keys"),
    [
        (EVERY_ROW, [0, 1, 1, 2, 2, 3]),
        (RowScope(latest_of=("k",)), [0, 1, 3]),
        (RowScope(latest_of=("k",), other_than=(("k", "0"),)), [1, 3]),
        (RowScope(current="is_deleted"), [2]),
        (RowScope(gone="is_deleted", filled=("name",)), [1]),
    ],
)
def test_a_scope_leaves_the_rows_that_it_names(
    history: duckdb.DuckDBPyConnection, scope: RowScope, keys: list[int]
) -> None:
    """Corrected and deleted rows are out of scope."""
    found = history.execute(f"SELECT k FROM {rows_in('h', scope)} ORDER BY k").fetchall()
    assert [key for (key,) in found] == keys


@pytest.mark.parametrize("text", ["5", "{", '{"rows": "all"}'])
def test_a_scope_that_cannot_be_read_is_none(text: str) -> None:
    """Such a rule is not checked, rather than checked on other rows."""
    rule = DqRule.model_validate(
        {"id": "r", "type": "completeness", "severity": "error", "labels": {"scope": text}}
    )
    assert scope_of(rule) is None
