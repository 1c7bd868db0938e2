"""Make databases up from a seed, with the keys that are true of them, the same every time.

    python -m bench.worlds --seed 1 --databases 40 --out DIR
    python bench/accuracy.py --corpus DIR
    python -m bench.worlds.features DIR --by case keys language

Each database draws a domain or several, a language, a naming style, habits of choosing keys, and
what went wrong over the years. ``truth.json`` lists the references that a careful designer
declares: to the most specific parent. Those that follow from them count neither way
(``"supported": false``), and what was drawn is under ``features``.
"""

import argparse
import sys
from pathlib import Path

from bench.worlds.world import make_world


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--databases", type=int, default=40)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    tables = references = 0
    for number in range(options.databases):
        world = make_world(options.seed, number)
        world.write(options.out / world.name)
        tables += len(world.tables)
        references += sum(len(table.links) for table in world.tables)
    print(f"{options.databases} databases, {tables} tables, {references} references")
    return 0


if __name__ == "__main__":
    sys.exit(main())
