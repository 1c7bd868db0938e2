"""The whole profile: skipped tables, what it leaves out, progress and reproducibility."""

import gc
from pathlib import Path

import duckdb
import pytest

from fluid_build.profiling import profile_source
from fluid_build.profiling.measure.tables import measure_table
from fluid_build.profiling.profile import Profile
from fluid_build.profiling.references.candidates import UNCOMPARED_KEYS
from fluid_build.progress import Progress
from fluid_build.sources import open_source
from fluid_build.sources.base import Column, Skipped, Table
from tests.profiling.databases import database, profiled, profiled_again, references
from tests.profiling.domains import CLINIC, DOMAINS

PEOPLE = """
    CREATE TABLE people AS SELECT 1 + i AS person_id, 'person' || i || '@mail.example' AS email,
        ['Anna Schmidt', 'Maria Rossi', 'John Smith', 'Wei Chen'][1 + i % 4] AS full_name,
        DATE '1950-01-01' + i::INTEGER * 9 AS date_of_birth, 'active' AS state
        FROM range({rows}) t(i);
"""


@pytest.mark.parametrize("rows", [300, 70_000])
def test_no_personal_value_is_in_the_profile(rows: int) -> None:
    """Columns with personal data are marked, and the profile holds none of their values."""
    table = profiled(PEOPLE.format(rows=rows)).table("people")
    assert {c.name for c in table.columns if c.pii} == {"email", "full_name", "date_of_birth"}
    for column in table.columns:
        if column.pii:
            assert (column.min, column.max, column.top_values) == (None, None, ())
    shown = table.model_dump_json()
    assert not any(value in shown for value in ("@mail.example", "Anna", "Schmidt", "1950-01"))
    assert table.column("state").top_values[0].value == "active"


def test_a_table_that_cannot_be_read_is_skipped() -> None:
    """The bad table is listed with the reason; the others are profiled with their references."""
    with database(CLINIC.script) as source:
        broken = Table("visits", (Column("visit_id", "INTEGER"),), '"no such table"')
        source.tables = (broken, *source.tables)
        source.skipped = (Skipped("ledger", "It is encrypted."),)
        profile = profile_source(source)
    assert [(s.name, bool(s.reason)) for s in profile.skipped] == [
        ("ledger", True),
        ("visits", True),
    ]
    assert "visits" not in {table.name for table in profile.tables}
    assert references(profile) == CLINIC.meant


def test_a_value_that_cannot_be_read_skips_its_table() -> None:
    """A failure in the middle of a table is handled like one at its beginning."""
    with database("CREATE TABLE good AS SELECT i AS id FROM range(9) t(i)") as source:
        failing = "(SELECT if(i = 7, error('bad page'), i) AS id FROM range(9) t(i))"
        source.tables = (*source.tables, Table("bad", (Column("id", "BIGINT"),), failing))
        profile = profile_source(source)
    assert [s.name for s in profile.skipped] == ["bad"]
    assert "bad page" in profile.skipped[0].reason
    assert "\n" not in profile.skipped[0].reason


SHOP = """
    CREATE TABLE item AS SELECT 7 * i + 500 AS item_id, 'item ' || i AS label FROM range(900) t(i);
    CREATE TABLE stock AS SELECT 'S' || (i // 900) AS site, 7 * (i % 900) + 500 AS item_id,
        pick(i, 1, 40) AS pieces FROM range(9000) t(i);
    CREATE TABLE sale AS SELECT i AS sale_id, 7 * pick(i, 1, 900) + 500 AS item_id
        FROM range(40000) t(i);
"""


@pytest.mark.parametrize("stage", ["keys", "relations"])
@pytest.mark.parametrize("lost", ["item", "stock", "sale"])
def test_a_table_lost_while_it_is_profiled_is_skipped(stage: str, lost: str) -> None:
    """Wherever a query on it fails, the reason is listed and the other tables are profiled."""
    with database(SHOP) as source:

        def drop(progress: Progress) -> None:
            if progress.stage == stage:
                source.connection.execute(f"DROP TABLE IF EXISTS {lost}")

        profile = profile_source(source, on_progress=drop)
    assert [(s.name, lost in s.reason) for s in profile.skipped] == [(lost, True)]
    assert {table.name for table in profile.tables} == {"item", "stock", "sale"} - {lost}
    meant = {"stock(item_id) -> item(item_id)", "sale(item_id) -> item(item_id)"}
    assert references(profile) == {shown for shown in meant if lost not in shown}


