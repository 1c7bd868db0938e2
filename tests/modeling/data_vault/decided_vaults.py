"""Vaults of DuckDB databases that follow decisions, built and proven."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fluid_build.decisions.language import (
    AnyDecision,
    BusinessKey,
    DecisionEvidence,
    Merge,
    Split,
)
from fluid_build.decisions.model_decisions import model_decisions
from fluid_build.modeling.data_vault.decided.unfollowed import unfollowed
from fluid_build.modeling.data_vault.elements import DataVaultModel
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.techniques import build_model
from fluid_build.observations.observe import Observations, observe
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile
from fluid_build.sources import open_source
from fluid_build.sources.base import Source
from fluid_build.sources.sql import quote
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.building import build_and_prove


@dataclass(frozen=True)
class Decided:
    """A model that follows decisions: what it refuses, by decision, and the proof's verdict."""

    model: LogicalModel
    refusals: dict[AnyDecision, str]
    verdict: str

    @property
    def vault(self) -> DataVaultModel:
        """The vault of the model."""
        assert self.model.dv2 is not None
        return self.model.dv2


@dataclass(frozen=True, repr=False)
class Measured:
    """A source that is open, with what was measured of it."""

    source: Source
    profile: Profile
    observations: Observations

    def decided(self, *decisions: AnyDecision) -> Decided:
        """Model the source as a vault, build and prove it."""
        weighed = model_decisions(self._with_evidence(decision) for decision in decisions)
        model = build_model(
            self.profile, "data_vault_2", observations=self.observations, decisions=weighed
        )
        assert model.dv2 is not None
        proof = build_and_prove(self.source, transform_plan(model), model)
        refusals = unfollowed(model.dv2, model.conceptual, weighed)
        messages = {decision: refusal.message for decision, refusal in refusals.items()}
        return Decided(model, messages, proof.verdict)

    def _with_evidence(self, decision: AnyDecision) -> AnyDecision:
        if isinstance(decision, BusinessKey):
            evidence = self._of_key(decision.table, decision.columns)
        elif isinstance(decision, Merge):
            own = self._of_key(decision.table, decision.columns)
            into = self._of_key(decision.into_table, decision.into_columns)
            both = {"violations": own.violations + into.violations}
            evidence = own.model_copy(update=both)
        elif isinstance(decision, Split):
            evidence = self._of_dependency(decision)
        else:
            return decision
        return decision.model_copy(update={"evidence": evidence})

    def _of_key(self, table: str, columns: Sequence[str]) -> DecisionEvidence:
        listed = ", ".join(map(quote, columns))
        whole = " AND ".join(f"{quote(column)} IS NOT NULL" for column in columns)
        relation = self._relation(table)
        rows, nulls, distinct = self._figures(
            f"SELECT count(*) FILTER ({whole}), count(*) FILTER (NOT ({whole})),"
            f" count(DISTINCT ({listed})) FILTER ({whole}) FROM {relation}"
        )
        violations = rows - distinct + nulls
        return DecisionEvidence(rows=rows, nulls=nulls, distinct=distinct, violations=violations)

    def _of_dependency(self, split: Split) -> DecisionEvidence:
        columns = ", ".join(map(quote, split.columns))
        both = ", ".join(map(quote, (*split.columns, *split.attributes)))
        rows, keys, pairs = self._figures(
            f"SELECT count(*), count(DISTINCT ({columns})), count(DISTINCT ({both}))"
            f" FROM {self._relation(split.table)}"
        )
        return DecisionEvidence(rows=rows, distinct=keys, violations=pairs - keys)

    def _relation(self, table: str) -> str:
        return next(each.relation for each in self.source.tables if each.name == table)

    def _figures(self, sql: str) -> tuple[int, int, int]:
        row = self.source.connection.execute(sql).fetchone()
        assert row is not None
        first, second, third = (int(figure) for figure in row)
        return first, second, third


@contextmanager
def measured(place: str | Path) -> Iterator[Measured]:
    """Open a source and measure it."""
    with open_source(place) as source:
        profile = profile_source(source)
        yield Measured(source, profile, observe(source, profile))
