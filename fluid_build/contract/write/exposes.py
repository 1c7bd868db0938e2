"""One expose of a contract: a built table, its columns, and what they are made of."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from fluid_build.contract.fluid import (
    Binding,
    BindingLocation,
    ContractColumn,
    DqRule,
    DqSpec,
    Expose,
    ExposeContract,
)
from fluid_build.contract.fluid.common import Labels
from fluid_build.contract.fluid.quality import DqRuleType
from fluid_build.contract.keys import names_label
from fluid_build.contract.rule_limits import MEASURED, limit_with_room
from fluid_build.contract.write.semantic_section import semantics
from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.identifiers import tag
from fluid_build.profiling.profile import ColumnProfile, Profile, TableProfile
from fluid_build.sources.declarations.catalog_facts import CatalogFacts, TableFacts
from fluid_build.transform.dbt.project_names import duckdb_database
from fluid_build.transform.plan.elements import (
    EVERY_ROW,
    Build,
    BuildTest,
    PlanColumn,
    TestKind,
    TransformPlan,
)
from fluid_build.transform.plan.project_tools import ProjectTool

# Quality rules of a built table: the tests of its build, as rules that can be run.
# Every row must keep a rule that has no threshold; else a share of them that the data keeps, with
# room.

_TYPES: Mapping[TestKind, DqRuleType] = {
    "not_null": "completeness",
    "unique": "uniqueness",
    "accepted_values": "valid_values",
    "relationships": "accuracy",
}
_ENDINGS: Mapping[TestKind, str] = {
    "not_null": "not_null",
    "unique": "unique",
    "accepted_values": "accepted_values",
    "relationships": "reference",
}


def quality_rules(build: Build) -> list[DqRule]:
    """Return the rules of one table, in the order of its tests."""
    return [_rule(build, test) for test in build.tests]


def _rule(build: Build, test: BuildTest) -> DqRule:
    """Return a rule that the measured data passes: what already breaks it is allowed for."""
    rows = test.evidence.rows if test.evidence is not None else 0
    limit = limit_with_room(test.allowed, rows)
    labels = _structure(test)
    if test.scope != EVERY_ROW:
        labels["scope"] = test.scope.model_dump_json(exclude_defaults=True)
    if test.allowed and test.kind != "relationships":
        labels |= MEASURED
    return DqRule(
        id=rule_id(build, test),
        type=_TYPES[test.kind],
        selector=", ".join(test.columns),
        threshold=limit,
        operator=">=" if limit is not None else None,
        severity=test.severity,
        description=_what_is_hashed(build, test),
        labels=labels or None,
    )


def _what_is_hashed(build: Build, test: BuildTest) -> str | None:
    """Return which key a hash stands for, which its column doesn't say."""
    is_hash = any("hash-key" in build.column(name).tags for name in test.columns)
    return test.reason if is_hash and test.kind == "unique" and test.evidence is None else None


def rule_id(build: Build, test: BuildTest) -> str:
    """Return the id of the rule of a test, in all of a contract."""
    ending = _ENDINGS[test.kind]
    middle = test.name.removeprefix(f"{build.name}_").removesuffix(f"_{ending}")
    return f"{build.name}.{middle}.{ending}"


def _structure(test: BuildTest) -> Labels:
    """Return what a rule compares with as labels, so that it's run without reading its SQL."""
    labels: Labels = {}
    if test.kind == "accepted_values":
        labels["accepted-values"] = names_label(test.values)
    if test.kind == "relationships" and test.to_model is not None:
        labels["rule"] = "reference" if test.is_join else "values"
        labels["to-table"] = test.to_model
        labels["to-columns"] = names_label(test.to_columns)
        if test.cardinality is not None:
            labels["cardinality"] = test.cardinality
    return labels


# What a data catalog says of the tables behind an expose, in the words of a contract.


def table_tags(catalog: CatalogFacts | None, build: Build) -> tuple[str, ...]:
    """Return the catalog's tags of the tables that a build is made of."""
    return tuple(dict.fromkeys(tag for facts in _facts(catalog, build) for tag in facts.tags))


def table_labels(catalog: CatalogFacts | None, build: Build) -> Labels:
    """Return where the catalog has these tables, and who owns them there."""
    if catalog is None:
        return {}
    facts = list(_facts(catalog, build))
    values = {
        "catalog-tables": [each.address for each in facts if each.address],
        "catalog-owners": [owner.name for each in facts for owner in each.owners],
        "catalog-domains": [each.domain for each in facts if each.domain],
        "catalog-tags": [tag for each in facts for tag in each.tags],
    }
    labels = {
        name: names_label([*dict.fromkeys(entries)]) for name, entries in values.items() if entries
    }
    return {"catalog": catalog.catalog, **labels} if labels else {}


def column_tags(catalog: CatalogFacts | None, column: PlanColumn) -> tuple[str, ...]:
    """Return the catalog's tags of the one column that a column is made of."""
    if catalog is None or len(column.source_columns) != 1:
        return ()
    (origin,) = column.source_columns
    facts = catalog.tables.get(origin.table)
    return tuple(facts.column_tags.get(origin.column, ())) if facts else ()


def _facts(catalog: CatalogFacts | None, build: Build) -> Iterator[TableFacts]:
    if catalog is not None:
        yield from catalog.of(build.mapped_source_tables)


DBT_FOLDER = "dbt"
_FIRST_VERSION = "0.1.0"
_UNNAMED = "unnamed"
_PLATFORMS: Mapping[str, str] = {
    "duckdb": "local",
    "postgres": "other",
    "snowflake": "snowflake",
    "bigquery": "gcp",
    "databricks": "databricks",
}
_FORMATS: Mapping[str, str] = {
    "snowflake": "snowflake_table",
    "bigquery": "bigquery_table",
    "databricks": "delta_table",
}


