"""Rules for entities and relationships: what the data says against a model's claims."""

from collections.abc import Iterator

from fluid_build.copilot.scratchpad import CriticFinding, Severity
from fluid_build.pipeline.critic.findings import LogicalRule, examples, finding, share_of
from fluid_build.pipeline.critic.reading import first_text, name_of, number, parts, text, texts
from fluid_build.text import counted, noun

_FEW_ROWS = 20
"""A key of fewer rows may be unique by accident: 20 draws from 200 values are distinct in two cases
of five."""


def check_orphan_entities(logical: object) -> Iterator[CriticFinding]:
    """Find entities without a relationship, in a model that has some entities."""
    entities = parts(logical, "conceptual", "entities")
    related = {
        name
        for relationship in parts(logical, "conceptual", "relationships")
        for name in _ends(relationship)
    }
    orphans = [name_of(entity) for entity in entities if name_of(entity) not in related]
    if orphans and len(entities) > 1:
        yield _conceptual_finding(
            "info",
            f"{share_of(orphans, len(entities), 'entity', 'entities')} without a relationship:"
            f" {examples(orphans)}",
            f"entities.{orphans[0]}",
            "add a relationship if the business has one",
        )


def check_broken_relationships(logical: object) -> Iterator[CriticFinding]:
    """Find relationships that rows of the source break."""
    for relationship in parts(logical, "conceptual", "relationships"):
        orphans = (
            number(relationship, "evidence", "orphans")
            - number(relationship, "evidence", "by_collation")
            - number(relationship, "evidence", "standing_for_none")
        )
        if orphans:
            child, parent = _ends(relationship)
            columns = ", ".join(texts(relationship, "from_attributes"))
            rows = number(relationship, "evidence", "rows")
            yield _conceptual_finding(
                "warning",
                f"{counted(orphans, 'row')} of {rows:,} in {child}"
                f" {noun(orphans, 'refers', 'refer')} to no row of {parent} (by {columns})",
                f"relationships.{name_of(relationship)}",
                "correct these rows, or drop the relationship",
            )


def check_broken_keys(logical: object) -> Iterator[CriticFinding]:
    """Find declared keys that rows of the source break; a null breaks none but a primary key."""
    for entity in parts(logical, "conceptual", "entities"):
        for key in parts(entity, "keys"):
            kind = text(key, "kind")
            nulls = number(key, "evidence", "nulls") if kind == "primary" else 0
            broken = number(key, "evidence", "violations") + nulls
            if kind != "candidate" and broken:
                columns = ", ".join(texts(key, "attributes"))
                yield _conceptual_finding(
                    "warning",
                    f"{counted(broken, 'row')} of {name_of(entity)}"
                    f" {noun(broken, 'breaks', 'break')} the declared key"
                    f" ({columns})",
                    f"entities.{name_of(entity)}.keys",
                    "correct these rows, or choose another key",
                )


def check_keys_on_few_rows(logical: object) -> Iterator[CriticFinding]:
    """Find keys that were measured on too few rows to mean much."""
    names = [
        name_of(entity)
        for entity in parts(logical, "conceptual", "entities")
        if number(entity, "rows") < _FEW_ROWS
        and any(
            text(key, "kind") == "primary" and text(key, "origin") == "measured"
            for key in parts(entity, "keys")
        )
    ]
    if names:
        yield _conceptual_finding(
            "info",
            f"the key of {counted(len(names), 'table')} was measured on fewer than {_FEW_ROWS}"
            f" rows: {examples(names)}",
            f"entities.{names[0]}.keys",
            "confirm the key, or forge from more data",
        )


CONCEPTUAL_RULES: tuple[LogicalRule, ...] = (
    check_orphan_entities,
    check_broken_relationships,
    check_broken_keys,
    check_keys_on_few_rows,
)


def _conceptual_finding(
    severity: Severity, message: str, target: str, suggestion: str
) -> CriticFinding:
    return finding("logical", severity, message, f"conceptual.{target}", suggestion)


def _ends(relationship: object) -> tuple[str, str]:
    """Return the entities that a relationship leads from and to."""
    return (
        first_text(relationship, "from_entity", "from_", "from", "source"),
        first_text(relationship, "to_entity", "to", "target"),
    )
