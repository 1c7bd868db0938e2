"""Whether the values that a proposed reference has in common prove anything."""

from collections.abc import Sequence
from dataclasses import replace

from fluid_build.decisions.weighing.claims import Claims, query_figures
from fluid_build.decisions.weighing.comparing import ColumnPairs, ComparedColumns, value_kind
from fluid_build.profiling.proposed_references import (
    Bounds,
    ProposedColumns,
    ProposedReference,
    judge_proposal,
)
from fluid_build.profiling.references.inclusion import Inclusion
from fluid_build.sources.sql import quote
from fluid_build.text import counted, noun

_LEAST_ODDS, _LEAST_COMPOSITE_ODDS = -1.5, -2.5
"""The log odds from which a model's proposal goes in. Profiling asks for 0.2 and 0.3: a model knows
what tables are about, and what it knows isn't in the odds. Set on databases with documented keys,
so that fewer than 1 in 100 references that hold by chance go in."""
_CREDIBLE_CANDIDATE = 0.25
"""The confidence from which a question that profiling leaves open is a model's to settle."""
_LEAST_TEXT_EVIDENCE = 2.0
"""Nats from which codes in a primary key of codes are enough: one code of three letters."""
_LEAST_OWN_ROW_EVIDENCE = 6.0
"""Nats that a reference to its own table needs where no word says so: numbers of rows fit it."""
_NO_EVIDENCE = 0.5
"""Nats below which values say nothing, so that the names have to."""
_PLAIN_NAME = 0.6
"""The name score from which a key is plainly meant (see ``NameWeights``)."""
_NAMES_MATCH = 0.4
"""The name score from which names say something (see ``NameWeights``)."""
_MERGE_EVIDENCE = 6.0
"""Nats from which two keys have values in common for a reason, whatever they're called: 1 in 400
pairs of keys agree as well by chance."""


def is_coincidence(
    claims: Claims, pairs: ColumnPairs, proposal: ProposedReference, *, has_values: bool
) -> bool:
    """Return whether neither names nor values say that columns refer to others."""
    is_open = any(
        (each.from_table, each.to_table) == (pairs.from_table, pairs.to_table)
        and set(zip(each.from_columns, each.to_columns, strict=True)) == pairs.names
        and each.confidence >= _CREDIBLE_CANDIDATE
        and not each.ruled_out
        for each in claims.profile.candidates
    )
    if is_open:
        return False
    if len(pairs.from_columns) > 1:
        return proposal.log_odds < _LEAST_COMPOSITE_ODDS
    if not has_values:
        return proposal.name_score < _PLAIN_NAME
    if proposal.evidence < _NO_EVIDENCE and proposal.name_score < _PLAIN_NAME:
        return True
    if proposal.is_own_row and proposal.evidence < _LEAST_OWN_ROW_EVIDENCE:
        return True
    if proposal.is_text_key and proposal.evidence >= _LEAST_TEXT_EVIDENCE:
        return False
    return proposal.log_odds < _LEAST_ODDS


def is_chance_merge(proposal: ProposedReference) -> bool:
    """Return whether two keys may have values in common by chance, and have different names."""
    return proposal.evidence < _MERGE_EVIDENCE and proposal.name_score < _NAMES_MATCH


def describe_doubt(inclusion: Inclusion, proposal: ProposedReference) -> str:
    """Return why values that match prove little, as a clause with the figure."""
    values = counted(inclusion.distinct, "different value")
    proves = noun(inclusion.distinct, "proves", "prove")
    names = (
        "and the names don't match"
        if proposal.name_score < _NAMES_MATCH
        else "though the names partly match"
    )
    if not inclusion.rows:
        return f"there are no values to check, {names}"
    return f"{values} {proves} little, {names}"


def judge_by_chance(
    claims: Claims,
    pairs: ColumnPairs,
    compared: Sequence[ComparedColumns],
    inclusion: Inclusion,
) -> ProposedReference:
    """Return how credible a reference is by its names and its values."""
    from_sql = [pair.from_sql for pair in compared]
    to_sql = [pair.to_sql for pair in compared]
    child = ProposedColumns(
        pairs.from_table,
        pairs.from_columns,
        _bounds(claims, pairs.from_table, pairs.from_columns, from_sql),
    )
    parent = ProposedColumns(
        pairs.to_table,
        pairs.to_columns,
        _bounds(claims, pairs.to_table, pairs.to_columns, to_sql),
    )
    near = _keys_within_bounds(claims, child, parent, to_sql)
    return judge_proposal(claims.profile, child, parent, replace(inclusion, parent_near=near))


def _bounds(claims: Claims, table: str, columns: Sequence[str], forms: Sequence[str]) -> Bounds:
    """Return the bounds of the columns whose values are all whole numbers."""
    observed = claims.tables.get(table)
    if observed is None:
        return {}
    bounds: dict[str, tuple[int, int] | None] = {}
    for column, form in zip(columns, forms, strict=True):
        if value_kind(claims.table(table).column(column)) != "numbers":
            continue
        value = form.format(quote(observed.aliases[column]))
        low, high, count, whole = query_figures(
            claims,
            f"SELECT min(v), max(v), count(*), count(*) FILTER (v = floor(v))"
            f" FROM (SELECT {value} AS v FROM {observed.relation}) WHERE v IS NOT NULL",
        )
        bounds[column] = (low, high) if count == whole > 0 else None
    return bounds


def _keys_within_bounds(
    claims: Claims, child: ProposedColumns, parent: ProposedColumns, forms: Sequence[str]
) -> int:
    """Count the keys between the least and the greatest value that refers to them."""
    bounds = child.bounds.get(child.columns[0])
    observed = claims.tables.get(parent.table)
    if len(child.columns) > 1 or bounds is None or observed is None:
        return 0
    value = forms[0].format(quote(observed.aliases[parent.columns[0]]))
    low, high = bounds
    (near,) = query_figures(
        claims,
        f"SELECT count(DISTINCT {value}) FROM {observed.relation}"
        f" WHERE {value} BETWEEN {low} AND {high}",
    )
    return near
