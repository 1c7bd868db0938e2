"""The conceptual layer of a profile: one entity for each table, under the table's own names."""

import re
from collections import Counter
from collections.abc import Mapping, Set

from fluid_build.decisions.language import Measure
from fluid_build.decisions.model_decisions import NO_DECISIONS, ModelDecisions
from fluid_build.decisions.reasons import decided_reason
from fluid_build.modeling.conceptual import (
    Attribute,
    CandidateRelationship,
    ConceptualModel,
    Conversion,
    Entity,
    EntityKey,
    KeyKind,
    Relationship,
    RelationshipCardinality,
)
from fluid_build.modeling.element import SourceColumn, source_columns
from fluid_build.modeling.identifiers import identifiers
from fluid_build.modeling.measures import (
    MeasureRole,
    TableMeasures,
    holds_names,
    is_category_name,
    profile_measures,
    with_decided,
)
from fluid_build.modeling.types import column_type, family, type_name
from fluid_build.observations.observe import NO_OBSERVATIONS, Observations
from fluid_build.profiling import checks
from fluid_build.profiling.profile import (
    Candidate,
    ColumnProfile,
    Evidence,
    ForeignKey,
    KeyClaim,
    Origin,
    Profile,
    TableProfile,
)
from fluid_build.sources.text_values.canonical_text import type_and_spelling
from fluid_build.text import counted

# Closed domains: columns whose values have probably all been seen.

MOST_VALUES = 25
"""Values of a domain in text. Longer lists of codes belong in a table of their own."""
_MOST_NUMERIC_VALUES = 10
"""Values of a domain in numbers, which are more easily just the numbers that occurred so far."""
_LONGEST_VALUE = 64
"""Characters of a value; longer ones are free text that happens to repeat."""
_FEWEST_ROWS = 50
_ROWS_PER_VALUE = 10
"""Rows that must confirm each value on average. With ten, a value that comes as often as the others
would hardly be missing."""
_WHOLE = re.compile(r"-?[0-9]{1,9}")
# Other meanings, such as a city or a company, are open: the next row may bring a new one.
_CLOSED_MEANINGS = {None, "boolean", "gender", "marital_status", "salutation"}


def accepted_values(column: ColumnProfile, key_columns: Set[str]) -> tuple[str, ...] | None:
    """Return the sorted values of a closed domain as text; None where the column has none.

    All values must be known and counted exactly, be few for the number of rows, and occur more than
    once: by Good and Turing, the chance that the next row has a new value is about the share of
    rows whose value occurs once. Personal data never qualifies, nor does a key or a reference,
    whose domain is another table.
    """
    if column.pii or column.name in key_columns:
        return None
    if column.semantic_type not in _CLOSED_MEANINGS:
        return None
    if not column.distinct_exact or column.sample is not None:
        return None
    filled = column.rows - column.nulls
    if filled < max(_FEWEST_ROWS, _ROWS_PER_VALUE * column.distinct):
        return None
    counted = column.top_values
    if len(counted) != column.distinct or sum(value.count for value in counted) != filled:
        return None
    if not 1 < column.distinct <= MOST_VALUES or min(value.count for value in counted) < 2:
        return None
    if max(len(value.value) for value in counted) > _LONGEST_VALUE or not _is_category(column):
        return None
    return tuple(sorted(value.value for value in counted))


def _is_category(column: ColumnProfile) -> bool:
    """Return whether a column's few values are categories rather than names or quantities."""
    type_family = family(column_type(column))
    if type_family == "text":
        return not holds_names(column.name)
    if type_family != "integer" or column.distinct > _MOST_NUMERIC_VALUES:
        return False
    values = {value.value for value in column.top_values}
    return values == {"0", "1"} or (is_category_name(column.name) and _is_dense(values))


def _is_dense(values: set[str]) -> bool:
    """Return whether whole numbers are close together, as assigned codes are."""
    if not all(map(_WHOLE.fullmatch, values)):
        return False
    numbers = [int(value) for value in values]
    return max(numbers) - min(numbers) < 2 * len(numbers)


# The columns of a table that identify or refer, which are neither measures nor categories.


