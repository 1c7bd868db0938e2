"""The questions about a draft: one for each chunk and model, and those that correct."""

from collections.abc import Collection, Sequence
from pathlib import PureWindowsPath

from fluid_build.copilot.context.model_data import context_window
from fluid_build.copilot.context.token_estimate import estimate_tokens
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.pipeline.logical.agent import LogicalAgent
from fluid_build.pipeline.logical.asking import Asked, Question
from fluid_build.pipeline.logical.chunks import chunk_document, cut_into_chunks
from fluid_build.pipeline.logical.compact_profile import DraftFacts, as_document
from fluid_build.pipeline.logical.context import decided_lines
from fluid_build.pipeline.logical.draft import Draft
from fluid_build.pipeline.logical.prompts import JUDGEMENT, WORDING, instructions
from fluid_build.pipeline.logical.proposals import PROPOSAL_KINDS, ProposalKind, Proposals

_TOKENS_PER_DECISION = 90
"""Of an answer: some 60 for the names, a sentence of value and a sentence of reason, and the rest
for models that think first."""
_UNKNOWN_WINDOW = 32_000
"""Tokens assumed of a model whose window isn't known: most local models have as many."""
_LEAST_ROOM = 500
"""Tokens for the tables of a chunk, where the window has hardly room for the instructions."""


def asked_models(draft: Draft, agent: LogicalAgent) -> list[Asked]:
    """Return who is asked for what: with ``tiered``, the fast model writes the words."""
    fast = agent.fast() if agent.session.tiered else None
    if fast is None:
        return [_asked(draft, agent, PROPOSAL_KINDS)]
    return [_asked(draft, agent, JUDGEMENT), _asked(draft, fast, WORDING)]


def _asked(draft: Draft, agent: LogicalAgent, kinds: tuple[ProposalKind, ...]) -> Asked:
    config = agent.session.get_llm_config()
    window = (
        context_window(
            config.model, config.provider, capability_matrix=agent.session.capability_matrix
        )
        or _UNKNOWN_WINDOW
    )
    answer = min(config.max_output_tokens, window // 2)
    most = max(1, answer // _TOKENS_PER_DECISION)
    system = instructions(kinds, draft.model.technique, most)
    fixed = estimate_tokens(system) + estimate_tokens(as_document(Proposals.model_json_schema()))
    return Asked(agent, kinds, system, max(_LEAST_ROOM, window - answer - fixed))


def first_questions(
    facts: DraftFacts, asked: Sequence[Asked], context: JsonObject
) -> tuple[list[Question], int]:
    """Return the questions of the first round by chunk, and the number of chunks."""
    chunks = cut_into_chunks(facts, min(model.room for model in asked))
    questions = [
        _question(facts, model, tables, _about_source(facts.draft, context, is_first=number == 0))
        for number, tables in enumerate(chunks)
        for model in asked
    ]
    return questions, len(chunks)


def _question(
    facts: DraftFacts, asked: Asked, tables: tuple[str, ...], extra: JsonObject
) -> Question:
    def parts() -> list[Question]:
        half = (len(tables) + 1) // 2
        without_product = {name: value for name, value in extra.items() if name != "product"}
        halves = ((tables[:half], extra), (tables[half:], without_product))
        return [
            Question(asked, part, _document(facts, asked, part, about)) for part, about in halves
        ]

    document = _document(facts, asked, tables, extra)
    return Question(asked, tables, document, parts if len(tables) > 1 else None)


def _document(
    facts: DraftFacts, asked: Asked, tables: tuple[str, ...], extra: JsonObject
) -> JsonObject:
    decided = decided_lines(facts.draft.decisions, tables)
    with_decided = {**extra, "decided": decided} if decided else extra
    return chunk_document(facts, tables, asked.room, with_decided)


def _about_source(draft: Draft, context: JsonObject, *, is_first: bool) -> JsonObject:
    profile = draft.profile
    source: dict[str, JsonValue] = {
        "technique": draft.model.technique,
        "tables": len(profile.tables),
    }
    if not profile.has_data:
        source["has_data"] = False
    # A name may be a path where nothing better is known; the machine's folders stay here.
    product = {"product": PureWindowsPath(profile.source_name).name} if is_first else {}
    return {"source": source, **product, **context}


def correcting_question(
    facts: DraftFacts, question: Question, tables: Collection[str], refusals: Sequence[JsonObject]
) -> Question:
    """Return the question for replacements of refused proposals, with the tables that they name."""
    concerned = tuple(name for name in question.tables if name in tables)
    document = chunk_document(facts, concerned, question.asked.room, {"refused": refusals})
    return Question(question.asked, concerned, document, is_correction=True)
