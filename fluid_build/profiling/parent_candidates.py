"""Which keys a column could refer to: those its name points at, and those its values fit.

Every column is compared with the few keys that share the beginning of a word with it. Only where no
name is convincing are keys sought by values alone, and then only primary keys whose values are
telling: text, sparse numbers, numbers far from 1, or a range that the column just fills.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fluid_build.profiling.foreign_key_scores import judge, value_evidence
from fluid_build.profiling.inclusion import Inclusion, Prober
from fluid_build.profiling.measured_tables import MeasuredColumn, group_by_table, name_refers
from fluid_build.profiling.name_similarity import refers, same_name, synonyms
from fluid_build.profiling.names import ParsedColumnName

_NAMED = 0.4
_NAMED_ATTRIBUTE = 0.6
_CONVINCING = 2.0
_WORTH_MEASURING = -1.0
_LONG_WORD = 6
_GLUED = 4
_RANGE_SLACK = 0.05
_TELLING = 150


@dataclass(frozen=True, slots=True)
class ParentCandidate:
    """A key that a column may refer to, and how credible that is by names and a few values."""

    parent: MeasuredColumn
    name_score: float
    guess: float


class ParentSearch:
    """The keys of a schema of one comparable kind, ready to be looked up."""

    def __init__(self, parents: Sequence[MeasuredColumn], prober: Prober) -> None:
        self.prober = prober
        self.names = _NameIndex(parents)
        self.of_table = group_by_table(parents)
        self.primary = [p for p in parents if _is_primary(p)]
        self.telling = [p for p in self.primary if not p.dense]
        self.dense = [p for p in self.primary if p.dense]
        self._meant: dict[int, list[tuple[MeasuredColumn, float]]] = {}

    def candidates(self, child: MeasuredColumn) -> list[ParentCandidate]:
        """The keys worth measuring, most credible first."""
        found = {
            id(parent): candidate
            for parent, score in self._named(child)
            if (candidate := self._judged(child, parent, score))
        }
        if not any(candidate.guess > _CONVINCING for candidate in found.values()):
            for parent in self._fitting(child):
                if id(parent) not in found and (unnamed := self._judged(child, parent, 0.0)):
                    found[id(parent)] = unnamed
        return sorted(found.values(), key=lambda c: (-c.guess, str(c.parent)))

    def _named(self, child: MeasuredColumn) -> Iterable[tuple[MeasuredColumn, float]]:
        """The keys that a column's name may point at, and how well it does."""
        scored = [(parent, 0.0) for parent in self.of_table.get(child.table.index, ())]
        scored += [near for near in self._meant_by(child.name) if near[0].table is not child.table]
        for parent, known in scored:
            if parent is child or not _bounds_overlap(child, parent):
                continue
            score = name_refers(child, parent, known)
            if score >= (_NAMED if _is_primary(parent) else _NAMED_ATTRIBUTE):
                yield parent, score

    def _meant_by(self, name: ParsedColumnName) -> list[tuple[MeasuredColumn, float]]:
        """The keys that a name may point at wherever it stands; columns often share their names."""
        if id(name) not in self._meant:
            scored = (
                (p, refers(name, p.name, p.table.names.table, p.self_explaining))
                for p in self.names.near(name)
            )
            self._meant[id(name)] = [
                (parent, score)
                for parent, score in scored
                if score >= _NAMED or same_name(name, parent.name)
            ]
        return self._meant[id(name)]

    def _judged(
        self, child: MeasuredColumn, parent: MeasuredColumn, score: float
    ) -> ParentCandidate | None:
        share = self.prober.share(child, parent)
        if share < _least_share(score):
            return None
        guess = _guess(child, parent, share)
        odds = judge(child, parent, score, guess, value_evidence(child, parent, guess))
        return ParentCandidate(parent, score, odds) if odds > _WORTH_MEASURING else None

    def _fitting(self, child: MeasuredColumn) -> Iterable[MeasuredColumn]:
        """Primary keys that hold all probed values of a column and are not there by chance."""
        if child.stats.is_key and child.table.primary_key == (child.stats.name,):
            return
        for parent in self.telling:
            if parent is not child and _within(child, parent):
                yield parent
        low, high = child.low, child.high
        if low is None or high is None:
            return
        for parent in self.dense:
            first, last = parent.low or 0, parent.high or 0
            if parent is child or low < first or high > last:
                continue
            if first > 1 or last - high <= _RANGE_SLACK * (last - first + 1):
                yield parent


