"""A part of each table is read where that's asked for, and is marked as a part."""

from typing import Literal

import pytest

from fluid_build.decisions.language import AddRelationship
from fluid_build.decisions.weighing.claims import open_claims
from fluid_build.decisions.weighing.references import weigh_reference
from fluid_build.profiling.profile import ForeignKey, Profile
from fluid_build.profiling.profiler import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.base import SampledRows
from tests.postgres import PostgresDatabase

_SHOP = """
    CREATE TABLE customers (id int PRIMARY KEY, email text NOT NULL);
    INSERT INTO customers SELECT i * 7, 'c' || i || '@example.org' FROM generate_series(1, 5000) i;
    CREATE TABLE orders (id int PRIMARY KEY, customer_id int, status text);
    INSERT INTO orders SELECT i, ((i * 31) % 5000 + 1) * 7,
        CASE i % 3 WHEN 0 THEN 'new' ELSE 'paid' END
      FROM generate_series(1, 20000) i;
    CREATE TABLE countries (code text PRIMARY KEY);
    INSERT INTO countries VALUES ('de'), ('fr');
    ANALYZE;
"""


def _profile(uri: str, rows: int) -> Profile:
    with open_source(uri, sample=rows) as source:
        return profile_source(source)


def _reference(profile: Profile, column: str) -> ForeignKey:
    return next(key for key in profile.foreign_keys if key.from_columns == (column,))


@pytest.fixture
def shop(postgres: PostgresDatabase) -> PostgresDatabase:
    postgres.run(_SHOP)
    return postgres


def test_at_most_so_many_rows_are_read_and_the_table_says_of_how_many(
    shop: PostgresDatabase,
) -> None:
    """A large table is sampled, a small one is read whole."""
    with open_source(shop.uri, sample=1000) as source:
        sampled = {table.name: table.sampled for table in source.tables}
    assert sampled == {
        "countries": None,
        "customers": SampledRows(1000, 5000, is_estimate=True),
        "orders": SampledRows(1000, 20000, is_estimate=True),
    }


def test_a_sample_is_the_same_each_time(shop: PostgresDatabase) -> None:
    """Forging again from the same data gives the same files."""
    profiles = [_profile(shop.uri, 1000) for _ in range(2)]
    assert profiles[0] == profiles[1]


def test_a_key_of_a_sample_says_that_it_is_one(shop: PostgresDatabase) -> None:
    """Its evidence isn't exact, and has the rows that were read and those there are."""
    table = _profile(shop.uri, 1000).table("customers")
    assert table.primary_key == ("id",)
    evidence = table.primary_key_evidence
    assert evidence is not None
    assert (evidence.exact, evidence.sample, evidence.sample_of) == (False, 1000, 5000)
    assert any("1,000 rows of about 5,000" in note for note in table.notes)


def test_a_sampled_parent_is_asked_for_all_of_its_keys(shop: PostgresDatabase) -> None:
    """A value that isn't in the sample of the parent is no orphan if the server has it."""
    reference = _reference(_profile(shop.uri, 1000), "customer_id")
    evidence = reference.evidence
    assert (reference.to_table, evidence.orphans, evidence.is_measured) == ("customers", 0, True)
    assert not evidence.exact
    assert 0 < evidence.rows <= 1000


def test_an_orphan_that_the_server_confirms_is_counted(shop: PostgresDatabase) -> None:
    """A declared reference that isn't enforced is checked against the whole parent."""
    shop.run("UPDATE orders SET customer_id = 1 WHERE id % 2 = 0")
    shop.run("ALTER TABLE orders ADD FOREIGN KEY (customer_id) REFERENCES customers NOT VALID")
    reference = _reference(_profile(shop.uri, 1000), "customer_id")
    assert reference.evidence.orphans > 100
    assert "rows of a sample violate it" in reference.evidence.reason


def test_only_values_that_every_server_reads_alike_are_looked_up(
    postgres: PostgresDatabase,
) -> None:
    """Quotes, backslashes and other scripts are left out, and aren't taken for orphans."""
    postgres.run(r"""
        CREATE TABLE places (code text PRIMARY KEY);
        INSERT INTO places SELECT 'p' || i FROM generate_series(1, 3000) i;
        INSERT INTO places VALUES ('it''s'), ('a\b'), ('Zürich'), ('"q"');
        CREATE TABLE trips (id int PRIMARY KEY, place_code text REFERENCES places (code));
        INSERT INTO trips SELECT i, 'p' || (i % 3000 + 1) FROM generate_series(1, 100) i;
        INSERT INTO trips VALUES (101, 'it''s'), (102, 'a\b'), (103, 'Zürich'), (104, '"q"');
        ANALYZE""")
    evidence = _reference(_profile(postgres.uri, 500), "place_code").evidence
    assert (evidence.rows, evidence.orphans, evidence.nulls) == (100, 0, 0)
    assert evidence.reason == ("declared by the source, and held in 100 rows that were looked up")


def test_a_table_that_has_fewer_rows_is_read_as_ever(shop: PostgresDatabase) -> None:
    """A sample larger than every table changes nothing."""
    assert _profile(shop.uri, 100_000) == _profile_whole(shop.uri)


def _profile_whole(uri: str) -> Profile:
    with open_source(uri) as source:
        return profile_source(source)


@pytest.mark.parametrize(("by", "status"), [("person", "accepted"), ("model", "refused")])
def test_a_reference_to_a_sampled_table_is_decided_by_a_person_only(
    shop: PostgresDatabase, by: Literal["person", "model"], status: str
) -> None:
    """The sample of the parent neither confirms nor refutes it."""
    decision = AddRelationship(
        from_table="orders",
        from_columns=("id",),
        to_table="customers",
        to_columns=("id",),
        by=by,
    )
    with open_source(shop.uri, sample=1000) as source:
        claims = open_claims(source, profile_source(source))
        verdict = weigh_reference(claims, decision)
    assert verdict.status == status
    assert "a sample of 1,000 of about 5,000 rows" in verdict.message
