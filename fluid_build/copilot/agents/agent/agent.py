"""An agent: a model with instructions, tools and a type for its answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Unpack, cast, overload

from typing_extensions import TypeVar

from fluid_build.copilot.agents.agent.call_rules import CallRule
from fluid_build.copilot.agents.agent.events import AgentEvent, AgentResult, LoopEvent
from fluid_build.copilot.agents.agent.handoffs import check_names, handoff_name, handoff_tool
from fluid_build.copilot.agents.agent.hooks import NO_HOOKS, Hooks
from fluid_build.copilot.agents.agent.jobs import (
    Job,
    add_to_session,
    find_checkpoint,
    new_job,
    refuse_second_store,
    result_of,
    resumed_job,
    stored_checkpoint,
)
from fluid_build.copilot.agents.agent.loop import (
    Actor,
    AgentLoop,
    RunLimits,
    RunProgress,
)
from fluid_build.copilot.agents.agent.model import (
    AgentModel,
    Fallback,
    ModelSource,
    find_model,
)
from fluid_build.copilot.agents.agent.model_turns import ModelTurns
from fluid_build.copilot.agents.agent.output_format import OutputFormat, OutputMode, check_mode
from fluid_build.copilot.agents.agent.sessions import ChatSession
from fluid_build.copilot.agents.agent.settings import (
    AgentSettings,
    Instructions,
    Prompt,
    instructions_for,
)
from fluid_build.copilot.agents.agent.streams import (
    PartialAnswers,
    read_blocking,
    refuse_running_loop,
    stream_events,
)
from fluid_build.copilot.agents.agent.tool_turns import ToolRunner
from fluid_build.copilot.agents.composite import (
    Checkpoint,
    Composite,
    CompositeResult,
    resume,
    run,
)
from fluid_build.copilot.agents.composite.approvals import Approvals
from fluid_build.copilot.agents.composite.code_fingerprint import function_fingerprint
from fluid_build.copilot.agents.composite.nested import (
    nested_only,
    nested_run,
    without_nested,
)
from fluid_build.copilot.blocking import run_blocking
from fluid_build.copilot.context.summary import Summarizer
from fluid_build.copilot.errors import AgentExecutionError, ApprovalRequiredError, CostLimitExceeded
from fluid_build.copilot.llm.base import CompletionClient, LlmPrompt
from fluid_build.copilot.message_checks import check_messages
from fluid_build.copilot.messages import Message
from fluid_build.copilot.store.base import Store
from fluid_build.copilot.tools.definition import ForgeTool
from fluid_build.copilot.tools.toolbox import Toolbox, Tools
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject, JsonValue

if TYPE_CHECKING:
    from fluid_build.copilot.context.window_manager import ContextWindowManager

DEFAULT_MAX_TURNS = 25
"""Turns of the model in a run: far more than most tasks take, and a bound for one that is stuck."""
DEFAULT_MAX_CORRECTIONS = 2
"""Corrections of an answer: a model that breaks its schema three times seldom follows it later."""

DEFAULT_MAX_CALLS = 100
"""Calls of tools in a turn: models make a few dozen, and one that is stuck makes thousands."""

DepsT = TypeVar("DepsT", default=Any)
"""The dependencies of an agent without its own are those of each run, whatever their type."""
OutputT = TypeVar("OutputT", default=Any)


@dataclass(frozen=True, slots=True)
class Completion:
    """A turn in a composite's conversation: its answer, and the conversation with it."""

    response: Any
    messages: Sequence[Message]


