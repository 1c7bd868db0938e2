"""``fluid forge``: look at the folder, propose what to forge, ask at most four questions."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.table import Column
from rich.text import Text

from fluid_build.agent_loop.loop import MAX_ITERATIONS
from fluid_build.cli import failures, messages
from fluid_build.cli.forging.agent_forge import AgentRequest, explore
from fluid_build.cli.forging.arguments import ForgeArguments
from fluid_build.cli.forging.nearby_sources import NearbySource, nearby_sources
from fluid_build.cli.forging.runs import ForgeCommand, forge_sources, over_limit
from fluid_build.cli.interrupts import Interrupts
from fluid_build.cli.option_groups import with_option_groups
from fluid_build.cli.options import Debug
from fluid_build.cli.reading.source_options import source_requests
from fluid_build.copilot.errors import AgentExecutionError, CostLimitExceeded
from fluid_build.copilot.llm.base import LlmConfig
from fluid_build.errors import SourceNotFoundError, UsageError
from fluid_build.forging import ForgeOptions
from fluid_build.pipeline.sessions import configured, requested_model
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import (
    Part,
    first_line,
    indented,
    text,
    unbroken,
    whole,
)
from fluid_build.report.terminal.unbroken_grid import Grid
from fluid_build.sources.options import READ_ALL
from fluid_build.sources.outside import check_outside
from fluid_build.text import counted

PURPOSES = (
    ("flat", "clean tables: one for each table of the source, typed and tested"),
    ("dimensional", "reports: facts and dimensions with a calendar"),
    ("data_vault_2", "history: a Data Vault that keeps every version of every row"),
)
"""The techniques, by what they are for; the first is proposed, since it assumes nothing."""

_MOST_SOURCES = 9
_NO_ARGUMENTS = ForgeArguments()

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GuidedForge:
    """What a guided forge is going to do."""

    source: NearbySource
    technique: str
    out: Path
    model: LlmConfig | None


@with_option_groups
def guided(
    context: typer.Context,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Ask nothing, and do what is proposed.")
    ] = False,
    agent_loop: Annotated[
        bool,
        typer.Option(
            "--agent-loop", help="Let a language model explore the folder with tools, and decide."
        ),
    ] = False,
    goal: Annotated[
        str, typer.Option("--goal", metavar="TEXT", help="With --agent-loop: what you want.")
    ] = "",
    max_iterations: Annotated[
        int,
        typer.Option(
            "--max-iterations", min=1, max=200, help="With --agent-loop: the most turns it takes."
        ),
    ] = MAX_ITERATIONS,
    technique: Annotated[
        str | None,
        typer.Option(
            "--technique",
            metavar="NAME",
            help="Modeling technique, instead of a question or a proposal.",
        ),
    ] = None,
    arguments: ForgeArguments = _NO_ARGUMENTS,
    _debug: Debug = False,
) -> int:
    """Look at this folder, propose what to forge, and ask at most four questions.

    \b
    Example:  fluid forge --yes
    """
    requested = None if technique is None else ForgeOptions(technique).known_technique
    if agent_loop:
        if arguments.dry_run:
            raise UsageError(
                "--dry-run sends nothing, and --agent-loop has to ask a model.",
                hint="Leave one of them out.",
            )
        request = AgentRequest(goal, arguments.model_use, arguments.cost_limit, max_iterations)
        return _forge_explored(request, requested, arguments, context.obj)
    if goal:
        raise UsageError("--goal needs --agent-loop.", hint="Add it, or use from-intent.")
    sources = nearby_sources(Path.cwd())
    if not sources:
        raise SourceNotFoundError(
            "There is no database, data file or SQL file in this folder.",
            hint="Go to the folder with your data, or name it:"
            " `fluid forge data-model from-source --uri URI`.",
        )
    with configured(arguments.model_use):
        model = requested_model(arguments.model_use)
    choose = _propose if yes else _ask
    plan = choose(sources, requested, arguments.out, model)
    _show_plan(plan)
    without_model = arguments.deterministic or plan.model is None
    arguments = replace(arguments, out=plan.out, deterministic=without_model)
    command = _command(plan.source.path, plan.technique, arguments)
    return forge_sources(command, context.obj, arguments.reporting)


def _forge_explored(
    request: AgentRequest,
    technique: str | None,
    arguments: ForgeArguments,
    interrupts: Interrupts,
) -> int:
    """Forge what an agent proposes. Its decisions are measured, and no model is asked again."""
    try:
        outcome = explore(request, Path.cwd())
    except (AgentExecutionError, CostLimitExceeded) as error:
        failure, as_json = _agent_failure(error), arguments.reporting.json
        return failures.tell(error, failure, failures.CHECK_FAILED, as_json=as_json)
    path = outcome.source.relative_to(Path.cwd().resolve()).as_posix()
    arguments = replace(
        arguments,
        out=arguments.out or _folder_for(path),
        deterministic=True,
        require_llm=False,
        max_cost=None,
    )
    command = _command(path, technique or outcome.technique, arguments)
    command = replace(command, added=(*command.added, *outcome.decisions))
    return forge_sources(command, interrupts, arguments.reporting)


def _agent_failure(error: AgentExecutionError | CostLimitExceeded) -> failures.Failure:
    if isinstance(error, CostLimitExceeded):
        return failures.Failure(over_limit(error), "Raise --max-cost, or forge without a model.")
    hint = error.hint or "Ask again with --no-cache, or choose another model with --llm-model."
    return failures.Failure(f"The agent couldn't finish. {error.message}", hint)


def _command(path: str, technique: str, arguments: ForgeArguments) -> ForgeCommand:
    requests = source_requests(None, [path], READ_ALL)
    if arguments.out is not None:
        check_outside(arguments.out, requests[0].address)
    return arguments.command("from-source", requests, ForgeOptions(technique))


def _propose(
    sources: Sequence[NearbySource],
    technique: str | None,
    out: Path | None,
    model: LlmConfig | None,
) -> GuidedForge:
    """Return what is proposed: the largest database, or else the largest folder of files."""
    source = sources[0]
    folder = out or _folder_for(source.path)
    return GuidedForge(source, technique or PURPOSES[0][0], folder, model)


def _ask(
    sources: Sequence[NearbySource],
    technique: str | None,
    out: Path | None,
    model: LlmConfig | None,
) -> GuidedForge:
    if not sys.stdin.isatty():
        raise UsageError(
            "There is no terminal to ask on.",
            hint="Pass --yes to do what is proposed, or name the source:"
            " `fluid forge data-model from-source --uri URI`.",
        )
    source = sources[0]
    if len(sources) > 1:
        _show(_source_list(sources))
        source = _choose("Which one", sources[:_MOST_SOURCES])
    if technique is None:
        _show(_purpose_list())
        technique, _ = _choose("What is it for", PURPOSES)
    folder = out
    if folder is None:
        proposed = _folder_for(source.path)
        folder = Path(messages.ask(f"Folder for the result [{proposed}]: ").strip() or proposed)
    return GuidedForge(source, technique, folder, _ask_model(model))


def _ask_model(model: LlmConfig | None) -> LlmConfig | None:
    if model is None:
        return None
    question = f"Let {model.model} improve names and judgement calls? It costs a little [y/N]: "
    return model if messages.ask(question).strip().lower() in {"y", "yes"} else None


def _choose(question: str, choices: Sequence[T]) -> T:
    while True:
        answer = messages.ask(f"{question} [1]: ").strip() or "1"
        if answer.isdecimal() and 1 <= int(answer) <= len(choices):
            return choices[int(answer) - 1]
        messages.tell(f"Answer with a number from 1 to {len(choices)}.")


def _folder_for(path: str) -> Path:
    """Return a folder for the result: in this one, unless this one is the source."""
    if path == ".":
        return Path("..", f"{Path.cwd().name}-model")
    return Path(f"{Path(path).stem}-model")


def _source_list(sources: Sequence[NearbySource]) -> list[Part]:
    grid = Grid(Column("", justify="right", style="dim"), Column("source", style="cyan"), "what")
    for number, source in enumerate(sources[:_MOST_SOURCES], 1):
        grid.add_row(text(str(number)), unbroken(source.path), text(_describe(source)))
    remark = counted(len(sources), "source")
    return [first_line("This folder has", remark), indented(grid)]


def _purpose_list() -> list[Part]:
    grid = Grid(Column("", justify="right", style="dim"), "what for", show_header=False)
    for number, (_, purpose) in enumerate(PURPOSES, 1):
        grid.add_row(text(str(number)), text(purpose))
    return [indented(grid)]


def _show_plan(plan: GuidedForge) -> None:
    with_model = f", with {plan.model.model}" if plan.model else ""
    source = whole(plan.source.path)
    line = f"Forging {source} ({plan.technique}) into {whole(plan.out)}{with_model}."
    _show([Text.assemble(text(line, "bold"))])


def _describe(source: NearbySource) -> str:
    size = f"{source.size / 1e6:,.1f} MB" if source.size >= 1e5 else f"{source.size:,} bytes"
    files = counted(source.files, "file") + ", " if source.files > 1 else ""
    return f"{source.label}, {files}{size}"


def _show(parts: Sequence[Part]) -> None:
    """Print on stderr: stdout is for the result."""
    show(parts, sys.stderr)
