"""How well semantic types are found: micro precision, recall and F1 over labelled columns.

    python bench/semantic_types.py [--corpus DIR] [--labels FILE] [--by-database] [--errors]
    python bench/semantic_types.py --samples [--by-database] [--errors]

The corpus is profiled with ``open_source`` and ``profile_source``. The labels are a CSV file with
the columns database, table, column and label. Only types that occur as labels are scored: one of
them on a column with another label is a false positive, a missed one a false negative, and every
other type counts as "none". ``--samples`` judges the generated databases of
``semantic_samples.py`` instead. The time is CPU time inside ``classify``.
"""

import argparse
import csv
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from semantic_samples import samples

from fluid_build.profiling import profile_assembly, profile_source
from fluid_build.profiling.semantic_types import ColumnFacts, SemanticType, classify
from fluid_build.sources import open_source

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
NONE = "none"
GOAL = 0.95


@dataclass(frozen=True)
class Judged:
    """A column with its label and the type that was found."""

    database: str
    column: str
    label: str
    found: str
    reason: str


@dataclass
class Clock:
    """Counts the calls of ``classify`` and the CPU seconds they take."""

    calls: int = 0
    seconds: float = 0.0

    def classify(self, facts: ColumnFacts) -> SemanticType | None:
        begin = time.process_time()
        meaning = classify(facts)
        self.seconds += time.process_time() - begin
        self.calls += 1
        return meaning


@dataclass
class Score:
    """True positives, false positives and false negatives."""

    hits: int = 0
    false: int = 0
    missed: int = 0
    labels: Counter[str] = field(default_factory=Counter)

    @property
    def precision(self) -> float:
        return self.hits / (self.hits + self.false) if self.hits + self.false else 1.0

    @property
    def recall(self) -> float:
        return self.hits / (self.hits + self.missed) if self.hits + self.missed else 1.0

    @property
    def f1(self) -> float:
        total = 2 * self.hits + self.false + self.missed
        return 2 * self.hits / total if total else 1.0


def score(judged: Iterable[Judged]) -> Score:
    result = Score()
    for item in judged:
        if item.found == item.label != NONE:
            result.hits += 1
        elif item.found != item.label:
            result.false += item.found != NONE
            result.missed += item.label != NONE
    return result


def judge_corpus(corpus: Path, labels: Path, clock: Clock) -> list[Judged]:
    """Profile every database that has labels."""
    with labels.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    profile_assembly.classify = clock.classify
    meanings: dict[tuple[str, str, str], tuple[str, str]] = {}
    for database in sorted({row["database"] for row in rows}):
        with open_source(str(corpus / database / "data")) as source:
            profile = profile_source(source)
        for table in profile.tables:
            for column in table.columns:
                key = (database, table.name, column.name)
                meanings[key] = (column.semantic_type or NONE, column.semantic_reason)
    words = {row["label"] for row in rows}
    judged = []
    for row in rows:
        name, reason = meanings[row["database"], row["table"], row["column"]]
        place = f"{row['table']}.{row['column']}"
        word = name if name in words else NONE
        judged.append(Judged(row["database"], place, row["label"], word, reason))
    return judged


def judge_samples(clock: Clock) -> list[Judged]:
    """Judge the generated databases, whose facts need no profiling."""
    generated = samples()
    words = {sample.label for sample in generated}
    judged = []
    for sample in generated:
        meaning = clock.classify(sample.facts)
        name = meaning.name if meaning and meaning.name in words else NONE
        place = f"{sample.facts.table}.{sample.facts.column}"
        reason = meaning.reason if meaning else ""
        judged.append(Judged(sample.database, place, sample.label, name, reason))
    return judged


def print_scores(title: str, groups: dict[str, list[Judged]]) -> None:
    print(f"\n{title:<22} {'precision':>9} {'recall':>8} {'F1':>8} {'columns':>8}")
    for name, items in groups.items():
        result = score(items)
        counted = f"{result.precision:9.4f} {result.recall:8.4f} {result.f1:8.4f} {len(items):8}"
        print(f"{name:<22} {counted}")


def by_label(judged: list[Judged]) -> dict[str, list[Judged]]:
    words = sorted({item.label for item in judged} - {NONE})
    return {
        word: [
            Judged(
                item.database,
                item.column,
                item.label if item.label == word else NONE,
                item.found if item.found == word else NONE,
                item.reason,
            )
            for item in judged
            if word in (item.label, item.found)
        ]
        for word in words
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--labels", type=Path, help="default: _pii/labels.csv in the corpus")
    parser.add_argument("--samples", action="store_true", help="judge the generated databases")
    parser.add_argument("--by-database", action="store_true")
    parser.add_argument("--errors", action="store_true", help="list the columns with a wrong type")
    options = parser.parse_args()
    clock = Clock()
    if options.samples:
        judged = judge_samples(clock)
    else:
        labels = options.labels or options.corpus / "_pii" / "labels.csv"
        judged = judge_corpus(options.corpus, labels, clock)
    print_scores("", {"micro": judged})
    print_scores("label", by_label(judged))
    if options.by_database:
        names = sorted({item.database for item in judged})
        print_scores(
            "database", {name: [j for j in judged if j.database == name] for name in names}
        )
    if options.errors:
        print("\nlabel -> found")
        for item in judged:
            if item.found != item.label:
                print(f"{item.label} -> {item.found}: {item.database}.{item.column} {item.reason}")
    print(f"\n{1000 * clock.seconds / clock.calls:.3f} ms a column over {clock.calls} columns")
    return 0 if score(judged).f1 >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
