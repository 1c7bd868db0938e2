"""The decisions that a finished star doesn't follow, each with the reason."""

from collections.abc import Callable, Mapping

from fluid_build.decisions.language import AnyDecision, Classify, Grain, Merge, Role, Split
from fluid_build.decisions.model_decisions import ModelDecisions
from fluid_build.decisions.verdicts import Refusal
from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.decided_measures import unfollowed_measures
from fluid_build.modeling.dimensional.decided.roles import obstacle
from fluid_build.modeling.dimensional.dimensions.merges import merge_obstacle
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
    for classified in decisions.roles:
        refusal = _of_role(star, conceptual, classified)
        if refusal is not None:
            refusals[classified] = refusal
    for grain in decisions.grains.values():
        refusal = _of_grain(star, grain)
        if refusal is not None:
            refusals[grain] = refusal
    for split in decisions.splits:
        refusal = _of_split(star, conceptual, split)
        if refusal is not None:
            refusals[split] = refusal
    for merge in decisions.merges:
        if not _is_merged(star, merge):
            refusals[merge] = Refusal("refused", _obstacle_of_merge(star, conceptual, merge))
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
    references = [
        r for r in conceptual.relationships if not r.implied and r.from_entity != r.to_entity
    ]
    key = entity.primary_key
    reason = obstacle(
        entity,
        decision.role,
        key.attributes if key is not None and key.holds else (),
        [r for r in references if r.from_entity == entity.name],
        [r for r in references if r.to_entity == entity.name],
    )
    return Refusal(
        "refused",
        reason or f"`{entity.name}` can't be a {decision.role}: its references don't allow it.",
    )


def _of_grain(star: DimensionalModel, decision: Grain) -> Refusal | None:
    fact = events(star).get(decision.table)
    if fact is None:
        message = f"`{decision.table}` isn't a fact in this star, and only facts have a grain."
        return Refusal("unused", message)
    # The statement of a grain that is declared and violated names the columns, but they identify
    # no row.
    if f": {', '.join(decision.columns)}. " in fact.grain:
        return None
    return Refusal("refused", f"The grain of `{fact.name}` stays: {fact.grain}")


def _of_split(
    star: DimensionalModel, conceptual: ConceptualModel, decision: Split
) -> Refusal | None:
    fact = events(star).get(decision.table)
    if fact is None:
        return Refusal(
            "unused",
            f"`{decision.table}` isn't a fact in this star; a dimension keeps all of its columns.",
        )
    columns = {*decision.columns, *decision.attributes}
    if any(
        dimension.entity_name == decision.table
        and {attribute.attribute for attribute in dimension.attributes} == columns
        for dimension in star.dimensions
    ):
        return None
    return Refusal("refused", _obstacle_of_split(star, conceptual, fact, decision))


def _obstacle_of_split(
    star: DimensionalModel, conceptual: ConceptualModel, fact: Fact, decision: Split
) -> str:
    """Return which column of a split stays in the fact, and why."""
    key = conceptual.entity(decision.table).primary_key
    numbers = set(key.attributes) if key is not None else set()
    references = {
        name: reference.to_entity
        for reference in conceptual.relationships
        if reference.from_entity == decision.table
        for name in reference.from_attributes
    }
    split_off = {
        attribute.attribute: dimension.name
        for dimension in star.dimensions
        if dimension.entity_name == decision.table
        for attribute in dimension.attributes
    }
    for column in (*decision.columns, *decision.attributes):
        name = f"`{decision.table}.{column}`"
        if column in numbers:
            return f"{name} can't be split off: it's part of the key of `{decision.table}`."
        if column in references:
            return f"{name} can't be split off: it refers to `{references[column]}`."
        if column in split_off:
            return f"{name} can't be split off: it's in `{split_off[column]}` already."
    return f"A column of the split stays in the grain of `{fact.name}`: {fact.grain}"


def _is_merged(star: DimensionalModel, merge: Merge) -> bool:
    """Return whether a table's rows are parts of another's, and have no relation of their own."""
    if any(dimension.entity_name == merge.table for dimension in star.dimensions):
        return False
    for dimension in star.dimensions:
        joins = {join.name: join for join in dimension.joins}
        for join in joins.values():
            if join.entity == merge.table and join.backwards:
                parent = joins[join.parent].entity if join.parent else dimension.entity_name
                return parent == merge.into_table
    return False


def _obstacle_of_merge(star: DimensionalModel, conceptual: ConceptualModel, merge: Merge) -> str:
    obstacle_in_data = merge_obstacle(conceptual, merge)
    if obstacle_in_data:
        return obstacle_in_data
    for table in (merge.table, merge.into_table):
        if table in events(star) or _is_bridge(star, table):
            return (
                f"`{merge.table}` can't be merged into `{merge.into_table}`: in this star,"
                f" `{table}` is a {'bridge' if _is_bridge(star, table) else 'fact'}."
            )
    return f"`{merge.table}` can't be merged: another decision makes it something else."


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
