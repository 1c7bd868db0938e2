"""What ``fluid verify`` found, on a screen."""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import get_args

from rich.text import Text

from fluid_build.changes import Effect, SourceChange
from fluid_build.contract.model_agreement import Disagreement
from fluid_build.forging import MODEL_FILE
from fluid_build.report.terminal.proof_screen import TICK, after_a_loss, proof_section
from fluid_build.report.terminal.screen_parts import (
    Part,
    first_line,
    folder_label,
    heading,
    lines,
    text,
    whole,
)
from fluid_build.text import counted
from fluid_build.transform.dbt.promise_macros import BrokenPromise
from fluid_build.transform.dbt.running import DbtNode, DbtResult, DbtStatus
from fluid_build.verification import (
    ChangesSince,
    DbtVerified,
    ForgedFolder,
    Verified,
    WarehouseVerified,
)

_STALE_COPIES = (
    "dbt reads some tables from the copies in dbt/land. If the source has changed since they were"
    " made, run `fluid forge` again."
)
_NOT_AS_LOADED = (
    "Not as it was loaded. What the source has can be rebuilt, but the rows named below aren't as"
    " loads leave them."
)
_FAULTS = "Not proven. What was compared can be rebuilt, but the faults named below remain."
_NOT_ALL_BUILT = "dbt didn't build everything, so nothing was compared."
_NOTHING_COMPARED = (
    "Nothing was compared. Run `dbt build`, or pass the schema with --warehouse-schema."
)
_OUT_OF_DATE = "If the source has changed since the last load, run `dbt build` and verify again."

_EFFECTS = {
    Effect.BREAKS: ("breaks", "red"),
    Effect.NEEDS_DECISION: ("needs a decision", "yellow"),
    Effect.SAFE: ("safe", ""),
}
"""How a change is marked, the gravest first."""


def verified_screen(verified: Verified) -> Iterator[Part]:
    """Yield the result for people: the proof, what dbt built, and each fault."""
    forged, dbt = verified.forged, verified.dbt
    tables = counted(len(forged.plan.sources), "table")
    relations = counted(len(forged.plan.published), "relation")
    yield _title(forged, f"{tables} · {relations} built")
    tick = TICK if _is_lossless(verified) else ""
    worse = bool(verified.unread or verified.since.broken_keys)
    yield from proof_section(
        verified.proof, tick=tick, verdict=text(_FAULTS, "bold red") if worse else None
    )
    yield from after_a_loss(verified.proof)
    if dbt is not None:
        yield from _dbt_section(dbt, tick)
    yield from _source_faults(verified.unread, verified.since)
    yield from _contract_faults(forged.disagreements)
    if forged.outdated:
        yield heading(
            f"The dbt project doesn't match {MODEL_FILE}", "one of them was edited or kept"
        )
        yield from lines(forged.outdated, "red")
    if verified.row_changes:
        yield heading("Row counts changed since the folder was generated", "not an error")
        yield from lines(verified.row_changes)
    if forged.edited:
        remark = "the proof covers the model, not these files" if dbt is None else ""
        yield heading("Changed since the folder was generated", remark)
        yield from lines(forged.edited, "yellow")


def warehouse_screen(verified: WarehouseVerified) -> Iterator[Part]:
    """Yield the result for a warehouse, for people."""
    warehouse = verified.contents
    yield _title(verified.forged, "the warehouse as it is")
    if warehouse.faults:
        remark = f"compared with the schema {warehouse.schema}"
        yield heading("The warehouse doesn't match the model", remark)
        yield from lines(warehouse.faults, "red")
        yield _not_proven(_NOTHING_COMPARED)
    if warehouse.proof is not None:
        tick = TICK if verified.holds else ""
        yield from proof_section(
            warehouse.proof,
            "The warehouse",
            tick=tick,
            complete="--json",
            verdict=_worse_verdict(verified),
        )
        if warehouse.unchecked:
            yield text(f"Not checked. {' '.join(warehouse.unchecked)}", "dim")
    if warehouse.contradictions:
        yield heading("What no load leaves so", "rows were changed, or a load didn't finish")
        contradicted = [
            f"{each.relation}: {counted(each.rows, 'row')} {each.what}"
            for each in warehouse.contradictions
        ]
        yield from lines(contradicted, "red")
    if warehouse.lacking:
        yield heading("Missing rows", "compared with a load made now")
        missing = [
            f"{each.relation}: {counted(each.rows, 'row')} missing" for each in warehouse.lacking
        ]
        yield from lines(missing, "red")
        yield Text()
        yield text(_OUT_OF_DATE)
    yield from _source_faults(verified.unread, verified.since)
    yield from _contract_faults(verified.forged.disagreements)


def _worse_verdict(verified: WarehouseVerified) -> Text | None:
    """Return what takes the place of a proof that holds, where something else doesn't."""
    if verified.holds:
        return None
    is_other = bool(verified.contents.contradictions)
    return text(_NOT_AS_LOADED if is_other else _FAULTS, "bold red")


