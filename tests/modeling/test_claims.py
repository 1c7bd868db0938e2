"""Nothing untrue is said: a sentence of a model is a decision, or a query shows that it holds."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pytest

from bench.look_once.databases import LOOK_ONCE, build_database
from fluid_build.modeling.conceptual import Entity
from fluid_build.modeling.techniques import build_model
from fluid_build.observations.observe import observe
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.base import Source
from fluid_build.sources.sql import quote
from tests.modeling.claims import Sentence, claim, is_decision, is_true, sentences
from tests.shared import CORPUS, on_databases

SCRIPTS = (
    *sorted(LOOK_ONCE.glob("*.sql")),
    *sorted(Path(__file__).with_name("expert_sources").glob("*.sql")),
)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_what_a_model_says_of_the_data_is_true(script: Path) -> None:
    with TemporaryDirectory() as folder:
        database = Path(folder) / f"{script.stem}.duckdb"
        build_database(script, database)
        with open_source(str(database)) as source:
            said = what_is_said(source)
        with duckdb.connect(str(database), read_only=True) as connection:
            assert untrue(connection, said) == []
    assert {s.text for s in said if claim(s) is None and not is_decision(s)} == set()


@on_databases("pubs", thorough="broker chinook jaffle_shop northwind sakila world")
def test_what_a_model_says_of_a_real_database_is_true(name: str) -> None:
    """Real rows are mistyped, missing and repeated in ways that nobody makes up."""
    with open_source(CORPUS / name / "data") as source:
        said = what_is_said(source)
        for table in source.tables:
            source.connection.execute(
                f"CREATE TEMP TABLE {quote(table.name)} AS SELECT * FROM {table.relation}"
            )
        assert untrue(source.connection, said) == []


def what_is_said(source: Source) -> list[Sentence]:
    """What the star and the vault of a source say."""
    profile = profile_source(source)
    observations = observe(source, profile)
    return [
        sentence
        for technique in ("dimensional", "data_vault_2")
        for sentence in sentences(build_model(profile, technique, None, observations))
    ]


def untrue(
    connection: duckdb.DuckDBPyConnection, said: Sequence[Sentence]
) -> list[tuple[str, str]]:
    """The claims that their query shows to be wrong, each with its table; some are made."""
    claims = {(s.table, s.text): query for s in said if (query := claim(s)) is not None}
    assert claims
    return [text for text, query in claims.items() if not is_true(connection, query)]


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("Its 3 rows measure members at 2 values of day.", True),
        ("Its 3 rows measure members at 3 values of day.", False),
        ("id and day identify its rows: unique together and minimal.", True),
        ("day identifies its rows: unique and never null.", False),
        ("The event begins with day; closed comes later.", False),
        ("Every row has day, but not closed.", True),
    ],
)
def test_an_untrue_sentence_is_found(text: str, is_so: bool) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "create table level as select * from (values (1, date '2024-01-01', date '2023-01-01'),"
            " (2, date '2024-01-01', null), (1, date '2024-01-02', null)) t(id, day, closed)"
        )
        query = claim(Sentence(text, Entity(name="level", rows=3, attributes=()), "level", "", ()))
        assert query is not None
        assert is_true(connection, query) is is_so
