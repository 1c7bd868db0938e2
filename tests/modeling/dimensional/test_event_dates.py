"""Which of its dates is an event's, in ten fields of work.

Each schema says in its first lines which date an expert takes, several where experts differ. They
were written before the rules had seen them: 29 of 33 dates were right then.
"""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from fluid_build.modeling.techniques import build_model
from fluid_build.observations.observe import observe
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from tests.transform.databases import database

SCHEMAS = sorted((Path(__file__).parents[1] / "event_dates").glob("*.sql"))
_EXPECTED = re.compile(r"^-- (\w+): (.+)$", re.MULTILINE)


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda path: path.stem)
def test_an_event_has_the_date_that_experts_take(schema: Path) -> None:
    text = schema.read_text(encoding="utf-8")
    expected = {table: dates.split() for table, dates in _EXPECTED.findall(text)}
    with (
        TemporaryDirectory() as folder,
        open_source(database(Path(folder) / "source.duckdb", text)) as source,
    ):
        profile = profile_source(source)
        observations = observe(source, profile)
    star = build_model(profile, "dimensional", observations=observations).dimensional
    assert star is not None
    dated = {fact.entity_name: fact.dated_by for fact in star.facts}
    found = {
        table: date.attribute if (date := dated.get(table)) is not None else None
        for table in expected
    }
    assert {table: date for table, date in found.items() if date not in expected[table]} == {}
