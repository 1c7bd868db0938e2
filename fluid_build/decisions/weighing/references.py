"""Claims that columns of one table refer to another, or that they don't."""

from collections.abc import Sequence
from dataclasses import dataclass

from fluid_build.decisions.language import AddRelationship, DecisionEvidence, DropRelationship
from fluid_build.decisions.verdicts import Verdict, accepted, refused
from fluid_build.decisions.weighing.claims import Claims, judged, not_measured, query_figures
from fluid_build.decisions.weighing.keys import KeyFigures, describe_repeats, key_figures
from fluid_build.decisions.weighing.names import columns_label, label
from fluid_build.profiling import checks
from fluid_build.profiling.codes import is_code
from fluid_build.profiling.column_stats import kind_of
from fluid_build.profiling.inclusion import Inclusion
from fluid_build.profiling.profile import Candidate, ColumnProfile, ForeignKey, Profile
from fluid_build.sources.sql import quote
from fluid_build.text import counted, noun

_KINDS = {"integer": "numbers", "decimal": "numbers", "float": "numbers", "uuid": "UUIDs"}
_MEASURED_KINDS = {"BIGINT": "numbers", "UUID": "UUIDs"}
_SURE = 0.95
"""Only a person can drop a reference of this confidence. A model isn't asked about those."""


@dataclass(frozen=True, slots=True)
class ColumnPairs:
    """Columns of two tables that pair by position."""

    from_table: str
    from_columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]

    def orphans_sql(self, claims: Claims, compared: "Sequence[ComparedColumns]") -> str:
        """Return a query for the rows without a match in the other table."""
        return checks.orphans(
            claims.table(self.from_table).sql,
            self.from_columns,
            claims.table(self.to_table).sql,
            self.to_columns,
            tuple(pair.forms for pair in compared),
        )


@dataclass(frozen=True, slots=True)
class ComparedColumns:
    """A pair of columns in the form in which their values are compared.

    ``from_sql`` and ``to_sql`` have a place for the column's quoted name; ``forms`` say the same
    in the words of ``checks``.
    """

    from_sql: str
    to_sql: str
    forms: tuple[checks.Form, checks.Form]


def weigh_reference(claims: Claims, decision: AddRelationship) -> Verdict:
    """Return the verdict on a claim that every value is among the keys of another table."""
    if (refusal := _refusal_by_names(claims, decision)) is not None:
        return refused(decision, refusal)
    pairs = ColumnPairs(
        decision.from_table, decision.from_columns, decision.to_table, decision.to_columns
    )
    compared = compared_columns(claims, pairs)
    if isinstance(compared, str):
        return refused(decision, compared)
    sql = pairs.orphans_sql(claims, compared)
    if decision.to_table in claims.tables:
        parents = key_figures(claims, decision.to_table, decision.to_columns)
        if parents.repeats:
            return _refused_by_parent(claims, decision, parents)
    elif decision.by == "model" and not _is_declared_key(claims, decision):
        name = columns_label(decision.to_table, decision.to_columns)
        return refused(decision, f"The source doesn't declare {name} as a key, and it has no rows.")
    if decision.from_table not in claims.tables:
        return not_measured(decision, sql)
    inclusion = measure_values(claims, pairs, compared)
    return judged(
        decision,
        _evidence(claims, decision, inclusion, sql),
        holds=_describe_match(inclusion),
        broken=_describe_orphans(decision, inclusion),
    )


def weigh_dropping(profile: Profile, decision: DropRelationship) -> Verdict:
    """Return the verdict on a decision that columns don't refer to a table."""
    key = find_reference(profile, decision)
    name = columns_label(decision.from_table, decision.from_columns)
    target = columns_label(decision.to_table, decision.to_columns)
    if key is None and any(is_about(decision, each) for each in profile.candidates):
        return Verdict(decision, "unused", f"{name} isn't believed to refer to {target} anyway.")
    if key is None:
        return refused(decision, f"The model has no relationship from {name} to {target}.")
    if key.origin == "declared" and decision.by == "model":
        return refused(decision, f"The source declares that {name} refers to {target}.")
    figures = key.evidence
    if key.confidence >= _SURE and decision.by == "model":
        matched = f"{figures.matched:,} of {counted(figures.rows, 'row')}"
        return refused(
            decision,
            f"{name} refers to {target} with a confidence of {key.confidence:.0%}: {matched} have"
            " a match. Only a person can drop it.",
        )
    evidence = DecisionEvidence(
        rows=figures.rows,
        nulls=figures.nulls,
        distinct=figures.distinct,
        matched=figures.matched,
        coverage=figures.coverage,
        sql=figures.sql,
    )
    return accepted(decision, f"The relationship from {name} to {target} is dropped.", evidence)


