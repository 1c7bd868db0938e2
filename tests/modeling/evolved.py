"""A small source that changes, and the models that follow on each other."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb

from fluid_build.decisions.language import AnyDecision
from fluid_build.forging.design_file import basis_json
from fluid_build.forging.options import ForgeOptions
from fluid_build.forging.stages import Decided, Designed, decide, design, look_closer, measure
from fluid_build.modeling.basis import Basis
from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.evolution import Evolution
from fluid_build.observations.observe import Observations
from fluid_build.profiling.profile import ColumnProfile, Profile, TableProfile
from fluid_build.sources import open_source
from fluid_build.transform.dbt.migrations import migrations_of
from fluid_build.transform.dbt.project import hash_strategy
from fluid_build.transform.plan.stateful import stored_columns

SHOP = (
    "CREATE TABLE regions (region_code VARCHAR PRIMARY KEY, region_name VARCHAR NOT NULL)",
    "INSERT INTO regions VALUES ('N', 'North'), ('S', 'South'), ('E', 'East'), ('W', 'West')",
    "CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, company VARCHAR NOT NULL,"
    " city VARCHAR NOT NULL, region_code VARCHAR NOT NULL)",
    "INSERT INTO customers SELECT i, 'Company ' || i, 'City ' || (i * 7 % 31),"
    " substr('NSEW', 1 + i % 4, 1) FROM range(1, 121) t(i)",
    "CREATE TABLE products (product_id INTEGER PRIMARY KEY, title VARCHAR NOT NULL,"
    " list_price DECIMAL(8,2) NOT NULL)",
    "INSERT INTO products SELECT i, 'Product ' || i, i * 3.25 FROM range(1, 41) t(i)",
    "CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL,"
    " ordered_on DATE NOT NULL, status VARCHAR NOT NULL, total DECIMAL(10,2) NOT NULL)",
    "INSERT INTO orders SELECT i, 1 + i * 11 % 120, DATE '2024-01-01' + (i % 300)::INTEGER,"
    " CASE i % 3 WHEN 0 THEN 'open' WHEN 1 THEN 'paid' ELSE 'sent' END, i * 1.75"
    " FROM range(1, 601) t(i)",
    "CREATE TABLE order_lines (order_id INTEGER NOT NULL, line_no INTEGER NOT NULL,"
    " product_id INTEGER NOT NULL, quantity INTEGER NOT NULL, PRIMARY KEY (order_id, line_no))",
    "INSERT INTO order_lines SELECT 1 + i // 2, 1 + i % 2, 1 + i * 7 % 40, 1 + i % 5"
    " FROM range(0, 1200) t(i)",
)
"""A shop whose references are measured, not declared."""


def run(database: Path, statements: Iterable[str]) -> None:
    """Run statements on a DuckDB file."""
    with duckdb.connect(str(database)) as connection:
        for statement in statements:
            connection.execute(statement)


def designed(
    database: Path,
    technique: str,
    earlier: Basis | None = None,
    decisions: tuple[AnyDecision, ...] = (),
) -> Designed:
    """The model of a source as it is now, which follows on an earlier one."""
    options = ForgeOptions(technique=technique, decisions=decisions)
    with open_source(str(database)) as source:
        decided = decide(source, measure(source), options)
        observations = look_closer(source, decided.profile)
    if earlier is not None:
        earlier = Basis.model_validate_json(basis_json(earlier))
    return design(decided, observations, options, earlier)


def relations(model: Designed) -> Mapping[str, list[str]]:
    """The columns of every relation of a model, by its name.

    Only while rows arrive are they marked with the rule that they break.
    """
    return {
        build.name: [column.name for column in build.columns if column.name != "broken_rule"]
        for build in model.plan.builds
        if build.layer != "quarantine"
    }


@dataclass(frozen=True, slots=True)
class Difference:
    """What later relations have that earlier ones hadn't, and what they lost or put elsewhere."""

    lost: list[str]
    new_relations: dict[str, list[str]]
    new_columns: dict[str, list[str]]


def difference(earlier: Designed, later: Designed) -> Difference:
    """What became of the relations of a model in the one that follows on it."""
    before, after = relations(earlier), relations(later)
    lost, new_columns = [], {}
    for name, columns in before.items():
        if [column for column in after.get(name, ()) if column in columns] != columns:
            lost.append(name)
        added = [column for column in after.get(name, ()) if column not in columns]
        if added and not name.startswith("stg_"):
            new_columns[name] = added
    new = {
        name: columns
        for name, columns in after.items()
        if name not in before and not name.startswith("stg_")
    }
    return Difference(lost, new, new_columns)


def unwritten(before: Designed, after: Designed) -> list[str]:
    """What a model writes into relations of an earlier one, that no migration gives them."""
    stored = [stored_columns(each.plan, hash_strategy(each.model)) for each in (before, after)]
    evolution = after.model.evolution or Evolution()
    found = {
        (each.relation, each.column)
        for each in migrations_of(after.plan, stored[1], evolution)
        if each.kind == "add_column"
    }
    return [
        f"{name}.{column.name}"
        for name, columns in stored[1].items()
        if name in stored[0]
        for column in columns
        if column.name not in {each.name for each in stored[0][name]}
        and (name, column.name) not in found
    ]


def measured(database: Path) -> tuple[Profile, Observations]:
    """What is measured of a source."""
    with open_source(str(database)) as source:
        profile = measure(source)
        return profile, look_closer(source, profile)


def designed_of(
    profile: Profile, observations: Observations, technique: str, earlier: Basis | None = None
) -> Designed:
    """The model of a measured source, without decisions."""
    options = ForgeOptions(technique=technique)
    if earlier is not None:
        earlier = Basis.model_validate_json(basis_json(earlier))
    return design(Decided(profile, (), profile), observations, options, earlier)


def with_types(profile: Profile, types: Mapping[SourceColumn, str]) -> Profile:
    """A profile in which columns have other types, and all else is as it was."""

    def changed(table: TableProfile, column: ColumnProfile) -> ColumnProfile:
        type_ = types.get(SourceColumn(table=table.name, column=column.name))
        if type_ is None:
            return column
        read = "VARCHAR" if type_.startswith("VARCHAR") else type_
        return column.model_copy(
            update={"type": read, "declared_type": type_, "measured_type": None}
        )

    return profile.model_copy(
        update={
            "tables": tuple(
                table.model_copy(
                    update={"columns": tuple(changed(table, column) for column in table.columns)}
                )
                for table in profile.tables
            )
        }
    )
