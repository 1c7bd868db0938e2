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
from bench.worlds.by_hazard import Scores, scores_of
from fluid_build.profiling.profile import Profile


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--by", nargs="*", default=[], metavar="FEATURE")
    options = parser.parse_args()
    scores: dict[tuple[str, str], Scores] = defaultdict(Scores)
    natures: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for path in sorted(options.corpus.glob("*/truth.json")):
        truth = json.loads(path.read_text(encoding="utf-8"))
        profile = profile_database(path.parent, truth, renaming("as-is", truth))
        _count_natures(natures, truth, profile)
        features = {"all": "", **truth["features"]}
        for feature, drawn in features.items():
            if options.by and feature not in {"all", *options.by}:
                continue
            for value in map(str, drawn if isinstance(drawn, list) else [drawn]):
                counts[feature, value] += 1
                scores[feature, value].add(scores_of(profile, truth))
    print(f"{'feature':38}{'databases':>10}  {'foreign keys':30}{'composite':12}keys F1")
    for feature, value in sorted(scores):
        label = f"{feature} = {value}" if value else feature
        print(f"{label:38}{counts[feature, value]:>10}  {scores[feature, value].line()}")
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
