"""The draft as a JSON document for a model: names, types, figures and keys, and few tokens.

No value of a row is in it, unless samples are shared. Reasons and notes of the profile and the
model aren't either, since some of them quote values.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.modeling.data_vault.elements import DataVaultModel
from fluid_build.modeling.dimensional.elements import DimensionalModel
from fluid_build.modeling.element import DecidedElement
from fluid_build.modeling.logical import LogicalModel
from fluid_build.pipeline.logical.draft import Draft
from fluid_build.profiling.profile import Candidate, ColumnProfile, ForeignKey, TableProfile
from fluid_build.sources.text_values.personal_text import presentable, without_values
from fluid_build.text import clip

# What a draft made of each table, in a word, with the choices that lost.


@dataclass(frozen=True, slots=True)
class TableRole:
    """What represents a table, what else could, and the business key of its hub."""

    label: str
    alternatives: tuple[str, ...] = ()
    business_key: tuple[str, ...] = ()


def roles_by_table(model: LogicalModel) -> Mapping[str, TableRole]:
    """Return the role of each table that a vault or star represents.

    A table that is only a part of another one's element has that element's role.
    """
    roles: dict[str, TableRole] = {}
    elements = list(_elements(model))
    for own_table, role, _ in elements:
        roles.setdefault(own_table, role)
    for _, role, element in elements:
        for table in element.mapped_source_tables:
            roles.setdefault(table, TableRole(f"part of a {role.label}", role.alternatives))
    return roles


def _elements(model: LogicalModel) -> Iterator[tuple[str, TableRole, DecidedElement]]:
    if model.dv2 is not None:
        yield from _vault_elements(model.dv2)
    if model.dimensional is not None:
        yield from _star_elements(model.dimensional)


def _vault_elements(vault: DataVaultModel) -> Iterator[tuple[str, TableRole, DecidedElement]]:
    for hub in vault.hubs:
        yield hub.entity_name, _role("hub", hub, hub.business_key_columns), hub
    for link in vault.links:
        yield link.table, _role("link", link), link
    for reference in vault.reference_tables:
        yield reference.table, _role("reference", reference), reference
    for satellite in vault.satellites:
        yield satellite.table, _role("satellite", satellite), satellite


def _star_elements(star: DimensionalModel) -> Iterator[tuple[str, TableRole, DecidedElement]]:
    for fact in star.facts:
        if not fact.snapshot_of:
            yield fact.entity_name, _role("fact", fact), fact
    for bridge in star.bridges:
        if bridge.hierarchy_pairs is None:
            yield bridge.entity_name, _role("bridge", bridge), bridge
    for dimension in star.dimensions:
        yield dimension.entity_name, _role("dimension", dimension), dimension


def _role(label: str, element: DecidedElement, business_key: tuple[str, ...] = ()) -> TableRole:
    return TableRole(label, tuple(other.choice for other in element.alternatives), business_key)


_SURE = 0.95
"""A reference of at least this confidence isn't a question, so its figure is left out."""
_LEAST_CREDIBLE = 0.05
"""A candidate below this isn't worth the model's time."""
_FEW_VALUES = 12
"""Distinct values up to which a column looks like a list of codes."""
_MOST_SAMPLES = 5
_MOST_SAMPLE = 40
_MOST_OTHER_KEYS = 3
_LONGEST_COMMENT = 10_000
"""Characters of a comment that are looked at. Masking shortens a text, so this is far more than is
sent: an address that is cut in half here is never in it."""


@dataclass(frozen=True, slots=True)
class Detail:
    """How much is said of each table.

    Columns that are ``brief`` have no figures, and those without a question are only named, up to
    ``most_names``.
    """

    comment_chars: int
    brief: bool
    most_names: int
    most_candidates: int
    most_references: int
    most_columns: int


DETAILS: tuple[Detail, ...] = (
    Detail(200, False, 0, 5, 100, 400),
    Detail(60, False, 0, 3, 50, 200),
    Detail(0, True, 200, 3, 30, 100),
    Detail(0, True, 12, 2, 10, 20),
    Detail(0, True, 6, 1, 6, 8),
    Detail(0, True, 4, 1, 6, 5),
    Detail(0, True, 2, 1, 6, 5),
    Detail(0, True, 0, 1, 6, 5),
    Detail(0, True, 0, 0, 2, 0),
)
"""The levels of detail, the richest first."""


