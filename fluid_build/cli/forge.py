"""``fluid forge data-model``: a source's model, contract, dbt project and proof, as files."""

from collections.abc import Sequence
from typing import Annotated

import typer
from pydantic import ValidationError

from fluid_build.cli.forge_runs import ForgeCommand, Reporting, forge_sources
from fluid_build.cli.options import (
    BusinessVault,
    DateOrder,
    Debug,
    Decimal,
    Decisions,
    Deterministic,
    Dialect,
    Diff,
    DomainName,
    DryRun,
    EventDates,
    FiscalYearStart,
    Force,
    Json,
    JsonLines,
    LlmEndpoint,
    LlmModel,
    LlmProvider,
    Locale,
    MaxCost,
    Name,
    NoCache,
    Out,
    ReceiptFile,
    RequireLlm,
    Schemas,
    ShareSamples,
    Target,
    Technique,
    Tiered,
    Variant,
)
from fluid_build.cli.source_options import CHOICES, check_outside, conventions, source_requests
from fluid_build.copilot.cost import parse_cost_limit
from fluid_build.decisions.language import AnyDecision, Domain
from fluid_build.errors import UsageError
from fluid_build.forge import ForgeOptions
from fluid_build.modeling.dimensional.calendar_settings import calendar_settings
from fluid_build.pipeline.requests import ModelUse
from fluid_build.secrets import redact
from fluid_build.sources.combined import SourceRequest
from fluid_build.sources.kinds import DDL
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.source_names import check_name
from fluid_build.sources.uri import locate


def from_source(
    context: typer.Context,
    uri: Annotated[
        list[str],
        typer.Option(
            "--uri",
            metavar="URI",
            help="A URI, file, folder or glob; several for one Data Vault, each with a name if you"
            " like: NAME=URI.",
        ),
    ],
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="KIND", help=f"The kind of source: {', '.join(CHOICES)}."),
    ] = None,
    schema: Schemas = None,
    decimal: Decimal = None,
    date_order: DateOrder = None,
    name: Name = None,
    technique: Technique = "flat",
    variant: Variant = None,
    event_date: EventDates = None,
    fiscal_year_start: FiscalYearStart = None,
    locale: Locale = None,
    business_vault: BusinessVault = False,
    target: Target = "duckdb",
    decisions: Decisions = None,
    llm_provider: LlmProvider = None,
    llm_model: LlmModel = None,
    llm_endpoint: LlmEndpoint = None,
    tiered: Tiered = False,
    no_cache: NoCache = False,
    deterministic: Deterministic = False,
    require_llm: RequireLlm = False,
    share_samples: ShareSamples = False,
    domain: DomainName = None,
    max_cost: MaxCost = None,
    dry_run: DryRun = False,
    out: Out = None,
    force: Force = False,
    diff: Diff = False,
    receipt: ReceiptFile = None,
    json: Json = False,
    json_lines: JsonLines = False,
    _debug: Debug = False,
) -> int:
    """Generate a model, a contract and a dbt project from a database or from files.

    Everything is written to a folder, by default NAME-model after the product's name. The model is
    built and compared with the source; exit code 1 means that something was lost. Files in the
    folder that you edited since the last run are kept and listed.

    \b
    Example:  fluid forge data-model from-source --uri shop.db --technique dv2 -o shop-model
    """
    options = ForgeOptions(
        technique,
        variant,
        calendar_settings(fiscal_year_start, locale),
        _event_dates(event_date or []),
        business_vault,
        target,
    )
    if len(uri) > 1:
        options.check_several()
    answers = conventions(decimal, date_order)
    opening = OpenOptions(schemas=tuple(schema or ()), conventions=answers)
    requests = source_requests(source, uri, opening)
    for request in requests:
        if out is not None:
            check_outside(out, request.address)
    command = ForgeCommand(
        command="from-source",
        sources=tuple(requests),
        dialect=None,
        name=_checked(name),
        options=options,
        decisions=decisions,
        added=domain_decisions(domain),
        out=out,
        overwrite=force,
        is_preview=diff,
        model_use=ModelUse(
            provider=llm_provider,
            model=llm_model,
            endpoint=llm_endpoint,
            tiered=tiered,
            no_cache=no_cache,
            deterministic=deterministic,
            is_required=require_llm,
            share_samples=share_samples,
        ),
        max_cost=None if max_cost is None else parse_cost_limit(max_cost, "--max-cost"),
    )
    reporting = Reporting(json, json_lines, receipt, is_dry=dry_run)
    return forge_sources(command, context.obj, reporting)


