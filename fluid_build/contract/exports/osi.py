"""A FLUID contract as a semantic model of Open Semantic Interchange (OSI) 0.1.1.

OSI says what the data means to a question: datasets with their keys and fields, how they join, and
metrics. Who owns the data, how good it is and where it comes from, it does not say.
"""

from collections.abc import Mapping
from typing import Literal

from fluid_build.contract.exports.format import ExportFormat
from fluid_build.contract.exports.official import model_findings
from fluid_build.contract.exports.tracking import Json, TrackedMapping
from fluid_build.contract.fluid import Expose, FluidContract, SemanticMeasure
from fluid_build.contract.fluid.semantics import SemanticMetric
from fluid_build.contract.keys import Keys, columns_of_expression, keys_of
from fluid_build.modeling.osi import (
    OSI_VERSION,
    Dataset,
    Metric,
    OsiDocument,
    OsiField,
    OsiRelationship,
    osi_extension,
    osi_field,
    osi_metric,
)
from fluid_build.modeling.osi import osi_document as osi_document_of
from fluid_build.modeling.osi_dialects import with_dialects
from fluid_build.sources.sql import quote
from fluid_build.text import free_name

_CALLS = {
    "sum": "SUM({})",
    "avg": "AVG({})",
    "count": "COUNT({})",
    "count_distinct": "COUNT(DISTINCT {})",
    "min": "MIN({})",
    "max": "MAX({})",
    "median": "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {})",
}
_OF_COLUMN = ("type", "required", "sensitivity", "businessName", "businessDefinition")
_OF_MEASURE = ("name", "agg", "expr", "aggTimeDimension", "nonAdditiveDimension", "createMetric")
_OF_METRIC = (
    "name", "type", "measure", "numerator", "denominator", "owner", "inputMetrics", "expr"
)  # fmt: skip


def osi_document(contract: FluidContract, read: TrackedMapping, _version: str) -> Json:
    """Return the semantic model of a contract; ``read`` is the same contract as a document."""
    keys = keys_of(contract)
    names = _dataset_names(contract)
    exposes = read.parts("exposes")
    metrics: dict[str, Metric] = {}
    datasets = []
    for index, (expose, part) in enumerate(zip(contract.exposes, exposes, strict=True)):
        datasets.append(_dataset(expose, part, names[index], keys[index]))
        metrics |= _metrics(expose, part.part("semantics"), names[index], metrics)
    product = {key: read.take(key) for key in ("fluidVersion", "id", "kind", "domain", "tags")}
    document = osi_document_of(
        str(read.text("name")),
        read.text("description"),
        datasets,
        _relationships(names, keys),
        metrics.values(),
        product,
    )
    mapped = with_dialects(document).document
    return mapped.model_dump(mode="json", by_alias=True, exclude_none=True)


def _dataset_names(contract: FluidContract) -> list[str]:
    names: list[str] = []
    for expose in contract.exposes:
        names.append(free_name(expose.expose_id, names))
    return names


def _dataset(expose: Expose, read: TrackedMapping, name: str, keys: Keys) -> Dataset:
    semantics = read.part("semantics")
    more: Json = {
        "kind": read.take("kind"),
        "title": read.take("title"),
        "version": read.take("version"),
        "entities": semantics.take("entities"),
        "model": semantics.take("name"),
        "defaultAggTimeDimension": semantics.take("defaultAggTimeDimension"),
    }
    read.take("exposeId")
    return Dataset(
        name=name,
        source=_source(expose, read.part("binding").part("location")),
        primary_key=keys.primary or None,
        unique_keys=tuple(k for k in keys.unique if k != keys.primary) or None,
        description=_description(read, semantics),
        fields=tuple(_fields(expose, read.part("contract"), semantics)) or None,
        custom_extensions=osi_extension(more),
    )


def _description(read: TrackedMapping, semantics: TrackedMapping) -> str | None:
    """Return the expose's description, which the semantic model often repeats."""
    text = read.text("description")
    if text is None or semantics.peek("description") == text:
        return semantics.text("description")
    return text


def _source(expose: Expose, location: TrackedMapping) -> str:
    """Return the table's full name: database, schema and table with points between."""
    above = [location.text("database") or location.text("project")]
    above.append(location.text("schema") or location.text("dataset"))
    table = location.text("table") or expose.expose_id
    return ".".join([*(part for part in above if part), table])


def _fields(expose: Expose, promise: TrackedMapping, semantics: TrackedMapping) -> list[OsiField]:
    """Return a field for each column, and one for each dimension that is not simply a column.

    Of two columns, or dimensions, of one name OSI can say the first.
    """
    dimensions: dict[str, TrackedMapping] = {}
    for dimension in semantics.parts("dimensions"):
        dimensions.setdefault(str(dimension.peek("name")), dimension)
    fields: dict[str, OsiField] = {}
    for column, read in zip(expose.contract.columns or (), promise.parts("schema"), strict=False):
        if column.name not in fields:
            own = dimensions.get(column.name, TrackedMapping(None))
            expression = str(own.peek("expr") or own.peek("name"))
            is_own = columns_of_expression(expression) == (column.name,)
            fields[column.name] = _field_of_column(read, own if is_own else TrackedMapping(None))
    for name, dimension in dimensions.items():
        if name not in fields:
            fields[name] = _field_of_dimension(dimension)
    return list(fields.values())


