"""Claims that columns of one table refer to another, or that they don't."""

from fluid_build.decisions.language import AddRelationship, DecisionEvidence, DropRelationship
from fluid_build.decisions.verdicts import Verdict, accepted, refused
from fluid_build.decisions.weighing.claims import Claims, judged, not_measured
from fluid_build.decisions.weighing.coincidence import (
    describe_doubt,
    is_coincidence,
    judge_by_chance,
)
from fluid_build.decisions.weighing.comparing import (
    ColumnPairs,
    compared_columns,
    measure_values,
)
from fluid_build.decisions.weighing.keys import KeyFigures, describe_repeats, key_figures
from fluid_build.decisions.weighing.names import columns_label
from fluid_build.profiling import checks
from fluid_build.profiling.profile import Candidate, ForeignKey, Profile
from fluid_build.profiling.references.inclusion import Inclusion
from fluid_build.text import counted, noun

_SURE = 0.95
"""Only a person can drop a reference of this confidence. A model isn't asked about those."""


def weigh_reference(claims: Claims, decision: AddRelationship) -> Verdict:
    """Return the verdict on a claim that every value is among the keys of another table."""
    if (refusal := _refusal_by_names(claims, decision)) is not None:
        return refused(decision, refusal)
    pairs = ColumnPairs(
        decision.from_table, decision.from_columns, decision.to_table, decision.to_columns
    )
    compared = compared_columns(claims, pairs)
    if isinstance(compared, str):
        return refused(decision, compared)
    sql = pairs.orphans_sql(claims, compared)
    if claims.table(decision.to_table).sample is not None:
        return _unchecked_on_sample(claims, decision, sql)
    if decision.to_table in claims.tables:
        parents = key_figures(claims, decision.to_table, decision.to_columns)
        if parents.repeats:
            return _refused_by_parent(claims, decision, parents)
    elif decision.by == "model" and not _is_declared_key(claims, decision):
        name = columns_label(decision.to_table, decision.to_columns)
        return refused(decision, f"The source doesn't declare {name} as a key, and it has no rows.")
    if decision.from_table not in claims.tables:
        return not_measured(decision, sql)
    inclusion = measure_values(claims, pairs, compared)
    evidence = _evidence(claims, decision, inclusion, sql)
    is_known = find_reference(claims.profile, decision) is not None
    if is_known and inclusion.orphans and not decision.despite_violations:
        message = f"The model has it already, as it is: {_describe_orphans(decision, inclusion)}"
        return accepted(decision, message, evidence)
    holds = _describe_match(inclusion)
    if not (is_known or inclusion.orphans):
        proposal = judge_by_chance(claims, pairs, compared, inclusion)
        if is_coincidence(claims, pairs, proposal, has_values=inclusion.rows > 0):
            doubt = f"{holds.rstrip('.')}, but {describe_doubt(inclusion, proposal)}."
            if decision.by == "model":
                return refused(decision, doubt, evidence)
            holds = doubt
    return judged(decision, evidence, holds=holds, broken=_describe_orphans(decision, inclusion))


def _unchecked_on_sample(claims: Claims, decision: AddRelationship, sql: str) -> Verdict:
    """Return the verdict on a reference to a table of which only a part was read.

    A value that isn't in the part may be in the rest, so that only a person can say so.
    """
    parent = claims.table(decision.to_table)
    message = f"Only {parent.sample} of {parent.name} was read, so it can't be checked."
    if decision.by == "model" and find_reference(claims.profile, decision) is None:
        return refused(decision, message)
    return accepted(decision, message, DecisionEvidence(rows=0, sql=sql))


def weigh_dropping(profile: Profile, decision: DropRelationship) -> Verdict:
    """Return the verdict on a decision that columns don't refer to a table."""
    key = find_reference(profile, decision)
    name = columns_label(decision.from_table, decision.from_columns)
    target = columns_label(decision.to_table, decision.to_columns)
    if key is None and any(is_about(decision, each) for each in profile.candidates):
        return Verdict(decision, "unused", f"{name} isn't believed to refer to {target} anyway.")
    if key is None:
        return refused(decision, f"The model has no relationship from {name} to {target}.")
    if key.origin == "declared" and decision.by == "model":
        return refused(decision, f"The source declares that {name} refers to {target}.")
    figures = key.evidence
    if key.confidence >= _SURE and decision.by == "model":
        matched = f"{figures.matched:,} of {counted(figures.rows, 'row')}"
        return refused(
            decision,
            f"{name} refers to {target} with a confidence of {key.confidence:.0%}: {matched} have"
            " a match. Only a person can drop it.",
        )
    evidence = DecisionEvidence(
        rows=figures.rows,
        nulls=figures.nulls,
        distinct=figures.distinct,
        matched=figures.matched,
        coverage=figures.coverage,
        sql=figures.sql,
    )
    return accepted(decision, f"The relationship from {name} to {target} is dropped.", evidence)