@dataclass(frozen=True, slots=True)
class DraftFacts:
    """A draft, by table. ``references`` are those that others don't imply."""

    draft: Draft
    primary_keys: Mapping[str, tuple[str, ...] | None]
    references: Mapping[str, Sequence[ForeignKey]]
    candidates: Mapping[str, Sequence[Candidate]]
    roles: Mapping[str, TableRole]
    measures: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, draft: Draft) -> "DraftFacts":
        """Return the draft by table."""
        profile = draft.profile
        references: dict[str, list[ForeignKey]] = {}
        for key in profile.foreign_keys:
            if not key.implied:
                references.setdefault(key.from_table, []).append(key)
        candidates: dict[str, list[Candidate]] = {}
        for candidate in profile.candidates:
            if candidate.confidence >= _LEAST_CREDIBLE and not candidate.ruled_out:
                candidates.setdefault(candidate.from_table, []).append(candidate)
        return cls(
            draft,
            {table.name: table.primary_key for table in profile.tables},
            references,
            candidates,
            roles_by_table(draft.model),
            _measures(draft),
        )


def _measures(draft: Draft) -> dict[str, dict[str, str]]:
    """Return how the draft adds numbers up, and what else they could be, by table and column."""
    return {
        entity.name: {
            attribute.name: " or ".join(
                [
                    attribute.measure.additivity,
                    *(other.choice for other in attribute.measure.alternatives),
                ]
            )
            for attribute in entity.attributes
            if attribute.measure is not None
        }
        for entity in draft.model.conceptual.entities
    }


def describe_tables(
    facts: DraftFacts, tables: Iterable[TableProfile], detail: Detail
) -> dict[str, JsonObject]:
    """Return what a model is told of each table, by its name."""
    return {table.name: _describe_table(facts, table, detail) for table in tables}


def as_document(value: JsonValue) -> str:
    """Return compact JSON in which no character steers a terminal or hides from a reader."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _UNPRINTABLE.sub(_escape, text) if not text.isascii() else text


_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return character if character.isprintable() else json.dumps(character)[1:-1]


def _describe_table(facts: DraftFacts, table: TableProfile, detail: Detail) -> JsonObject:
    references = facts.references.get(table.name, ())
    candidates = facts.candidates.get(table.name, ())[: detail.most_candidates]
    role = facts.roles.get(table.name)
    described: dict[str, JsonValue] = {
        "rows": _figure(table.rows),
        "key": _names(table.primary_key or ()),
        "unique": _other_keys(table) if detail.comment_chars else (),
        "about": _comment(table.comment, detail),
        "is": role.label if role else "",
        "or": list(role.alternatives) if role else (),
        "business_key": _names(_business_key(table, role)),
        **_describe_columns(facts, table, candidates, detail),
        **_describe_references(facts, references[: detail.most_references]),
        "maybe": [
            {"by": _names(candidate.from_columns), **_describe_parent(facts, candidate)}
            for candidate in candidates
        ],
    }
    return {name: value for name, value in described.items() if value not in ("", (), [], {})}


def _business_key(table: TableProfile, role: TableRole | None) -> tuple[str, ...]:
    """Return the business key of a table's hub, unless it's the key of its rows."""
    return role.business_key if role and role.business_key != table.primary_key else ()


def _other_keys(table: TableProfile) -> list[JsonValue]:
    """Return keys of several columns; a single column says itself that it's unique."""
    other = (key for key in table.candidate_keys if key != table.primary_key and len(key) > 1)
    return [list(key) for key in islice(other, _MOST_OTHER_KEYS)]


def _names(columns: Sequence[str]) -> JsonValue:
    """Return column names, a single one by itself."""
    return columns[0] if len(columns) == 1 else list(columns)


def _describe_references(facts: DraftFacts, keys: Sequence[ForeignKey]) -> JsonObject:
    """Return references by their column, and those of several columns, or a second one, apart."""
    single: dict[str, JsonValue] = {}
    other: list[JsonValue] = []
    for key in keys:
        parent = _describe_parent(facts, key)
        if len(key.from_columns) == 1 and key.from_columns[0] not in single:
            single[key.from_columns[0]] = key.to_table if len(parent) == 1 else parent
        else:
            other.append({"by": _names(key.from_columns), **parent})
    return {"refs": single, "more_refs": other}


