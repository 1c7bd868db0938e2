"""``decisions.yaml``, written: what a person wrote stays as it is, comments and order included.

The text is edited at the places that YAML's nodes have, and read again. Where it then doesn't say
what was meant, it's written as a whole.
"""

from collections.abc import Iterator, Sequence

import yaml
from pydantic_core import to_json

from fluid_build.block_yaml import block_yaml
from fluid_build.decisions.files import (
    DECISIONS_FILE,
    SCHEMA_FILE,
    checked_decisions,
    parse_decisions,
)
from fluid_build.decisions.language import AnyDecision, DecisionEvidence
from fluid_build.decisions.nodes import DecisionNodes, EntryNode, decision_nodes
from fluid_build.decisions.subjects import subject
from fluid_build.errors import DecisionError
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.yaml_edits import (
    NotEditableError,
    TextEdit,
    block,
    dash,
    last_place,
    line_break,
    line_end,
    with_edits,
    without_lines,
)

SCHEMA_LINE = f"# yaml-language-server: $schema={SCHEMA_FILE}"
"""How editors find the schema."""
_SCHEMA_MARK = "# yaml-language-server:"
_LAST_FIELDS = ("by", "reason", "evidence")


def decisions_text(previous: str, applied: Sequence[AnyDecision]) -> str:
    """Return the text of ``decisions.yaml`` after a forge, "" where there are no decisions.

    ``previous`` is the text before, "" for none. An entry that was ``applied`` gets its evidence,
    another one loses what it had. Decisions that aren't in the text yet are appended. Raises
    DecisionError where ``previous`` isn't valid.
    """
    if not previous.strip() and not applied:
        return ""
    nodes = decision_nodes(previous, DECISIONS_FILE)
    entries = checked_decisions(nodes, DECISIONS_FILE)
    evidence = {without_evidence(decision): decision.evidence for decision in applied}
    written = [
        entry.model_copy(update={"evidence": evidence.get(without_evidence(entry))})
        for entry in entries
    ]
    recorded = {without_evidence(entry) for entry in entries}
    added = [
        decision
        for decision in dict.fromkeys(applied)
        if without_evidence(decision) not in recorded
    ]
    return _edited(previous, nodes, entries, written, added)


def with_decision(previous: str, decision: AnyDecision) -> str:
    """Return a text with one more decision, in the place of earlier ones about the same.

    Raises DecisionError where ``previous`` isn't valid.
    """
    nodes = decision_nodes(previous, DECISIONS_FILE)
    entries = checked_decisions(nodes, DECISIONS_FILE)
    replaced = [subject(entry) == subject(decision) for entry in entries]
    remaining = [entry for entry, is_gone in zip(entries, replaced, strict=True) if not is_gone]
    gone = [entry.node for entry, is_gone in zip(nodes.entries, replaced, strict=True) if is_gone]
    text = previous
    if gone:
        try:
            text = _without_entries(previous, nodes, gone)
            if parse_decisions(text) != tuple(remaining):
                raise NotEditableError
        except (NotEditableError, DecisionError):
            text = canonical_text(remaining)
        nodes = decision_nodes(text, DECISIONS_FILE)
    return _edited(text, nodes, remaining, remaining, [decision])


def without_evidence(decision: AnyDecision) -> AnyDecision:
    """Return a decision as it was before it was measured."""
    return decision.model_copy(update={"evidence": None})


def canonical_text(decisions: Sequence[AnyDecision]) -> str:
    """Return decisions as a file of their own, without anybody's comments."""
    entries = [entry_fields(decision) for decision in decisions]
    return f"{SCHEMA_LINE}\n{block_yaml({'version': 1, 'decisions': entries})}"


def entry_text(decision: AnyDecision) -> str:
    """Return an entry as it's pasted below ``decisions:``."""
    lines = block_yaml({"decisions": [entry_fields(decision)]}).splitlines()
    return "\n".join(lines[1:])


def entry_fields(decision: AnyDecision) -> JsonObject:
    """Return an entry's fields: what it says first, then who says so and why."""
    fields: dict[str, JsonValue] = decision.model_dump(mode="json", exclude_none=True)
    kind = {"decision": fields.pop("decision")}
    last = {name: fields.pop(name) for name in _LAST_FIELDS if fields.get(name)}
    if not fields.get("despite_violations"):
        fields.pop("despite_violations", None)
    # An empty reason and empty attributes say nothing; `is_personal: false` says a lot.
    content = {name: value for name, value in fields.items() if value not in ("", [])}
    if decision.evidence is not None:
        last["evidence"] = _evidence_fields(decision.evidence)
    return {**kind, **content, **last}


def _evidence_fields(evidence: DecisionEvidence) -> JsonObject:
    return evidence.model_dump(mode="json", exclude_none=True, exclude_defaults=True)


