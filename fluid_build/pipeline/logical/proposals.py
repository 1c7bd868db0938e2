"""What a model answers, and the decisions that it becomes.

A union of all kinds of decisions is a long schema, which not every provider compiles, and it's paid
for with each request. A proposal has the same few fields for every kind instead, and becomes a
decision of the language here.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from fluid_build.decisions.language import DECISION, AnyDecision
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.text import clip

ProposalKind: TypeAlias = Literal[
    "rename", "describe", "set_key", "add_relationship", "drop_relationship", "business_key",
    "classify", "grain", "measure", "type", "personal_data", "domain", "name", "merge", "split",
]  # fmt: skip
"""The decisions that a model may propose.

``ignore`` isn't one of them: a table that a model drops is data lost. Neither is ``owner``: no name
or figure says who is responsible for the data, so a model could only invent a team.
"""
PROPOSAL_KINDS: tuple[ProposalKind, ...] = get_args(ProposalKind)

MOST_PROPOSALS = 500
"""Proposals that are read of one answer. Each may cost a query, and we ask for far fewer."""
_MOST_REASON = 300
"""Characters of a reason: one long sentence. Longer ones are cut, not refused."""
_MOST_QUOTED = 200
"""Characters that are quoted of an entry that is refused."""
_MOST_FAULTS = 3


class Proposal(BaseModel):
    """A decision in the form that a model writes; empty fields say nothing."""

    model_config = ConfigDict(frozen=True, json_schema_extra=lambda schema: _shorten(schema))

    decision: ProposalKind
    table: str = ""
    columns: tuple[str, ...] = ()
    to_table: str = ""
    to_columns: tuple[str, ...] = ()
    value: str = ""
    reason: str = Field(min_length=1)


def _shorten(schema: dict[str, Any]) -> None:
    """Remove what costs tokens and says nothing to a model: titles, and the text for us."""
    for part in (schema, *schema["properties"].values()):
        part.pop("title", None)
    schema.pop("description", None)


class Proposals(BaseModel):
    """A model's answer. Its entries are read one by one, so that a wrong one costs only itself."""

    model_config = ConfigDict(frozen=True, json_schema_extra=lambda schema: _shorten(schema))

    decisions: Annotated[
        list[object], WithJsonSchema({"type": "array", "items": Proposal.model_json_schema()})
    ]


@dataclass(frozen=True, slots=True)
class InvalidProposal:
    """An entry that is no decision. ``entry`` is its beginning as ASCII; ``fault`` says why."""

    entry: str
    fault: str


@dataclass(frozen=True, slots=True)
class ReadProposals:
    """The decisions of an answer in its order, and what couldn't be read.

    ``unread`` counts the entries after the first ``MOST_PROPOSALS``.
    """

    decisions: tuple[AnyDecision, ...] = ()
    invalid: tuple[InvalidProposal, ...] = ()
    unread: int = 0


def read_proposals(
    answer: Proposals, kinds: Sequence[ProposalKind] = PROPOSAL_KINDS
) -> ReadProposals:
    """Return the decisions that an answer becomes, each made by a model, if of those kinds."""
    decisions, invalid = [], []
    for entry in answer.decisions[:MOST_PROPOSALS]:
        try:
            decisions.append(_read_decision(entry, kinds))
        except ValidationError as error:
            invalid.append(InvalidProposal(_quote(entry), _describe_faults(error)))
        except ValueError as error:
            invalid.append(InvalidProposal(_quote(entry), str(error)))
    unread = max(0, len(answer.decisions) - MOST_PROPOSALS)
    return ReadProposals(tuple(decisions), tuple(invalid), unread)


def _read_decision(entry: object, kinds: Sequence[ProposalKind]) -> AnyDecision:
    if not isinstance(entry, Mapping):
        raise ValueError("a proposal is an object")
    proposal = Proposal.model_validate({k: v for k, v in entry.items() if v is not None})
    if proposal.decision not in kinds:
        raise ValueError(f"{proposal.decision} wasn't asked for")
    fields = _FIELDS[proposal.decision](proposal)
    return DECISION.validate_python(
        {
            "decision": proposal.decision,
            "by": "model",
            "reason": clip(proposal.reason.strip(), _MOST_REASON),
            **fields,
        }
    )


def _target(proposal: Proposal) -> JsonObject:
    if not proposal.columns:
        return {"table": proposal.table}
    return {"table": proposal.table, "column": _single_column(proposal)}


def _column(proposal: Proposal) -> JsonObject:
    return {"table": proposal.table, "column": _single_column(proposal)}


def _single_column(proposal: Proposal) -> str:
    if len(proposal.columns) != 1:
        raise ValueError("columns has to name one column")
    return proposal.columns[0]


def _key(proposal: Proposal) -> JsonObject:
    return {"table": proposal.table, "columns": proposal.columns}


def _reference(proposal: Proposal) -> JsonObject:
    return {
        "from_table": proposal.table,
        "from_columns": proposal.columns,
        "to_table": proposal.to_table,
        "to_columns": proposal.to_columns,
    }


def _reading(proposal: Proposal) -> JsonObject:
    """Return how text is read: ``date %d/%m/%Y``, ``number comma``, ``text``."""
    read_as, _, detail = proposal.value.strip().partition(" ")
    setting = "decimal" if read_as == "number" else "date_format"
    return {**_column(proposal), "read_as": read_as, setting: detail.strip() or None}


def _personal(proposal: Proposal) -> JsonObject:
    # A text in the source could persuade a model that a column isn't personal, and its values
    # would then be shown and sent: only a person can say so.
    if proposal.value.strip().lower() not in {"", "yes", "true"}:
        raise ValueError("only a person can say that a column isn't personal")
    return {**_column(proposal), "is_personal": True}


def _merge(proposal: Proposal) -> JsonObject:
    into: dict[str, JsonValue] = {
        "into_table": proposal.to_table,
        "into_columns": proposal.to_columns,
    }
    return {**_key(proposal), **into}


def _split(proposal: Proposal) -> JsonObject:
    return {**_key(proposal), "attributes": proposal.to_columns, "entity": proposal.value}


_FIELDS: Mapping[ProposalKind, Callable[[Proposal], JsonObject]] = {
    "rename": lambda proposal: {**_target(proposal), "new_name": proposal.value},
    "describe": lambda proposal: {**_target(proposal), "text": proposal.value},
    "set_key": _key,
    "add_relationship": _reference,
    "drop_relationship": _reference,
    "business_key": _key,
    "classify": lambda proposal: {"table": proposal.table, "role": proposal.value},
    "grain": _key,
    "measure": lambda proposal: {**_column(proposal), "additivity": proposal.value},
    "type": _reading,
    "personal_data": _personal,
    "domain": lambda proposal: {"domain": proposal.value},
    "name": lambda proposal: {"name": proposal.value},
    "merge": _merge,
    "split": _split,
}


def _describe_faults(error: ValidationError) -> str:
    """Return the first faults, without what was answered."""
    faults = error.errors(include_input=False, include_url=False, include_context=False)
    described = (
        f"{'.'.join(str(step) for step in fault['loc']) or 'decision'}: "
        f"{fault['msg'].removeprefix('Value error, ')}"
        for fault in faults[:_MOST_FAULTS]
    )
    return clip("; ".join(described), _MOST_QUOTED)


def _quote(entry: object) -> str:
    return clip(json.dumps(entry, ensure_ascii=True, separators=(",", ":")), _MOST_QUOTED)
