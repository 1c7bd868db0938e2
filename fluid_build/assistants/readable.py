"""The answers of tools in words, for whoever reads them: names are code, so that none is markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fluid_build.assistants.results import (
    ColumnDescription,
    ContractCheck,
    ForgedModel,
    KeyCheck,
    MemorySearch,
    ProposedDecision,
    Relationship,
    RelationshipCheck,
    SourceProfile,
    TableDescription,
    Verification,
    WorkspaceListing,
)
from fluid_build.markdown import code, text
from fluid_build.text import counted


def readable_listing(listing: WorkspaceListing) -> str:
    """Say what there is in a workspace."""
    more = [f"and {listing.more_sources:,} more"] if listing.more_sources else []
    sources = [f"{code(source.source)} ({source.kind})" for source in listing.sources]
    return _paragraphs(
        _list("Sources", [*sources, *more], "There's no data in the workspace."),
        _list("Forged folders", map(code, listing.forged_folders), "Nothing was forged yet."),
        "The server only reads." if listing.is_read_only else "The server may write.",
    )


def readable_profile(profile: SourceProfile) -> str:
    """Say which tables, keys and relationships a source has."""
    tables = [
        f"{code(table.name)}: {counted(table.rows, 'row')}, {counted(table.columns, 'column')},"
        f" {_key(table.primary_key, table.primary_key_origin)}"
        + (f", {table.personal_columns} personal" if table.personal_columns else "")
        + (", a sample" if table.is_sample else "")
        for table in profile.tables
    ]
    questions = [
        f"{_reference(asked.from_table, asked.from_columns, asked.to_table, asked.to_columns)}"
        f" ({asked.confidence:.2f}): {text(asked.why_not)}"
        for asked in profile.questions
    ]
    skipped = [f"{code(table.name)}: {text(table.reason)}" for table in profile.skipped]
    return _paragraphs(
        f"{code(profile.source)} ({profile.kind}), measured {profile.measured_at}."
        + ("" if profile.has_data else " It has no rows: everything is as declared."),
        _list("Tables", [*tables, *_more(profile.more_tables)], "No tables."),
        _list(
            "Relationships",
            [*map(_relationship, profile.relationships), *_more(profile.more_relationships)],
            "No relationships.",
        ),
        _list("Open questions, to be checked", questions),
        _list("Skipped", skipped),
        _list("Notes", map(text, profile.notes)),
    )


def readable_table(table: TableDescription) -> str:
    """Say what a table holds."""
    broken = [
        f"The declared key {_columns(key.columns)} has {key.repeated_rows:,} repeats and"
        f" {key.null_rows:,} nulls."
        for key in table.broken_keys
    ]
    return _paragraphs(
        f"{code(table.table)}: {counted(table.rows, 'row')},"
        f" {_key(table.primary_key, table.primary_key_origin)}."
        + (" Only a sample of its rows was read." if table.is_sample else "")
        + (f" {text(table.primary_key_reason)}." if table.primary_key_reason else ""),
        text(table.comment),
        _list("Other keys", map(_columns, table.other_keys)),
        _list("Broken keys", broken),
        _list("Columns", [*map(_column, table.columns), *_more(table.more_columns)]),
        _list("Relationships", map(_relationship, table.relationships)),
        _list("Notes", map(text, table.notes)),
    )


def readable_key(check: KeyCheck) -> str:
    """Say whether columns are a key."""
    examples = [" ".join(map(code, row)) for row in check.repeated_values or ()]
    return _paragraphs(
        ("It holds. " if check.holds else "It doesn't hold. ") + check.finding,
        _list("Values that repeat, such as", examples),
        _query(check.sql),
    )


def readable_relationship(check: RelationshipCheck) -> str:
    """Say whether columns refer to another table."""
    examples = [" ".join(map(code, row)) for row in check.orphan_values or ()]
    return _paragraphs(
        ("It holds. " if check.holds else "It doesn't hold. ") + check.finding,
        _list("Values without a match, such as", examples),
        _query(check.sql),
    )


def readable_decision(proposed: ProposedDecision) -> str:
    """Say what became of a decision."""
    place = f"It's written to {code(proposed.file)}." if proposed.file else ""
    return _paragraphs(
        f"{proposed.outcome.capitalize()}: {proposed.finding}",
        place or f"It isn't written. {proposed.why_not_written}",
        f"```yaml\n{proposed.entry.replace('`', '')}\n```",
        f"```sh\n{proposed.command.replace('`', '')}\n```" if proposed.command else "",
    )


def readable_forge(forged: ForgedModel) -> str:
    """Say what was forged, or would be."""
    files = counted(forged.changes.files, "file")
    state = f"{files} written to {code(forged.folder)}."
    if not forged.is_written:
        state = f"Nothing is written: {files} would be, to {code(forged.folder)}."
    relations = [
        f"{code(relation.name)}: {counted(relation.columns, 'column')}"
        for relation in forged.relations
    ]
    decisions = [
        f"{text(verdict.decision)}: {verdict.outcome}, {verdict.finding}"
        for verdict in forged.decisions
    ]
    return _paragraphs(
        f"{forged.technique} of {code(forged.source)}, {forged.proof}: {text(forged.proof_reason)}",
        f"{state} {forged.why_not_written}".strip(),
        _list("Relations", [*relations, *_more(forged.more_relations)]),
        _list("Decisions", decisions),
        _list("Kept, because somebody edited them", map(code, forged.changes.kept)),
        _list("Resources", map(code, forged.resources)),
        _list("Notes", map(text, forged.notes)),
    )


def readable_verification(verified: Verification) -> str:
    """Say whether a folder still holds everything that its source does."""
    tables = [
        f"{code(table.table)}: {table.verdict}, {counted(table.rows, 'row')}"
        + (f", {table.missing:,} missing" if table.missing else "")
        + (f", {table.unexpected:,} unexpected" if table.unexpected else "")
        for table in verified.tables
    ]
    return _paragraphs(
        ("It holds." if verified.holds else "It doesn't hold.")
        + f" {verified.proof.capitalize()}: {text(verified.proof_reason)}",
        _list("What is wrong", verified.faults),
        _list("Changes of the source", verified.changes),
        _list("Rows", verified.row_changes),
        _list("Tables", [*tables, *_more(verified.more_tables)]),
    )


def readable_contract(check: ContractCheck) -> str:
    """Say what is wrong with a contract."""
    findings = [
        (f"line {finding.line}, " if finding.line is not None else "")
        + f"{finding.path or 'the document'}: {finding.message}"
        + (f"; allowed: {finding.allowed}" if finding.allowed else "")
        for finding in check.findings
    ]
    return _paragraphs(
        "The contract is valid FLUID 0.7.2." if check.is_valid else "The contract isn't valid.",
        _list("Findings", [*findings, *_more(check.more_findings)]),
    )


def readable_memory(search: MemorySearch) -> str:
    """Say which earlier models are alike."""
    models = [
        f"{code(model.name)} ({model.similarity:.2f}): {text(model.names)}"
        for model in search.models
    ]
    return _list("Models of earlier forges", models, "Nothing like it was forged before.")


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _list(title: str, items: Iterable[str], without: str = "") -> str:
    lines = [f"- {item}" for item in items]
    return "\n".join((f"{title}:", *lines)) if lines else without


def _more(number: int) -> Iterator[str]:
    if number:
        yield f"and {number:,} more"


def _query(sql: str) -> str:
    return f"```sql\n{sql.replace('`', '')}\n```" if sql else ""


def _columns(columns: Sequence[str]) -> str:
    return f"({', '.join(map(code, columns))})"


def _key(columns: Sequence[str], origin: str | None) -> str:
    return f"key {_columns(columns)} {origin}" if columns else "no key"


def _reference(from_table: str, columns: Sequence[str], table: str, keys: Sequence[str]) -> str:
    return f"{code(from_table)} {_columns(columns)} to {code(table)} {_columns(keys)}"


def _relationship(key: Relationship) -> str:
    orphans = f", {key.orphans:,} of {counted(key.rows, 'row')} orphans" if key.orphans else ""
    implied = ", implied by others" if key.is_implied else ""
    reference = _reference(key.from_table, key.from_columns, key.to_table, key.to_columns)
    return f"{reference}: {key.origin}, confidence {key.confidence:.2f}{orphans}{implied}"


def _column(column: ColumnDescription) -> str:
    facts = [
        code(column.type),
        f"holds {code(column.holds)}" if column.holds else "",
        f"{column.nulls:,} nulls" if column.nulls else "never null",
        f"{'' if column.is_distinct_exact else 'about '}{column.distinct:,} distinct",
        text(column.meaning or ""),
        "personal" if column.is_personal else "",
        _values(column),
        text(column.comment),
        *map(text, column.notes),
    ]
    return f"{code(column.name)}: {'; '.join(fact for fact in facts if fact)}"


def _values(column: ColumnDescription) -> str:
    if column.values is None or not column.values.most_frequent:
        return ""
    return "such as " + ", ".join(code(top.value) for top in column.values.most_frequent)