def find_reference(
    profile: Profile, decision: AddRelationship | DropRelationship
) -> ForeignKey | None:
    """Return the foreign key of exactly these pairs of columns."""
    return next((key for key in profile.foreign_keys if is_about(decision, key)), None)


def is_about(decision: AddRelationship | DropRelationship, key: ForeignKey | Candidate) -> bool:
    """Return whether a decision names the same pairs of columns as a foreign key."""
    tables = (key.from_table, key.to_table) == (decision.from_table, decision.to_table)
    return tables and set(zip(key.from_columns, key.to_columns, strict=True)) == set(
        zip(decision.from_columns, decision.to_columns, strict=True)
    )


def compared_columns(claims: Claims, pairs: ColumnPairs) -> tuple[ComparedColumns, ...] | str:
    """Return the pairs of columns as they're compared, or why they can't be."""
    child, parent = claims.table(pairs.from_table), claims.table(pairs.to_table)
    compared = []
    for name, key_name in zip(pairs.from_columns, pairs.to_columns, strict=True):
        column, key = child.column(name), parent.column(key_name)
        if value_kind(column) != value_kind(key):
            return (
                f"{label(child.name, name)} holds {value_kind(column)} and"
                f" {label(parent.name, key_name)} {value_kind(key)}, which can't be compared."
            )
        compared.append(_compared(column, key))
    return tuple(compared)


def measure_values(
    claims: Claims, pairs: ColumnPairs, compared: Sequence[ComparedColumns]
) -> Inclusion:
    """Measure on every row how the values occur among those of the other table."""
    child, parent = claims.tables[pairs.from_table], claims.tables.get(pairs.to_table)
    aliases = [f"v{index}" for index in range(len(compared))]
    froms = [
        pair.from_sql.format(quote(child.aliases[name]))
        for pair, name in zip(compared, pairs.from_columns, strict=True)
    ]
    if parent is None:
        tos, parent_relation = ["NULL"] * len(compared), "(SELECT 1)"
    else:
        tos = [
            pair.to_sql.format(quote(parent.aliases[name]))
            for pair, name in zip(compared, pairs.to_columns, strict=True)
        ]
        parent_relation = parent.relation
    matches = " AND ".join(f"p.{alias} = c.{alias}" for alias in aliases)
    rows, matched, distinct, distinct_matched, keys = query_figures(
        claims,
        f"WITH child AS (SELECT {_aliased(froms, aliases)}, count(*) AS n"
        f" FROM {child.relation} WHERE {_present(froms)} GROUP BY ALL),"
        f" parent AS (SELECT DISTINCT {_aliased(tos, aliases)}"
        f" FROM {parent_relation} WHERE {_present(tos)}),"
        f" judged AS (SELECT n, EXISTS (FROM parent AS p WHERE {matches}) AS is_key"
        " FROM child AS c)"
        " SELECT sum(n), sum(n) FILTER (is_key), count(*), count(*) FILTER (is_key),"
        " (SELECT count(*) FROM parent) FROM judged",
    )
    return Inclusion(rows, matched, distinct, distinct_matched, keys, parent_near=0)


def _aliased(values: Sequence[str], aliases: Sequence[str]) -> str:
    return ", ".join(f"{value} AS {alias}" for value, alias in zip(values, aliases, strict=True))


def _present(values: Sequence[str]) -> str:
    return " AND ".join(f"{value} IS NOT NULL" for value in values)


