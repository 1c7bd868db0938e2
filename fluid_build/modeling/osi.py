"""Semantic models of the Open Semantic Interchange (OSI) core specification 0.1.1, and their parts.

Field names and enumerations are the specification's own; a dump by alias without the absent
fields is a valid OSI document.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import AliasChoices, Field

from fluid_build.modeling.element import ModelPart

OSI_VERSION: Literal["0.1.1"] = "0.1.1"
Dialect = Literal["ANSI_SQL", "SNOWFLAKE", "MDX", "TABLEAU", "DATABRICKS", "MAQL"]
Vendor = Literal["COMMON", "SNOWFLAKE", "SALESFORCE", "DBT", "DATABRICKS", "GOODDATA"]


class DialectExpression(ModelPart):
    """An expression in one dialect."""

    dialect: Dialect
    expression: str


class Expression(ModelPart):
    """One expression in one dialect or several."""

    dialects: tuple[DialectExpression, ...] = Field(min_length=1)


class CustomExtension(ModelPart):
    """Data that the specification has no field for; ``data`` is a JSON text."""

    vendor_name: Vendor
    data: str


class DimensionMetadata(ModelPart):
    """A mark for fields to group by; ``is_time`` for those that hold dates."""

    is_time: bool | None = None


class OsiField(ModelPart):
    """A row-level attribute of a dataset."""

    name: str
    expression: Expression
    dimension: DimensionMetadata | None = None
    label: str | None = None
    description: str | None = None
    custom_extensions: tuple[CustomExtension, ...] | None = None


class Dataset(ModelPart):
    """A table or query that represents one business entity."""

    name: str
    source: str
    primary_key: tuple[str, ...] | None = None
    unique_keys: tuple[tuple[str, ...], ...] | None = None
    description: str | None = None
    fields: tuple[OsiField, ...] | None = None
    custom_extensions: tuple[CustomExtension, ...] | None = None


class OsiRelationship(ModelPart):
    """A reference of ``from_``, the dataset on the many side, to the dataset ``to``."""

    name: str
    from_: str = Field(validation_alias=AliasChoices("from", "from_"), serialization_alias="from")
    to: str
    from_columns: tuple[str, ...] = Field(min_length=1)
    to_columns: tuple[str, ...] = Field(min_length=1)
    custom_extensions: tuple[CustomExtension, ...] | None = None


class Metric(ModelPart):
    """A number defined over the datasets."""

    name: str
    expression: Expression
    description: str | None = None
    custom_extensions: tuple[CustomExtension, ...] | None = None


class SemanticModel(ModelPart):
    """Datasets, the relationships between them, and metrics over them."""

    name: str
    description: str | None = None
    datasets: tuple[Dataset, ...] = Field(min_length=1)
    relationships: tuple[OsiRelationship, ...] | None = None
    metrics: tuple[Metric, ...] | None = None
    custom_extensions: tuple[CustomExtension, ...] | None = None


class OsiDocument(ModelPart):
    """An OSI document."""

    version: Literal["0.1.1"] = OSI_VERSION
    dialects: tuple[Dialect, ...] | None = None
    vendors: tuple[Vendor, ...] | None = None
    semantic_model: tuple[SemanticModel, ...]


def osi_document(
    name: str,
    description: str | None,
    datasets: Iterable[Dataset],
    relationships: Iterable[OsiRelationship],
    metrics: Iterable[Metric],
    extension: Mapping[str, object] | None = None,
) -> OsiDocument:
    """Return a document of one semantic model."""
    model = SemanticModel(
        name=name,
        description=description,
        datasets=tuple(datasets),
        relationships=tuple(relationships) or None,
        metrics=tuple(metrics) or None,
        custom_extensions=osi_extension(extension or {}),
    )
    return OsiDocument(dialects=("ANSI_SQL",), vendors=("COMMON",), semantic_model=(model,))


def osi_field(
    name: str,
    expression: str,
    *,
    dimension: Literal["time", "other"] | None = None,
    label: str | None = None,
    description: str | None = None,
    extension: Mapping[str, object] | None = None,
) -> OsiField:
    """Return a field; ``dimension`` says what it groups by, if it does."""
    return OsiField(
        name=name,
        expression=_ansi(expression),
        dimension=DimensionMetadata(is_time=dimension == "time") if dimension else None,
        label=label,
        description=description,
        custom_extensions=osi_extension(extension or {}),
    )


def osi_metric(
    name: str,
    expression: str,
    description: str | None,
    extension: Mapping[str, object] | None = None,
) -> Metric:
    """Return a metric."""
    return Metric(
        name=name,
        expression=_ansi(expression),
        description=description,
        custom_extensions=osi_extension(extension or {}),
    )


def osi_extension(data: Mapping[str, object]) -> tuple[CustomExtension, ...] | None:
    """Return an extension with the data that isn't None; None where nothing is left."""
    known = {key: value for key, value in data.items() if value is not None}
    text = json.dumps(known, ensure_ascii=False)
    return (CustomExtension(vendor_name="COMMON", data=text),) if known else None


def _ansi(expression: str) -> Expression:
    return Expression(dialects=(DialectExpression(dialect="ANSI_SQL", expression=expression),))
