"""A hundred nights of inserts, updates and deletes, and what they change in a model.

    python -m bench.evolution_nights [--nights N]

Each database of the look-once bench and the shop of the tests live through them, as a vault and as
a star. A night counts as a change where a relation is gone, or lost a column or its order.
"""

import argparse
import tempfile
from pathlib import Path

from bench.look_once.databases import LOOK_ONCE, build_database
from tests.modeling.evolved import SHOP, run
from tests.modeling.nights import nights_that_changed

_TECHNIQUES = ("data_vault_2", "dimensional")
_SEED = 2029


def main() -> int:
    """Print one line for each database and technique; return 1 where a relation changed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nights", type=int, default=100)
    nights = parser.parse_args().nights
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        for script in (None, *sorted(LOOK_ONCE.glob("*.sql"))):
            for technique in _TECHNIQUES:
                name = "shop" if script is None else script.stem
                database = Path(folder) / f"{name}-{technique}.duckdb"
                if script is None:
                    run(database, SHOP)
                else:
                    build_database(script, database)
                changed = nights_that_changed(database, technique, nights, _SEED)
                total += len(changed)
                print(
                    f"{name:24} {technique:14} {nights} nights, {len(changed)} changes", flush=True
                )
                for line in changed[:3]:
                    print(f"  {line}", flush=True)
    print(f"{total} changes")
    return 1 if total else 0


if __name__ == "__main__":
    raise SystemExit(main())
