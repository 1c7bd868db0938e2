"""The profile of several sources: each profiled by itself, with nothing believed between them."""

from itertools import chain

from fluid_build.profiling.profile import Profile
from fluid_build.profiling.profiler import profile_source
from fluid_build.progress import OnProgress, ignore
from fluid_build.sources.combined import CombinedSource


def profile_combined(source: CombinedSource, *, on_progress: OnProgress = ignore) -> Profile:
    """Profile each of several sources, and return all of it as one profile.

    Names and habits are those of one source, so each is judged by its own. A column of one that
    holds keys of another is no foreign key: the two are compared by observations.
    """
    profiles = [profile_source(part, on_progress=on_progress) for part in source.parts]
    candidates = chain.from_iterable(profile.candidates for profile in profiles)
    return Profile(
        source_kind=source.kind,
        source_name=source.name,
        tables=tuple(chain.from_iterable(profile.tables for profile in profiles)),
        foreign_keys=tuple(chain.from_iterable(profile.foreign_keys for profile in profiles)),
        candidates=tuple(sorted(candidates, key=lambda candidate: -candidate.confidence)),
        skipped=tuple(chain.from_iterable(profile.skipped for profile in profiles)),
        notes=tuple(chain.from_iterable(profile.notes for profile in profiles)),
    )
