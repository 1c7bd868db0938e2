"""Questions to the model, asked in parallel, and the failures of single ones."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fluid_build.copilot.blocking import open_task_group
from fluid_build.copilot.errors import (
    AgentExecutionError,
    AnswerCutOffError,
    ContextOverflowError,
    CostLimitExceeded,
    SchemaValidationError,
)
from fluid_build.json_types import JsonObject
from fluid_build.pipeline.logical.agent import LogicalAgent
from fluid_build.pipeline.logical.draft import FailedChunk
from fluid_build.pipeline.logical.proposals import (
    ProposalKind,
    Proposals,
    ReadProposals,
    read_proposals,
)
from fluid_build.text import clip

_WIDTH = 4
"""Questions at the same time: providers limit the requests and tokens of a minute."""
_MOST_MESSAGE = 300
_NOT_AN_ANSWER = "Your answer wasn't JSON of the required form. Answer again."


@dataclass(frozen=True, slots=True)
class Asked:
    """A model that is asked for some kinds of decisions, and the tokens that it has for tables."""

    agent: LogicalAgent
    kinds: tuple[ProposalKind, ...]
    system: str
    room: int


@dataclass(frozen=True, slots=True)
class Question:
    """A document about tables, and who is asked about it.

    ``parts`` returns the questions that replace it where it, or its answer, is too long; None where
    it can't be smaller.
    """

    asked: Asked
    tables: tuple[str, ...]
    document: JsonObject
    parts: Callable[[], Sequence["Question"]] | None = None
    is_correction: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What a question was answered, or why it wasn't."""

    question: Question
    proposals: ReadProposals = field(default_factory=ReadProposals)
    failure: FailedChunk | None = None


async def ask_all(questions: Sequence[Question]) -> list[Reply]:
    """Return the replies in the order of the questions, whatever the order of their completion.

    Raises ``CostLimitExceeded`` once the questions under way, which are paid for, have ended.
    """
    asking = _Asking()
    async with open_task_group() as group:
        tasks = [group.create_task(asking.ask(question)) for question in questions]
    if asking.refusal is not None:
        raise asking.refusal
    return [reply for task in tasks for reply in task.result()]


class _Asking:
    """Questions that share a width and a budget."""

    def __init__(self) -> None:
        self.refusal: CostLimitExceeded | None = None
        self._slots = asyncio.Semaphore(_WIDTH)

    async def ask(self, question: Question) -> list[Reply]:
        """Return the reply, or those of the question's parts where it's too long."""
        try:
            return [Reply(question, await self._ask_twice(question))]
        except (ContextOverflowError, AnswerCutOffError) as error:
            if question.parts is None:
                return [_failed(question, error)]
        except AgentExecutionError as error:
            return [_failed(question, error)]
        except CostLimitExceeded as refusal:
            self.refusal = self.refusal or refusal
            return []
        return [reply for part in question.parts() for reply in await self.ask(part)]

    async def _ask_twice(self, question: Question) -> ReadProposals:
        """Ask, and once more where the answer isn't of the required form."""
        try:
            answer = await self._ask_once(question, question.document)
        except SchemaValidationError:
            again = {**question.document, "fault": _NOT_AN_ANSWER}
            answer = await self._ask_once(question, again)
        return read_proposals(answer, question.asked.kinds)

    async def _ask_once(self, question: Question, document: JsonObject) -> Proposals:
        async with self._slots:
            if self.refusal is not None:
                return Proposals(decisions=[])
            return await question.asked.agent.propose(question.asked.system, document)


def _failed(question: Question, error: AgentExecutionError) -> Reply:
    message = clip(error.message, _MOST_MESSAGE)
    failure = FailedChunk(
        question.tables, type(error).__name__, message, is_correction=question.is_correction
    )
    return Reply(question, failure=failure)
