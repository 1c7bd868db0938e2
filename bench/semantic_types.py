"""How well semantic types and personal data are recognised: precision, recall and F1.

    python bench/semantic_types.py [--corpus DIR] [--labels FILE] [--by-database] [--errors]
    python bench/semantic_types.py --samples [--by-database] [--errors]

Each database is profiled without its constraints. The labels are a CSV file with the columns
database, table, column and label, and optionally ``pii`` (yes, no, or ? for columns that people
disagree about); without it, every label but "none" is personal. All databases of the folder are
read, and a column without a line is none and not personal, except where its table has fewer than
five rows: nobody labelled those. Only types that occur as labels are scored: one of them on a
column with another label is a false positive, a missed one a false negative, and every other type
counts as "none". ``bench/collected`` has labels of the databases of ``sources.toml``, written by
reading a few values of each column. Those of *look-once* have been read; *fresh* has none yet.

Micro scores count columns. Macro scores are the mean F1 over types, and over the databases that
have a label or a false positive; a database without either says nothing. "Personal" scores the yes
or no of the profile's mark.

Nothing here is fitted: the rules, words and thresholds are written by hand and the same for every
database. Leaving a database out changes nothing, so that the score of a database that nobody looked
at is what leave-one-database-out would be: label new databases and pass them by --labels.

``--samples`` judges the generated databases of ``semantic_samples.py`` instead. The time is CPU
time inside ``classify``.
"""

import argparse
import csv
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.keys.databases import profile_database, read_databases  # noqa: E402
from bench.keys.naming import renaming  # noqa: E402
from bench.semantic_samples import samples  # noqa: E402
from fluid_build.profiling import column_meanings  # noqa: E402
from fluid_build.profiling.profile import ColumnProfile  # noqa: E402
from fluid_build.profiling.semantic_types import ColumnFacts, SemanticType, classify  # noqa: E402

CORPUS = ROOT.parent / "shared" / "corpus"
NONE = "none"
PERSONAL = "personal"
GOAL = 0.95
FEWEST_ROWS = 5
"""Of a table whose columns without a line are none."""
PLACE = ("database", "table", "column")


@dataclass(frozen=True)
class Judged:
    """A column with its label and its predicted type.

    ``personal`` is whether it's personal, None if people disagree; ``marked`` is the prediction.
    """

    database: str
    column: str
    label: str
    predicted: str
    reason: str
    personal: bool | None
    marked: bool


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
        if item.predicted == item.label != NONE:
            result.hits += 1
        elif item.predicted != item.label:
            result.false += item.predicted != NONE
            result.missed += item.label != NONE
    return result


def judge_corpus(corpus: Path, labels: Path, clock: Clock) -> list[Judged]:
    """Profile every database that has labels."""
    with labels.open(encoding="utf-8", newline="") as file:
        rows = {(row["database"], row["table"], row["column"]): row for row in csv.DictReader(file)}
    words = {row["label"] for row in rows.values()}
    column_meanings.classify = clock.classify
    judged = []
    for each in read_databases([corpus]):
        names = renaming("as-is", each.truth)
        for table in profile_database(each.folder, each.truth, names).tables:
            for column in table.columns:
                place = each.name, table.name, column.name
                if place in rows or table.rows >= FEWEST_ROWS:
                    row = dict(zip(PLACE, place, strict=True), label=NONE) | rows.get(place, {})
                    judged.append(_judge_column(row, column, words))
    return judged


def _judge_column(row: Mapping[str, str], column: ColumnProfile, words: set[str]) -> Judged:
    name = column.semantic_type or NONE
    answer = row.get("pii") or ("no" if row["label"] == NONE else "yes")
    return Judged(
        database=row["database"],
        column=f"{row['table']}.{row['column']}",
        label=row["label"],
        predicted=name if name in words else NONE,
        reason=column.semantic_reason,
        personal=None if answer == "?" else answer == "yes",
        marked=column.pii,
    )


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
        marked = meaning is not None and meaning.pii
        personal = True if sample.label != NONE else None
        judged.append(Judged(sample.database, place, sample.label, name, reason, personal, marked))
    return judged


def by_label(judged: list[Judged]) -> dict[str, list[Judged]]:
    """Return the columns that have, or were given, each label, with every other label as none."""
    words = sorted({item.label for item in judged} - {NONE})
    return {
        word: [
            replace(
                item,
                label=item.label if item.label == word else NONE,
                predicted=item.predicted if item.predicted == word else NONE,
            )
            for item in judged
            if word in (item.label, item.predicted)
        ]
        for word in words
    }


def by_database(judged: list[Judged]) -> dict[str, list[Judged]]:
    """Return the columns of each database."""
    groups: dict[str, list[Judged]] = {}
    for item in judged:
        groups.setdefault(item.database, []).append(item)
    return dict(sorted(groups.items()))


def as_personal(judged: list[Judged]) -> list[Judged]:
    """Return the columns with "personal" or "none" as label and prediction."""
    return [
        replace(
            item,
            label=PERSONAL if item.personal else NONE,
            predicted=PERSONAL if item.marked else NONE,
        )
        for item in judged
        if item.personal is not None
    ]


def macro(groups: dict[str, list[Judged]]) -> float:
    """Return the mean F1 over the groups with a label or a prediction."""
    scores = map(score, groups.values())
    return fmean(group.f1 for group in scores if group.hits + group.false + group.missed)


def print_scores(title: str, groups: dict[str, list[Judged]]) -> None:
    print(f"\n{title:<26} {'precision':>9} {'recall':>8} {'F1':>8} {'columns':>8}")
    for name, items in groups.items():
        result = score(items)
        counted = f"{result.precision:9.4f} {result.recall:8.4f} {result.f1:8.4f} {len(items):8}"
        print(f"{name:<26} {counted}")


def print_errors(judged: list[Judged]) -> None:
    print("\nlabel -> predicted")
    for item in judged:
        if item.predicted != item.label:
            place = f"{item.database}.{item.column}"
            print(f"{item.label} -> {item.predicted}: {place} {item.reason}")
    print("\npersonal data with a type that has no label")
    for item in judged:
        if item.personal is False and item.marked and item.predicted == NONE:
            print(f"{item.database}.{item.column} {item.reason}")


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
    labelled, databases = by_label(judged), by_database(judged)
    print_scores("", {"types (micro)": judged, "personal data (micro)": as_personal(judged)})
    personal = {name: as_personal(items) for name, items in databases.items()}
    print(f"\nmacro F1 over {len(labelled)} types      {macro(labelled):.4f}")
    print(
        f"macro F1 over databases     {macro(databases):.4f}, personal data {macro(personal):.4f}"
    )
    print_scores("type", labelled)
    if options.by_database:
        print_scores("database", databases)
    if options.errors:
        print_errors(judged)
    print(f"\n{1000 * clock.seconds / clock.calls:.3f} ms a column over {clock.calls} columns")
    return 0 if score(judged).f1 >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
