"""The figures that a fact or bridge must have in common with its source."""

from collections.abc import Collection, Iterator, Sequence

from fluid_build.modeling.dimensional.elements import (
    Dimension,
    DimensionReference,
    Fact,
    FactAttribute,
    Join,
    Measure,
)
from fluid_build.modeling.types import is_number
from fluid_build.transform.plan.dimensional.facts import (
    is_day_in_text,
    is_found,
    is_in_source,
    same_member,
)
from fluid_build.transform.plan.dimensional.rebuilds import Finder, members
from fluid_build.transform.plan.dimensional.shared_rows import from_source, shared_rows
from fluid_build.transform.plan.dimensional.star import (
    DELETED,
    UNKNOWN,
    FactOrBridge,
    Star,
    columns_of,
    joins_of,
    natural_key,
    references_of,
    referred_key,
)
from fluid_build.transform.plan.elements import Check
from fluid_build.transform.plan.sql_layout import exists, join, nested, query

_FLOATS = frozenset({"FLOAT", "DOUBLE"})

_REFERENCES_AT_ONCE = 6
"""References compared in one query. Every join hands on the columns of those before it, so a
query's time grows with the square of their number."""


def fact_checks(star: Star, owner: FactOrBridge, finder: Finder) -> Iterator[Check]:
    """Return the checks of a fact or bridge: of what the source still says of its rows."""
    source = star.source(owner.entity_name)
    yield Check(
        name=f"rows of {owner.name}",
        kind="rows",
        table=owner.entity_name,
        expected=f"SELECT COUNT(*) FROM {source}",
        actual=f"SELECT COUNT(*) FROM model.{owner.name}",
        reason=owner.grain,
    )
    if isinstance(owner, Fact):
        for measure in owner.measures:
            is_there = is_found(star, owner, "", (measure.column,))
            if is_there and is_number(star.type(owner.entity_name, measure.column)):
                yield _sum(star, owner, measure)
    for reference in references_of(owner):
        yield _one_row(star, owner, reference, source)
        if not is_in_source(star, owner, reference):
            continue
        yield from _known_members(star, owner, reference)
        if reference.carried:
            yield _carried(owner, reference, star.dimensions[reference.dimension], source)
    if isinstance(owner, Fact) and _of_headers(star, owner):
        yield _header_columns(star, owner, finder, source)
    if references_of(owner):
        yield from _right_members(star, owner, finder, source)


def _sum(star: Star, fact: Fact, measure: Measure) -> Check:
    """Check the sum of a measure; floats are added in order of size, so that it repeats."""
    entity = star.entities[fact.entity_name]
    type_ = star.type(entity.name, measure.column)
    staged = star.column(entity.name, measure.column)
    # Integers of 128 bits overflow when they are added up.
    is_wide = type_ in {"HUGEINT", "UHUGEINT"} or type_.startswith("DECIMAL(38")

    def total(column: str) -> str:
        if type_ in _FLOATS:
            return f"SUM({column} ORDER BY {column})"
        return f"SUM(CAST({column} AS DOUBLE) ORDER BY {column})" if is_wide else f"SUM({column})"

    return Check(
        name=f"sum of {fact.name}.{measure.name}",
        kind="sum",
        table=entity.name,
        expected=query([total(staged)], f"{nested(star.selects[entity.name])} AS original"),
        actual=query([total(measure.name)], f"model.{fact.name}"),
        reason=measure.reason,
    )


def _one_row(star: Star, owner: FactOrBridge, reference: DimensionReference, source: str) -> Check:
    """Check that no row is dropped or repeated when it's joined with a dimension."""
    dimension = star.dimensions[reference.dimension]
    key = referred_key(owner, dimension)
    target = f"model.{dimension.name}"
    if key != dimension.surrogate_key:
        target = f"(SELECT DISTINCT {key} FROM {target})"
    same = [f"built.{reference.key} = referred.{key}"]
    return Check(
        name=f"{owner.name}.{reference.key} finds one row of {reference.dimension}",
        kind="reference",
        table=owner.entity_name,
        expected=f"SELECT COUNT(*) FROM {source}",
        actual=query(
            ["COUNT(*)"], f"model.{owner.name} AS built", join("JOIN", target, "referred", same)
        ),
        differing=query(
            [reference.key],
            f"model.{owner.name}",
            where=[f"{reference.key} NOT IN (SELECT {key} FROM model.{dimension.name})"],
        ),
        reason="Every row is counted exactly once, however it is grouped.",
    )


