"""What becomes of each decision: names first, then contradictions, then the data."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import duckdb

from fluid_build.decisions.language import (
    AddRelationship,
    AnyDecision,
    Author,
    BusinessKey,
    DecisionEvidence,
    Delivery,
    DropRelationship,
    Exposure,
    Grain,
    Ignore,
    Measure,
    Merge,
    OneTable,
    PersonalData,
    Rename,
    Renamed,
    Separate,
    SetDelivery,
    SetKey,
    SetValidity,
    Split,
    TextType,
)
from fluid_build.decisions.verdicts import Verdict, accepted, refused
from fluid_build.decisions.weighing.amending import amended
from fluid_build.decisions.weighing.claims import Claims, open_claims
from fluid_build.decisions.weighing.comparing import value_kind
from fluid_build.decisions.weighing.entities import weigh_merge, weigh_split
from fluid_build.decisions.weighing.keys import weigh_key
from fluid_build.decisions.weighing.names import (
    UnknownNameError,
    columns_label,
    label,
    source_names,
    with_exact_names,
)
from fluid_build.decisions.weighing.overruled import overruled
from fluid_build.decisions.weighing.readings import weigh_reading
from fluid_build.decisions.weighing.references import weigh_dropping, weigh_reference
from fluid_build.profiling import checks
from fluid_build.profiling.measure.figures import kind_of
from fluid_build.profiling.names.concepts import read_concepts
from fluid_build.profiling.profile import ColumnProfile, Profile, TableProfile, is_code
from fluid_build.sources.base import Source
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, reason
from fluid_build.sources.text_values.personal_text import MASK
from fluid_build.text import counted, listed

# Decisions about single columns and names that figures of the profile settle.

_NOT_CONTRADICTED = "The data doesn't contradict it."
_NUMBERS = frozenset({"integer", "decimal", "float"})
_NUMBERS_IN_TEXT = ("BIGINT", "DOUBLE")
_ID_CONCEPTS = frozenset({"id", "key", "code"})
"""Concepts of names that identify. "Number" isn't one of them: it also counts."""


def weigh_measure(claims: Claims, decision: Measure) -> Verdict:
    """Return the verdict on how a number adds up; ids aren't measures."""
    table = claims.table(decision.table)
    column = table.column(decision.column)
    name = label(table.name, column.name)
    if decision.additivity == "none":
        return accepted(decision, f"{name} isn't added up.")
    if not _is_number(column):
        stored = column.measured_type or column.type
        return refused(decision, f"{name} isn't a number: it's {stored}.")
    reason = _identifies(claims, table, column, decision.by)
    if reason is None and decision.by == "model":
        reason = _looks_like_id(table, column)
    if reason is not None:
        return refused(decision, f"{name} {reason}, so a sum of it says nothing.")
    return accepted(
        decision, f"{name} is a number that neither identifies a row nor refers to one."
    )


def weigh_personal(claims: Claims, decision: PersonalData) -> Verdict:
    """Return the verdict on whether a column is personal; a model can't uncover one that is."""
    column = claims.table(decision.table).column(decision.column)
    if decision.by == "model" and not decision.is_personal and column.pii:
        name = label(decision.table, decision.column)
        meaning = f" ({column.semantic_type})" if column.semantic_type else ""
        return refused(
            decision, f"{name} holds personal data{meaning}; only a person can say it doesn't."
        )
    return accepted(decision, _NOT_CONTRADICTED)


def weigh_renaming(claims: Claims, decision: Rename) -> Verdict:
    """Return the verdict on another name, which nothing else of the source may have."""
    new = decision.new_name.casefold()
    if decision.table is None:
        return accepted(decision, "It's checked once the model exists.")
    if decision.column is None:
        names = (table.name for table in claims.profile.tables if table.name != decision.table)
        noun = "table"
    else:
        columns = claims.table(decision.table).columns
        names = (column.name for column in columns if column.name != decision.column)
        noun = f"column of {label(decision.table)}"
    if new in {name.casefold() for name in names}:
        return refused(decision, f"Another {noun} is called {label(decision.new_name)} already.")
    return accepted(decision, "Nothing else has that name.")


