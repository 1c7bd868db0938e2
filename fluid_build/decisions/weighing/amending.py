"""The profile with the decisions that apply."""

from collections.abc import Callable, Sequence, Set

from fluid_build.decisions.language import (
    AddRelationship,
    AnyDecision,
    BaseDecision,
    BusinessKey,
    DecisionEvidence,
    Describe,
    DropRelationship,
    Grain,
    Ignore,
    PersonalData,
    SetKey,
    TextType,
)
from fluid_build.decisions.reasons import decided_reason
from fluid_build.decisions.verdicts import Verdict
from fluid_build.decisions.weighing.references import find_reference, is_about
from fluid_build.profiling.measure.figures import kind_of
from fluid_build.profiling.profile import (
    NO_STATISTICS,
    Candidate,
    ColumnProfile,
    Evidence,
    ForeignKey,
    ForeignKeyEvidence,
    KeyClaim,
    Origin,
    Profile,
    TableProfile,
)
from fluid_build.sources.text_values.conventions import DATE_QUESTION, NUMBER_QUESTION
from fluid_build.text import counted, noun


def amended(profile: Profile, verdicts: Sequence[Verdict]) -> Profile:
    """Return the profile with the decisions that apply; with none of them, the same profile."""
    for verdict in verdicts:
        if verdict.applies:
            profile = _with_decision(profile, verdict)
    return profile


def _with_decision(profile: Profile, verdict: Verdict) -> Profile:
    decision = verdict.decision
    evidence = verdict.evidence or DecisionEvidence(rows=0)
    match decision:
        case SetKey() | BusinessKey() | Grain():
            change = _key_change(decision, evidence, is_true=verdict.status == "accepted")
            return _with_table(profile, decision.table, change)
        case AddRelationship():
            return _with_reference(profile, decision, evidence)
        case DropRelationship():
            return _without_reference(profile, decision)
        case Ignore():
            return _without_table(profile, decision)
        case Describe(table=str() as table):
            return _with_comment(profile, table, decision)
        case PersonalData():
            column = _personal(decision) if decision.is_personal else _not_personal
            return _with_column(profile, decision.table, decision.column, column)
        case TextType():
            reading = _reading(decision, evidence)
            return _with_column(profile, decision.table, decision.column, reading)
        case _:
            return profile


TableChange = Callable[[TableProfile], TableProfile]
ColumnChange = Callable[[ColumnProfile], ColumnProfile]


def _with_comment(profile: Profile, table: str, decision: Describe) -> Profile:
    comment = {"comment": decision.text}
    if decision.column is None:
        return _with_table(profile, table, lambda each: each.model_copy(update=comment))
    return _with_column(
        profile, table, decision.column, lambda column: column.model_copy(update=comment)
    )


def _with_column(profile: Profile, table: str, name: str, change: ColumnChange) -> Profile:
    def change_table(each: TableProfile) -> TableProfile:
        columns = tuple(change(c) if c.name == name else c for c in each.columns)
        return each.model_copy(update={"columns": columns})

    return _with_table(profile, table, change_table)


def _personal(decision: PersonalData) -> ColumnChange:
    """Return what makes a column personal: its values aren't kept any more."""
    return lambda column: column.model_copy(
        update={
            "pii": True,
            "min": None,
            "max": None,
            "top_values": (),
            **NO_STATISTICS,
            "semantic_reason": column.semantic_reason or decided_reason(decision),
        }
    )


def _not_personal(column: ColumnProfile) -> ColumnProfile:
    return column.model_copy(update={"pii": False})


def _reading(decision: TextType, evidence: DecisionEvidence) -> ColumnChange:
    """Return what a decision on reading text changes."""

    def change(column: ColumnProfile) -> ColumnProfile:
        questions = {DATE_QUESTION, NUMBER_QUESTION}
        notes = tuple(note for note in column.notes if note not in questions)
        if decision.read_as != "text" and not evidence.rows:
            return column
        measured = _measured_type(column, evidence)
        # Statistics are of values as they were read: read differently, they are others.
        outdated = {} if measured == column.measured_type else NO_STATISTICS
        return column.model_copy(
            update={
                "measured_type": measured,
                "reversible": bool(evidence.reversible),
                "reading_decided": decision.by == "person" and measured is not None,
                "notes": notes,
                **outdated,
            }
        )

    return change


