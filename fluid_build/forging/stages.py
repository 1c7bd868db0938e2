"""The stages of a forge, each a function of what the stages before it returned."""

from dataclasses import dataclass

from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.write.from_model import contract_from_model
from fluid_build.decisions.model_decisions import model_decisions
from fluid_build.decisions.verdicts import Verdict, applied
from fluid_build.decisions.weighing import amended, weigh
from fluid_build.errors import EmptySourceError
from fluid_build.forging.options import ForgeOptions
from fluid_build.modeling.followed import followed
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.osi_dialects import with_dialects
from fluid_build.modeling.techniques import build_decided_model
from fluid_build.observations.observe import Observations, observe, observe_combined
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile
from fluid_build.profiling.profiler import profile_combined
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.sources.base import Source
from fluid_build.sources.combined import CombinedSource
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.proof import Proof, build_and_prove

_STAGES = ("model", "contract", "project", "write")


@dataclass(frozen=True, slots=True)
class Decided:
    """A source's profile after the decisions about it, and what became of each decision."""

    profile: Profile
    verdicts: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Designed:
    """A model and the plan that builds it.

    ``verdicts`` are those on the profile, some of them changed to refused by the modelling.
    """

    model: LogicalModel
    plan: TransformPlan
    verdicts: tuple[Verdict, ...] = ()


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
    return Decided(amended(profile, verdicts), verdicts)


def look_closer(source: Source, profile: Profile, on_progress: OnProgress = ignore) -> Observations:
    """Return the observations that modelling decisions rest on."""
    if isinstance(source, CombinedSource):
        return observe_combined(source, profile, on_progress)
    return observe(source, profile, on_progress)


def design(decided: Decided, observations: Observations, options: ForgeOptions) -> Designed:
    """Return the model of a profile, and its plan."""
    decisions = model_decisions(applied(decided.verdicts))
    built = build_decided_model(
        decided.profile,
        options.technique,
        options.variant,
        observations,
        options.calendar,
        options.event_dates,
        business_vault=options.business_vault,
        decisions=decisions,
    )
    model = built.model
    verdicts = followed(decided.verdicts, model, decisions, built.refusals)
    return Designed(_with_dialects(model), transform_plan(model), verdicts)


def prove(source: Source, designed: Designed, on_progress: OnProgress = ignore) -> Proof:
    """Build the model and compare what was built with the source."""
    return build_and_prove(source, designed.plan, designed.model, on_progress=on_progress)


def write_contract(profile: Profile, designed: Designed, options: ForgeOptions) -> FluidContract:
    """Return the contract of what the plan builds."""
    return contract_from_model(
        profile, designed.model, designed.plan, target=options.warehouse, tool=options.tool
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
