"""The loop of an agent with tools, as a composite agent of two steps.

``ask`` is a turn of the model. ``call_tools`` runs the next of its calls and is repeated until each
has its result. Both read what is left to do from the conversation, so a run that was stopped
anywhere resumes there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from decimal import Decimal
from typing import Any

from fluid_build.copilot.agents.agent.events import (
    CorrectionEvent,
    FallbackEvent,
    HandoffEvent,
    LoopEvent,
)
from fluid_build.copilot.agents.agent.feedback import correction
from fluid_build.copilot.agents.agent.model_turns import (
    NO_SPENDING,
    ModelTurns,
    Spending,
    TurnAnswer,
)
from fluid_build.copilot.agents.agent.output_format import OutputFormat
from fluid_build.copilot.agents.agent.tool_turns import (
    CallTurn,
    ToolRunner,
    find_turn,
    guidance_after,
    not_made,
)
from fluid_build.copilot.agents.composite import (
    Composite,
    CompositeAgent,
    FunctionStep,
    Halt,
    StepResult,
    function_step,
)
from fluid_build.copilot.agents.composite.behaviour import Decision
from fluid_build.copilot.agents.composite.state import Item, Step, evolve
from fluid_build.copilot.errors import (
    AgentExecutionError,
    AnswerCutOffError,
    AnswerRefusedError,
    RunLimitError,
    SchemaValidationError,
    TurnLimitError,
)
from fluid_build.copilot.llm.answers import Usage
from fluid_build.copilot.messages import Message, text_of
from fluid_build.json_types import JsonValue

_PROGRESS = "progress"
"""The note that a run of an agent makes."""


@dataclass(frozen=True, slots=True)
class SessionPart:
    """What a run has of its session: the messages before its own, and the records they are in.

    Once the conversation was compacted, all of it is the run's own.
    """

    history: int
    records: int
    is_compacted: bool = False


@dataclass(frozen=True, slots=True)
class RunProgress:
    """What a run has used so far: turns, corrections, tokens with their price, calls of tools."""

    turns: int = 0
    corrections: int = 0
    spending: Spending = NO_SPENDING
    calls: int = 0
    agent: str = ""
    """Who has the conversation; empty until it's handed over."""
    session: SessionPart | None = None

    @classmethod
    def of(cls, state: Composite) -> RunProgress:
        """Return the progress that a state notes."""
        progress = state.internal.get(_PROGRESS)
        return progress if isinstance(progress, cls) else cls()

    def note(self, state: Composite, **changes: object) -> Composite:
        """Return the state with this progress as its only note, and with further changes."""
        return evolve(state, internal={_PROGRESS: self}, **changes)

    @classmethod
    def load(cls, notes: Mapping[str, Any]) -> RunProgress:
        """Return the progress that ``dump`` returned."""
        cost = notes["cost_usd"]
        return cls(
            notes["turns"],
            notes["corrections"],
            Spending(Usage(*notes["usage"]), None if cost is None else Decimal(cost)),
            notes.get("calls", 0),
            notes.get("agent", ""),
            SessionPart(*notes["session"]) if "session" in notes else None,
        )

    def dump(self) -> dict[str, JsonValue]:
        """Return the progress as JSON."""
        usage, cost = self.spending.usage, self.spending.cost_usd
        tokens: list[JsonValue] = [
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            usage.cache_write_tokens,
        ]
        notes: dict[str, JsonValue] = {
            "turns": self.turns,
            "corrections": self.corrections,
            "usage": tokens,
            "cost_usd": None if cost is None else str(cost),
            "calls": self.calls,
            "agent": self.agent,
        }
        if self.session is not None:
            notes["session"] = list(astuple(self.session))
        return notes

    def after_turn(self, spending: Spending) -> RunProgress:
        """Return the progress after a turn of the model."""
        spent = self.spending.plus(spending)
        return RunProgress(
            self.turns + 1, self.corrections, spent, self.calls, self.agent, self.session
        )

    def after_calls(self, made: int) -> RunProgress:
        """Return the progress after the calls of a turn."""
        calls = self.calls + made
        return RunProgress(
            self.turns, self.corrections, self.spending, calls, self.agent, self.session
        )


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The bounds of a run: turns of the model, corrections of answers, calls, tokens and seconds.

    The calls over those of a turn aren't made, and the model is told. The others end the run, which
    can be resumed. The seconds are those of one process.
    """

    max_turns: int
    max_corrections: int
    max_calls_per_turn: int
    max_tool_calls: int | None = None
    max_total_tokens: int | None = None
    max_seconds: float | None = None

    def check_calls(self, made: int, further: int) -> None:
        """Raise ``RunLimitError`` where the calls of a turn would be too many for the run."""
        if self.max_tool_calls is not None and made + further > self.max_tool_calls:
            raise RunLimitError("max_tool_calls", self.max_tool_calls)

    def check_usage(self, usage: Usage, seconds: float) -> None:
        """Raise ``RunLimitError`` where a run has used up its tokens or its seconds."""
        tokens = usage.input_tokens + usage.output_tokens
        if self.max_total_tokens is not None and tokens >= self.max_total_tokens:
            raise RunLimitError("max_total_tokens", self.max_total_tokens)
        if self.max_seconds is not None and seconds >= self.max_seconds:
            raise RunLimitError("max_seconds", self.max_seconds)


@dataclass(slots=True)
class Actor:
    """An agent that may have the conversation: its model, its tools and the form of its answer.

    ``second`` are the turns of a second model, and ``on`` the classes of error for which it takes
    the place of the first. ``handoffs`` are the names of agents, by the tools that hand over.
    """

    name: str
    turns: ModelTurns
    tools: ToolRunner
    output: OutputFormat[Any]
    handoffs: Mapping[str, str]
    second: ModelTurns | None = None
    on: tuple[type[AgentExecutionError], ...] = ()


class AgentLoop(CompositeAgent):
    """One run of an agent. ``start`` is its first state, but for the steps.

    ``actors`` are the agents that may have its conversation, the first one at its start.
    """

    def __init__(
        self,
        actors: Sequence[Actor],
        limits: RunLimits,
        start: Composite,
        fingerprint: Callable[[], str],
        emit: Callable[[LoopEvent], object] | None = None,
    ) -> None:
        self._actors = {actor.name: actor for actor in actors}
        self._emit = emit
        self.name = actors[0].name
        self._limits = limits
        self._start = start
        self._began = time.monotonic()
        self._fingerprint = fingerprint
        self._turn: CallTurn | None = None
        """The latest turn; None until the first step, where the conversation says what it is."""
        self._ask_step = function_step("ask", self._ask)
        self._tools_step = function_step("call_tools", self._call_tools)

    def init(self, args: Mapping[str, Any]) -> Composite:  # noqa: ARG002 - it was built with them
        """Return the first state; that of an earlier run goes on where it stopped."""
        is_stopped = bool(self._start.internal)
        steps = self._next_steps(self._start) if is_stopped else [self._ask_step]
        return evolve(self._start, steps=steps, error=None)

    def known_steps(self) -> Sequence[Step]:
        """Return both steps, which are methods of this object."""
        return [self._ask_step, self._tools_step]

    def fingerprint(self) -> str:
        """Return a digest of the agent's definition."""
        return self._fingerprint()

    def dump_internal(self, internal: Mapping[str, Any]) -> JsonValue:
        """Return the progress as JSON."""
        progress = internal.get(_PROGRESS)
        return progress.dump() if isinstance(progress, RunProgress) else {}

    def load_internal(self, dumped: Any) -> Mapping[str, object]:
        """Return the progress from its dump."""
        return {_PROGRESS: RunProgress.load(dumped)} if dumped else {}

    def on_step_complete(self, step: Step, state: Composite) -> Composite:
        """Count a turn and check a final answer, or say what went wrong with its calls."""
        if step is self._tools_step:
            turn = self._turn = state.response
            if turn.open_calls:
                return evolve(state, response=None)
            progress = RunProgress.of(state).after_calls(self._made(turn))
            progress = self._handed_over(progress, turn)
            return _with_messages(progress.note(state, response=None), guidance_after(turn))
        answer: TurnAnswer = state.response
        self._turn = CallTurn(answer.calls, ())
        progress = RunProgress.of(state).after_turn(answer.spending)
        if answer.is_compacted and progress.session is not None:
            progress = replace(progress, session=replace(progress.session, is_compacted=True))
        state = progress.note(state, response=answer.text)
        return state if answer.calls else self._check_answer(state, progress)

    def on_error(self, step: Step, error: object, state: Composite) -> Decision:  # noqa: ARG002
        """Halt, and count the money that was spent without a usable answer."""
        progress = RunProgress.of(state)
        spending = self.actor(progress).turns.take_spending()
        if isinstance(error, AnswerRefusedError | AnswerCutOffError):
            return Halt(progress.after_turn(spending).note(state))
        if spending != NO_SPENDING:
            progress = replace(progress, spending=progress.spending.plus(spending))
            return Halt(progress.note(state))
        return Halt(state)

    def get_next_steps(self, step: Step, state: Composite) -> Sequence[Item]:  # noqa: ARG002
        """Return the next step, or none after an accepted answer."""
        return self._next_steps(state)

    async def _ask(self, state: Composite) -> StepResult:
        progress = RunProgress.of(state)
        if progress.turns >= self._limits.max_turns:
            raise TurnLimitError(self._limits.max_turns)
        self._check_usage(progress)
        actor = self.actor(progress)
        actor.tools.expire_approvals()
        try:
            return await _ask_model(actor.turns, state, progress)
        except AgentExecutionError as error:
            second, actor.second = actor.second, None
            if second is None or not isinstance(error, actor.on):
                raise
            second.add_spending(actor.turns.take_spending())
            actor.turns = second
            if self._emit is not None:
                self._emit(FallbackEvent(second.model_name, error))
            return await _ask_model(second, state, progress)

    def actor(self, progress: RunProgress) -> Actor:
        """Return the agent that has the conversation."""
        return self._actors[progress.agent or self.name]

    def _handed_over(self, progress: RunProgress, turn: CallTurn) -> RunProgress:
        """Return the progress with the agent to which the turn handed over, if it did."""
        handoffs = self.actor(progress).handoffs
        if not handoffs:
            return progress
        for call, result in zip(turn.calls, turn.results, strict=True):
            if call.name in handoffs and not result.is_error:
                progress = replace(progress, agent=handoffs[call.name])
                self.actor(progress).tools.forget_approvals()
                if self._emit is not None:
                    self._emit(HandoffEvent(progress.agent))
                return progress
        return progress

    async def _call_tools(self, state: Composite) -> StepResult:
        turn, progress = self._turn or find_turn(state.messages), RunProgress.of(state)
        self._check_usage(progress)
        if not turn.results:
            self._limits.check_calls(progress.calls, self._made(turn))
        most = self._limits.max_calls_per_turn
        if len(turn.results) < most:
            within = CallTurn(turn.calls[:most], turn.results)
            results = await self.actor(progress).tools.run_next(within, progress.turns)
        else:
            results = [not_made(call, most) for call in turn.open_calls]
        after = CallTurn(turn.calls, [*turn.results, *results])
        return StepResult(after, [result.as_message() for result in results])

    def _made(self, turn: CallTurn) -> int:
        """Return how many calls of a turn are made."""
        return min(len(turn.calls), self._limits.max_calls_per_turn)

    def _check_usage(self, progress: RunProgress) -> None:
        limits = self._limits
        if limits.max_total_tokens is not None or limits.max_seconds is not None:
            limits.check_usage(progress.spending.usage, time.monotonic() - self._began)

    def _next_steps(self, state: Composite) -> list[FunctionStep]:
        if state.messages[-1].get("role") == "user":
            return [self._ask_step]
        turn = self._turn or find_turn(state.messages)
        if turn.open_calls:
            return [self._tools_step]
        return [self._ask_step] if turn.calls else []

    def _check_answer(self, state: Composite, progress: RunProgress) -> Composite:
        """Return the state, with a correction or an error if the answer breaks its schema."""
        try:
            self.actor(progress).output.read(state.response)
        except SchemaValidationError as error:
            corrected = replace(progress, corrections=progress.corrections + 1).note(state)
            is_last = progress.corrections >= self._limits.max_corrections
            message = correction(error)
            if self._emit is not None and not is_last:
                self._emit(CorrectionEvent(text_of(message)))
            return evolve(_with_messages(corrected, [message]), error=error if is_last else None)
        return state


async def _ask_model(turns: ModelTurns, state: Composite, progress: RunProgress) -> StepResult:
    messages, is_compacted = await turns.compacted(state.messages, progress.turns)
    answer = await turns.ask(messages)
    if not is_compacted:
        return StepResult(answer, [answer.message])
    return StepResult(replace(answer, is_compacted=True), [answer.message], messages)


def _with_messages(state: Composite, messages: Sequence[Message]) -> Composite:
    return evolve(state, messages=[*state.messages, *messages]) if messages else state
