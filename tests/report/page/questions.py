"""Pages with judgement calls, made of profiles."""

from collections.abc import Collection

from fluid_build.decisions.language import AnyDecision
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling.profile import Profile
from fluid_build.report.judgements.judgement import Judgement
from fluid_build.report.judgements.open_judgements import open_judgements
from fluid_build.report.page.content import BuiltContent, PageContent
from fluid_build.report.profile_json import profile_json
from fluid_build.report.view import source_view
from fluid_build.transform.plan.techniques import transform_plan
from tests.modeling.profiles import column, profile, table


def keyed_tables(*names: str) -> Profile:
    """Tables with two columns each of which could be the key."""
    return profile(
        *(
            table(
                name,
                column("id"),
                column("code"),
                primary_key=("id",),
                candidate_keys=[("id",), ("code",)],
            )
            for name in names
        )
    )


def content_of(
    source: Profile,
    decided: Collection[AnyDecision] = (),
    judgements: tuple[Judgement, ...] | None = None,
) -> PageContent:
    model = build_model(source, "flat")
    plan = transform_plan(model)
    if judgements is None:
        judgements = open_judgements(profile_json(source), model, decided)
    built = BuiltContent(
        model, plan, "", judgements=judgements, folder="shop model", decided=tuple(decided)
    )
    return PageContent(source_view(source, model, plan), built)
