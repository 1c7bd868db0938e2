"""What becomes of each decision: names first, then contradictions, then the data."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import duckdb

from fluid_build.decisions.language import (
    AddRelationship,
    AnyDecision,
    BusinessKey,
    DropRelationship,
    Grain,
    Ignore,
    Measure,
    Merge,
    PersonalData,
    Rename,
    SetKey,
    Split,
    TextType,
)
from fluid_build.decisions.verdicts import Verdict, accepted, refused
from fluid_build.decisions.weighing.amending import amended
from fluid_build.decisions.weighing.claims import Claims, open_claims
from fluid_build.decisions.weighing.columns import (
    weigh_ignoring,
    weigh_measure,
    weigh_personal,
    weigh_renaming,
)
from fluid_build.decisions.weighing.comparing import value_kind
from fluid_build.decisions.weighing.entities import weigh_merge, weigh_split
from fluid_build.decisions.weighing.keys import weigh_key
from fluid_build.decisions.weighing.names import (
    UnknownNameError,
    label,
    source_names,
    with_exact_names,
)
from fluid_build.decisions.weighing.overruled import overruled
from fluid_build.decisions.weighing.readings import weigh_reading
from fluid_build.decisions.weighing.references import weigh_dropping, weigh_reference
from fluid_build.profiling.profile import Profile
from fluid_build.sources.base import Source
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, reason
from fluid_build.sources.text_values.personal_text import MASK

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
    names = source_names(source, profile)
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
        case Ignore():
            return weigh_ignoring(claims, decision)
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
