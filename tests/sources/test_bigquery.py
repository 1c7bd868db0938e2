"""BigQuery, against a server that speaks its REST API."""

from datetime import date, datetime
from decimal import Decimal

import pytest

from fluid_build.errors import ScanTooLargeError, SourceError, SourceNotFoundError
from fluid_build.sources import open_source
from fluid_build.sources.base import DeclaredForeignKey, SampledRows
from fluid_build.sources.scan_estimate import ScanEstimate
from fluid_build.sources.servers.bigquery.connection import bigquery_place
from fluid_build.sources.servers.bigquery.database import limited
from fluid_build.sources.servers.staging import ServerTable
from tests.bigquery import BigQueryProject
from tests.sources.bigquery_shop import project as project


def test_what_tables_declare_is_taken_over(project: BigQueryProject) -> None:
    """Keys, comments, types in the source's words and NOT NULL come from the API for tables."""
    with open_source(project.uri) as source:
        customers = next(table for table in source.tables if table.name == "customers")
        orders = next(table for table in source.tables if table.name == "orders")
    assert (customers.comment, customers.primary_key) == ("Who buys", ("id",))
    assert orders.foreign_keys == (DeclaredForeignKey(("customer_id",), "customers", ("id",)),)
    assert (customers.column("id").comment, customers.column("id").nullable) == ("Who it is", False)
    assert customers.column("limit").declared_type == "BIGNUMERIC(20, 4)"


def test_every_value_is_read_exactly(project: BigQueryProject) -> None:
    """Numbers keep their digits, and moments their zone."""
    with open_source(project.uri) as source:
        customers = next(table for table in source.tables if table.name == "customers")
        types = {column.name: column.type for column in customers.columns}
        rows = source.connection.execute(f"FROM {customers.relation} ORDER BY id").fetchall()
    assert types == {
        "id": "BIGINT", "name": "VARCHAR", "balance": "DECIMAL(38,9)", "limit": "DECIMAL(20,4)",
        "seen": "TIMESTAMP WITH TIME ZONE", "noted": "TIMESTAMP", "born": "DATE", "photo": "BLOB",
    }  # fmt: skip
    assert rows[0][:4] == (1, "Zoë", Decimal("19.990000001"), Decimal("12345.6789"))
    assert rows[0][5:] == (datetime(2024, 1, 1, 10), date(1990, 5, 17), b"\x00\xff")
    assert rows[1] == (2, *[None] * 7)


def test_a_repeated_record_arrives_as_a_list(project: BigQueryProject) -> None:
    """Structs and arrays of plain types are nested columns."""
    with open_source(project.uri, nested="keep") as source:
        orders = next(table for table in source.tables if table.name == "orders")
        rows = source.connection.execute(f"SELECT lines FROM {orders.relation} ORDER BY id")
        assert rows.fetchall() == [([{"sku": "a", "quantity": 2}],), ([],)]


def test_what_will_be_scanned_is_said_before_a_row_is_read(project: BigQueryProject) -> None:
    """A dry run of each query says it, and what it costs on demand."""
    heard: list[ScanEstimate] = []
    queries: list[int] = []

    def on_scan(estimate: ScanEstimate) -> None:
        heard.append(estimate)
        queries.append(len(project.queries))

    with open_source(project.uri, on_scan=on_scan):
        pass
    assert queries == [0]
    assert heard[0].bytes == 2 * project.scanned
    assert "24.7 MB" in heard[0].sentence
    assert "cloud.google.com/bigquery/pricing" in heard[0].sentence


def test_more_than_is_scanned_unasked_is_refused(project: BigQueryProject) -> None:
    """Neither a terminal nor a script waits for an answer: an option is needed."""
    project.scanned = 8 * 1000**3
    with pytest.raises(ScanTooLargeError) as refused:
        open_source(project.uri)
    assert refused.value.hint is not None
    assert "--sample" in refused.value.hint
    assert project.queries == []
    with open_source(project.uri, full=True) as source:
        assert {"customers", "orders"} <= {table.name for table in source.tables}


def test_a_table_without_rights_is_skipped_with_the_reason(project: BigQueryProject) -> None:
    """The others are read."""
    project.forbidden.add("customers")
    with open_source(project.uri) as source:
        assert "customers" not in [table.name for table in source.tables]
        assert source.skipped[0].name == "customers"
        assert "Access Denied" in source.skipped[0].reason


def test_an_unknown_dataset_is_named(project: BigQueryProject) -> None:
    """The error says what isn't there."""
    with pytest.raises(SourceNotFoundError, match="nowhere"):
        open_source(f"bigquery://{project.name}/nowhere")


def test_a_sample_is_bounded_in_bytes_where_the_table_has_blocks() -> None:
    """LIMIT alone would scan all of it."""
    table = ServerTable("shop", "events", 10**12, True, None, (), rows=10**9)
    limit = limited(table, 100_000)
    assert limit.after_table == "TABLESAMPLE SYSTEM (0.107 PERCENT)"
    assert limit.at_end == "LIMIT 100000"


def test_a_small_table_is_sampled_by_a_hash_of_its_rows(project: BigQueryProject) -> None:
    """It's scanned as a whole anyway, and the sample is the same each time."""
    with open_source(project.uri, sample=1) as source:
        customers = next(table for table in source.tables if table.name == "customers")
    assert customers.sampled == SampledRows(1, 2)
    assert "FARM_FINGERPRINT" in project.queries[0]


@pytest.mark.parametrize(
    ("uri", "parts"),
    [
        ("bigquery://acme/shop", ("acme", "shop", "", "")),
        ("bigquery://acme/shop?location=EU&billing_project=pays", ("acme", "shop", "EU", "pays")),
        ("bigquery://acme", ("acme", "", "", "")),
    ],
)
def test_a_uri_names_project_dataset_and_who_pays(uri: str, parts: tuple[str, ...]) -> None:
    """As SQLAlchemy's dialect writes it."""
    place = bigquery_place(uri)
    assert (place.project, place.dataset, place.location, place.billing_project) == parts


def test_a_parameter_that_bigquery_lacks_is_refused() -> None:
    """A misspelled one isn't ignored."""
    with pytest.raises(SourceError, match="loaction"):
        bigquery_place("bigquery://acme/shop?loaction=EU")
