"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

CredentialId: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--credential-id",
        metavar="NAME",
        help="Name of the credential that logs in to a catalog: see `fluid credentials`.",
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
Decisions: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--decisions",
        metavar="FILE",
        help="Follow the decisions in this file instead of decisions.yaml in the output folder.",
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
