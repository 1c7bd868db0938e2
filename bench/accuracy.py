"""How well keys are found: precision, recall and F1 on databases without their constraints.

    python bench/accuracy.py                              # ../shared/corpus and corpus_more
    python bench/accuracy.py --leave-one-out
    python bench/accuracy.py --corpus DIR --names upper --errors
    python bench/accuracy.py --weight reference.name=6 --weight composite.accepted=0.5
    python bench/accuracy.py --worlds 40 --seed 1         # made-up databases
    python bench/accuracy.py --worlds 40 --seed 1 --by-hazard
    python bench/accuracy.py --collected learn            # of bench/sources.py, in ../collected

A corpus folder has a folder for each database, with ``data/*.parquet`` and ``truth.json``. A
foreign key that the data doesn't support (``"supported": false``), or that we mark as implied,
counts neither way. A primary key counts as found if it is the true one or a smaller key inside it.
A key for a table that has none counts as wrong. True keys that the data violates, and those of
empty tables, don't count as missed.

The calibration error is over all judged references: those that were chosen and the candidates that
weren't. Only the tables of the calibration are fitted (``bench/calibrate.py``); with
``--leave-one-out``, those for each database are fitted to the others. The weights are set by hand.

``--collected`` scores a part of the databases of ``bench/sources.toml`` twice: by the references
that their sources declare, and with those of ``bench/collected/settled_*.toml``. Where an
application declares few of its references, only the second figure says how good we are. Errors of
*fresh* aren't shown; those of *look-once* are, since it has been read.

``--by-hazard`` scores made-up databases with each hazard alone (a client in every key, initialisms
for names, ...: ``bench/worlds/hazards.py``), or those that are named, beside the same databases
without it.

``--names`` rewrites every name first (camel, pascal, snake, upper, glued, abbreviated) or replaces
them by numbers (none), to show how much depends on names. ``--weight`` changes a weight of the
judgement. ``--errors`` lists wrong and missed keys, each with its reason; the confidences are those
that users see, except with ``--leave-one-out``, where they aren't calibrated.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.collected.listing import FRESH, LEARN, LOOK_ONCE  # noqa: E402
from bench.collected.settled import Settled, read_settled, settled_truth  # noqa: E402
from bench.keys.databases import Database, profile_database, read_databases  # noqa: E402
from bench.keys.fitting import fit_calibration  # noqa: E402
from bench.keys.judged_pairs import (  # noqa: E402
    JudgedPair,
    bins,
    expected_calibration_error,
    judged_pairs,
)
from bench.keys.misses import describe_errors  # noqa: E402
from bench.keys.naming import STYLES, Names, renaming  # noqa: E402
from bench.keys.scores import (  # noqa: E402
    Score,
    macro_f1,
    score_foreign_keys,
    score_primary_keys,
)
from bench.worlds.by_hazard import show_hazards  # noqa: E402
from bench.worlds.hazards import HAZARDS  # noqa: E402
from bench.worlds.world import make_world  # noqa: E402
from fluid_build.profiling.choose.calibration import CALIBRATION, Calibration  # noqa: E402
from fluid_build.profiling.profile import Profile  # noqa: E402
from fluid_build.profiling.weights import DEFAULT_WEIGHTS, Weights  # noqa: E402

CORPORA = (ROOT.parent / "shared" / "corpus", ROOT.parent / "shared" / "corpus_more")
COLLECTED = ROOT.parent / "collected"


@dataclass
class Totals:
    """The scores of each database, and the references that were judged."""

    foreign: list[Score] = field(default_factory=list)
    composite: list[Score] = field(default_factory=list)
    primary: list[Score] = field(default_factory=list)
    pairs: list[JudgedPair] = field(default_factory=list)

    def add(self, profile: Profile, truth: dict, names: Names) -> None:
        foreign, composite = score_foreign_keys(profile, truth, names)
        self.foreign.append(foreign)
        self.composite.append(composite)
        self.primary.append(score_primary_keys(profile, truth, names))
        self.pairs += judged_pairs(profile, truth, names)


def main() -> int:
    options = read_options()
    with tempfile.TemporaryDirectory() as scratch:
        if options.by_hazard is not None:
            hazards = options.by_hazard or list(HAZARDS)
            show_hazards(Path(scratch), hazards, options.worlds, options.seed, options.weights)
            return 0
        if options.worlds:
            make_worlds(Path(scratch), options.worlds, options.seed)
            options.corpus = [Path(scratch)]
        if options.collected:
            options.corpus = [COLLECTED / options.collected]
        databases = read_databases(options.corpus or CORPORA)
        if not databases:
            folders = ", ".join(map(str, options.corpus or CORPORA))
            print(f"No database with a truth.json under {folders}.", file=sys.stderr)
            return 2
        began = time.perf_counter()
        for title, totals in measure(databases, options).items():
            show_totals(title, totals)
            show_calibration(totals.pairs, leave_one_out=options.leave_one_out)
    print(f"{len(databases)} databases in {time.perf_counter() - began:.1f} s")
    return 0


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--corpus", type=Path, action="append", metavar="DIR", help="repeatable")
    parser.add_argument(
        "--collected",
        choices=[LEARN, LOOK_ONCE, FRESH],
        help="score a part of the collected databases",
    )
    parser.add_argument("--worlds", type=int, metavar="N", help="score N made-up databases")
    parser.add_argument("--seed", type=int, default=1, help="of the made-up databases")
    parser.add_argument(
        "--by-hazard",
        nargs="*",
        choices=list(HAZARDS),
        metavar="HAZARD",
        help="with --worlds: what each hazard costs, or these",
    )
    parser.add_argument("--names", default="as-is", choices=["as-is", *STYLES, "none"])
    parser.add_argument("--errors", action="store_true", help="list wrong and missed keys")
    parser.add_argument(
        "--leave-one-out", action="store_true", help="calibrate each database by the others"
    )
    parser.add_argument(
        "--weight", action="append", default=[], metavar="GROUP.NAME=NUMBER", help="repeatable"
    )
    options = parser.parse_args()
    if options.collected == FRESH and options.errors:
        parser.error("Errors of fresh aren't shown, so that no rule is written for them.")
    if options.by_hazard is not None and not options.worlds:
        parser.error("--by-hazard scores made-up databases: say how many with --worlds.")
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
            raise ValueError(f"There is no weight {path!r}; see fluid_build/profiling/weights/.")
        weights = replace(weights, **{group_name: replace(group, **{name: float(number)})})
    return weights


def make_worlds(folder: Path, count: int, seed: int) -> None:
    """Write made-up databases into a folder."""
    for number in range(count):
        world = make_world(seed, number)
        world.write(folder / world.name)


def measure(databases: Sequence[Database], options: argparse.Namespace) -> dict[str, Totals]:
    """Profile and score each database by each of its truths, printing a line for it."""
    settled = read_settled(options.collected) if options.collected else None
    totals = {title: Totals() for title in truths(databases[0], settled)}
    calibration = Calibration({}) if options.leave_one_out else CALIBRATION
    if options.errors and options.leave_one_out:
        print("The confidence of an error is the one before calibration.")
    headings = "".join(f"{title:40}" for title in totals)
    print(f"{'database':26}{headings}primary keys")
    for database in databases:
        truth = database.truth
        names = renaming(options.names, truth)
        profile = profile_database(database.folder, truth, names, options.weights, calibration)
        line = f"{database.name:26}"
        for title, judged in truths(database, settled).items():
            totals[title].add(profile, judged.truth, names)
            line += f"{totals[title].foreign[-1].line():40}"
        print(line + score_primary_keys(profile, truth, names).line(), flush=True)
        if options.errors:
            for error in describe_errors(profile, judged, names):
                print(f"    {error}")
    return totals


def truths(database: Database, settled: Mapping[str, Settled] | None) -> dict[str, Database]:
    """Return a database with what its source declares, and with what was settled beside it."""
    if settled is None:
        return {"foreign keys": database}
    truth = settled_truth(database.truth, settled.get(database.name, Settled()))
    return {
        "foreign keys as declared": database,
        "foreign keys settled": replace(database, truth=truth),
    }


def show_totals(title: str, totals: Totals) -> None:
    foreign, primary = add_up(totals.foreign), add_up(totals.primary)
    composite = add_up(totals.composite)
    print(f"\n{'':26}{title:40}primary keys")
    print(f"{'all (micro)':26}{foreign.line():40}{primary.line()}")
    macro = f"F1 {macro_f1(totals.foreign):.3f}"
    print(f"{'all (macro)':26}{macro:40}F1 {macro_f1(totals.primary):.3f}")
    print(
        f"composite foreign keys {composite.right} of {composite.right + composite.missed}"
        f" ({composite.recall:.0%}), {composite.wrong} wrong; primary keys of"
        f" {primary.right} of {primary.right + primary.missed} tables with a documented one"
        f" ({primary.recall:.1%})"
    )


def add_up(scores: Iterable[Score]) -> Score:
    total = Score()
    for score in scores:
        total.add(score)
    return total


def show_calibration(pairs: Sequence[JudgedPair], *, leave_one_out: bool) -> None:
    if leave_one_out:
        pairs = calibrate_by_others(pairs)
    print(f"\n{'confidence':14}{'pairs':>8}{'stated':>10}{'true':>10}")
    for tenth, each in enumerate(bins(pairs)):
        if each.pairs:
            scale = f"{tenth / 10:.1f} to {(tenth + 1) / 10:.1f}"
            print(f"{scale:14}{each.pairs:8}{each.stated:10.3f}{each.true:10.3f}")
    fitted = "fitted to the other databases" if leave_one_out else "as it is stored"
    error = expected_calibration_error(pairs)
    print(f"expected calibration error {error:.3f} over {len(pairs)} judged pairs, {fitted}")


def calibrate_by_others(pairs: Sequence[JudgedPair]) -> list[JudgedPair]:
    """Return the pairs, calibrated by tables that are fitted without their own database."""
    calibrated: list[JudgedPair] = []
    for database in dict.fromkeys(pair.database for pair in pairs):
        calibration = fit_calibration([pair for pair in pairs if pair.database != database])
        calibrated += (
            replace(pair, confidence=calibration.confidence(pair.role, pair.log_odds))
            for pair in pairs
            if pair.database == database
        )
    return calibrated


if __name__ == "__main__":
    sys.exit(main())
