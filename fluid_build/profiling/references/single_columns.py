"""The foreign keys of one column that are possible: names and values propose them, all rows judge.

For every column that could refer to something, the keys that it could mean are found by name and
by value, and their inclusion is measured. ``reference_choice`` chooses among them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.lexicon import terms
from fluid_build.profiling.measure.schema import (
    NAMED_AS_KEY,
    MeasuredColumn,
    MeasuredTable,
    group_by_key_kind,
)
from fluid_build.profiling.measure.value_cache import ValueCache
from fluid_build.profiling.references.candidates import ParentCandidate, ParentSearch
from fluid_build.profiling.references.features import ReferenceFeatures, reference_features
from fluid_build.profiling.references.inclusion import (
    Inclusion,
    measure_inclusion,
    rows_that_refer_to_themselves,
)
from fluid_build.profiling.references.probing import Prober
from fluid_build.profiling.references.scores import confidence, score_reference
from fluid_build.profiling.weights import ReferenceWeights, Weights

_MEASURED_CANDIDATES = 6
"""Candidates of a column that are measured at most: the right one is hardly ever further down, and
each may cost a join."""
_CONTACT_WORDS = terms("contact_value")
"""Words for values that are unique to whoever has them, and that nothing refers to."""
_FEWEST_ROWS = 4
"""Fewer rows are unique in anything, which makes no key of it."""
_ROW_WORDS = terms("acting", "version")
"""Words for who wrote a row and in which version, which other rows have, too."""
_SEQUENCE_WORDS = terms("sequence")
_WORLDWIDE_LISTS = tuple(map(terms, ("country", "currency", "language")))
"""Words for what is the same everywhere, whichever table has a column of it."""
_FEWEST_KEYS = 0.85
"""The share of a number's sampled values that must be among the keys that are text."""
_PLAIN_NAME = 0.6
"""The name score from which a key is plainly meant (see ``NameWeights``)."""


@dataclass(slots=True, eq=False)
class ColumnReference:
    """A column that may refer to a key of another (or its own) table, as measured and judged."""

    child: MeasuredColumn
    parent: MeasuredColumn
    features: ReferenceFeatures
    inclusion: Inclusion
    log_odds: float

    @property
    def confidence(self) -> float:
        """The judgement as a probability, before it is calibrated."""
        return confidence(self.log_odds)

    def is_credible(self, weights: ReferenceWeights) -> bool:
        """Return whether its own evidence is enough for it to be reported."""
        features = self.features
        is_named = features.name >= weights.value_only or features.shares_key_name
        return self.confidence >= (weights.accepted if is_named else weights.sure)

    @property
    def name_score(self) -> float:
        """How well the names speak for the reference, 0 to 1."""
        return self.features.name


