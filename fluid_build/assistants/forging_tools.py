"""The tools that lead to a folder: a decision, a forge, and the proof of what was forged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from fluid_build.artifacts import write_artifacts
from fluid_build.assistants.arguments import (
    OWN_FIELDS,
    ForgeArguments,
    ProposeDecisionArguments,
    VerifyArguments,
)
from fluid_build.assistants.desk import Desk
from fluid_build.assistants.jobs import Job
from fluid_build.assistants.resources import resource_uri
from fluid_build.assistants.results import (
    DecisionOutcome,
    FolderChanges,
    ForgedModel,
    ForgedRelation,
    ProposedDecision,
    Verification,
    VerifiedTable,
)
from fluid_build.assistants.workspace import Place
from fluid_build.copilot.errors import StoreError
from fluid_build.copilot.retrieval import write_semantic_record
from fluid_build.copilot.store.configured import open_store
from fluid_build.decisions.commands import decide_command
from fluid_build.decisions.editing import entry_text, with_decision, without_evidence
from fluid_build.decisions.files import (
    DECISIONS_FILE,
    SCHEMA_FILE,
    RecordedDecisions,
    parse_decisions,
    recorded_decisions,
)
from fluid_build.decisions.language import (
    AnyDecision,
)
from fluid_build.decisions.subjects import decision_line, subject
from fluid_build.decisions.weighing import weigh
from fluid_build.errors import UsageError
from fluid_build.forging import CONTRACT_FILE, DOCUMENT_FILE, Forged, ForgeOptions, forge, preview
from fluid_build.forging.decision_files import folder_decisions, schema_text
from fluid_build.forging.options import file_name
from fluid_build.forging.table_choice import as_decided, as_in_folder
from fluid_build.pipeline.memory import model_memory
from fluid_build.sources.outside import check_outside
from fluid_build.text import clip
from fluid_build.transform.proof.folder_changes import FileChange
from fluid_build.transform.proof.manifest import MANIFEST_FILE, read_manifest
from fluid_build.verification import Verified, read_folder, refresh_proof
from fluid_build.verification import verify as verify_folder

READ_ONLY = "The server is read-only: its user can start it with --allow-write."
_MOST_RELATIONS = 150
_MOST_FAULTS = 50
_MOST_FILES = 50
_LONGEST_ENTRY = 6_000


def propose_decision(desk: Desk, arguments: ProposeDecisionArguments, job: Job) -> ProposedDecision:
    """Measure a decision with those of its folder, and write it where that's allowed."""
    folder = desk.workspace.forged_folder(arguments.folder)
    decision = _read_decision(arguments.decision)
    place = _source(desk, folder, arguments.source)
    place = _as_decided(place, folder)
    with desk.sources.measured(place, job) as measured:
        # Inside, so that two decisions about a folder are written one after the other.
        recorded = recorded_decisions(folder)
        _check_nobody_decided(recorded, decision)
        text = with_decision(recorded.text, decision)
        verdict = weigh(measured.source, measured.profile, parse_decisions(text))[-1]
        job.raise_if_stopped()
        is_written = desk.settings.allow_write and verdict.applies
        if is_written:
            write_artifacts(folder, {DECISIONS_FILE: text, SCHEMA_FILE: schema_text()})
    # Only a person insists, and only a person overrules what the rules concluded.
    assert verdict.status != "insisted"
    reason = "" if is_written else READ_ONLY
    if not verdict.applies:
        reason = "It wasn't accepted."
    return ProposedDecision(
        outcome="refused" if verdict.status == "asked" else verdict.status,
        finding=clip(verdict.message, _LONGEST_ENTRY),
        is_written=is_written,
        file=f"{folder.as_posix()}/{DECISIONS_FILE}" if is_written else None,
        why_not_written=reason,
        entry=clip(entry_text(without_evidence(decision)), _LONGEST_ENTRY),
        command=clip(decide_command(decision, folder.as_posix()), _LONGEST_ENTRY)
        if verdict.applies and not is_written
        else "",
    )


