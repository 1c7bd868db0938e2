"""Claims that two tables describe one entity, or that one table describes two."""

from fluid_build.decisions.language import DecisionEvidence, Merge, Split
from fluid_build.decisions.verdicts import Verdict, refused
from fluid_build.decisions.weighing.claims import Claims, judged, not_measured, query_figures
from fluid_build.decisions.weighing.coincidence import (
    describe_doubt,
    is_chance_merge,
    judge_by_chance,
)
from fluid_build.decisions.weighing.comparing import (
    ColumnPairs,
    compared_columns,
    measure_values,
)
from fluid_build.decisions.weighing.keys import describe_repeats, key_figures, quoted
from fluid_build.decisions.weighing.names import columns_label, label
from fluid_build.profiling import checks
from fluid_build.text import counted


def weigh_merge(claims: Claims, decision: Merge) -> Verdict:
    """Return the verdict on a claim that rows of two tables with equal columns are one instance."""
    pairs = ColumnPairs(
        decision.table, decision.columns, decision.into_table, decision.into_columns
    )
    compared = compared_columns(claims, pairs)
    if isinstance(compared, str):
        return refused(decision, compared)
    if not {decision.table, decision.into_table} <= claims.tables.keys():
        return not_measured(decision)
    for table, columns in (
        (decision.table, decision.columns),
        (decision.into_table, decision.into_columns),
    ):
        figures = key_figures(claims, table, columns)
        if figures.repeats:
            evidence = DecisionEvidence(
                rows=figures.rows,
                nulls=figures.nulls,
                distinct=figures.distinct,
                violations=figures.repeats,
                sql=checks.repeated_values(claims.table(table).sql, columns),
            )
            broken = describe_repeats(columns_label(table, columns), figures)
            return judged(decision, evidence, holds="", broken=broken)
    return _judge_common_values(claims, decision, pairs)


def _judge_common_values(claims: Claims, decision: Merge, pairs: ColumnPairs) -> Verdict:
    compared = compared_columns(claims, pairs)
    assert not isinstance(compared, str), "the columns were compared before"
    inclusion = measure_values(claims, pairs, compared)
    name = columns_label(decision.table, decision.columns)
    into = columns_label(decision.into_table, decision.into_columns)
    evidence = DecisionEvidence(
        rows=inclusion.rows,
        nulls=claims.table(decision.table).rows - inclusion.rows,
        distinct=inclusion.distinct,
        violations=0 if inclusion.matched else inclusion.rows,
        matched=inclusion.matched,
        coverage=round(inclusion.coverage, 6),
        sql=(
            checks.repeated_values(claims.table(decision.table).sql, decision.columns)
            if inclusion.matched
            else pairs.orphans_sql(claims, compared)
        ),
    )
    if not inclusion.matched:
        message = f"{name} and {into} have no value in common."
        return refused(decision, message, evidence)
    values = counted(inclusion.rows, "value")
    holds = f"{inclusion.matched:,} of {values} of {name} are in {into} too."
    proposal = judge_by_chance(claims, pairs, compared, inclusion)
    if is_chance_merge(proposal):
        holds = f"{holds.rstrip('.')}, but {describe_doubt(inclusion, proposal)}."
        if decision.by == "model":
            return refused(decision, holds, evidence)
    return judged(decision, evidence, holds=holds, broken="")


def weigh_split(claims: Claims, decision: Split) -> Verdict:
    """Return the verdict on a claim that columns identify an entity inside a table.

    Each of their values must have one combination of the attributes.
    """
    table = claims.table(decision.table)
    name = columns_label(table.name, decision.columns)
    if decision.entity.casefold() in {each.name.casefold() for each in claims.profile.tables}:
        return refused(decision, f"A table is called {label(decision.entity)} already.")
    if table.primary_key and set(table.primary_key) <= set(decision.columns):
        return refused(decision, f"{name} identifies the rows of {label(table.name)} itself.")
    sql = checks.several_combinations(table.sql, decision.columns, decision.attributes)
    if decision.table not in claims.tables:
        return not_measured(decision, sql)
    evidence = _dependency(claims, decision, sql)
    if evidence.rows == evidence.distinct and not evidence.nulls:
        message = f"{name} is different in each of {counted(table.rows, 'row')}, as their key is."
        return refused(decision, message, evidence)
    values = counted(evidence.distinct or 0, "value")
    return judged(
        decision,
        evidence,
        holds=f"Each of {values} of {name} has one combination of the attributes.",
        broken=f"{evidence.violations:,} of {values} of {name} have several combinations of the"
        " attributes.",
    )


def _dependency(claims: Claims, decision: Split, sql: str) -> DecisionEvidence:
    """Count the key values that have more than one combination of attributes, on every row."""
    relation = claims.tables[decision.table].relation
    keys = quoted(claims, decision.table, decision.columns)
    both = quoted(claims, decision.table, (*decision.columns, *decision.attributes))
    present = " AND ".join(f"{key} IS NOT NULL" for key in keys)
    rows, distinct, violations = query_figures(
        claims,
        "SELECT sum(n), count(*), count(*) FILTER (WHERE combinations > 1) FROM ("
        f"SELECT sum(n) AS n, count(*) AS combinations FROM (SELECT {', '.join(both)},"
        f" count(*) AS n FROM {relation} WHERE {present} GROUP BY {', '.join(both)})"
        f" GROUP BY {', '.join(keys)})",
    )
    return DecisionEvidence(
        rows=rows,
        nulls=claims.table(decision.table).rows - rows,
        distinct=distinct,
        violations=violations,
        sql=sql,
    )
