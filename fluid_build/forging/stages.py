"""The stages of a forge, each a function of what the stages before it returned."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.write.from_model import contract_from_model
from fluid_build.decisions.language import Renamed, SetDelivery, SetKey
from fluid_build.decisions.model_decisions import model_decisions
from fluid_build.decisions.verdicts import Verdict, applied
from fluid_build.decisions.weighing import amended, weigh
from fluid_build.decisions.weighing.names import by_other_names, named_columns
from fluid_build.errors import EmptySourceError, UsageError
from fluid_build.forging.design_file import unfit
from fluid_build.forging.options import ForgeOptions
from fluid_build.modeling.basis import (
    Basis,
    as_read,
    loosened,
    observations_until,
    redesigned,
    without_values,
)
from fluid_build.modeling.continuity import Continuity, continuity
from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.evolution import LaterColumn
from fluid_build.modeling.evolving import evolved_basis, first_basis
from fluid_build.modeling.followed import followed
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.osi_dialects import with_dialects
from fluid_build.modeling.otherwise import (
    evolution_notes,
    judged_otherwise,
    looser_references,
    tables_of_elements,
    with_otherwise,
)
from fluid_build.modeling.suggested import conclusion, is_claim, shows
from fluid_build.modeling.techniques import build_decided_model
from fluid_build.observations.observe import Observations, observe, observe_combined
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile
from fluid_build.profiling.profiler import profile_combined
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.sources.base import Source
from fluid_build.sources.combined import CombinedSource
from fluid_build.sources.declarations.catalog_facts import CatalogFacts
from fluid_build.text import as_sentence, listed
from fluid_build.transform.plan.confinement import check_confined
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.stateful import remembers
from fluid_build.transform.plan.techniques import queries, transform_plan
from fluid_build.transform.proof.building import build_and_prove
from fluid_build.transform.proof.proof import Proof

_STAGES = ("model", "contract", "project", "write")


@dataclass(frozen=True, slots=True)
class Decided:
    """A source's profile after the decisions about it, and what became of each decision.

    ``measured`` is the profile before them, None where it's the same.
    """

    profile: Profile
    verdicts: tuple[Verdict, ...] = ()
    measured: Profile | None = None


@dataclass(frozen=True, slots=True)
class Designed:
    """A model and the plan that builds it, what it was designed from, and its profile.

    ``profile`` has the model's tables, columns and claims, with today's figures. ``verdicts`` are
    those on the profile, some of them changed to refused by the modelling. ``notes`` say how the
    model follows on an earlier one, or why it doesn't.
    """

    model: LogicalModel
    plan: TransformPlan
    profile: Profile
    basis: Basis
    verdicts: tuple[Verdict, ...] = ()
    notes: tuple[str, ...] = ()


def measure(source: Source, on_progress: OnProgress = ignore) -> Profile:
    """Return the profile of a source; EmptySourceError where no table can be read."""
    profile = (
        profile_combined(source, on_progress=on_progress)
        if isinstance(source, CombinedSource)
        else profile_source(source, on_progress=on_progress)
    )
    if not profile.tables:
        raise EmptySourceError(
            f"{profile.source_name!r} has no readable table{_reasons(profile)}",
            hint="Check that it's the right source and that you're allowed to read its tables.",
        )
    return profile


def decide(source: Source, profile: Profile, options: ForgeOptions) -> Decided:
    """Weigh the decisions on the data, and return the profile with those that apply."""
    verdicts = weigh(source, profile, options.decisions)
    return Decided(amended(profile, verdicts), verdicts, profile)


def look_closer(source: Source, profile: Profile, on_progress: OnProgress = ignore) -> Observations:
    """Return the observations that modelling decisions rest on."""
    if isinstance(source, CombinedSource):
        return observe_combined(source, profile, on_progress)
    return observe(source, profile, on_progress)


def design(
    decided: Decided,
    observations: Observations,
    options: ForgeOptions,
    earlier: Basis | None = None,
) -> Designed:
    """Return the model of a profile, and its plan.

    It follows on the model of the ``earlier`` basis, where that is of the same technique. What
    a language model says that something means never overrules what the rules conclude without it:
    that is asked.
    """
    tried = _designed(decided, observations, options, earlier)
    claims = {
        place: verdict
        for place, verdict in enumerate(tried.verdicts)
        if verdict.applies and is_claim(verdict.decision)
    }
    if not claims:
        return tried
    ruled = _designed(_without(decided, claims), observations, options, earlier)
    asked = {
        place: asked
        for place, verdict in claims.items()
        if (asked := _asked(ruled.model, verdict, decided.profile.catalog)) is not None
    }
    if not asked:
        return tried
    if len(asked) == len(claims):
        return replace(ruled, verdicts=_with_verdicts(ruled.verdicts, asked))
    return _designed(_without(decided, asked), observations, options, earlier)


def _asked(model: LogicalModel, verdict: Verdict, catalog: CatalogFacts | None) -> Verdict | None:
    """Return the verdict on a claim that differs from what the rules concluded; None if none does.

    ``model`` is as they made it.
    """
    if shows(model, verdict.decision):
        return None
    concluded = conclusion(model, verdict.decision, catalog)
    if not concluded:
        return None
    message = f"{as_sentence(concluded)} `fluid review` asks which is right."
    return replace(verdict, status="asked", message=message)


def _without(decided: Decided, claims: Mapping[int, Verdict]) -> Decided:
    """Return what was decided, where some claims are asked."""
    asked = {place: replace(verdict, status="asked") for place, verdict in claims.items()}
    return replace(decided, verdicts=_with_verdicts(decided.verdicts, asked))


def _with_verdicts(
    verdicts: Sequence[Verdict], others: Mapping[int, Verdict]
) -> tuple[Verdict, ...]:
    return tuple(others.get(place, verdict) for place, verdict in enumerate(verdicts))


def _designed(
    decided: Decided,
    observations: Observations,
    options: ForgeOptions,
    earlier: Basis | None,
) -> Designed:
    fresh = _designed_anew(decided, observations, options)
    if earlier is None:
        return fresh
    if earlier.technique != options.known_technique:
        why_not = (
            f"The folder's model was {earlier.technique}, so this one is designed anew and doesn't"
            " continue it."
        )
        return replace(fresh, notes=(why_not,))
    try:
        kept = _designed_on(earlier, decided, observations, options)
        anew = tables_of_elements(kept.model, options.redesign)
        if anew:
            _check_unchanged(kept.model, anew)
            as_loaded = _identities(kept)
            kept = _designed_on(redesigned(earlier, anew), decided, observations, options)
            _check_same_rows(as_loaded, _identities(kept))
        otherwise = judged_otherwise(kept.model, fresh.model)
        kept = replace(kept, model=with_otherwise(kept.model, otherwise))
        check_confined(queries(kept.plan, kept.model), kept.plan)
    except (LookupError, ValueError, AssertionError) as error:
        raise unfit(error) from error
    return replace(kept, notes=tuple(evolution_notes(kept.model)))


def _check_unchanged(model: LogicalModel, tables: Set[str]) -> None:
    """Refuse a design anew of tables whose loaded rows have other columns or types than now.

    It would be of today's columns alone, and every loaded row would seem to have changed.
    """
    evolution = model.evolution
    if evolution is None or model.technique == "flat":
        return
    columns = (*evolution.retired_columns, *evolution.added_columns, *evolution.retyped_columns)
    changed = {each.table for each in columns} | {*evolution.dated_tables}
    changed |= {name for each in evolution.rekeyed_tables for name in (each.table, each.was)}
    if changed & tables:
        raise UsageError(
            f"The source has changed {listed(sorted(changed & tables))} since it was first loaded,"
            " so a design anew would make a version of each row that nobody made",
            hint=_ANOTHER_WAY,
        )


def _identities(designed: Designed) -> dict[str, tuple[object, ...]]:
    """Return by what relations that remember tell their rows apart."""
    star = designed.model.dimensional
    versioned = {each.name: bool(each.history) for each in star.dimensions} if star else {}
    return {
        build.name: (build.key, versioned.get(build.name, False))
        for build in designed.plan.published
        if designed.model.technique != "flat" and (remembers(build) or build.name in versioned)
    }


def _check_same_rows(
    before: Mapping[str, tuple[object, ...]], after: Mapping[str, tuple[object, ...]]
) -> None:
    """Refuse a design anew that gives the rows of a loaded relation other keys."""
    changed = [name for name in before if after.get(name, before[name]) != before[name]]
    if changed:
        raise UsageError(
            f"Designed anew, {listed(changed)} would have other rows than a warehouse holds by now",
            hint=_ANOTHER_WAY,
        )


_ANOTHER_WAY = (
    "Settle the judgement by `fluid decide`, or forge into another folder, for a warehouse of its"
    " own."
)


def _designed_anew(decided: Decided, observations: Observations, options: ForgeOptions) -> Designed:
    decisions = applied(decided.verdicts)
    measured = decided.measured or decided.profile
    basis = first_basis(measured, observations, options.known_technique, decisions)
    return _built(decided, decided.profile, basis, options, observations)


def _designed_on(
    earlier: Basis, decided: Decided, observations: Observations, options: ForgeOptions
) -> Designed:
    measured = decided.measured or decided.profile
    evolved = evolved_basis(earlier, measured, observations, applied(decided.verdicts))
    basis = evolved.basis
    named = _by_model_names(decided, basis)
    today = amended(evolved.today, named.verdicts)
    while True:
        follows = continuity(basis, amended(basis.profile, named.verdicts), today)
        designed = _built(named, today, basis, options, observations, follows)
        looser = looser_references(designed.model)
        if not looser:
            designed = _with_later_columns(earlier, decided, options, designed)
            verdicts = designed.verdicts[len(designed.verdicts) - len(decided.verdicts) :]
            return replace(designed, verdicts=_as_decided(verdicts, decided.verdicts))
        basis = loosened(basis, looser)


def _with_later_columns(
    earlier: Basis, decided: Decided, options: ForgeOptions, designed: Designed
) -> Designed:
    """Return a model that says which columns have joined relations of the earlier one."""
    basis = designed.basis
    if len(basis.arrivals) == len(earlier.arrivals):
        return designed
    named = _of_what_was_there(_by_model_names(decided, earlier), earlier, basis)
    profile = amended(as_read(earlier), named.verdicts)
    follows = continuity(earlier, amended(earlier.profile, named.verdicts), profile)
    last = observations_until(earlier, len(earlier.arrivals))
    before = _built(named, profile, earlier, options, last, follows).plan
    there = {build.name: {column.name for column in build.columns} for build in before.builds}
    later = (
        LaterColumn(relation=build.name, column=column.name)
        for build in designed.plan.builds
        if remembers(build) and build.name in there
        for column in build.columns
        if column.name not in there[build.name]
    )
    known = basis.evolution.later_columns
    evolution = basis.evolution.model_copy(
        update={"later_columns": (*known, *(each for each in later if each not in known))}
    )
    model = designed.model.model_copy(update={"evolution": evolution})
    return replace(
        designed,
        model=model,
        plan=transform_plan(model),
        basis=basis.model_copy(update={"evolution": evolution}),
    )


def _of_what_was_there(decided: Decided, earlier: Basis, basis: Basis) -> Decided:
    """Return the decisions that can be about an earlier basis: not about columns that came later.

    Nor is a table's next key: by the earlier one, its rows were loaded.
    """
    known = {t.name: {column.name for column in t.columns} for t in earlier.profile.tables}
    rekeyed = {each.was for each in basis.evolution.rekeyed_tables}
    rekeyed -= {each.was for each in earlier.evolution.rekeyed_tables}
    verdicts = tuple(
        verdict
        for verdict in decided.verdicts
        if all(
            columns <= known.get(table, set())
            for table, columns in named_columns(verdict.decision).items()
        )
        and not (isinstance(verdict.decision, SetKey) and verdict.decision.table in rekeyed)
    )
    return replace(decided, verdicts=verdicts)


def _by_model_names(decided: Decided, basis: Basis) -> Decided:
    """Return decisions by the names of a model, where the source calls tables otherwise now.

    What is decided about a table that got another key is first decided about its rows of before.
    """
    evolution = basis.evolution
    now = {each.table: each.now for each in evolution.renamed_tables}
    tables = {there: table for table, there in now.items()}
    columns = {
        (now.get(each.table, each.table), each.now): each.column
        for each in evolution.renamed_columns
    }
    verdicts = (
        *_of_rows_before(decided.verdicts, basis, now),
        *(
            replace(each, decision=by_other_names(each.decision, tables, columns))
            for each in decided.verdicts
        ),
    )
    return replace(decided, verdicts=verdicts)


_OF_THE_PRESENT = (SetKey, SetDelivery, Renamed)
"""Decisions that say how rows are read from now on."""


def _of_rows_before(
    verdicts: Sequence[Verdict], basis: Basis, now: Mapping[str, str]
) -> Iterator[Verdict]:
    """Yield verdicts on tables that got another key, about what was loaded before they did."""
    known = {
        table.name: {column.name for column in table.columns} for table in basis.profile.tables
    }
    last = now
    for rekeyed in reversed(basis.evolution.rekeyed_tables):
        source = last.get(rekeyed.table, rekeyed.table)
        last = {**last, rekeyed.was: source}
        for each in verdicts:
            named = named_columns(each.decision).get(source)
            is_of_rows = not isinstance(each.decision, _OF_THE_PRESENT)
            if named is not None and named <= known.get(rekeyed.was, set()) and is_of_rows:
                decision = by_other_names(each.decision, {source: rekeyed.was}, {})
                yield replace(each, decision=decision)


def _as_decided(verdicts: Sequence[Verdict], decided: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Return verdicts with their decisions by the names of the source."""
    return tuple(
        replace(each, decision=before.decision)
        for each, before in zip(verdicts, decided, strict=True)
    )


