"""What the tools are asked: each a model, whose JSON schema clients are given."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from fluid_build.decisions.language import (
    DECISION_NAMES,
    DECISION_TYPES,
    BaseDecision,
    KeyColumns,
)

MOST_TABLES = 100
MOST_COLUMNS = 120
"""Bounds of an answer, which a conversation carries for many turns: at most some 25,000 tokens."""

OWN_FIELDS = ("by", "evidence", "despite_violations")
"""Fields of a decision that aren't an assistant's: who decides, what was measured, insisting."""


def _without_titles(schema: dict[str, Any]) -> None:
    """Leave out what only says names again: a conversation carries the schema in every turn."""
    schema.pop("title", None)
    schema.pop("description", None)
    for field in schema.get("properties", {}).values():
        field.pop("title", None)


class ToolArguments(BaseModel):
    """The arguments of a tool; others are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=_without_titles)


SourceArgument = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1_000,
        description="A file, folder or glob of the workspace, or the name of a source.",
    ),
]
TableArgument = Annotated[
    str, Field(min_length=1, max_length=500, description="A table of the source.")
]
FolderArgument = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1_000,
        description="A folder that forge wrote, relative to the workspace.",
    ),
]


class ListSourcesArguments(ToolArguments):
    """No arguments."""


class ValidateContractArguments(ToolArguments):
    """The arguments of ``validate_contract``: a path, or else a document."""

    path: str | None = Field(
        default=None,
        max_length=1_000,
        description="A contract file, relative to the workspace: YAML or JSON.",
    )
    contract: dict[str, Any] | None = Field(default=None, description="A FLUID contract, as JSON.")


class SearchMemoryArguments(ToolArguments):
    """The arguments of ``search_memory``."""

    query: str = Field(
        min_length=1, max_length=500, description="Words, such as names of tables and columns."
    )
    limit: int = Field(default=3, ge=1, le=10)


class ProfileSourceArguments(ToolArguments):
    """The arguments of ``profile_source``."""

    source: SourceArgument
    tables: list[TableArgument] = Field(
        default_factory=list,
        max_length=MOST_TABLES,
        description="Only these tables and their relationships; by default all of them.",
    )
    refresh: bool = Field(
        default=False,
        description="Read the source again. Files are read again by themselves once they change;"
        " a server isn't.",
    )


class DescribeTableArguments(ToolArguments):
    """The arguments of ``describe_table``."""

    source: SourceArgument
    table: TableArgument
    columns: list[str] = Field(
        default_factory=list,
        max_length=MOST_COLUMNS,
        description="Only these columns; by default the first ones.",
    )


class CheckKeyArguments(ToolArguments):
    """The arguments of ``check_key``."""

    source: SourceArgument
    table: TableArgument
    columns: KeyColumns = Field(description="The columns that may identify its rows.")


class CheckRelationshipArguments(ToolArguments):
    """The arguments of ``check_relationship``."""

    source: SourceArgument
    from_table: TableArgument
    from_columns: KeyColumns = Field(description="The columns that may refer to the other table.")
    to_table: TableArgument
    to_columns: KeyColumns = Field(description="Columns of the other table, in the same order.")


def _describe_kinds() -> str:
    """Return the kinds of decisions with their fields, as one text."""
    hidden = {*BaseDecision.model_fields, "decision", *OWN_FIELDS}
    kinds = []
    for kind in DECISION_TYPES:
        name = kind.model_fields["decision"].default
        fields = [field for field in kind.model_fields if field not in hidden]
        kinds.append(f"{name} ({', '.join(fields)}): {(kind.__doc__ or '').splitlines()[0]}")
    return "\n".join(kinds)


class ProposeDecisionArguments(ToolArguments):
    """The arguments of ``propose_decision``."""

    decision: dict[str, Any] = Field(
        description="The decision: `decision` names its kind, `reason` says in a sentence what"
        f" shows it, and the kind's own fields are as follows.\n{_describe_kinds()}",
        json_schema_extra={
            "properties": {
                "decision": {"type": "string", "enum": [*DECISION_NAMES]},
                "reason": {"type": "string", "maxLength": 600},
            },
            "required": ["decision"],
        },
    )
    folder: FolderArgument = Field(
        description="The forged folder that it's about, or that will be forged, relative to the"
        " workspace: its decisions.yaml gets the decision.",
    )
    source: SourceArgument | None = Field(
        default=None, description="The source; by default the one that the folder was forged from."
    )


class ForgeArguments(ToolArguments):
    """The arguments of ``forge``."""

    source: SourceArgument
    technique: Literal["flat", "data_vault_2", "dimensional"] = Field(
        default="flat",
        description="flat: a table for each table. data_vault_2: hubs, links and satellites that"
        " keep history. dimensional: facts and dimensions for reporting.",
    )
    target: Literal["duckdb", "postgres", "snowflake", "bigquery", "databricks"] = Field(
        default="duckdb", description="Where dbt builds."
    )
    business_vault: bool = Field(
        default=False, description="With data_vault_2: add point-in-time and bridge tables."
    )
    folder: FolderArgument | None = Field(
        default=None,
        description="The folder to write, relative to the workspace; by default NAME-model. The"
        " decisions in its decisions.yaml are followed.",
    )
    preview: bool = Field(default=False, description="Write nothing, and say what would change.")


class VerifyArguments(ToolArguments):
    """The arguments of ``verify``."""

    folder: FolderArgument
    source: SourceArgument | None = Field(
        default=None, description="The source; by default the one that the folder was forged from."
    )
