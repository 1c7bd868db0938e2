"""``fluid decide``: decisions about a folder, one subcommand for each kind."""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from pydantic import ValidationError
from rich.text import Text

from fluid_build.cli import failures, messages
from fluid_build.cli.decision_targets import (
    FolderNames,
    Target,
    column_of,
    columns_of,
    folder_model,
    folder_names,
    reference_of,
    table_of,
    target_of,
)
from fluid_build.cli.next_steps import next_steps
from fluid_build.cli.options import Debug, Json
from fluid_build.cli.recording import Recorded, record
from fluid_build.decisions.editing import entry_fields
from fluid_build.decisions.files import DECISIONS_FILE
from fluid_build.decisions.language import DECISION, AnyDecision
from fluid_build.decisions.subjects import decision_line
from fluid_build.errors import UsageError
from fluid_build.forge.decision_files import schema_text
from fluid_build.modeling.logical import LogicalModel
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import Part, Query, indented, text

Reason: TypeAlias = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why: goes into the file with the decision.")
]
Insist: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--despite-violations",
        help="Write it although the data contradicts it: the contract then says so, with the"
        " count.",
    ),
]
Table: TypeAlias = Annotated[str, typer.Argument(metavar="TABLE", help="A table of the source.")]
Columns: TypeAlias = Annotated[
    list[str], typer.Argument(metavar="COLUMN...", help="Columns of the table.")
]
Column: TypeAlias = Annotated[
    str, typer.Argument(metavar="TABLE.COLUMN", help="A column of the source.")
]
FromColumns: TypeAlias = Annotated[
    str, typer.Argument(metavar="FROM", help="TABLE.COLUMN, or TABLE.COLUMN,COLUMN for several.")
]
ToColumns: TypeAlias = Annotated[
    str, typer.Argument(metavar="TO", help="TABLE.COLUMN, with as many columns.")
]
AnyTarget: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="TARGET", help="TABLE, TABLE.COLUMN or an element of the model."),
]
IsElement: TypeAlias = Annotated[
    bool, typer.Option("--element", help="TARGET is an element of the model.")
]
_TIME_DIRECTIVE = re.compile(r"%[HIMSfpTX]")
_FOLDER = "folder"


def _show_schema(is_requested: bool) -> None:
    if is_requested:
        sys.stdout.write(schema_text())
        raise typer.Exit


def decide(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that fluid forge wrote, or will write.")
    ],
    _schema: Annotated[
        bool,
        typer.Option(
            "--schema",
            help="Print the JSON schema of decisions.yaml.",
            is_eager=True,
            callback=_show_schema,
        ),
    ] = False,
) -> None:
    """Overrule a judgement: write a decision that the next forge of DIR follows.

    It goes into DIR's decisions.yaml, and replaces an earlier one about the same. It's checked on
    the data first where the source can be opened without asking; what the data contradicts isn't
    written.

    \b
    Example:  fluid decide shop-model set-key orders order_no
              fluid decide shop-model add-relationship orders.customer_id customers.id
    """


