"""The staging relations: every source table with our names and types, and the way back.

There is one view for each table, with all of its columns and rows. What the source no longer has is
null there, and of a table that it no longer has there are no rows.
"""

from collections.abc import Callable, Collection, Iterable, Mapping

from fluid_build.modeling.conceptual import Attribute, ConceptualModel, Conversion, Entity
from fluid_build.modeling.element import source_columns
from fluid_build.modeling.sql_names import SqlNames
from fluid_build.modeling.types import is_number, type_name
from fluid_build.sources.declared import unique_names
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_values.conventions import DECIMAL_MARKS, with_decimal_point
from fluid_build.transform.plan.deliveries import (
    NO_TABLE,
    as_at_source,
    kept_name,
    kept_rows,
    unmarked,
)
from fluid_build.transform.plan.elements import Build, PlanColumn, PlanSource, ValueColumn
from fluid_build.transform.plan.present_source import PresentSource
from fluid_build.transform.plan.sql_layout import nested, query, select_list

Keeps = Callable[[Attribute], Conversion | None]
"""Which conversion a technique makes of an attribute: None where its text stays as it is."""


def by_value(attribute: Attribute) -> Conversion | None:
    """Return every conversion: the value counts, not how it was spelled."""
    return attribute.conversion


def by_spelling(attribute: Attribute) -> Conversion | None:
    """Return only a conversion after which every value can be spelled as before."""
    conversion = attribute.conversion
    return conversion if conversion is not None and conversion.reversible else None


def plan_sources(
    conceptual: ConceptualModel, names: SqlNames, present: PresentSource
) -> tuple[PlanSource, ...]:
    """Return the tables that the source has, as the plan's SQL names them."""
    return tuple(
        PlanSource(
            id=names.source(entity.name),
            table=entity.name,
            now=present.new_name(entity.name),
            columns=tuple(
                (alias, attribute.source_type) for alias, attribute in present.columns(entity)
            ),
        )
        for entity in conceptual.entities
        if present.has_table(entity.name)
    )


def aliases(entity: Entity) -> list[str]:
    """Return the names that an entity's columns are read by where the source has all of them."""
    return unique_names(attribute.name for attribute in entity.attributes)


def column_aliases(entity: Entity, attributes: Iterable[str], present: PresentSource) -> list[str]:
    """Return the names that some of an entity's columns are read by."""
    by_name = {attribute.name: alias for alias, attribute in present.columns(entity)}
    return [by_name[name] for name in attributes]


def staging_builds(
    conceptual: ConceptualModel, names: SqlNames, keeps: Keeps, present: PresentSource
) -> tuple[Build, ...]:
    """Return one view for each entity, in the order of the source."""
    return tuple(_staging(entity, names, keeps, present) for entity in conceptual.entities)


def staged_type(attribute: Attribute, keeps: Keeps) -> str:
    """DuckDB's type of a staged attribute."""
    conversion = keeps(attribute)
    return attribute.source_type if conversion is None else conversion.to_type


def restored(
    entity: Entity, keeps: Keeps, expressions: Mapping[str, str], present: PresentSource
) -> str:
    """Return a select list that restores a source table's columns: names, types and spelling.

    ``expressions`` has the SQL of each attribute's staged value, by the attribute's name.
    """
    return select_list(
        (spelled_again(attribute, keeps, expressions[attribute.name]), quote(alias))
        for alias, attribute in present.columns(entity)
    )


def original(entity: Entity, names: SqlNames, present: PresentSource) -> str:
    """Return the query for a source table that ``restored`` is compared with."""
    return _of_source(entity, as_at_source(entity, names, present), present)


def delivered(entity: Entity, names: SqlNames, present: PresentSource) -> str:
    """Return the query for what a source has today of a table that isn't whole; "" for others."""
    if present.delivery(entity.name) is None:
        return ""
    aliases = {each.name: quote(alias) for alias, each in present.columns(entity)}
    conditions = filter(None, (unmarked(entity, present, aliases.__getitem__),))
    return _of_source(entity, f"source.{names.source(entity.name)}", present, conditions)


def _of_source(
    entity: Entity, relation: str, present: PresentSource, where: Iterable[str] = ()
) -> str:
    columns = [
        (present.as_modelled(quote(alias), attribute), quote(alias))
        for alias, attribute in present.columns(entity)
    ]
    return query(columns, relation, where=tuple(where))


def read_relations(
    tables: Iterable[str], names: SqlNames, present: PresentSource
) -> dict[str, tuple[str, ...]]:
    """Return the fields of a build that say what it reads, for builds on rows of these tables."""
    there = [table for table in dict.fromkeys(tables) if present.has_table(table)]
    kept = [table for table in there if present.delivery(table) is not None]
    return {
        "ref_models": tuple(kept_name(table, names) for table in kept),
        "ref_sources": tuple(names.source(table) for table in there if table not in kept),
    }


