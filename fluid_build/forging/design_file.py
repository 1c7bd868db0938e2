"""``design.json``: what the model of a folder was designed from, kept for the next forge.

It may be a stranger's. Nothing in it is run: queries aren't written to it, types are checked, and
what claims rest on is asked of the source again.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from fluid_build.errors import SourceUnreadableError
from fluid_build.forging.table_choice import check_same_choice
from fluid_build.modeling.basis import Basis, as_read, without_queries
from fluid_build.profiling.profile import Candidate, ForeignKey, Profile
from fluid_build.sources.base import Source
from fluid_build.sources.text_values.canonical_text import type_and_spelling
from fluid_build.transform.proof.manifest import read_text

DESIGN_FILE = "design.json"
EVERYTHING = "all"
"""What ``--redesign`` calls the whole model."""
_MOST_BYTES = 256 * 1024 * 1024
"""Far more than the profile of a thousand tables takes."""
_ANEW = "Restore it from your version control, or use --redesign all to design the model anew."
_MEASURED = re.compile(r"[A-Z_][A-Z0-9_ ]*(\(\d+(, ?\d+)?\))?")


def earlier_basis(out: Path, source: Source, redesign: Sequence[str] = ()) -> Basis | None:
    """Return the basis of the model that a forge continues; None where it has none, or keeps none.

    Raises SourceUnreadableError for a file that a forge wouldn't write, and UsageError where the
    ``source`` isn't read as the model's.
    """
    basis = None if EVERYTHING in redesign else read_basis(out)
    if basis is not None:
        check_same_choice(out, source)
    return basis


def read_basis(out: Path) -> Basis | None:
    """Return the basis of the model in a folder; None where it has none.

    Raises SourceUnreadableError for a file that a forge wouldn't write.
    """
    path = out / DESIGN_FILE
    if not path.exists():
        return None
    try:
        basis = Basis.model_validate_json(read_text(path, _MOST_BYTES))
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, found["loc"])) or "the file"
        raise SourceUnreadableError(
            f"{path} isn't as Fluid Forge wrote it: {place}: {found['msg']}.", hint=_ANEW
        ) from None
    fault = next(_faults(basis), None)
    if fault is not None:
        raise SourceUnreadableError(f"{path} isn't as Fluid Forge wrote it: {fault}.", hint=_ANEW)
    return basis.model_copy(update={"profile": without_queries(basis.profile)})


def basis_json(basis: Basis) -> str:
    """Return a basis as ``design.json``."""
    written = basis.model_copy(update={"profile": without_queries(basis.profile)})
    return written.model_dump_json(indent=1, exclude_defaults=True) + "\n"


def unfit(error: Exception) -> SourceUnreadableError:
    """Return the error for a basis whose parts don't fit together."""
    return SourceUnreadableError(
        f"{DESIGN_FILE} of the folder can't be turned into a model:"
        f" {str(error).splitlines()[0] if str(error) else type(error).__name__}.",
        hint=_ANEW,
    )


def _faults(basis: Basis) -> Iterator[str]:
    """Yield what doesn't fit together in a basis: names that aren't there, and odd types."""
    profile = as_read(basis)
    columns = {table.name: {c.name for c in table.columns} for table in profile.tables}
    if len(columns) < len(profile.tables):
        yield "two tables have one name"
    for table in profile.tables:
        if len(columns[table.name]) < len(table.columns):
            yield f"two columns of {table.name!r} have one name"
        keys = (*table.candidate_keys, *(claim.columns for claim in table.declared_keys))
        for key in (*keys, table.primary_key or ()):
            if not set(key) <= columns[table.name]:
                yield f"a key of {table.name!r} has columns that it doesn't have"
        for column in table.columns:
            measured = column.measured_type
            if measured and not _MEASURED.fullmatch(type_and_spelling(measured)[0]):
                yield f"{measured!r} isn't a type"
    yield from _faults_of_references(profile, columns)
    for arrival in basis.arrivals:
        known = all(c.column in columns.get(c.table, ()) for c in arrival.columns)
        if not known or not set(arrival.tables) <= columns.keys():
            yield "what arrived isn't in the profile"


def _faults_of_references(profile: Profile, columns: dict[str, set[str]]) -> Iterator[str]:
    keys: tuple[ForeignKey | Candidate, ...] = (*profile.foreign_keys, *profile.candidates)
    for key in keys:
        ends = ((key.from_table, key.from_columns), (key.to_table, key.to_columns))
        is_pair = len(key.from_columns) == len(key.to_columns) > 0
        # A declared reference may lead to a table that couldn't be read.
        if not is_pair or any(
            table in columns and not set(names) <= columns[table] for table, names in ends
        ):
            yield f"a reference of {key.from_table!r} has columns that aren't there"