def key_columns(profile: Profile) -> dict[str, set[str]]:
    """Return for each table the columns that are part of a key or of a reference."""
    columns = {table.name: _own_keys(table) for table in profile.tables}
    for key in profile.foreign_keys:
        columns.setdefault(key.from_table, set()).update(key.from_columns)
        columns.setdefault(key.to_table, set()).update(key.to_columns)
    return columns


def _own_keys(table: TableProfile) -> set[str]:
    declared = (column for claim in table.declared_keys for column in claim.columns)
    return {*(table.primary_key or ()), *declared}


_FOREIGN_KEY_REASONS: Mapping[Origin, str] = {
    "declared": "A foreign key declared by the source.",
    "measured": "A foreign key inferred from the data.",
    "llm": "A foreign key suggested by a language model.",
}


def conceptual_model(
    profile: Profile,
    observations: Observations = NO_OBSERVATIONS,
    decisions: ModelDecisions = NO_DECISIONS,
) -> ConceptualModel:
    """Return the entities, keys and relationships that a profile has evidence for.

    ``observations`` of the same source show how measures add up, and ``decisions`` overrule that.
    """
    keys = key_columns(profile)
    suggested = profile_measures(profile, keys, observations)
    measures = with_decided(profile, suggested, keys, decisions.measures)
    entities = tuple(
        _entity(table, keys[table.name], measures[table.name], profile.has_data)
        for table in profile.tables
    )
    return ConceptualModel(
        entities=tuple(_with_plain_attributes(e, decisions, suggested[e.name]) for e in entities),
        relationships=_relationships(profile),
        candidates=tuple(map(_candidate_relationship, profile.candidates)),
        skipped=tuple(skipped.name for skipped in profile.skipped),
        ignored=profile.ignored or None,
    )


def _entity(table: TableProfile, keys: Set[str], measures: TableMeasures, has_data: bool) -> Entity:
    return Entity(
        name=table.name,
        place=table.place,
        source=table.source,
        description=table.comment or "",
        rows=table.rows,
        attributes=tuple(
            _attribute(table, column, keys, measures.get(column.name), has_data)
            for column in table.columns
        ),
        keys=entity_keys(table, has_data),
        mapped_source_tables=(table.name,),
        reason="One entity for one source table, under its own name.",
    )


def _with_plain_attributes(
    entity: Entity, decisions: ModelDecisions, suggested: TableMeasures
) -> Entity:
    """Return an entity whose attributes say that a decision made them plain ones."""
    overruled = {
        column: decision
        for (table, column), decision in decisions.measures.items()
        if table == entity.name and decision.additivity == "none" and column in suggested
    }
    if not overruled:
        return entity
    attributes = tuple(
        attribute.model_copy(
            update={
                "reason": _plain_reason(
                    attribute, overruled[attribute.name], suggested[attribute.name]
                )
            }
        )
        if attribute.name in overruled
        else attribute
        for attribute in entity.attributes
    )
    return entity.model_copy(update={"attributes": attributes})


def _plain_reason(attribute: Attribute, decision: Measure, suggested: MeasureRole) -> str:
    return (
        f"{attribute.reason} It isn't a measure. {decided_reason(decision)} By name and values it"
        f" would be {suggested.additivity}: {suggested.reason}."
    )


def _attribute(
    table: TableProfile,
    column: ColumnProfile,
    keys: Set[str],
    measure: MeasureRole | None,
    has_data: bool,
) -> Attribute:
    required, origin, reason = _requirement(table, column, has_data)
    return Attribute(
        name=column.name,
        type=column_type(column),
        source_type=column.type,
        conversion=_conversion(column),
        required=required,
        accepted_values=accepted_values(column, keys) or (),
        measure=measure,
        semantic_type=column.semantic_type,
        pii=column.pii,
        description=column.comment or "",
        evidence=Evidence(
            origin=origin,
            rows=column.rows,
            nulls=column.nulls,
            distinct=column.distinct if has_data else None,
            exact=column.distinct_exact,
            sample=table.sample.rows if table.sample else None,
            sample_of=table.sample.total if table.sample else None,
            sql=checks.null_rows(table.sql, (column.name,)) if required else "",
        ),
        mapped_source_tables=(table.name,),
        source_columns=source_columns(table.name, (column.name,)),
        reason=reason,
    )


