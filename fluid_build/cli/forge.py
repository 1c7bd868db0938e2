"""``fluid forge data-model``: a source's model and contract, as files."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fluid_build.cli import failures, screen, tables
from fluid_build.cli.interrupts import Interrupts
from fluid_build.cli.kinds import KINDS, check_kind, check_outside
from fluid_build.cli.options import Debug, Dialect, Json, Out, Schemas, Technique
from fluid_build.cli.profile import tell_remarks
from fluid_build.cli.reading import reading
from fluid_build.errors import UsageError
from fluid_build.forge import Forged
from fluid_build.forge import forge as forge_source
from fluid_build.modeling.attention import notices
from fluid_build.modeling.techniques import check_technique
from fluid_build.sources.uri import locate, redact


def from_source(
    context: typer.Context,
    uri: Annotated[str, typer.Option("--uri", metavar="URI", help="A URI, file, folder or glob.")],
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="KIND", help=f"Its kind: {', '.join(KINDS)}."),
    ] = None,
    schema: Schemas = None,
    technique: Technique = "flat",
    out: Out = None,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Forge a model and a contract from a database or from files.

    Writes contract.fluid.yaml, model.json, profile.json and MODEL.md to a folder, by default
    NAME-model after the source's name.

    \b
    Example:  fluid forge data-model from-source --uri sqlite:///shop.db -o shop-model
    """
    check_technique(technique)
    address = check_kind(source, uri)
    if out is not None:
        check_outside(out, address)
    if address.kind == "ddl":
        raise UsageError(
            f"{redact(uri)} is DDL, not data.",
            hint="Use 'fluid forge data-model from-ddl FILE' for it.",
        )
    forged = _forge(uri, context.obj, schemas=schema or (), technique=technique, out=out)
    return _report(forged, json=json)


def from_ddl(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of SQL.")],
    dialect: Dialect = None,
    technique: Technique = "flat",
    out: Out = None,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Forge a model and a contract from CREATE TABLE statements.

    What cannot be read is counted and shown. There is no data to check keys on, so the model
    holds what is declared.

    \b
    Example:  fluid forge data-model from-ddl schema.sql --dialect postgres -o shop-model
    """
    check_technique(technique)
    if locate(file).kind != "ddl":
        raise UsageError(
            f"{redact(file)} is no file of SQL.",
            hint="Name a file that ends in .sql, or use from-source for data.",
        )
    forged = _forge(file, context.obj, dialect=dialect, technique=technique, out=out)
    return _report(forged, json=json)


def _forge(
    place: str,
    watch: Interrupts,
    *,
    schemas: Sequence[str] = (),
    dialect: str | None = None,
    technique: str,
    out: Path | None,
) -> Forged:
    with (
        screen.progress() as on_progress,
        reading(place, watch, schemas=schemas, dialect=dialect, on_progress=on_progress) as source,
    ):
        folder = out or Path(f"{_file_name(source.name)}-model")
        return forge_source(source, technique=technique, out=folder, on_progress=on_progress)


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "source"


def _report(forged: Forged, *, json: bool) -> int:
    profile = forged.profile
    if json:
        screen.show_json(
            {
                "technique": forged.model.technique,
                "tables": len(profile.tables),
                "primary_keys": sum(table.primary_key is not None for table in profile.tables),
                "foreign_keys": len(profile.foreign_keys),
                "skipped": [skipped.model_dump() for skipped in profile.skipped],
                "files": [str(path) for path in forged.files],
            }
        )
        tell_remarks(profile)
    else:
        screen.show(tables.forged(forged, notices(profile, forged.model.conceptual)))
    return failures.CHECK_FAILED if profile.skipped else failures.DONE
