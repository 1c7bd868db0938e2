"""``MODEL.md``: the view as a document for a person to read.

What the source is, what to look at first and the query that shows it, the tables with their keys,
the relationships with their evidence, and diagrams of the model that is built. Names of the source
are escaped; values of rows are not in it.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from fluid_build.markdown import code, codes, fenced, inline, table, text
from fluid_build.modeling.conceptual import (
    Attribute,
    CandidateRelationship,
    Entity,
    Relationship,
)
from fluid_build.report.diagrams.diagram import Diagram
from fluid_build.report.diagrams.mermaid import mermaid
from fluid_build.report.diagrams.pieces import Piece, pieces
from fluid_build.report.model_elements import ElementGroup, ModelView, Name, Prose
from fluid_build.report.notices import Notice, notices_by_kind
from fluid_build.report.view import (
    ORIGIN_LABELS,
    ColumnView,
    SourceView,
    TableView,
    confidence_label,
)
from fluid_build.text import counted, listed, listed_up_to, noun

_MOST_NOTICES_OF_A_KIND = 10
_MOST_COLUMNS_LISTED = 1_500
_MOST_DIAGRAMS = 25
"""Diagrams that are drawn: up to 375 boxes, which a browser still renders without a long wait."""
_MOST_CENTRES = 3
"""Relations that the title of a diagram names."""
_MOST_QUESTIONS = 40
"""Questions that are listed: more are for a program to read."""


def model_document(view: SourceView, model_diagram: Diagram) -> str:
    """Return the text of ``MODEL.md``; the view has a model, and the diagram is of that one."""
    assert view.model is not None
    parts = [
        *_introduction(view, view.model),
        *_notices(view),
        *_tables(view),
        *_relationships(view),
        *_questions(view),
        *_model(view.model),
        *_diagrams(model_diagram),
        *_columns(view),
    ]
    return "\n\n".join(parts) + "\n"


def _introduction(view: SourceView, model: ModelView) -> Iterator[str]:
    size = f"{counted(len(view.tables), 'table')} with {counted(len(view.columns), 'column')}"
    yield f"# Data model: {code(model.product)}"
    if model.responsibility:
        yield text(model.responsibility)
    if view.profile.has_data:
        yield (
            f"{size} and {counted(view.rows, 'row')}, read from {view.kind_label}. Keys, "
            "relationships and types are either declared by the source or inferred from its rows; "
            "each entry says which."
        )
    else:
        yield (
            f"{size}, read from {view.profile.declared_in}: only the declared structure. "
            "There was no data to check it against."
        )
    if view.profile.notes:
        yield "\n".join(f"- Note: {text(note)}" for note in view.profile.notes)
    yield (
        f"The model is {code(model.technique)}: {model.summary}. "
        "`contract.fluid.yaml` is its data contract, with quality rules; `dbt/` builds it; "
        "`schema.sql` has the tables with their keys; "
        "`proof.json` compares it with the source; `model.json` and `profile.json` have all "
        "statistics."
    )


def _notices(view: SourceView) -> Iterator[str]:
    yield "## Needs attention"
    if view.query_hint and any(notice.sql for notice in view.notices):
        yield text(view.query_hint)
    if not view.notices:
        yield "Nothing: no key or relationship is broken, and every table has a key."
    numbers = count(1)
    for kind, first, left in notices_by_kind(view.notices, _MOST_NOTICES_OF_A_KIND):
        yield from (_notice(next(numbers), notice) for notice in first)
        if left:
            yield f"And {left:,} more under “{kind}”: see `profile.json`."


def _notice(number: int, notice: Notice) -> str:
    subject = f" {code(notice.table)}"
    if notice.columns:
        subject += f" ({codes(notice.columns)})"
    heading = f"**{number}. {notice.kind.capitalize()}:**{subject}. {text(notice.text)}"
    return f"{heading}\n\n{fenced(notice.sql, 'sql')}" if notice.sql else heading


def _tables(view: SourceView) -> Iterator[str]:
    yield "## Tables"
    rows = [_table_cells(table, view.profile.has_data) for table in view.tables]
    yield table(("Table", "Rows#", "Columns#", "Key", "Why", "Comment"), rows)
    yield from _alternate_keys(view)
    yield from _left_out(view)


def _alternate_keys(view: SourceView) -> Iterator[str]:
    """Yield the other columns by which a row is found, as far as they're meant for it."""
    rows = [
        (_label(each.entity), codes(key.attributes), ORIGIN_LABELS[key.origin], text(key.reason))
        for each in view.tables
        for key in each.alternate_keys
    ]
    if rows:
        yield "Alternate keys, by which a row is found too:"
        yield table(("Table", "Alternate key", "Origin", "Why"), rows)