def _field_of_column(column: TrackedMapping, dimension: TrackedMapping) -> OsiField:
    name, description = str(column.text("name")), column.text("description")
    kind, extension = _take_dimension(dimension)
    extension |= {key: column.take(key) for key in _OF_COLUMN}
    of_dimension = dimension.text("description")
    if description is not None and of_dimension != description:
        extension["dimension"] = of_dimension
    return osi_field(
        name,
        quote(name),
        dimension=kind,
        label=column.text("semanticType"),
        description=description if description is not None else of_dimension,
        extension=extension,
    )


def _field_of_dimension(dimension: TrackedMapping) -> OsiField:
    name = str(dimension.text("name"))
    expression = dimension.text("expr") or quote(name)
    kind, extension = _take_dimension(dimension)
    description = dimension.text("description")
    return osi_field(name, expression, dimension=kind, description=description, extension=extension)


def _take_dimension(dimension: TrackedMapping) -> tuple[Literal["time", "other"] | None, Json]:
    """Take all of a dimension but its description: its kind, and what goes into the extension."""
    if not dimension.exists:
        return None, {}
    dimension.take("name")
    dimension.take("expr")
    extension: Json = {"typeParams": dimension.take("typeParams")}
    return "time" if dimension.text("type") == "time" else "other", extension


def _relationships(names: list[str], keys: tuple[Keys, ...]) -> list[OsiRelationship]:
    relationships: dict[str, OsiRelationship] = {}
    for index, of_expose in enumerate(keys):
        for reference in of_expose.references:
            label = reference.rule or f"{names[index]}_to_{names[reference.expose]}"
            name = free_name(label, relationships)
            relationships[name] = OsiRelationship(
                name=name,
                from_=names[index],
                to=names[reference.expose],
                from_columns=reference.columns,
                to_columns=reference.to_columns,
            )
    return list(relationships.values())


def _metrics(
    expose: Expose, semantics: TrackedMapping, dataset: str, earlier: dict[str, Metric]
) -> dict[str, Metric]:
    """Return the measures of a table as metrics, then the metrics composed of them.

    A percentile without its number, a metric with a filter and one derived by a formula of other
    metrics have no expression in OSI; they are not taken.
    """
    if expose.semantics is None:
        return {}
    columns = {column.name for column in expose.contract.columns or ()}
    metrics: dict[str, Metric] = {}
    expressions: dict[str, str] = {}
    for measure, read in zip(
        expose.semantics.measures or (), semantics.parts("measures"), strict=True
    ):
        expression = _aggregate(measure, dataset, columns)
        if expression is not None and measure.name not in expressions:
            expressions[measure.name] = expression
            more = {"dataset": dataset, **{key: read.take(key) for key in _OF_MEASURE}}
            name = free_name(f"{dataset}.{measure.name}", [*earlier, *metrics])
            metrics[name] = osi_metric(name, expression, read.text("description"), more)
    for metric, read in zip(
        expose.semantics.metrics or (), semantics.parts("metrics"), strict=True
    ):
        expression = _composed(metric, expressions)
        if expression is not None:
            expressions.setdefault(metric.name, expression)
            more = {key: read.take(key) for key in _OF_METRIC}
            name = free_name(metric.name, [*earlier, *metrics])
            metrics[name] = osi_metric(name, expression, read.text("description"), more)
    return metrics


def _aggregate(measure: SemanticMeasure, dataset: str, columns: set[str]) -> str | None:
    call = _CALLS.get(measure.agg)
    if call is None:
        return None
    if measure.agg == "count" and measure.expr == "1":
        return "COUNT(*)"
    names = columns_of_expression(measure.expr or measure.name)
    if len(names) == 1 and names[0] in columns:
        return call.format(f"{quote(dataset)}.{quote(names[0])}")
    return call.format(measure.expr or quote(measure.name))


def _composed(metric: SemanticMetric, expressions: Mapping[str, str]) -> str | None:
    if metric.filter is not None:
        return None
    if metric.type == "simple":
        return expressions.get(metric.measure or "")
    above = expressions.get(metric.numerator or "")
    below = expressions.get(metric.denominator or "")
    if metric.type != "ratio" or above is None or below is None:
        return None
    return f"({above}) / NULLIF(({below}), 0)"


def _findings(_version: str, document: Json) -> tuple[str, ...]:
    """Return what the specification's model has against a document; empty if nothing."""
    return model_findings(lambda: OsiDocument, document)


OSI = ExportFormat(
    name="osi",
    title=f"Open Semantic Interchange {OSI_VERSION}",
    notes="The semantic model: datasets with their keys and fields, relationships and metrics.",
    versions=(OSI_VERSION,),
    write=osi_document,
    findings=_findings,
)
