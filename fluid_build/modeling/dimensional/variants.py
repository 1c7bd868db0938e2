"""Which shape a star takes: chosen by what is there, or asked for."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import get_args

from fluid_build.errors import unknown_name
from fluid_build.modeling.dimensional.elements import Fact, Variant
from fluid_build.modeling.dimensional.entity_roles import EntityRoles
from fluid_build.modeling.dimensional.reference_graph import ReferenceGraph

VARIANTS: tuple[Variant, ...] = get_args(Variant)
ALIASES: Mapping[str, Variant] = {"flat": "wide"}
_LARGE = 10_000_000
"""Members from which on every copied lookup weighs more than the join that it saves."""


def check_variant(variant: str) -> Variant:
    """Return the variant of that name; raise UsageError for an unknown one."""
    spelling = variant.strip().lower()
    for known in VARIANTS:
        if known == ALIASES.get(spelling, spelling):
            return known
    raise unknown_name("variant", variant, VARIANTS, aliases=ALIASES)


def recommended(graph: ReferenceGraph, roles: EntityRoles) -> tuple[Variant, str]:
    """The variant that the shape of the source asks for, and why."""
    facts = [name for name, role in roles.items() if role.kind == "fact"]
    things = [name for name, role in roles.items() if role.kind == "dimension"]
    if len(roles) == 1 and facts:
        return "wide", "There is one table, and it is wide already: nothing is to be looked up."
    large = [name for name in things if graph.entities[name].rows >= _LARGE]
    for name in large:
        if any(roles[one.to_entity].kind == "dimension" for one in graph.parents[name]):
            rows = graph.entities[name].rows
            return "snowflake", f"{name} has {rows:,} rows: too many to copy its lookups into each."
    if len(facts) == 1:
        return "star", f"One fact ({facts[0]}) with its dimensions around it."
    if not facts:
        return "star", "There is no event to count: dimensions alone, ready for facts to come."
    return "star", f"{len(facts)} facts, each with dimensions of its own."


def constellation(facts: Sequence[Fact], calendar: str) -> tuple[Variant, str] | None:
    """A galaxy, where several facts share a dimension beside the calendar; None where not."""
    count: Counter[str] = Counter()
    for fact in facts:
        count.update({one.dimension for one in fact.dimensions} - {calendar})
    shared = sorted(name for name, times in count.items() if times > 1)
    if not shared:
        return None
    return "galaxy", f"{len(facts)} facts share conformed dimensions ({', '.join(shared[:3])})."
