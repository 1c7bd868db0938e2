"""How well keys are found in made-up databases, by what was drawn for them.

python -m bench.worlds.features DIR --by language case keys
python -m bench.worlds.features DIR            # every feature
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

from bench.accuracy import (
    Score,
    profile_database,
    renaming,
    score_foreign_keys,
    score_primary_keys,
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--by", nargs="*", default=[], metavar="FEATURE")
    options = parser.parse_args()
    scores: dict[tuple[str, str], list[Score]] = defaultdict(lambda: [Score(), Score(), Score()])
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for path in sorted(options.corpus.glob("*/truth.json")):
        truth = json.loads(path.read_text(encoding="utf-8"))
        names = renaming("as-is", truth)
        profile = profile_database(path.parent, truth, names)
        foreign, composite = score_foreign_keys(profile, truth, names)
        primary = score_primary_keys(profile, truth, names)
        features = {"all": "", **truth["features"]}
        for feature, value in features.items():
            if not options.by or feature in {"all", *options.by}:
                counts[feature, str(value)] += 1
                for total, score in zip(
                    scores[feature, str(value)], (foreign, composite, primary), strict=True
                ):
                    total.add(score)
    print(f"{'feature':38}{'databases':>10}  {'foreign keys':38}{'composite':14}primary keys")
    for feature, value in sorted(scores):
        foreign, composite, primary = scores[feature, value]
        label = f"{feature} = {value}" if value else feature
        found = f"{composite.right} of {composite.right + composite.missed}"
        print(
            f"{label:38}{counts[feature, value]:>10}  {foreign.line():38}{found:14}"
            f"F1 {primary.f1:.3f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