class _NameIndex:
    """Keys by the beginnings of the words that name them, and by their glued names."""

    def __init__(self, parents: Sequence[MeasuredColumn]) -> None:
        self.starts: dict[str, list[MeasuredColumn]] = defaultdict(list)
        self.glued: dict[str, list[MeasuredColumn]] = defaultdict(list)
        for parent in parents:
            for start in _filed_under(_naming_words(parent)):
                self.starts[start].append(parent)
            for phrase in (parent.table.names.table.entity, parent.name.entity):
                if len(whole := "".join(phrase)) >= _GLUED:
                    self.glued[whole].append(parent)

    def near(self, name: ParsedColumnName) -> Iterable[MeasuredColumn]:
        """The keys whose names a column's name could mean.

        A beginning that very many keys share tells nothing; of those, only the keys whose whole
        name ends the column's name are found.
        """
        own = {*name.entity, *name.bare, *name.full}
        found: dict[int, MeasuredColumn] = {}
        for start in _looked_up({*own, *(s for word in own for s in synonyms(word))}):
            filed = self.starts.get(start, ())
            if len(filed) <= _TELLING:
                found.update((id(p), p) for p in filed)
        whole = "".join(name.entity)
        for cut in range(len(whole) - _GLUED + 1):
            found.update((id(p), p) for p in self.glued.get(whole[cut:], ()))
        return found.values()


def _naming_words(parent: MeasuredColumn) -> set[str]:
    return {*parent.table.names.table.entity, *parent.name.entity, *parent.name.full}


def _is_primary(parent: MeasuredColumn) -> bool:
    return parent.table.primary_key == (parent.stats.name,)


def _filed_under(words: Iterable[str]) -> set[str]:
    """Where a key is filed: under the first three letters of each of its words, and the first."""
    starts = {word[:3] for word in words}
    return starts | {word[:1] + "*" for word in words if not word.isdigit()}


def _looked_up(words: Iterable[str]) -> set[str]:
    """Where a column looks: of a short word, perhaps an abbreviation, only one letter is sure."""
    return {
        word[:1] + "*" if len(word) < _LONG_WORD and not word.isdigit() else word[:3]
        for word in words
    }


def _least_share(name_score: float) -> float:
    """How much of the probes must be keys for a pair to be worth measuring."""
    if name_score >= 0.5:
        return 0.4
    return 0.85 if name_score >= _NAMED else 0.999


def _bounds_overlap(child: MeasuredColumn, parent: MeasuredColumn) -> bool:
    if child.comparable != "integer":
        return True
    low, high = parent.low, parent.high
    if low is None or high is None or child.low is None or child.high is None:
        return True
    return child.low <= high and child.high >= low


def _within(child: MeasuredColumn, parent: MeasuredColumn) -> bool:
    if child.comparable != "integer":
        return True
    if None in (child.low, child.high, parent.low, parent.high):
        return True
    return (child.low or 0) >= (parent.low or 0) and (child.high or 0) <= (parent.high or 0)


def _guess(child: MeasuredColumn, parent: MeasuredColumn, share: float) -> Inclusion:
    stats = child.stats
    matched = round(stats.distinct * share)
    return Inclusion(
        stats.present,
        round(stats.present * share),
        stats.distinct,
        matched,
        parent.stats.distinct,
        0,
    )