def weigh_renamed(claims: Claims, decision: Renamed) -> Verdict:
    """Return the verdict on an earlier name, which the source may not have any more."""
    if decision.by == "model":
        return refused(decision, "Only a person knows what it was called before.")
    table = claims.table(decision.table)
    if decision.column is None:
        taken = decision.was in {each.name for each in claims.profile.tables}
        evidence = DecisionEvidence(rows=table.rows, sql=checks.count_rows(table.sql))
        now, noun, was = label(table.name), "table", label(decision.was)
    else:
        taken = decision.was in {each.name for each in table.columns}
        column = table.column(decision.column)
        evidence = DecisionEvidence(
            rows=table.rows - column.nulls,
            nulls=column.nulls,
            distinct=column.distinct,
            sql=checks.filled_rows(table.sql, (column.name,)),
        )
        now, noun = label(table.name, column.name), "column"
        was = label(table.name, decision.was)
    if not decision.is_renamed:
        return accepted(decision, f"{now} is another {noun} than {was} was.", evidence)
    if taken:
        return refused(decision, f"There's still a {noun} {was}, so {now} is another one.")
    return accepted(decision, f"There's {now}, and no {noun} {was} any more.", evidence)


def weigh_delivery(claims: Claims, decision: SetDelivery) -> Verdict:
    """Return the verdict on what a table delivers: rows of a single day don't show it."""
    if decision.by == "model":
        return refused(decision, "Only a person knows what the source delivers.")
    table = claims.table(decision.table)
    evidence = DecisionEvidence(rows=table.rows, sql=checks.count_rows(table.sql))
    message = _DELIVERED[decision.delivers].format(label(table.name))
    if decision.deleted_column is not None:
        column = label(table.name, table.column(decision.deleted_column).name)
        values = listed(map(label, decision.deleted_values or ())) or "any value"
        message += f" A row is deleted where {column} has {values}."
    return accepted(decision, message, evidence)


_DELIVERED: Mapping[Delivery, str] = {
    "full": "{} has all of its rows, and one that it lacks is deleted.",
    "delta": "{} has the rows that changed, and what it lacks stays.",
    "append": "{} has the rows that came, and what it lacks stays.",
}


def weigh_validity(claims: Claims, decision: SetValidity) -> Verdict:
    """Return the verdict on from when versions hold: whether a column says it shows the model."""
    if decision.by == "model":
        return refused(decision, "Only a person knows what the source stamps.")
    table = claims.table(decision.table)
    if decision.column is not None:
        table.column(decision.column)
    evidence = DecisionEvidence(rows=table.rows, sql=checks.count_rows(table.sql))
    since = "was loaded" if decision.follows == "load" else "was changed at the source"
    message = f"A version of {label(table.name)} holds from when it {since}."
    return accepted(decision, message, evidence)


def weigh_parts(claims: Claims, decision: OneTable | Separate) -> Verdict:
    """Return the verdict on what is one table: whether the source was read so."""
    if decision.by == "model":
        return refused(decision, "Only a person knows which tables are one.")
    why = claims.regrouped.get(decision.table)
    if why is None:
        return refused(decision, "The source was opened before this was decided.")
    unread = next((t.reason for t in claims.profile.skipped if t.name == decision.table), "")
    if why or unread:
        return refused(decision, why or unread)
    if isinstance(decision, Separate):
        return accepted(decision, f"The parts of {label(decision.table)} are tables.")
    parts = listed(map(label, decision.parts))
    return accepted(decision, f"{label(decision.table)} has the rows of {parts}.")


