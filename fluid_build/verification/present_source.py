"""A source as it is today, compared with what its folder knows of it."""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from fluid_build.changes import (
    NO_RENAMES,
    ChangeKind,
    Effect,
    Renames,
    SourceChange,
    counted_changes,
    not_delivered,
    source_changes,
    with_decided_keys,
)
from fluid_build.decisions.deliveries import partial_tables
from fluid_build.decisions.language import AnyDecision, PersonalData, SetKey
from fluid_build.decisions.renames import renames
from fluid_build.decisions.verdicts import applied
from fluid_build.decisions.weighing import amended, weigh
from fluid_build.forging import PROFILE_FILE
from fluid_build.forging.stages import Decided, measure
from fluid_build.forging.undelivered import undelivered_tables, with_undelivered
from fluid_build.modeling.basis import restricted
from fluid_build.modeling.earlier_names import by_model_names
from fluid_build.modeling.evolution import Evolution, RenamedTable
from fluid_build.modeling.rekeying import first_name
from fluid_build.profiling.profile import ColumnProfile, Profile
from fluid_build.progress import OnProgress, ignore
from fluid_build.report.profile_json import read_profile
from fluid_build.sources.base import Source
from fluid_build.transform.proof.manifest import read_text
from fluid_build.verification.forged_folder import FolderHead, ForgedFolder
from fluid_build.verification.held_deliveries import held_tables, with_earlier_figures
from fluid_build.verification.untrusted_model import MOST_BYTES


@dataclass(frozen=True, slots=True)
class PresentSource:
    """A source as it is today, and what changed in it since the folder was forged."""

    decided: Decided
    changes: tuple[SourceChange, ...]

    @property
    def measured(self) -> Profile:
        """The profile before decisions."""
        return self.decided.measured or self.decided.profile


def read_source(
    source: Source,
    folder: FolderHead | ForgedFolder,
    decisions: Sequence[AnyDecision],
    on_progress: OnProgress = ignore,
    may_lose: Set[str] = frozenset(),
) -> PresentSource:
    """Measure a source, and compare it with what its folder knows of it.

    A table whose delivery isn't loaded, unless it ``may_lose`` keys, has the figures that it had.
    Raises the errors of ``measure`` and of reading the profile.
    """
    path = folder.folder / PROFILE_FILE
    earlier = read_profile(read_text(path, MOST_BYTES), path)
    with_undelivered(source, folder.folder, decisions)
    measured = measure(source, on_progress)
    verdicts = weigh(source, measured, decisions)
    decided = Decided(amended(measured, verdicts), verdicts, measured)
    decided_on = applied(verdicts)
    known, partial = renames(decided_on), partial_tables(decided_on)
    evolution = folder.model.evolution or Evolution()
    found = (
        *map(not_delivered, undelivered_tables(source)),
        *news(earlier, evolution, decided.profile, known, partial),
    )
    keys = {
        known.earlier_table(each.table): tuple(
            known.earlier_column(each.table, name) for name in each.columns
        )
        for each in decided_on
        if isinstance(each, SetKey)
    }
    arrived: dict[str, list[str]] = {}
    for column in evolution.added_columns:
        arrived.setdefault(column.table, []).append(column.column)
    counted = counted_changes(found, source, known, arrived)
    changes = tuple(_undecided(with_decided_keys(counted, keys), known, decided_on))
    held = held_tables(changes, folder.model, may_lose)
    if held:
        as_was = _as_it_was(earlier, evolution)
        measured = with_earlier_figures(measured, as_was, held, folder.model)
        decided = Decided(amended(measured, verdicts), verdicts, measured)
    return PresentSource(decided, changes)


def _undecided(
    changes: Iterable[SourceChange], known: Renames, decisions: Sequence[AnyDecision]
) -> Iterator[SourceChange]:
    """Yield the changes without columns of which somebody decided that they're personal."""
    decided = {
        (known.earlier_table(each.table), known.earlier_column(each.table, each.column))
        for each in decisions
        if isinstance(each, PersonalData)
    }
    for change in changes:
        if (
            change.kind is not ChangeKind.NEWLY_PERSONAL
            or (change.table, change.columns[0]) not in decided
        ):
            yield change


def news(
    earlier: Profile,
    evolution: Evolution,
    present: Profile,
    renames: Renames = NO_RENAMES,
    partial: Set[str] = frozenset(),
) -> tuple[SourceChange, ...]:
    """Return what changed in a source since a model was designed of it; ``earlier`` is its profile.

    What the model has followed is no news: what went, came by another name, or is read as a type
    that holds more than the source's own. That a column holds personal data is, until it's decided.
    """
    followed = {
        *((each.table, (), each.now) for each in evolution.renamed_tables),
        *((each.table, (each.column,), each.now) for each in evolution.renamed_columns),
    }
    found = source_changes(_as_it_was(earlier, evolution), present, renames, partial)
    return tuple(
        each
        for each in found
        if each.kind not in _NAMES
        or each.effect is not Effect.SAFE
        or (each.table, each.columns, each.after) not in followed
    )


_NAMES = frozenset({ChangeKind.TABLE_RENAMED, ChangeKind.COLUMN_RENAMED})


def _as_it_was(profile: Profile, evolution: Evolution) -> Profile:
    """Return a model's profile without what its source had lost, and with the source's types."""
    left = restricted(
        profile,
        set(evolution.retired_tables),
        {(column.table, column.column) for column in evolution.retired_columns},
    )
    own = {(each.table, each.column): each.now for each in evolution.narrower_columns}

    not_personal = {(each.table, each.column) for each in evolution.newly_personal}

    def as_it_was(table: str, column: ColumnProfile) -> ColumnProfile:
        place = (table, column.name)
        pii = column.pii and place not in not_personal
        return column.model_copy(update={"type": own.get(place, column.type), "pii": pii})

    as_read = left.model_copy(
        update={
            "tables": tuple(
                table.model_copy(
                    update={"columns": tuple(as_it_was(table.name, c) for c in table.columns)}
                )
                for table in left.tables
            )
        }
    )
    return _by_first_names(as_read, evolution)


def _by_first_names(earlier: Profile, evolution: Evolution) -> Profile:
    """Return a profile in which tables that got another key are called as before they did."""
    first = {
        table.name: first_name(evolution.rekeyed_tables, table.name) for table in earlier.tables
    }
    renamed = (RenamedTable(table=name, now=now) for now, name in first.items() if name != now)
    return by_model_names(earlier, tuple(renamed), ())