def forge_model(desk: Desk, arguments: ForgeArguments, job: Job) -> ForgedModel:
    """Model a source, build and prove the model, and write its folder where that's allowed."""
    place = desk.workspace.source(arguments.source)
    if arguments.folder is not None:
        folder = desk.workspace.forged_folder(arguments.folder)
        place = replace(place, requests=as_in_folder(folder, place.requests))
        place = _as_decided(place, folder)
    writes = desk.settings.allow_write and not arguments.preview
    with desk.sources.opened(place, job) as source:
        out = _out_folder(desk, arguments, place, source.name)
        recorded = folder_decisions(out)
        if arguments.folder is None and _as_decided(place, out) != place:
            return forge_model(desk, arguments.model_copy(update={"folder": out.as_posix()}), job)
        options = ForgeOptions(
            arguments.technique,
            business_vault=arguments.business_vault,
            target=arguments.target,
            decisions=recorded.decisions,
            decisions_text=recorded.text,
        )
        if writes:
            forged = forge(source, out=out, on_progress=job.report, **options.as_settings())
            changes = FolderChanges(files=len(forged.files), kept=_kept_files(forged.kept))
            forged = _remember(forged)
        else:
            planned = preview(source, options, out=out, on_progress=job.report)
            forged, changes = planned.forged, _planned_changes(planned.changes)
    why_not = "Only a preview was asked for." if arguments.preview else READ_ONLY
    return _forged_model(desk, place, out, forged, changes, "" if writes else why_not)


def verify_model(desk: Desk, arguments: VerifyArguments, job: Job) -> Verification:
    """Rebuild the model of a folder, and compare it with its source."""
    folder = desk.workspace.forged_folder(arguments.folder)
    place = _source(desk, folder, arguments.source)
    forged = read_folder(folder)
    with desk.sources.opened(place, job) as source:
        verified = verify_folder(forged, source, on_progress=job.report)
    is_recorded = desk.settings.allow_write and refresh_proof(folder, verified.proof) != "refused"
    tables = verified.proof.tables
    return Verification(
        folder=folder.as_posix(),
        holds=verified.holds,
        proof=verified.proof.verdict,
        proof_reason=desk.prose(verified.proof.reason),
        tables=[
            VerifiedTable(
                table=desk.name(table.table),
                verdict=table.verdict,
                rows=table.rows,
                missing=table.missing,
                unexpected=table.unexpected,
            )
            for table in tables[:_MOST_RELATIONS]
        ],
        more_tables=max(0, len(tables) - _MOST_RELATIONS),
        faults=[desk.prose(fault) for fault in [*_faults(verified)][:_MOST_FAULTS]],
        changes=[desk.prose(str(change)) for change in verified.since.changes[:_MOST_FAULTS]],
        row_changes=[desk.prose(change) for change in verified.row_changes[:_MOST_FAULTS]],
        is_recorded=is_recorded,
    )


def _source(desk: Desk, folder: Path, requested: str | None) -> Place:
    is_forged = (folder / MANIFEST_FILE).exists()
    if requested is not None:
        read = read_manifest(folder).source.read if is_forged else None
        return desk.workspace.source(requested, read)
    if not is_forged:
        raise UsageError(
            f"Nothing was forged in {folder.as_posix()} yet, so its source isn't known.",
            hint="Pass source.",
        )
    return desk.workspace.folder_source(folder)


def _as_decided(place: Place, folder: Path) -> Place:
    """Return a place whose tables are one, and aren't, as the decisions of a folder have it."""
    decisions = recorded_decisions(folder).decisions
    return replace(place, requests=as_decided(place.requests, decisions))


