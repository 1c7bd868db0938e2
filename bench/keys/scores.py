"""Precision, recall and F1 of the keys in a profile, against those that are documented."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from bench.keys.naming import Names
from fluid_build.profiling.profile import Candidate, ForeignKey, Profile


class Key(NamedTuple):
    """A foreign key: its pairs of columns, child first, have no order."""

    child: str
    pairs: frozenset[tuple[str, str]]
    parent: str

    def __str__(self) -> str:
        ordered = sorted(self.pairs)
        columns, keys = ", ".join(a for a, _ in ordered), ", ".join(b for _, b in ordered)
        return f"{self.child}({columns}) -> {self.parent}({keys})"


@dataclass
class Score:
    """Counts of one kind of key, and the errors behind them."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    errors: list[str] = field(default_factory=list)

    def add(self, other: "Score") -> None:
        self.right += other.right
        self.wrong += other.wrong
        self.missed += other.missed

    @property
    def is_empty(self) -> bool:
        return not (self.right or self.wrong or self.missed)

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def line(self) -> str:
        return f"P {self.precision:.3f}  R {self.recall:.3f}  F1 {self.f1:.3f}"


def macro_f1(scores: Iterable[Score]) -> float:
    """Return the mean F1 over the databases that have a true or an inferred key."""
    values = [score.f1 for score in scores if not score.is_empty]
    return sum(values) / len(values) if values else 1.0


@dataclass(frozen=True)
class TrueKeys:
    """The documented foreign keys that the data supports, and those that it doesn't."""

    supported: frozenset[Key]
    unsupported: frozenset[Key]


def true_keys(truth: dict, names: Names) -> TrueKeys:
    supported, unsupported = set(), set()
    for key in truth["foreign_keys"]:
        (supported if key["supported"] else unsupported).add(true_key(key, names))
    return TrueKeys(frozenset(supported), frozenset(unsupported))


def true_key(key: dict, names: Names) -> Key:
    """Return an entry of ``truth.json`` with the names of this run."""
    pairs = frozenset(
        (names.column(key["from_table"], child), names.column(key["to_table"], parent))
        for child, parent in zip(key["from_columns"], key["to_columns"], strict=True)
    )
    return Key(names.table(key["from_table"]), pairs, names.table(key["to_table"]))


def key_of(reference: ForeignKey | Candidate) -> Key:
    pairs = frozenset(zip(reference.from_columns, reference.to_columns, strict=True))
    return Key(reference.from_table, pairs, reference.to_table)


@dataclass(frozen=True)
class ForeignKeyErrors:
    """The references that are wrong, and the true ones that were missed."""

    wrong: list[Key]
    missed: list[Key]


def foreign_key_errors(profile: Profile, truth: dict, names: Names) -> ForeignKeyErrors:
    claimed = {key_of(key) for key in profile.foreign_keys if not key.implied}
    implied = {key_of(key) for key in profile.foreign_keys if key.implied}
    true = true_keys(truth, names)
    wrong, missed = claimed - true.supported - true.unsupported, true.supported - implied - claimed
    return ForeignKeyErrors(sorted(wrong, key=str), sorted(missed, key=str))


def score_foreign_keys(profile: Profile, truth: dict, names: Names) -> tuple[Score, Score]:
    """Return the score of all foreign keys, and that of composite ones.

    A composite one counts as found if it's marked as implied, too.
    """
    errors = foreign_key_errors(profile, truth, names)
    claimed = {key_of(key) for key in profile.foreign_keys if not key.implied}
    supported = true_keys(truth, names).supported
    score = Score(len(claimed & supported), len(errors.wrong), len(errors.missed))
    score.errors = [f"wrong   {key}" for key in errors.wrong]
    score.errors += [f"missed  {key}" for key in errors.missed]
    composites = {key for key in supported if len(key.pairs) > 1}
    inferred = {key_of(key) for key in profile.foreign_keys}
    return score, Score(
        right=len(composites & inferred),
        wrong=sum(len(key.pairs) > 1 for key in errors.wrong),
        missed=len(composites - inferred),
    )


@dataclass(frozen=True)
class TableKey:
    """The key of a table as chosen and as documented, either of them empty if there is none.

    ``is_required`` says that the data has rows and obeys the documented key.
    """

    table: str
    chosen: tuple[str, ...]
    true: frozenset[str]
    is_required: bool

    @property
    def is_right(self) -> bool:
        """Whether it's the true key or a smaller one inside it."""
        return bool(self.chosen) and set(self.chosen) <= self.true

    def __str__(self) -> str:
        return f"{self.table}: {sorted(self.chosen)}, true {sorted(self.true)}"


def table_keys(profile: Profile, truth: dict, names: Names) -> list[TableKey]:
    """Return the tables that have a chosen or a documented key."""
    primary_keys = {table.name: table.primary_key for table in profile.tables}
    keys = []
    for table, described in truth["tables"].items():
        true = frozenset(names.column(table, column) for column in described["primary_key"] or ())
        is_required = bool(true and described["rows"] and described.get("pk_holds", True))
        chosen = primary_keys.get(names.table(table)) or ()
        if chosen or is_required:
            keys.append(TableKey(names.table(table), chosen, true, is_required))
    return keys


def score_primary_keys(profile: Profile, truth: dict, names: Names) -> Score:
    """Return the score of primary keys; a key of a table without a documented one is wrong."""
    score = Score()
    for key in table_keys(profile, truth, names):
        if key.is_right:
            score.right += 1
            continue
        score.wrong += bool(key.chosen)
        score.missed += key.is_required
        score.errors.append(f"key     {key}")
    return score
