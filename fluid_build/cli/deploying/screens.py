"""What ``fluid apply`` and ``fluid rollback`` show, and print as JSON."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from rich.table import Column

from fluid_build.cli.checking.verify_screen import dbt_lines, node_message, warehouse_screen
from fluid_build.cli.invocation import fluid
from fluid_build.decisions.commands import decide_command
from fluid_build.decisions.language import SetDelivery
from fluid_build.evolution.applying import STEPS, Applied, Step
from fluid_build.evolution.deployments import Deployment
from fluid_build.evolution.rolling_back import RelationUndo, Rollback
from fluid_build.report.terminal.proof_screen import TICK, set_apart_lines
from fluid_build.report.terminal.screen_parts import (
    Copyable,
    Part,
    first_line,
    folder_label,
    heading,
    indented,
    lines,
    more,
    text,
    unbroken,
)
from fluid_build.report.terminal.unbroken_grid import Grid
from fluid_build.text import as_sentence, counted, listed, listed_up_to
from fluid_build.transform.dbt.running import DbtNode
from fluid_build.verification.documents import warehouse_document

_WORDS: dict[Step, str] = {
    "forged": "the folder was forged again",
    "migrated": "the warehouse was migrated",
    "loaded": "dbt loaded it",
    "kept": "every earlier row is there",
    "proven": "it was compared with the source",
    "recorded": "the deployment was recorded",
}
_LEFT: dict[Step, str] = {
    "forged": "forging the folder again",
    "migrated": "migrating the warehouse",
    "loaded": "loading it with dbt",
    "kept": "looking for every earlier row",
    "proven": "comparing it with the source",
    "recorded": "recording the deployment",
}
_MOST_LISTED = 30
"""Deployments of a month of nights."""
_MOST_NAMED = 5
"""Relations in a sentence; a reader takes in no more, and the others are counted."""
_MOST_CHANGES = 8
"""What changed is no more than half of a screen; the plan has said it before."""


def stopped_lines(done: Sequence[Step]) -> Iterator[str]:
    """Yield what an apply that stopped did and didn't do, and how it goes on.

    Nothing is said of one that stopped before it did anything.
    """
    if not done:
        return
    yield f"Done: {listed([_WORDS[step] for step in done])}."
    left = [_LEFT[step] for step in STEPS if step not in done]
    if left:
        yield f"Not done: {listed(left)}."
    yield "The next `fluid apply` goes on from here."


def applied_screen(
    folder: Path, applied: Applied, done: Sequence[Step], again: Sequence[str]
) -> Iterator[Part]:
    """Yield what was applied, and each fault.

    ``again`` is the command line that also loads the tables whose deliveries were stopped.
    """
    date = f"load date {applied.load_date:%Y-%m-%d %H:%M:%S}"
    yield first_line(folder_label(folder), f"deployment {applied.number} · {date}")
    if applied.continued is not None:
        yield text(_continued(applied, applied.continued), "dim")
    changes = [*applied.source, *applied.model, *applied.warehouse, *applied.migrations]
    if changes:
        yield heading("What changed")
        yield from lines(changes[:_MOST_CHANGES])
        yield from more(len(changes) - _MOST_CHANGES, ": see --json")
    if applied.holds:
        built = counted(len(applied.dbt.built), "model")
        checks = counted(len(applied.dbt.passed), "check")
        yield indented(f"Loaded: {built} built, {checks} passed, {applied.rows:,} rows in all")
        if applied.kept_rows:
            yield indented(f"Kept: all of the {applied.kept_rows:,} rows that were there before")
        if applied.verified is not None and applied.verified.contents.proof is not None:
            yield from set_apart_lines(applied.verified.contents.proof)
        what = "The warehouse is"
        if applied.behind:
            tables = counted(len(applied.behind), "table")
            yield indented(
                f"Not loaded: {tables} with other rows by now: {listed_up_to(5, applied.behind)}"
            )
            what = "The other tables are"
        yield text(f"{TICK}Applied. {what} as the source is, and proven.", "bold green")
        return
    if applied.verified is None and applied.only_held:
        yield from _held_lines(folder, applied, again)
        return
    if applied.verified is None:
        yield from dbt_lines(applied.dbt)
        if applied.stopped:
            yield text("Check these deliveries. If the rows are gone:")
            yield Copyable(fluid(*again[1:]))
    if applied.verified is not None:
        yield from warehouse_screen(applied.verified)
    yield text("Not applied: a check failed.", "bold red")
    yield from lines(list(stopped_lines(done)))


def _continued(applied: Applied, earlier: Deployment) -> str:
    """Return what an apply goes on with: what changed is what the earlier one began."""
    how = f"of {earlier.load_date:%Y-%m-%d %H:%M:%S}"
    if earlier.outcome == "started":
        how += " was killed, and what it loaded was taken out"
    else:
        how += " failed, and what it loaded stays"
    told = f"It goes on with deployment {earlier.number}: that one {how}."
    if applied.version_before:
        told += f" The contract was {applied.version_before} before it."
    return told


def _held_lines(folder: Path, applied: Applied, again: Sequence[str]) -> Iterator[Part]:
    """Yield what was loaded and what isn't, where nothing but a delivery is the reason."""
    built = counted(len(applied.dbt.built), "model")
    checks = counted(len(applied.dbt.passed), "check")
    loaded = "all that isn't named below has today's rows"
    yield indented(f"Loaded: {built} built, {checks} passed; {loaded}")
    if applied.kept_rows:
        yield indented(f"Kept: all of the {applied.kept_rows:,} rows that were there before")
    held = listed(node.stopped_delivery for node in applied.stopped)
    star = applied.forged.model.dimensional
    unloaded = _facts_first(
        [node.name for node in applied.dbt.skipped if node.kind == "model"],
        {fact.name for fact in star.facts} if star is not None else set(),
    )
    waits = f", with {listed(unloaded)}" if unloaded else ""
    yield indented(f"Not loaded: {held}{waits}", "yellow")
    yield heading("Why")
    yield from lines([_why_held(node) for node in applied.stopped], "yellow")
    yield text("Correct the delivery and apply again. If its rows are gone for good:")
    yield Copyable(fluid(*again[1:]))
    in_parts = {each.table for each in applied.forged.model.deliveries or ()}
    stopped = [node.stopped_delivery for node in applied.stopped]
    if first := [table for table in stopped if table in in_parts]:
        yield text(
            f"To deliver {listed(first)} in parts from now on, deliver the whole table once."
        )
    if whole := [table for table in stopped if table not in in_parts]:
        yield text("If the source has only what changed:")
        for table in whole:
            delivery = SetDelivery(table=table, delivers="delta")
            yield Copyable(decide_command(delivery, str(folder)))
    yield text(
        f"Applied but for {held}: not compared with the source, and not recorded as done.",
        "bold red",
    )