def _edited(
    text: str,
    nodes: DecisionNodes,
    entries: Sequence[AnyDecision],
    written: Sequence[AnyDecision],
    added: Sequence[AnyDecision],
) -> str:
    """Return a text whose entries become ``written`` and ``added``."""
    expected = (*written, *added)
    try:
        edits = [
            edit
            for node, before, after in zip(nodes.entries, entries, written, strict=True)
            if before.evidence != after.evidence
            for edit in _evidence_edits(text, node, after)
        ]
        edits += _appending_edits(text, nodes, added)
        result = _with_schema_line(with_edits(text, edits))
        if parse_decisions(result) == expected:
            return result
    except (NotEditableError, DecisionError):
        pass
    canonical = canonical_text(expected)
    if parse_decisions(canonical) != expected:
        raise AssertionError("decisions don't read as they were written")
    return canonical


def _with_schema_line(text: str) -> str:
    has_line = any(line.startswith(_SCHEMA_MARK) for line in text.splitlines())
    return text if has_line else f"{SCHEMA_LINE}{line_break(text)}{text}"


def _evidence_edits(text: str, entry: EntryNode, after: AnyDecision) -> Iterator[TextEdit]:
    """Yield what replaces, adds or removes the evidence of an entry."""
    node = _mapping(entry.node)
    pairs = {str(key.value): (key, value) for key, value in node.value}
    evidence = None if after.evidence is None else _evidence_fields(after.evidence)
    place = pairs.get("evidence")
    if node.flow_style:
        yield _flow_evidence(text, node, place, evidence)
        return
    indent = " " * node.value[0][0].start_mark.column
    content = "" if evidence is None else block({"evidence": evidence}, indent, text)
    if place is None:
        end = line_end(text, last_place(text, node))
        yield TextEdit(end, end, f"{line_break(text)}{indent}{content}")
        return
    key, value = place
    start, end = key.start_mark.index, last_place(text, value, at_least=key.end_mark.index + 1)
    if evidence is not None:
        yield TextEdit(start, end, content)
        return
    yield without_lines(text, start, end)


def _flow_evidence(
    text: str,
    node: yaml.MappingNode,
    place: tuple[yaml.Node, yaml.Node] | None,
    evidence: JsonObject | None,
) -> TextEdit:
    content = f"evidence: {to_json(evidence).decode()}"
    if place is None:
        end = last_place(text, node.value[-1][1], at_least=node.value[-1][0].end_mark.index)
        return TextEdit(end, end, f", {content}")
    if evidence is None:
        raise NotEditableError  # A comma before or after it would be left over.
    key, value = place
    return TextEdit(key.start_mark.index, value.end_mark.index, content)


def _appending_edits(
    text: str, nodes: DecisionNodes, added: Sequence[AnyDecision]
) -> Iterator[TextEdit]:
    if not added:
        return
    fields = [entry_fields(decision) for decision in added]
    newline = line_break(text)
    place = nodes.entries_node
    if not isinstance(place, yaml.SequenceNode) or not nodes.entries:
        yield _first_entries(text, nodes, fields)
    elif place.flow_style:
        end = nodes.entries[-1].node.end_mark.index
        yield TextEdit(end, end, "".join(f", {to_json(entry).decode()}" for entry in fields))
    else:
        indent = " " * place.start_mark.column
        end = line_end(text, last_place(text, place))
        entries = "".join(f"{newline}{indent}{block([entry], indent, text)}" for entry in fields)
        yield TextEdit(end, end, entries)


def _first_entries(text: str, nodes: DecisionNodes, fields: Sequence[JsonObject]) -> TextEdit:
    """Return what puts entries into a text that has none."""
    newline = line_break(text)
    place = nodes.entries_node
    if place is not None:
        start, end = place.start_mark.index, place.end_mark.index
        return TextEdit(start, end, f"{newline}{block(fields, '', text)}")
    version: JsonObject = {} if nodes.root is not None else {"version": 1}
    document = block({**version, "decisions": fields}, "", text)
    separator = newline if text and not text.endswith("\n") else ""
    return TextEdit(len(text), len(text), f"{separator}{document}{newline}")


def _without_entries(text: str, nodes: DecisionNodes, gone: Sequence[yaml.Node]) -> str:
    """Return a text without the lines of some entries."""
    if not isinstance(nodes.entries_node, yaml.SequenceNode) or nodes.entries_node.flow_style:
        raise NotEditableError
    if len(gone) == len(nodes.entries):
        first, last = nodes.entries[0].node, nodes.entries[-1].node
        line_start = text.rfind("\n", 0, first.start_mark.index)
        end = line_end(text, last_place(text, last))
        return f"{text[:line_start].rstrip()} []{text[end:]}"
    edits = [without_lines(text, dash(text, node), last_place(text, node)) for node in gone]
    return with_edits(text, edits)


def _mapping(node: yaml.Node) -> yaml.MappingNode:
    if not isinstance(node, yaml.MappingNode):
        raise NotEditableError
    return node
