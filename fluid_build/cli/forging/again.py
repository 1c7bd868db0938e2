"""The command line that forges a folder again, from its forge.json."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from fluid_build.cli.invocation import fluid, path_from_here
from fluid_build.cli.next_steps import Step
from fluid_build.cli.reading.read_arguments import read_arguments
from fluid_build.cli.reading.source_options import named_uri
from fluid_build.errors import UsageError
from fluid_build.modeling.dimensional.calendars.settings import locale_of
from fluid_build.modeling.dimensional.elements import DEFAULT_CALENDAR, DimensionalModel
from fluid_build.modeling.dimensional.facts.event_date_choice import requested_date
from fluid_build.modeling.logical import LogicalModel
from fluid_build.sources.addresses.kinds import DDL, IN_MEMORY, KINDS, CatalogKind, RemoteKind
from fluid_build.sources.declarations.source_names import name_of_path
from fluid_build.sources.options import ReadOptions
from fluid_build.sources.text_values.conventions import Conventions
from fluid_build.transform.proof.manifest import Manifest, ManifestSource, place_of

_PLACEHOLDER = "SOURCE"


def forge_again(folder: Path, manifest: Manifest, model: LogicalModel) -> Step:
    """Return what forges a folder again as it was forged, with the decisions in it."""
    if manifest.source.kind == IN_MEMORY.name:
        return Step("", f"Forge the data again in Python, with out={str(folder)!r}.")
    parts = manifest.source.parts or {"": manifest.source}
    is_ddl = manifest.source.kind == DDL.name
    places = {name: _place(source, folder) for name, source in parts.items()}
    kinds = [KINDS[source.kind] for source in parts.values()]
    # A catalog's address names its credential, and needs no password.
    has_server = any(
        isinstance(kind, RemoteKind) and not isinstance(kind, CatalogKind) for kind in kinds
    )
    sources = (
        ("from-ddl", places[""])
        if is_ddl
        else ("from-source", *chain(*(("--uri", named_uri(*pair)) for pair in places.items())))
    )
    remarks = [
        *(["add the password"] if has_server else []),
        *(["say where the source is"] if _PLACEHOLDER in places.values() else []),
    ]
    remark = f" ({'; '.join(remarks)})" if remarks else ""
    options = (*_source_options(parts), *_model_options(manifest, model, places))
    command = fluid("forge", "data-model", *sources, *options, "-o", str(folder))
    return Step(command, f"forge again with the decisions{remark}")


def _place(source: ManifestSource, folder: Path) -> str:
    """Return where a source is, from here where that's a file."""
    try:
        place = place_of(source, folder)
    except UsageError:
        return _PLACEHOLDER
    if isinstance(KINDS[source.kind], RemoteKind):
        return place
    return path_from_here(place)


def _source_options(parts: dict[str, ManifestSource]) -> Iterator[str]:
    """Yield the options of the sources; those of one command are the same for all of them."""
    reads = [source.read for source in parts.values()]
    answers = [read.conventions for read in reads]
    yield from read_arguments(
        ReadOptions(
            schemas=_all(read.schemas for read in reads),
            include=_all(read.include for read in reads),
            exclude=_all(read.exclude for read in reads),
            views=any(read.views for read in reads),
            sample=next((read.sample for read in reads if read.sample), None),
            full=any(read.full for read in reads),
            nested="keep" if any(read.nested == "keep" for read in reads) else "split",
            dialect=next((read.dialect for read in reads if read.dialect), None),
            conventions=Conventions(
                next((answer.decimal for answer in answers if answer.decimal), None),
                next((answer.date_order for answer in answers if answer.date_order), None),
            ),
            encoding=next((read.encoding for read in reads if read.encoding), None),
        )
    )


def _all(globs: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain(*globs)))


def _model_options(
    manifest: Manifest, model: LogicalModel, places: dict[str, str]
) -> Iterator[str]:
    if manifest.technique != "flat":
        yield from ("--technique", manifest.technique)
    if manifest.variant is not None:
        yield from ("--variant", manifest.variant)
    if manifest.business_vault:
        yield "--business-vault"
    if manifest.target != "duckdb":
        yield from ("--target", manifest.target)
    if model.dimensional is not None:
        yield from _dimensional_options(model.dimensional)
    if not _names_itself(model.name, manifest, places):
        yield from ("--name", model.name)


def _names_itself(name: str, manifest: Manifest, places: dict[str, str]) -> bool:
    """Return whether a source gets that name without --name."""
    if manifest.source.parts or isinstance(KINDS[manifest.source.kind], RemoteKind):
        return True
    path = Path(places[""])
    own = path.name if path.is_dir() else path.stem
    return name == own or name_of_path(path, own) == name


def _dimensional_options(model: DimensionalModel) -> Iterator[str]:
    calendars = (dimension.calendar for dimension in model.dimensions)
    calendar = next(filter(None, calendars), DEFAULT_CALENDAR)
    locale = locale_of(calendar)
    if calendar.fiscal_year_start is not None:
        yield from ("--fiscal-year-start", str(calendar.fiscal_year_start))
    if locale is not None:
        yield from ("--locale", locale)
    for fact in model.facts:
        date = None if fact.dated_by is None else requested_date(fact.dated_by.reason)
        if date is not None:
            yield from ("--event-date", f"{fact.entity_name}={date}")
