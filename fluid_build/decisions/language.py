"""The kinds of decisions, each a Pydantic model, and their JSON schema for editors.

A decision overrules a judgement of ours. Whoever makes it, a person or a model, uses the same
words. Names are the source's own: ``orders`` is a table there, or ``sales.orders`` where that is
how the source is listed.
"""

import unicodedata
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from fluid_build.decisions.conventions import (
    DEFAULT_CONVENTIONS,
    PRESETS,
    ColumnNames,
    Conventions,
    Hashing,
    Prefixes,
    Preset,
)
from fluid_build.decisions.suggested_texts import checked_name, checked_prose
from fluid_build.json_types import JsonObject
from fluid_build.limits import MOST_NAME

Author = Literal["person", "model"]
Role = Literal[
    "hub", "link", "satellite", "reference", "fact", "dimension", "bridge", "date"
]  # fmt: skip
STAR_ROLES: frozenset[Role] = frozenset({"fact", "dimension", "bridge", "date"})
"""Roles in a star; the others are those in a vault. A table may have one of each."""
ExposureType = Literal["dashboard", "notebook", "analysis", "ml", "application"]
"""What reads a model, in dbt's words."""
Additivity = Literal["additive", "semi-additive", "non-additive", "none"]
Delivery = Literal["full", "delta", "append"]
"""What a table has each time that it's read: all rows, those that changed, or those that came."""

_MOST_TEXT = 2_000
"""Characters in a description: a long paragraph."""
_MOST_REASON = 600
"""Characters in a reason: a few sentences."""
_MOST_KEY_COLUMNS = 32
"""Columns in a key, which is what databases allow."""
_MOST_ATTRIBUTES = 1_000
_MOST_VALUE = 200
"""Characters of a value that marks deleted rows: a code, or a word."""
_MOST_VALUES = 100
_MOST_READ = 1_000
"""Relations that a dashboard reads."""


def _without_controls(text: str) -> str:
    """Return a text; raise ValueError for characters that steer a terminal or can't be stored."""
    if any(unicodedata.category(c) in {"Cc", "Cf", "Cs"} and c not in "\n\t" for c in text):
        raise ValueError("the text has control characters")
    return text


def _single_line(text: str) -> str:
    if "\n" in text or "\t" in text:
        raise ValueError("the name has a line break or a tab")
    return _without_controls(text)


SourceName = Annotated[str, Field(min_length=1, max_length=MOST_NAME)]
"""A name of something that exists: whatever it has in it, it's only ever looked up."""
NewName = Annotated[
    str, Field(min_length=1, max_length=63, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
]  # fmt: skip
"""A name that is legal without quotes on every target; PostgreSQL's limit is 63 characters."""
Label = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_single_line)]
Text = Annotated[str, Field(min_length=1, max_length=_MOST_TEXT), AfterValidator(_without_controls)]
KeyColumns = Annotated[tuple[SourceName, ...], Field(min_length=1, max_length=_MOST_KEY_COLUMNS)]


class DecisionEvidence(BaseModel):
    """What the data said about a decision: the figures, and the query that returns violations.

    ``rows`` are those that the decision is about, without ``nulls``. ``matched`` rows have a value
    that another table has too, and ``coverage`` is the share of that table's values that they have.
    ``measured_type`` is the type that text is read as, and ``reversible`` says that its values have
    the same spelling when written again.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: int
    nulls: int = 0
    distinct: int | None = None
    violations: int = 0
    matched: int | None = None
    coverage: float | None = None
    measured_type: str | None = None
    reversible: bool | None = None
    sql: str = ""


class BaseDecision(BaseModel):
    """What every decision has: who made it and why, and, once applied, its evidence."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    by: Author = "person"
    reason: Annotated[
        str, Field(max_length=_MOST_REASON), AfterValidator(_without_controls)
    ] = ""  # fmt: skip
    evidence: DecisionEvidence | None = None


