"""What a person should look at first: where the data contradicts what it seems to say.

Ordered by how much can go wrong: what was not read at all, then keys and relationships that the
data breaks, then personal data, then tables and columns that need a decision.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from fluid_build.modeling.conceptual import ConceptualModel, Relationship
from fluid_build.modeling.types import is_code, is_number
from fluid_build.profiling import checks
from fluid_build.profiling.profile import ColumnProfile, Profile, TableProfile


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing to look at: what it is, which names it is about, and the query that shows it.

    ``kind`` groups notices of a sort. ``text`` is a sentence without names, which are in ``table``
    and ``columns``.
    """

    kind: str
    table: str
    columns: tuple[str, ...]
    text: str
    sql: str = ""


def notices(profile: Profile, model: ConceptualModel) -> tuple[Notice, ...]:
    """Everything to look at, the most important first."""
    return tuple(
        chain(
            _skipped(profile),
            _broken_keys(model),
            _orphans(model),
            _met_on_the_way(profile),
            _broken_not_null(profile),
            _personal(profile),
            _unkeyed(profile),
            _other_types(profile),
            _empty_columns(profile),
            _empty_tables(profile),
        )
    )


def notices_by_kind(
    notices: Sequence[Notice], most: int
) -> Iterator[tuple[str, list[Notice], int]]:
    """Yield each kind in turn with its first notices and how many more there are."""
    for kind, group in groupby(notices, key=lambda notice: notice.kind):
        of_a_kind = list(group)
        yield kind, of_a_kind[:most], max(len(of_a_kind) - most, 0)


def _skipped(profile: Profile) -> Iterator[Notice]:
    for skipped in profile.skipped:
        yield Notice("not read", skipped.name, (), f"It was skipped: {skipped.reason}")


def _met_on_the_way(profile: Profile) -> Iterator[Notice]:
    for table in profile.tables:
        for note in table.notes:
            yield Notice("note on a table", table.name, (), note, checks.all_rows(table.sql))
        for column in table.columns:
            for note in column.notes:
                yield Notice("note on a column", table.name, (column.name,), note)


def _broken_keys(model: ConceptualModel) -> Iterator[Notice]:
    for entity in model.entities:
        for key in entity.keys:
            if key.holds:
                continue
            evidence = key.evidence
            found = [f"{_rows(evidence.violations)} break it"] if evidence.violations else []
            found += [f"{_rows(evidence.nulls)} hold a null"] if evidence.nulls else []
            text = (
                f"A {key.origin} key that the data violates: "
                f"{' and '.join(found)}, out of {entity.rows:,}."
            )
            yield Notice("broken key", entity.name, key.attributes, text, evidence.sql)


def _orphans(model: ConceptualModel) -> Iterator[Notice]:
    broken = [r for r in model.relationships if r.evidence.orphans and not r.implied]
    for relationship in sorted(broken, key=_severity):
        evidence = relationship.evidence
        text = (
            f"{evidence.orphans:,} of {_rows(evidence.rows)} refer to nothing "
            f"({_percent(evidence.orphans, evidence.rows)} orphans) in this "
            f"{relationship.origin} relationship."
        )
        yield Notice(
            "orphans",
            relationship.from_entity,
            relationship.from_attributes,
            text,
            evidence.sql,
        )


def _severity(relationship: Relationship) -> tuple[bool, int, str]:
    return relationship.origin != "declared", -relationship.evidence.orphans, relationship.name


def _broken_not_null(profile: Profile) -> Iterator[Notice]:
    for table, column in _columns(profile):
        if not column.nullable and column.nulls and profile.has_data:
            text = f"Declared NOT NULL, and null in {column.nulls:,} of {_rows(column.rows)}."
            query = checks.null_rows(table.sql, (column.name,))
            yield Notice("broken not-null", table.name, (column.name,), text, query)


def _personal(profile: Profile) -> Iterator[Notice]:
    for table in profile.tables:
        columns = tuple(column.name for column in table.columns if column.pii)
        if columns:
            text = (
                "Personal data that nothing protects yet: the contract marks it as pii; "
                "decide who may read it and how it is masked."
            )
            query = checks.filled_counts(table.sql, columns)
            yield Notice("personal data", table.name, columns, text, query)


def _unkeyed(profile: Profile) -> Iterator[Notice]:
    for table in profile.tables:
        if table.primary_key is None and (table.rows > 0 or not profile.has_data):
            text = "No up to four columns identify its rows." if profile.has_data else "No key."
            query = checks.distinct_rows(table.sql) if profile.has_data else ""
            yield Notice("no key", table.name, (), text, query)


def _other_types(profile: Profile) -> Iterator[Notice]:
    """Dates, times and numbers that are stored as text: they sort and add up wrongly."""
    for table in profile.tables:
        disguised: dict[tuple[str, str], list[str]] = defaultdict(list)
        for column in table.columns:
            measured = column.measured_type
            if measured is not None and measured != "UUID" and not is_code(column):
                stored = "whole numbers" if is_number(column.type) else "text"
                disguised[stored, measured].append(column.name)
        for (stored, measured), names in disguised.items():
            text = f"Stored as {stored}, and every value is a {measured}."
            query = checks.first_values(table.sql, tuple(names))
            yield Notice("type in disguise", table.name, tuple(names), text, query)


def _empty_columns(profile: Profile) -> Iterator[Notice]:
    for table in profile.tables:
        empty = tuple(c.name for c in table.columns if c.rows > 0 and c.nulls == c.rows)
        if empty:
            text = f"Null in all {_rows(table.rows)}."
            yield Notice(
                "empty column", table.name, empty, text, checks.filled_rows(table.sql, empty)
            )


def _empty_tables(profile: Profile) -> Iterator[Notice]:
    for table in profile.tables:
        if profile.has_data and table.rows == 0:
            query = checks.count_rows(table.sql)
            yield Notice("empty table", table.name, (), "It holds no row.", query)


def _columns(profile: Profile) -> Iterator[tuple[TableProfile, ColumnProfile]]:
    for table in profile.tables:
        for column in table.columns:
            yield table, column


def _rows(count: int) -> str:
    return f"{count:,} row" if count == 1 else f"{count:,} rows"


def _percent(part: int, whole: int) -> str:
    share = 100 * part / whole if whole else 0.0
    return "less than 0.1 %" if 0 < share < 0.1 else f"{share:.1f} %"
