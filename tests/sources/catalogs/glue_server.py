"""A Glue catalog with tags of Lake Formation, on a stand-in server for AWS."""

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import boto3
import duckdb
from moto.server import ThreadedMotoServer

REGION = "eu-west-1"
BUCKET = "catalog-lake"
ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}


@contextmanager
def glue_server() -> Iterator[str]:
    """Run the stand-in, and yield its address."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


def client(service: str, address: str) -> Any:
    return boto3.client(
        service,
        region_name=REGION,
        endpoint_url=address,
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )


def column(name: str, type_: str, **more: object) -> dict[str, object]:
    return {"Name": name, "Type": type_, **more}


def make_database(address: str, name: str, **parameters: str) -> None:
    """Create a database in place of another test's: the stand-ins of a process share their data."""
    glue = client("glue", address)
    with suppress(glue.exceptions.EntityNotFoundException):
        glue.delete_database(Name=name)
    glue.create_database(DatabaseInput={"Name": name, "Parameters": parameters})


def add_table(address: str, database: str, name: str, **described: Any) -> None:
    """Create a table, tagged with its team."""
    storage = {
        "Location": f"s3://{BUCKET}/{database}/{name}/",
        "Columns": described.pop("columns"),
        **described.pop("storage", {}),
    }
    client("glue", address).create_table(
        DatabaseName=database,
        TableInput={"Name": name, "StorageDescriptor": storage, **described},
    )
    place = {"DatabaseName": database, "Name": name}
    tag(address, {"Table": place}, "team", "Order desk")


def tag(address: str, resource: dict[str, Any], key: str, value: str) -> None:
    lake = client("lakeformation", address)
    with suppress(lake.exceptions.ClientError):  # It may exist already.
        lake.create_lf_tag(TagKey=key, TagValues=[value])
    lake.add_lf_tags_to_resource(Resource=resource, LFTags=[{"TagKey": key, "TagValues": [value]}])


def make_shop(address: str, database: str = "shop") -> None:
    """Create a database with orders and customers."""
    make_database(address, database, domain="Sales")
    add_table(
        address,
        database,
        "orders",
        Description="Every order",
        Owner="hadoop",
        Parameters={"classification": "parquet", "primary_key": "order_id"},
        PartitionKeys=[column("day", "date")],
        columns=[
            column("order_id", "bigint", Comment="Its number"),
            column("customer_id", "bigint"),
            column("amount", "decimal(10,2)"),
        ],
    )
    add_table(
        address,
        database,
        "customers",
        Parameters={"classification": "parquet", "primary_key": "customer_id"},
        columns=[column("customer_id", "bigint"), column("mailbox", "string")],
    )
    mailbox = {"DatabaseName": database, "Name": "customers", "ColumnNames": ["mailbox"]}
    tag(address, {"TableWithColumns": mailbox}, "pii", "yes")


def put_rows(address: str, query: str, key: str, options: str = "FORMAT parquet") -> None:
    """Write the rows of a query to a file in the bucket of the lake."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows"
        with duckdb.connect() as connection:
            connection.execute(f"COPY ({query}) TO '{file}' ({options})")
        store = client("s3", address)
        with suppress(store.exceptions.BucketAlreadyOwnedByYou):
            store.create_bucket(
                Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION}
            )
        store.upload_file(str(file), BUCKET, key)
