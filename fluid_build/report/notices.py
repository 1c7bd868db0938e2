"""What needs attention: where the data contradicts what it seems to say.

The order is by how much can go wrong: what was not read at all, then keys and relationships that
the data breaks, then personal data, then tables and columns that need a decision.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from fluid_build.modeling.conceptual import ConceptualModel, Relationship
from fluid_build.modeling.types import is_number
from fluid_build.profiling import checks
from fluid_build.profiling.profile import Profile, is_code
from fluid_build.text import counted, listed

_ORIGINS = {
    "declared": "The source declares this relationship.",
    "measured": "The relationship isn't declared; it was inferred from the data.",
    "llm": "The relationship isn't declared; a model proposed it.",
}


@dataclass(frozen=True, slots=True)
class Notice:
    """A finding, the table and columns that it is about, and the query that shows it."""

    kind: str
    table: str
    columns: tuple[str, ...]
    text: str
    sql: str = ""


def notices(profile: Profile, model: ConceptualModel) -> tuple[Notice, ...]:
    """Return all notices, the most important first."""
    return tuple(
        chain(
            _skipped_tables(profile),
            _broken_keys(model),
            _orphans(model),
            _notes(profile),
            _broken_not_null(profile),
            _personal_data(profile),
            _tables_without_key(profile),
            _types_in_disguise(profile),
            _empty_columns(profile),
            _empty_tables(profile),
        )
    )


def notices_by_kind(
    notices: Sequence[Notice], most: int | None
) -> Iterator[tuple[str, list[Notice], int]]:
    """Yield each kind in turn with its first notices and how many more there are; None is all."""
    for kind, group in groupby(notices, key=lambda notice: notice.kind):
        of_a_kind = list(group)
        listed = of_a_kind[:most]
        yield kind, listed, len(of_a_kind) - len(listed)


def _skipped_tables(profile: Profile) -> Iterator[Notice]:
    for skipped in profile.skipped:
        yield Notice("not read", skipped.name, (), f"It was skipped: {skipped.reason}")


def _broken_keys(model: ConceptualModel) -> Iterator[Notice]:
    for entity in model.entities:
        for key in entity.keys:
            if key.holds:
                continue
            evidence = key.evidence
            faults = []
            # A claim that a person insists on counts rows with a null among its violations.
            repeats = evidence.rows - (evidence.distinct or evidence.rows - evidence.violations)
            if repeats:
                verb = "repeats" if repeats == 1 else "repeat"
                faults.append(f"{repeats:,} {verb} the key of another row")
            if evidence.nulls and key.kind == "primary":
                verb = "has" if evidence.nulls == 1 else "have"
                faults.append(f"{evidence.nulls:,} {verb} a null")
            rows = counted(entity.rows, "row")
            text = f"The data violates this declared key: of {rows}, {listed(faults)}."
            yield Notice("broken key", entity.name, key.attributes, text, evidence.sql)


def _orphans(model: ConceptualModel) -> Iterator[Notice]:
    # Those that hold by a collation have a note on the table.
    broken = [each for each in model.relationships if each.evidence.broken and not each.implied]
    for relationship in sorted(broken, key=_severity):
        evidence = relationship.evidence
        share = _percent(evidence.orphans, evidence.rows)
        text = (
            f"{evidence.orphans:,} of {counted(evidence.rows, 'row')} ({share}) have no match in "
            f"{relationship.to_entity}. {_ORIGINS[relationship.origin]}"
        )
        if evidence.by_collation:
            text += f" Its collation finds one for {evidence.by_collation:,} of them."
        if evidence.standing_for_none:
            text += f" {evidence.standing_for_none:,} of them have a value that stands for none."
        columns = relationship.from_attributes
        yield Notice("orphans", relationship.from_entity, columns, text, evidence.sql)


def _severity(relationship: Relationship) -> tuple[bool, int, str]:
    """Sort declared relationships first, since somebody relies on them, then by their orphans."""
    return relationship.origin != "declared", -relationship.evidence.orphans, relationship.name


def _notes(profile: Profile) -> Iterator[Notice]:
    for table in profile.tables:
        for note in table.notes:
            yield Notice("note on a table", table.name, (), note, checks.all_rows(table.sql))
    for table in profile.tables:
        for column in table.columns:
            for note in column.notes:
                yield Notice("note on a column", table.name, (column.name,), note)


def _broken_not_null(profile: Profile) -> Iterator[Notice]:
    for table in profile.tables:
        for column in table.columns:
            if not column.nullable and column.nulls and profile.has_data:
                rows = counted(column.rows, "row")
                text = f"Declared NOT NULL, but null in {column.nulls:,} of {rows}."
                query = checks.null_rows(table.sql, (column.name,))
                yield Notice("broken not-null", table.name, (column.name,), text, query)


def _personal_data(profile: Profile) -> Iterator[Notice]:
    for table in profile.tables:
        columns = tuple(column.name for column in table.columns if column.pii)
        if columns:
            text = (
                "Nothing protects this personal data yet. The contract marks it as PII; decide who "
                "may read it and how to mask it."
            )
            query = checks.filled_counts(table.sql, columns)
            yield Notice("personal data", table.name, columns, text, query)


def _tables_without_key(profile: Profile) -> Iterator[Notice]:
    for table in profile.tables:
        if table.primary_key is None and (table.rows > 0 or not profile.has_data):
            text, query = "No key is declared.", ""
            if profile.has_data:
                text = "No combination of up to four columns is unique."
                query = checks.distinct_rows(table.sql)
            yield Notice("no key", table.name, (), text, query)


def _types_in_disguise(profile: Profile) -> Iterator[Notice]:
    """Yield the dates, times and numbers stored as text, which sort and add up wrongly."""
    for table in profile.tables:
        disguised: dict[tuple[str, str], list[str]] = defaultdict(list)
        for column in table.columns:
            measured = column.measured_type
            if measured is not None and measured != "UUID" and not is_code(column):
                stored = "whole numbers" if is_number(column.type) else "text"
                disguised[stored, measured].append(column.name)
        for (stored, measured), names in disguised.items():
            text = f"Stored as {stored}, but every value is a {measured}."
            query = checks.first_values(table.sql, tuple(names))
            yield Notice("stored as another type", table.name, tuple(names), text, query)


def _empty_columns(profile: Profile) -> Iterator[Notice]:
    for table in profile.tables:
        empty = tuple(c.name for c in table.columns if c.rows > 0 and c.nulls == c.rows)
        if empty:
            text = f"Null in every row ({table.rows:,})."
            query = checks.filled_rows(table.sql, empty)
            yield Notice("empty column", table.name, empty, text, query)


def _empty_tables(profile: Profile) -> Iterator[Notice]:
    for table in profile.tables:
        if profile.has_data and table.rows == 0:
            query = checks.count_rows(table.sql)
            yield Notice("empty table", table.name, (), "The table has no rows.", query)


def _percent(part: int, whole: int) -> str:
    share = 100 * part / whole if whole else 0.0
    return "less than 0.1%" if 0 < share < 0.1 else f"{share:.1f}%"