def _left_out(view: SourceView) -> Iterator[str]:
    """Yield what of the source isn't in the model, and why."""
    rows = [(code(skipped.name), text(skipped.reason)) for skipped in view.profile.skipped]
    rows += [(code(name), "Somebody decided so.") for name in view.profile.ignored]
    if rows:
        yield "The model is made without these tables:"
        yield table(("Table", "Why"), rows)
    else:
        yield "The model is made from every table of the source: none was skipped or ignored."


def _table_cells(table: TableView, has_data: bool) -> tuple[str, ...]:
    key = table.key
    columns, why = "none", ""
    if key is not None:
        broken = f", violated by {counted(key.evidence.violations, 'row')}" if not key.holds else ""
        columns, why = (
            codes(key.attributes),
            f"{ORIGIN_LABELS[key.origin]}{broken}: {text(key.reason)}",
        )
    return (
        _label(table.entity),
        f"{table.measured.rows:,}" if has_data else "",
        str(len(table.columns)),
        columns,
        why,
        text(table.entity.description),
    )


def _label(part: Entity | Attribute) -> str:
    """Return the source's name, and the one that a decision gave instead."""
    new_name = f", named {code(part.new_name)}" if part.new_name else ""
    return f"{code(part.name)}{new_name}"


def _relationships(view: SourceView) -> Iterator[str]:
    yield "## Relationships"
    relationships = view.conceptual.relationships
    if not relationships:
        yield "None are declared, and none were found."
        return
    rows = [
        _relationship_cells(relationship, view.profile.has_data)
        for relationship in view.conceptual.relationships
    ]
    headings = ("From", "To", "Kind", "Origin", "Rows#", "Orphans#", "Confidence#", "Why")
    yield table(headings, rows)
    yield (
        "Orphans are rows without a match in the other table. Implied relationships follow from "
        "others."
    )


def _relationship_cells(relationship: Relationship, has_data: bool) -> tuple[str, ...]:
    evidence = relationship.evidence
    role = f" as {code(relationship.role)}" if relationship.role else ""
    implied = ", implied" if relationship.implied else ""
    return (
        f"{code(relationship.from_entity)} ({codes(relationship.from_attributes)})",
        f"{code(relationship.to_entity)} ({codes(relationship.to_attributes)}){role}",
        f"{relationship.cardinality}, {relationship.from_participation}",
        f"{ORIGIN_LABELS[relationship.origin]}{implied}",
        f"{evidence.rows:,}" if has_data else "",
        f"{evidence.orphans:,}" if has_data else "",
        confidence_label(relationship.confidence),
        text(relationship.reason),
    )


def _questions(view: SourceView) -> Iterator[str]:
    """Yield the relationships that somebody who knows the data should decide on."""
    questions = view.questions
    if not questions:
        return
    yield "## Open questions"
    yield (
        "Relationships that may be meant, but aren't certain enough to be part of the model. "
        "The least certain come first."
    )
    headings = ("From", "To?", "Rows#", "Orphans#", "Confidence#", "Evidence", "Why it's open")
    yield table(headings, list(map(_question_cells, questions[:_MOST_QUESTIONS])))
    if len(questions) > _MOST_QUESTIONS:
        yield f"And {len(questions) - _MOST_QUESTIONS:,} more: see `candidates` in `model.json`."


def _question_cells(candidate: CandidateRelationship) -> tuple[str, ...]:
    return (
        f"{code(candidate.from_entity)} ({codes(candidate.from_attributes)})",
        f"{code(candidate.to_entity)} ({codes(candidate.to_attributes)})",
        f"{candidate.evidence.rows:,}",
        f"{candidate.evidence.orphans:,}",
        confidence_label(candidate.confidence),
        text(candidate.evidence.reason),
        text(candidate.reason),
    )


