"""A plan: what changed in a source, and what that means to model, contract and warehouse.

It's a pure function of what was read of the three. Nothing is changed by it, and it's written to a
file as it is.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from fluid_build.changes import ChangeKind, Effect, SourceChange
from fluid_build.changes.types import wider_type
from fluid_build.contract.differences import Differences
from fluid_build.contract.differences.differing import Bump, NextVersion, why_readers_break
from fluid_build.decisions.commands import decide_command
from fluid_build.decisions.language import (
    AnyDecision,
    Exposure,
    PersonalData,
    Renamed,
    SetDelivery,
    SetKey,
)
from fluid_build.errors import PlanOutdatedError, SourceUnreadableError, UndecidedError
from fluid_build.evolution.migrating import Mark, Step, Written
from fluid_build.evolution.states import States
from fluid_build.modeling.element import ModelPart
from fluid_build.modeling.logical import LogicalModel
from fluid_build.text import as_sentence, listed, listed_up_to
from fluid_build.transform.proof.manifest import read_text

Outcome = Literal["nothing", "changes", "needs_decision"]
_MOST_NAMED = 5
"""Names in a sentence; a reader takes in no more, and the others are counted."""
_MOST_BYTES = 64 * 1024 * 1024
"""Far more than the plan of a thousand tables takes."""
_FOLDER = "decide DIR"
"""In an advice: there the folder is named as its user names it."""
_TYPE = "{type}"
"""In an advice: there it says what a column is read as where nobody decides."""
_DELIVERY = (
    "A load stops such a table, unless its rows are gone (--allow-loss) or the source has only what"
    " changed (delta)."
)
_FOLLOWED: frozenset[ChangeKind] = frozenset({ChangeKind.TABLE_DROPPED})
"""Changes that look grave, and mean the same whoever decides: what was loaded stays."""
_OF_KEYS = frozenset({ChangeKind.KEY_BROKEN, ChangeKind.KEY_WIDENED, ChangeKind.COLUMN_DROPPED})
"""Changes after which another key may tell rows apart."""
_ADVICE = {
    ChangeKind.COLUMN_RENAMED: "If it isn't (--not), its values stay, and the other one is added.",
    ChangeKind.TABLE_RENAMED: "If it isn't (--not), its rows stay, and the other one is added.",
    ChangeKind.TABLE_SPLIT: "Forge again with --periods to read them as one table.",
    ChangeKind.TABLE_UNREADABLE: "Allow it to be read, or leave it out with `fluid decide`.",
    ChangeKind.NULLS_NEW: "Check the delivery: columns that keep no versions lose their values.",
    ChangeKind.NEWLY_PERSONAL: "It stays where it is, in a vault's general satellite, until its"
    " table is designed anew (--redesign).",
    ChangeKind.TABLE_SHRUNK: _DELIVERY,
    ChangeKind.TABLE_EMPTIED: _DELIVERY,
    ChangeKind.KEY_BROKEN: "These rows go to quarantine, and the rest is loaded. Correct them, or"
    " decide that the other one is the key.",
    ChangeKind.KEY_WIDENED: "Correct the rows, or decide that the longer one is the key: what was"
    " loaded stays, and the rows begin anew beside it.",
    ChangeKind.COLUMN_DROPPED: "Decide that the other one is the key.",
    ChangeKind.TYPE_CHANGED: "Correct it at the source, or say with `fluid decide DIR type` how"
    " it's read; else it becomes {type}.",
    ChangeKind.VALUES_MISFIT: "Correct the value, or say with `fluid decide DIR type` how the"
    " column is read; else it becomes {type}.",
}
_WITHOUT_ANOTHER_KEY = {
    ChangeKind.KEY_BROKEN: "These rows go to quarantine until they're corrected at the source, and"
    " the rest is loaded.",
    ChangeKind.COLUMN_DROPPED: "Nothing else is known to tell its rows apart: deliver the column"
    " again, or one that does.",
}
"""The advice where no key is known that would settle a change of the present one."""


class PlannedChange(ModelPart):
    """A change of the source, and what to do about it.

    ``commands`` are lines for a shell, each of which makes one of the possible decisions. An apply
    waits for the decision where it ``stops_apply``, and goes on without it otherwise.
    """

    change: SourceChange
    mark: Mark
    stops_apply: bool = False
    advice: str = ""
    commands: tuple[str, ...] = ()


class PlannedContract(ModelPart):
    """The contract's highest version and its next one, with the reason.

    ``readers`` are those that a change breaks, each in words.
    """

    version: str
    next_version: str
    bump: Bump = "none"
    reason: str = ""
    readers: tuple[str, ...] = ()


class Unfinished(ModelPart):
    """The last deployment, which didn't end well: what the next apply goes on with.

    ``ended`` where it failed; otherwise it was killed, or is at work. ``reason`` says why, as far
    as that's known.
    """

    number: int
    load_date: datetime
    ended: bool
    reason: str = ""

    def __str__(self) -> str:
        """Return it in a sentence."""
        how = "failed" if self.ended else "hasn't ended"
        why = f": {self.reason}" if self.reason else ""
        date = f"{self.load_date:%Y-%m-%d %H:%M:%S}"
        return as_sentence(f"The last deployment, {self.number} of {date}, {how}{why}")


class DeploymentPlan(ModelPart):
    """What an apply would do, of the three ``states`` as they were.

    ``warehouse_is_new`` where nothing was ever loaded. The sentences of ``model`` and of the steps
    have no full stop.
    """

    version: Literal[1] = 1
    states: States
    warehouse_is_new: bool
    source: tuple[PlannedChange, ...] = ()
    model: tuple[str, ...] = ()
    contract: PlannedContract
    warehouse: tuple[Step, ...] = ()
    unfinished: Unfinished | None = None

    @property
    def open_decisions(self) -> int:
        """How many changes and steps somebody has to decide about."""
        marks = (*(each.mark for each in self.source), *(each.mark for each in self.warehouse))
        return sum(mark is not Mark.SAFE for mark in marks)

    @property
    def outcome(self) -> Outcome:
        """Whether there is anything to do, and anything to decide before."""
        if self.open_decisions:
            return "needs_decision"
        is_changed = self.source or self.model or self.warehouse or self.contract.bump != "none"
        return "changes" if is_changed or self.unfinished is not None else "nothing"


def check_still_true(plan: DeploymentPlan, present: States) -> None:
    """Raise PlanOutdatedError where the folder, the source or the warehouse isn't as planned."""
    then, now = plan.states.model_dump(), present.model_dump()
    moved = [f"the {name}" for name, digest in then.items() if now[name] != digest]
    if moved:
        raise PlanOutdatedError(
            f"The plan isn't true any more: {listed(moved)} changed since it was made.",
            hint="Run `fluid plan` again, and look at what it says now.",
            details=moved,
        )