class _Claim(BaseDecision):
    """A decision that the data can contradict; a person may insist on it all the same."""

    despite_violations: bool = False

    @model_validator(mode="after")
    def _only_a_person_insists(self) -> Self:
        if self.despite_violations and self.by == "model":
            raise ValueError("only a person can insist on a claim that the data contradicts")
        return self


class _Target(BaseDecision):
    """A decision about a table, a column of it, or an element of the model (``hub_customer``)."""

    table: SourceName | None = None
    column: SourceName | None = None
    element: SourceName | None = None

    @model_validator(mode="after")
    def _names_one_target(self) -> Self:
        if (self.table is None) == (self.element is None):
            raise ValueError("name a table, with or without a column, or else an element")
        return self


class Rename(_Target):
    """Give a table, a column or an element of the model another name."""

    decision: Literal["rename"] = "rename"
    new_name: NewName


class Describe(_Target):
    """Say what a table, a column or an element of the model is."""

    decision: Literal["describe"] = "describe"
    text: Text

    @model_validator(mode="after")
    def _a_model_says_something(self) -> Self:
        if self.by == "model":
            checked_prose(self.text)
        return self


class SetKey(_Claim):
    """Say which columns identify a row of a table."""

    decision: Literal["set_key"] = "set_key"
    table: SourceName
    columns: KeyColumns


class _Reference(BaseDecision):
    from_table: SourceName
    from_columns: KeyColumns
    to_table: SourceName
    to_columns: KeyColumns

    @model_validator(mode="after")
    def _columns_pair(self) -> Self:
        if len(self.from_columns) != len(self.to_columns):
            raise ValueError("from_columns and to_columns pair by position")
        return self


class AddRelationship(_Claim, _Reference):
    """Say that columns of one table refer to another; columns pair by position."""

    decision: Literal["add_relationship"] = "add_relationship"


class DropRelationship(_Reference):
    """Say that columns don't refer to that table."""

    decision: Literal["drop_relationship"] = "drop_relationship"


class BusinessKey(_Claim):
    """Say which columns the business identifies a row by: what its hub is built on."""

    decision: Literal["business_key"] = "business_key"
    table: SourceName
    columns: KeyColumns


class Classify(BaseDecision):
    """Say what a table becomes: in a vault, or in a star."""

    decision: Literal["classify"] = "classify"
    table: SourceName
    role: Role


class Grain(_Claim):
    """Say which columns tell the rows of a fact apart."""

    decision: Literal["grain"] = "grain"
    table: SourceName
    columns: KeyColumns


class Measure(BaseDecision):
    """Say how a number adds up; ``none`` says that it's no measure."""

    decision: Literal["measure"] = "measure"
    table: SourceName
    column: SourceName
    additivity: Additivity


class TextType(_Claim):
    """Say how a column's text is read: as dates of a format, numbers with a comma, or as text.

    ``date_format`` is in strptime's words (``%d/%m/%Y``).
    """

    decision: Literal["type"] = "type"
    table: SourceName
    column: SourceName
    read_as: Literal["text", "date", "timestamp", "number"]
    date_format: Annotated[str, Field(max_length=100)] | None = None
    decimal: Literal["comma", "point"] | None = None


class PersonalData(BaseDecision):
    """Say whether a column holds personal data."""

    decision: Literal["personal_data"] = "personal_data"
    table: SourceName
    column: SourceName
    is_personal: bool = True


class _Naming(BaseDecision):
    """A decision that names something in words."""

    @model_validator(mode="after")
    def _a_model_names_in_words(self) -> Self:
        named: Sequence[str] = tuple(
            getattr(self, name) or "" for name in type(self).model_fields if name in _NAMED
        )
        if self.by == "model":
            for text in filter(None, named):
                checked_name(text)
        return self


_NAMED = frozenset({"domain", "team", "email", "name"})
"""Fields of decisions that name something in words."""


class Domain(_Naming):
    """Say which business domain the product belongs to."""

    decision: Literal["domain"] = "domain"
    domain: Label


class Owner(_Naming):
    """Say which team owns the product."""

    decision: Literal["owner"] = "owner"
    team: Label
    email: Label | None = None


