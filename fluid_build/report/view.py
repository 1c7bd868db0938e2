"""What is known about a source, gathered once for every document, screen and page."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fluid_build.modeling.conceptual import (
    Attribute,
    CandidateRelationship,
    ConceptualModel,
    Entity,
    EntityKey,
)
from fluid_build.modeling.dimensional.column_purposes import (
    is_describing,
    is_naming,
    is_numbering,
    is_status,
)
from fluid_build.modeling.entities import conceptual_model
from fluid_build.modeling.logical import LogicalModel
from fluid_build.profiling.profile import ColumnProfile, Origin, Profile, TableProfile
from fluid_build.report.model_elements import ModelView, model_view
from fluid_build.report.notices import Notice, notices
from fluid_build.sources.addresses.kinds import KINDS
from fluid_build.text import listed
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.proof.proof import Proof, TableProof

ORIGIN_LABELS: Mapping[Origin, str] = {
    "declared": "declared",
    "measured": "inferred",
    "llm": "proposed by a model",
}
"""Who makes a claim, in a word or two."""
WORTH_ASKING = 0.2
"""The confidence from which a candidate is a question: of those below, not one in ten is meant, and
a person who is asked too much stops reading."""


@dataclass(frozen=True, slots=True)
class ColumnView:
    """A column as it was measured, and as the model takes it."""

    measured: ColumnProfile
    attribute: Attribute


_IDENTIFYING = frozenset({"email", "iban", "isbn", "ean", "national_id", "uuid", "url", "vin"})
"""Meanings of values that are there to find one thing by."""


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as it was measured, as the model takes it, and its proof once it was built.

    ``entity.keys`` holds the alternatives to ``key``, each with its reason and the query of its
    evidence.
    """

    measured: TableProfile
    entity: Entity
    proof: TableProof | None = None

    @property
    def name(self) -> str:
        """Return the table's name at the source."""
        return self.measured.name

    @property
    def key(self) -> EntityKey | None:
        """Return the key that was chosen; None where there is none."""
        return self.entity.primary_key

    @property
    def alternate_keys(self) -> tuple[EntityKey, ...]:
        """Return the other keys that hold: declared ones, and columns that number or name rows.

        Prices, days and descriptions that happen to be unique today identify nothing.
        """
        return tuple(
            key
            for key in self.entity.keys
            if key is not self.key and key.holds and (key.kind == "declared" or self._is_meant(key))
        )

    def _is_meant(self, key: EntityKey) -> bool:
        attributes = [self.entity.attribute(name) for name in key.attributes]
        return all(
            a.semantic_type in _IDENTIFYING
            or (is_numbering(a) and not is_status(a))
            or (is_naming(a) and not is_describing(a))
            for a in attributes
        )

    @property
    def columns(self) -> tuple[ColumnView, ...]:
        """Return the columns in the order of the source."""
        pairs = zip(self.measured.columns, self.entity.attributes, strict=True)
        return tuple(ColumnView(measured, attribute) for measured, attribute in pairs)


@dataclass(frozen=True, slots=True)
class SourceView:
    """A source: what to look at first, its tables, their relationships, and what became of them.

    ``notices`` come in the order of their weight. ``model`` and ``proof`` are None where nothing
    was built.
    """

    profile: Profile
    conceptual: ConceptualModel
    notices: tuple[Notice, ...]
    tables: tuple[TableView, ...]
    model: ModelView | None = None
    proof: Proof | None = None

    @property
    def kind_label(self) -> str:
        """Return the kind of source in words; several are named."""
        sources = dict.fromkeys(t.source for t in self.profile.tables if t.source is not None)
        if sources:
            return f"the sources {listed(sources)}"
        kind = KINDS.get(self.profile.source_kind)
        return self.profile.source_kind if kind is None else kind.label

    @property
    def query_hint(self) -> str:
        """Return how to run the queries, where their names aren't the source's own; else empty."""
        kind = KINDS.get(self.profile.source_kind)
        return "" if kind is None else kind.query_hint

    @property
    def rows(self) -> int:
        """Return the number of rows in all tables."""
        return sum(table.measured.rows for table in self.tables)

    @property
    def columns(self) -> tuple[ColumnProfile, ...]:
        """Return the columns of all tables."""
        return tuple(column for table in self.tables for column in table.measured.columns)

    @property
    def questions(self) -> tuple[CandidateRelationship, ...]:
        """Return the candidates that are worth asking about, the least certain first."""
        questions = [each for each in self.conceptual.candidates if each.confidence >= WORTH_ASKING]
        return tuple(sorted(questions, key=lambda candidate: abs(candidate.confidence - 0.5)))


def source_view(
    profile: Profile,
    model: LogicalModel | None = None,
    plan: TransformPlan | None = None,
    proof: Proof | None = None,
) -> SourceView:
    """Return the view of a profile and, where they were made, its model, plan and proof."""
    conceptual = model.conceptual if model is not None else conceptual_model(profile)
    proofs = {} if proof is None else {table.table: table for table in proof.tables}
    return SourceView(
        profile,
        conceptual,
        notices=notices(profile, conceptual),
        tables=tuple(
            TableView(table, entity, proofs.get(table.name))
            for table, entity in zip(profile.tables, conceptual.entities, strict=True)
        ),
        model=None if model is None else model_view(model, plan),
        proof=proof,
    )


def confidence_label(confidence: float) -> str:
    """Return a confidence in hundredths, rounded down: what isn't certain never shows as 1.00."""
    return f"{math.floor(round(confidence * 10_000) / 100) / 100:.2f}"
