"""``fluid ai``: which model the agents use, and the key for it."""

import getpass
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated

import typer
from rich.table import Column

from fluid_build.cli import failures, messages
from fluid_build.cli.forging.model_order import newest_first, writes_text
from fluid_build.cli.invocation import fluid
from fluid_build.cli.options import Debug, Json
from fluid_build.copilot.errors import AgentExecutionError
from fluid_build.copilot.llm.base import LlmConfig, LlmProvider
from fluid_build.copilot.llm.credentials import find_key_place, keep_api_key
from fluid_build.copilot.llm.default_config import default_llm_config
from fluid_build.copilot.llm.providers import PROVIDERS, make_provider
from fluid_build.copilot.unified_config import current_config, set_setting
from fluid_build.errors import UsageError
from fluid_build.extras import needs_extra
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import (
    Copyable,
    Part,
    first_line,
    heading,
    indented,
    more,
    text,
    unbroken,
)
from fluid_build.report.terminal.unbroken_grid import Grid
from fluid_build.text import clip

SUGGESTED_MODELS = {
    "anthropic": "claude-sonnet-4-6",
    "openai": "gpt-6.1-terra",
    "gemini": "gemini-2.5-pro",
}
"""A model of each provider's middle tier: judgement calls need more than the smallest."""

_CHECK_TOKENS = 16
_MOST_MODELS = 40

Provider = Annotated[
    str | None,
    typer.Option("--provider", metavar="NAME", help=f"One of {', '.join(sorted(PROVIDERS))}."),
]