def weigh_ignoring(claims: Claims, decision: Ignore) -> Verdict:
    """Return the verdict on leaving a table out; a model can't leave out rows."""
    table = claims.table(decision.table)
    rows = counted(table.rows, "row")
    if decision.by == "model" and (table.rows or not claims.profile.has_data):
        content = f"has {rows}" if table.rows else "may have rows"
        message = f"{label(table.name)} {content}, and only a person can leave it out."
        return refused(decision, message)
    return accepted(decision, f"{label(table.name)} is left out, with {rows}.")


def _is_number(column: ColumnProfile) -> bool:
    measured = column.measured_type or ""
    in_text = kind_of(column.type) == "text" and measured.startswith(_NUMBERS_IN_TEXT)
    return kind_of(column.type) in _NUMBERS or in_text


def _identifies(
    claims: Claims, table: TableProfile, column: ColumnProfile, by: Author
) -> str | None:
    """Return how a column identifies a row or refers to one, None if it doesn't."""
    if (column.measured_type or "").startswith("DATE"):
        return "holds dates"
    if is_code(column):
        return f"holds codes ({column.semantic_type or 'personal data'})"
    profiles = (claims.profile, claims.drafted) if by == "model" else (claims.profile,)
    # A model could drop a reference only to sum its column.
    for key in (key for profile in profiles for key in profile.foreign_keys):
        if key.from_table == table.name and column.name in key.from_columns:
            return f"refers to {label(key.to_table)}"
    keys = [*filter(None, (table.primary_key,)), *(claim.columns for claim in table.declared_keys)]
    for columns in keys:
        if column.name in columns:
            is_whole = len(columns) == 1
            return (
                f"identifies the rows of {label(table.name)}"
                if is_whole
                else f"is part of the key {columns_label(table.name, columns)}"
            )
    return None


def _looks_like_id(table: TableProfile, column: ColumnProfile) -> str | None:
    """Return why whole numbers look like ids, None if they don't."""
    is_whole = kind_of(column.type) == "integer" or column.measured_type == "BIGINT"
    if is_whole and read_concepts(column.name).concepts & _ID_CONCEPTS:
        return "is named as an id"
    if is_whole and table.rows > 1 and (column.name,) in table.candidate_keys:
        return f"is different in each of {counted(table.rows, 'row')}, as ids are"
    return None


_STEPS: tuple[tuple[type[AnyDecision], ...], ...] = (
    (DropRelationship, PersonalData),
    (TextType,),
    (SetKey, BusinessKey, Grain),
    (AddRelationship,),
)
"""Kinds that change what the kinds of later steps are checked against; the others come last."""

_NUMBER = re.compile(r"(?<![A-Za-z0-9_])[0-9][0-9.,:+-]*(?<![.,])")

Verdicts = dict[int, Verdict]
"""Verdicts by the place of their decision in the list, counted from 0."""


def weigh(
    source: Source, profile: Profile, decisions: Sequence[AnyDecision]
) -> tuple[Verdict, ...]:
    """Return what becomes of each decision, in their order.

    The decisions of verdicts have the exact names of tables and columns. A claim is measured on
    every row; one on which a query fails is refused with the reason. Nothing is written to the
    source.
    """
    if not decisions:
        return ()
    verdicts, resolved = _resolve_names(source, profile, decisions)
    verdicts.update(overruled(resolved, [table.name for table in profile.tables]))
    claims = open_claims(source, profile)
    for step in range(len(_STEPS) + 1):
        places = {
            place: each
            for place, each in resolved.items()
            if place not in verdicts and _step(each) == step
        }
        weighed = _weigh_step(claims, places)
        verdicts.update(weighed)
        claims = replace(claims, profile=amended(claims.profile, list(weighed.values())))
    return tuple(verdicts[place] for place in range(len(decisions)))


def _step(decision: AnyDecision) -> int:
    kinds = (step for step, kinds in enumerate(_STEPS) if isinstance(decision, kinds))
    return next(kinds, len(_STEPS))