class ReferenceSearch:
    """The search for the parents that columns may have, given the keys that are chosen so far.

    It is repeated when more keys are chosen; what was measured once isn't measured again.
    ``judged`` holds the references that were judged in the last round, and ``left_keys_out`` says
    whether some keys were too many of a kind to compare each column with all of them.
    """

    def __init__(
        self, cache: ValueCache, tables: Sequence[MeasuredTable], weights: Weights
    ) -> None:
        self.cache = cache
        self.tables = tables
        self.weights = weights
        self.columns = [column for table in tables for column in table.columns if column.key_kind]
        self.prober = Prober(cache, self.columns)
        self.judged: list[ColumnReference] = []
        self.left_keys_out = False
        self._inclusions: dict[tuple[int, int], Inclusion] = {}
        self._name_scores: dict[tuple[int, int], float] = {}
        self._own_rows: dict[tuple[int, int], float] = {}

    def candidates(self) -> list[list[ColumnReference]]:
        """Return the measured candidates of every column that has any, best first."""
        self.judged.clear()
        keys = group_by_key_kind(_possible_parents(self.tables))
        searches = {
            kind: ParentSearch(parents, self.prober, self.weights) for kind, parents in keys.items()
        }
        for child in self.columns:
            self._compare_as_its_key(child, searches)
        measured = (
            self._measure_best(child, searches[child.key_kind].candidates(child))
            for child in self.columns
            if _could_refer(child) and child.key_kind in searches
        )
        found = [candidates for candidates in measured if candidates]
        self.left_keys_out |= any(search.left_keys_out for search in searches.values())
        return found

    def measure(
        self, child: MeasuredColumn, parent: MeasuredColumn, name_score: float
    ) -> ColumnReference:
        """Measure and judge one reference on every row."""
        pair = id(child), id(parent)
        if pair not in self._inclusions:
            self._inclusions[pair] = measure_inclusion(self.cache, [child], [parent])
        inclusion = self._inclusions[pair]
        features = reference_features(child, parent, name_score, inclusion, self.weights.values)
        odds = score_reference(features, self.weights.reference)
        if child.table is parent.table and confidence(odds) >= self.weights.reference.accepted:
            odds += self._copied_key_term(child, parent)
        reference = ColumnReference(child, parent, features, inclusion, odds)
        self.judged.append(reference)
        return reference

    def _copied_key_term(self, child: MeasuredColumn, parent: MeasuredColumn) -> float:
        """Weigh that nearly every row has its own key in a column: that is a second key.

        The roots of a hierarchy may name themselves; most rows have another parent.
        """
        pair = id(child), id(parent)
        if pair not in self._own_rows:
            self._own_rows[pair] = rows_that_refer_to_themselves(
                self.cache.connection, child, parent
            )
        weights = self.weights.reference
        return weights.copied_key if self._own_rows[pair] > weights.copied_key_rows else 0.0

    def measure_candidate(
        self, child: MeasuredColumn, parent: MeasuredColumn
    ) -> ColumnReference | None:
        """Measure a reference that others seemed to beat; None if it isn't a candidate."""
        name_score = self._name_scores.get((id(child), id(parent)))
        return None if name_score is None else self.measure(child, parent, name_score)

    def close(self) -> None:
        """Drop what the search keeps in the database."""
        self.prober.close()

    def _compare_as_its_key(
        self, child: MeasuredColumn, searches: Mapping[str, ParentSearch]
    ) -> None:
        """Compare digits as text if the key that their name means is text.

        A few rows may happen to have only codes without letters, such as those of one region. A
        number must be among the key's values, too.
        """
        is_integer = child.key_kind == "integer" and child.stats.kind in {"text", "integer"}
        if not is_integer or child.stats.is_unique or "text" not in searches:
            return
        named = [
            (score, key)
            for key, score in searches["text"].named_elsewhere(child)
            if score >= _PLAIN_NAME
        ]
        if not named:
            return
        numbers = searches["integer"].named_elsewhere(child) if "integer" in searches else ()
        least = max((score for _, score in numbers), default=0.0)
        is_text = child.stats.kind == "text"
        if any(
            score > least and (is_text or self.prober.share_as_text(child, key) >= _FEWEST_KEYS)
            for score, key in named
        ):
            child.key_kind = "text"
            self.cache.forget(child.table)
            self.prober.probe_again(child)

    def _measure_best(
        self, child: MeasuredColumn, candidates: Sequence[ParentCandidate]
    ) -> list[ColumnReference]:
        for candidate in candidates:
            self._name_scores[id(child), id(candidate.parent)] = candidate.name_score
        measured: list[ColumnReference] = []
        for candidate in candidates[:_MEASURED_CANDIDATES]:
            # It can't win any more against one that was measured: each more may cost a join.
            if any(
                reference.log_odds > candidate.estimate + self.weights.reference.far_ahead
                and reference.inclusion.orphans == 0
                and reference.parent.parsed_name.squashed != candidate.parent.parsed_name.squashed
                for reference in measured
            ):
                break
            measured.append(self.measure(child, candidate.parent, candidate.name_score))
        return measured


def _possible_parents(tables: Iterable[MeasuredTable]) -> Iterable[MeasuredColumn]:
    """Yield the unique columns that others may refer to; nothing refers to an e-mail address."""
    for table in tables:
        for column in table.columns:
            if not column.key_kind or not column.stats.is_unique or column.is_measure:
                continue
            if _numbers_rows(column):
                continue
            if column.is_primary_key or not (
                column.parsed_name.is_reference
                or _tells_of_rows(column)
                or _is_of_another_list(column)
            ):
                yield column


def _numbers_rows(column: MeasuredColumn) -> bool:
    """Return whether a column says in which order the rows are shown, which nothing refers to."""
    is_sequence = not _SEQUENCE_WORDS.isdisjoint(column.parsed_name.entity[-1:])
    return is_sequence and column.own_key_score < NAMED_AS_KEY


def _tells_of_rows(column: MeasuredColumn) -> bool:
    """Return whether a column says how to reach a row, when it was, who wrote it or in which state.

    A few rows may also be unique in anything.
    """
    if column.key_kind == "date" and not column.own_key_score:
        return True
    if column.own_key_score < NAMED_AS_KEY and column.stats.rows < _FEWEST_ROWS:
        return True
    bare, entity = set(column.parsed_name.bare), set(column.parsed_name.entity[-1:])
    return bool(bare & _CONTACT_WORDS or entity & _ROW_WORDS)


def _is_of_another_list(column: MeasuredColumn) -> bool:
    """Return whether a column says in which country, currency or language each row is.

    While no two companies are in one country, ``country_code`` is unique among them, and yet an
    address with that code is in the country and has nothing to do with the company.
    """
    if not column.table.primary_key:
        return False
    named, table = set(column.parsed_name.bare), set(column.table.parsed_name.entity)
    return any(named & words and not table & words for words in _WORLDWIDE_LISTS)


def _could_refer(child: MeasuredColumn) -> bool:
    unfit = child.stats.kind in {"decimal", "boolean"} or child.is_measure
    return child.stats.present > 0 and not unfit
