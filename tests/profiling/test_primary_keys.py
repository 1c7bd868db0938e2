"""The primary key is the candidate that people would choose, with the reason."""

import pytest

from fluid_build.profiling.profile import TableProfile
from tests.profiling.databases import profiled, references
from tests.profiling.domains import DOMAINS

KEYS = {
    "clinic": {"doctors": ("doctor_id",), "drugs": ("drug_code",), "wards": ("ward_id",)},
    "library": {"book": ("id",), "member": ("id",), "book_author": ("book_id", "author_id")},
    "airline": {
        "Airport": ("AirportCode",),
        "Aircraft": ("Registration",),
        "Flight": ("FlightID",),
    },
    "school": {"courses": ("id",), "enrollments": ("student_id", "course_id")},
    "logistics": {"shipment_line": ("shipment_id", "line_no"), "product": ("product_code",)},
}


@pytest.mark.parametrize("name", DOMAINS)
def test_the_key_that_people_would_choose_is_chosen(name: str) -> None:
    """Names, types and references distinguish the primary key from other unique columns."""
    profile = profiled(DOMAINS[name].script)
    assert {table: profile.table(table).primary_key for table in KEYS[name]} == KEYS[name]


@pytest.mark.parametrize("name", DOMAINS)
def test_a_primary_key_is_a_candidate_that_holds(name: str) -> None:
    """The chosen key is unique and never null, and its figures say so."""
    for table in profiled(DOMAINS[name].script).tables:
        evidence = table.primary_key_evidence
        assert table.primary_key in table.candidate_keys
        assert table.primary_key_origin == "measured"
        assert table.primary_key_reason
        assert evidence is not None
        assert (evidence.violations, evidence.nulls) == (0, 0)
        assert evidence.rows == evidence.distinct == table.rows


def key_of(columns: str, rows: int = 300) -> tuple[str, ...] | None:
    return (
        profiled(f"CREATE TABLE visit AS SELECT {columns} FROM range({rows}) t(i)")
        .tables[0]
        .primary_key
    )


def test_an_id_wins_over_other_unique_columns() -> None:
    """An id is the key even as the last column, and if an e-mail address is unique as well."""
    columns = "'m' || i || '@example.org' AS email, 'row ' || i AS title, 5 + i * 3 AS visit_id"
    assert key_of(columns) == ("visit_id",)


def test_a_unique_measure_is_not_a_primary_key() -> None:
    """Prices that don't repeat are an accident."""
    assert key_of("i * 1.5 AS price, i % 7 AS rating") is None


def test_a_line_number_completes_a_key() -> None:
    """Among several pairs that identify a row, the one with the line number is the key."""
    columns = (
        "1 + i // 3 AS receipt_id, 1 + i % 3 AS line_no, 1 + (i * 7) % 150 AS article_id,"
        " (i * 7 % 11)::DECIMAL(9, 2) AS amount"
    )
    assert key_of(columns) == ("receipt_id", "line_no")


def test_a_table_of_repeated_rows_has_no_key() -> None:
    """If whole rows repeat, no key is claimed, and the reason says so."""
    table = profiled(
        "CREATE TABLE log AS SELECT i % 5 AS a, i % 3 AS b FROM range(90) t(i)"
    ).tables[0]
    assert (table.primary_key, table.candidate_keys, table.primary_key_evidence) == (None, (), None)
    assert table.primary_key_reason


def test_an_empty_table_has_no_key() -> None:
    """Nothing was measured, so nothing is claimed."""
    table = profiled("CREATE TABLE log (log_id INTEGER, b INTEGER)").tables[0]
    assert (table.primary_key, table.candidate_keys) == (None, ())


def test_an_identifier_is_preferred_to_a_unique_amount() -> None:
    """A salary, price or measurement may be unique by chance."""
    profile = profiled(
        "CREATE TABLE staff AS SELECT 30000 + i * 137 AS salary, 'P-' || (i * 7919 % 1000) AS badge"
        " FROM range(40) AS t(i);"
        "CREATE TABLE readings AS SELECT 1.5 + i * 0.731::DOUBLE AS level,"
        " 'S' || (i * 37 % 91) || 'x' AS sensor FROM range(40) AS t(i)"
    )
    assert profile.table("staff").primary_key == ("badge",)
    assert profile.table("readings").primary_key == ("sensor",)


@pytest.mark.parametrize("amount", ["30000 + i * 137", "1.5 + i * 0.731::DOUBLE"])
def test_a_unique_amount_alone_is_not_a_key(amount: str) -> None:
    """A table whose only unique column is an amount has no key."""
    script = f"CREATE TABLE pay AS SELECT i % 4 AS band, {amount} AS salary FROM range(40) AS t(i)"
    table = profiled(script).table("pay")
    assert ("salary",) in table.candidate_keys
    assert table.primary_key is None


