"""How close the models come to what experts draw: precision, recall and F1 of every aspect.

    python bench/modelling.py                          # tests/modeling/expected, ../shared/corpus*
    python bench/modelling.py --only sakila --errors
    python bench/modelling.py --held-out               # databases that no rule was written for
    python bench/modelling.py --look-once              # generated databases, scored once
    python bench/modelling.py --expected ../drawings   # drawings of one's own; repeatable

The expected models and their sources are files in ``tests/modeling/expected``, whose ``README.md``
has their format; ``--expected`` names other folders of them. Each database is profiled, observed
and modelled as ``fluid forge`` does it, as a star and as a vault, and compared element by element;
``bench/expected_models/scoring.py`` says how elements are paired and what counts as right, wrong
and missed. The figures over all databases add up the counts, so that every element weighs the same.
The exit code is 1 where the F1 of an aspect is below the goal.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.expected_models.built import built_elements  # noqa: E402
from bench.expected_models.elements import KINDS, ExpectedModel  # noqa: E402
from bench.expected_models.reading import read_expected_models  # noqa: E402
from bench.expected_models.scoring import (  # noqa: E402
    ASPECTS,
    ModelScore,
    Score,
    score_model,
)
from bench.look_once.databases import LOOK_ONCE, build_database  # noqa: E402
from fluid_build.modeling.techniques import build_model  # noqa: E402
from fluid_build.observations.observe import observe  # noqa: E402
from fluid_build.profiling import profile_source  # noqa: E402
from fluid_build.sources import open_source  # noqa: E402

EXPECTED = ROOT / "tests" / "modeling" / "expected"
CORPORA = (ROOT.parent / "shared" / "corpus", ROOT.parent / "shared" / "corpus_more")
TECHNIQUES = {"star": "dimensional", "vault": "data_vault_2"}
GOAL = 0.90


def main() -> int:
    options = read_options()
    models = [
        model
        for folder in drawings(options)
        for model in read_expected_models(folder)
        if not options.only or model.database in options.only
    ]
    if not models:
        searched = ", ".join(map(str, drawings(options)))
        print(f"No expected model of that name in {searched}.", file=sys.stderr)
        return 2
    began = time.perf_counter()
    total = ModelScore()
    print(f"{'F1':20}" + "".join(f"{aspect:>12}" for aspect in ASPECTS))
    for model in models:
        score = score_database(model, options.corpus or CORPORA)
        print(f"{model.database:20}" + "".join(f1(score.aspects[a]) for a in ASPECTS), flush=True)
        if options.errors:
            show_errors(score)
        total.add(score)
    show_total(total)
    print(f"{len(models)} databases in {time.perf_counter() - began:.1f} s")
    return 1 if any(score.f1 < GOAL for score in total.aspects.values()) else 0


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--corpus", type=Path, action="append", metavar="DIR", help="repeatable")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="databases")
    drawn = parser.add_mutually_exclusive_group()
    drawn.add_argument("--held-out", action="store_true", help="the databases that were held out")
    drawn.add_argument("--look-once", action="store_true", help="the generated databases")
    drawn.add_argument(
        "--expected", type=Path, action="append", metavar="DIR", help="other drawings; repeatable"
    )
    parser.add_argument("--errors", action="store_true", help="list what isn't as expected")
    return parser.parse_args()


def drawings(options: argparse.Namespace) -> list[Path]:
    if options.look_once:
        return [LOOK_ONCE]
    return options.expected or [EXPECTED / "held_out" if options.held_out else EXPECTED]


def score_database(expected: ExpectedModel, corpora: Sequence[Path]) -> ModelScore:
    """Build both models of a database as the command does, and score them."""
    if (script := LOOK_ONCE / f"{expected.database}.sql").is_file():
        with tempfile.TemporaryDirectory() as folder:
            database = Path(folder) / f"{expected.database}.duckdb"
            build_database(script, database)
            return score_data(expected, database)
    return score_data(expected, find_data(expected.database, corpora))


def score_data(expected: ExpectedModel, data: Path) -> ModelScore:
    with open_source(str(data)) as source:
        profile = profile_source(source)
        observations = observe(source, profile)
    total = ModelScore()
    for layer, technique in TECHNIQUES.items():
        model = build_model(profile, technique, observations=observations)
        total.add(score_model(expected.layer(layer), built_elements(model)))
    return total


def find_data(database: str, corpora: Sequence[Path]) -> Path:
    for corpus in corpora:
        if (corpus / database / "data").is_dir():
            return corpus / database / "data"
    raise SystemExit(f"There is no {database}/data in {', '.join(map(str, corpora))}.")


def f1(score: Score) -> str:
    return f"{'-' if score.is_empty else f'{score.f1:.3f}':>12}"


def show_errors(score: ModelScore) -> None:
    for aspect, aspect_score in score.aspects.items():
        for error in aspect_score.errors:
            print(f"    {aspect:12}{error}")


def show_total(total: ModelScore) -> None:
    headings = ("precision", "recall", "F1")
    counts = ("right", "wrong", "missed")
    print(f"\n{'over all':20}" + "".join(f"{h:>12}" for h in headings), end="")
    print("".join(f"{c:>8}" for c in counts))
    kinds = {kind: total.kinds[kind] for layer in KINDS.values() for kind in layer}
    for name, score in {**kinds, **total.aspects}.items():
        print(
            f"{name:20}{score.precision:>12.3f}{score.recall:>12.3f}{score.f1:>12.3f}"
            f"{score.right:>8}{score.wrong:>8}{score.missed:>8}"
        )


if __name__ == "__main__":
    sys.exit(main())
