"""``MODEL.md``: the model for a person to read.

What the source is, what to look at first and the query that shows it, the tables with their keys,
the relationships with their evidence, and a diagram. Names of the source are escaped; values of
rows are not in it.
"""

import math
from collections.abc import Iterator
from itertools import groupby

from fluid_build.markdown import code, codes, fenced, table, text
from fluid_build.modeling.conceptual import Attribute, Entity, Relationship
from fluid_build.modeling.logical import LogicalModel
from fluid_build.profiling.profile import Profile
from fluid_build.report.er_diagrams import MOST_COLUMNS, er_diagrams
from fluid_build.report.notices import Notice, notices
from fluid_build.report.technique_sections import layer_sections, technique_in_words

_MOST_NOTICES_OF_A_KIND = 10
_MOST_COLUMNS_LISTED = 1_500
_ORIGINS = {"declared": "declared", "measured": "measured", "llm": "proposed by a model"}


def model_document(profile: Profile, model: LogicalModel) -> str:
    """The text of ``MODEL.md``."""
    parts = [
        *_introduction(profile, model),
        *_attention(notices(profile, model.conceptual)),
        *_tables(model.conceptual.entities, profile.has_data),
        *_relationships(model.conceptual.relationships, profile.has_data),
        *layer_sections(model),
        *_diagrams(model),
        *_columns(model.conceptual.entities),
    ]
    return "\n\n".join(parts) + "\n"


def in_hundredths(confidence: float) -> str:
    """A confidence, rounded down: what is not certain never shows as 1.00."""
    return f"{math.floor(round(confidence * 10_000) / 100) / 100:.2f}"


def _introduction(profile: Profile, model: LogicalModel) -> Iterator[str]:
    entities = model.conceptual.entities
    columns = sum(len(entity.attributes) for entity in entities)
    rows = sum(entity.rows for entity in entities)
    yield f"# The data model of {text(profile.source_name)}"
    if profile.has_data:
        yield (
            f"{_count(len(entities), 'table')} with {_count(columns, 'column')} and "
            f"{_count(rows, 'row')}, read from a source of the kind {code(profile.source_kind)}. "
            "Keys, relationships and types were declared by the source or measured on its rows; "
            "each says which."
        )
    else:
        yield (
            f"{_count(len(entities), 'table')} with {_count(columns, 'column')}, read from DDL: "
            "the structure only, as it was declared. There was no data to check it on."
        )
    if profile.notes:
        yield "\n".join(f"- Note: {text(note)}" for note in profile.notes)
    yield (
        f"The model is {code(model.technique)}: {technique_in_words(model)}. "
        "`contract.fluid.yaml` puts what is built of it under contract, with quality rules; "
        "`dbt/` builds it; `proof.json` compares it with the source; `model.json` and "
        "`profile.json` hold every figure."
    )


def _attention(found: tuple[Notice, ...]) -> Iterator[str]:
    yield "## What to look at first"
    if not found:
        yield "Nothing: no key and no relationship is broken, and every table has a key."
        return
    number = 0
    for kind, group in groupby(found, key=lambda notice: notice.kind):
        of_a_kind = list(group)
        for notice in of_a_kind[:_MOST_NOTICES_OF_A_KIND]:
            number += 1
            yield _notice(number, notice)
        left = len(of_a_kind) - _MOST_NOTICES_OF_A_KIND
        if left > 0:
            yield f"And {left:,} more of the kind “{kind}”: see `profile.json`."


def _notice(number: int, notice: Notice) -> str:
    subject = f" {code(notice.table)}"
    if notice.columns:
        subject += f" ({codes(notice.columns)})"
    heading = f"**{number}. {notice.kind.capitalize()}:**{subject}. {text(notice.text)}"
    return f"{heading}\n\n{fenced(notice.sql, 'sql')}" if notice.sql else heading


def _tables(entities: tuple[Entity, ...], has_data: bool) -> Iterator[str]:
    yield "## Tables"
    rows = [
        (
            code(entity.name),
            f"{entity.rows:,}" if has_data else "",
            str(len(entity.attributes)),
            *_key_cells(entity),
            text(entity.description),
        )
        for entity in entities
    ]
    yield table(("Table", "Rows#", "Columns#", "Key", "Why", "Comment"), rows)


def _key_cells(entity: Entity) -> tuple[str, str]:
    key = entity.primary_key
    if key is None:
        return "none", ""
    broken = "" if key.holds else f", broken by {_count(key.evidence.violations, 'row')}"
    return codes(key.attributes), f"{_ORIGINS[key.origin]}{broken}: {text(key.reason)}"


def _relationships(relationships: tuple[Relationship, ...], has_data: bool) -> Iterator[str]:
    yield "## Relationships"
    if not relationships:
        yield "None was declared, and none was found."
        return
    rows = [_relationship_cells(relationship, has_data) for relationship in relationships]
    headings = ("From", "To", "Kind", "Origin", "Rows#", "Orphans#", "Confidence#", "Why")
    yield table(headings, rows)
    yield (
        "Orphans are rows that refer to nothing. “Implied” relationships follow from others and "
        "are not drawn."
    )


def _relationship_cells(relationship: Relationship, has_data: bool) -> tuple[str, ...]:
    evidence = relationship.evidence
    role = f" as {code(relationship.role)}" if relationship.role else ""
    implied = ", implied" if relationship.implied else ""
    return (
        f"{code(relationship.from_entity)} ({codes(relationship.from_attributes)})",
        f"{code(relationship.to_entity)} ({codes(relationship.to_attributes)}){role}",
        f"{relationship.cardinality}, {relationship.from_participation}",
        f"{_ORIGINS[relationship.origin]}{implied}",
        f"{evidence.rows:,}" if has_data else "",
        f"{evidence.orphans:,}" if has_data else "",
        in_hundredths(relationship.confidence),
        text(relationship.reason),
    )


def _diagrams(model: LogicalModel) -> Iterator[str]:
    diagrams = er_diagrams(model.conceptual)
    if not diagrams:
        return
    yield "## Diagrams" if len(diagrams) > 1 else "## Diagram"
    longest = max(len(entity.attributes) for entity in model.conceptual.entities)
    if longest > MOST_COLUMNS:
        yield f"At most {MOST_COLUMNS} columns of a table are drawn, keys first."
    for number, (names, diagram) in enumerate(diagrams, start=1):
        if len(diagrams) > 1:
            yield f"### {number}. {_count(len(names), 'table')} around {code(names[0])}"
        yield fenced(diagram, "mermaid")


def _columns(entities: tuple[Entity, ...]) -> Iterator[str]:
    yield "## Columns"
    if sum(len(entity.attributes) for entity in entities) > _MOST_COLUMNS_LISTED:
        yield f"More than {_MOST_COLUMNS_LISTED:,}: see `contract.fluid.yaml`."
        return
    for entity in entities:
        yield f"### {code(entity.name)}"
        rows = [_column_cells(attribute) for attribute in entity.attributes]
        yield table(("Column", "Type", "Required", "Distinct#", "Meaning", "Comment"), rows)


def _column_cells(attribute: Attribute) -> tuple[str, ...]:
    evidence = attribute.evidence
    about = "" if evidence.distinct is None else "" if evidence.exact else "about "
    distinct = "" if evidence.distinct is None else f"{about}{evidence.distinct:,}"
    meaning = text(attribute.semantic_type or "")
    return (
        code(attribute.name),
        f"`{attribute.type}`",
        "yes" if attribute.required else "no",
        distinct,
        f"{meaning} (personal)" if attribute.pii else meaning,
        text(attribute.description),
    )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