class ProductName(_Naming):
    """Say what the product is called."""

    decision: Literal["name"] = "name"
    name: Label


class SetConventions(BaseDecision):
    """Say how relations and added columns are called, and how the keys of a vault are hashed.

    What isn't said is as in the ``preset``, or else as it is by default.
    """

    decision: Literal["conventions"] = "conventions"
    preset: Preset | None = None
    prefixes: Prefixes | None = None
    columns: ColumnNames | None = None
    hashing: Hashing | None = None

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.by == "model":
            raise ValueError("only a person can set the conventions")
        for clash in self.conventions.clashes():
            raise ValueError(clash)
        return self

    @property
    def conventions(self) -> Conventions:
        """All conventions, with those of the preset and the default ones."""
        base = PRESETS[self.preset] if self.preset else DEFAULT_CONVENTIONS
        return base.with_given(self.prefixes, self.columns, self.hashing)


class Exposure(BaseDecision):
    """Say what reads the model: a dashboard, say, with its owner and the relations that it reads.

    It goes into the dbt project as an exposure of that ``name``.
    """

    decision: Literal["exposure"] = "exposure"
    name: NewName
    type: ExposureType
    models: Annotated[tuple[NewName, ...], Field(min_length=1, max_length=_MOST_READ)]
    owner: Label
    email: Label | None = None
    title: Label | None = None
    text: Text | None = None
    url: Annotated[str, Field(max_length=2_000, pattern=r"^https?://[!-~]+$")] | None = None


class Renamed(BaseDecision):
    """Say which name a table, or a column of a table, of the source ``was`` known by before.

    ``table`` and ``column`` are what the source calls them now. Where it isn't ``is_renamed``, they
    are two: one went, and another came.
    """

    decision: Literal["renamed"] = "renamed"
    table: SourceName
    column: SourceName | None = None
    was: SourceName
    is_renamed: bool = True

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        if self.was == (self.table if self.column is None else self.column):
            raise ValueError("`was` is the name that it has now")
        return self


class SetDelivery(BaseDecision):
    """Say what a table ``delivers`` each time: all rows, only changed ones, or only new ones.

    Rows of a delta replace those of the same key, appended ones are added. What isn't delivered
    stays; only of a full delivery is it deleted. In a delta, a row may say that it's deleted: where
    ``deleted_column`` has one of the ``deleted_values``, or without them any value.
    """

    decision: Literal["delivery"] = "delivery"
    table: SourceName
    delivers: Delivery
    deleted_column: SourceName | None = None
    deleted_values: (
        Annotated[
            tuple[Annotated[str, Field(max_length=_MOST_VALUE)], ...],
            Field(min_length=1, max_length=_MOST_VALUES),
        ]
        | None
    ) = None

    @model_validator(mode="after")
    def _marks_rows_of_a_delta(self) -> Self:
        if self.deleted_column is not None and self.delivers != "delta":
            raise ValueError("only a row of a delta says that it's deleted")
        if self.deleted_values is not None and self.deleted_column is None:
            raise ValueError("deleted_values are those of a deleted_column")
        return self


class SetValidity(BaseDecision):
    """Say from when a version of a row holds: from its ``load``, or from its ``stamp``.

    That's the ``column`` in which the source writes when it changed a row; unless it's given, the
    first one that is called so.
    """

    decision: Literal["validity"] = "validity"
    table: SourceName
    follows: Literal["load", "stamp"]
    column: SourceName | None = None

    @model_validator(mode="after")
    def _names_a_stamp(self) -> Self:
        if self.column is not None and self.follows == "load":
            raise ValueError("only a stamp is a column")
        return self


class Ignore(BaseDecision):
    """Leave a table out."""

    decision: Literal["ignore"] = "ignore"
    table: SourceName


class OneTable(BaseDecision):
    """Say that tables are one: the ``parts``, by their names or globs, are read as ``table``."""

    decision: Literal["one_table"] = "one_table"
    table: SourceName
    parts: KeyColumns


