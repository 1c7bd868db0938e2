"""Where what is exposed physically lies."""

from typing import Annotated, Literal

from pydantic import Field

from fluid_build.contract.fluid.common import (
    ClosedModel,
    FreeForm,
    Integer,
    Labels,
    Maybe,
    NumberRule,
    OpenModel,
    TaggedModel,
)

Platform = Literal[
    "gcp",
    "aws",
    "azure",
    "snowflake",
    "databricks",
    "kafka",
    "local",
    "kubernetes",
    "other",
]
BindingFormat = Literal[
    "bigquery_table",
    "snowflake_table",
    "gcs_file",
    "s3_file",
    "http_api",
    "grpc_api",
    "pubsub_topic",
    "kafka_topic",
    "delta_table",
    "iceberg",
    "parquet",
    "csv",
    "json",
    "other",
]
IcebergFileFormat = Literal["parquet", "orc", "avro"]


class PartitionField(OpenModel):
    """A column by which an Iceberg table is partitioned."""

    name: Maybe[str] = None
    source_column: str
    transform: Literal["identity", "year", "month", "day", "hour", "bucket", "truncate"]
    num_buckets: Maybe[Integer] = None
    width: Maybe[Integer] = None


class SortField(OpenModel):
    """A column by which an Iceberg table is sorted."""

    column: str
    direction: Maybe[Literal["asc", "desc"]] = None
    null_order: Maybe[Literal["nulls-first", "nulls-last"]] = None


class IcebergConfig(ClosedModel):
    """How an Iceberg table is laid out."""

    write_version: Maybe[Annotated[int, NumberRule(whole=True, words=(1, 2))]] = None
    file_format: Maybe[IcebergFileFormat] = None
    partition_spec: Maybe[list[PartitionField]] = None
    sort_order: Maybe[list[SortField]] = None
    properties: Maybe[Labels] = None


class BindingLocation(ClosedModel):
    """The address of the data, in the words of its platform."""

    account: Maybe[str] = None
    project: Maybe[str] = None
    dataset: Maybe[str] = None
    database: Maybe[str] = None
    schema_name: Annotated[Maybe[str], Field(alias="schema")] = None
    table: Maybe[str] = None
    bucket: Maybe[str] = None
    path: Maybe[str] = None
    gateway: Maybe[str] = None
    base_url: Maybe[str] = None
    topic: Maybe[str] = None
    subscription: Maybe[str] = None
    region: Maybe[str] = None
    zone: Maybe[str] = None


class Binding(TaggedModel):
    """The platform, the format and the address of what is exposed."""

    platform: Platform
    format: BindingFormat
    iceberg_config: Maybe[IcebergConfig] = None
    location: BindingLocation
    properties: Maybe[FreeForm] = None
