"""An agent: a model with instructions, tools and a type for its answer."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeAlias, cast, overload

from typing_extensions import TypeVar

from fluid_build.copilot.agents.agent.asking import Asking
from fluid_build.copilot.agents.agent.events import LoopEvent
from fluid_build.copilot.agents.agent.loop import AgentLoop, Limits, Progress
from fluid_build.copilot.agents.agent.model import ModelSource, find_model
from fluid_build.copilot.agents.agent.output_format import OutputFormat
from fluid_build.copilot.agents.agent.results import AgentResult, Approvals, RunStatus
from fluid_build.copilot.agents.agent.tool_turns import ToolRunner
from fluid_build.copilot.agents.composite import Checkpoint, Composite, CompositeResult, resume, run
from fluid_build.copilot.agents.composite.code_fingerprint import function_fingerprint
from fluid_build.copilot.blocking import run_blocking
from fluid_build.copilot.context.summary import Summarizer
from fluid_build.copilot.errors import ApprovalRequiredError, TurnLimitError
from fluid_build.copilot.llm.base import CompletionClient, LlmPrompt
from fluid_build.copilot.messages import Message, ToolCall
from fluid_build.copilot.store.base import Store
from fluid_build.copilot.tools.definition import Tool
from fluid_build.copilot.tools.toolbox import Toolbox
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonValue

DEFAULT_MAX_TURNS = 25
"""Turns of the model in a run: far more than most tasks take, and a bound for one that is stuck."""
DEFAULT_MAX_CORRECTIONS = 2
"""Corrections of an answer: a model that breaks its schema three times seldom follows it later."""

DepsT = TypeVar("DepsT", default=None)
OutputT = TypeVar("OutputT", default=str)

Prompt: TypeAlias = str | Sequence[JsonValue]
"""A text, or content blocks such as images (see ``fluid_build.copilot.messages``)."""


class Agent(Generic[DepsT, OutputT]):
    """A model that calls tools until it has an answer of the type ``output``.

    ``model`` is ``"provider:model"``, an ``LlmConfig``, a ``StageSession`` (answers are cached in
    its store) or a client; without it, the configured one. ``client`` sends the requests of a model
    that is named. ``tools`` are tools, plain functions, names of registered tools, or a
    ``Toolbox``; ``deps`` goes to those that ask for it. ``name`` is what its costs are counted
    under. Raises ``UsageError`` where no model is known.
    """

    @overload
    def __init__(
        self,
        model: ModelSource | None = ...,
        *,
        output: type[OutputT] = ...,
        tools: Toolbox | Iterable[Tool | Callable[..., object] | str] = ...,
        instructions: str = ...,
        deps: DepsT | None = ...,
        name: str = ...,
        client: CompletionClient | None = ...,
        max_turns: int = ...,
        max_corrections: int = ...,
        max_output_tokens: int | None = ...,
        temperature: float | None = ...,
        workspace_root: Path | str | None = ...,
        summarizer: Summarizer | None = ...,
    ) -> None: ...
    @overload
    def __init__(
        self: Agent[DepsT, Any],
        model: ModelSource | None = ...,
        *,
        output: object,
        tools: Toolbox | Iterable[Tool | Callable[..., object] | str] = ...,
        instructions: str = ...,
        deps: DepsT | None = ...,
        name: str = ...,
        client: CompletionClient | None = ...,
        max_turns: int = ...,
        max_corrections: int = ...,
        max_output_tokens: int | None = ...,
        temperature: float | None = ...,
        workspace_root: Path | str | None = ...,
        summarizer: Summarizer | None = ...,
    ) -> None: ...
    def __init__(
        self,
        model: ModelSource | None = None,
        *,
        output: object = str,
        tools: Toolbox | Iterable[Tool | Callable[..., object] | str] = (),
        instructions: str = "",
        deps: DepsT | None = None,
        name: str = "agent",
        client: CompletionClient | None = None,
        max_turns: int = DEFAULT_MAX_TURNS,
        max_corrections: int = DEFAULT_MAX_CORRECTIONS,
        max_output_tokens: int | None = None,
        temperature: float | None = None,
        workspace_root: Path | str | None = None,
        summarizer: Summarizer | None = None,
    ) -> None:
        self.name = name
        self.instructions = instructions
        self.toolbox = tools if isinstance(tools, Toolbox) else Toolbox(tools)
        self.deps = deps
        self._model = find_model(model, client)
        self._output: OutputFormat[OutputT] = OutputFormat(output)
        self._limits = Limits(max_turns, max_corrections)
        self._workspace_root = workspace_root
        self._summarizer = summarizer
        config = self._model.config
        self._prompt = LlmPrompt(
            model=config.model,
            messages=(),
            system=instructions,
            tools=cast("list[Mapping[str, JsonValue]]", self.toolbox.definitions),
            response_schema=self._output.schema,
            schema_name=self._output.schema_name,
            max_output_tokens=max_output_tokens or config.max_output_tokens,
            temperature=config.temperature if temperature is None else temperature,
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
    ) -> AgentResult[OutputT]:
        """Ask the model, call its tools, and return its answer or the calls to approve.

        ``deps`` replaces the agent's own for this run, ``message_history`` is an earlier
        conversation. With a ``checkpoint``, or a ``run_id`` and a ``store`` (default: the
        session's), the state is saved after each turn and the run can be resumed. Raises
        ``TurnLimitError``, ``SchemaValidationError``, ``AnswerRefusedError``,
        ``AnswerCutOffError``, ``CostLimitExceeded``, or the ``ProviderError`` of the failure.
        """
        saved = self._checkpoint(checkpoint, store, run_id)
        start = _first_state(prompt, message_history)
        return await self._run(start, saved, deps=deps, threads=True)

    def run_sync(
        self,
        prompt: Prompt,
        *,
        deps: DepsT | None = None,
        message_history: Sequence[Message] = (),
        checkpoint: Checkpoint | None = None,
        store: Store | None = None,
        run_id: str | None = None,
    ) -> AgentResult[OutputT]:
        """Run the agent, as ``run``, and wait for it."""
        saved = self._checkpoint(checkpoint, store, run_id)
        start = _first_state(prompt, message_history)
        return run_blocking(self._run(start, saved, deps=deps, threads=False))

    def _checkpoint(
        self, checkpoint: Checkpoint | None, store: Store | None, run_id: str | None
    ) -> Checkpoint | None:
        if checkpoint is not None:
            if store is not None or run_id is not None:
                raise UsageError(
                    "A checkpoint has its own store and run id.",
                    hint="Pass either a checkpoint, or store and run_id.",
                )
            return checkpoint
        session = self._model.session
        saved_in = store if store is not None or session is None else session.store
        if run_id is None:
            return None if store is None else Checkpoint(store, uuid.uuid4().hex)
        if saved_in is None:
            raise UsageError(
                f"There is no store for the run {run_id!r}.",
                hint="Pass a store, or a StageSession as model.",
            )
        return Checkpoint(saved_in, run_id)

    async def _run(
        self,
        start: Composite,
        checkpoint: Checkpoint | None,
        *,
        deps: DepsT | None,
        threads: bool,
        approvals: Approvals | None = None,
        emit: Callable[[LoopEvent], object] | None = None,
        is_resumed: bool = False,
        accept_changed_code: bool = False,
    ) -> AgentResult[OutputT]:
        chosen = self.deps if deps is None else deps
        self.toolbox.check_deps(chosen)
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(self._model.open())
            asking = Asking(
                self._model,
                client,
                self._prompt,
                (self.name, type(self).__name__),
                session=self._model.session,
                summarizer=self._summarizer,
                emit=emit,
            )
            tools = ToolRunner(
                self.toolbox,
                self.name,
                None if checkpoint is None else checkpoint.run_id,
                chosen,
                approvals or {},
                self._workspace_root,
                threads,
                emit,
            )
            loop = AgentLoop(
                asking, tools, self._output, self._limits, start, lambda: self._fingerprint
            )
            if is_resumed:
                assert checkpoint is not None
                end = await resume(
                    loop, {}, checkpoint=checkpoint, accept_changed_code=accept_changed_code
                )
            else:
                end = await run(loop, {}, checkpoint=checkpoint)
        return self._result(end, checkpoint)

    def _result(self, end: CompositeResult, checkpoint: Checkpoint | None) -> AgentResult[OutputT]:
        if end.ok:
            return self._ended("complete", end, checkpoint, self._output.read(end.response))
        error = end.error
        if isinstance(error, ApprovalRequiredError):
            return self._ended("needs_approval", end, checkpoint, pending=error.pending)
        if isinstance(error, TurnLimitError):
            error.result = self._ended("turn_limit", end, checkpoint)
        assert isinstance(error, Exception)
        raise error

    def _ended(
        self,
        status: RunStatus,
        end: CompositeResult,
        checkpoint: Checkpoint | None,
        output: OutputT | None = None,
        *,
        pending: tuple[ToolCall, ...] = (),
    ) -> AgentResult[OutputT]:
        progress = Progress.of(end.state)
        return AgentResult(
            status,
            end.state.messages,
            progress.usage,
            progress.cost_usd,
            progress.turns,
            pending,
            None if checkpoint is None else checkpoint.run_id,
            output,
            end.state,
            checkpoint,
        )

    @cached_property
    def _fingerprint(self) -> str:
        """Return a digest of everything that a saved run depends on but the model."""
        parts = [self.instructions, self.toolbox.definitions, self._output.schema]
        digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode())
        for tool in self.toolbox.values():
            digest.update(function_fingerprint(getattr(tool, "function", None)).encode())
        return digest.hexdigest()


def _first_state(prompt: Prompt, history: Sequence[Message]) -> Composite:
    content = prompt if isinstance(prompt, str) else list(prompt)
    message: Message = {"role": "user", "content": content}
    request = prompt if isinstance(prompt, str) else ""
    return Composite(messages=[*history, message], request=request)