def find_reference(
    profile: Profile, decision: AddRelationship | DropRelationship
) -> ForeignKey | None:
    """Return the foreign key of exactly these pairs of columns."""
    return next((key for key in profile.foreign_keys if is_about(decision, key)), None)


def is_about(decision: AddRelationship | DropRelationship, key: ForeignKey | Candidate) -> bool:
    """Return whether a decision names the same pairs of columns as a foreign key."""
    tables = (key.from_table, key.to_table) == (decision.from_table, decision.to_table)
    return tables and set(zip(key.from_columns, key.to_columns, strict=True)) == set(
        zip(decision.from_columns, decision.to_columns, strict=True)
    )


def _refusal_by_names(claims: Claims, decision: AddRelationship) -> str | None:
    """Return why a reference can't be added, whatever the values; None if it can."""
    name = columns_label(decision.from_table, decision.from_columns)
    if (decision.from_table, set(decision.from_columns)) == (
        decision.to_table,
        set(decision.to_columns),
    ):
        return f"{name} can't refer to itself."
    for key in claims.profile.foreign_keys:
        ends = (key.from_table, key.to_table) == (decision.to_table, decision.from_table)
        if decision.by == "model" and ends and _is_reversed(decision, key):
            source = columns_label(key.from_table, key.from_columns)
            return f"{source} refers to {name} already, so not the other way round."
        same_columns = (key.from_table, set(key.from_columns)) == (
            decision.from_table,
            set(decision.from_columns),
        )
        if decision.by == "model" and same_columns and not is_about(decision, key):
            return f"{name} refers to {columns_label(key.to_table, key.to_columns)} already."
    return None


def _is_reversed(decision: AddRelationship, key: ForeignKey) -> bool:
    """Return whether a foreign key pairs the same columns the other way round."""
    return set(zip(key.to_columns, key.from_columns, strict=True)) == set(
        zip(decision.from_columns, decision.to_columns, strict=True)
    )


def _is_declared_key(claims: Claims, decision: AddRelationship) -> bool:
    parent = claims.table(decision.to_table)
    keys = [claim.columns for claim in parent.declared_keys]
    if parent.primary_key and parent.primary_key_origin == "declared":
        keys.append(parent.primary_key)
    return any(set(columns) == set(decision.to_columns) for columns in keys)


def _refused_by_parent(claims: Claims, decision: AddRelationship, figures: KeyFigures) -> Verdict:
    name = columns_label(decision.to_table, decision.to_columns)
    evidence = DecisionEvidence(
        rows=figures.rows,
        nulls=figures.nulls,
        distinct=figures.distinct,
        violations=figures.repeats,
        sql=checks.repeated_values(claims.table(decision.to_table).sql, decision.to_columns),
    )
    return refused(decision, describe_repeats(name, figures), evidence)


def _evidence(
    claims: Claims, decision: AddRelationship, inclusion: Inclusion, sql: str
) -> DecisionEvidence:
    return DecisionEvidence(
        rows=inclusion.rows,
        nulls=claims.table(decision.from_table).rows - inclusion.rows,
        distinct=inclusion.distinct,
        violations=inclusion.orphans,
        matched=inclusion.matched,
        coverage=round(inclusion.coverage, 6),
        sql=sql,
    )


def _describe_match(inclusion: Inclusion) -> str:
    if not inclusion.rows:
        return "The columns are always null, so there are no values to check."
    return f"All {counted(inclusion.rows, 'row')} have a match."


def _describe_orphans(decision: AddRelationship, inclusion: Inclusion) -> str:
    verb = noun(inclusion.orphans, "has", "have")
    return (
        f"{inclusion.orphans:,} of {counted(inclusion.rows, 'row')} in"
        f" {columns_label(decision.from_table, decision.from_columns)} {verb} no match in"
        f" {columns_label(decision.to_table, decision.to_columns)}."
    )