def _measured_type(column: ColumnProfile, evidence: DecisionEvidence) -> str | None:
    """Return the type that a column's values are read as, None where that is the stored one."""
    measured = evidence.measured_type
    is_stored = kind_of(column.type) == "integer" and measured == "BIGINT"
    return None if is_stored else measured


def _without_table(profile: Profile, decision: Ignore) -> Profile:
    name = decision.table
    if name in profile.ignored:
        return profile
    lost = [key for key in profile.foreign_keys if name in (key.from_table, key.to_table)]
    keys = [key for key in profile.foreign_keys if name not in (key.from_table, key.to_table)]
    children = {key.from_table for key in lost}
    note = f"{name} is ignored. {decided_reason(decision)}"
    return profile.model_copy(
        update={
            "tables": tuple(table for table in profile.tables if table.name != name),
            "foreign_keys": tuple(map(_as_not_implied(children), keys)),
            "candidates": tuple(
                candidate
                for candidate in profile.candidates
                if name not in (candidate.from_table, candidate.to_table)
            ),
            "ignored": (*profile.ignored, name),
            "notes": (*profile.notes, note),
        }
    )


def _with_table(profile: Profile, name: str, change: TableChange) -> Profile:
    tables = tuple(change(table) if table.name == name else table for table in profile.tables)
    return profile.model_copy(update={"tables": tables})


def _key_change(
    decision: SetKey | BusinessKey | Grain, evidence: DecisionEvidence, *, is_true: bool
) -> TableChange:
    """Return what a claim about a key changes in its table.

    A claim that rows contradict is kept as a declared key that is violated. It doesn't replace the
    primary key, by which rows are loaded.
    """

    def change(table: TableProfile) -> TableProfile:
        if not is_true:
            return _with_violated_key(table, decision, evidence)
        if isinstance(decision, SetKey):
            return _with_primary_key(table, decision, evidence)
        if isinstance(decision, BusinessKey) and evidence.rows:
            return _with_candidate_key(table, decision.columns)
        return table

    return change


def _with_primary_key(
    table: TableProfile, decision: SetKey, evidence: DecisionEvidence
) -> TableProfile:
    previous, known = table.primary_key, table.primary_key_evidence
    is_same = previous is not None and set(previous) == set(decision.columns)
    # What is declared or measured already doesn't become a model's suggestion.
    if is_same and (decision.by == "model" or previous in _declared_columns(table)):
        return table
    if previous and previous != decision.columns and known and not (known.violations + known.nulls):
        table = _with_candidate_key(table, previous)
    return table.model_copy(
        update={
            "primary_key": decision.columns,
            "primary_key_origin": _origin(decision),
            "primary_key_reason": _reason(decision, evidence),
            "primary_key_evidence": _key_evidence(decision, evidence),
        }
    )


def _declared_columns(table: TableProfile) -> set[tuple[str, ...]]:
    return {claim.columns for claim in table.declared_keys}


def _with_candidate_key(table: TableProfile, columns: tuple[str, ...]) -> TableProfile:
    if any(set(key) == set(columns) for key in table.candidate_keys):
        return table
    return table.model_copy(update={"candidate_keys": (*table.candidate_keys, columns)})


def _with_violated_key(
    table: TableProfile, decision: SetKey | BusinessKey | Grain, evidence: DecisionEvidence
) -> TableProfile:
    if any(claim.columns == decision.columns for claim in table.declared_keys):
        return table
    claim = KeyClaim(columns=decision.columns, evidence=_key_evidence(decision, evidence))
    return table.model_copy(update={"declared_keys": (*table.declared_keys, claim)})


def _key_evidence(decision: BaseDecision, evidence: DecisionEvidence) -> Evidence:
    return Evidence(
        origin=_origin(decision),
        rows=evidence.rows,
        nulls=evidence.nulls,
        distinct=evidence.distinct,
        violations=evidence.violations,
        sql=evidence.sql,
    )


