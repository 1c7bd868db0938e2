"""Entity-relationship diagrams in Mermaid, in pieces small enough to render.

Syntax: https://mermaid.js.org/syntax/entityRelationshipDiagram.html. Renderers refuse a diagram of
more than 500 edges or 50,000 characters, and nobody can read one of half that size.
"""

import re
from collections import defaultdict
from collections.abc import Iterable

from fluid_build.modeling.conceptual import ConceptualModel, Entity, Relationship
from fluid_build.modeling.identifiers import identifier, identifiers

# A reader can follow about this much of a diagram on one screen.
MOST_ENTITIES = 30
MOST_EDGES = 300
MOST_COLUMNS = 12
_LONGEST_LABEL = 60
_SAFE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")
_KEY_MARKS = {"PK", "FK", "UK"}
_UNSAFE = re.compile(r"[^\w .,:()/+-]")


def er_diagrams(model: ConceptualModel) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Return the diagrams of a model, each with the names of the entities in it.

    A model of up to 30 entities is one diagram. A larger model is split along its relationships;
    each relationship is drawn once, where its child is, and entities without any are left out.
    """
    relationships = tuple(each for each in model.relationships if not each.implied)
    ids = {name: f"t_{id_}" for name, id_ in identifiers(e.name for e in model.entities).items()}
    if len(model.entities) <= MOST_ENTITIES:
        clusters = [[entity.name for entity in model.entities]]
    else:
        clusters = _clusters(model, relationships)
    entities = {entity.name: entity for entity in model.entities}
    return tuple(
        (tuple(cluster), _diagram([entities[name] for name in cluster], relationships, ids))
        for cluster in clusters
        if cluster
    )


def _clusters(model: ConceptualModel, relationships: tuple[Relationship, ...]) -> list[list[str]]:
    """Return groups of related entities, none too large; small groups share a diagram."""
    neighbours: dict[str, set[str]] = defaultdict(set)
    for relationship in relationships:
        if relationship.from_entity != relationship.to_entity:
            neighbours[relationship.from_entity].add(relationship.to_entity)
            neighbours[relationship.to_entity].add(relationship.from_entity)
        else:
            neighbours[relationship.from_entity].update(())
    order = {entity.name: place for place, entity in enumerate(model.entities)}
    left = set(neighbours)
    groups: list[list[str]] = []
    for centre in sorted(neighbours, key=lambda name: (-len(neighbours[name]), order[name])):
        if centre in left:
            groups.append(sorted(_grow(centre, neighbours, left, order), key=order.__getitem__))
    return _packed(groups)


def _grow(
    centre: str, neighbours: dict[str, set[str]], left: set[str], order: dict[str, int]
) -> list[str]:
    """Return an entity and those near it, up to a diagram's size; they leave ``left``."""
    group = [centre]
    left.discard(centre)
    for name in group:
        for near in sorted(neighbours[name] & left, key=order.__getitem__):
            if len(group) == MOST_ENTITIES:
                return group
            group.append(near)
            left.discard(near)
    return group


def _packed(groups: list[list[str]]) -> list[list[str]]:
    packed: list[list[str]] = []
    for group in groups:
        if packed and len(packed[-1]) + len(group) <= MOST_ENTITIES:
            packed[-1] += group
        else:
            packed.append(list(group))
    return packed


def _diagram(
    entities: list[Entity], relationships: Iterable[Relationship], ids: dict[str, str]
) -> str:
    names = {entity.name for entity in entities}
    edges = [each for each in relationships if each.from_entity in names][:MOST_EDGES]
    outside = dict.fromkeys(edge.to_entity for edge in edges if edge.to_entity not in names)
    references: dict[str, set[str]] = defaultdict(set)
    for relationship in edges:
        references[relationship.from_entity].update(relationship.from_attributes)
    lines = ["erDiagram"]
    for entity in entities:
        lines += _box(entity, ids[entity.name], references[entity.name])
    lines += [f'    {ids[name]}["{_label(name)}"]' for name in outside]
    lines += [_edge(relationship, ids) for relationship in edges]
    return "\n".join(lines)


def _box(entity: Entity, id_: str, references: set[str]) -> list[str]:
    primary = set(entity.primary_key.attributes) if entity.primary_key else set()
    ranked = sorted(
        entity.attributes, key=lambda a: (a.name not in primary, a.name not in references)
    )
    names = identifiers(attribute.name for attribute in entity.attributes)
    lines = [f'    {id_}["{_label(entity.name)}"] {{']
    for attribute in ranked[:MOST_COLUMNS]:
        marks = [
            mark
            for mark, names_ in (("PK", primary), ("FK", references))
            if attribute.name in names_
        ]
        plain = _SAFE_NAME.fullmatch(attribute.name) and attribute.name.upper() not in _KEY_MARKS
        name = attribute.name if plain else f"c_{names[attribute.name]}"
        comment = "" if plain else f' "{_label(attribute.name)}"'
        type_ = identifier(attribute.type.partition("(")[0])
        lines.append(f"        {type_} {name}{' ' if marks else ''}{', '.join(marks)}{comment}")
    return [*lines, "    }"] if entity.attributes else [lines[0].removesuffix(" {")]


def _edge(relationship: Relationship, ids: dict[str, str]) -> str:
    every = relationship.to_participation == "mandatory"
    if relationship.cardinality == "one-to-one":
        child = "||" if every else "|o"
    else:
        child = "}|" if every else "}o"
    parent = "||" if relationship.from_participation == "mandatory" else "o|"
    ends = f"{ids[relationship.from_entity]} {child}--{parent} {ids[relationship.to_entity]}"
    return f'    {ends} : "{_label(", ".join(relationship.from_attributes))}"'


def _label(name: str) -> str:
    """Return a name as it may be written between quotation marks in a diagram."""
    safe = _UNSAFE.sub("_", " ".join(name.split())) or "_"
    return safe if len(safe) <= _LONGEST_LABEL else f"{safe[: _LONGEST_LABEL - 3]}..."
