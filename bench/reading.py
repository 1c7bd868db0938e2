"""How long a CSV file takes to read, beside another checkout of the project.

    python bench/reading.py OTHER [--rows 1000000] [--pairs 6]

OTHER is a folder with another version, such as one made by ``git worktree add``. Both read the same
file of 12 mixed columns in processes of their own, in turn, so that the machine's changing speed
meets both. Printed is the processor time of each pair, and the median of the ratios. Exit code 1
where it's above 1.1.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from profiling import build_csv

ROOT = Path(__file__).parents[1]
GOAL = 1.1
READ = """
import sys
from fluid_build.sources import open_source
with open_source(sys.argv[1]) as source:
    assert source.tables
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("other", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--pairs", type=int, default=6)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "orders.csv"
        build_csv(path, options.rows)
        read(ROOT, path)
        ratios = []
        print("here      other     ratio")
        for pair in range(options.pairs):
            order = (ROOT, options.other) if pair % 2 else (options.other, ROOT)
            taken = {checkout: read(checkout, path) for checkout in order}
            ratios.append(taken[ROOT] / taken[options.other])
            print(f"{taken[ROOT]:6.2f} s  {taken[options.other]:6.2f} s  {ratios[-1]:5.2f}")
    median = statistics.median(ratios)
    print(f"median of {options.pairs} pairs: {median:.2f} (goal: at most {GOAL})")
    return int(median > GOAL)


def read(checkout: Path, path: Path) -> float:
    """Return the seconds of processor time that a checkout takes to open a file."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", READ, str(path)],
        check=True,
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout)},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    raise SystemExit(main())
