"""Every observation of several sources: of each by itself, and of the keys of different ones."""

from collections.abc import Set
from dataclasses import fields, replace
from itertools import chain

from fluid_build.observations.key_overlaps import key_overlaps
from fluid_build.observations.key_uses import key_uses
from fluid_build.observations.observe import observe
from fluid_build.observations.observed import Observations
from fluid_build.observations.observed_tables import observed_tables, reporting_failures
from fluid_build.profiling.profile import Profile
from fluid_build.progress import OnProgress, ignore
from fluid_build.sources.combined import CombinedSource


def observe_combined(
    source: CombinedSource, profile: Profile, on_progress: OnProgress = ignore
) -> Observations:
    """Return what the rows of several profiled sources show, as ``observe`` does for one."""
    parts = [
        observe(part, _only(profile, {table.name for table in part.tables}), on_progress)
        for part in source.parts
    ]
    merged = Observations(
        **{
            field.name: tuple(chain.from_iterable(getattr(part, field.name) for part in parts))
            for field in fields(Observations)
        }
    )
    tables = list(observed_tables(source, profile).values())
    with reporting_failures(source):
        return replace(
            merged,
            key_overlaps=tuple(key_overlaps(source.connection, tables)),
            key_uses=tuple(key_uses(source.connection, tables, profile.foreign_keys)),
        )


def _only(profile: Profile, tables: Set[str]) -> Profile:
    """Return the profile of some tables; references between sources aren't in it."""
    return profile.model_copy(
        update={
            "tables": tuple(table for table in profile.tables if table.name in tables),
            "foreign_keys": tuple(k for k in profile.foreign_keys if k.from_table in tables),
            "candidates": tuple(c for c in profile.candidates if c.from_table in tables),
        }
    )
