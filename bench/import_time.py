"""How long Python takes to import the package, above its own start.

    python bench/import_time.py

Python is started with and without the import in turns, so that whatever else the machine does
slows both; the medians are compared. ``import fluid_build`` may take 50 ms. What the first use of a
function adds is shown for information.
"""

import statistics
import subprocess
import sys
import time

MOST_MILLISECONDS = 50
ROUNDS = 15
STATEMENTS = {
    "import fluid_build": "import fluid_build",
    "from fluid_build import profile": "from fluid_build import profile",
    "import pandas (to compare)": "import pandas",
}


def milliseconds(code: str) -> float:
    """Return how long a process takes that only runs the code."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return (time.perf_counter() - start) * 1000


def added(code: str) -> float:
    """Return the median of what the code adds to the start of Python."""
    milliseconds(code)  # The first run compiles, and reads from disk.
    differences = [milliseconds(code) - milliseconds("pass") for _ in range(ROUNDS)]
    return statistics.median(differences)


def main() -> int:
    figures = {label: added(code) for label, code in STATEMENTS.items()}
    for label, figure in figures.items():
        print(f"{label:<34} {figure:8.1f} ms")
    holds = figures["import fluid_build"] <= MOST_MILLISECONDS
    print(f"import fluid_build ≤ {MOST_MILLISECONDS} ms: {'holds' if holds else 'FAILS'}")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