def _resolve_names(
    source: Source, profile: Profile, decisions: Sequence[AnyDecision]
) -> tuple[Verdicts, dict[int, AnyDecision]]:
    """Return verdicts on decisions with unknown names, and the others with exact names."""
    said = [each for each in decisions if isinstance(each, Renamed) and each.by == "person"]
    names = source_names(source, profile, said)
    verdicts: Verdicts = {}
    resolved: dict[int, AnyDecision] = {}
    for place, decision in enumerate(decisions):
        try:
            resolved[place] = with_exact_names(decision, names)
        except UnknownNameError as error:
            verdicts[place] = refused(decision, str(error))
    return verdicts, resolved


def _weigh_step(claims: Claims, decisions: Mapping[int, AnyDecision]) -> Verdicts:
    verdicts = {place: _weigh_safely(claims, decision) for place, decision in decisions.items()}
    return _with_comparable_references(claims.profile, verdicts)


def _weigh_safely(claims: Claims, decision: AnyDecision) -> Verdict:
    """Return the verdict on a decision, refused with the reason where a query fails."""
    try:
        return _weigh(claims, decision)
    except duckdb.InterruptException:
        raise
    except DUCKDB_ERRORS as error:
        # A model reads the message, and numbers in an engine's message are values of rows.
        why = _NUMBER.sub(MASK, reason(error))
        return refused(decision, f"It couldn't be checked on the data: {why}")


def _weigh(claims: Claims, decision: AnyDecision) -> Verdict:
    match decision:
        case SetKey() | BusinessKey() | Grain():
            return weigh_key(claims, decision)
        case AddRelationship():
            return weigh_reference(claims, decision)
        case DropRelationship():
            return weigh_dropping(claims.profile, decision)
        case TextType():
            return weigh_reading(claims, decision)
        case Measure():
            return weigh_measure(claims, decision)
        case PersonalData():
            return weigh_personal(claims, decision)
        case Merge():
            return weigh_merge(claims, decision)
        case Split():
            return weigh_split(claims, decision)
        case Rename():
            return weigh_renaming(claims, decision)
        case Renamed():
            return weigh_renamed(claims, decision)
        case SetDelivery():
            return weigh_delivery(claims, decision)
        case SetValidity():
            return weigh_validity(claims, decision)
        case OneTable() | Separate():
            return weigh_parts(claims, decision)
        case Ignore():
            return weigh_ignoring(claims, decision)
        case Exposure(by="model"):
            return refused(decision, "Only a person knows what reads the model.")
        case _:
            return accepted(decision, "There's nothing to check on the data.")


def _with_comparable_references(profile: Profile, verdicts: Verdicts) -> Verdicts:
    """Return verdicts without readings after which a column can't be joined to what it refers to.

    Each refusal may leave another column as the only one with its type, hence the repetition.
    """
    verdicts = dict(verdicts)
    while (uneven := _uneven_reading(profile, verdicts)) is not None:
        place, partner = uneven
        message = f"It's compared with {partner}, which is read differently."
        verdicts[place] = refused(verdicts[place].decision, message, verdicts[place].evidence)
    return verdicts


def _uneven_reading(profile: Profile, verdicts: Verdicts) -> tuple[int, str] | None:
    """Return the place of a reading that parts a reference's columns, and the other column."""
    readings = {
        (verdict.decision.table, verdict.decision.column): place
        for place, verdict in verdicts.items()
        if isinstance(verdict.decision, TextType) and verdict.status == "accepted"
    }
    if not readings:
        return None
    after = amended(profile, list(verdicts.values()))
    for key in after.foreign_keys:
        for child, parent in zip(key.from_columns, key.to_columns, strict=True):
            pair = (key.from_table, child), (key.to_table, parent)
            kinds = {value_kind(after.table(table).column(name)) for table, name in pair}
            for column, partner in (pair, pair[::-1]):
                if len(kinds) > 1 and column in readings:
                    return readings[column], label(*partner)
    return None
