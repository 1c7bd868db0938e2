"""The techniques by name, and how each makes a logical model of a profile."""

from collections.abc import Mapping
from typing import get_args

from fluid_build.decisions.model_decisions import NO_DECISIONS, ModelDecisions
from fluid_build.errors import UsageError, unknown_name
from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.data_vault.builder import data_vault
from fluid_build.modeling.data_vault.business_vault import with_business_vault
from fluid_build.modeling.data_vault.elements import DataVaultModel
from fluid_build.modeling.data_vault.source_overlaps import open_questions
from fluid_build.modeling.decided_names import decided_names, with_decided_names
from fluid_build.modeling.dimensional.builder import star
from fluid_build.modeling.dimensional.elements import (
    DEFAULT_CALENDAR,
    CalendarSettings,
    DimensionalModel,
    Variant,
)
from fluid_build.modeling.dimensional.merges import with_merges, without_unused_merges
from fluid_build.modeling.dimensional.text_keys import keep_text_keys
from fluid_build.modeling.dimensional.variants import check_variant
from fluid_build.modeling.entities import conceptual_model
from fluid_build.modeling.logical import LogicalModel, Product, Technique
from fluid_build.modeling.semantic_layer import semantic_layer
from fluid_build.observations.contradicted_references import without_contradicted
from fluid_build.observations.observed import NO_OBSERVATIONS, Observations
from fluid_build.profiling.profile import Profile

TECHNIQUES: tuple[Technique, ...] = get_args(Technique)
COMBINING: frozenset[Technique] = frozenset({"data_vault_2"})
"""Techniques that bring several sources together: by their business keys."""
ALIASES: Mapping[str, Technique] = {
    "data_vault": "data_vault_2",
    "datavault": "data_vault_2",
    "dv": "data_vault_2",
    "dv2": "data_vault_2",
    "kimball": "dimensional",
    "star": "dimensional",
    "vault": "data_vault_2",
}


def check_technique(
    technique: str,
    variant: str | None = None,
    calendar: CalendarSettings = DEFAULT_CALENDAR,
    *,
    business_vault: bool = False,
) -> tuple[Technique, Variant | None]:
    """Return the technique and the variant of these names.

    Raises UsageError for an unknown one, for settings that a technique has no calendar for, and for
    a business vault where there's no vault.
    """
    known = _known_technique(technique)
    if business_vault and known != "data_vault_2":
        raise UsageError(
            f"A business vault is part of a Data Vault, and the technique is {known}.",
            hint="Leave --business-vault out, or choose --technique dv2.",
        )
    if calendar != DEFAULT_CALENDAR and known != "dimensional":
        raise UsageError(
            f"The technique {known} has no calendar.",
            hint="Leave --fiscal-year-start and --locale out, or choose --technique dimensional.",
        )
    if variant is None:
        return known, None
    if known != "dimensional":
        raise UsageError(
            f"The technique {known} has no variants.",
            hint="Leave --variant out, or choose --technique dimensional.",
        )
    return known, check_variant(variant)


def check_combinable(technique: Technique) -> None:
    """Raise UsageError for a technique that can't model several sources as one."""
    if technique not in COMBINING:
        raise UsageError(
            f"Several sources can be modelled as a Data Vault only, not as {technique}.",
            hint="Choose --technique data_vault_2, or forge each source by itself.",
        )


def check_event_dates(technique: str, event_dates: Mapping[str, str] | None) -> None:
    """Raise UsageError where dates are chosen for events, but the technique has no facts."""
    known = _known_technique(technique)
    if event_dates and known != "dimensional":
        raise UsageError(
            f"The technique {known} has no facts, so no event has a date.",
            hint="Leave --event-date out, or choose --technique dimensional.",
        )


def build_model(
    profile: Profile,
    technique: str = "flat",
    variant: str | None = None,
    observations: Observations = NO_OBSERVATIONS,
    calendar: CalendarSettings = DEFAULT_CALENDAR,
    event_dates: Mapping[str, str] | None = None,
    *,
    business_vault: bool = False,
    decisions: ModelDecisions = NO_DECISIONS,
) -> LogicalModel:
    """Build the logical model of a profile; raise UsageError as ``check_technique`` does.

    Every technique shares the conceptual and the semantic layer. The flat one has no other. With
    ``observations`` of the same source, decisions rest on more than names and the profile.
    ``calendar`` describes the generated calendar of a dimensional model, ``event_dates`` are the
    dates that the user chose for its events, by table. ``decisions`` overrule judgements.
    """
    known, requested_variant = check_technique(
        technique, variant, calendar, business_vault=business_vault
    )
    check_event_dates(known, event_dates)
    profile = without_contradicted(profile, observations.contradicted_references)
    conceptual = _conceptual_model(profile, observations, decisions)
    names = decided_names(conceptual, decisions.renamings)
    conceptual = with_decided_names(conceptual, names)
    vault: DataVaultModel | None = None
    dimensional: DimensionalModel | None = None
    if known == "data_vault_2":
        vault = data_vault(profile, conceptual, observations, decisions=decisions)
        vault = with_business_vault(vault, conceptual) if business_vault else vault
    elif known == "dimensional":
        merged = keep_text_keys(with_merges(conceptual, decisions.merges))
        dimensional = star(
            profile, merged, observations, requested_variant, calendar, event_dates, decisions
        )
        conceptual = without_unused_merges(merged, conceptual, dimensional)
    return LogicalModel(
        name=profile.source_name,
        technique=known,
        source_kind=profile.source_kind,
        conceptual=conceptual,
        dv2=vault,
        dimensional=dimensional,
        osi=semantic_layer(profile, conceptual),
        product=_product(decisions),
    )


def _product(decisions: ModelDecisions) -> Product | None:
    domain, owner, name = decisions.domain, decisions.owner, decisions.name
    if domain is None and owner is None and name is None:
        return None
    return Product(
        name=name.name if name else None,
        domain=domain.domain if domain else None,
        team=owner.team if owner else None,
        email=owner.email if owner else None,
    )


def _conceptual_model(
    profile: Profile, observations: Observations, decisions: ModelDecisions
) -> ConceptualModel:
    conceptual = conceptual_model(profile, observations, decisions)
    if observations.key_overlaps:
        questions = tuple(open_questions(conceptual, observations.key_overlaps))
        candidates = (*questions, *conceptual.candidates)
        conceptual = conceptual.model_copy(update={"candidates": candidates})
    return conceptual


def _known_technique(technique: str) -> Technique:
    spelling = technique.strip().lower().replace("-", "_").replace(" ", "_").replace("2.0", "2")
    for known in TECHNIQUES:
        if known == ALIASES.get(spelling, spelling):
            return known
    raise unknown_name("technique", technique, sorted(TECHNIQUES), aliases=ALIASES)
