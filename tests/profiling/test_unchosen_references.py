"""References that aren't believed are listed as candidates, each with the reason."""

from fluid_build.profiling.profile import Candidate, Profile
from tests.profiling.databases import profiled, references

COLOURS = "CREATE TABLE colour AS SELECT 1 + i AS colour_id FROM range(60) t(i);"
COUNTRIES = """
    CREATE TABLE country AS SELECT 1 + i AS country_id, 'c' || i AS name FROM range(60) t(i);
"""


def test_a_column_without_a_reference_is_a_question() -> None:
    """Of two keys that it could mean, one is listed with its figures and its probability."""
    profile = profiled(
        COUNTRIES
        + COLOURS
        + """
        CREATE TABLE visit AS SELECT 1000 + 7 * i AS visit_id, 1 + pick(i, 1, 60) AS origin_id
            FROM range(500) t(i);
        """
    )
    assert references(profile) == set()
    candidate = _candidate(profile, "visit", "origin_id")
    assert candidate.to_table in {"colour", "country"}
    assert not candidate.ruled_out
    assert 0.0 < candidate.confidence < 0.8
    assert (candidate.evidence.rows, candidate.evidence.orphans) == (500, 0)
    assert candidate.reason == "the evidence isn't strong enough"


def test_a_rival_names_the_reference_that_was_chosen() -> None:
    """A copy of the parent table is the second best parent."""
    profile = profiled(
        COUNTRIES
        + """
        CREATE TABLE country_backup AS FROM country WHERE country_id < 58;
        CREATE TABLE visit AS SELECT 1000 + 7 * i AS visit_id, 1 + pick(i, 1, 60) AS country_id
            FROM range(500) t(i);
        """
    )
    assert "visit(country_id) -> country(country_id)" in references(profile)
    candidate = _candidate(profile, "visit", "country_id")
    assert (candidate.to_table, candidate.ruled_out) == ("country_backup", True)
    assert candidate.reason == "country (country_id) is more credible"


def test_a_chosen_reference_is_no_candidate() -> None:
    """What is believed isn't asked about."""
    profile = profiled(
        COUNTRIES
        + """
        CREATE TABLE city AS SELECT 1 + i AS city_id, 1 + pick(i, 1, 60) AS country_id
            FROM range(500) t(i);
        """
    )
    believed = {(k.from_table, k.from_columns, k.to_table) for k in profile.foreign_keys}
    assert believed
    assert not believed & {(c.from_table, c.from_columns, c.to_table) for c in profile.candidates}


def test_candidates_come_in_the_order_of_their_probability() -> None:
    """What is most likely to be meant is first."""
    profile = profiled(
        COUNTRIES
        + """
        CREATE TABLE visit AS SELECT 1000 + 7 * i AS visit_id, 1 + pick(i, 1, 60) AS origin,
            1 + pick(i, 2, 12) AS kind, 1 + pick(i, 3, 60) AS cntry_of_birth FROM range(500) t(i);
        """
    )
    shares = [candidate.confidence for candidate in profile.candidates]
    assert shares == sorted(shares, reverse=True)


def _candidate(profile: Profile, table: str, *columns: str) -> Candidate:
    (candidate,) = (
        candidate
        for candidate in profile.candidates
        if (candidate.from_table, candidate.from_columns) == (table, columns)
    )
    return candidate