def _conversion(column: ColumnProfile) -> Conversion | None:
    measured = column.measured_type
    if measured is None or column_type(column) != type_name(measured):
        return None
    to_type, spelling = type_and_spelling(measured)
    return Conversion(
        to_type=to_type,
        format=spelling,
        reversible=column.reversible,
        decided=column.reading_decided,
    )


def _requirement(
    table: TableProfile, column: ColumnProfile, has_data: bool
) -> tuple[bool, Origin, str]:
    """Return whether an attribute is required, who says so, and the sentence for it."""
    if has_data and column.nulls > 0:
        declared = "" if column.nullable else ", though it's declared NOT NULL"
        return False, "measured", f"{_count_nulls(column)}{declared}."
    if not column.nullable:
        return True, "declared", "Declared NOT NULL."
    if has_data and column.rows > 0:
        return True, "measured", f"Never null in {table.rows_read}."
    return False, "declared" if not has_data else "measured", "Nothing shows that it's never null."


def _count_nulls(column: ColumnProfile) -> str:
    if column.nulls == column.rows > 1:
        return f"All {column.rows:,} rows are null"
    verb = "is" if column.nulls == 1 else "are"
    return f"{column.nulls:,} of {counted(column.rows, 'row')} {verb} null"


def entity_keys(table: TableProfile, has_data: bool) -> tuple[EntityKey, ...]:
    """Return the chosen key, then declared keys, then undeclared single columns that are unique.

    Undeclared composite candidates stay in the profile: most of them are unique by accident.
    """
    keys: list[EntityKey] = []
    if table.primary_key is not None:
        keys.append(_primary_key(table, table.primary_key, has_data))
    for claim in table.declared_keys:
        if claim.columns != table.primary_key:
            keys.append(_declared_key(table, claim))
    claimed = {key.attributes for key in keys}
    for columns in table.candidate_keys:
        if len(columns) == 1 and columns not in claimed:
            claim = KeyClaim(columns=columns, evidence=_measured_evidence(table, columns))
            reason = f"Unique and never null in {table.rows_read}."
            keys.append(_key(table, "candidate", claim, reason))
    return tuple(keys)


def _declared_key(table: TableProfile, claim: KeyClaim) -> EntityKey:
    """Return a declared key other than the primary one; SQL allows nulls in it."""
    holds = claim.evidence.violations == 0
    reason = "Declared as a key." if holds else "Declared as a key, but the data violates it."
    return _key(table, "declared", claim, reason).model_copy(update={"holds": holds})


def _primary_key(table: TableProfile, columns: tuple[str, ...], has_data: bool) -> EntityKey:
    declared = next((claim for claim in table.declared_keys if claim.columns == columns), None)
    origin = table.primary_key_origin or ("declared" if declared else "measured")
    if declared is None:
        measured = table.primary_key_evidence or _measured_evidence(table, columns)
        evidence = measured.model_copy(update={"origin": origin})
        declared = KeyClaim(columns=columns, evidence=evidence)
    reason = table.primary_key_reason or ("Declared." if not has_data else "Unique and never null.")
    key = _key(table, "primary", declared, reason)
    return key.model_copy(update={"origin": origin})


def _key(table: TableProfile, kind: KeyKind, claim: KeyClaim, reason: str) -> EntityKey:
    evidence = claim.evidence
    if not evidence.sql:
        query = checks.repeated_values(table.sql, claim.columns)
        evidence = evidence.model_copy(update={"sql": query})
    return EntityKey(
        kind=kind,
        attributes=claim.columns,
        origin=evidence.origin,
        holds=claim.holds,
        evidence=evidence,
        mapped_source_tables=(table.name,),
        source_columns=source_columns(table.name, claim.columns),
        reason=reason,
    )


def _measured_evidence(table: TableProfile, columns: tuple[str, ...]) -> Evidence:
    return Evidence(
        origin="measured",
        rows=table.rows,
        distinct=table.rows,
        exact=table.sample is None,
        sample=table.sample.rows if table.sample else None,
        sample_of=table.sample.total if table.sample else None,
        sql=checks.repeated_values(table.sql, columns),
    )