class Agent(Generic[DepsT, OutputT]):
    """A model that calls tools until it has an answer of the type ``output``.

    ``model`` is ``"provider:model"``, an ``LlmConfig``, a ``StageSession`` (answers are cached in
    its store) or a client; without it, the configured one. ``client`` sends the requests of a model
    that is named. ``tools`` are tools, plain functions, names of registered tools, or a
    ``Toolbox``; ``deps`` goes to those that ask for it. The first of the ``rules`` that a call fits
    decides whether it's made (``allow``, ``ask``, ``deny``). ``instructions`` may be a function of
    the run's dependencies. ``fallback`` is a second model, ``hooks`` may change calls of models and
    tools, ``output_mode`` says how a typed answer is asked for. ``handoffs`` are agents that may
    get the conversation, ``window`` prunes its history. ``name`` is what its costs are counted
    under, ``extra`` is added to each request in the provider's own format. An agent holds
    no state of its runs, which may be parallel. Raises ``UsageError`` where no model is known.
    """

    @overload
    def __init__(
        self: Agent[DepsT, str],
        model: ModelSource | None = ...,
        *,
        deps: DepsT | None = ...,
        handoffs: Sequence[Agent[Any, Any]] = ...,
        **settings: Unpack[AgentSettings],
    ) -> None: ...
    @overload
    def __init__(
        self,
        model: ModelSource | None = ...,
        *,
        output: type[OutputT],
        deps: DepsT | None = ...,
        handoffs: Sequence[Agent[Any, Any]] = ...,
        **settings: Unpack[AgentSettings],
    ) -> None: ...
    @overload
    def __init__(
        self,
        model: ModelSource | None = ...,
        *,
        output: object,
        deps: DepsT | None = ...,
        handoffs: Sequence[Agent[Any, Any]] = ...,
        **settings: Unpack[AgentSettings],
    ) -> None: ...
    def __init__(
        self,
        model: ModelSource | None = None,
        *,
        output: object = str,
        deps: DepsT | None = None,
        tools: Tools = (),
        instructions: Instructions = "",
        name: str = "agent",
        client: CompletionClient | None = None,
        max_turns: int = DEFAULT_MAX_TURNS,
        max_corrections: int = DEFAULT_MAX_CORRECTIONS,
        max_calls_per_turn: int = DEFAULT_MAX_CALLS,
        max_tool_calls: int | None = None,
        max_total_tokens: int | None = None,
        max_seconds: float | None = None,
        max_output_tokens: int | None = None,
        temperature: float | None = None,
        extra: JsonObject = MappingProxyType({}),
        workspace_root: Path | str | None = None,
        summarizer: Summarizer | None = None,
        rules: Sequence[CallRule] = (),
        fallback: Fallback | None = None,
        hooks: Hooks = NO_HOOKS,
        output_mode: OutputMode = "native",
        handoffs: Sequence[Agent[Any, Any]] = (),
        window: ContextWindowManager | None = None,
    ) -> None:
        check_mode(output_mode)
        if not isinstance(instructions, str) and not callable(instructions):
            raise UsageError(
                "The instructions are neither a text nor a function that returns one.",
                hint="Write instructions='…', or instructions=lambda deps: f'… {deps.name}'.",
            )
        self.name = name
        self.instructions = instructions
        self.handoffs = {handoff_name(agent.name): agent for agent in handoffs}
        check_names([agent.name for agent in self._team()])
        self.toolbox = tools if isinstance(tools, Toolbox) else Toolbox(tools)
        if self.handoffs:
            self.toolbox = Toolbox([*self.toolbox.values(), *map(_handoff_to, handoffs)])
        self.deps = deps
        self._model = find_model(model, client)
        self._output: OutputFormat[OutputT] = OutputFormat(output)
        self._limits = RunLimits(
            max_turns,
            max_corrections,
            max_calls_per_turn,
            max_tool_calls,
            max_total_tokens,
            max_seconds,
        )
        self._workspace_root = workspace_root
        self._summarizer = summarizer
        self._rules = tuple(rules)
        self._fallback = fallback
        self._second_model = None if fallback is None else self._model.other(fallback.model)
        self._hooks = hooks
        self._output_mode: OutputMode = output_mode
        self._window = window
        config = self._model.config
        self._prompt = LlmPrompt(
            model=config.model,
            messages=(),
            system=instructions if isinstance(instructions, str) else "",
            tools=cast("list[Mapping[str, JsonValue]]", self.toolbox.definitions),
            response_schema=self._output.schema,
            schema_name=self._output.schema_name,
            max_output_tokens=max_output_tokens or config.max_output_tokens,
            temperature=config.temperature if temperature is None else temperature,
            extra=extra,
        )

    async def run(
        self,
        prompt: Prompt,
        *,
        deps: DepsT | None = None,
        message_history: Sequence[Message] = (),
        checkpoint: Checkpoint | None = None,
        store: Store | None = None,
        run_id: str | None = None,
        session: ChatSession | None = None,
    ) -> AgentResult[OutputT]:
        """Ask the model, call its tools, and return its answer or the calls to approve.

        ``deps`` replaces the agent's own for this run, ``message_history`` is an earlier
        conversation; a ``session`` has one in its store, and gets what this run adds. With
        a ``checkpoint``, or a ``run_id`` and a ``store`` (default: that of a ``StageSession``), the
        state is saved after each step and the run can be resumed. Raises
        ``TurnLimitError``, ``SchemaValidationError``, ``AnswerRefusedError``,
        ``AnswerCutOffError``, ``CostLimitExceeded``, or the ``ProviderError`` of the failure: the
        ``result`` of each has what was reached, and can be resumed.
        """
        saved = find_checkpoint(self._model.session, checkpoint, store, run_id)
        return await self._run(self._new(prompt, message_history, saved, deps, True, session))

    def run_sync(
        self,
        prompt: Prompt,
        *,
        deps: DepsT | None = None,
        message_history: Sequence[Message] = (),
        checkpoint: Checkpoint | None = None,
        store: Store | None = None,
        run_id: str | None = None,
        session: ChatSession | None = None,
    ) -> AgentResult[OutputT]:
        """Run the agent, as ``run``, and wait for it."""
        saved = find_checkpoint(self._model.session, checkpoint, store, run_id)
        job = self._new(prompt, message_history, saved, deps, False, session)
        return run_blocking(self._run(job))

    def stream(
        self,
        prompt: Prompt,
        *,
        deps: DepsT | None = None,
        message_history: Sequence[Message] = (),
        checkpoint: Checkpoint | None = None,
        store: Store | None = None,
        run_id: str | None = None,
        session: ChatSession | None = None,
    ) -> AsyncGenerator[AgentEvent[OutputT]]:
        """Run the agent, as ``run``, and yield its events as they happen, the result last.

        A reader that leaves early stops the run; close the generator (``contextlib.aclosing``) to
        wait for that. The run doesn't wait for its reader: it goes on while events aren't read.
        """
        saved = find_checkpoint(self._model.session, checkpoint, store, run_id)
        job = self._new(prompt, message_history, saved, deps, True, session)
        return stream_events(partial(self._run, job))

    def stream_sync(
        self,
        prompt: Prompt,
        *,
        deps: DepsT | None = None,
        message_history: Sequence[Message] = (),
        checkpoint: Checkpoint | None = None,
        store: Store | None = None,
        run_id: str | None = None,
        session: ChatSession | None = None,
    ) -> Generator[AgentEvent[OutputT]]:
        """Yield the events of a run, as ``stream``, and wait for each.

        Raises ``UsageError`` inside an event loop, which it would block: use ``stream`` there.
        """
        refuse_running_loop()
        saved = find_checkpoint(self._model.session, checkpoint, store, run_id)
        job = self._new(prompt, message_history, saved, deps, False, session)
        return read_blocking(stream_events(partial(self._run, job)))

    async def resume(
        self,
        run: str | Checkpoint | AgentResult[OutputT],
        *,
        approvals: Approvals | None = None,
        deps: DepsT | None = None,
        store: Store | None = None,
        session: ChatSession | None = None,
        accept_changed_code: bool = False,
    ) -> AgentResult[OutputT]:
        """Go on with a run that was stopped, at the step that it was in.

        ``run`` is its id (in ``store``, or the session's), its checkpoint, or a result, which needs
        no store. Such a result isn't used up: resuming it twice calls its tools twice.
        ``session`` is the one that the run began with, which gets its messages once it's complete.
        ``approvals`` has the decision about each pending call: True, False, ``Approved`` with
        other arguments, or ``Denied``; by default those that ``answer_approval`` recorded. Raises
        what ``run`` raises, ``RunNotFoundError``, ``RunOwnedError``, or ``StaleCheckpointError`` if
        instructions, tools or output have changed and that wasn't accepted.
        """
        found = self._find_run(run, store)
        job = resumed_job(found, approvals, deps, accept_changed_code, True, session)
        return await self._run(job)

    def resume_sync(
        self,
        run: str | Checkpoint | AgentResult[OutputT],
        *,
        approvals: Approvals | None = None,
        deps: DepsT | None = None,
        store: Store | None = None,
        session: ChatSession | None = None,
        accept_changed_code: bool = False,
    ) -> AgentResult[OutputT]:
        """Go on with a run, as ``resume``, and wait for it."""
        found = self._find_run(run, store)
        job = resumed_job(found, approvals, deps, accept_changed_code, False, session)
        return run_blocking(self._run(job))

    def resume_stream(
        self,
        run: str | Checkpoint | AgentResult[OutputT],
        *,
        approvals: Approvals | None = None,
        deps: DepsT | None = None,
        store: Store | None = None,
        session: ChatSession | None = None,
        accept_changed_code: bool = False,
    ) -> AsyncGenerator[AgentEvent[OutputT]]:
        """Go on with a run, as ``resume``, and yield its events, as ``stream``."""
        found = self._find_run(run, store)
        job = resumed_job(found, approvals, deps, accept_changed_code, True, session)
        return stream_events(partial(self._run, job))

    @property
    def typed_agents(self) -> frozenset[str]:
        """Return the names of the agents of a run whose answer isn't a text."""
        return frozenset(agent.name for agent in self._team() if agent._output.type is not None)

    async def get_response(self, args: Mapping[str, Any]) -> OutputT:
        """Answer ``args["prompt"]`` for a composite that delegates to this agent.

        ``args["deps"]`` replaces the agent's own dependencies. Where a call needs a person, a saved
        run waits for one, and any other fails with ``ApprovalRequiredError``.
        """
        if "prompt" not in args:
            raise UsageError(
                f"A delegation to {self.name!r} has no prompt.",
                hint='Return {"prompt": ...} from its args_builder.',
            )
        job = new_job(args["prompt"], (), None, args.get("deps"), True)
        return (await self._run_inside(None, job)).output

    async def get_completion(
        self,
        *,
        messages: Sequence[Message],
        model: object = None,
        toolbox: object = None,
        response_format: JsonObject | None = None,
    ) -> Completion:
        """Take a turn in the conversation of a composite whose ``agent`` this is.

        The turn may call tools. ``model``, ``toolbox`` and ``response_format`` are those of a step,
        instead of this agent's own; a model's name alone is of the same provider. Raises what
        ``run`` raises, and ``ApprovalRequiredError``: a step that isn't saved can't wait for a
        person.
        """
        agent = self._for_step(model, toolbox, response_format)
        start = Composite(messages=check_messages(messages))
        result = await agent._run_inside(None, Job(start, None, None, is_loop_shared=True))
        return Completion(result.output, result.messages)

    def _for_step(
        self, model: object, toolbox: object, response_format: JsonObject | None
    ) -> Agent[DepsT, Any]:
        """Return this agent with what a step has of its own."""
        agent: Agent[DepsT, Any] = copy(self)
        agent.__dict__.pop("_fingerprint", None)
        prompt = self._prompt
        if model is not None:
            agent._model = self._model.other(cast("ModelSource", model))
            prompt = replace(prompt, model=agent._model.config.model)
        if toolbox is not None:
            agent.toolbox = (
                toolbox if isinstance(toolbox, Toolbox) else Toolbox(cast("Tools", toolbox))
            )
            definitions = cast("list[Mapping[str, JsonValue]]", agent.toolbox.definitions)
            prompt = replace(prompt, tools=definitions)
        if response_format is not None:
            output = agent._output = OutputFormat.of_schema(response_format)
            prompt = replace(prompt, response_schema=output.schema, schema_name=output.schema_name)
        agent._prompt = prompt
        return agent

    def as_tool(
        self, *, name: str | None = None, description: str | None = None
    ) -> ForgeTool[..., Awaitable[OutputT]]:
        """Return a tool by which another agent asks this one, with this one's dependencies."""
        tool_name = name or self.name

        async def ask(prompt: str) -> OutputT:
            job = new_job(prompt, (), None, self.deps, True)
            return (await self._run_inside(tool_name, job)).output

        return ForgeTool(
            ask,
            name=tool_name,
            description=description or self._prompt.system.partition("\n")[0],
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self._prompt.model}>"

    def _find_run(
        self, run: str | Checkpoint | AgentResult[OutputT], store: Store | None
    ) -> Checkpoint | AgentResult[OutputT]:
        if isinstance(run, str):
            return stored_checkpoint(self._model.session, store, run)
        if isinstance(run, Checkpoint):
            refuse_second_store(store, None)
        return run

    def _new(
        self,
        prompt: Prompt,
        message_history: Sequence[Message],
        checkpoint: Checkpoint | None,
        deps: DepsT | None,
        is_loop_shared: bool,
        session: ChatSession | None,
    ) -> Job[DepsT]:
        return new_job(
            prompt,
            message_history,
            checkpoint,
            deps,
            is_loop_shared,
            session=session,
            window=self._window,
        )

    async def _run_inside(self, name: str | None, job: Job[DepsT]) -> AgentResult[OutputT]:
        """Run the agent for a step or a tool of another run: saved, where that is.

        Raises ``ApprovalRequiredError`` where a call waits for a person.
        """
        with nested_run(name, list(job.start.messages)) as nested:
            if nested is not None:
                job = replace(
                    job,
                    checkpoint=nested.checkpoint,
                    is_resumed=nested.is_resumed,
                    approvals=nested.approvals,
                    accept_changed_code=nested.accept_changed_code,
                )
            result = await self._run(job)
            if result.pending:
                raise ApprovalRequiredError(result.pending)
            return result

    async def _run(
        self, job: Job[DepsT], emit: Callable[[LoopEvent], object] | None = None
    ) -> AgentResult[OutputT]:
        if emit is not None:
            outputs = {agent.name: agent._output for agent in self._team()}
            emit = PartialAnswers(emit, outputs, self.name).emit
        for agent in self._team():
            agent.toolbox.check_deps(agent.deps if job.deps is None else job.deps)
        async with AsyncExitStack() as stack:
            actors = [await agent._actor(job, stack, emit) for agent in self._team()]
            loop = AgentLoop(actors, self._limits, job.start, lambda: self._fingerprint, emit)
            if job.is_resumed and job.checkpoint is not None:
                end = await resume(
                    loop,
                    {},
                    checkpoint=job.checkpoint,
                    accept_changed_code=job.accept_changed_code,
                    approvals=nested_only(job.approvals or {}),
                )
            else:
                end = await run(loop, {}, checkpoint=job.checkpoint)
        result = self._result(end, job.checkpoint, loop)
        if job.session is not None and result.ok:
            add_to_session(job.session, result)
        return result

    def _team(self) -> Iterator[Agent[Any, Any]]:
        """Yield this agent and all that may get its conversation, each once."""
        seen: list[Agent[Any, Any]] = [self]
        for agent in seen:
            yield agent
            seen += [other for other in agent.handoffs.values() if other not in seen]

    async def _actor(
        self,
        job: Job[Any],
        stack: AsyncExitStack,
        emit: Callable[[LoopEvent], object] | None,
    ) -> Actor:
        """Return what this agent needs to have a conversation; the clients close with ``stack``."""
        deps = self.deps if job.deps is None else job.deps
        turns = []
        for model in filter(None, [self._model, self._second_model]):
            client = await stack.enter_async_context(model.open(is_loop_shared=job.is_loop_shared))
            turns.append(self._turns(model, client, deps, emit))
        return Actor(
            self.name,
            turns[0],
            self._tools(job, deps, emit),
            self._output,
            {tool: agent.name for tool, agent in self.handoffs.items()},
            turns[1] if len(turns) > 1 else None,
            () if self._fallback is None else self._fallback.on,
        )

    def _turns(
        self,
        model: AgentModel,
        client: CompletionClient,
        deps: DepsT | None,
        emit: Callable[[LoopEvent], object] | None,
    ) -> ModelTurns:
        """Return the turns of a model, the agent's own or the second one."""
        prompt = self._prompt
        if callable(self.instructions):
            prompt = replace(prompt, system=instructions_for(self.instructions, deps))
        if model is not self._model and self._fallback is not None:
            prompt = replace(prompt, model=model.config.model, extra=self._fallback.extra)
        return ModelTurns(
            model,
            client,
            prompt,
            stage=self.name,
            agent_class=type(self).__name__,
            summarizer=self._summarizer,
            hooks=self._hooks,
            mode=self._output_mode,
            emit=emit,
        )

    def _tools(
        self, job: Job[Any], deps: DepsT | None, emit: Callable[[LoopEvent], object] | None
    ) -> ToolRunner:
        approvals = job.approvals or {}
        return ToolRunner(
            self.toolbox,
            agent_id=self.name,
            run_id=None if job.checkpoint is None else job.checkpoint.run_id,
            deps=deps,
            workspace_root=self._workspace_root,
            approvals=approvals if job.checkpoint is None else without_nested(approvals),
            is_loop_shared=job.is_loop_shared,
            emit=emit,
            rules=self._rules,
            hooks=self._hooks,
        )

    def _result(
        self, end: CompositeResult, checkpoint: Checkpoint | None, loop: AgentLoop
    ) -> AgentResult[OutputT]:
        """Return the result of a run that has an answer or waits; raise the error of another."""
        if end.ok:
            output = loop.actor(RunProgress.of(end.state)).output.read(end.response)
            return result_of("complete", end, checkpoint, loop.name, output=output)
        error = end.error
        if isinstance(error, ApprovalRequiredError):
            return result_of("needs_approval", end, checkpoint, loop.name)
        if isinstance(error, AgentExecutionError | CostLimitExceeded):
            error.result = result_of("stopped", end, checkpoint, loop.name)
        assert isinstance(error, Exception)
        raise error

    @cached_property
    def _fingerprint(self) -> str:
        """Return a digest of everything that a saved run depends on but the model."""
        instructions = self.instructions
        if callable(instructions):
            instructions = function_fingerprint(instructions)
        parts = [instructions, self.toolbox.definitions, self._output.schema]
        digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode())
        for tool in self.toolbox.values():
            digest.update(function_fingerprint(tool.implementation).encode())
        for agent in self.handoffs.values():
            digest.update(agent._fingerprint.encode())
        return digest.hexdigest()


def _handoff_to(agent: Agent[Any, Any]) -> ForgeTool[..., str]:
    return handoff_tool(agent.name, agent._prompt.system.partition("\n")[0])