_STAFF = """
    CREATE TABLE staff AS SELECT 100 + i AS staff_id, 'n' || i AS name FROM range(40) t(i);
    CREATE TABLE job AS SELECT 'J' || i AS job_id, 't' || i AS title FROM range(9) t(i);
"""


def history_key(columns: str, rows: int) -> tuple[str, ...] | None:
    """Return the key of a table of staff and jobs, in a database where both are tables."""
    return history(columns, rows).primary_key


def history_reason(columns: str, rows: int) -> str:
    """Return why that key was chosen."""
    return history(columns, rows).primary_key_reason


def history(columns: str, rows: int) -> TableProfile:
    script = f"{_STAFF} CREATE TABLE job_history AS SELECT {columns} FROM range({rows}) t(i)"
    return profiled(script).table("job_history")


_FEW_JOBS = "100 + i % 8 AS staff_id, 'J' || (i % 9) AS job_id"
_DATED = "DATE '2001-01-01' + CAST(i // 3 * 40 AS INTEGER) AS start_date"


def test_a_date_is_preferred_to_a_reference_that_only_just_completes_a_key() -> None:
    """In a few rows, nobody being in the same job twice says little; a date says more."""
    assert history_key(f"{_FEW_JOBS}, {_DATED}", 12) == ("staff_id", "start_date")
    assert "staff_id, job_id are unique too, but there are too few rows" in history_reason(
        f"{_FEW_JOBS}, {_DATED}", 12
    )


def test_a_well_tested_key_is_preferred_to_a_date() -> None:
    """In many rows, some would repeat by chance, so a key without repeats holds for a reason."""
    columns = (
        "100 + i % 40 AS staff_id, 'J' || ((i // 40 + i) % 9) AS job_id,"
        " DATE '2001-01-01' + CAST(i * 7 AS INTEGER) % 4000 AS start_date"
    )
    assert history_key(columns, 320) == ("staff_id", "job_id")


def test_the_moment_of_writing_is_no_reason_to_doubt_a_key() -> None:
    """The time at which a row was written doesn't say what it is about."""
    written = "DATE '2001-01-01' + CAST(i * 40 AS INTEGER) AS created_on"
    assert history_key(f"{_FEW_JOBS}, {written}", 12) == ("staff_id", "job_id")


@pytest.mark.parametrize("balance", ["i * 137", "i * 13.7"])
def test_an_amount_is_not_part_of_a_key(balance: str) -> None:
    """Two rows of one person differ in their balance by accident."""
    columns = f"100 + i // 2 AS staff_id, {balance} % 90 AS balance"
    assert history_key(columns, 60) is None
    dated = f"{columns}, DATE '2001-01-01' + CAST(i % 2 AS INTEGER) AS day"
    assert history_key(dated, 60) == ("staff_id", "day")


_LANGUAGES = (
    "CREATE TABLE language AS SELECT 1 + i AS language_id, 'l' || i AS name FROM range(3) t(i);"
)
_COLOURS = "CREATE TABLE colour AS SELECT 1 + i AS colour_id, 'c' || i AS code FROM range(20) t(i);"
_TRANSLATIONS = "1 + i % 20 AS colour_id, 1 + i // 20 AS language_id, 'n' || i AS name"


def test_a_unique_name_gives_way_to_the_references_before_it() -> None:
    """In a table of translations, no name repeats by chance."""
    script = (
        f"{_LANGUAGES} {_COLOURS} CREATE TABLE text AS SELECT {_TRANSLATIONS} FROM range(60) t(i)"
    )
    assert profiled(script).table("text").primary_key == ("colour_id", "language_id")


def test_the_key_of_people_is_preferred_to_a_uuid_after_it() -> None:
    """Systems exchange UUIDs, also of rows that have a name of their own."""
    columns = "'V' || i AS visit, i % 3 AS state, md5('a' || i)::UUID AS uuid"
    assert key_of(columns, 30) == ("visit",)


def test_the_leading_columns_are_preferred_as_a_key() -> None:
    """Of several sets of columns that are unique, the first ones are the key."""
    columns = (
        "'D' || i // 20 AS domain, 'V' || i % 20 AS fixed, 'x' || i % 7 AS note_a,"
        " 'D' || i // 20 || 'z' AS domain_text, 'V' || i % 20 || 'z' AS fixed_text"
    )
    assert key_of(columns, 100) == ("domain", "fixed")


def test_a_column_that_counts_the_rows_of_the_others_completes_a_key() -> None:
    """Whatever it is called, a line number starts at one for each parent."""
    columns = "100 + i // 3 AS receipt_id, 7 + i * 7 % 150 AS article, 1 + i % 3 AS poz"
    assert key_of(columns) == ("receipt_id", "poz")


def test_the_first_column_of_a_few_rows_is_their_key() -> None:
    """Where nearly every column is unique, its place says most."""
    columns = "'t' || i AS table_name, 5 + i * 7 AS recs"
    assert key_of(columns, 6) == ("table_name",)