def _known_members(
    star: Star, owner: FactOrBridge, reference: DimensionReference
) -> Iterator[Check]:
    """Check that no row that names a member, deleted or not, refers to the unknown one."""
    dimension = star.dimensions[reference.dimension]
    columns = columns_of(owner)
    has_columns = not reference.source and columns.keys() >= set(reference.columns)
    is_natural = set(reference.to_columns) == set(dimension.natural_key_columns)
    is_ambiguous = star.present.is_ambiguous(dimension.entity_name)
    if not has_columns or not is_natural or not star.is_kept(dimension) or is_ambiguous:
        return
    same = same_member(star, reference, owner.entity_name, "built", "there", names=columns)
    is_a_member = exists(f"model.{dimension.name} AS there", same)
    yield Check(
        name=f"{owner.name}.{reference.key} finds the members of {reference.dimension}",
        kind="reference",
        table=owner.entity_name,
        expected="SELECT CAST(0 AS BIGINT)",
        actual=query(
            ["COUNT(*)"],
            f"model.{owner.name} AS built",
            where=[f"built.{reference.key} = {UNKNOWN}", is_a_member],
        ),
        reason="A row keeps its reference to a member that the source has deleted.",
    )


def _of_headers(star: Star, fact: Fact) -> list[FactAttribute]:
    return [
        attribute
        for attribute in fact.attributes
        if attribute.source and is_found(star, fact, attribute.source, (attribute.attribute,))
    ]


def _header_columns(star: Star, fact: Fact, finder: Finder, source: str) -> Check:
    """Check that each row has the columns of its own header."""
    entity = star.entities[fact.entity_name]
    taken_over = _of_headers(star, fact)
    key = entity.primary_key.attributes if entity.primary_key is not None else ()
    joins = _joins_for(fact.joins, {attribute.source for attribute in taken_over})
    of_header = [
        f"{attribute.source}."
        + star.column(star.joined_entity(entity.name, joins, attribute.source), attribute.attribute)
        for attribute in taken_over
    ]
    own = [f"own.{star.column(entity.name, name)}" for name in key]
    expected = from_source(star, entity.name, joins, [*own, *of_header])
    rows = finder.rows_of(entity)
    built = [rows.expressions[name] for name in key]
    built += [f"built.{attribute.name}" for attribute in taken_over]
    actual = query(built, rows.from_clause.removeprefix("FROM "))
    return Check(
        name=f"{fact.name} has the columns of its headers",
        kind="reference",
        table=entity.name,
        expected=f"SELECT COUNT(*)\nFROM {source}",
        actual=shared_rows(expected, actual, width=len(built)),
        differing=f"{expected}\nEXCEPT ALL\n{actual}",
        reason="A row is filtered by the number and the status of the header that it belongs to.",
    )


def _right_members(star: Star, owner: FactOrBridge, finder: Finder, source: str) -> Iterator[Check]:
    """Check that each row refers to the same members in the star as in the source.

    Where a key identifies the rows, a few references are compared at a time.
    """
    references = [
        reference
        for reference in references_of(owner)
        # Of a table that is gone, the source doesn't say what a row refers to, and which day a
        # text means is found by the calendar alone.
        if star.present.has_table(star.dimensions[reference.dimension].entity_name)
        and not is_day_in_text(star, owner, reference)
        and is_in_source(star, owner, reference)
    ]
    primary = star.entities[owner.entity_name].primary_key
    is_keyed = primary is not None and primary.holds
    at_once = _REFERENCES_AT_ONCE if is_keyed else max(len(references), 1)
    groups = [references[n : n + at_once] for n in range(0, len(references), at_once)]
    for number, group in enumerate(groups, start=1):
        part = f" ({number} of {len(groups)})" if len(groups) > 1 else ""
        yield _members_of_group(star, owner, finder, source, group, part)