class Separate(BaseDecision):
    """Say that the parts of a table, which were read as one by their names, are tables."""

    decision: Literal["separate"] = "separate"
    table: SourceName


class Merge(_Claim):
    """Say that two tables describe the same entity: rows with equal columns are one instance."""

    decision: Literal["merge"] = "merge"
    table: SourceName
    columns: KeyColumns
    into_table: SourceName
    into_columns: KeyColumns

    @model_validator(mode="after")
    def _columns_pair(self) -> Self:
        if len(self.columns) != len(self.into_columns):
            raise ValueError("columns and into_columns pair by position")
        if self.table == self.into_table:
            raise ValueError("a table can't be merged into itself")
        return self


class Split(_Claim):
    """Say that a table holds a second entity: ``columns`` identify it, ``attributes`` describe it.

    ``entity`` is the name of the new entity.
    """

    decision: Literal["split"] = "split"
    table: SourceName
    columns: KeyColumns
    attributes: Annotated[tuple[SourceName, ...], Field(max_length=_MOST_ATTRIBUTES)] = ()
    entity: NewName

    @model_validator(mode="after")
    def _attributes_are_others(self) -> Self:
        if set(self.columns) & set(self.attributes):
            raise ValueError("a column can't be both in columns and in attributes")
        return self


AnyDecision: TypeAlias = (
    Rename
    | Describe
    | SetKey
    | AddRelationship
    | DropRelationship
    | BusinessKey
    | Classify
    | Grain
    | Measure
    | TextType
    | PersonalData
    | Domain
    | Owner
    | ProductName
    | SetConventions
    | Exposure
    | Renamed
    | SetDelivery
    | SetValidity
    | Ignore
    | OneTable
    | Separate
    | Merge
    | Split
)
Decision = Annotated[AnyDecision, Field(discriminator="decision")]

DECISION_TYPES: tuple[type[AnyDecision], ...] = get_args(AnyDecision)
DECISION_NAMES: tuple[str, ...] = tuple(
    kind.model_fields["decision"].default for kind in DECISION_TYPES
)


class DecisionFile(BaseModel):
    """``decisions.yaml``: the decisions of a forged folder, in order; a later one wins."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    decisions: tuple[Decision, ...] = ()


DECISION: TypeAdapter[AnyDecision] = TypeAdapter(Decision)


def decisions_schema() -> JsonObject:
    """Return the JSON schema (2020-12) of ``decisions.yaml``.

    It accepts every valid file. What it can't say: that columns pair by position, that they are
    different columns, that two names aren't the same, and which characters act on a terminal.
    """
    schema = DecisionFile.model_json_schema()
    definitions = schema["$defs"]
    for kind in DECISION_TYPES:
        definitions[kind.__name__] = _entry_schema(kind, definitions[kind.__name__])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _entry_schema(kind: type[BaseDecision], schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a kind, with what it requires of several fields together."""
    fields = schema["properties"]
    properties = {"decision": fields["decision"], **fields}
    schema["properties"] = {name: _without_title(field) for name, field in properties.items()}
    schema["required"] = ["decision", *schema.get("required", ())]
    if issubclass(kind, _Target):
        present = {"type": "string"}
        schema["oneOf"] = [
            {"required": [name], "properties": {name: present}} for name in ("table", "element")
        ]
    if issubclass(kind, _Claim):
        by_model = {"required": ["by"], "properties": {"by": {"const": "model"}}}
        schema["if"] = by_model
        schema["then"] = {"properties": {"despite_violations": {"const": False}}}
    return schema


def _without_title(field: dict[str, Any]) -> dict[str, Any]:
    """Return a field's schema without the title that Pydantic makes of its name."""
    return {key: value for key, value in field.items() if key != "title"}


def described(decisions: Sequence[AnyDecision]) -> list[JsonObject]:
    """Return decisions as JSON objects, without fields that say nothing."""
    return [decision.model_dump(mode="json", exclude_none=True) for decision in decisions]
