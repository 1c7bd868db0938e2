"""How far one machine goes: many tables, wide tables, and what a small forge costs.

    python bench/machine.py                                  all rows
    python bench/machine.py profile --tables 1000 10000      profiles of narrow tables
    python bench/machine.py stages --tables 250 1000         the vault's stages without the engine
    python bench/machine.py forge --tables 500               whole forges
    python bench/machine.py columns --columns 1000 4000      one wide table
    python bench/machine.py chinook                          the process and its imports

Space and copies of data are measured by ``machine_space.py``. Each figure is measured in a process
of its own. Seconds are processor time (user and system), since other work on the machine affects
it least; ``clock`` is only shown. ``exponent`` says how a figure grows from the first size to the
last: 1 where twice the tables take twice the time. ``scored`` counts the pairs of names that were
scored, ``reads`` how often a table's values were read to compare them.

Narrow tables (``profile``) have eight columns, those of ``stages`` and ``forge`` five to fifteen
(``synthetic.py``). A wide table has a key and measurements of five types. Exit code 1 where a
figure misses its goal.
"""

import argparse
import itertools
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import duckdb
from synthetic import write_duckdb

from fluid_build.decisions.model_decisions import model_decisions
from fluid_build.forging.forging import forge
from fluid_build.forging.options import ForgeOptions
from fluid_build.forging.stages import look_closer, measure
from fluid_build.modeling.techniques import build_decided_model
from fluid_build.profiling.measure import value_cache
from fluid_build.profiling.references import candidates, column_matches
from fluid_build.progress import ignore
from fluid_build.sources import open_source
from fluid_build.transform.plan.techniques import transform_plan

SHARED = Path(__file__).resolve().parents[2] / "shared"
TECHNIQUES = ("flat", "dimensional", "data_vault_2")
FORGE_GOALS = {"flat": 20.0, "dimensional": 30.0, "data_vault_2": 30.0}
EXPONENT_GOAL, MEMORY_GOAL = 1.2, 4.0
IMPORTS_GOAL, ABOVE_IMPORTS_GOAL = 0.6, 1.0
_TYPES = (
    "CAST(i * {k} % 97 AS INTEGER)",
    "'v' || i * {k} % 31",
    "CAST(i * {k} % 1000 / 10.0 AS DECIMAL(9, 1))",
    "DATE '2020-01-01' + CAST(i * {k} % 500 AS INTEGER)",
    "(i + {k}) % 3 = 0",
)
Figures = dict[str, float]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("rows", nargs="*", choices=(*ROWS, []), help="default: all")
    parser.add_argument("--tables", type=int, nargs="+")
    parser.add_argument("--columns", type=int, nargs="+", default=[1000, 4000])
    parser.add_argument("--techniques", nargs="*", default=TECHNIQUES, choices=TECHNIQUES)
    parser.add_argument("--one", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, *arguments = options.one
        print(json.dumps(ONE[name](*arguments)))
        return 0
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    return 0 if all(ROWS[name](options) for name in options.rows or ROWS) else 1


def profiles(options: argparse.Namespace) -> bool:
    """Profile narrow tables: the time must grow as their number does."""
    sizes = options.tables or [1000, 10_000]
    found = [_measured("profile", _tables, size, True) for size in sizes]
    for size, figures in zip(sizes, found, strict=True):
        _print(f"profile of {size} tables", figures)
    exponent = _exponent("profile", sizes, [figures["seconds"] for figures in found])
    _exponent("pairs of names scored", sizes, [figures["scored"] for figures in found])
    return exponent <= EXPONENT_GOAL and found[-1]["GB"] <= MEMORY_GOAL


def stages(options: argparse.Namespace) -> bool:
    """Observe, design and plan: each stage's time must grow as the tables do."""
    sizes = options.tables or [250, 1000]
    good = True
    for technique in options.techniques:
        found = [_measured("stages", _tables, size, False, technique) for size in sizes]
        for size, figures in zip(sizes, found, strict=True):
            _print(f"{technique}, stages of {size} tables", figures)
        for stage in ("observe", "design", "plan"):
            times = [figures[stage] for figures in found]
            good &= _exponent(f"{technique}, {stage}", sizes, times) <= EXPONENT_GOAL
    return good


def forges(options: argparse.Namespace) -> bool:
    """Forge many tables, from opening the file to the folder with its page."""
    good = True
    for size in options.tables or [500]:
        for technique in options.techniques:
            figures = _measured("forge", _tables, size, False, technique)
            _print(f"{size} tables, {technique} (goal {FORGE_GOALS[technique]:.0f} s)", figures)
            good &= figures["seconds"] <= FORGE_GOALS[technique] and bool(figures["proven"])
    return good


def columns(options: argparse.Namespace) -> bool:
    """Forge one table of many columns: it must be proven."""
    good = True
    for size in options.columns:
        for technique in options.techniques:
            figures = _measured("forge", _wide_table, size, technique)
            _print(f"a table of {size} columns, {technique}", figures)
            good &= bool(figures["proven"])
    return good


def chinook(options: argparse.Namespace) -> bool:
    """Forge a small database by the command, next to importing what that needs."""
    good = True
    data = SHARED / "corpus" / "chinook" / "data"
    for technique in options.techniques:
        with tempfile.TemporaryDirectory() as place:
            arguments = ["forge", "data-model", "from-source", "--uri", str(data)]
            arguments += ["--technique", technique, "-o", str(Path(place, "out"))]
            listed = Path(place, "modules.json")
            code = (
                "import json, pathlib, sys; from fluid_build.cli.main import main\n"
                f"try: main({arguments!r})\nexcept SystemExit: pass\n"
                f"pathlib.Path({str(listed)!r}).write_text(json.dumps(list(sys.modules)))"
            )
            _processor_time(code)  # The first run compiles.
            whole = min(_processor_time(code) for _ in range(3))
            importing = (
                "import importlib, json, pathlib\n"
                f"for name in json.loads(pathlib.Path({str(listed)!r}).read_text()):\n"
                " try: importlib.import_module(name)\n except Exception: pass"
            )
            imports = min(_processor_time(importing) for _ in range(3))
        bare = min(_processor_time("pass") for _ in range(3))
        above = whole - imports
        figures = {"seconds": whole, "imports": imports - bare, "above": above}
        _print(f"Chinook, {technique} (goals 0.6 s of imports, 1.0 s above)", figures)
        good &= imports - bare <= IMPORTS_GOAL and above <= ABOVE_IMPORTS_GOAL
    return good


def _processor_time(code: str) -> float:
    """Return the processor time of a Python process that runs some code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _measured(what: str, make: Callable[..., None], size: int, *arguments: object) -> Figures:
    """Make a source of a size, and measure something of it in a process of its own."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "source.duckdb")
        make(path, size, *[a for a in arguments if isinstance(a, bool)])
        rest = [str(a) for a in arguments if not isinstance(a, bool)]
        command = [sys.executable, __file__, "--one", what, str(path), *rest]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def _tables(path: Path, size: int, is_narrow: bool) -> None:
    write_duckdb(path, size, narrow=is_narrow)


def _wide_table(path: Path, size: int) -> None:
    values = (f"{_TYPES[k % 5].format(k=k)} AS sensor_{k}" for k in range(1, size))
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            f"CREATE TABLE reading AS SELECT CAST(i + 1 AS INTEGER) AS reading_id,"
            f" {', '.join(values)} FROM range(40) AS t(i)"
        )