def _read_decision(fields: dict[str, Any]) -> AnyDecision:
    """Return an assistant's decision; DecisionError says everything that is wrong with it."""
    forbidden = [name for name in OWN_FIELDS if name in fields]
    if forbidden:
        raise UsageError(
            f"An assistant can't set {forbidden[0]!r} of a decision.",
            hint="Leave it out. Only a person can insist on what the data contradicts.",
        )
    document = {"version": 1, "decisions": [{**fields, "by": "model"}]}
    (decision,) = parse_decisions(to_json(document).decode(), "The decision")
    return decision


def _check_nobody_decided(recorded: RecordedDecisions, decision: AnyDecision) -> None:
    """Raise UsageError where a person has decided about the same."""
    for earlier in recorded.decisions:
        if earlier.by == "person" and subject(earlier) == subject(decision):
            raise UsageError(
                f"A person has decided about this: {clip(decision_line(earlier), 200)}.",
                hint="Ask them to change it in decisions.yaml, or leave it as it is.",
            )


def _out_folder(desk: Desk, arguments: ForgeArguments, place: Place, source_name: str) -> Path:
    out = desk.workspace.forged_folder(arguments.folder or f"{file_name(source_name)}-model")
    for request in place.requests:
        check_outside(out, request.address)
    return out


def _forged_model(
    desk: Desk,
    place: Place,
    out: Path,
    forged: Forged,
    changes: FolderChanges,
    why_not_written: str,
) -> ForgedModel:
    relations = forged.plan.published
    folder = out.as_posix()
    is_written = not why_not_written
    return ForgedModel(
        source=place.shown,
        folder=folder,
        technique=forged.model.technique,
        proof=forged.proof.verdict,
        proof_reason=desk.prose(forged.proof.reason),
        relations=[
            ForgedRelation(name=desk.name(build.name), columns=len(build.columns))
            for build in relations[:_MOST_RELATIONS]
        ],
        more_relations=max(0, len(relations) - _MOST_RELATIONS),
        relationships=len(forged.model.conceptual.relationships),
        decisions=[
            DecisionOutcome(
                decision=desk.prose(decision_line(verdict.decision)),
                outcome=verdict.status,
                finding=desk.prose(verdict.message),
            )
            for verdict in forged.verdicts[:_MOST_FAULTS]
        ],
        is_written=is_written,
        why_not_written=why_not_written,
        changes=changes,
        resources=[resource_uri(folder, file) for file in (DOCUMENT_FILE, CONTRACT_FILE)]
        if is_written
        else [],
        notes=desk.notes(forged.notes),
    )


def _remember(forged: Forged) -> Forged:
    """Let later forges find the model; the folder is written, whatever becomes of that."""
    memory = model_memory(forged.profile, forged.model)
    try:
        with closing(open_store()) as store:
            write_semantic_record(store, memory.key, memory.value, text=memory.text)
    except StoreError as error:
        note = f"The model couldn't be put into memory: {error}"
        return replace(forged, notes=(*forged.notes, note))
    return forged


def _planned_changes(changes: Sequence[FileChange]) -> FolderChanges:
    actions = Counter(change.action for change in changes)
    return FolderChanges(
        files=actions["create"] + actions["replace"] + actions["merge"] + actions["nothing"],
        added=actions["create"],
        replaced=actions["replace"] + actions["merge"],
        removed=actions["remove"],
        kept=_kept_files(change for change in changes if change.action == "keep"),
    )


def _kept_files(changes: Iterable[FileChange]) -> list[str]:
    return [clip(change.name, 200) for change in changes][:_MOST_FILES]


def _faults(verified: Verified) -> Iterator[str]:
    """Yield what keeps a verification from holding, besides rows that were lost."""
    for each in verified.forged.disagreements:
        place = f"{each.expose}.{each.column}" if each.column else each.expose
        yield f"The contract and the model disagree on {place}: {each.what}"
    yield from verified.forged.outdated
    yield from verified.forged.edited
    yield from verified.unread
    yield from map(str, verified.since.broken_keys)
