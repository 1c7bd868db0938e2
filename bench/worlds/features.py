"""How well keys are found in made-up databases, by what was drawn for them and how they are named.

python -m bench.worlds.features DIR --by language case keys
python -m bench.worlds.features DIR            # every feature
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

from bench.keys.databases import profile_database
from bench.keys.naming import renaming
from bench.keys.scores import Score, score_foreign_keys, score_primary_keys
from fluid_build.profiling.profile import Profile


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--by", nargs="*", default=[], metavar="FEATURE")
    options = parser.parse_args()
    scores: dict[tuple[str, str], list[Score]] = defaultdict(lambda: [Score(), Score(), Score()])
    natures: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for path in sorted(options.corpus.glob("*/truth.json")):
        truth = json.loads(path.read_text(encoding="utf-8"))
        names = renaming("as-is", truth)
        profile = profile_database(path.parent, truth, names)
        foreign, composite = score_foreign_keys(profile, truth, names)
        primary = score_primary_keys(profile, truth, names)
        _count_natures(natures, truth, profile)
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
        share = f"{composite.right} of {composite.right + composite.missed}"
        print(
            f"{label:38}{counts[feature, value]:>10}  {foreign.line():38}{share:14}"
            f"F1 {primary.f1:.3f}"
        )
    print(f"\n{'reference':38}found")
    for nature, (count, total) in sorted(natures.items()):
        print(f"{nature:38}{count} of {total} ({count / total:.0%})")
    return 0


def _count_natures(natures: dict[str, list[int]], truth: dict, profile: Profile) -> None:
    """Count the supported references and those found, implied ones too, by how they are named."""
    references = {
        (key.from_table, key.to_table, *sorted(zip(key.from_columns, key.to_columns, strict=True)))
        for key in profile.foreign_keys
    }
    for key in truth["foreign_keys"]:
        if key["supported"]:
            pairs = sorted(zip(key["from_columns"], key["to_columns"], strict=True))
            natures[key["nature"]][0] += (key["from_table"], key["to_table"], *pairs) in references
            natures[key["nature"]][1] += 1


if __name__ == "__main__":
    sys.exit(main())