def one_profile(path: str) -> Figures:
    counts: Counter[str] = Counter()
    for module in (candidates, column_matches):
        _count(module, "reference_score", "scored", counts)
    _count(value_cache, "reading", "reads", counts)
    with open_source(f"duckdb:///{path}") as source:
        began, clock = time.process_time(), time.perf_counter()
        profile = measure(source, ignore)
        seconds, clock = time.process_time() - began, time.perf_counter() - clock
    references = len(profile.foreign_keys)
    return {"seconds": seconds, "clock": clock, "references": references, **counts, "GB": _most()}


def one_stages(path: str, technique: str) -> Figures:
    with open_source(f"duckdb:///{path}") as source:
        profile = measure(source, ignore)
        marks = [time.process_time()]
        observations = look_closer(source, profile, ignore)
        marks.append(time.process_time())
        options = ForgeOptions(technique=technique)
        designed = build_decided_model(
            profile,
            options.technique,
            options.variant,
            observations,
            options.calendar,
            options.event_dates,
            business_vault=options.business_vault,
            decisions=model_decisions(()),
        )
        marks.append(time.process_time())
        transform_plan(designed.model)
        marks.append(time.process_time())
    observe, design, plan = (after - before for before, after in itertools.pairwise(marks))
    return {"observe": observe, "design": design, "plan": plan, "GB": _most()}


def one_forge(path: str, technique: str) -> Figures:
    began, clock = time.process_time(), time.perf_counter()
    out = Path(path).with_name("out")
    with open_source(f"duckdb:///{path}") as source:
        forged = forge(source, out=out, technique=technique)
    seconds, clock = time.process_time() - began, time.perf_counter() - clock
    return {"seconds": seconds, "clock": clock, "proven": forged.proof.holds, "GB": _most()}


def _count(module: object, name: str, what: str, counts: Counter[str]) -> None:
    """Count the calls of a function by which a module knows it."""
    function = getattr(module, name)

    def counted(*arguments: object) -> object:
        counts[what] += 1
        return function(*arguments)

    setattr(module, name, counted)


def _most() -> float:
    """Return the most memory of this process so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def _print(what: str, figures: Mapping[str, float]) -> None:
    told = (f"{name} {figure:,.2f}".removesuffix(".00") for name, figure in figures.items())
    print(f"{what:58} {', '.join(told)}", flush=True)


def _exponent(what: str, sizes: Sequence[int], figures: Sequence[float]) -> float:
    if len(sizes) < 2 or not figures[0]:
        return 1.0
    exponent = math.log(figures[-1] / figures[0]) / math.log(sizes[-1] / sizes[0])
    print(f"  {what}: exponent {exponent:.2f} (goal {EXPONENT_GOAL})", flush=True)
    return exponent


ROWS = {
    "profile": profiles,
    "stages": stages,
    "forge": forges,
    "columns": columns,
    "chinook": chinook,
}
ONE = {"profile": one_profile, "stages": one_stages, "forge": one_forge}


if __name__ == "__main__":
    sys.exit(main())