def from_ddl(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A SQL file.")],
    dialect: Dialect = None,
    name: Name = None,
    technique: Technique = "flat",
    variant: Variant = None,
    fiscal_year_start: FiscalYearStart = None,
    locale: Locale = None,
    business_vault: BusinessVault = False,
    target: Target = "duckdb",
    decisions: Decisions = None,
    llm_provider: LlmProvider = None,
    llm_model: LlmModel = None,
    llm_endpoint: LlmEndpoint = None,
    tiered: Tiered = False,
    no_cache: NoCache = False,
    deterministic: Deterministic = False,
    require_llm: RequireLlm = False,
    share_samples: ShareSamples = False,
    domain: DomainName = None,
    max_cost: MaxCost = None,
    dry_run: DryRun = False,
    out: Out = None,
    force: Force = False,
    diff: Diff = False,
    receipt: ReceiptFile = None,
    json: Json = False,
    json_lines: JsonLines = False,
    _debug: Debug = False,
) -> int:
    """Generate a model, a contract and a dbt project from CREATE TABLE statements.

    Statements that can't be read are counted and shown. There is no data to check keys on, so the
    model holds what is declared.

    \b
    Example:  fluid forge data-model from-ddl schema.sql --dialect postgres -o shop-model
    """
    options = ForgeOptions(
        technique,
        variant,
        calendar_settings(fiscal_year_start, locale),
        business_vault=business_vault,
        target=target,
    )
    address = locate(file)
    if address.kind is not DDL:
        raise UsageError(
            f"{redact(file)} isn't a SQL file.",
            hint="Pass a .sql file, or use `from-source` for data.",
        )
    command = ForgeCommand(
        command="from-ddl",
        sources=(SourceRequest(address),),
        dialect=dialect,
        name=_checked(name),
        options=options,
        decisions=decisions,
        added=domain_decisions(domain),
        out=out,
        overwrite=force,
        is_preview=diff,
        model_use=ModelUse(
            provider=llm_provider,
            model=llm_model,
            endpoint=llm_endpoint,
            tiered=tiered,
            no_cache=no_cache,
            deterministic=deterministic,
            is_required=require_llm,
            share_samples=share_samples,
        ),
        max_cost=None if max_cost is None else parse_cost_limit(max_cost, "--max-cost"),
    )
    reporting = Reporting(json, json_lines, receipt, is_dry=dry_run)
    return forge_sources(command, context.obj, reporting)


def _checked(name: str | None) -> str | None:
    return None if name is None else check_name(name)


def domain_decisions(name: str | None) -> tuple[AnyDecision, ...]:
    """Return what --domain says, as a person's decision."""
    if name is None:
        return ()
    try:
        return (Domain(domain=name),)
    except ValidationError as error:
        reason = error.errors(include_url=False, include_input=False)[0]["msg"]
        raise UsageError(
            f"--domain isn't a name: {reason}.", hint="Use a short name, such as Sales."
        ) from None


def _event_dates(answers: Sequence[str]) -> dict[str, str]:
    """Return what --event-date says, dates by table; raise UsageError for what isn't a pair."""
    dates: dict[str, str] = {}
    for answer in answers:
        table, sign, date = (part.strip() for part in answer.partition("="))
        if not (table and sign and date):
            raise UsageError(
                f"--event-date {answer!r} isn't a table and a date.",
                hint="Write it as TABLE=DATE, such as --event-date orders=shipped_date.",
            )
        if dates.setdefault(table, date) != date:
            raise UsageError(f"--event-date names two dates of {table}.", hint="Keep one of them.")
    return dates