def _with_reference(
    profile: Profile, decision: AddRelationship, evidence: DecisionEvidence
) -> Profile:
    known = find_reference(profile, decision)
    # What the source declares or the data showed before doesn't become a model's suggestion.
    if known is not None and (known.origin == "declared" or decision.by == "model"):
        return profile
    # Who confirms a measured reference doesn't promise that its orphans are gone.
    if known is not None and evidence.violations and not decision.despite_violations:
        return profile
    reference = ForeignKey(
        from_table=decision.from_table,
        from_columns=decision.from_columns,
        to_table=decision.to_table,
        to_columns=decision.to_columns,
        origin=_origin(decision),
        confidence=1.0,
        cardinality="one-to-one" if _repeats_nothing(evidence) else "many-to-one",
        role=known.role if known else "",
        evidence=_reference_evidence(decision, evidence),
    )
    order = {table.name: place for place, table in enumerate(profile.tables)}
    references = (key for key in profile.foreign_keys if not is_about(decision, key))
    return profile.model_copy(
        update={
            "foreign_keys": tuple(
                sorted(
                    (*references, reference),
                    key=lambda key: (order[key.from_table], key.from_columns, key.to_table),
                )
            ),
            "candidates": tuple(
                candidate
                for candidate in profile.candidates
                if not _is_candidate(decision, candidate)
            ),
        }
    )


def _repeats_nothing(evidence: DecisionEvidence) -> bool:
    return evidence.rows > 0 and evidence.distinct == evidence.rows


def _is_candidate(decision: AddRelationship, candidate: Candidate) -> bool:
    tables = (candidate.from_table, candidate.to_table)
    return tables == (decision.from_table, decision.to_table) and set(
        zip(candidate.from_columns, candidate.to_columns, strict=True)
    ) == set(zip(decision.from_columns, decision.to_columns, strict=True))


def _reference_evidence(
    decision: AddRelationship, evidence: DecisionEvidence
) -> ForeignKeyEvidence:
    return ForeignKeyEvidence(
        origin=_origin(decision),
        rows=evidence.rows,
        nulls=evidence.nulls,
        distinct=evidence.distinct,
        violations=evidence.violations,
        matched=evidence.rows - evidence.violations,
        orphans=evidence.violations,
        coverage=evidence.coverage,
        reason=_reason(decision, evidence),
        sql=evidence.sql,
    )


def _without_reference(profile: Profile, decision: DropRelationship) -> Profile:
    dropped = find_reference(profile, decision)
    if dropped is None:
        return profile
    candidate = Candidate(
        from_table=dropped.from_table,
        from_columns=dropped.from_columns,
        to_table=dropped.to_table,
        to_columns=dropped.to_columns,
        confidence=0.0,
        ruled_out=True,
        reason=decided_reason(decision),
        evidence=dropped.evidence,
    )
    left = (key for key in profile.foreign_keys if key is not dropped)
    return profile.model_copy(
        update={
            "foreign_keys": tuple(map(_as_not_implied({decision.from_table}), left)),
            "candidates": (*profile.candidates, candidate),
        }
    )


def _as_not_implied(tables: Set[str]) -> Callable[[ForeignKey], ForeignKey]:
    """Return what unmarks the implied references of tables that lost one they may follow from."""

    def unmark(key: ForeignKey) -> ForeignKey:
        if key.implied and key.from_table in tables:
            return key.model_copy(update={"implied": False})
        return key

    return unmark


def _origin(decision: BaseDecision) -> Origin:
    return "declared" if decision.by == "person" else "llm"


def _reason(decision: AnyDecision, evidence: DecisionEvidence) -> str:
    """Return who decided and what the data says about it, in a sentence or two."""
    if decision.by == "model":
        checked = "confirmed by the data" if evidence.rows else "with no rows to check it on"
        return f"Suggested by a language model, {'and ' if evidence.rows else ''}{checked}."
    if evidence.violations:
        verb = noun(evidence.violations, "violates", "violate")
        return f"{decided_reason(decision)} {counted(evidence.violations, 'row')} {verb} it."
    return decided_reason(decision)
