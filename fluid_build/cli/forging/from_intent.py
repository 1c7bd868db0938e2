"""``fluid forge data-model from-intent``: from what the business wants to a data product."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from fluid_build.artifacts import write_artifacts
from fluid_build.block_yaml import block_yaml
from fluid_build.cli import failures, messages
from fluid_build.cli.forging.arguments import ForgeArguments
from fluid_build.cli.forging.runs import forge_sources
from fluid_build.cli.option_groups import Offered, with_option_groups
from fluid_build.cli.options import Debug
from fluid_build.cli.reading.read_arguments import DataReading
from fluid_build.cli.reading.source_options import source_requests
from fluid_build.copilot.cost import RunCostTracker, use_cost_tracker
from fluid_build.copilot.store.configured import open_store
from fluid_build.errors import UsageError
from fluid_build.forging import ForgeOptions
from fluid_build.forging.options import file_name
from fluid_build.pipeline.intent.agent import IntentAgent
from fluid_build.pipeline.intent.intent import Intent
from fluid_build.pipeline.intent.reading import read_intent
from fluid_build.pipeline.intent.schema_sql import schema_sql
from fluid_build.pipeline.requests import ModelUse
from fluid_build.pipeline.sessions import configured, open_session, requested_model
from fluid_build.sources.combined import SourceRequest
from fluid_build.sources.options import READ_ALL
from fluid_build.sources.outside import check_outside
from fluid_build.sources.uri import locate
from fluid_build.text import listed_up_to

INTENT_FILE = "intent.yaml"
_UNNAMED = "intent"
_MOST_NAMES = 8
"""In a note: what fits two lines of a terminal."""

TEMPLATE = """\
name: Orders
domain: Sales
owner: {team: Sales Data, email: sales-data@example.com}
technique: dimensional
goal: Which products sell where, and how that changes from month to month.
entities:
  - name: customer
    description: A person or company that buys from us.
    key: [customer_no]
    attributes:
      - {name: customer_no, type: integer}
      - {name: email, is_personal: true}
      - {name: city}
  - name: sales_order
    description: An order that a customer placed.
    key: [order_no]
    attributes:
      - {name: order_no, type: integer}
      - {name: ordered_on, type: date, is_required: true}
      - {name: amount, type: decimal}
    references:
      - {to: customer, is_required: true}
"""
"""An intent to start from. In a source, an entity's ``table`` and ``column`` say where it is."""


_NO_ARGUMENTS = ForgeArguments()
_ANYWHERE = ForgeOptions()

Building: TypeAlias = Annotated[ForgeOptions, Offered(("target", "project"))]
"""Where the product is built; the intent may choose the technique."""


@with_option_groups
def from_intent(
    context: typer.Context,
    intent: Annotated[
        str | None,
        typer.Argument(metavar="INTENT", help="A file with what you want, or the text itself."),
    ] = None,
    uri: Annotated[
        str | None,
        typer.Option("--uri", metavar="URI", help="A source that has the data."),
    ] = None,
    read: DataReading = READ_ALL,
    technique: Annotated[
        str | None,
        typer.Option(
            "--technique",
            metavar="NAME",
            help="Modeling technique; by default the intent's, or else flat.",
        ),
    ] = None,
    options: Building = _ANYWHERE,
    arguments: ForgeArguments = _NO_ARGUMENTS,
    template: Annotated[
        bool, typer.Option("--template", help="Print an intent to start from, and stop.")
    ] = False,
    _debug: Debug = False,
) -> int:
    """Generate a data product from what the business wants of it.

    The intent is YAML with entities (see --template), or a text. With a source, its entities become
    decisions that the data has to bear out, and a text guides the model. Without a source, the
    entities become a schema without data; a model is needed to find them in a text.

    \b
    Example:  fluid forge data-model from-intent wishes.yaml --uri shop.db
    """
    if template:
        sys.stdout.write(TEMPLATE)
        return failures.DONE
    if intent is None:
        raise UsageError("Say what you want.", hint="Pass a text or a file; --template shows one.")
    product = read_intent(intent)
    if uri is None:
        product = _with_entities(product, arguments)
        out = arguments.out or Path(f"{file_name(product.name or _UNNAMED)}-model")
        arguments = replace(arguments, out=out)
        request = _written_schema(product, out)
        product = _without_references(product)
    else:
        (request,) = source_requests(None, [uri], read)
        if arguments.out is not None:
            check_outside(arguments.out, request.address)
        _note_unread_goal(product, arguments.model_use)
        _note_undecided(product)
    options = replace(options, technique=technique or product.technique or "flat")
    command = replace(arguments.command("from-intent", [request], options), intent=product)
    return forge_sources(command, context.obj, arguments.reporting)


def _with_entities(intent: Intent, arguments: ForgeArguments) -> Intent:
    """Return the intent with entities: its own, or those that a model finds in its goal.

    Raises UsageError where a model is required and none is configured.
    """
    with configured(arguments.model_use):
        model = requested_model(arguments.model_use)
        if intent.entities:
            return intent
        if model is None:
            raise UsageError(
                "The intent lists no entities, and there is no model to find them in its text.",
                hint="List them (--template shows how), pass --uri, or run `fluid ai setup`.",
            )
        if arguments.dry_run:
            raise UsageError(
                f"{model.model} would have to read the text first, and --dry-run sends nothing.",
                hint="Leave --dry-run out, or list the entities.",
            )
        session = open_session(open_store(), arguments.model_use, "intent")
        tracker = RunCostTracker(arguments.cost_limit)
        with use_cost_tracker(tracker), IntentAgent(session) as agent:
            answer = agent.read(intent.goal)
    return intent.model_copy(
        update={
            "entities": answer.entities,
            "name": intent.name or answer.name,
            "domain": intent.domain or answer.domain,
        }
    )


def _written_schema(intent: Intent, out: Path) -> SourceRequest:
    """Write the intent and its schema to the folder, and return the schema as a source."""
    document = intent.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    schema_file = f"{file_name(intent.name or _UNNAMED)}.sql"
    write_artifacts(out, {INTENT_FILE: block_yaml(document), schema_file: schema_sql(intent)})
    return SourceRequest(locate(str(out / schema_file)))


def _without_references(intent: Intent) -> Intent:
    """Return an intent without the references, which its schema declares."""
    entities = (entity.model_copy(update={"references": ()}) for entity in intent.entities)
    return intent.model_copy(update={"entities": tuple(entities)})


def _note_undecided(intent: Intent) -> None:
    """Say that the source decides about types and required columns, where the intent has any."""
    names = [
        *(
            f"{entity.name}.{attribute.name}"
            for entity in intent.entities
            for attribute in entity.attributes
            if attribute.model_fields_set & {"type", "is_required"}
        ),
        *(
            f"{entity.name}'s reference to {reference.to}"
            for entity in intent.entities
            for reference in entity.references
            if "is_required" in reference.model_fields_set
        ),
    ]
    if names:
        messages.tell(
            "Types and required columns follow from the source, so the intent's aren't used:"
            f" {listed_up_to(_MOST_NAMES, names)}."
        )


def _note_unread_goal(intent: Intent, use: ModelUse) -> None:
    """Say that nobody reads the text, where there is one and no model."""
    with configured(use):
        if intent.goal and requested_model(use) is None:
            messages.tell(
                "No model is configured, so the intent's text isn't read; the rest is followed."
            )
