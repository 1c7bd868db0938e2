"""``fluid decide``: decisions about a folder, one subcommand for each kind."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from fluid_build.cli.deciding.decided_folder import ClaimOptions, DecidedFolder, DecisionOptions
from fluid_build.cli.deciding.targets import (
    DecisionTarget,
    column_of,
    columns_of,
    key_columns_of,
    new_name_of,
    new_reference_of,
    reference_of,
    relations_of,
    table_of,
    target_of,
)
from fluid_build.cli.option_groups import with_option_groups
from fluid_build.decisions.commands import date_type
from fluid_build.errors import UsageError
from fluid_build.forging.decision_files import schema_text

Table: TypeAlias = Annotated[str, typer.Argument(metavar="TABLE", help="A table of the source.")]
NewTable: TypeAlias = Annotated[
    str, typer.Argument(metavar="TABLE", help="The table that is one, or isn't.")
]
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
    str, typer.Argument(metavar="TARGET", help="TABLE, TABLE.COLUMN or an element of the model.")
]
IsElement: TypeAlias = Annotated[
    bool, typer.Option("--element", help="TARGET is an element of the model.")
]
_DECISION = DecisionOptions()
_CLAIM = ClaimOptions()


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


@with_option_groups
def set_key(
    context: typer.Context, table: Table, columns: Columns, options: ClaimOptions = _CLAIM
) -> int:
    """Say which columns identify a row of a table.

    \b
    Example:  fluid decide shop-model set-key orders order_no
    """
    return _decide_columns(context, "set_key", table, columns, options)


@with_option_groups
def business_key(
    context: typer.Context, table: Table, columns: Columns, options: ClaimOptions = _CLAIM
) -> int:
    """Say which columns the business identifies a row by: what its hub is built on.

    \b
    Example:  fluid decide shop-model business-key products ean
    """
    return _decide_columns(context, "business_key", table, columns, options)


@with_option_groups
def grain(
    context: typer.Context, table: Table, columns: Columns, options: ClaimOptions = _CLAIM
) -> int:
    """Say which columns tell the rows of a fact apart.

    \b
    Example:  fluid decide shop-model grain order_lines order_id pos
    """
    return _decide_columns(context, "grain", table, columns, options)


@with_option_groups
def add_relationship(
    context: typer.Context, child: FromColumns, parent: ToColumns, options: ClaimOptions = _CLAIM
) -> int:
    """Say that columns of one table refer to another.

    \b
    Example:  fluid decide shop-model add-relationship lines.order,year orders.number,year
    """
    place = DecidedFolder(context)
    fields = _reference(place, child, parent)
    return place.decide("add_relationship", fields, options)


@with_option_groups
def drop_relationship(
    context: typer.Context,
    child: FromColumns,
    parent: ToColumns,
    options: DecisionOptions = _DECISION,
) -> int:
    """Say that columns don't refer to that table.

    \b
    Example:  fluid decide shop-model drop-relationship stores.country countries.code
    """
    place = DecidedFolder(context)
    return place.decide("drop_relationship", _reference(place, child, parent), options)


@with_option_groups
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
    options: DecisionOptions = _DECISION,
) -> int:
    """Say what a table becomes.

    \b
    Example:  fluid decide shop-model classify reviews hub
    """
    place = DecidedFolder(context)
    fields = {"table": table_of(table, place.names), "role": role}
    return place.decide("classify", fields, options)


@with_option_groups
def measure(
    context: typer.Context,
    column: Column,
    additivity: Annotated[
        str,
        typer.Argument(
            metavar="ADDITIVITY", help="additive, semi-additive, non-additive, or none: no measure."
        ),
    ],
    options: DecisionOptions = _DECISION,
) -> int:
    """Say how a number adds up.

    \b
    Example:  fluid decide shop-model measure employees.salary semi-additive
    """
    place = DecidedFolder(context)
    fields = _column_fields(place, column) | {"additivity": additivity}
    return place.decide("measure", fields, options)


@with_option_groups
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
    options: ClaimOptions = _CLAIM,
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
        read_as = date_type(date_format)
    elif decimal is not None:
        read_as = "number"
    place = DecidedFolder(context)
    fields = _column_fields(place, column) | {
        "read_as": read_as,
        "date_format": date_format,
        "decimal": decimal,
    }
    return place.decide("type", fields, options)


@with_option_groups
def personal_data(
    context: typer.Context,
    column: Column,
    is_not: Annotated[bool, typer.Option("--not", help="It isn't personal data.")] = False,
    options: DecisionOptions = _DECISION,
) -> int:
    """Say that a column holds personal data, or doesn't.

    \b
    Example:  fluid decide shop-model personal-data reviews.body
    """
    place = DecidedFolder(context)
    fields = _column_fields(place, column) | {"is_personal": not is_not}
    return place.decide("personal_data", fields, options)


@with_option_groups
def rename(
    context: typer.Context,
    target: AnyTarget,
    new_name: Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits and _.")],
    element: IsElement = False,
    options: DecisionOptions = _DECISION,
) -> int:
    """Give a table, a column or an element of the model another name.

    \b
    Example:  fluid decide shop-model rename customers.cust_no customer_number
    """
    place = DecidedFolder(context)
    fields = _target_fields(target_of(target, place.names, is_element=element))
    return place.decide("rename", fields | {"new_name": new_name}, options)


@with_option_groups
def renamed(
    context: typer.Context,
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="TABLE or TABLE.COLUMN, as it was called before."),
    ],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What the source calls it now, without its table.")
    ],
    is_not: Annotated[
        bool, typer.Option("--not", help="It's another one: that went, and this came.")
    ] = False,
    options: DecisionOptions = _DECISION,
) -> int:
    """Say that a table or a column of the source has another name now.

    \b
    Example:  fluid decide shop-model renamed customers.phone phone_number
    """
    place = DecidedFolder(context)
    was = target_of(target, place.names, is_element=False)
    if was.table is None:
        raise UsageError(
            f"{target!r} is an element of the model, and not a table or column of the source.",
            hint="Name it with `fluid decide DIR rename` instead.",
        )
    now = new_name_of(name)
    names = (
        {"table": now, "was": was.table}
        if was.column is None
        else {"table": was.table, "column": now, "was": was.column}
    )
    fields: dict[str, object] = {**names, **({"is_renamed": False} if is_not else {})}
    return place.decide("renamed", fields, options)


@with_option_groups
def delivery(
    context: typer.Context,
    table: Table,
    delivers: Annotated[
        str,
        typer.Argument(metavar="KIND", help="full, delta (what changed) or append (what came)."),
    ],
    deleted: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Of a delta: the column that marks deleted rows."),
    ] = None,
    deleted_value: Annotated[
        list[str] | None,
        typer.Option(metavar="VALUE", help="What marks a row there; else any value does."),
    ] = None,
    options: DecisionOptions = _DECISION,
) -> int:
    """Say what a table has each time that it's read: all rows, changed ones or new ones.

    \b
    Example:  fluid decide shop-model delivery orders delta --deleted op --deleted-value D
    """
    place = DecidedFolder(context)
    name = table_of(table, place.names)
    columns = columns_of(name, [deleted], place.names) if deleted else (None,)
    fields = {
        "table": name,
        "delivers": delivers,
        "deleted_column": columns[0],
        "deleted_values": deleted_value or None,
    }
    return place.decide("delivery", fields, options)


@with_option_groups
def validity(
    context: typer.Context,
    table: Table,
    follows: Annotated[
        str,
        typer.Argument(metavar="KIND", help="stamp (when the source changed the row) or load."),
    ],
    column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column that has the stamp; else it's found."),
    ] = None,
    options: DecisionOptions = _DECISION,
) -> int:
    """Say from when versions of a table's rows hold: from the source's stamp, or from the load.

    \b
    Example:  fluid decide shop-model validity orders stamp
    """
    place = DecidedFolder(context)
    name = table_of(table, place.names)
    columns = columns_of(name, [column], place.names) if column else (None,)
    fields = {"table": name, "follows": follows, "column": columns[0]}
    return place.decide("validity", fields, options)


@with_option_groups
def describe(
    context: typer.Context,
    target: AnyTarget,
    description: Annotated[str, typer.Argument(metavar="TEXT", help="What it is.")],
    element: IsElement = False,
    options: DecisionOptions = _DECISION,
) -> int:
    """Say what a table, a column or an element of the model is.

    \b
    Example:  fluid decide shop-model describe customers "Everyone who ever ordered."
    """
    place = DecidedFolder(context)
    fields = _target_fields(target_of(target, place.names, is_element=element))
    return place.decide("describe", fields | {"text": description}, options)


@with_option_groups
def domain(
    context: typer.Context,
    label: Annotated[str, typer.Argument(metavar="DOMAIN", help="Such as Sales.")],
    options: DecisionOptions = _DECISION,
) -> int:
    """Say which business domain the product belongs to.

    \b
    Example:  fluid decide shop-model domain Sales
    """
    return DecidedFolder(context).decide("domain", {"domain": label}, options)


@with_option_groups
def owner(
    context: typer.Context,
    team: Annotated[str, typer.Argument(metavar="TEAM", help="The team that owns the product.")],
    email: Annotated[
        str | None, typer.Option("--email", metavar="ADDRESS", help="How to reach it.")
    ] = None,
    options: DecisionOptions = _DECISION,
) -> int:
    """Say which team owns the product.

    \b
    Example:  fluid decide shop-model owner "Sales data" --email sales-data@example.com
    """
    return DecidedFolder(context).decide("owner", {"team": team, "email": email}, options)


@with_option_groups
def name(
    context: typer.Context,
    product: Annotated[str, typer.Argument(metavar="NAME", help="What the product is called.")],
    options: DecisionOptions = _DECISION,
) -> int:
    """Say what the product is called.

    \b
    Example:  fluid decide shop-model name "Bike shop"
    """
    return DecidedFolder(context).decide("name", {"name": product}, options)


@with_option_groups
def conventions(
    context: typer.Context,
    preset: Annotated[str, typer.Argument(metavar="PRESET", help="automate_dv or datavault4dbt.")],
    options: DecisionOptions = _DECISION,
) -> int:
    """Name relations and columns and hash keys as another tool does that loaded the vault.

    \b
    Example:  fluid decide shop-model conventions automate_dv
    """
    return DecidedFolder(context).decide("conventions", {"preset": preset}, options)


@with_option_groups
def exposure(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits and _.")],
    models: Annotated[
        list[str], typer.Argument(metavar="ELEMENT...", help="What it reads of the model.")
    ],
    type_: Annotated[
        str,
        typer.Option(
            "--type", metavar="TYPE", help="dashboard, notebook, analysis, ml or application."
        ),
    ],
    owner: Annotated[str, typer.Option("--owner", metavar="NAME", help="Who answers for it.")],
    email: Annotated[
        str | None, typer.Option("--email", metavar="ADDRESS", help="How to reach the owner.")
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TITLE", help="What people call it.")
    ] = None,
    description: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="What it is.")
    ] = None,
    url: Annotated[str | None, typer.Option("--url", metavar="URL", help="Where it is.")] = None,
    options: DecisionOptions = _DECISION,
) -> int:
    """Say what reads the model, such as a dashboard: an exposure of the dbt project.

    \b
    Example:  fluid decide shop-model exposure sales fct_orders --type dashboard --owner Ann
    """
    place = DecidedFolder(context)
    fields = {
        "name": name,
        "type": type_,
        "models": relations_of(models, place.model),
        "owner": owner,
        "email": email,
        "title": title,
        "text": description,
        "url": url,
    }
    return place.decide("exposure", fields, options)


@with_option_groups
def ignore(context: typer.Context, table: Table, options: DecisionOptions = _DECISION) -> int:
    """Leave a table out.

    \b
    Example:  fluid decide shop-model ignore orders_backup --reason "A copy from 2019."
    """
    place = DecidedFolder(context)
    return place.decide("ignore", {"table": table_of(table, place.names)}, options)


@with_option_groups
def one_table(
    context: typer.Context,
    table: NewTable,
    parts: Annotated[
        list[str],
        typer.Argument(metavar="PART...", help="Its parts, by their names or a glob: 'sales_*'."),
    ],
    options: DecisionOptions = _DECISION,
) -> int:
    """Say that tables or files are one: their rows are read together.

    \b
    Example:  fluid decide shop-model one-table sales sales_1997 sales_dec_1998
    """
    place = DecidedFolder(context)
    fields = {"table": new_name_of(table), "parts": tuple(map(new_name_of, parts))}
    return place.decide("one_table", fields, options)


@with_option_groups
def separate(context: typer.Context, table: NewTable, options: DecisionOptions = _DECISION) -> int:
    """Say that what is read as one table by the names of its parts is a table for each of them.

    \b
    Example:  fluid decide shop-model separate sales
    """
    return DecidedFolder(context).decide("separate", {"table": new_name_of(table)}, options)


@with_option_groups
def merge(
    context: typer.Context, columns: FromColumns, into: ToColumns, options: ClaimOptions = _CLAIM
) -> int:
    """Say that two tables describe the same entity: rows with equal columns are one instance.

    \b
    Example:  fluid decide shop-model merge clients.mail customers.email
    """
    place = DecidedFolder(context)
    table, own = reference_of(columns, place.names)
    into_table, into_columns = reference_of(into, place.names)
    fields = {
        "table": table,
        "columns": own,
        "into_table": into_table,
        "into_columns": into_columns,
    }
    return place.decide("merge", fields, options)


@with_option_groups
def split(
    context: typer.Context,
    columns: FromColumns,
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="The new entity's name.")],
    attributes: Annotated[
        list[str] | None, typer.Argument(metavar="[COLUMN]...", help="Columns that describe it.")
    ] = None,
    options: ClaimOptions = _CLAIM,
) -> int:
    """Say that a table holds a second entity, which FROM identifies.

    \b
    Example:  fluid decide shop-model split orders.ship_city city ship_zip ship_country
    """
    place = DecidedFolder(context)
    table, own = reference_of(columns, place.names)
    fields = {
        "table": table,
        "columns": own,
        "entity": entity,
        "attributes": columns_of(table, attributes or (), place.names),
    }
    return place.decide("split", fields, options)


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
    "renamed": renamed,
    "delivery": delivery,
    "validity": validity,
    "describe": describe,
    "domain": domain,
    "owner": owner,
    "name": name,
    "conventions": conventions,
    "exposure": exposure,
    "ignore": ignore,
    "one-table": one_table,
    "separate": separate,
    "merge": merge,
    "split": split,
}
"""The kinds of decisions, as they are typed."""


def _decide_columns(
    context: typer.Context, kind: str, table: str, columns: list[str], options: ClaimOptions
) -> int:
    place = DecidedFolder(context)
    name = table_of(table, place.names)
    find = key_columns_of if kind == "set_key" else columns_of
    fields = {"table": name, "columns": find(name, columns, place.names)}
    return place.decide(kind, fields, options)


def _reference(place: DecidedFolder, child: str, parent: str) -> dict[str, object]:
    from_table, from_columns = new_reference_of(child, place.names)
    to_table, to_columns = new_reference_of(parent, place.names)
    return {
        "from_table": from_table,
        "from_columns": from_columns,
        "to_table": to_table,
        "to_columns": to_columns,
    }


def _column_fields(place: DecidedFolder, text: str) -> dict[str, object]:
    table, column = column_of(text, place.names)
    return {"table": table, "column": column}


def _target_fields(target: DecisionTarget) -> dict[str, object]:
    return {"table": target.table, "column": target.column, "element": target.element}