def set_key(
    context: typer.Context,
    table: Table,
    columns: Columns,
    reason: Reason = "",
    despite_violations: Insist = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Say which columns identify a row of a table."""
    return _decide_columns(context, "set_key", table, columns, reason, despite_violations, json)


def business_key(
    context: typer.Context,
    table: Table,
    columns: Columns,
    reason: Reason = "",
    despite_violations: Insist = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Say which columns the business identifies a row by: what its hub is built on."""
    return _decide_columns(
        context, "business_key", table, columns, reason, despite_violations, json
    )


def grain(
    context: typer.Context,
    table: Table,
    columns: Columns,
    reason: Reason = "",
    despite_violations: Insist = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Say which columns tell the rows of a fact apart."""
    return _decide_columns(context, "grain", table, columns, reason, despite_violations, json)


def add_relationship(
    context: typer.Context,
    child: FromColumns,
    parent: ToColumns,
    reason: Reason = "",
    despite_violations: Insist = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Say that columns of one table refer to another.

    \b
    Example:  fluid decide shop-model add-relationship lines.order,year orders.number,year
    """
    place = _Place(context)
    fields = _reference(place, child, parent) | {"despite_violations": despite_violations}
    return place.decide("add_relationship", fields, reason, json=json)


def drop_relationship(
    context: typer.Context,
    child: FromColumns,
    parent: ToColumns,
    reason: Reason = "",
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Say that columns don't refer to that table."""
    place = _Place(context)
    return place.decide("drop_relationship", _reference(place, child, parent), reason, json=json)


def classify(
    context: typer.Context,
    table: Table,
    role: Annotated[
        str,
        typer.Argument(
            metavar="ROLE",
            help="In a vault: hub, link, satellite, reference. In a star: fact, dimension, bridge,"
            " date.",
        ),
    ],
    reason: Reason = "",
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Say what a table becomes."""
    place = _Place(context)
    fields = {"table": table_of(table, place.names), "role": role}
    return place.decide("classify", fields, reason, json=json)


def measure(
    context: typer.Context,
    column: Column,
    additivity: Annotated[
        str,
        typer.Argument(
            metavar="ADDITIVITY", help="additive, semi-additive, non-additive, or none: no measure."
        ),
    ],
    reason: Reason = "",
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Say how a number adds up."""
    place = _Place(context)
    fields = _column_fields(place, column) | {"additivity": additivity}
    return place.decide("measure", fields, reason, json=json)


def read_type(
    context: typer.Context,
    column: Column,
    date_format: Annotated[
        str | None,
        typer.Option("--date-format", metavar="FORMAT", help="As in strptime, such as %d/%m/%Y."),
    ] = None,
    decimal: Annotated[
        str | None, typer.Option("--decimal", metavar="MARK", help="comma or point.")
    ] = None,
    as_text: Annotated[bool, typer.Option("--text", help="Leave it as text.")] = False,
    reason: Reason = "",
    despite_violations: Insist = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Say how a column's text is read: as dates, as numbers, or as text.

    \b
    Example:  fluid decide shop-model type orders.placed --date-format %d/%m/%Y
    """
    if (date_format is not None) + (decimal is not None) + as_text != 1:
        raise UsageError(
            "`type` needs exactly one of --date-format, --decimal and --text.",
            hint="Pass --date-format %d/%m/%Y, --decimal comma or --text.",
        )
    read_as = "text"
    if date_format is not None:
        read_as = "timestamp" if _TIME_DIRECTIVE.search(date_format) else "date"
    elif decimal is not None:
        read_as = "number"
    place = _Place(context)
    fields = _column_fields(place, column) | {
        "read_as": read_as,
        "date_format": date_format,
        "decimal": decimal,
        "despite_violations": despite_violations,
    }
    return place.decide("type", fields, reason, json=json)


def personal_data(
    context: typer.Context,
    column: Column,
    is_not: Annotated[bool, typer.Option("--not", help="It isn't personal data.")] = False,
    reason: Reason = "",
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Say that a column holds personal data, or doesn't."""
    place = _Place(context)
    fields = _column_fields(place, column) | {"is_personal": not is_not}
    return place.decide("personal_data", fields, reason, json=json)


def rename(
    context: typer.Context,
    target: AnyTarget,
    new_name: Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits and _.")],
    element: IsElement = False,
    reason: Reason = "",
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Give a table, a column or an element of the model another name."""
    place = _Place(context)
    fields = _target_fields(target_of(target, place.names, is_element=element))
    return place.decide("rename", fields | {"new_name": new_name}, reason, json=json)


def describe(
    context: typer.Context,
    target: AnyTarget,
    description: Annotated[str, typer.Argument(metavar="TEXT", help="What it is.")],
    element: IsElement = False,
    reason: Reason = "",
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Say what a table, a column or an element of the model is."""
    place = _Place(context)
    fields = _target_fields(target_of(target, place.names, is_element=element))
    return place.decide("describe", fields | {"text": description}, reason, json=json)


def domain(
    context: typer.Context,
    label: Annotated[str, typer.Argument(metavar="DOMAIN", help="Such as Sales.")],
    reason: Reason = "",
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Say which business domain the product belongs to."""
    return _Place(context).decide("domain", {"domain": label}, reason, json=json)


def owner(
    context: typer.Context,
    team: Annotated[str, typer.Argument(metavar="TEAM", help="The team that owns the product.")],
    email: Annotated[
        str | None, typer.Option("--email", metavar="ADDRESS", help="How to reach it.")
    ] = None,
    reason: Reason = "",
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Say which team owns the product."""
    return _Place(context).decide("owner", {"team": team, "email": email}, reason, json=json)


def name(
    context: typer.Context,
    product: Annotated[str, typer.Argument(metavar="NAME", help="What the product is called.")],
    reason: Reason = "",
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Say what the product is called."""
    return _Place(context).decide("name", {"name": product}, reason, json=json)


def ignore(
    context: typer.Context,
    table: Table,
    reason: Reason = "",
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Leave a table out."""
    place = _Place(context)
    return place.decide("ignore", {"table": table_of(table, place.names)}, reason, json=json)


def merge(
    context: typer.Context,
    columns: FromColumns,
    into: ToColumns,
    reason: Reason = "",
    despite_violations: Insist = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Say that two tables describe the same entity: rows with equal columns are one instance.

    \b
    Example:  fluid decide shop-model merge clients.mail customers.email
    """
    place = _Place(context)
    table, own = reference_of(columns, place.names)
    into_table, into_columns = reference_of(into, place.names)
    fields = {
        "table": table,
        "columns": own,
        "into_table": into_table,
        "into_columns": into_columns,
        "despite_violations": despite_violations,
    }
    return place.decide("merge", fields, reason, json=json)


def split(
    context: typer.Context,
    columns: FromColumns,
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="The new entity's name.")],
    attributes: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COLUMN]...", help="Columns that describe it."),
    ] = None,
    reason: Reason = "",
    despite_violations: Insist = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Say that a table holds a second entity, which FROM identifies.

    \b
    Example:  fluid decide shop-model split orders.ship_city city ship_zip ship_country
    """
    place = _Place(context)
    table, own = reference_of(columns, place.names)
    fields = {
        "table": table,
        "columns": own,
        "entity": entity,
        "attributes": columns_of(table, attributes or (), place.names),
        "despite_violations": despite_violations,
    }
    return place.decide("split", fields, reason, json=json)


KINDS: Mapping[str, Callable[..., int]] = {
    "set-key": set_key,
    "add-relationship": add_relationship,
    "drop-relationship": drop_relationship,
    "business-key": business_key,
    "classify": classify,
    "grain": grain,
    "measure": measure,
    "type": read_type,
    "personal-data": personal_data,
    "rename": rename,
    "describe": describe,
    "domain": domain,
    "owner": owner,
    "name": name,
    "ignore": ignore,
    "merge": merge,
    "split": split,
}
"""The kinds of decisions, as they are typed."""


class _Place:
    """The folder that a command line is about, and the names in it."""

    def __init__(self, context: typer.Context) -> None:
        assert context.parent is not None
        self.folder: Path = context.parent.params[_FOLDER]
        self.model: LogicalModel | None = folder_model(self.folder)
        self.names: FolderNames = folder_names(self.model)
        self._interrupts = context.obj

    def decide(self, kind: str, fields: Mapping[str, object], reason: str, *, json: bool) -> int:
        decision = _decision({**fields, "decision": kind, "reason": reason})
        recorded = record(self.folder, decision, self.model, self._interrupts)
        if json:
            messages.show_json(recorded_document(self.folder, recorded))
        else:
            show(_screen(self.folder, recorded))
        return failures.DONE if recorded.is_written else failures.CHECK_FAILED


def _decide_columns(
    context: typer.Context,
    kind: str,
    table: str,
    columns: list[str],
    reason: str,
    insists: bool,
    json: bool,
) -> int:
    place = _Place(context)
    name = table_of(table, place.names)
    fields = {
        "table": name,
        "columns": columns_of(name, columns, place.names),
        "despite_violations": insists,
    }
    return place.decide(kind, fields, reason, json=json)


def _reference(place: _Place, child: str, parent: str) -> dict[str, object]:
    from_table, from_columns = reference_of(child, place.names)
    to_table, to_columns = reference_of(parent, place.names)
    return {
        "from_table": from_table,
        "from_columns": from_columns,
        "to_table": to_table,
        "to_columns": to_columns,
    }


def _column_fields(place: _Place, text: str) -> dict[str, object]:
    table, column = column_of(text, place.names)
    return {"table": table, "column": column}


def _target_fields(target: Target) -> dict[str, object]:
    return {"table": target.table, "column": target.column, "element": target.element}


def _decision(fields: Mapping[str, object]) -> AnyDecision:
    """Return a decision; raise UsageError for the first field that isn't valid."""
    try:
        return DECISION.validate_python(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = [str(part) for part in first["loc"][1:] if isinstance(part, str)]
        what = f"{place[0].replace('_', ' ')}: " if place else ""
        reason = first["msg"].removeprefix("Value error, ")
        raise UsageError(
            f"This isn't a valid decision: {what}{reason[:1].lower()}{reason[1:]}.",
            hint=f"Run `fluid decide DIR {str(fields['decision']).replace('_', '-')} --help`.",
        ) from None


def recorded_document(folder: Path, recorded: Recorded) -> dict[str, object]:
    """Return what became of a decision, for ``--json``."""
    evidence = recorded.verdict.evidence if recorded.verdict else None
    return {
        "file": str(folder / DECISIONS_FILE),
        "written": recorded.is_written,
        "status": recorded.outcome,
        "message": recorded.message,
        "decision": entry_fields(recorded.decision),
        "evidence": None if evidence is None else evidence.model_dump(mode="json"),
        "next": recorded.forge.command if recorded.forge else None,
    }


def _screen(folder: Path, recorded: Recorded) -> Iterator[Part]:
    is_written = recorded.is_written
    label, style = ("Written", "green") if is_written else ("Refused", "red")
    yield Text.assemble(
        text(label, f"bold {style}"), "  ", text(decision_line(recorded.decision), "bold")
    )
    yield indented(recorded.message)
    evidence = recorded.verdict.evidence if recorded.verdict else None
    if evidence is not None and evidence.violations and evidence.sql:
        yield Query(evidence.sql)
    if not is_written:
        yield indented("Nothing was written.", "dim")
        if "despite_violations" in type(recorded.decision).model_fields and evidence is not None:
            yield indented("If it's right all the same, add --despite-violations.")
        return
    yield indented(f"It's in {folder / DECISIONS_FILE}.", "dim")
    if recorded.forge is not None:
        yield from next_steps([recorded.forge])