def _built(
    decided: Decided,
    profile: Profile,
    basis: Basis,
    options: ForgeOptions,
    observations: Observations,
    follows: Continuity | None = None,
) -> Designed:
    decisions = model_decisions(applied(decided.verdicts))
    built = build_decided_model(
        profile,
        options.technique,
        options.variant,
        observations,
        options.calendar,
        options.event_dates,
        business_vault=options.business_vault,
        decisions=decisions,
        earlier=follows,
    )
    model = _with_dialects(built.model)
    verdicts = followed(decided.verdicts, built.model, decisions, built.refusals)
    personal = {
        SourceColumn(table=table.name, column=column.name)
        for table in profile.tables
        for column in table.columns
        if column.pii
    }
    kept = basis.model_copy(update={"profile": without_values(basis.profile, personal)})
    return Designed(model, transform_plan(model), profile, kept, verdicts)


def prove(
    source: Source,
    designed: Designed,
    options: ForgeOptions,
    on_progress: OnProgress = ignore,
) -> Proof:
    """Build the model and compare what was built with the source."""
    return build_and_prove(
        source, designed.plan, designed.model, exact=options.exact, on_progress=on_progress
    )


def write_contract(designed: Designed, options: ForgeOptions) -> FluidContract:
    """Return the contract of what the plan builds."""
    return contract_from_model(
        designed.profile, designed.model, designed.plan, target=options.warehouse, tool=options.tool
    )


def report_stage(on_progress: OnProgress, stage: str) -> None:
    """Report that one of the stages after the measuring has begun."""
    on_progress(Progress(stage=stage, done=_STAGES.index(stage), total=len(_STAGES)))


def _with_dialects(model: LogicalModel) -> LogicalModel:
    """Return the model with its OSI expressions in every dialect that they can be written in."""
    if model.osi is None:
        return model
    return model.model_copy(update={"osi": with_dialects(model.osi).document})


def _reasons(profile: Profile) -> str:
    if not profile.skipped:
        return ""
    first = profile.skipped[0]
    return f": {len(profile.skipped)} were skipped, {first.name!r} because {first.reason}"
