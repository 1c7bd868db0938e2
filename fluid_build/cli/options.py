"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Schemas: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--schema",
        metavar="NAME",
        help="Read only this schema of a database; a glob such as 'sales*' works (repeatable).",
    ),
]
Include: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--include",
        metavar="TABLE",
        help="Read only these tables; a glob such as 'dim_*' works (repeatable).",
    ),
]
Exclude: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="TABLE",
        help="Leave these tables out; a glob such as '*_backup' works (repeatable).",
    ),
]
Views: TypeAlias = Annotated[
    bool, typer.Option("--views", help="Read the views of a database as well.")
]
SampleRows: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--sample",
        metavar="ROWS",
        help="Read at most about this many rows of each table of a server.",
    ),
]
FullScan: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--full", help="Read a warehouse in full, however many bytes its queries will scan."
    ),
]
NestedColumns: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--nested",
        metavar="HOW",
        help="What becomes of nested columns: split (child tables, the default) or keep.",
    ),
]
CredentialId: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--credential-id",
        metavar="NAME",
        help="Name of the credential that logs in to a catalog: see `fluid credentials`.",
    ),
]
Dialect: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--dialect", metavar="NAME", help="SQL dialect of a .sql file; detected by default."
    ),
]
Decimal: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        metavar="MARK",
        help="The decimal mark, . or , if numbers in text such as 1.234 are ambiguous.",
    ),
]
DateOrder: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--date-order",
        metavar="ORDER",
        help="dmy or mdy, if dates in text such as 01/02/2024 are ambiguous.",
    ),
]
Encoding: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Encoding of text files that aren't Unicode, such as windows-1251; guessed by"
        " default.",
    ),
]
Name: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--name",
        metavar="NAME",
        help="Name of the product; by default a catalog's or contract's in the source, else that of"
        " the database, file or folder.",
    ),
]
Technique: TypeAlias = Annotated[
    str,
    typer.Option(
        "--technique",
        metavar="NAME",
        help="Modeling technique: flat, data_vault_2 (dv2) or dimensional (kimball, star).",
    ),
]
Variant: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--variant",
        metavar="NAME",
        help="Shape of a dimensional model: star, snowflake, galaxy or wide; chosen by default.",
    ),
]
EventDates: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--event-date",
        metavar="TABLE=DATE",
        help="The date of a fact's event, which decides the versions of its members (repeatable);"
        " chosen by default.",
    ),
]
Decisions: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--decisions",
        metavar="FILE",
        help="Follow the decisions in this file instead of decisions.yaml in the output folder.",
    ),
]
FiscalYearStart: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--fiscal-year-start",
        metavar="MONTH",
        help="Month in which the fiscal year starts, 1 to 12: adds it to the calendar.",
    ),
]
Locale: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--locale",
        metavar="NAME",
        help="Language of the calendar's month and day names, such as de or pt_BR.",
    ),
]
Target: TypeAlias = Annotated[
    str,
    typer.Option(
        "--target",
        metavar="NAME",
        help="Where dbt builds: duckdb, postgres, snowflake, bigquery or databricks.",
    ),
]
BusinessVault: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--business-vault",
        help="With dv2: add point-in-time and bridge tables, which make queries faster.",
    ),
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print JSON on stdout, and everything else on stderr.")
]
Debug: TypeAlias = Annotated[
    bool, typer.Option("--debug", help="Show the traceback of an error as well.")
]
Out: TypeAlias = Annotated[
    Path | None, typer.Option("-o", "--out", metavar="DIR", help="Folder for the files.")
]
Force: TypeAlias = Annotated[
    bool,
    typer.Option("--force", help="Overwrite files in the folder that you edited or added."),
]
Diff: TypeAlias = Annotated[
    bool, typer.Option("--diff", help="Show what would change in the folder, and write nothing.")
]
LlmProvider: TypeAlias = Annotated[
    str | None,
    typer.Option("--llm-provider", metavar="NAME", help="Provider of the language model to use."),
]
LlmModel: TypeAlias = Annotated[
    str | None, typer.Option("--llm-model", metavar="NAME", help="The language model to use.")
]
LlmEndpoint: TypeAlias = Annotated[
    str | None,
    typer.Option("--llm-endpoint", metavar="URL", help="Address of your own model server."),
]
Tiered: TypeAlias = Annotated[
    bool, typer.Option("--tiered", help="Use the provider's fast model where it's good enough.")
]
NoCache: TypeAlias = Annotated[
    bool, typer.Option("--no-cache", help="Ask again even if an answer is already paid for.")
]
Deterministic: TypeAlias = Annotated[
    bool, typer.Option("--deterministic", help="Use no language model, even if one is configured.")
]
RequireLlm: TypeAlias = Annotated[
    bool, typer.Option("--require-llm", help="Fail if the language model can't be used.")
]
DryRun: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Show what a model would be asked, the most that it can cost and which files would be"
        " written; send and write nothing.",
    ),
]
DomainName: TypeAlias = Annotated[
    str | None,
    typer.Option("--domain", metavar="NAME", help="Business domain that the product belongs to."),
]
ShareSamples: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--share-samples",
        help="Let the model see values of columns that aren't personal; otherwise it sees names"
        " and figures only.",
    ),
]
MaxCost: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--max-cost", metavar="USD", help="The most that the run may cost, in US dollars."
    ),
]
ReceiptFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--receipt", metavar="FILE", help="Write the run's receipt to a file, as JSON."),
]
JsonLines: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--json-lines",
        help="Print each stage as a line of JSON, and the result as the last line.",
    ),
]
