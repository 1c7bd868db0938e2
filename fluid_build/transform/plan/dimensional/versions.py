"""The relation that keeps the versions of a dimension's members, and only ever gets rows added.

A member has one version a load, and one more when it's deleted.
"""

from fluid_build.modeling.dimensional.elements import Dimension, DimensionAttribute
from fluid_build.modeling.element import SourceColumn
from fluid_build.transform.plan.built_columns import DELETED_COLUMN, LOAD_DATE_COLUMN, technical
from fluid_build.transform.plan.construction_tests import not_null, unique
from fluid_build.transform.plan.dimensional.columns import attribute_column
from fluid_build.transform.plan.dimensional.dimensions import is_in_versions, is_loaded
from fluid_build.transform.plan.dimensional.star import (
    HASHING,
    KEY_TYPE,
    Star,
    held_members,
    natural_key,
)
from fluid_build.transform.plan.elements import Build, PlanColumn, Relation
from fluid_build.transform.plan.hashing import comparable
from fluid_build.transform.plan.history import History, filling
from fluid_build.transform.plan.macro_calls import called_sql, hashed_columns, macro_call
from fluid_build.transform.plan.quarantine import held_in
from fluid_build.transform.plan.retirement import retired_build
from fluid_build.transform.plan.validity import AppliedDate, applied_date


def versions_build(star: Star, dimension: Dimension) -> Build:
    """Return the build of the versions of a dimension's members."""
    entity, name = dimension.entity_name, dimension.history
    key = tuple(star.column(entity, part.name) for part in natural_key(star, dimension))
    attributes = {
        star.column(entity, attribute.attribute): attribute.attribute
        for attribute in versioned_attributes(dimension)
    }
    types = {column: star.type(entity, attribute) for column, attribute in attributes.items()}
    versioned = list(types)
    joined = {*star.present.joined_later(entity, attributes.values())}
    later = star.present.joined_relation(name)
    added = [column for column, name in attributes.items() if name in joined or column in later]
    applied = applied_in_star(star, entity)
    held = held_members(star, dimension)
    history = History(
        name=name,
        columns=(*key, *versioned, "row_hash", "load_date", "is_deleted"),
        keys=key,
        grouped_by=tuple(grouping(star, dimension)) or key,
    )
    call = macro_call(
        "dimension_versions",
        staging=Relation(star.names.staging(entity)),
        keys=list(key),
        **hashed_columns([(name, types[name]) for name in versioned], HASHING),
        retired=[
            column for column, name in attributes.items() if not star.present.has(entity, name)
        ],
        other_hashes=bool(added) or star.present.have_other_hashes(entity, attributes.values()),
        held=held,
        surplus=history.surplus,
        **(applied.arguments if applied else {}),
    )
    made = called_sql(call, name, HASHING)
    identity = (*key, "load_date")
    build = Build(
        name=name,
        layer="mart",
        materialization="incremental",
        title=f"{entity}, every version",
        description=(
            f"One row for each version of each member of {dimension.name}, and one for each "
            "deletion. Rows are only added, never changed."
        ),
        sql=made.sql,
        next_load=made.next_load,
        filling=filling(star.names.staging(entity), key, added),
        call=call,
        ref_models=(star.names.staging(entity), *held_in(held)),
        columns=(
            *_attribute_columns(star, dimension),
            technical("row_hash", KEY_TYPE, "The hash of the versioned columns."),
            LOAD_DATE_COLUMN,
            DELETED_COLUMN,
            *([applied.column] if applied else []),
        ),
        key=identity,
        tests=(
            *(not_null(name, part, "It identifies the member.") for part in key),
            unique(name, identity, "A load adds at most one version per member.", label="versions"),
        ),
        mapped_source_tables=(entity,),
        source_columns=tuple(
            SourceColumn(table=entity, column=attribute.attribute)
            for attribute in dimension.attributes
            if is_in_versions(dimension, attribute)
        ),
        reason=f"Without this table, each load would overwrite the history of {dimension.name}.",
    )
    return build if is_loaded(star, dimension) else retired_build(build)


def applied_in_star(star: Star, entity: str) -> AppliedDate | None:
    """Return from when the versions of an entity hold, unless that's when they were loaded."""
    types = {
        star.column(entity, a.name): star.type(entity, a.name)
        for a in star.entities[entity].attributes
    }
    return applied_date(entity, types, star.names, star.present)


def grouping(star: Star, dimension: Dimension) -> list[str]:
    """Return the SQL that versions are grouped by, where it isn't the key as it is."""
    key = natural_key(star, dimension)
    columns = [star.column(dimension.entity_name, part.name) for part in key]
    types = [star.type(dimension.entity_name, part.name) for part in key]
    grouped = [comparable(*part) for part in zip(columns, types, strict=True)]
    return grouped if grouped != columns else []


def versioned_attributes(dimension: Dimension) -> list[DimensionAttribute]:
    """Return the columns of the dimension's own entity of which the past is kept."""
    return [
        attribute
        for attribute in dimension.attributes
        if not attribute.source and attribute.scd_type == 2
    ]


def _attribute_columns(star: Star, dimension: Dimension) -> list[PlanColumn]:
    entity = dimension.entity_name
    key = [part.name for part in natural_key(star, dimension)]
    by_attribute = {
        attribute.attribute: attribute for attribute in dimension.attributes if not attribute.source
    }
    return [
        attribute_column(
            star,
            entity,
            name,
            by_attribute[name],
            column=star.column(entity, name),
            required=name in key,
        )
        for name in (*key, *(attribute.attribute for attribute in versioned_attributes(dimension)))
    ]
