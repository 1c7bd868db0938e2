"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Schemas: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--schema",
        metavar="NAME",
        help="Read this schema of a DuckDB or PostgreSQL database (may be repeated).",
    ),
]
Dialect: TypeAlias = Annotated[
    str | None,
    typer.Option("--dialect", metavar="NAME", help="SQL dialect of DDL; detected by default."),
]
Decimal: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        metavar="MARK",
        help="The decimal mark, . or , where numbers such as 1.234 in text leave it open.",
    ),
]
DateOrder: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--date-order",
        metavar="ORDER",
        help="dmy or mdy, where dates such as 01/02/2024 in text leave it open.",
    ),
]
Technique: TypeAlias = Annotated[
    str,
    typer.Option(
        "--technique",
        metavar="NAME",
        help="How to model: flat, data_vault_2 (dv2) or dimensional (kimball, star).",
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
Target: TypeAlias = Annotated[
    str,
    typer.Option(
        "--target",
        metavar="NAME",
        help="What dbt builds in: duckdb, postgres, snowflake, bigquery or databricks.",
    ),
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print JSON on stdout, everything else on stderr.")
]
Debug: TypeAlias = Annotated[
    bool, typer.Option("--debug", help="Show the traceback of an error as well.")
]
Out: TypeAlias = Annotated[
    Path | None, typer.Option("-o", "--out", metavar="DIR", help="Folder for the files.")
]
Force: TypeAlias = Annotated[
    bool,
    typer.Option("--force", help="Overwrite files in the folder that you edited or put there."),
]
Diff: TypeAlias = Annotated[
    bool, typer.Option("--diff", help="Show what would change in the folder, and write nothing.")
]
