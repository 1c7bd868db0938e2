"""SQL dumps with rows, profiled and forged."""

import textwrap
from pathlib import Path

import duckdb

from fluid_build.forging import forge
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.text_values.conventions import NO_ANSWERS, Conventions
from tests.sources.dump_texts import MYSQL, NESTED, Write
from tests.sources.dump_texts import write as write


def test_a_forge_of_a_dump_copies_its_rows_for_dbt(write: Write, tmp_path: Path) -> None:
    """The model is proven on the dump's rows, and the project reads copies of them."""
    with open_source(write(MYSQL)) as source:
        forged = forge(source, out=tmp_path / "shop")
    assert forged.proof.verdict == "proven"
    assert (tmp_path / "shop/dbt/land/customer.parquet").is_file()


def test_the_copy_of_a_dump_keeps_the_microseconds_of_intervals(
    write: Write, tmp_path: Path
) -> None:
    """Parquet's own intervals have milliseconds, and none below zero."""
    dump = """
        CREATE TABLE public.trip (id integer NOT NULL, took interval);
        COPY public.trip (id, took) FROM stdin;
        1\t1 day 00:00:01.123456
        2\t-00:00:05
        \\.
        """
    with open_source(write(textwrap.dedent(dump))) as source:
        forge(source, out=tmp_path / "trips")
    copy = tmp_path / "trips/dbt/land/trip.parquet"
    rows = duckdb.sql(f"SELECT took::INTERVAL::VARCHAR FROM '{copy}' ORDER BY id").fetchall()
    assert rows == [("1 day 00:00:01.123456",), ("-00:00:05",)]


def test_an_answer_settles_how_text_in_a_dump_is_written(write: Write) -> None:
    path = write(NESTED)
    types = []
    for answers in (NO_ANSWERS, Conventions(".", "dmy")):
        with open_source(path, conventions=answers) as source:
            invoice = profile_source(source).table("invoice")
        types.append((invoice.column("paid").measured_type, invoice.column("due").measured_type))
    assert types == [(None, None), ("DOUBLE", "DATE (%d/%m/%Y)")]