def _facts_first(relations: Sequence[str], facts: Collection[str]) -> list[str]:
    """Return relations in the order in which people miss them: they read facts."""
    return sorted(relations, key=lambda name: name not in facts)


def why_not_applied(applied: Applied) -> tuple[str, ...]:
    """Return why an apply didn't end well, a sentence for each reason."""
    held = [_why_held(node) for node in applied.stopped]
    failed = [
        as_sentence(f"{node.name}: {node_message(node)}")
        for node in applied.dbt.failed
        if not node.stopped_delivery
    ]
    if applied.verified is not None and not applied.holds:
        failed.append("The warehouse isn't as the source.")
    return (*held, *failed)


def _why_held(node: DbtNode) -> str:
    """Return why a delivery is held, without dbt's own advice, which follows in our commands."""
    return as_sentence(node_message(node).partition(", so it is not")[0])


def applied_document(applied: Applied, done: Sequence[Step]) -> dict[str, object]:
    """Return what was applied as one JSON document."""
    return {
        "holds": applied.holds,
        "deployment": applied.number,
        "load_date": _moment(applied.load_date),
        "continued": None if applied.continued is None else applied.continued.number,
        "done": list(done),
        "source": list(applied.source),
        "model": list(applied.model),
        "warehouse": list(applied.warehouse),
        "migrations": list(applied.migrations),
        "rows": applied.rows,
        "rows_kept": applied.kept_rows,
        "behind": list(applied.behind),
        "dbt": {
            "built": len(applied.dbt.built),
            "passed": len(applied.dbt.passed),
            "warned": [_node(node) for node in applied.dbt.warned],
            "failed": [_node(node) for node in applied.dbt.failed],
            "skipped": [node.name for node in applied.dbt.skipped],
            "stopped_deliveries": [node.stopped_delivery for node in applied.stopped],
        },
        "verified": None if applied.verified is None else warehouse_document(applied.verified),
    }


