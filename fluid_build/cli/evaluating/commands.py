"""``fluid eval``: each database is forged without a model and with each, and compared."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from decimal import Decimal
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from fluid_build.cli import failures, messages
from fluid_build.cli.evaluating.databases import databases_in, demo_database
from fluid_build.cli.evaluating.screen import (
    HEADERS,
    change_label,
    evaluation_screen,
    proposals_label,
    row_of,
    share_lines,
)
from fluid_build.cli.option_groups import Offered, with_option_groups
from fluid_build.cli.options import (
    Debug,
    Json,
    LlmEndpoint,
    LlmProvider,
    MaxCost,
    ShareSamples,
    Tiered,
)
from fluid_build.cli.reading.source_session import open_sources, temporary_files
from fluid_build.copilot.cost import RunCostTracker, parse_cost_limit
from fluid_build.errors import UsageError
from fluid_build.forging import ForgeOptions
from fluid_build.pipeline.evaluation.evaluating import Database, Evaluation
from fluid_build.pipeline.evaluation.results import EvaluationResult
from fluid_build.pipeline.requests import ModelUse
from fluid_build.pipeline.sessions import configured, requested_model
from fluid_build.progress import ignore
from fluid_build.report.page.page import plain_page
from fluid_build.report.page.page_file import check_page_place, write_page
from fluid_build.report.terminal.printing import show
from fluid_build.sources.base import Source

_FLAT = ForgeOptions()
Technique: TypeAlias = Annotated[ForgeOptions, Offered(("technique",))]


@with_option_groups
def evaluate(
    context: typer.Context,
    llm_model: Annotated[
        list[str] | None,
        typer.Option(
            "--llm-model",
            metavar="NAME",
            help="A language model, as NAME or PROVIDER:NAME (repeatable); by default the"
            " configured one.",
        ),
    ] = None,
    llm_provider: LlmProvider = None,
    llm_endpoint: LlmEndpoint = None,
    databases: Annotated[
        list[Path] | None,
        typer.Option(
            "--databases",
            metavar="DIR",
            help="Databases whose truth is known, instead of the demo (repeatable): folders with a"
            " truth.json, or forged ones that you have decided on.",
        ),
    ] = None,
    options: Technique = _FLAT,
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="N", help="Forges of each database with each model.")
    ] = 1,
    tiered: Tiered = False,
    share_samples: ShareSamples = False,
    max_cost: MaxCost = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write the result as a page as well."),
    ] = None,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Say what each language model adds to a forge, and whether it's worth its money.

    Each database is forged without a model and with each, into folders that are thrown away, and
    compared with what is true of it: references, keys, names and descriptions. Exit code 1 means
    that a model failed, or that the cost limit ended it.

    \b
    Example:  fluid eval --llm-model anthropic:claude-haiku-4-5 --llm-model openai:gpt-5-mini
    """
    if repeats < 1:
        raise UsageError("--repeats is at least 1.", hint="Leave it out for one forge.")
    limit = None if max_cost is None else parse_cost_limit(max_cost, "--max-cost")
    plain = ModelUse(
        provider=llm_provider, endpoint=llm_endpoint, tiered=tiered, share_samples=share_samples
    )
    models = _models(llm_model or (), plain, limit)
    if html is not None:
        check_page_place(html)
    with temporary_files(context.obj), tempfile.TemporaryDirectory() as scratch:
        known = databases_in(databases) if databases else (demo_database(Path(scratch)),)

        def opened(database: Database) -> AbstractContextManager[Source]:
            return open_sources(database.sources, None, context.obj, ignore)

        evaluation = Evaluation(known, models, options, repeats, limit, opened, _tell_forge)
        result = evaluation.run()
    if html is not None:
        write_page(html, _page(result))
    if json:
        messages.show_json(result.model_dump(mode="json"))
    else:
        show(evaluation_screen(result))
    return failures.CHECK_FAILED if result.has_failures else failures.DONE


def _models(
    names: Sequence[str], use: ModelUse, limit: Decimal | None
) -> list[tuple[str, ModelUse]]:
    """Return the models with the names that they're called by in the result.

    Raises UsageError, and UnknownPriceError where there is a limit: nothing is forged for them.
    """
    uses = [_use(name, use) for name in names] or [use]
    models: dict[str, ModelUse] = {}
    for each in uses:
        with configured(each):
            config = requested_model(each)
        if config is None:
            raise UsageError(
                "There is no model to evaluate.",
                hint="Pass --llm-model, or run `fluid ai setup`. behavior.deterministic and"
                " FLUID_DETERMINISTIC turn models off.",
            )
        free = RunCostTracker(limit).reserve(
            provider=config.provider, model=config.model, input_tokens=0, max_output_tokens=0
        )
        free.release()
        name = f"{config.provider}:{config.model}"
        if name in models:
            raise UsageError(f"{name} is named twice.", hint="Use --repeats for several forges.")
        models[name] = each
    return list(models.items())


def _use(name: str, use: ModelUse) -> ModelUse:
    """Return how a model is used; only what names a provider is one: Ollama's have colons too."""
    # imported on use: the providers wait for HTTP
    from fluid_build.copilot.llm.providers import OPENAI_APIS, PROVIDERS

    provider, _, model = name.partition(":")
    if model and provider in PROVIDERS | OPENAI_APIS:
        return use.model_copy(update={"provider": provider, "model": model})
    return use.model_copy(update={"model": name})


def _tell_forge(database: str, model: str, repeat: int) -> None:
    again = f", forge {repeat}" if repeat > 1 else ""
    messages.tell(f"Forging {database} with {model or 'no model'}{again} ...")


def _page(result: EvaluationResult) -> str:
    models = [
        {
            "row": row_of(model),
            "model": model,
            "proposals": proposals_label(model),
            "shares": share_lines(model),
            **{
                name: [change_label(change) for change in getattr(model, name)]
                for name in ("gained", "lost", "in_other_words")
            },
        }
        for model in result.models
    ]
    data = {"result": result, "headers": HEADERS, "models": models}
    return plain_page("evaluation.html", "What language models add", data)
