"""Examples of rows that an assistant may read: none with a personal value in any of its columns."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from fluid_build.assistants.row_values import repeated_values
from fluid_build.decisions.language import SetKey
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source

_PERSONAL = "ask ann@example.org"


@pytest.mark.parametrize(
    ("rows", "examples"),
    [
        ([("north", "tea")] * 2, [["north", "tea"]]),
        ([("north", _PERSONAL)] * 2, []),
        ([(_PERSONAL, "tea")] * 2, []),
        ([(_PERSONAL, _PERSONAL)] * 2, []),
    ],
)
def test_a_row_with_a_personal_value_is_no_example(
    tmp_path: Path, rows: list[tuple[str, str]], examples: list[list[str]]
) -> None:
    """Also where somebody has said that none of the columns is personal."""
    path = tmp_path / "notes.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE notes (region VARCHAR, remark VARCHAR)")
        others = [(f"region {n}", f"remark {n}") for n in range(60)]
        connection.executemany("INSERT INTO notes VALUES (?, ?)", [*others, *rows])
    with open_source(path) as source:
        profile = profile_source(source)
        (table,) = profile.tables
        columns = tuple(column.model_copy(update={"pii": False}) for column in table.columns)
        tables = (table.model_copy(update={"columns": columns}),)
        profile = profile.model_copy(update={"tables": tables})
        measured: Any = SimpleNamespace(source=source, profile=profile)
        key = SetKey(table="notes", columns=("region", "remark"))
        assert repeated_values(measured, key) == examples
