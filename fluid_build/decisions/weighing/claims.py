"""What the claims of decisions share: the tables to query, and verdicts by figures."""

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from fluid_build.decisions.language import AnyDecision, DecisionEvidence
from fluid_build.decisions.verdicts import Verdict, accepted, refused
from fluid_build.observations.observed_tables import ObservedTable, observed_tables
from fluid_build.profiling.profile import Profile, TableProfile
from fluid_build.sources.base import Source

NO_ROWS = "There are no rows to check it on."


@dataclass(frozen=True, slots=True)
class Claims:
    """A profiled source that claims are measured on. ``tables`` are those with rows, by name.

    ``drafted`` is the profile before any decision. ``regrouped`` are the tables that were to be
    read as one, or separately, each with why it couldn't be.
    """

    connection: duckdb.DuckDBPyConnection
    profile: Profile
    tables: Mapping[str, ObservedTable]
    drafted: Profile
    regrouped: Mapping[str, str]

    def table(self, name: str) -> TableProfile:
        """Return the profile of a table."""
        return self.profile.table(name)


def open_claims(source: Source, profile: Profile) -> Claims:
    """Return what claims about a profiled source are measured on."""
    tables = observed_tables(source, profile) if profile.has_data else {}
    return Claims(source.connection, profile, tables, profile, source.regrouped)


def query_figures(claims: Claims, sql: str) -> tuple[int, ...]:
    """Return the only row of a query that counts, a null as 0."""
    row = claims.connection.execute(sql).fetchone() or ()
    return tuple(int(figure or 0) for figure in row)


def not_measured(decision: AnyDecision, sql: str = "") -> Verdict:
    """Return the verdict on a claim that there are no rows to check on."""
    return accepted(decision, NO_ROWS, DecisionEvidence(rows=0, sql=sql))


def judged(
    decision: AnyDecision, evidence: DecisionEvidence, *, holds: str, broken: str
) -> Verdict:
    """Return the verdict on a claim: a person may insist on one that rows contradict."""
    if not evidence.violations:
        return accepted(decision, holds, evidence)
    if getattr(decision, "despite_violations", False):
        return Verdict(decision, "insisted", broken, evidence)
    return refused(decision, broken, evidence)
