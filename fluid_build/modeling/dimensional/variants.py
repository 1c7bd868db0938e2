"""Which variant of a dimensional model to build: the one asked for, or what the source suggests."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import get_args

from fluid_build.errors import unknown_name
from fluid_build.modeling.dimensional.elements import Fact, Variant
from fluid_build.modeling.dimensional.judging.entity_roles import EntityRoles
from fluid_build.modeling.dimensional.judging.reference_graph import ReferenceGraph

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

    A star may still turn out as a galaxy once its facts are known, and says why then: see
    ``star_or_galaxy``.
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
    if not facts:
        return "star", "No table records events, so the model has only dimensions."
    return "star", ""


def star_or_galaxy(facts: Sequence[Fact], calendar: str) -> tuple[Variant, str]:
    """Return a galaxy where facts share dimensions besides the calendar, else a star, and why."""
    dimensions = [{r.dimension for r in fact.dimensions} - {calendar} for fact in facts]
    uses = Counter(chain.from_iterable(dimensions))
    conformed = sorted(name for name, count in uses.items() if count > 1)
    if conformed:
        sharing = sum(not names.isdisjoint(conformed) for names in dimensions)
        shared = ", ".join(conformed[:_MOST_NAMES])
        return "galaxy", f"{sharing} facts share conformed dimensions ({shared})."
    if len(facts) == 1:
        return "star", f"One fact ({facts[0].name}) with its dimensions."
    return "star", f"{len(facts)} facts, each with its own dimensions."