def _members_of_group(
    star: Star,
    owner: FactOrBridge,
    finder: Finder,
    source: str,
    references: Sequence[DimensionReference],
    part: str,
) -> Check:
    primary = star.entities[owner.entity_name].primary_key
    key = primary.attributes if primary is not None else ()
    expected = _referred_in_source(star, owner, references, key)
    rows = finder.rows_of(star.entities[owner.entity_name])
    columns = [rows.expressions[name] for name in key]
    clauses = [rows.from_clause.removeprefix("FROM ")]
    for number, reference in enumerate(references, start=1):
        dimension = star.dimensions[reference.dimension]
        alias = f"member_{number}_"
        member_key = referred_key(owner, dimension)
        relation = members(dimension, member_key, dimension.natural_key_columns)
        same = [f"built.{reference.key} = {alias}.{member_key}"]
        clauses.append(join("JOIN", relation, alias, same))
        columns += [
            # In the source, a row refers to nothing once the member is deleted.
            f"CASE WHEN {alias}.{DELETED} THEN NULL ELSE {alias}.{name} END"
            if star.is_kept(dimension)
            else f"{alias}.{name}"
            for name in dimension.natural_key_columns
        ]
    actual = query(columns, *clauses)
    return Check(
        name=f"{owner.name} refers to the right members{part}",
        kind="reference",
        table=owner.entity_name,
        expected=f"SELECT COUNT(*)\nFROM {source}",
        actual=shared_rows(expected, actual, width=len(columns)),
        differing=f"{expected}\nEXCEPT ALL\n{actual}",
        reason="Every reference finds the same row as in the source, or the unknown member.",
    )


def _referred_in_source(
    star: Star,
    owner: FactOrBridge,
    references: Sequence[DimensionReference],
    key: Sequence[str],
) -> str:
    """Return a query on the source: the key of each row, and of the members it refers to."""
    entity = owner.entity_name
    joins = _joins_for(joins_of(owner), {reference.source for reference in references})
    columns = [f"own.{star.column(entity, name)}" for name in key]
    clauses = []
    for number, reference in enumerate(references, start=1):
        dimension = star.dimensions[reference.dimension]
        rows = reference.source or "own"
        from_entity = star.joined_entity(entity, joins, reference.source)
        if dimension.dimension_type == "time":
            columns.append(_time_of_day(f"{rows}.{star.column(from_entity, reference.columns[0])}"))
        elif dimension.is_generated:
            day = f"{rows}.{star.column(from_entity, reference.columns[0])}"
            columns.append(f"CAST({day} AS DATE)")
        elif star.is_derived(dimension):
            columns += [f"{rows}.{star.column(from_entity, name)}" for name in reference.columns]
        else:
            alias = f"referred_{number}_"
            columns += [
                f"{alias}.{star.column(dimension.entity_name, part.name)}"
                for part in natural_key(star, dimension)
            ]
            same = same_member(star, reference, from_entity, rows, alias, is_staged=True)
            relation = nested(star.selects[dimension.entity_name])
            clauses.append(join("LEFT JOIN", relation, alias, same))
    return "\n".join((from_source(star, entity, joins, columns), *clauses))


def _time_of_day(moment: str) -> str:
    """Return the time of a moment to the minute, 14:05; null where it's infinite."""
    hour, minute = (
        f"LPAD(CAST(EXTRACT({part} FROM {moment}) AS VARCHAR), 2, '0')"
        for part in ("HOUR", "MINUTE")
    )
    return f"{hour} || ':' || {minute}"


def _joins_for(joins: Sequence[Join], sources: Collection[str]) -> list[Join]:
    """Return the joins of that name, and the joins that these hang on."""
    needed = set(sources)
    for joined in reversed(joins):
        if joined.name in needed:
            needed.add(joined.parent)
    return [joined for joined in joins if joined.name in needed]


def _carried(
    owner: FactOrBridge, reference: DimensionReference, dimension: Dimension, source: str
) -> Check:
    """Check that a wide table has the values of the dimension that it repeats."""
    same = [
        f"built.{reference.key} = referred.{dimension.surrogate_key}",
        *(
            f"built.{name} IS NOT DISTINCT FROM referred.{column}"
            for column, name in reference.carried
        ),
    ]
    return Check(
        name=f"columns of {reference.dimension} in {owner.name} by {reference.key}",
        kind="lost",
        table=owner.entity_name,
        expected=f"SELECT COUNT(*) FROM {source}",
        actual=query(
            ["COUNT(*)"],
            f"model.{owner.name} AS built",
            join("JOIN", f"model.{dimension.name}", "referred", same),
        ),
        reason=f"The columns of {reference.dimension} have the same values in the wide table.",
    )