def _model(model: ModelView) -> Iterator[str]:
    if model.title:
        yield f"## {model.title}"
    if model.remark:
        yield _prose(model.remark)
    for group in model.groups:
        yield from _element_group(group)
    if model.texts:
        headings = ("Relation", "Column", "Description")
        yield from _element_group(ElementGroup(("Descriptions",), "", headings, model.texts))


def _element_group(group: ElementGroup) -> Iterator[str]:
    if group.title and (group.text or group.elements):
        yield f"### {_prose(group.title)}"
    if group.text:
        yield text(group.text)
    if group.elements:
        rows = [
            (code(element.name), *map(_prose, element.facts), text(element.reason))
            for element in group.elements
        ]
        yield table(group.headings, rows)
    for element in group.elements:
        if element.query:
            yield f"A query that uses {code(element.name)}:"
            yield fenced(element.query, "sql")


def _prose(prose: Prose) -> str:
    return "".join(code(part.name) if isinstance(part, Name) else inline(part) for part in prose)


def _diagrams(diagram: Diagram) -> Iterator[str]:
    edges = tuple(edge for edge in diagram.edges if edge.state in ("sound", "broken"))
    parts = pieces(replace(diagram, edges=edges))
    if not parts:
        return
    yield "## Diagram" if len(parts) == 1 else "## Diagrams"
    yield " ".join(_about_diagrams(diagram, len(diagram.edges) - len(edges), len(parts)))
    titles: Counter[str] = Counter()
    for number, piece in enumerate(parts[:_MOST_DIAGRAMS], start=1):
        if len(parts) > 1:
            title = _piece_title(piece)
            titles[title] += 1
            repeated = f" ({titles[title]})" if titles[title] > 1 else ""
            yield f"### {number}. {title}{repeated}"
        yield fenced(mermaid(piece.diagram), "mermaid")


def _about_diagrams(diagram: Diagram, implied: int, parts: int) -> Iterator[str]:
    """Yield sentences on what the diagrams show, and what they don't."""
    opening = "The diagram shows" if parts == 1 else "The diagrams show"
    relations = counted(len(diagram.boxes), "relation")
    yield f"{opening} the model: {relations}, with keys and references only."
    if parts > 1:
        yield "A relation that several diagrams need is in each of them; a reference is in one."
    if parts > _MOST_DIAGRAMS:
        yield (
            f"These are {_MOST_DIAGRAMS} of {parts:,} diagrams."
            f" The map in `report.html` shows all {len(diagram.boxes):,} relations."
        )
    if implied:
        references = counted(implied, "reference")
        yield f"{references} that others imply {noun(implied, 'is', 'are')} left out."


def _piece_title(piece: Piece) -> str:
    if not piece.centres:
        return "Without references"
    names = [code(name) for name in piece.centres]
    if len(names) <= _MOST_CENTRES:
        return f"Around {listed(names)}"
    return f"Around {listed_up_to(_MOST_CENTRES, names)}"


def _columns(view: SourceView) -> Iterator[str]:
    yield "## Columns"
    if len(view.columns) > _MOST_COLUMNS_LISTED:
        yield f"More than {_MOST_COLUMNS_LISTED:,}: see `contract.fluid.yaml`."
        return
    for each in view.tables:
        yield f"### {_label(each.entity)}"
        rows = [_column_cells(column) for column in each.columns]
        yield table(("Column", "Type", "Required", "Distinct#", "Meaning", "Comment"), rows)


def _column_cells(column: ColumnView) -> tuple[str, ...]:
    attribute, evidence = column.attribute, column.attribute.evidence
    about = "" if evidence.exact else "about "
    meaning = text(attribute.semantic_type or "")
    return (
        _label(attribute),
        f"`{attribute.type}`",
        "yes" if attribute.required else "no",
        "" if evidence.distinct is None else f"{about}{evidence.distinct:,}",
        f"{meaning} (personal)" if attribute.pii else meaning,
        text(attribute.description),
    )