def _relationships(profile: Profile) -> tuple[Relationship, ...]:
    tables = {table.name: table for table in profile.tables}
    # A declared key may refer to a table that was skipped, which is no entity.
    # Databases let the same reference be declared twice, and it's one relationship all the same.
    distinct = {
        (key.from_table, key.from_columns, key.to_table, key.to_columns): key
        for key in reversed(profile.foreign_keys)
    }
    related = [
        key for key in reversed(distinct.values()) if {key.from_table, key.to_table} <= set(tables)
    ]
    labels = _distinct_labels(related)
    names = identifiers(labels)
    return tuple(
        _relationship(
            names[label], key, tables[key.from_table], tables[key.to_table], profile.has_data
        )
        for label, key in zip(labels, related, strict=True)
    )


def _distinct_labels(keys: list[ForeignKey]) -> list[str]:
    """Return a distinct text for each key, as short as that allows."""
    short = [f"{key.from_table} {' '.join(key.from_columns)} to {key.to_table}" for key in keys]
    count = Counter(short)
    full = [
        f"{text} {' '.join(key.to_columns)}" if count[text] > 1 else text
        for text, key in zip(short, keys, strict=True)
    ]
    labels: dict[str, None] = {}
    for text in full:
        while text in labels:
            text += " again"
        labels[text] = None
    return list(labels)


def _relationship(
    name: str, key: ForeignKey, child: TableProfile, parent: TableProfile, has_data: bool
) -> Relationship:
    evidence = key.evidence
    if not evidence.sql:
        query = checks.orphans(child.sql, key.from_columns, parent.sql, key.to_columns)
        evidence = evidence.model_copy(update={"sql": query})
    if has_data and child.rows > 0:
        complete = key.evidence.nulls == 0 and key.evidence.orphans == 0
    else:
        complete = not any(child.column(column).nullable for column in key.from_columns)
    return Relationship(
        name=name,
        from_entity=key.from_table,
        from_attributes=key.from_columns,
        to_entity=key.to_table,
        to_attributes=key.to_columns,
        cardinality=_cardinality(key, child),
        from_participation="mandatory" if complete else "optional",
        to_participation="mandatory" if evidence.coverage == 1.0 else "optional",
        coverage=evidence.coverage,
        role=key.role,
        implied=key.implied,
        origin=key.origin,
        confidence=key.confidence,
        evidence=evidence,
        mapped_source_tables=tuple(dict.fromkeys((key.from_table, key.to_table))),
        source_columns=_columns_of_both(key),
        reason=evidence.reason or _FOREIGN_KEY_REASONS[key.origin],
    )


def _candidate_relationship(candidate: Candidate) -> CandidateRelationship:
    return CandidateRelationship(
        from_entity=candidate.from_table,
        from_attributes=candidate.from_columns,
        to_entity=candidate.to_table,
        to_attributes=candidate.to_columns,
        ruled_out=candidate.ruled_out,
        confidence=candidate.confidence,
        evidence=candidate.evidence,
        mapped_source_tables=tuple(dict.fromkeys((candidate.from_table, candidate.to_table))),
        source_columns=_columns_of_both(candidate),
        reason=candidate.reason,
    )


def _columns_of_both(reference: ForeignKey | Candidate) -> tuple[SourceColumn, ...]:
    return (
        *source_columns(reference.from_table, reference.from_columns),
        *source_columns(reference.to_table, reference.to_columns),
    )


def _cardinality(key: ForeignKey, child: TableProfile) -> RelationshipCardinality:
    """Return one-to-one where the referring columns contain a key: no parent repeats then."""
    columns = set(key.from_columns)
    declared = (claim.columns for claim in child.declared_keys if claim.evidence.violations == 0)
    keys = [*declared, *child.candidate_keys, *filter(None, (child.primary_key,))]
    if key.cardinality == "one-to-one" or any(columns.issuperset(unique) for unique in keys):
        return "one-to-one"
    return "many-to-one"
