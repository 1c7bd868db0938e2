"""The techniques by name: how a profile becomes a logical model."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches

from fluid_build.errors import UsageError
from fluid_build.modeling import flat
from fluid_build.modeling.logical import LogicalModel, Technique
from fluid_build.profiling.profile import Profile

TECHNIQUES: Mapping[Technique, Callable[[Profile], LogicalModel]] = {"flat": flat.build}
ALIASES: Mapping[str, Technique] = {
    "data_vault": "data_vault_2",
    "datavault": "data_vault_2",
    "dv": "data_vault_2",
    "dv2": "data_vault_2",
    "kimball": "dimensional",
    "star": "dimensional",
    "vault": "data_vault_2",
}


def check_technique(technique: str) -> Technique:
    """The technique of a name or alias; UsageError for one that is not known, naming the known."""
    wanted = technique.strip().lower().replace("-", "_").replace(" ", "_").replace("2.0", "2")
    for known in TECHNIQUES:
        if known == ALIASES.get(wanted, wanted):
            return known
    aliases = {alias: meant for alias, meant in ALIASES.items() if meant in TECHNIQUES}
    near = get_close_matches(wanted, [*TECHNIQUES, *aliases], n=1)
    meant = f"Did you mean {near[0]!r}? " if near else ""
    raise UsageError(
        f"there is no technique {technique!r}",
        hint=f"{meant}Known techniques: {', '.join(sorted(TECHNIQUES))}.",
    )


def build_model(profile: Profile, technique: str = "flat") -> LogicalModel:
    """The logical model of a profile; UsageError for an unknown technique."""
    return TECHNIQUES[check_technique(technique)](profile)