@pytest.mark.parametrize("stage", ["columns", "keys", "relations"])
def test_a_file_damaged_while_it_is_profiled_is_skipped(tmp_path: Path, stage: str) -> None:
    """Rows broken in the middle of a file cost its table, in every step, and no other."""
    with duckdb.connect() as connection:
        for name, rows in (("good", 9_000), ("bad", 60_000)):
            connection.execute(
                f"COPY (SELECT 'S' || i // 300 AS site, i % 300 AS line, hash(i) AS amount"
                f" FROM range({rows}) t(i)) TO '{tmp_path}/{name}.parquet' (ROW_GROUP_SIZE 4096)"
            )
    path = tmp_path / "bad.parquet"

    def damage(progress: Progress) -> None:
        if progress.stage == stage:
            half = path.stat().st_size // 2
            with path.open("r+b") as file:
                file.seek(half)
                file.write(b"\0" * 20_000)

    with open_source(tmp_path) as source:
        profile = profile_source(source, on_progress=damage)
    assert [(s.name, bool(s.reason)) for s in profile.skipped] == [("bad", True)]
    assert profile.table("good").primary_key == ("site", "line")


@pytest.mark.parametrize("name", DOMAINS)
def test_the_same_data_gives_the_same_profile(name: str) -> None:
    """Two runs over the same data agree to the byte."""
    script = DOMAINS[name].script
    first, second = profiled_again(script), profiled_again(script)
    assert first.model_dump_json() == second.model_dump_json()


def test_large_tables_give_the_same_profile() -> None:
    """Samples and estimates don't differ between runs either."""
    script = (
        "CREATE TABLE big AS SELECT i AS id, pick(i, 1, 9000) AS a, 'x' || pick(i, 2, 70000) AS b,"
        " pick(i, 3, 40) AS c, i // 300 AS d, i % 300 AS e FROM range(75000) t(i)"
    )
    first, second = profiled_again(script), profiled_again(script)
    assert first.model_dump_json() == second.model_dump_json()


def test_small_row_groups_give_the_same_profile(tmp_path: Path) -> None:
    """Rows are taken in their order, whichever thread reads them first."""
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT (i * 7919) % 4000 AS id, hash(i) % 60 AS a, hash(i, 1) % 50 AS b,"
            " hash(i, 2) % 40 AS c, hash(i, 3) % 30 AS d, hash(i, 4) % 20 AS e FROM range(4000)"
            f" t(i)) TO '{tmp_path}/t.parquet' (ROW_GROUP_SIZE 100)"
        )
    codes = []
    for _ in range(8):
        with open_source(tmp_path) as source:
            stats = measure_table(source.connection, source.tables[0])
        codes.append([column.codes for column in stats.columns])
    assert all(other == codes[0] for other in codes)


def test_garbage_collection_is_as_before() -> None:
    """It's paused for a profile, and on again afterwards if it was on."""
    states = []
    with database(CLINIC.script) as source:
        profile_source(source, on_progress=lambda _: states.append(gc.isenabled()))
        assert gc.isenabled()
        gc.disable()
        try:
            profile_source(source)
            assert not gc.isenabled()
        finally:
            gc.enable()
    assert states
    assert not any(states)


def test_progress_is_reported_for_every_table() -> None:
    """Each stage counts up to its total, and columns and keys name the current table."""
    reports: list[Progress] = []
    with database(CLINIC.script) as source:
        profile_source(source, on_progress=reports.append)
        names = [table.name for table in source.tables]
    assert list(dict.fromkeys(report.stage for report in reports)) == [
        "columns",
        "keys",
        "relations",
    ]
    for stage in ("columns", "keys"):
        # A query that takes long is reported several times.
        steps = dict.fromkeys((r.done, r.detail) for r in reports if r.stage == stage)
        assert list(steps) == [*enumerate(names), (len(names), "")]
    for stage in ("columns", "keys", "relations"):
        last = [report for report in reports if report.stage == stage][-1]
        assert last.done == last.total


def test_profiling_can_be_interrupted() -> None:
    """An interrupt raised by a progress report ends the work at once."""

    def interrupt(progress: Progress) -> None:
        if progress.stage == "keys":
            raise KeyboardInterrupt

    with database(CLINIC.script) as source, pytest.raises(KeyboardInterrupt):
        profile_source(source, on_progress=interrupt)


def test_the_source_is_left_as_it_was() -> None:
    """Nothing is written, and no temporary table is left."""
    with database(CLINIC.script) as source:
        before = source.connection.execute("SHOW ALL TABLES").fetchall()
        profile_source(source)
        assert source.connection.execute("SHOW ALL TABLES").fetchall() == before


def test_a_source_without_tables_has_an_empty_profile() -> None:
    """A source without tables is profiled all the same."""
    profile = profiled("SELECT 1")
    assert (profile.tables, profile.foreign_keys, profile.skipped) == ((), (), ())


def test_numbered_names_are_profiled() -> None:
    """Tables called t1 and columns called col_2 break nothing next to real names."""
    profile = profiled(
        "CREATE TABLE t1 AS SELECT 1 + i AS id, 'c' || i AS col_2 FROM range(90) t(i);"
        "CREATE TABLE t2 AS SELECT 1 + i AS customer_id, 1 + pick(i, 1, 90) AS order_id,"
        " 1 + pick(i, 2, 90) AS t1_id FROM range(300) t(i)"
    )
    assert len(profile.tables) == 2


