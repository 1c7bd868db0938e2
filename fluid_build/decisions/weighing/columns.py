"""Decisions about single columns and names that figures of the profile settle."""

from fluid_build.decisions.language import Author, Ignore, Measure, PersonalData, Rename
from fluid_build.decisions.verdicts import Verdict, accepted, refused
from fluid_build.decisions.weighing.claims import Claims
from fluid_build.decisions.weighing.names import columns_label, label
from fluid_build.profiling.measure.codes import is_code
from fluid_build.profiling.measure.figures import kind_of
from fluid_build.profiling.names.concepts import read_concepts
from fluid_build.profiling.profile import ColumnProfile, TableProfile
from fluid_build.text import counted

_NOT_CONTRADICTED = "The data doesn't contradict it."
_NUMBERS = frozenset({"integer", "decimal", "float"})
_NUMBERS_IN_TEXT = ("BIGINT", "DOUBLE")
_ID_CONCEPTS = frozenset({"id", "key", "code"})
"""Concepts of names that identify. "Number" isn't one of them: it also counts."""


def weigh_measure(claims: Claims, decision: Measure) -> Verdict:
    """Return the verdict on how a number adds up; ids aren't measures."""
    table = claims.table(decision.table)
    column = table.column(decision.column)
    name = label(table.name, column.name)
    if decision.additivity == "none":
        return accepted(decision, f"{name} isn't added up.")
    if not _is_number(column):
        stored = column.measured_type or column.type
        return refused(decision, f"{name} isn't a number: it's {stored}.")
    reason = _identifies(claims, table, column, decision.by)
    if reason is None and decision.by == "model":
        reason = _looks_like_id(table, column)
    if reason is not None:
        return refused(decision, f"{name} {reason}, so a sum of it says nothing.")
    return accepted(
        decision, f"{name} is a number that neither identifies a row nor refers to one."
    )


def weigh_personal(claims: Claims, decision: PersonalData) -> Verdict:
    """Return the verdict on whether a column is personal; a model can't uncover one that is."""
    column = claims.table(decision.table).column(decision.column)
    if decision.by == "model" and not decision.is_personal and column.pii:
        name = label(decision.table, decision.column)
        meaning = f" ({column.semantic_type})" if column.semantic_type else ""
        return refused(
            decision, f"{name} holds personal data{meaning}; only a person can say it doesn't."
        )
    return accepted(decision, _NOT_CONTRADICTED)


def weigh_renaming(claims: Claims, decision: Rename) -> Verdict:
    """Return the verdict on another name, which nothing else of the source may have."""
    new = decision.new_name.casefold()
    if decision.table is None:
        return accepted(decision, "It's checked once the model exists.")
    if decision.column is None:
        names = (table.name for table in claims.profile.tables if table.name != decision.table)
        noun = "table"
    else:
        columns = claims.table(decision.table).columns
        names = (column.name for column in columns if column.name != decision.column)
        noun = f"column of {label(decision.table)}"
    if new in {name.casefold() for name in names}:
        return refused(decision, f"Another {noun} is called {label(decision.new_name)} already.")
    return accepted(decision, "Nothing else has that name.")


def weigh_ignoring(claims: Claims, decision: Ignore) -> Verdict:
    """Return the verdict on leaving a table out; a model can't leave out rows."""
    table = claims.table(decision.table)
    rows = counted(table.rows, "row")
    if decision.by == "model" and (table.rows or not claims.profile.has_data):
        content = f"has {rows}" if table.rows else "may have rows"
        message = f"{label(table.name)} {content}, and only a person can leave it out."
        return refused(decision, message)
    return accepted(decision, f"{label(table.name)} is left out, with {rows}.")


def _is_number(column: ColumnProfile) -> bool:
    measured = column.measured_type or ""
    in_text = kind_of(column.type) == "text" and measured.startswith(_NUMBERS_IN_TEXT)
    return kind_of(column.type) in _NUMBERS or in_text


def _identifies(
    claims: Claims, table: TableProfile, column: ColumnProfile, by: Author
) -> str | None:
    """Return how a column identifies a row or refers to one, None if it doesn't."""
    if (column.measured_type or "").startswith("DATE"):
        return "holds dates"
    if is_code(column):
        return f"holds codes ({column.semantic_type or 'personal data'})"
    profiles = (claims.profile, claims.drafted) if by == "model" else (claims.profile,)
    # A model could drop a reference only to sum its column.
    for key in (key for profile in profiles for key in profile.foreign_keys):
        if key.from_table == table.name and column.name in key.from_columns:
            return f"refers to {label(key.to_table)}"
    keys = [*filter(None, (table.primary_key,)), *(claim.columns for claim in table.declared_keys)]
    for columns in keys:
        if column.name in columns:
            is_whole = len(columns) == 1
            return (
                f"identifies the rows of {label(table.name)}"
                if is_whole
                else f"is part of the key {columns_label(table.name, columns)}"
            )
    return None


def _looks_like_id(table: TableProfile, column: ColumnProfile) -> str | None:
    """Return why whole numbers look like ids, None if they don't."""
    is_whole = kind_of(column.type) == "integer" or column.measured_type == "BIGINT"
    if is_whole and read_concepts(column.name).concepts & _ID_CONCEPTS:
        return "is named as an id"
    if is_whole and table.rows > 1 and (column.name,) in table.candidate_keys:
        return f"is different in each of {counted(table.rows, 'row')}, as ids are"
    return None
