"""The rows of Glue's tables, profiled with what the catalog says of them."""

from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from tests.sources.catalogs.measured_glue import aws as aws
from tests.sources.catalogs.measured_glue import server as server


def test_rows_in_s3_are_measured_with_their_partitions() -> None:
    with open_source("glue:///measured?login=aws") as source:
        assert source.has_data is True
        assert "2 tables are measured on the rows in S3." in source.notes
        orders = source.tables[1]
        rows = source.relation(orders).order("order_id").fetchall()
        assert [(str(row[0]), str(row[3])) for row in rows] == [
            ("101", "2024-01-01"),
            ("102", "2024-01-02"),
            ("500", "None"),
        ]
        profile = profile_source(source)
    assert profile.table("customers").rows == 3
    assert profile.table("customers").primary_key == ("customer_id",)
    assert profile.catalog is not None
    assert profile.catalog.declared_domain == "Sales"


def test_values_of_a_column_that_is_tagged_as_personal_are_not_kept() -> None:
    with open_source("glue:///measured?login=aws") as source:
        mailbox = profile_source(source).table("customers").column("mailbox")
    assert (mailbox.pii, mailbox.top_values, mailbox.min) == (True, (), None)