def _refusal_by_names(claims: Claims, decision: AddRelationship) -> str | None:
    """Return why a reference can't be added, whatever the values; None if it can."""
    name = columns_label(decision.from_table, decision.from_columns)
    if (decision.from_table, set(decision.from_columns)) == (
        decision.to_table,
        set(decision.to_columns),
    ):
        return f"{name} can't refer to itself."
    for key in claims.profile.foreign_keys:
        same_columns = (key.from_table, set(key.from_columns)) == (
            decision.from_table,
            set(decision.from_columns),
        )
        if decision.by == "model" and same_columns and not is_about(decision, key):
            return f"{name} refers to {columns_label(key.to_table, key.to_columns)} already."
    return None


def _is_declared_key(claims: Claims, decision: AddRelationship) -> bool:
    parent = claims.table(decision.to_table)
    keys = [claim.columns for claim in parent.declared_keys]
    if parent.primary_key and parent.primary_key_origin == "declared":
        keys.append(parent.primary_key)
    return any(set(columns) == set(decision.to_columns) for columns in keys)


def _refused_by_parent(claims: Claims, decision: AddRelationship, figures: KeyFigures) -> Verdict:
    name = columns_label(decision.to_table, decision.to_columns)
    evidence = DecisionEvidence(
        rows=figures.rows,
        nulls=figures.nulls,
        distinct=figures.distinct,
        violations=figures.repeats,
        sql=checks.repeated_values(claims.table(decision.to_table).sql, decision.to_columns),
    )
    return refused(decision, describe_repeats(name, figures), evidence)


def _evidence(
    claims: Claims, decision: AddRelationship, inclusion: Inclusion, sql: str
) -> DecisionEvidence:
    return DecisionEvidence(
        rows=inclusion.rows,
        nulls=claims.table(decision.from_table).rows - inclusion.rows,
        distinct=inclusion.distinct,
        violations=inclusion.orphans,
        matched=inclusion.matched,
        coverage=round(inclusion.coverage, 6),
        sql=sql,
    )


def _describe_match(inclusion: Inclusion) -> str:
    if not inclusion.rows:
        return "The columns are always null, so there are no values to check."
    return f"All {counted(inclusion.rows, 'row')} have a match."


def _describe_orphans(decision: AddRelationship, inclusion: Inclusion) -> str:
    verb = noun(inclusion.orphans, "has", "have")
    return (
        f"{inclusion.orphans:,} of {counted(inclusion.rows, 'row')} in"
        f" {columns_label(decision.from_table, decision.from_columns)} {verb} no match in"
        f" {columns_label(decision.to_table, decision.to_columns)}."
    )


def value_kind(column: ColumnProfile) -> str:
    """Return the kind of values that a column is compared by, as the profiler compares them."""
    kind = kind_of(column.type)
    measured = None if kind == "text" and is_code(column) else column.measured_type
    if measured in _MEASURED_KINDS:
        return _MEASURED_KINDS[measured]
    if measured is not None or kind == "temporal":
        return measured or column.type
    return _KINDS.get(kind, kind)


def _compared(column: ColumnProfile, key: ColumnProfile) -> ComparedColumns:
    are_text = kind_of(column.type) == kind_of(key.type) == "text"
    if are_text and column.reversible and key.reversible:
        return ComparedColumns(_value(column), _value(key), ("plain", "plain"))
    return ComparedColumns(_value(column), _value(key), (_form(column, key), _form(key, column)))


def _value(column: ColumnProfile) -> str:
    is_text = kind_of(column.type) == "text"
    if is_text and value_kind(column) in {"numbers", "UUIDs"}:
        return f"TRY_CAST({{}} AS {column.measured_type})"
    return "{}"


def _form(column: ColumnProfile, partner: ColumnProfile) -> checks.Form:
    if value_kind(column) == "UUIDs":
        both_uuid = kind_of(column.type) == kind_of(partner.type) == "uuid"
        return "plain" if both_uuid else "letters"
    is_number_in_text = value_kind(column) == "numbers" and kind_of(column.type) == "text"
    return "number" if is_number_in_text else "plain"
