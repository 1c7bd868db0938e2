"""The relations of a model as they are built: of a vault, of a star, or flat tables.

Boxes and columns are those of the plan, and edges are the joins that its tests check.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.data_vault.elements import DataVaultModel, Satellite
from fluid_build.modeling.dimensional.elements import Dimension, DimensionalModel
from fluid_build.modeling.logical import LogicalModel, Technique
from fluid_build.report.diagrams.diagram import (
    BoxKind,
    Diagram,
    DiagramBox,
    DiagramEdge,
    EdgeState,
    Mark,
    Row,
)
from fluid_build.report.diagrams.relationships import keys_first
from fluid_build.text import counted, noun
from fluid_build.transform.plan.elements import Build, BuildTest, TransformPlan
from fluid_build.transform.plan.evidence_tests import reference_promise

_TITLES: dict[Technique, str] = {
    "flat": "The tables",
    "data_vault_2": "The vault",
    "dimensional": "The dimensional model",
}


@dataclass(frozen=True, slots=True)
class _Appearance:
    """How a relation is drawn: as which kind of box, and with which remark."""

    kind: BoxKind
    remark: str = ""


_TABLE = _Appearance("table")


def model_diagram(model: LogicalModel, plan: TransformPlan) -> Diagram:
    """Return every relation that the plan publishes. Boxes have their names as ids."""
    appearances = _appearances(model)
    implied = _implied_promises(model.conceptual)
    edges = [*_joins(plan.published, appearances, implied), *_versions(model, plan)]
    ends, durable_keys = _ends(edges), _durable_keys(model)
    return Diagram(
        _TITLES[model.technique],
        boxes=tuple(
            DiagramBox(
                id=build.name,
                name=build.name,
                kind=appearances.get(build.name, _TABLE).kind,
                rows=_rows(build, ends, durable_keys),
                tables=build.mapped_source_tables,
                remark=appearances.get(build.name, _TABLE).remark,
            )
            for build in plan.published
        ),
        edges=tuple(replace(edge, id=f"e{number}") for number, edge in enumerate(edges, start=1)),
    )


def _appearances(model: LogicalModel) -> dict[str, _Appearance]:
    if model.dv2 is not None:
        return dict(_vault_appearances(model.dv2))
    if model.dimensional is not None:
        return dict(_star_appearances(model.dimensional))
    return {}


def _vault_appearances(vault: DataVaultModel) -> Iterator[tuple[str, _Appearance]]:
    for hub in vault.hubs:
        yield hub.name, _Appearance("hub")
    for link in vault.links:
        yield link.name, _Appearance("link", "" if link.link_type == "standard" else link.link_type)
    for satellite in vault.satellites:
        yield satellite.name, _Appearance("satellite", _satellite_remark(satellite))
    for reference_table in vault.reference_tables:
        yield reference_table.name, _Appearance("reference")
    for keyless_table in vault.keyless_tables:
        yield keyless_table.name, _Appearance("table", "without a key")
    if (business := vault.business_vault) is not None:
        yield business.calendar.name, _Appearance("business", "snapshot calendar")
        for point_in_time_table in business.point_in_time_tables:
            yield point_in_time_table.name, _Appearance("business", "point-in-time table")
        for bridge in business.bridges:
            yield bridge.name, _Appearance("business", "bridge")


def _satellite_remark(satellite: Satellite) -> str:
    if satellite.multi_active_keys:
        return "multi-active"
    return "effectivity" if satellite.kind == "effectivity" else ""


def _star_appearances(star: DimensionalModel) -> Iterator[tuple[str, _Appearance]]:
    for fact in star.facts:
        yield fact.name, _Appearance("fact", fact.fact_type.replace("_", " "))
    for dimension in star.dimensions:
        yield dimension.name, _Appearance("dimension", _dimension_remark(dimension))
        if dimension.history:
            yield dimension.history, _Appearance("table", "version table")
    for bridge in star.bridges:
        yield bridge.name, _Appearance("bridge")


def _dimension_remark(dimension: Dimension) -> str:
    kind = "" if dimension.dimension_type == "standard" else dimension.dimension_type
    return ", ".join(filter(None, (kind, "all versions" if dimension.history else "")))


def _durable_keys(model: LogicalModel) -> Set[tuple[str, str]]:
    """Return the columns, by their dimension, that identify a member in all of its versions."""
    star = model.dimensional
    if star is None:
        return frozenset()
    return {(each.name, each.durable_key) for each in star.dimensions if each.durable_key}


def _implied_promises(conceptual: ConceptualModel) -> Set[str]:
    """Return the references that others imply, by the promises that tests keep."""
    return {reference_promise(each) for each in conceptual.relationships if each.implied}


def _joins(
    builds: Sequence[Build], appearances: Mapping[str, _Appearance], implied: Set[str]
) -> Iterator[DiagramEdge]:
    """Yield the joins between builds.

    Codes of a reference table and the numbers of events in a bridge are joined by their values.
    Other tests on values, such as those between two facts, only check promises of the source.
    """
    names = {build.name for build in builds}
    for build in builds:
        seen = set()
        for test in build.tests:
            parent = test.to_model
            if test.kind != "relationships" or parent is None or parent not in names:
                continue
            kind, parent_kind = (
                appearances.get(name, _TABLE).kind for name in (build.name, parent)
            )
            joins_by_value = parent_kind == "reference" or (kind, parent_kind) == ("bridge", "fact")
            ends = (test.columns, parent, test.to_columns)
            if (test.is_join or joins_by_value) and ends not in seen:
                seen.add(ends)
                yield _join(build, test, parent, is_implied=test.promise in implied)


def _join(build: Build, test: BuildTest, parent: str, *, is_implied: bool) -> DiagramEdge:
    is_mandatory = (
        not test.allowed
        and not test.scope.filled
        and not test.scope.other_than
        and all(build.column(name).required for name in test.columns)
    )
    state: EdgeState = "implied" if is_implied else "broken" if test.allowed else "sound"
    return DiagramEdge(
        id="",
        child=build.name,
        child_rows=test.columns,
        parent=parent,
        parent_rows=test.to_columns,
        child_count="zero-or-one" if test.cardinality == "one-to-one" else "zero-or-many",
        parent_count="one" if is_mandatory else "zero-or-one",
        state=state,
        orphans=test.allowed,
        label=test.role,
        text=_describe_join(build.name, test, parent),
    )


def _describe_join(child: str, test: BuildTest, parent: str) -> str:
    role = f" as {test.role}" if test.role else ""
    columns, to_columns = ", ".join(test.columns), ", ".join(test.to_columns)
    orphans = ""
    if test.allowed:
        orphans = f" {counted(test.allowed, 'row')} {noun(test.allowed, 'has', 'have')} no match."
    return f"{child} ({columns}) refers to {parent} ({to_columns}){role}.{orphans}"


def _versions(model: LogicalModel, plan: TransformPlan) -> Iterator[DiagramEdge]:
    """Yield the edges from version tables to the dimensions that are built from them."""
    if model.dimensional is None:
        return
    for dimension in model.dimensional.dimensions:
        if dimension.history:
            columns = {column.name for column in plan.build(dimension.history).columns}
            key = tuple(name for name in dimension.natural_key_columns if name in columns)
            yield DiagramEdge(
                id="",
                child=dimension.history,
                child_rows=key,
                parent=dimension.name,
                parent_rows=key,
                text=f"{dimension.history} keeps the versions of the members of {dimension.name}.",
            )


@dataclass(frozen=True, slots=True)
class _Ends:
    """The columns at the ends of edges, each with its relation."""

    referring: Set[tuple[str, str]]
    referred: Set[tuple[str, str]]


def _ends(edges: Sequence[DiagramEdge]) -> _Ends:
    return _Ends(
        {(edge.child, name) for edge in edges for name in edge.child_rows},
        {(edge.parent, name) for edge in edges for name in edge.parent_rows},
    )


def _rows(build: Build, ends: _Ends, durable_keys: Set[tuple[str, str]]) -> tuple[Row, ...]:
    def marks(name: str, tags: Set[str]) -> Iterator[Mark]:
        is_primary = name in build.key or "primary-key" in tags
        is_business = "business-key" in tags or (build.name, name) in durable_keys
        if is_primary:
            yield "PK"
        if (build.name, name) in ends.referring or "foreign-key" in tags:
            yield "FK"
        if is_business:
            yield "BK"
        elif (build.name, name) in ends.referred and not is_primary:
            yield "UK"

    return keys_first(
        [
            Row(column.name, column.type, tuple(marks(column.name, set(column.tags))))
            for column in build.columns
        ]
    )