def _title(forged: ForgedFolder, remark: str) -> Text:
    return first_line(folder_label(forged.folder), f"{forged.model.technique} · {remark}")


def _is_lossless(verified: Verified) -> bool:
    sound = verified.proof.holds and not verified.unread and not verified.since.broken_keys
    return sound and (verified.dbt is None or verified.dbt.holds)


def _not_proven(reason: str) -> Text:
    return Text.assemble("\n", text("Not proven. ", "bold red"), reason)


def outdated_screen(forged: ForgedFolder, changes: Sequence[SourceChange]) -> Iterator[Part]:
    """Yield the changes of a source that its model no longer fits, so that nothing was built."""
    yield _title(forged, "nothing was built")
    yield from _changes_section(changes)


def _changes_section(changes: Sequence[SourceChange]) -> Iterator[Part]:
    """Yield the changes of a source, each with what it means for the next load."""
    if changes:
        yield heading("Changes of the source", "since the folder was generated")
        for effect, (label, style) in _EFFECTS.items():
            told = [f"{change} · {label}" for change in changes if change.effect is effect]
            yield from lines(told, style)


def _source_faults(unread: Sequence[str], since: ChangesSince) -> Iterator[Part]:
    if unread:
        yield heading("Not read, so not compared", counted(len(unread), "table"))
        yield from lines(unread, "red")
    if since.broken_keys:
        yield heading("Keys that no longer hold", "fix the rows, or run `fluid forge` again")
        yield from lines(list(map(str, since.broken_keys)), "red")
    yield from _changes_section(
        [change for change in since.changes if change not in since.broken_keys]
    )


def _contract_faults(disagreements: Sequence[Disagreement]) -> Iterator[Part]:
    if disagreements:
        count = counted(len(disagreements), "difference")
        yield heading("The contract doesn't match its model", count)
        yield from lines([str(disagreement) for disagreement in disagreements], "red")


def _dbt_section(verified: DbtVerified, tick: str) -> Iterator[Part]:
    yield from dbt_lines(verified.result)
    if verified.proof is None:
        yield _not_proven(_NOT_ALL_BUILT)
    else:
        yield from proof_section(verified.proof, "What dbt built", tick=tick, complete="--json")
    if verified.uses_copies and not verified.holds:
        yield text(_STALE_COPIES, "yellow")
    if verified.own_database is not None:
        yield Text()
        database = verified.own_database
        yield text(f"dbt built in a new database; {whole(database)} wasn't checked.")
        yield text(
            f"To check it as it is, add --warehouse {whole(shlex.quote(str(database)))}", "dim"
        )


_MACROS_CALLED = "\n  > in macro "
_OF_NODE = re.compile(r"(?:\w+ Error|Failure) in \w+ (\S+) \([^)]*\)\s*")
"""How dbt begins what it says of a node."""


def dbt_lines(result: DbtResult) -> Iterator[Part]:
    """Yield what dbt built, and each failure and warning."""
    yield heading("dbt", ", ".join(_dbt_figures(result)))
    yield from lines([_node_line(node) for node in result.failed], "red")
    yield from lines([_node_line(node) for node in result.warned], "yellow")
    failed = {node.name for node in result.failed}
    others = [_one_line(warning) for warning in result.warnings]
    yield from lines(
        [warning for warning in others if _failure_of(warning) not in failed], "yellow"
    )


def _dbt_figures(result: DbtResult) -> Iterator[str]:
    yield f"{counted(len(result.built), 'model')} built"
    for status in get_args(DbtStatus):
        nodes = result.of(status)
        if nodes and status != "built":
            yield f"{len(nodes):,} {status}"


def _node_line(node: DbtNode) -> str:
    if not node.broken:
        return f"{node.name}: {node_message(node)}"
    more = f"{node.name}: more rows violate it than when the folder was generated"
    if [promise.promise for promise in node.broken] == [node.name]:
        return f"{more} ({_then(node.broken[0])})"
    promises = ", ".join(f"{promise.promise} ({_then(promise)})" for promise in node.broken)
    return f"{more}: {promises}"


def node_message(node: DbtNode) -> str:
    """Return what dbt says of a node, in one line."""
    return _OF_NODE.sub("", _one_line(node.message))


def _then(promise: BrokenPromise) -> str:
    return f"{counted(promise.rows, 'row')}, {promise.known:,} then"


def _failure_of(warning: str) -> str:
    """Return the node whose failure dbt says again among its warnings; "" for anything else."""
    found = _OF_NODE.match(warning)
    return found[1] if found else ""


def _one_line(message: str) -> str:
    """Return a message of dbt without the macros that it came from."""
    return " ".join(message.partition(_MACROS_CALLED)[0].split())
