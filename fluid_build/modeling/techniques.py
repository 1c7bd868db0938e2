"""The techniques by name: how a profile becomes a logical model."""

from collections.abc import Callable, Mapping

from fluid_build.errors import UsageError, unknown_name
from fluid_build.modeling import flat
from fluid_build.modeling.data_vault import builder as data_vault
from fluid_build.modeling.dimensional import builder as dimensional
from fluid_build.modeling.dimensional.elements import Variant
from fluid_build.modeling.dimensional.variants import check_variant
from fluid_build.modeling.logical import LogicalModel, Technique
from fluid_build.profiling.profile import Profile

TECHNIQUES: Mapping[Technique, Callable[[Profile, Variant | None], LogicalModel]] = {
    "flat": lambda profile, _: flat.build(profile),
    "data_vault_2": lambda profile, _: data_vault.build(profile),
    "dimensional": dimensional.build,
}
ALIASES: Mapping[str, Technique] = {
    "data_vault": "data_vault_2",
    "datavault": "data_vault_2",
    "dv": "data_vault_2",
    "dv2": "data_vault_2",
    "kimball": "dimensional",
    "star": "dimensional",
    "vault": "data_vault_2",
}


def check_technique(technique: str, variant: str | None = None) -> tuple[Technique, Variant | None]:
    """The technique and variant of their names; UsageError for one unknown, naming the known."""
    found = _technique(technique)
    if variant is None:
        return found, None
    if found != "dimensional":
        raise UsageError(
            f"The technique {found} has no variants.",
            hint="Leave --variant out, or choose --technique dimensional.",
        )
    return found, check_variant(variant)


def build_model(
    profile: Profile, technique: str = "flat", variant: str | None = None
) -> LogicalModel:
    """The logical model of a profile; UsageError for an unknown technique or variant."""
    known, shape = check_technique(technique, variant)
    return TECHNIQUES[known](profile, shape)


def _technique(technique: str) -> Technique:
    wanted = technique.strip().lower().replace("-", "_").replace(" ", "_").replace("2.0", "2")
    for known in TECHNIQUES:
        if known == ALIASES.get(wanted, wanted):
            return known
    raise unknown_name("technique", technique, sorted(TECHNIQUES), aliases=ALIASES)
