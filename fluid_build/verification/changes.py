"""What has changed in the source of a folder since it was forged."""

from collections.abc import Sequence
from dataclasses import dataclass

from fluid_build.changes import ChangeKind, SourceChange
from fluid_build.decisions.files import recorded_decisions
from fluid_build.errors import SourceChangedError
from fluid_build.progress import OnProgress, ignore
from fluid_build.sources.base import Source
from fluid_build.transform.proof.source_changes import fits_model, key_changes, value_changes
from fluid_build.verification.forged_folder import ForgedFolder
from fluid_build.verification.present_source import read_source

_MOST_NAMED = 5
"""Changes named in the error, which is one sentence; the others are counted."""


class ModelOutdatedError(SourceChangedError):
    """The model no longer fits its source. ``changes`` are all changes of the source."""

    def __init__(self, changes: Sequence[SourceChange], reasons: Sequence[SourceChange]) -> None:
        unnamed = len(reasons) - _MOST_NAMED
        more = f"; and {unnamed} more" if unnamed > 0 else ""
        named = "; ".join(map(str, reasons[:_MOST_NAMED])) or "other tables or columns"
        super().__init__(
            f"The source has changed since the model was generated: {named}{more}.",
            hint="Run `fluid forge` again to update the model.",
            details=map(str, reasons),
        )
        self.changes = tuple(changes)


@dataclass(frozen=True, slots=True)
class ChangesSince:
    """All changes of a source since a forge; of them, ``broken_keys`` are what the model relies on.

    With these, the next load would fail.
    """

    changes: tuple[SourceChange, ...] = ()
    broken_keys: tuple[SourceChange, ...] = ()


NO_CHANGES: ChangesSince = ChangesSince()


def changes_since(
    forged: ForgedFolder, source: Source, on_progress: OnProgress = ignore
) -> ChangesSince:
    """Return the changes of a source since its folder was forged, by its profiles then and now.

    Raises ModelOutdatedError where the model can't be built of it any more, and the errors of
    ``read_source``.
    """
    decisions = recorded_decisions(forged.folder).decisions
    changes: Sequence[SourceChange] = read_source(source, forged, decisions, on_progress).changes
    structural = [change for change in changes if change.is_structural]
    if not fits_model(source, forged.model):
        raise ModelOutdatedError(changes, structural)
    # The model knows them: it keeps what the source dropped, and names that it had.
    changes = [change for change in changes if not change.is_structural]
    misfits = list(value_changes(source, forged.model, forged.plan))
    if misfits:
        raise ModelOutdatedError(_with_figures(changes, misfits), misfits)
    found = list(key_changes(source, forged.model, forged.plan))
    changes = _with_figures(changes, found)
    relied_on = {_subject(change) for change in found}
    return ChangesSince(
        tuple(changes), tuple(change for change in changes if _subject(change) in relied_on)
    )


def _with_figures(
    changes: Sequence[SourceChange], found: Sequence[SourceChange]
) -> list[SourceChange]:
    """Return changes with those that were found in the rows; each is told once.

    What was found has the figures, and a key that became longer says more.
    """
    longer = {_subject(change) for change in changes if change.kind is ChangeKind.KEY_WIDENED}
    found = [change for change in found if _subject(change) not in longer]
    replaced = {_subject(change) for change in found}
    return [*(change for change in changes if _subject(change) not in replaced), *found]


def _subject(change: SourceChange) -> tuple[object, ...]:
    is_key = change.kind in {ChangeKind.KEY_BROKEN, ChangeKind.KEY_WIDENED}
    kind = ChangeKind.KEY_BROKEN if is_key else change.kind
    return kind, change.table, frozenset(change.columns)
