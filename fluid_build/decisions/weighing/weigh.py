"""What becomes of each decision: names first, then contradictions, then the data."""

from collections.abc import Sequence

import duckdb

from fluid_build.decisions.language import (
    AddRelationship,
    AnyDecision,
    BusinessKey,
    DropRelationship,
    Grain,
    SetKey,
)
from fluid_build.decisions.verdicts import Verdict, accepted, refused
from fluid_build.decisions.weighing.claims import Claims, open_claims
from fluid_build.decisions.weighing.keys import weigh_key
from fluid_build.decisions.weighing.names import UnknownNameError, source_names, with_exact_names
from fluid_build.decisions.weighing.overruled import overruled
from fluid_build.decisions.weighing.references import weigh_dropping, weigh_reference
from fluid_build.profiling.profile import Profile
from fluid_build.sources.base import Source
from fluid_build.sources.engine import DUCKDB_ERRORS, reason


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
    for place, decision in resolved.items():
        if place not in verdicts:
            verdicts[place] = _weigh_safely(claims, decision)
    return tuple(verdicts[place] for place in range(len(decisions)))


def _resolve_names(
    source: Source, profile: Profile, decisions: Sequence[AnyDecision]
) -> tuple[dict[int, Verdict], dict[int, AnyDecision]]:
    """Return verdicts on decisions with unknown names, and the others with exact names."""
    names = source_names(source, profile)
    verdicts: dict[int, Verdict] = {}
    resolved: dict[int, AnyDecision] = {}
    for place, decision in enumerate(decisions):
        try:
            resolved[place] = with_exact_names(decision, names)
        except UnknownNameError as error:
            verdicts[place] = refused(decision, str(error))
    return verdicts, resolved


def _weigh_safely(claims: Claims, decision: AnyDecision) -> Verdict:
    """Return the verdict on a decision, refused with the reason where a query fails."""
    try:
        return _weigh(claims, decision)
    except duckdb.InterruptException:
        raise
    except DUCKDB_ERRORS as error:
        return refused(decision, f"It couldn't be checked on the data: {reason(error)}")


def _weigh(claims: Claims, decision: AnyDecision) -> Verdict:
    match decision:
        case SetKey() | BusinessKey() | Grain():
            return weigh_key(claims, decision)
        case AddRelationship():
            return weigh_reference(claims, decision)
        case DropRelationship():
            return weigh_dropping(claims.profile, decision)
        case _:
            return accepted(decision, "The data doesn't contradict it.")
