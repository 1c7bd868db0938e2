"""Star schemas made from a domain: facts that refer to dimensions, and to dates in roles."""

import random

from bench.worlds.domains import Entity, Reference, domain
from bench.worlds.habits import Habits

_MOST_DIMENSIONS = 11
_DEEPEST_HEADER = 2
_SNOWFLAKES = 0.3


def choose_star(rng: random.Random, habits: Habits) -> dict[str, Entity]:
    """Return dimensions, then facts, made from the entities of one domain."""
    known = domain(habits.domains[0])
    subjects = [
        entity for entity in known.values()
        if entity.kind in {"event", "of"} and len(_dimensions(known, entity)) > 1
    ]  # fmt: skip
    facts: dict[str, Entity] = {}
    for entity in rng.sample(subjects, min(len(subjects), rng.randint(1, 4))):
        facts[entity.name] = _fact(rng, known, entity)
    names = {r.entity for fact in facts.values() for r in (*fact.parts, *fact.references)}
    has_snowflakes = rng.random() < _SNOWFLAKES
    chosen: dict[str, Entity] = {}
    for name in sorted(names - {"date"}):
        _add_dimension(known, name, chosen, has_snowflakes)
    attributes = ("date", "year", "month", "day")
    chosen["date"] = Entity("date", "calendar", (), (), (), attributes)
    return {**chosen, **facts}


def _dimensions(known: dict[str, Entity], entity: Entity, *, depth: int = 0) -> list[Reference]:
    """Return the references of an entity, and those of its headers, to what can be a dimension."""
    references: dict[tuple[str, str], Reference] = {}
    for reference in (*entity.parts, *entity.references):
        parent = known[reference.entity]
        if parent.kind in {"lookup", "master"}:
            references[reference.entity, reference.role] = reference
        elif parent.kind in {"event", "of"} and depth < _DEEPEST_HEADER:
            for above in _dimensions(known, parent, depth=depth + 1):
                references.setdefault((above.entity, above.role), above)
    return list(references.values())[:_MOST_DIMENSIONS]


def _fact(rng: random.Random, known: dict[str, Entity], entity: Entity) -> Entity:
    dimensions = _dimensions(known, entity)
    dates = [
        Reference("date", attribute.removesuffix("date").rstrip("-"), is_qualifier=True)
        for attribute in entity.attributes
        if attribute.endswith("date")
    ] or [Reference("date")]
    measures = tuple(a for a in entity.attributes if not a.endswith(("date", "text", "name")))
    measures = (*measures, *rng.sample(("quantity", "amount", "cost", "count", "tax"), 3))
    if rng.random() < 0.3:
        return Entity(entity.name, "of", (dates[0], *dimensions[:2]), (), (), measures)
    return Entity(entity.name, "fact", (), (), (*dates, *dimensions), measures)


def _add_dimension(
    known: dict[str, Entity], name: str, chosen: dict[str, Entity], has_snowflakes: bool
) -> None:
    if name in chosen:
        return
    entity = known[name]
    above = [
        reference for reference in entity.references
        if has_snowflakes and known[reference.entity].kind == "lookup" and not reference.role
    ]  # fmt: skip
    attributes = ("code", *entity.attributes, *(r.entity for r in entity.references if not above))
    chosen[name] = Entity(name, "dimension", (), (), tuple(above), attributes)
    for reference in above:
        _add_dimension(known, reference.entity, chosen, has_snowflakes)
