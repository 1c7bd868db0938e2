"""How well keys are found: precision, recall and F1 on databases without their constraints.

    python bench/accuracy.py --corpus ../shared/corpus
    python bench/accuracy.py --corpus ../shared/corpus --names upper --errors
    python bench/accuracy.py --weight reference.name=6 --weight composite.accepted=0.5

A corpus folder has a folder for each database, with ``data/*.parquet`` and ``truth.json``. A
foreign key that the data doesn't support (``"supported": false``), or that we mark as implied,
counts neither way. A primary key counts as found if it is the true one or a smaller key inside it.
A key for a table that has none counts as wrong. True keys that the data violates, and those of
empty tables, don't count as missed.

``--names`` rewrites every name first (camel, pascal, snake, upper, glued, abbreviated) or replaces
them by numbers (none), to show how much depends on names. ``--weight`` changes a weight of the
judgement. Nothing is fitted to the corpus, so there is nothing to hold out.
"""

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import duckdb

from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile
from fluid_build.profiling.weights import DEFAULT_WEIGHTS, Weights
from fluid_build.sources import open_source
from fluid_build.sources.sql import literal, quote

Key = tuple[str, frozenset[tuple[str, str]], str]
Rename = Callable[[str], str]
HERE = Path(__file__).resolve().parent


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


def main() -> int:
    options = read_options()
    databases = sorted(path.parent for path in options.corpus.glob("*/truth.json"))
    if not databases:
        print(f"No database with a truth.json under {options.corpus}.", file=sys.stderr)
        return 2
    foreign, primary, composite = Score(), Score(), Score()
    began = time.perf_counter()
    print(f"{'database':22}{'foreign keys':40}{'primary keys':40}")
    for folder in databases:
        truth = json.loads((folder / "truth.json").read_text())
        names = renaming(options.names, truth)
        profile = profile_database(folder, truth, names, options.weights)
        fk, compound = score_foreign_keys(profile, truth, names)
        pk = score_primary_keys(profile, truth, names)
        foreign.add(fk)
        composite.add(compound)
        primary.add(pk)
        print(f"{truth['name']:22}{fk.line():40}{pk.line():40}")
        if options.errors:
            for error in (*fk.errors, *pk.errors):
                print("    " + error)
    print("-" * 100)
    print(f"{'all (micro)':22}{foreign.line():40}{primary.line():40}")
    total = composite.right + composite.missed
    print(f"composite foreign keys {composite.right} of {total}; ", end="")
    print(f"{len(databases)} databases in {time.perf_counter() - began:.1f} s")
    return 0


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--corpus", type=Path, default=HERE.parent.parent / "shared" / "corpus")
    parser.add_argument("--names", default="as-is", choices=["as-is", *STYLES, "none"])
    parser.add_argument("--errors", action="store_true", help="list wrong and missed keys")
    parser.add_argument(
        "--weight", action="append", default=[], metavar="GROUP.NAME=NUMBER", help="repeatable"
    )
    options = parser.parse_args()
    try:
        options.weights = changed_weights(options.weight)
    except ValueError as error:
        parser.error(str(error))
    return options


def changed_weights(changes: Iterable[str]) -> Weights:
    """Return the weights with changes such as ``reference.name=6``."""
    weights = DEFAULT_WEIGHTS
    for change in changes:
        path, _, number = change.partition("=")
        group_name, _, name = path.partition(".")
        group = getattr(weights, group_name, None)
        if group is None or name not in {field.name for field in fields(group)}:
            raise ValueError(f"There is no weight {path!r}; see fluid_build/profiling/weights.py.")
        weights = replace(weights, **{group_name: replace(group, **{name: float(number)})})
    return weights


def profile_database(
    folder: Path, truth: dict, names: "Names", weights: Weights = DEFAULT_WEIGHTS
) -> Profile:
    if names.plain:
        with open_source(str(folder / "data")) as source:
            return profile_source(source, weights=weights)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "renamed.duckdb"
        with duckdb.connect(str(path)) as connection:
            for table, described in truth["tables"].items():
                columns = ", ".join(
                    f"{quote(column)} AS {quote(names.column(table, column))}"
                    for column in described["columns"]
                )
                connection.execute(
                    f"CREATE TABLE {quote(names.table(table))} AS SELECT {columns}"
                    f" FROM read_parquet({literal(str(folder / 'data' / f'{table}.parquet'))})"
                )
        with open_source(f"duckdb:///{path}") as source:
            return profile_source(source, weights=weights)


