"""How close a built model comes to the expected one, aspect by aspect.

A built element is paired with the expected one of the same table and kind, a derived dimension with
the one that it shares at least half of all columns with. Then each aspect counts what is right,
what is wrong (built, but not expected) and what is missed (expected, but not built):

- ``kinds``: tables with their kind. ``collapsed`` and ``left_out`` expect no element of a table.
- ``types`` of facts, links and satellites, ``grain`` of facts and bridges, ``dates`` of facts and
  business ``keys`` of hubs: one value for each element. Another value is both wrong and missed.
  The values of an element that isn't expected are wrong, those of a missed one are missed.
- ``measures``: columns that some fact measures; ``additivity``: these columns with their
  additivity. A measure that is calculated of several columns isn't counted.
- ``parents``: the hubs that a link connects, or that a satellite describes, once for each role.
  Tables that may or may not be a hub aren't counted.

Of alternatives, any is right. What is optional counts neither way.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bench.expected_models.elements import (
    KINDS,
    BuiltElement,
    Column,
    ExpectedElement,
)
from bench.expected_models.pairing import Pairing, pair_elements

ASPECTS = ("kinds", "types", "grain", "dates", "measures", "additivity", "keys", "parents")
_ASPECTS_OF_KINDS: Mapping[str, tuple[str, ...]] = {
    "fact": ("types", "grain", "dates"),
    "bridge": ("grain",),
    "hub": ("keys",),
    "link": ("types", "parents"),
    "satellite": ("types", "parents"),
}


@dataclass
class Score:
    """Counts of one aspect, and a line for each difference."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    errors: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0

    @property
    def f1(self) -> float:
        total = 2 * self.right + self.wrong + self.missed
        return 2 * self.right / total if total else 1.0

    @property
    def is_empty(self) -> bool:
        return not (self.right or self.wrong or self.missed)

    def add(self, other: "Score") -> None:
        self.right += other.right
        self.wrong += other.wrong
        self.missed += other.missed
        self.errors += other.errors


@dataclass
class ModelScore:
    """The scores of a model by aspect, and of its elements by kind."""

    aspects: dict[str, Score] = field(default_factory=lambda: {a: Score() for a in ASPECTS})
    kinds: dict[str, Score] = field(
        default_factory=lambda: {kind: Score() for kinds in KINDS.values() for kind in kinds}
    )

    def add(self, other: "ModelScore") -> None:
        for aspect, score in other.aspects.items():
            self.aspects[aspect].add(score)
        for kind, score in other.kinds.items():
            self.kinds[kind].add(score)


def score_model(expected: Sequence[ExpectedElement], built: Sequence[BuiltElement]) -> ModelScore:
    """Compare the elements of one layer of a model with the expected ones."""
    pairing = pair_elements(*_without_undecided_parents(expected, built))
    score = ModelScore()
    _score_kinds(score, pairing)
    for element, counterpart in pairing.pairs:
        _score_values(score, counterpart.kind, element, counterpart)
    for element in pairing.missed:
        _score_values(score, element.kinds[0], element, None)
    for counterpart in pairing.wrong:
        _score_values(score, counterpart.kind, None, counterpart)
    _score_measures(score, pairing)
    return score


def _without_undecided_parents(
    expected: Sequence[ExpectedElement], built: Sequence[BuiltElement]
) -> tuple[list[ExpectedElement], list[BuiltElement]]:
    """Return the elements without parents of which experts may or may not draw a hub."""
    undecided = {e.table for e in expected if "hub" in e.kinds and len(e.kinds) > 1}

    def decided(parents: Sequence[str]) -> tuple[str, ...]:
        return tuple(table for table in parents if table not in undecided)

    return (
        [replace(e, parents=tuple(map(decided, e.parents))) for e in expected],
        [replace(b, parents=decided(b.parents)) for b in built],
    )


def _score_kinds(score: ModelScore, pairing: Pairing) -> None:
    for _, built in pairing.pairs:
        score.kinds[built.kind].right += 1
    for element in pairing.missed:
        kind_score = score.kinds[element.kinds[0]]
        kind_score.missed += 1
        built_kinds = [built.kind for built in pairing.wrong if built.table == element.table]
        kind_score.errors.append(_difference(element.label, element.kinds, built_kinds))
    missed_tables = {element.table for element in pairing.missed}
    for built in pairing.wrong:
        # An expert draws no keyless table, so there's only the missed kind to count.
        if built.kind not in score.kinds:
            continue
        kind_score = score.kinds[built.kind]
        kind_score.wrong += 1
        if built.table not in missed_tables:
            allowed = [kind for e in pairing.absent if e.table == built.table for kind in e.kinds]
            kind_score.errors.append(_difference(built.label, allowed, [built.kind]))
    for kind_score in score.kinds.values():
        score.aspects["kinds"].add(kind_score)


