"""Where exposed data is stored."""

from typing import Annotated, Literal

from pydantic import Field

from fluid_build.contract.fluid.common import ClosedModel, FreeForm, Maybe, TaggedModel
from fluid_build.contract.fluid.sections import SECTIONS

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
    """The platform, the format and the address of exposed data."""

    platform: Platform
    format: BindingFormat
    iceberg_config: Maybe[Annotated[FreeForm, SECTIONS["iceberg-config"]]] = None
    location: BindingLocation
    properties: Maybe[FreeForm] = None
