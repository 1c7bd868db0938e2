"""How a folder was asked for, as its manifest and its model say it: what a forge again is given."""

from collections.abc import Mapping
from pathlib import Path

from fluid_build.forging.options import ForgeOptions
from fluid_build.modeling.dimensional.elements import DEFAULT_CALENDAR
from fluid_build.modeling.dimensional.facts.event_date_choice import requested_date
from fluid_build.modeling.logical import LogicalModel
from fluid_build.sources.addresses.kinds import KINDS, RemoteKind
from fluid_build.sources.declarations.source_names import name_of_path
from fluid_build.transform.proof.manifest import Manifest


def recorded_options(manifest: Manifest, model: LogicalModel) -> ForgeOptions:
    """Return the options of a folder's forge, without its decisions."""
    dimensional = model.dimensional
    calendars = (
        dimension.calendar for dimension in (dimensional.dimensions if dimensional else ())
    )
    dated = {
        fact.entity_name: requested_date(fact.dated_by.reason)
        for fact in (dimensional.facts if dimensional else ())
        if fact.dated_by is not None
    }
    return ForgeOptions(
        manifest.technique,
        manifest.variant,
        event_dates={fact: date for fact, date in dated.items() if date is not None},
        calendar=next(filter(None, calendars), DEFAULT_CALENDAR),
        business_vault=bool(manifest.business_vault),
        target=manifest.target,
        project=manifest.project or "dbt",
    )


def given_name(name: str, manifest: Manifest, places: Mapping[str, str]) -> str | None:
    """Return the name of a product where the sources at ``places`` wouldn't give it themselves.

    What a server or several sources would be called is only known once they are read.
    """
    if manifest.source.parts or isinstance(KINDS[manifest.source.kind], RemoteKind):
        return name
    path = Path(places[""])
    own = path.name if path.is_dir() else path.stem
    return None if name == own or name_of_path(path, own) == name else name