def _score_values(
    score: ModelScore,
    kind: str,
    expected: ExpectedElement | None,
    built: BuiltElement | None,
) -> None:
    """Score the aspects that a kind of element has, of a pair or of an element alone."""
    label = next(element.label for element in (expected, built) if element is not None)
    for aspect in _ASPECTS_OF_KINDS.get(kind, ()):
        alternatives = _expected_values(expected, aspect) if expected else [frozenset()]
        built_values = _built_values(built, aspect) if built else frozenset()
        if alternatives:
            _compare(score.aspects[aspect], label, alternatives, built_values)


def _compare(score: Score, label: str, alternatives: Sequence[frozenset], built: frozenset) -> None:
    """Count values of an element, as the alternative that is closest to them would have them."""
    expected = min(alternatives, key=lambda values: len(values ^ built))
    score.right += len(expected & built)
    score.wrong += len(built - expected)
    score.missed += len(expected - built)
    if expected != built:
        missed, wrong = map(_text, expected - built), map(_text, built - expected)
        score.errors.append(_difference(label, missed, wrong))


def _expected_values(element: ExpectedElement, aspect: str) -> list[frozenset]:
    """Return what an element's aspect may be: a set of values for each alternative."""
    if aspect == "types":
        return [frozenset({value}) for value in element.types]
    if aspect == "grain":
        return [frozenset({columns}) for columns in element.grains]
    if aspect == "dates":
        return [frozenset({date} if date else ()) for date in element.dates]
    if aspect == "keys":
        return [frozenset({columns}) for columns in element.keys]
    return [_numbered(tables) for tables in element.parents]


def _built_values(element: BuiltElement, aspect: str) -> frozenset:
    if aspect == "parents":
        return _numbered(element.parents)
    value = {
        "types": element.type,
        "grain": element.grain,
        "dates": element.date,
        "keys": element.key,
    }[aspect]
    return frozenset({value} if value else ())


def _numbered(tables: Sequence[str]) -> frozenset[tuple[str, int]]:
    """Return tables with a number for each time that they occur."""
    return frozenset((table, tables[:i].count(table) + 1) for i, table in enumerate(tables))


def _score_measures(score: ModelScore, pairing: Pairing) -> None:
    """Score the measures of all facts together: a header's may be measured on its lines."""
    expected, optional = _expected_measures(pairing)
    built = {
        column: additivity
        for element in (*(built for _, built in pairing.pairs), *pairing.wrong)
        for column, additivity in element.measures.items()
        if column not in optional
    }
    _compare(score.aspects["measures"], "measures", [frozenset(expected)], frozenset(built))
    for column in sorted({*expected, *built}):
        alternatives = [frozenset({a}) for a in expected.get(column, ())] or [frozenset()]
        additivity = frozenset({built[column]} if column in built else ())
        _compare(score.aspects["additivity"], str(column), alternatives, additivity)


def _expected_measures(pairing: Pairing) -> tuple[dict[Column, tuple[str, ...]], set[Column]]:
    """Return the measures by the additivities that each may have, and those that are optional.

    What a table measures is optional where it was rightly built as something else than a fact.
    """
    kinds = [
        *((element, counterpart.kind) for element, counterpart in pairing.pairs),
        *((element, element.kinds[0]) for element in pairing.missed),
        *((element, "") for element in pairing.absent),
    ]
    expected: dict[Column, tuple[str, ...]] = {}
    optional: set[Column] = set()
    for element, kind in kinds:
        for measure in element.measures:
            if measure.optional or kind != "fact":
                optional.add(measure.column)
            else:
                expected[measure.column] = measure.additivities
    return expected, optional


def _difference(label: str, expected: Iterable[str], built: Iterable[str]) -> str:
    return f"{label}: expected {_listed(expected)}, built {_listed(built)}"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(sorted(words)) or "nothing"


def _text(value: object) -> str:
    if isinstance(value, frozenset):
        return f"({', '.join(sorted(value))})"
    if isinstance(value, tuple) and not isinstance(value, Column):
        return str(value[0])
    return str(value)
