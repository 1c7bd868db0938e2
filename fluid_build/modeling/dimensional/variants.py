"""Which variant of a dimensional model to build: the one asked for, or what the source suggests."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import get_args

from fluid_build.errors import unknown_name
from fluid_build.modeling.dimensional.elements import Fact, Variant
from fluid_build.modeling.dimensional.entity_roles import EntityRoles
from fluid_build.modeling.dimensional.reference_graph import ReferenceGraph

VARIANTS: tuple[Variant, ...] = get_args(Variant)
ALIASES: Mapping[str, Variant] = {"flat": "wide"}
_LARGE_DIMENSION = 10_000_000
"""Members from which on a copied lookup costs more, in each member, than the join that it saves."""
_MOST_NAMES = 3


def check_variant(variant: str) -> Variant:
    """Return the variant of that name; raise UsageError for an unknown one."""
    spelling = variant.strip().lower()
    for known in VARIANTS:
        if known == ALIASES.get(spelling, spelling):
            return known
    raise unknown_name("variant", variant, VARIANTS, aliases=ALIASES)


def suggested_variant(graph: ReferenceGraph, roles: EntityRoles) -> tuple[Variant, str]:
    """Return the variant that the source suggests, and why.

    A star may still turn out as a galaxy once its facts are known: see ``galaxy_reason``.
    """
    facts = [name for name, role in roles.items() if role.kind == "fact"]
    dimensions = [name for name, role in roles.items() if role.kind == "dimension"]
    if len(roles) == 1 and facts:
        return "wide", "The only table is already wide: there is nothing to join."
    for name in dimensions:
        rows = graph.entities[name].rows
        has_lookups = any(roles[p.to_entity].kind == "dimension" for p in graph.parents[name])
        if rows >= _LARGE_DIMENSION and has_lookups:
            return "snowflake", f"{name} has {rows:,} rows: too many to copy its lookups into each."
    if len(facts) == 1:
        return "star", f"One fact ({facts[0]}) with its dimensions."
    if not facts:
        return "star", "No table records events, so the model has only dimensions."
    return "star", f"{len(facts)} facts, each with its own dimensions."


def galaxy_reason(facts: Sequence[Fact], calendar: str) -> str:
    """Return why a model is a galaxy: facts share dimensions besides the calendar; "" if not."""
    facts_per_dimension: Counter[str] = Counter()
    for fact in facts:
        facts_per_dimension.update({r.dimension for r in fact.dimensions} - {calendar})
    conformed = sorted(name for name, count in facts_per_dimension.items() if count > 1)
    if not conformed:
        return ""
    return f"{len(facts)} facts share conformed dimensions ({', '.join(conformed[:_MOST_NAMES])})."
