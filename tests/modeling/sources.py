"""Profiles of small sources, written down like a schema.

One line a table: its name, then its columns, separated by commas. A column is a name and after it
what isn't the usual (a whole number, unique in 100 rows, never null):

- ``*id``            part of the declared primary key
- ``name text``      a type: text, date, timestamp, decimal, double, boolean, uuid
- ``status text/4``  four distinct values
- ``shipped date?``  null in ten rows
- ``customer_id > customer``  a reference to the primary key of ``customer``
- ``rank/9 1-9``     values from 1 to 9
"""

import re
from collections.abc import Mapping

from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.data_vault.builder import data_vault
from fluid_build.modeling.data_vault.elements import (
    DataVaultModel,
    HashKeyStrategy,
    Link,
    Satellite,
)
from fluid_build.modeling.dimensional.elements import Bridge, Dimension, DimensionalModel, Fact
from fluid_build.modeling.dimensional.judging.entity_roles import judged_events
from fluid_build.modeling.dimensional.judging.reference_graph import reference_graph
from fluid_build.modeling.entities import conceptual_model
from fluid_build.modeling.techniques import build_model
from fluid_build.observations.observe import NO_OBSERVATIONS, Observations
from fluid_build.profiling.profile import (
    ColumnProfile,
    ForeignKey,
    Profile,
    TableProfile,
    ValueCount,
)
from tests.modeling.profiles import column, profile, reference, table

_TYPES = {
    "": "BIGINT", "text": "VARCHAR", "date": "DATE", "timestamp": "TIMESTAMP",
    "decimal": "DECIMAL(10,2)", "double": "DOUBLE", "boolean": "BOOLEAN", "uuid": "UUID",
}  # fmt: skip
_COLUMN = re.compile(
    r"(?P<key>\*)?(?P<name>\w+)(?: (?P<type>[a-z]+))?(?P<null>\?)?(?:/(?P<distinct>\d+))?"
    r"(?: (?P<low>\d+)-(?P<high>\d+))?(?: > (?P<parent>\w+))?"
)


def source(schema: str, *references: ForeignKey, rows: int = 100, **more: object) -> Profile:
    """A profile of the tables of a schema; ``references`` are added to those in it."""
    lines = [line.split(maxsplit=1) for line in schema.strip().splitlines() if line.strip()]
    parsed = {name: [_parse(text) for text in columns.split(",")] for name, columns in lines}
    keys = {
        name: [str(part["name"]) for part in parts if part["key"]] for name, parts in parsed.items()
    }
    tables = [_table(name, parts, keys[name], rows) for name, parts in parsed.items()]
    in_schema = [
        reference(
            name,
            str(part["name"]),
            str(part["parent"]),
            " ".join(keys[str(part["parent"])]),
            nulls=10 if part["null"] else 0,
        )
        for name, parts in parsed.items()
        for part in parts
        if part["parent"]
    ]
    return profile(*tables, foreign_keys=[*in_schema, *references], **more)


def changed(measured: Profile, table_name: str, **facts: object) -> Profile:
    """The profile with other facts about one table."""
    tables = tuple(
        table.model_copy(update=facts) if table.name == table_name else table
        for table in measured.tables
    )
    return measured.model_copy(update={"tables": tables})


def changed_column(measured: Profile, table_name: str, name: str, **facts: object) -> Profile:
    """The profile with other facts about one column."""
    columns = tuple(
        column.model_copy(update=facts) if column.name == name else column
        for column in measured.table(table_name).columns
    )
    return changed(measured, table_name, columns=columns)


def conceptual(measured: Profile) -> ConceptualModel:
    return conceptual_model(measured)


def vault(
    measured: Profile,
    strategy: HashKeyStrategy | None = None,
    observations: Observations = NO_OBSERVATIONS,
) -> DataVaultModel:
    model = conceptual_model(measured)
    events = judged_events(reference_graph(measured, model, observations))
    return data_vault(measured, model, observations, strategy, events=events)


def star(
    measured: Profile,
    variant: str | None = None,
    observations: Observations = NO_OBSERVATIONS,
    event_dates: Mapping[str, str] | None = None,
) -> DimensionalModel:
    model = build_model(
        measured, "dimensional", variant, observations, event_dates=event_dates
    ).dimensional
    assert model is not None
    return model


def link(model: DataVaultModel, name: str) -> Link:
    return {link.name: link for link in model.links}[name]


def satellite(model: DataVaultModel, name: str) -> Satellite:
    return {satellite.name: satellite for satellite in model.satellites}[name]


def fact(model: DimensionalModel, name: str) -> Fact:
    return {fact.name: fact for fact in model.facts}[name]


def dimension(model: DimensionalModel, name: str) -> Dimension:
    return model.dimension(name)


def bridge(model: DimensionalModel, name: str) -> Bridge:
    return {bridge.name: bridge for bridge in model.bridges}[name]


def _parse(text: str) -> dict[str, str | None]:
    match = _COLUMN.fullmatch(text.strip())
    assert match is not None, f"not a column: {text!r}"
    return match.groupdict()


def _table(
    name: str, parts: list[dict[str, str | None]], key: list[str], rows: int
) -> TableProfile:
    claim = {"columns": key, "evidence": {"origin": "declared", "rows": rows}}
    facts = {"primary_key": key, "candidate_keys": [key], "declared_keys": [claim]} if key else {}
    columns = [_column(part, rows, is_key=key == [part["name"]]) for part in parts]
    return table(name, *columns, **facts)


def _column(part: dict[str, str | None], rows: int, *, is_key: bool) -> ColumnProfile:
    nulls = min(10, rows) if part["null"] else 0
    unique = rows - nulls if is_key or not part["parent"] else (rows - nulls) // 2
    distinct = int(part["distinct"]) if part["distinct"] else unique
    values = (
        [ValueCount(value=str(n), count=(rows - nulls) // distinct) for n in range(distinct)]
        if part["distinct"] and (rows - nulls) % distinct == 0
        else []
    )
    return column(
        str(part["name"]),
        _TYPES[part["type"] or ""],
        rows=rows,
        nulls=nulls,
        distinct=distinct,
        nullable=bool(nulls),
        min=part["low"],
        max=part["high"],
        top_values=tuple(values),
    )