def score_foreign_keys(profile: Profile, truth: dict, names: "Names") -> tuple[Score, Score]:
    found, implied = set(), set()
    for key in profile.foreign_keys:
        pairs = frozenset(zip(key.from_columns, key.to_columns, strict=True))
        (implied if key.implied else found).add((key.from_table, pairs, key.to_table))
    supported, unsupported = set(), set()
    for key in truth["foreign_keys"]:
        (supported if key["supported"] else unsupported).add(true_key(key, names))
    required = supported - implied
    score, compound = Score(), Score()
    score.right = len(found & required)
    wrong, missed = found - supported - unsupported, required - found
    score.wrong, score.missed = len(wrong), len(missed)
    score.errors = [f"wrong   {show(key)}" for key in sorted(wrong, key=show)]
    score.errors += [f"missed  {show(key)}" for key in sorted(missed, key=show)]
    compound.right = sum(len(key[1]) > 1 for key in (found | implied) & supported)
    compound.missed = sum(len(key[1]) > 1 for key in supported - found - implied)
    return score, compound


def true_key(key: dict, names: "Names") -> Key:
    pairs = frozenset(
        (names.column(key["from_table"], child), names.column(key["to_table"], parent))
        for child, parent in zip(key["from_columns"], key["to_columns"], strict=True)
    )
    return names.table(key["from_table"]), pairs, names.table(key["to_table"])


def show(key: Key) -> str:
    child, pairs, parent = key
    ordered = sorted(pairs)
    columns, keys = ", ".join(a for a, _ in ordered), ", ".join(b for _, b in ordered)
    return f"{child}({columns}) -> {parent}({keys})"


def score_primary_keys(profile: Profile, truth: dict, names: "Names") -> Score:
    score = Score()
    chosen = {table.name: table.primary_key for table in profile.tables}
    for table, described in truth["tables"].items():
        true_columns = {names.column(table, column) for column in described["primary_key"] or ()}
        found = set(chosen.get(names.table(table)) or ())
        required = true_columns and described["rows"] and described.get("pk_holds", True)
        if found and true_columns and found <= true_columns:
            score.right += 1
            continue
        if required:
            score.missed += 1
        if found:
            score.wrong += 1
        if required or found:
            score.errors.append(
                f"key     {names.table(table)}: {sorted(found)}, true {sorted(true_columns)}"
            )
    return score


# Names ------------------------------------------------------------------------------------------

_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def _words(name: str) -> list[str]:
    return [part.lower() for part in _PARTS.findall(name)] or ["x"]


def _shorten(word: str) -> str:
    if len(word) <= 4:
        return word
    consonants = word[0] + "".join(letter for letter in word[1:] if letter not in "aeiou")
    return consonants[:4]


STYLES: dict[str, Rename] = {
    "camel": lambda name: _words(name)[0] + "".join(w.title() for w in _words(name)[1:]),
    "pascal": lambda name: "".join(word.title() for word in _words(name)),
    "snake": lambda name: "_".join(_words(name)),
    "upper": lambda name: "_".join(_words(name)).upper(),
    "glued": lambda name: "".join(_words(name)),
    "abbreviated": lambda name: "_".join(_shorten(word) for word in _words(name)),
}


@dataclass
class Names:
    """The names that a database's tables and columns have in this run."""

    plain: bool
    tables: dict[str, str]
    columns: dict[tuple[str, str], str]

    def table(self, name: str) -> str:
        return self.tables[name]

    def column(self, table: str, name: str) -> str:
        return self.columns[table, name]


def renaming(style: str, truth: dict) -> Names:
    """Return new names in a style, each made unique, or numbers (``none``)."""
    if style == "as-is":
        tables = {table: table for table in truth["tables"]}
        return Names(True, tables, dict(_each_column(truth, lambda _, name: name)))
    if style == "none":
        tables = {table: f"t{index}" for index, table in enumerate(truth["tables"])}
        return Names(False, tables, dict(_each_column(truth, lambda index, _: f"f{index}")))
    rename = STYLES[style]
    tables = _unique({table: rename(table) for table in truth["tables"]})
    columns: dict[tuple[str, str], str] = {}
    for table, described in truth["tables"].items():
        renamed = _unique({name: rename(name) for name in described["columns"]})
        columns.update({(table, name): new for name, new in renamed.items()})
    return Names(False, tables, columns)


def _each_column(
    truth: dict, rename: Callable[[int, str], str]
) -> Iterator[tuple[tuple[str, str], str]]:
    for table, described in truth["tables"].items():
        for index, name in enumerate(described["columns"]):
            yield (table, name), rename(index, name)


def _unique(names: dict[str, str]) -> dict[str, str]:
    used: set[str] = set()
    for old, new in names.items():
        candidate, number = new, 2
        while candidate.lower() in used:
            candidate, number = f"{new}{number}", number + 1
        used.add(candidate.lower())
        names[old] = candidate
    return names


if __name__ == "__main__":
    sys.exit(main())