@dataclass(frozen=True)
class Measured:
    """What was measured of the source tables, by their names; nothing where there is no data.

    ``catalog`` is what a data catalog says of them, None without one.
    """

    tables: Mapping[str, TableProfile]
    has_data: bool
    catalog: CatalogFacts | None = None

    @classmethod
    def of(cls, profile: Profile) -> Self:
        """Return what a profile has."""
        tables = {table.name: table for table in profile.tables}
        return cls(tables, profile.has_data, profile.catalog)

    def column(self, origin: SourceColumn) -> ColumnProfile:
        """Return what was measured of a source column; KeyError if there is none."""
        return self._columns[origin.table][origin.column]

    @cached_property
    def _columns(self) -> dict[str, dict[str, ColumnProfile]]:
        return {
            name: {column.name: column for column in table.columns}
            for name, table in self.tables.items()
        }


def expose(
    build: Build, measured: Measured, plan: TransformPlan, target: str, tool: ProjectTool
) -> Expose:
    """Return the expose of a built table."""
    table = whole_table(build, measured)
    rules = quality_rules(build)
    return Expose(
        expose_id=build.name,
        title=build.title or _UNNAMED,
        description=build.description or None,
        version=_FIRST_VERSION,
        kind="view" if build.materialization == "view" else "table",
        tags=_with_catalog_tags(
            _tags(build, table, measured.has_data), table_tags(measured.catalog, build)
        )
        or None,
        labels=_labels(build, table, measured.has_data) | table_labels(measured.catalog, build),
        contract=ExposeContract(
            columns=_columns(build, measured),
            dq=DqSpec(rules=rules) if rules else None,
        ),
        binding=_binding(build, plan, target, tool),
        semantics=semantics(build),
    )


def _with_catalog_tags(own: list[str], cataloged: Sequence[str]) -> list[str]:
    """Return tags with those of a catalog, as the contract spells tags."""
    return [*dict.fromkeys([*own, *filter(None, map(tag, cataloged))])]


def whole_table(build: Build, measured: Measured) -> TableProfile | None:
    """Return the source table that a build holds as it is; None where it holds something else."""
    return measured.tables[build.mapped_source_tables[0]] if build.layer == "flat" else None


def _tags(build: Build, table: TableProfile | None, has_data: bool) -> list[str]:
    tags = {
        "pii": any(column.pii for column in build.columns),
        "no-key": not build.key,
        "empty": table is not None and has_data and table.rows == 0,
    }
    return [name for name, holds in tags.items() if holds]


def _labels(build: Build, table: TableProfile | None, has_data: bool) -> Labels:
    labels: Labels = {"layer": build.layer}
    if table is not None:
        labels["source-table"] = table.name
        if has_data and table.rows:
            labels["min-rows"] = "1"
    elif build.mapped_source_tables:
        labels["source-tables"] = names_label(build.mapped_source_tables)
    return labels


def _columns(build: Build, measured: Measured) -> list[ContractColumn]:
    referring = {name for test in build.tests if test.is_join for name in test.columns}
    return [_column(build, column, referring, measured) for column in build.columns]


def _column(
    build: Build, column: PlanColumn, referring: Set[str], measured: Measured
) -> ContractColumn:
    roles = {
        "primary-key": column.name in build.key,
        "foreign-key": column.name in referring,
        "unique": "unique" in column.tags or build.key == (column.name,),
        "pii": column.pii,
    }
    tags = [name for name, holds in roles.items() if holds]
    more = [name for name in column.tags if name not in tags and name not in roles]
    cataloged = column_tags(measured.catalog, column)
    identifies = roles["primary-key"] or roles["foreign-key"]
    return ContractColumn(
        name=column.name,
        type=column.contract_type,
        required=column.required,
        description=column.description or None,
        sensitivity="pii" if column.pii else None,
        semantic_type=column.semantic_type or ("identifier" if identifies else None),
        business_name=column.title or None,
        tags=_with_catalog_tags([*tags, *more], cataloged) or None,
        labels=_column_labels(build, column, measured) or None,
    )


def _column_labels(build: Build, column: PlanColumn, measured: Measured) -> Labels:
    """Return what isn't beside a column: where it's from is told by the contract's lineage."""
    labels: Labels = {}
    if len(column.source_columns) == 1:
        (origin,) = column.source_columns
        if build.layer == "flat" and origin.column != column.name:
            labels["source-column"] = origin.column
        reason = type_reason(measured.column(origin))
        if reason:
            labels["type-reason"] = reason
    cataloged = column_tags(measured.catalog, column)
    if cataloged:
        labels["catalog-tags"] = names_label(cataloged)
    return labels


def type_reason(measured: ColumnProfile) -> str:
    """Return how a source stores what isn't of the type that its values have, "" if it is."""
    if measured.measured_type is None:
        return ""
    return f"Stored as {measured.type}; every value is a {measured.measured_type}."


def _binding(build: Build, plan: TransformPlan, target: str, tool: ProjectTool) -> Binding:
    """Where the project puts the table: the schema is the one of the user's profile.

    The path of a DuckDB file is the one from the folder of the contract.
    """
    path = f"{tool}/{duckdb_database(plan)}.duckdb" if target == "duckdb" else None
    return Binding.model_validate(
        {
            "platform": _PLATFORMS.get(target, "other"),
            "format": _FORMATS.get(target, "other"),
            "location": BindingLocation(database=plan.name, path=path, table=build.name),
            "properties": {"kind": target},
        }
    )