def deployments_screen(folder: Path, deployments: Sequence[Deployment]) -> Iterator[Part]:
    """Yield the deployments, newest first."""
    if not deployments:
        yield text("Nothing was applied to this warehouse yet.")
        yield Copyable(fluid("apply", str(folder)))
        return
    yield first_line(folder_label(folder), counted(len(deployments), "deployment"))
    grid = Grid(
        Column("number", justify="right"),
        Column("load date"),
        Column("outcome"),
        Column("contract"),
        Column("rows", justify="right"),
    )
    for each in list(reversed(deployments))[:_MOST_LISTED]:
        grid.add_row(
            text(str(each.number)),
            unbroken(f"{each.load_date:%Y-%m-%d %H:%M:%S}"),
            text(each.outcome),
            unbroken(each.contract_version),
            text(f"{each.rows:,}" if each.relations is not None else ""),
        )
    yield indented(grid)
    yield from more(len(deployments) - _MOST_LISTED, ": see --json")


def deployments_document(deployments: Sequence[Deployment]) -> dict[str, object]:
    """Return the deployments as one JSON document."""
    return {
        "deployments": [
            {
                "deployment": each.number,
                "outcome": each.outcome,
                "reason": each.reason,
                "load_date": _moment(each.load_date),
                "started_at": _moment(each.started_at),
                "finished_at": None if each.finished_at is None else _moment(each.finished_at),
                "contract_version": each.contract_version,
                "model_digest": each.model_digest,
                "source_digest": each.source_digest,
                "rows": None
                if each.relations is None
                else {name: state.rows for name, state in each.relations.items()},
            }
            for each in deployments
        ]
    }


def rollback_screen(folder: Path, rollback: Rollback) -> Iterator[Part]:
    """Yield what goes, before it does."""
    target = rollback.target
    yield first_line(
        folder_label(folder),
        f"back to deployment {target.number} of {target.load_date:%Y-%m-%d %H:%M:%S}",
    )
    undone = [str(each.number) for each in rollback.undone]
    if rollback.other_loads:
        days = [f"{day:%Y-%m-%d}" for day in rollback.other_loads]
        undone.append(f"what dbt alone loaded on {listed_up_to(_MOST_NAMED, days)}")
    if undone:
        yield indented(f"Undone: {listed(undone)}")
    yield heading("What goes", counted(rollback.rows, "row"))
    dropped_first = sorted(rollback.relations, key=lambda each: not each.is_dropped)
    gone = [_undo_line(each) for each in dropped_first]
    yield from lines(gone or ["Nothing: the warehouse is as that deployment left it."])
    if rollback.rebuilt:
        yield heading("What stays", "until the next `fluid apply` makes it anew from the source")
        yield from lines(rollback.rebuilt)
    if rollback.lasting:
        yield heading("What can't be taken back")
        yield from lines([f"{each}." for each in rollback.lasting], "yellow")
    if rollback.edited:
        yield heading("Edited since the last deployment", "replaced with --force")
        yield from lines(rollback.edited, "yellow")


def rolled_back(folder: Path, rollback: Rollback) -> str:
    """Return what a rollback did, in a sentence or two."""
    number = rollback.target.number
    if not rollback.rebuilt:
        return f"Done: {folder} and its warehouse are as deployment {number} left them."
    return (
        f"Done: {folder} is as deployment {number} left it, and so is what the warehouse remembers."
        f" The next `fluid apply` makes {listed_up_to(_MOST_NAMED, rollback.rebuilt)} anew."
    )


def rollback_document(rollback: Rollback) -> dict[str, object]:
    """Return what went as one JSON document."""
    return {
        "deployment": rollback.target.number,
        "undone": [each.number for each in rollback.undone],
        "other_loads": [day.isoformat() for day in rollback.other_loads],
        "rows": rollback.rows,
        "relations": [
            {
                "relation": each.relation,
                "rows": each.rows,
                "dropped": each.is_dropped,
                "columns_dropped": list(each.columns),
                "columns_retyped": dict(each.retyped or {}),
            }
            for each in rollback.relations
        ],
        "rebuilt": list(rollback.rebuilt),
        "lasting": list(rollback.lasting),
        "edited": list(rollback.edited),
    }


def _undo_line(undo: RelationUndo) -> str:
    if undo.is_dropped:
        return f"{undo.relation}: dropped, with {counted(undo.rows, 'row')}"
    parts = [counted(undo.rows, "row")] if undo.rows else []
    parts += [f"column {column}" for column in undo.columns]
    parts += [f"{column} is {type_} again" for column, type_ in (undo.retyped or {}).items()]
    return f"{undo.relation}: {', '.join(parts)}"


def _node(node: DbtNode) -> dict[str, str]:
    return {"name": node.name, "message": node.message}


def _moment(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