_NAMES = frozenset({ChangeKind.TABLE_RENAMED, ChangeKind.COLUMN_RENAMED})


def check_decided(changes: Sequence[SourceChange], folder: str) -> None:
    """Raise UndecidedError where what came may be what went, under a new name.

    Once it's loaded as another one, the two can't be joined any more.
    """
    open_ = [each for each in planned_changes(changes, folder) if each.stops_apply]
    if open_:
        raise UndecidedError(
            f"{listed(str(each.change) for each in open_)}, and nobody has decided whether"
            f" {'it is' if len(open_) == 1 else 'they are'}.",
            hint="Nothing was changed. Give one of the answers, and apply again:",
            commands=[command for each in open_ for command in each.commands],
            details=(str(each.change) for each in open_),
        )


def read_plan(path: Path) -> DeploymentPlan:
    """Return the plan in a file. Raises SourceUnreadableError where ``fluid plan`` wrote none."""
    try:
        return DeploymentPlan.model_validate_json(read_text(path, _MOST_BYTES))
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, found["loc"])) or "the file"
        raise SourceUnreadableError(
            f"{path} isn't a plan of this version: {place}: {found['msg']}.",
            hint="Make it again with `fluid plan DIR --out FILE`.",
        ) from None


def plan_json(plan: DeploymentPlan) -> str:
    """Return a plan as the text of its file."""
    return plan.model_dump_json(indent=1) + "\n"


# The source.


def planned_changes(changes: Sequence[SourceChange], folder: str) -> tuple[PlannedChange, ...]:
    """Return changes with what to do about them; ``folder`` is how its user names it."""
    return tuple(_planned(change, folder) for change in changes)


def _planned(change: SourceChange, folder: str) -> PlannedChange:
    if change.effect is Effect.SAFE or change.kind in _FOLLOWED:
        return PlannedChange(change=change, mark=Mark.SAFE)
    commands = (decide_command(decision, folder) for decision in _decisions(change))
    advice = _ADVICE.get(change.kind, "")
    if not change.to_columns:
        advice = _WITHOUT_ANOTHER_KEY.get(change.kind, advice)
    return PlannedChange(
        change=change,
        mark=Mark.NEEDS_DECISION,
        stops_apply=change.kind in _NAMES,
        advice=advice.replace(_FOLDER, f"decide {shlex.quote(folder)}").replace(
            _TYPE, _type_of_both(change)
        ),
        commands=tuple(filter(None, commands)),
    )


def _type_of_both(change: SourceChange) -> str:
    """Return the type that a column is read as, where what it was and what it is differ."""
    both = wider_type(change.before or "", change.after or "")
    return "text" if both == "VARCHAR" else both


