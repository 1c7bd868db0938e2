"""The decisions that a finished star doesn't follow, each with the reason."""

from collections.abc import Callable, Mapping

from fluid_build.decisions.language import AnyDecision, Classify, Role
from fluid_build.decisions.model_decisions import ModelDecisions
from fluid_build.decisions.verdicts import Refusal
from fluid_build.modeling.conceptual import ConceptualModel, Entity
from fluid_build.modeling.decided_measures import unfollowed_measures
from fluid_build.modeling.dimensional.decided_roles import obstacle
from fluid_build.modeling.dimensional.elements import DimensionalModel, Fact

_VAULT_ROLES: Mapping[Role, str] = {
    "hub": "hubs",
    "link": "links",
    "satellite": "satellites",
    "reference": "reference tables",
}


def unfollowed(
    star: DimensionalModel, conceptual: ConceptualModel, decisions: ModelDecisions
) -> dict[AnyDecision, Refusal]:
    """Return the decisions about roles, grains, measures and entities that a star doesn't follow.

    Each was either refused, or is unused because a star has no place for it.
    """
    refusals: dict[AnyDecision, Refusal] = {}
    for key in decisions.business_keys.values():
        refusals[key] = Refusal("unused", "A star has no hubs, so no business keys.")
    for classified in decisions.roles.values():
        refusal = _of_role(star, conceptual, classified)
        if refusal is not None:
            refusals[classified] = refusal
    return {**refusals, **unfollowed_measures(conceptual, decisions)}


def events(star: DimensionalModel) -> dict[str, Fact]:
    """Return the facts of what the source records, by table: snapshots of members aren't."""
    return {
        fact.entity_name: fact for fact in star.facts if fact.entity_name and not fact.snapshot_of
    }


def _of_role(
    star: DimensionalModel, conceptual: ConceptualModel, decision: Classify
) -> Refusal | None:
    if decision.role in _VAULT_ROLES:
        return Refusal("unused", f"A star has no {_VAULT_ROLES[decision.role]}.")
    if _HAS_ROLE[decision.role](star, decision.table):
        return None
    entity = next((e for e in conceptual.entities if e.name == decision.table), None)
    if entity is None:
        return Refusal("refused", f"`{decision.table}` isn't a table of the model.")
    reason = _obstacle(conceptual, entity, decision.role)
    return Refusal(
        "refused",
        reason or f"`{entity.name}` can't be a {decision.role}: its references don't allow it.",
    )


def _obstacle(conceptual: ConceptualModel, entity: Entity, role: Role) -> str:
    """Return why a star can't give an entity a role, as far as the conceptual layer shows."""
    references = [
        r for r in conceptual.relationships if not r.implied and r.from_entity != r.to_entity
    ]
    key = entity.primary_key
    return obstacle(
        entity,
        role,
        key.attributes if key is not None and key.holds else (),
        [r for r in references if r.from_entity == entity.name],
        [r for r in references if r.to_entity == entity.name],
    )


def _is_fact(star: DimensionalModel, table: str) -> bool:
    return table in events(star)


def _is_dimension(star: DimensionalModel, table: str) -> bool:
    # A dimension of a fact's own columns has the fact's entity.
    is_member = any(dimension.entity_name == table for dimension in star.dimensions)
    return is_member and not _is_fact(star, table)


def _is_calendar(star: DimensionalModel, table: str) -> bool:
    return any(d.entity_name == table and d.dimension_type == "date" for d in star.dimensions)


def _is_bridge(star: DimensionalModel, table: str) -> bool:
    return any(bridge.entity_name == table for bridge in star.bridges)


_HAS_ROLE: Mapping[Role, Callable[[DimensionalModel, str], bool]] = {
    "fact": _is_fact,
    "dimension": _is_dimension,
    "bridge": _is_bridge,
    "date": _is_calendar,
}
