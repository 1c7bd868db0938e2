"""The tables of a source with all of their columns, and the relationships between them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set

from fluid_build.modeling.conceptual import CandidateRelationship, Relationship
from fluid_build.profiling.profile import ForeignKeyEvidence
from fluid_build.report.diagrams.diagram import (
    Diagram,
    DiagramBox,
    DiagramEdge,
    EdgeState,
    Mark,
    Row,
)
from fluid_build.report.diagrams.relationships import (
    child_count,
    entity_groups,
    keys_first,
    parent_count,
)
from fluid_build.report.view import SourceView, TableView, confidence_label
from fluid_build.text import as_sentence, counted, noun


def source_diagram(view: SourceView) -> Diagram:
    """Return every table of a source, with its relationships and the open questions.

    Boxes have the names of the tables as ids.
    """
    tables = {table.name for table in view.tables}
    groups = entity_groups(view.conceptual.entities)
    referring, referred = _referring_columns(view), _referred_columns(view)
    has_data = view.profile.has_data
    relationships = view.conceptual.relationships
    questions = [each for each in view.questions if {each.from_entity, each.to_entity} <= tables]
    return Diagram(
        "The source",
        boxes=tuple(
            DiagramBox(
                id=table.name,
                name=table.name,
                kind="table",
                rows=_rows(table, referring[table.name], referred[table.name]),
                group=groups[table.name],
                tables=(table.name,),
                remark=counted(table.measured.rows, "row") if has_data else "",
            )
            for table in view.tables
        ),
        edges=(
            *(
                _relationship_edge(f"r{number}", relationship, has_data=has_data)
                for number, relationship in enumerate(relationships, start=1)
            ),
            *(
                _question_edge(f"q{number}", question)
                for number, question in enumerate(questions, start=1)
            ),
        ),
    )


def _referring_columns(view: SourceView) -> Mapping[str, Set[str]]:
    columns: dict[str, set[str]] = defaultdict(set)
    for relationship in view.conceptual.relationships:
        columns[relationship.from_entity].update(relationship.from_attributes)
    return columns


def _referred_columns(view: SourceView) -> Mapping[str, Set[str]]:
    columns: dict[str, set[str]] = defaultdict(set)
    for relationship in view.conceptual.relationships:
        columns[relationship.to_entity].update(relationship.to_attributes)
    return columns


def _rows(table: TableView, referring: Set[str], referred: Set[str]) -> tuple[Row, ...]:
    primary = set(table.key.attributes) if table.key else set()
    declared = {
        name for key in table.entity.keys if key.kind == "declared" for name in key.attributes
    }
    return keys_first(
        [
            Row(
                column.measured.name,
                column.measured.declared_type or column.measured.type,
                tuple(_marks(column.measured.name, primary, referring, declared | referred)),
            )
            for column in table.columns
        ]
    )


def _marks(column: str, primary: Set[str], referring: Set[str], unique: Set[str]) -> Iterator[Mark]:
    if column in primary:
        yield "PK"
    if column in referring:
        yield "FK"
    if column in unique - primary:
        yield "UK"


def _relationship_edge(id_: str, relationship: Relationship, *, has_data: bool) -> DiagramEdge:
    orphans = relationship.evidence.orphans
    state: EdgeState = "implied" if relationship.implied else "broken" if orphans else "sound"
    return DiagramEdge(
        id=id_,
        child=relationship.from_entity,
        child_rows=relationship.from_attributes,
        parent=relationship.to_entity,
        parent_rows=relationship.to_attributes,
        child_count=child_count(relationship),
        parent_count=parent_count(relationship),
        state=state,
        orphans=orphans,
        label=relationship.role,
        text=_describe_relationship(relationship, has_data=has_data),
    )


def _question_edge(id_: str, question: CandidateRelationship) -> DiagramEdge:
    confidence = confidence_label(question.confidence)
    return DiagramEdge(
        id=id_,
        child=question.from_entity,
        child_rows=question.from_attributes,
        parent=question.to_entity,
        parent_rows=question.to_attributes,
        parent_count="zero-or-one",
        state="question",
        orphans=question.evidence.orphans,
        text=f"{_subject(question)} may refer to {_object(question)}, with a confidence of"
        f" {confidence}: {as_sentence(question.reason)}",
    )


def _describe_relationship(relationship: Relationship, *, has_data: bool) -> str:
    child, parent = _subject(relationship), _object(relationship)
    role = f" as {relationship.role}" if relationship.role else ""
    implied = " Other relationships imply it." if relationship.implied else ""
    figures = f" {_describe_matches(relationship.evidence)}" if has_data else ""
    return f"{child} refers to {parent}{role}.{figures}{implied}"


def _describe_matches(evidence: ForeignKeyEvidence) -> str:
    rows, orphans, nulls = evidence.rows, evidence.orphans, evidence.nulls
    if not rows:
        return f"None of {counted(nulls, 'row')} has a value." if nulls else "There are no rows."
    if orphans:
        verb = noun(orphans, "has", "have")
        matches = f"{orphans:,} of {counted(rows, 'row')} {verb} no match"
    else:
        matches = "Its row has a match" if rows == 1 else f"All {rows:,} rows have a match"
    if not nulls:
        return f"{matches}."
    return f"{matches}; {nulls:,} more {noun(nulls, 'is', 'are')} null."


def _subject(relationship: Relationship | CandidateRelationship) -> str:
    return f"{relationship.from_entity} ({', '.join(relationship.from_attributes)})"


def _object(relationship: Relationship | CandidateRelationship) -> str:
    return f"{relationship.to_entity} ({', '.join(relationship.to_attributes)})"