def setup(
    provider: Provider = None,
    model: Annotated[str | None, typer.Option("--model", metavar="MODEL", help="Its name.")] = None,
    endpoint: Annotated[
        str | None,
        typer.Option("--endpoint", metavar="URL", help="The server, if it isn't the provider's."),
    ] = None,
    key_from_stdin: Annotated[
        bool, typer.Option("--key-stdin", help="Read the API key from standard input.")
    ] = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Choose the model that agents use, and save its API key.

    The key goes into the system's keyring, or into a file that only you can read, never into the
    configuration file. An environment variable overrides it.

    \b
    Example:  fluid ai setup --provider anthropic
    """
    chosen = make_provider(provider, endpoint) if provider else _ask_provider(endpoint)
    name = model or _ask_model(chosen.name)
    place = _save_key(chosen, key_from_stdin=key_from_stdin)
    change = set_setting("llm.provider", chosen.name)
    set_setting("llm.model", name)
    set_setting("llm.base_url", endpoint)
    if json:
        document = {
            "provider": chosen.name,
            "model": name,
            "endpoint": endpoint,
            "key": place,
            "file": str(change.path),
        }
        messages.show_json(document)
        return failures.DONE
    show(
        [
            text(f"Agents now use {name} of {chosen.name}, as {change.path} says."),
            text(f"Its API key: {place or 'none; the server needs none'}."),
            heading("Next"),
            Copyable(fluid("ai", "status", "--check")),
        ]
    )
    return failures.DONE


def status(
    check: Annotated[
        bool, typer.Option("--check", help="Ask the model one short question, which costs a bit.")
    ] = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Show which model agents use, where its key is, and with --check whether it answers.

    Exit code 1 means that no model can be used.

    \b
    Example:  fluid ai status --check
    """
    llm = current_config().llm
    place = problem = None
    try:
        if llm.provider is None and llm.model is None:
            raise UsageError("No model is configured; forges work without one.")
        if llm.provider is not None:
            make_provider(llm.provider, llm.base_url)
        config = default_llm_config()
        provider = make_provider(config.provider, config.base_url)
        place = find_key_place(provider.name, provider.key_variables)
        if place is None and provider.needs_key:
            problem = f"No API key was found: set {' or '.join(provider.key_variables)}."
        elif check:
            problem = _check_answer(config)
    except UsageError as error:
        problem = " ".join(filter(None, (error.message, error.hint)))
    document = {
        "provider": llm.provider,
        "model": llm.model,
        "endpoint": llm.base_url,
        "tiered": llm.tiered,
        "key": place,
        "checked": check and problem is None,
        "problem": problem,
    }
    if json:
        messages.show_json(document)
    else:
        show(_status_screen(document))
    return failures.DONE if problem is None else failures.CHECK_FAILED


def models(
    provider: Provider = None,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """List the models whose prices and windows are known, without asking anyone.

    Suggested models come first, then each provider's by their versions, the newest first.
    Other models work too; set their prices in the configuration, so that a cost limit can hold.

    \b
    Example:  fluid ai models --provider anthropic
    """
    requested = provider or current_config().llm.provider
    names = [make_provider(requested).name] if requested else ["anthropic", "openai", "gemini"]
    rows = [row for name in names for row in _known_models(name)]
    rows.sort(key=lambda row: not _is_suggested(row))
    if json:
        messages.show_json({"models": rows})
        return failures.DONE
    grid = Grid(
        Column("provider", style="dim"),
        Column("model", style="cyan"),
        Column("window", justify="right"),
        Column("$ per million in", justify="right"),
        Column("out", justify="right"),
        Column("", style="dim"),
    )
    for row in rows[:_MOST_MODELS]:
        window, price_in, price_out = row["window"], row["input_usd"], row["output_usd"]
        grid.add_row(
            text(str(row["provider"])),
            unbroken(str(row["model"])),
            text(f"{window:,}" if isinstance(window, int) else "?"),
            text("?" if price_in is None else str(price_in)),
            text("?" if price_out is None else str(price_out)),
            text("suggested" if _is_suggested(row) else ""),
        )
    show([grid, *more(len(rows) - _MOST_MODELS, ": see --provider and --json")])
    return failures.DONE


def _ask_provider(endpoint: str | None) -> LlmProvider:
    _require_terminal("--provider")
    names = ", ".join(sorted(PROVIDERS))
    while True:
        line = messages.ask(f"Provider ({names}) [anthropic]: ")
        try:
            return make_provider(line.strip() or "anthropic", endpoint)
        except UsageError as error:
            if not line.endswith("\n"):
                raise
            messages.tell(f"{error.message} {error.hint or ''}".strip())


def _ask_model(provider: str) -> str:
    suggested = SUGGESTED_MODELS.get(provider, "")
    if not sys.stdin.isatty() and suggested:
        return suggested
    _require_terminal("--model")
    name = messages.ask(f"Model [{suggested}]: " if suggested else "Model: ").strip()
    if not (name or suggested):
        raise UsageError("A model needs a name.", hint="Pass it with --model.")
    return name or suggested


def _save_key(provider: LlmProvider, *, key_from_stdin: bool) -> str | None:
    """Save the key that the user types or pipes in; return where the key now comes from."""
    place = find_key_place(provider.name, provider.key_variables)
    if key_from_stdin:
        return keep_api_key(provider.name, sys.stdin.readline())
    if place is not None and (place in provider.key_variables or not sys.stdin.isatty()):
        return place
    if not provider.needs_key and not sys.stdin.isatty():
        return None
    _require_terminal("--key-stdin", f"or set {' or '.join(provider.key_variables)}")
    saved = f" [keep the one in {place}]" if place else ""
    optional = "" if provider.needs_key else ", if it needs one"
    key = getpass.getpass(f"API key of {provider.name}{optional}{saved} (not shown): ").strip()
    return keep_api_key(provider.name, key) if key else place


def _require_terminal(option: str, alternative: str = "") -> None:
    if not sys.stdin.isatty():
        raise UsageError(
            "There is no terminal to ask on.",
            hint=f"Pass {option}{f', {alternative}' if alternative else ''}.",
        )


def _check_answer(config: LlmConfig) -> str | None:
    """Ask the model a short question; return what went wrong, None if it answered."""
    with needs_extra("llm", "Calling a model"):
        from fluid_build.copilot.llm.base import LlmPrompt
        from fluid_build.copilot.llm.client import LlmClient
    question = LlmPrompt(
        config.model,
        [{"role": "user", "content": "Answer with the word yes."}],
        max_output_tokens=_CHECK_TOKENS,
    )
    try:
        with LlmClient.from_config(config) as client:
            client.complete_sync(question, stage="check")
    except AgentExecutionError as error:
        return " ".join(filter(None, (error.message, error.hint)))
    return None


def _status_screen(document: Mapping[str, object]) -> Iterator[Part]:
    problem, key = document["problem"], document["key"]
    if document["model"] or document["provider"]:
        yield first_line(str(document["model"] or "no model"), str(document["provider"] or ""))
    if document["endpoint"]:
        yield indented(f"at {document['endpoint']}", "dim")
    if key:
        yield indented(f"API key from {key}")
    if problem:
        yield indented(clip(str(problem), 500), "red")
        yield heading("Next")
        yield Copyable(fluid("ai", "setup"))
    elif document["checked"]:
        yield indented("It answers.", "green")
    else:
        yield indented("Not asked yet: --check asks it one short question.", "dim")


def _is_suggested(row: Mapping[str, object]) -> bool:
    return SUGGESTED_MODELS.get(str(row["provider"])) == row["model"]


def _known_models(provider: str) -> list[dict[str, object]]:
    with needs_extra("llm", "The list of models"):
        from fluid_build.copilot.context.model_data import known_models
    models = {
        model.name: model
        for model in known_models(provider)
        # Google's prices include models that only Vertex AI resells.
        if writes_text(model.name) and not (provider == "gemini" and "claude" in model.name)
    }
    return [
        {
            "provider": provider,
            "model": model.name,
            "window": model.window,
            "input_usd": None if model.input_usd is None else float(model.input_usd),
            "output_usd": None if model.output_usd is None else float(model.output_usd),
        }
        for model in map(models.__getitem__, newest_first(models))
    ]