def test_every_type_at_once_is_profiled() -> None:
    """None of DuckDB's types makes a table unreadable."""
    profile = profiled(
        """
        CREATE TABLE t AS SELECT i AS id, i::HUGEINT AS a, i::UHUGEINT AS b, i::DECIMAL(38, 9) AS c,
            'nan'::DOUBLE AS d, if(i = 3, 'inf'::FLOAT, i) AS e, i::VARCHAR::BLOB AS f,
            i::INTEGER::BIT AS g, md5(i::VARCHAR)::UUID AS h, [i] AS j, {'a': i} AS k,
            MAP {'a': i} AS l, '{}'::JSON AS m, INTERVAL (i) DAY AS n, TIME '10:00' AS o,
            '10:00:00+02'::TIMETZ AS p, TIMESTAMPTZ '2024-01-01 00:00:00+00' AS q,
            'a'::ENUM('a', 'b') AS r, NULL AS s, array_value(i, i) AS t, union_value(n := i) AS u,
            TIMESTAMP_NS '2024-01-01 00:00:00.123456789' AS v, DATE 'infinity' AS w,
            i::VARCHAR::BIGNUM AS x, i % 2 = 0 AS y, DATE '12024-01-01' + i::INTEGER AS z
            FROM range(9000) t(i)
        """
    )
    assert profile.skipped == ()
    assert profile.table("t").primary_key == ("id",)


def profile_of(path: Path) -> Profile:
    with open_source(f"duckdb:///{path}") as source:
        return profile_source(source)


def test_the_queries_run_on_several_schemas(tmp_path: Path) -> None:
    """Keys between schemas are found, and the queries in their evidence run at the source."""
    path = tmp_path / "several.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE SCHEMA crm; CREATE SCHEMA sales")
        connection.execute(
            "CREATE TABLE crm.customer AS SELECT 500 + i * 3 AS customer_id, 'c' || i AS name"
            " FROM range(200) t(i); CREATE TABLE sales.invoice AS SELECT 1 + i AS invoice_id,"
            " if(i % 100 = 0, 1, 500 + (hash(i) % 200)::INTEGER * 3) AS customer_id"
            " FROM range(900) t(i)"
        )
    profile = profile_of(path)
    (key,) = profile.foreign_keys
    assert references(profile) == {"sales.invoice(customer_id) -> crm.customer(customer_id)"}
    with duckdb.connect(str(path), read_only=True) as connection:
        assert len(connection.execute(key.evidence.sql).fetchall()) == key.evidence.orphans == 9
        for table in profile.tables:
            assert table.primary_key_evidence is not None
            assert connection.execute(table.primary_key_evidence.sql).fetchall() == []


def test_a_measured_reference_makes_the_childs_distinct_count_exact() -> None:
    """The exact count of a reference replaces the estimate of the first pass."""
    profile = profiled(
        "CREATE TABLE city AS SELECT 3 * i + 7 AS city_id, 'town ' || i AS name"
        " FROM range(900) t(i);"
        "CREATE TABLE visit AS SELECT 1 + i AS visit_id, 3 * pick(i, 1, 900) + 7 AS city_id"
        " FROM range(20000) t(i)"
    )
    column = profile.table("visit").column("city_id")
    assert (column.distinct_exact, column.distinct) == (True, 900)


def test_orphans_in_another_spelling_of_unicode_are_explained(tmp_path: Path) -> None:
    """The two look alike, so that nobody sees why they don't match."""
    with duckdb.connect(str(tmp_path / "c.duckdb")) as connection:
        connection.execute("CREATE TABLE cafe (name VARCHAR PRIMARY KEY)")
        connection.execute("INSERT INTO cafe SELECT 'Caf\u00e9 ' || i FROM range(20) t(i)")
        connection.execute(
            "CREATE TABLE visit AS SELECT i AS id, CASE WHEN i = 7 THEN 'Cafe\u0301 7'"
            " WHEN i = 8 THEN 'nowhere' ELSE 'Caf\u00e9 ' || i % 20 END AS cafe_name"
            " FROM range(200) t(i)"
        )
    with open_source(tmp_path / "c.duckdb") as source:
        profile = profile_source(source)
    (reference,) = profile.foreign_keys
    assert reference.evidence.orphans == 2
    (note,) = profile.table("visit").column("cafe_name").notes
    assert note.startswith("1 value without a match in cafe would have one")


def test_keys_that_are_too_many_of_a_kind_are_said(tmp_path: Path) -> None:
    def notes(copies: int) -> tuple[str, ...]:
        place = tmp_path / f"{copies}.duckdb"
        with duckdb.connect(str(place)) as connection:
            for i in range(copies):
                connection.execute(
                    f"CREATE TABLE copy_{i} AS SELECT 'k' || i AS k FROM range(9) t(i)"
                )
            connection.execute("CREATE TABLE other AS SELECT 'k' || i % 9 AS x FROM range(90) t(i)")
        with open_source(place) as source:
            return profile_source(source).notes

    assert notes(8) == ()
    assert notes(9) == (UNCOMPARED_KEYS,)