def value_columns(entity: Entity, keeps: Keeps, present: PresentSource) -> tuple[ValueColumn, ...]:
    """Return the columns of which a technique keeps the value and not the spelling."""
    return tuple(
        ValueColumn(
            name=alias,
            type=conversion.to_type,
            spelling=conversion.format,
            decided=conversion.decided,
        )
        for alias, attribute in present.columns(entity)
        if (conversion := keeps(attribute)) is not None and not conversion.reversible
    )


def spelled_again(attribute: Attribute, keeps: Keeps, expression: str) -> str:
    """Return a staged value as the source spells it, or the value where only that is kept."""
    conversion = keeps(attribute)
    if conversion is None:
        return f"CAST({expression} AS {attribute.source_type})"
    if not conversion.reversible:
        return f"CAST({expression} AS {conversion.to_type})"
    if conversion.format:
        spelled = f"strftime({expression}, {literal(conversion.format)})"
        is_text = not is_number(attribute.source_type)
        return spelled if is_text else f"CAST({spelled} AS {attribute.source_type})"
    return f"CAST({expression} AS {attribute.source_type})"


def staged_rows(
    entity: Entity,
    names: SqlNames,
    keeps: Keeps,
    present: PresentSource,
    attributes: Collection[str] | None = None,
) -> str:
    """Return the query for a source table's rows with our names and types: all or some columns."""
    columns = names.columns[entity.name]
    is_kept = present.delivery(entity.name) is not None
    aliases = {
        attribute.name: columns[attribute.name] if is_kept else quote(alias)
        for alias, attribute in present.columns(entity)
    }
    selected = [
        (
            reading(aliases[attribute.name], attribute, keeps)
            if attribute.name in aliases
            else f"CAST(NULL AS {staged_type(attribute, keeps)})",
            columns[attribute.name],
        )
        for attribute in entity.attributes
        if attributes is None or attribute.name in attributes
    ]
    if not present.has_table(entity.name):
        return query(selected, NO_TABLE, where=["FALSE"])
    if is_kept:
        return query(selected, f"{nested(kept_rows(entity, names, present))} AS kept")
    return query(selected, f"source.{names.source(entity.name)}")


def _staging(entity: Entity, names: SqlNames, keeps: Keeps, present: PresentSource) -> Build:
    primary = entity.primary_key
    read = read_relations((entity.name,), names, present)
    return Build(
        name=names.staging(entity.name),
        layer="staging",
        materialization="view",
        title=entity.name,
        description=entity.description,
        sql=staged_rows(entity, names, keeps, present),
        ref_models=read["ref_models"],
        ref_sources=read["ref_sources"],
        columns=tuple(
            staged_column(entity, attribute, names, keeps) for attribute in entity.attributes
        ),
        key=names.columns_of(entity.name, primary.attributes) if primary else (),
        mapped_source_tables=(entity.name,),
        source_columns=source_columns(entity.name, tuple(a.name for a in entity.attributes)),
        reason="One view per source table, with all of its rows, renamed and typed.",
    )


def reading(column: str, attribute: Attribute, keeps: Keeps) -> str:
    """Return the value of a source's column with our type."""
    conversion = keeps(attribute)
    if conversion is None:
        return f"CAST({column} AS {attribute.source_type})"
    if conversion.format:
        return f"CAST({read_text(column, attribute, conversion)} AS {conversion.to_type})"
    return f"CAST(trim({column}) AS {conversion.to_type})"


def read_text(
    column: str, attribute: Attribute, conversion: Conversion, parse: str = "strptime"
) -> str:
    """Return what to cast to read a column's text by the format of its conversion.

    ``parse`` is DuckDB's function that parses dates: it says what becomes of text that is none.
    """
    text = trimmed(column, attribute)
    if conversion.format in DECIMAL_MARKS:
        return with_decimal_point(text, DECIMAL_MARKS[conversion.format])
    return f"{parse}({text}, {literal(conversion.format)})"


def trimmed(column: str, attribute: Attribute) -> str:
    """Return a column as trimmed text; a whole number may be a date (``20231225``)."""
    is_text = not is_number(attribute.source_type)
    return f"trim({column})" if is_text else f"CAST({column} AS VARCHAR)"


def staged_column(
    entity: Entity, attribute: Attribute, names: SqlNames, keeps: Keeps
) -> PlanColumn:
    """Return an attribute's column in the staging."""
    type_ = staged_type(attribute, keeps)
    stays_text = type_ == attribute.source_type and attribute.conversion is not None
    return PlanColumn(
        name=names.column(entity.name, attribute.name),
        title=attribute.new_name or "",
        type=type_,
        contract_type=type_name(type_) if stays_text else attribute.type,
        required=attribute.required,
        description=attribute.description,
        semantic_type=attribute.semantic_type,
        pii=attribute.pii,
        measure=attribute.measure,
        tags=_tags(entity, attribute.name),
        mapped_source_tables=(entity.name,),
        source_columns=source_columns(entity.name, (attribute.name,)),
    )


def _tags(entity: Entity, attribute: str) -> tuple[str, ...]:
    primary = entity.primary_key
    tags = {
        "primary-key": primary is not None and attribute in primary.attributes,
        "unique": any(key.holds and key.attributes == (attribute,) for key in entity.keys),
    }
    return tuple(tag for tag, holds in tags.items() if holds)