def test_a_counter_in_the_first_column_is_preferred_to_a_code() -> None:
    """A surrogate key comes first, even if its table's name is abbreviated in another way."""
    assert key_of("1 + i AS mct_id, 'C' || (i * 7919 % 1000) AS code", 85) == ("mct_id",)


def test_a_bridge_between_what_its_table_is_named_for_needs_no_date() -> None:
    """Even in a few rows, a pair is what a table of pairs is about."""
    script = f"{_STAFF} CREATE TABLE staff_job AS SELECT {_FEW_JOBS}, {_DATED} FROM range(12) t(i)"
    assert profiled(script).table("staff_job").primary_key == ("staff_id", "job_id")


def test_a_uuid_gives_way_to_the_references_before_it() -> None:
    """The pair identifies a row of a bridge; the UUID only serves to exchange it."""
    columns = "1 + i % 20 AS colour_id, 1 + i // 20 AS language_id, md5('a' || i)::UUID AS uuid"
    script = f"{_LANGUAGES} {_COLOURS} CREATE TABLE shade AS SELECT {columns} FROM range(60) t(i)"
    assert profiled(script).table("shade").primary_key == ("colour_id", "language_id")


def test_a_description_is_no_part_of_an_only_candidate() -> None:
    """That no two rows are described in the same words doesn't identify them."""
    columns = "i // 10 AS day, 'd' || i % 10 AS description"
    assert key_of(columns, 90) is None


def test_a_code_after_an_id_that_repeats_gives_way_to_the_columns_before_it() -> None:
    """Where each tenant has its own ids, the tenant and the id are the key."""
    tenants = "CREATE TABLE tenant AS SELECT 'T' || i AS tenant_id FROM range(3) t(i);"
    columns = (
        "'T' || i % 3 AS tenant_id, 1 + i // 3 AS id, 'x' || i % 7 AS status,"
        " 'C' || (i * 7919 % 1000) AS code"
    )
    script = f"{tenants} CREATE TABLE material AS SELECT {columns} FROM range(90) t(i)"
    assert profiled(script).table("material").primary_key == ("tenant_id", "id")


def test_of_the_ends_of_a_period_the_start_is_in_the_key() -> None:
    """Whatever still holds ends in 9999, so only the start distinguishes the rows for good.

    It does so too where a calendar has all starts, which makes them references.
    """
    table = profiled(
        """
        CREATE TABLE calendar AS SELECT DATE '2019-01-01' + CAST(i AS INTEGER) AS calendar_date,
            i % 7 AS weekday FROM range(1500) t(i);
        CREATE TABLE staff AS SELECT 100 + i AS staff_id, 'n' || i AS name FROM range(900) t(i);
        CREATE TABLE address AS SELECT 100 + i % 900 AS staff_id,
            DATE '2019-01-01' + CAST(i // 2 * 2 AS INTEGER) AS valid_from,
            CASE WHEN i >= 500 THEN DATE '9999-12-31' ELSE
                DATE '2020-01-01' + CAST(i // 2 * 2 AS INTEGER) END AS valid_to, 'x' AS street
            FROM range(1400) t(i);
        """
    ).table("address")
    assert table.primary_key == ("staff_id", "valid_from")


@pytest.mark.parametrize("tables", [4, 5, 9])
def test_the_habit_of_a_system_outweighs_a_name(tables: int) -> None:
    """Where five tables start with a unique ``obj_id``, it's the key of each of them."""
    profile = profiled(
        "".join(
            f"CREATE TABLE zone_{n} AS SELECT 'ch' || (1000 + 7 * i) AS obj_id,"
            f" 'z' || i AS identifier FROM range(30) t(i);"
            for n in range(tables)
        )
    )
    keys = {table.primary_key for table in profile.tables}
    assert (keys == {("obj_id",)}) == (tables >= 5)


def test_a_foreign_key_by_name_is_no_primary_key() -> None:
    """While each cover belongs to another structure, it's the code that tells covers apart."""
    profile = profiled(
        "CREATE TABLE cover AS SELECT 500 + 3 * i AS fk_structure, 'c' || i AS code"
        " FROM range(40) t(i)"
    )
    assert profile.table("cover").primary_key == ("code",)


def test_the_column_that_others_repeat_is_the_key_in_any_language() -> None:
    """Nobody knows the words of this code table; the other table repeats one."""
    profile = profiled(
        """
        CREATE TABLE zeg AS SELECT 'Blib ' || i AS blib, 'q' || (37 * i % 91) AS mord
            FROM range(40) t(i);
        CREATE TABLE plunk AS SELECT 1 + i AS plunk_id, 'q' || (37 * pick(i, 1, 40) % 91) AS mord
            FROM range(400) t(i);
        """
    )
    assert profile.table("zeg").primary_key == ("mord",)
    assert "plunk(mord) -> zeg(mord)" in references(profile)