def _describe_parent(facts: DraftFacts, key: ForeignKey | Candidate) -> dict[str, JsonValue]:
    parent: dict[str, JsonValue] = {"to": key.to_table}
    if key.to_columns != facts.primary_keys.get(key.to_table):
        parent["on"] = _names(key.to_columns)
    if key.confidence < _SURE:
        parent["sure"] = round(key.confidence, 2)
    if key.evidence.orphans:
        parent["orphans"] = f"{_figure(key.evidence.orphans)} of {_figure(key.evidence.rows)}"
    return parent


def _describe_columns(
    facts: DraftFacts, table: TableProfile, candidates: Sequence[Candidate], detail: Detail
) -> JsonObject:
    questions = {column for candidate in candidates for column in candidate.from_columns}
    measures = facts.measures.get(table.name, {})
    mentioned = {c for key in facts.references.get(table.name, ()) for c in key.from_columns}
    mentioned.update(table.primary_key or ())
    detailed: list[ColumnProfile] = []
    plain: list[str] = []
    for column in table.columns:
        is_special = column.name in questions or column.name in measures or _is_special(column)
        if is_special or not detail.brief:
            detailed.append(column)
        elif column.name not in mentioned:
            plain.append(column.name)
    names = plain[: detail.most_names]
    columns = {
        column.name: _describe_column(facts, column, measures.get(column.name, ""), detail)
        for column in detailed[: detail.most_columns]
    }
    more = len(detailed) + len(plain) - len(columns) - len(names)
    return {"columns": columns, "also": join_names(names), "more": more or ""}


def join_names(names: Sequence[str]) -> JsonValue:
    """Return names in one text if they're plain words, which has a third of the tokens less."""
    return " ".join(names) if all(map(_WORD.fullmatch, names)) else list(names)


_WORD = re.compile(r"\w+")


def _is_special(column: ColumnProfile) -> bool:
    """Return whether a column may need a decision about its meaning."""
    return column.pii or column.measured_type is not None


def _describe_column(
    facts: DraftFacts, column: ColumnProfile, measure: str, detail: Detail
) -> JsonValue:
    words = _column_facts(column, brief=detail.brief and bool(measure))
    description = " ".join((*words, measure) if measure else words)
    labels: dict[str, JsonValue] = {"about": _comment(column.comment, detail)}
    if facts.draft.share_samples and detail is DETAILS[0]:
        labels |= _samples(column)
    labels = {name: value for name, value in labels.items() if value}
    return {"is": description, **labels} if labels else description


def _column_facts(column: ColumnProfile, *, brief: bool) -> Iterator[str]:
    if not brief:
        yield _TYPE_DETAIL.sub("", column.type).lower()[:40]
    if column.measured_type is not None:
        yield f"holds {column.measured_type[:40]}"
    if column.rows and not brief:
        yield from _figures(column)
    if column.semantic_type:
        yield column.semantic_type
    if column.pii:
        yield "personal"


_TYPE_DETAIL = re.compile(r"\(.*", re.DOTALL)
"""The precision of a decimal, the fields of a struct, the values of an enum: not wanted here."""


def _figures(column: ColumnProfile) -> Iterator[str]:
    present = column.rows - column.nulls
    if not present:
        yield "empty"
        return
    if column.nulls:
        yield f"{max(1, round(100 * column.nulls / column.rows))}% null"
    if column.distinct >= present > 1 and column.distinct_exact:
        yield "unique"
    elif column.distinct <= _FEW_VALUES:
        yield f"{column.distinct} values"


def _samples(column: ColumnProfile) -> JsonObject:
    """Return values that may be sent; the profile has none of columns that hold personal data."""
    if column.pii:
        return {}
    top = [top.value for top in column.top_values[:_MOST_SAMPLES] if presentable(top.value)]
    bounds = {
        name: clip(bound, _MOST_SAMPLE)
        for name, bound in (("min", column.min), ("max", column.max))
        if bound is not None and presentable(bound)
    }
    return {"top": [clip(value, _MOST_SAMPLE) for value in top], **bounds}


def _comment(comment: str | None, detail: Detail) -> str:
    """Return the beginning of a comment, without what a person could be reached by."""
    if not comment or not detail.comment_chars:
        return ""
    text = " ".join(comment[:_LONGEST_COMMENT].split())
    return clip(without_values(text), detail.comment_chars)


def _figure(number: int) -> int | str:
    """Return a figure; of thousands and more, only what a reader would say: ``1.2k``, ``34M``."""
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= size:
            return (
                f"{number // size}{unit}" if number >= 10 * size else f"{number / size:.1f}{unit}"
            )
    return number