def _decisions(change: SourceChange) -> Iterator[AnyDecision]:
    """Yield the decisions that would settle what a change means."""
    names = [other.name for other in change.other_names]
    if change.kind is ChangeKind.TABLE_RENAMED:
        yield from (Renamed(table=name, was=change.table) for name in names)
        yield from (Renamed(table=name, was=change.table, is_renamed=False) for name in names)
    elif change.kind is ChangeKind.COLUMN_RENAMED:
        table, was = change.table, change.columns[0]
        yield from (Renamed(table=table, column=name, was=was) for name in names)
        yield from (Renamed(table=table, column=name, was=was, is_renamed=False) for name in names)
    elif change.kind in {ChangeKind.TABLE_SHRUNK, ChangeKind.TABLE_EMPTIED}:
        yield SetDelivery(table=change.table, delivers="delta")
    elif change.kind in _OF_KEYS and change.to_columns:
        yield SetKey(table=change.table, columns=change.to_columns)
    elif change.kind is ChangeKind.NEWLY_PERSONAL:
        column = change.columns[0]
        yield PersonalData(table=change.table, column=column)
        yield PersonalData(table=change.table, column=column, is_personal=False)


# The model.


def model_changes(before: Written, after: Written) -> tuple[str, ...]:
    """Return how a model differs from the one before it, in sentences."""
    return tuple(_model_changes(before, after))


def _model_changes(before: Written, after: Written) -> Iterator[str]:
    then = {build.name: build for build in before.plan.designed}
    now = {build.name: build for build in after.plan.designed}
    for name, build in now.items():
        if name not in then:
            columns = [column.name for column in build.columns if column.source_columns]
            more = f", with {listed_up_to(_MOST_NAMED, columns)}" if columns else ""
            earlier = after.instead_of.get(name)
            goes_on = f", and goes on from {earlier}" if earlier else ""
            yield f"{name} is new{more}{goes_on}"
            continue
        if build.is_retired and not then[name].is_retired:
            yield f"{name} stays and is loaded no more"
        types = {column.name: column.type for column in then[name].columns}
        added = [column.name for column in build.columns if column.name not in types]
        if added:
            yield f"{name} gets {listed_up_to(_MOST_NAMED, added)}"
        for column in build.columns:
            was = types.get(column.name, column.type)
            if was != column.type:
                yield f"{name}.{column.name} becomes {column.type}, and was {was}"
        left = types.keys() - {column.name for column in build.columns}
        if left:
            yield f"{name} loses {listed_up_to(_MOST_NAMED, sorted(left))}"
    yield from (f"{name} is left out" for name in then if name not in now)
    known = {*before.evolution.renamed_tables, *before.evolution.renamed_columns}
    for table in after.evolution.renamed_tables:
        if table not in known:
            yield f"{table.table} is read from {table.now}"
    for each in after.evolution.renamed_columns:
        if each not in known:
            yield f"{each.table}.{each.column} is read from {each.now}"
    retired = set(after.evolution.retired_columns) - set(before.evolution.retired_columns)
    for gone in sorted(retired, key=str):
        yield f"{gone.table}.{gone.column} stays in the model and is loaded no more"


# The contract.


def planned_contract(
    version: NextVersion,
    found: Differences,
    models: tuple[LogicalModel, LogicalModel],
    decisions: Sequence[AnyDecision],
) -> PlannedContract:
    """Return the next version of a contract, why it's that, and whom a change of it breaks.

    ``models`` are the folder's and the next one.
    """
    return PlannedContract(
        version=version.version,
        next_version=version.next,
        bump=version.bump,
        reason=version.reason,
        readers=tuple(_readers(why_readers_break(found), models, decisions)),
    )


def unchanged_contract(version: str) -> PlannedContract:
    """Return that a contract stays as it is."""
    return PlannedContract(version=version, next_version=version)


def _readers(
    broken: Mapping[str, str],
    models: tuple[LogicalModel, LogicalModel],
    decisions: Sequence[AnyDecision],
) -> Iterator[str]:
    for decision in decisions:
        if isinstance(decision, Exposure):
            reads = [model for model in decision.models if model in broken]
            if reads:
                yield f"{decision.title or decision.name}, which reads {listed(reads)}"
    before, after = map(_metrics, models)
    for name, expression in before.items():
        if after.get(name) != expression:
            yield f"metric {name}, which is {'changed' if name in after else 'gone'}"
    yield from (f"readers of {name}: {why}" for name, why in broken.items())


def _metrics(model: LogicalModel) -> dict[str, object]:
    """Return the metrics of a model by name, each with what it computes."""
    documents = model.osi.semantic_model if model.osi is not None else ()
    return {
        metric.name: metric.expression
        for document in documents
        for metric in document.metrics or ()
    }
