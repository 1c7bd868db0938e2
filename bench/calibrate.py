"""Fit the calibration of confidences to databases with documented keys, and store its tables.

    python bench/calibrate.py --learn   # rewrites fluid_build/profiling/choose/calibration.json
    python bench/calibrate.py --corpus DIR --corpus DIR

The databases are those of ``bench/accuracy.py``, whose ``--leave-one-out`` tests the fit, and with
``--learn`` the collected ones of that half, by the truth that was settled of them. The tables hold
log odds and probabilities only, and the same databases give the same tables. Run it again after a
change to the judgement of references.
"""

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.accuracy import COLLECTED, CORPORA  # noqa: E402
from bench.collected.listing import LEARN  # noqa: E402
from bench.collected.settled import Settled, read_settled, settled_truth  # noqa: E402
from bench.keys.databases import profile_database, read_databases  # noqa: E402
from bench.keys.fitting import fit_calibration  # noqa: E402
from bench.keys.judged_pairs import JudgedPair, judged_pairs  # noqa: E402
from bench.keys.naming import renaming  # noqa: E402
from fluid_build.profiling.choose.calibration import Calibration  # noqa: E402

STORED = ROOT / "fluid_build" / "profiling" / "choose" / "calibration.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--corpus", type=Path, action="append", metavar="DIR", help="repeatable")
    parser.add_argument(
        "--learn", action="store_true", help="also the collected half to learn from"
    )
    parser.add_argument("--out", type=Path, default=STORED)
    options = parser.parse_args()
    databases = read_databases(options.corpus or CORPORA)
    settled = read_settled(LEARN) if options.learn else {}
    if options.learn:
        databases += read_databases([COLLECTED / LEARN])
    pairs: list[JudgedPair] = []
    for database in databases:
        truth = settled_truth(database.truth, settled.get(database.name, Settled()))
        names = renaming("as-is", truth)
        profile = profile_database(database.folder, truth, names, calibration=Calibration({}))
        pairs += judged_pairs(profile, truth, names)
    calibration = fit_calibration(pairs)
    options.out.write_text(calibration_json(calibration), encoding="utf-8")
    print(f"{len(pairs)} judged pairs of {len(databases)} databases; wrote {options.out}")
    return 0


def calibration_json(calibration: Calibration) -> str:
    """Return the tables as JSON, a line for each."""
    lines = (
        f"  {json.dumps(role)}: {json.dumps([list(point) for point in table])}"
        for role, table in sorted(calibration.tables.items())
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main())
