"""Whether everything that a forge writes builds, holds and is valid, and how long it takes.

    python bench/forge.py corpus [--dbt] [--jobs N] [--only NAME ...]  every database and technique
    python bench/forge.py bytes [--only NAME ...]             two runs, the same bytes
    python bench/forge.py chinook [--runs N]                  the process' wall time
    python bench/forge.py demo [--runs N]                     the same, of the demo's shop
    python bench/forge.py tables [--count 500]                a source of many tables
    python bench/forge.py vault [--models 42]                 a vault's SQL run directly
    python bench/forge.py dbt-demo [--runs N]                 dbt build of the demo's vault
    python bench/forge.py models                              models a table and lines a model

The corpus is read from ``../shared/corpus`` beside the checkout, or from ``--corpus``. With
``--dbt`` each project is built by dbt and what dbt built is compared with the source again;
without it everything else is done. ``bytes`` is a hash of what was written: it stays the same where
a change of the code changes no output. Exit code 1 where a figure misses its goal.
"""

import argparse
import hashlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import jsonschema
import yaml
from datacontract_specification.model import DataContractSpecification
from open_data_contract_standard.model import OpenDataContractStandard
from synthetic import write_duckdb

from fluid_build.contract.consistency import check_consistency
from fluid_build.contract.exports.formats import export
from fluid_build.contract.read.files import read_contract
from fluid_build.contract.validation import parse_contract, validate
from fluid_build.demo import build_shop
from fluid_build.forging.documents import REPORT_FILE
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.transform.plan.execution import built
from fluid_build.transform.plan.techniques import transform_plan

SHARED = Path(__file__).parents[2] / "shared"
FLUID = str(Path(sys.executable).with_name("fluid"))
TECHNIQUES = ("flat", "data_vault_2", "dimensional")
WALL_GOAL, DEMO_GOAL, DBT_GOAL = 1.5, 4.0, 25.0
TABLES_GOAL, MEMORY_GOAL, VAULT_GOAL = 30.0, 1.5, 0.3


@dataclass
class Row:
    """What came of one database in one technique."""

    database: str
    technique: str
    relations: int = 0
    proof: str = ""
    invalid: list[str] = field(default_factory=list)
    dbt: str = "-"
    seconds: float = 0.0
    dbt_seconds: float = 0.0
    bytes: str = ""

    @property
    def good(self) -> bool:
        return self.proof == "proven" and not self.invalid and self.dbt in {"-", "ok"}


def databases(options: argparse.Namespace) -> Iterator[Path]:
    for folder in sorted(options.corpus.iterdir()):
        if (folder / "data").is_dir() and (not options.only or folder.name in options.only):
            yield folder


def forge(source: Path, out: Path, technique: str, **environment: str) -> float:
    """Forge with the command; seconds of wall time."""
    command = [FLUID, "forge", "data-model", "from-source", "--uri", str(source)]
    command += ["--technique", technique, "-o", str(out)]
    start = time.perf_counter()
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}
    )
    if done.returncode:
        raise RuntimeError(f"{source} {technique}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
    return time.perf_counter() - start


def corpus(options: argparse.Namespace) -> int:
    """Every database in every technique: proof, contract, exports, dbt."""
    rows = []
    cases = [
        (folder, technique) for folder in databases(options) for technique in options.techniques
    ]
    print(
        f"{'database':22}{'technique':14}{'relations':>9}  {'proof':12}{'valid':8}{'dbt':10}"
        f"{'forge s':>8}{'dbt s':>8}  bytes"
    )
    # Each case is processes of its own, so threads are enough to keep the cores busy.
    with ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(lambda case: _row(*case, with_dbt=options.dbt), cases):
            rows.append(row)
            print(
                f"{row.database:22}{row.technique:14}{row.relations:>9}  {row.proof:12}"
                f"{'all' if not row.invalid else 'NOT':8}{row.dbt:10}"
                f"{row.seconds:>8.2f}{row.dbt_seconds:>8.1f}  {row.bytes}",
                flush=True,
            )
            for finding in row.invalid:
                print(f"    {finding}")
    good = sum(row.good for row in rows)
    print(f"{good} of {len(rows)} without a fault")
    return 0 if good == len(rows) else 1


def _row(folder: Path, technique: str, *, with_dbt: bool) -> Row:
    with tempfile.TemporaryDirectory() as place:
        return _forged(folder, technique, Path(place) / "out", with_dbt=with_dbt)


def _forged(folder: Path, technique: str, out: Path, *, with_dbt: bool) -> Row:
    row = Row(folder.name, technique)
    try:
        row.seconds = forge(folder / "data", out, technique)
    except RuntimeError as error:
        row.invalid.append(str(error))
        return row
    row.proof = json.loads((out / "proof.json").read_text())["verdict"]
    plan = json.loads((out / "plan.json").read_text())
    row.relations = sum(build["layer"] != "staging" for build in plan["builds"])
    row.invalid = list(_invalid(out))
    row.bytes = _digest(out)
    if with_dbt:
        start = time.perf_counter()
        row.dbt = _dbt(out, folder / "data")
        row.dbt_seconds = time.perf_counter() - start
    return row


def _digest(out: Path) -> str:
    """Return a short hash of all that a forge wrote, to be compared with another commit's."""
    digest = hashlib.sha256()
    for name in sorted(_artifacts(out)):
        digest.update(f"{name}\n".encode() + (out / name).read_bytes())
    return digest.hexdigest()[:12]


def _invalid(out: Path) -> Iterator[str]:
    """What the official validators have against the contract and its exports."""
    document = read_contract(out / "contract.fluid.yaml")
    yield from (f"contract: {finding}" for finding in validate(document))
    yield from (f"contract: {finding}" for finding in check_consistency(document))
    yield from _against("contract", _official("fluid-schema-0.7.2.json"), document)
    contract = parse_contract(document)
    for version in ("3.1.0", "3.2.0"):
        text = export(contract, "odcs", version).text
        yield from _read(f"ODCS {version}", OpenDataContractStandard.from_string, text)
        schema = _packaged("open_data_contract_standard") if version == "3.2.0" else None
        yield from _against(f"ODCS {version}", schema, yaml.safe_load(text))
    text = export(contract, "dcs").text
    yield from _read("DCS", DataContractSpecification.from_string, text)
    yield from _against("DCS", _packaged("datacontract_specification"), yaml.safe_load(text))
    osi = _official("osi-0.1.1.json")
    yield from _against("OSI", osi, yaml.safe_load(export(contract, "osi").text))
    for path in sorted((*out.glob("dbt/osi/*.json"), *out.glob("dbt/semantic/*.osi.json"))):
        yield from _against(f"dbt {path.name}", osi, json.loads(path.read_text()))


def _official(name: str) -> object:
    return json.loads((SHARED / "schemas" / name).read_text())


def _packaged(package: str) -> object:
    module = sys.modules[package]
    return json.loads(Path(str(module.__file__)).with_name("schema.json").read_text())


def _against(what: str, schema: object, document: object) -> Iterator[str]:
    if not isinstance(schema, dict):
        return
    validator = jsonschema.validators.validator_for(schema)(schema)
    for error in list(validator.iter_errors(document))[:3]:
        yield f"{what}: {error.json_path}: {error.message[:200]}"


def _read(what: str, read: Callable[[str], object], text: str) -> Iterator[str]:
    try:
        read(text)
    except ValueError as error:
        yield f"{what}: {str(error)[:200]}"


def _dbt(out: Path, source: Path) -> str:
    """Build with dbt, and compare what dbt built with the source."""
    done = subprocess.run(
        [FLUID, "verify", str(out), "--uri", str(source), "--dbt", "--trust", "--json"],
        capture_output=True,
        text=True,
    )
    if not done.stdout:
        return f"exit {done.returncode}: {done.stderr[-300:]}"
    found = json.loads(done.stdout)
    dbt = found["dbt"]
    if done.returncode == 0 and not dbt["failed"] and not dbt["warned"] and not dbt["warnings"]:
        return "ok"
    return f"exit {done.returncode} {json.dumps(dbt)[:600]}"


def same_bytes(options: argparse.Namespace) -> int:
    """Forge everything twice, in other places, with another hash seed: not one byte differs."""
    differing = []
    count = 0
    for folder in databases(options):
        for technique in options.techniques:
            with tempfile.TemporaryDirectory() as place:
                one, other = Path(place, "one", "out"), Path(place, "other", "out")
                forge(folder / "data", one, technique, PYTHONHASHSEED="1", TZ="UTC")
                forge(folder / "data", other, technique, PYTHONHASHSEED="2", TZ="Asia/Tokyo")
                files, others = _artifacts(one), _artifacts(other)
                count += len(files)
                differing += [f"{folder.name} {technique} {name}" for name in files ^ others]
                differing += [
                    f"{folder.name} {technique} {name}"
                    for name in files & others
                    if (one / name).read_bytes() != (other / name).read_bytes()
                ]
    print(f"{count} files written twice, {len(differing)} differ")
    for name in differing:
        print(f"    {name}")
    return 1 if differing else 0


def _artifacts(folder: Path) -> set[Path]:
    """Return the names of the files that have the same bytes in every forge."""
    paths = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return paths - {Path(REPORT_FILE)}


def chinook(options: argparse.Namespace) -> int:
    """The whole process on Chinook, everything but dbt's own run."""
    return _processes(options, options.corpus / "chinook" / "data", WALL_GOAL)


def demo(options: argparse.Namespace) -> int:
    """The whole process on the shop that ``fluid demo`` takes apart."""
    with tempfile.TemporaryDirectory() as place:
        shop = Path(place, "shop.db")
        build_shop(shop)
        return _processes(options, shop, DEMO_GOAL)


def _processes(options: argparse.Namespace, source: Path, goal: float) -> int:
    """Wall and CPU time of each technique's process, with bytecode as an installer leaves it."""
    good = True
    for technique in options.techniques:
        with tempfile.TemporaryDirectory() as place:
            compiled = {
                "PYTHONDONTWRITEBYTECODE": "",
                "PYTHONPYCACHEPREFIX": str(Path(place, "bytecode")),
            }
            forge(source, Path(place, "first"), technique, **compiled)
            before = _cpu()
            walls = [
                forge(source, Path(place, str(run)), technique, **compiled)
                for run in range(options.runs)
            ]
            cpu = (_cpu() - before) / options.runs
        print(
            f"{technique:14} best {min(walls):5.2f} s, median {statistics.median(walls):5.2f} s"
            f" (goal {goal} s), CPU {cpu:5.2f} s, load {os.getloadavg()[0]:.1f}"
        )
        good = good and min(walls) <= goal
    return 0 if good else 1


def _cpu() -> float:
    """Seconds of CPU that the processes waited for have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def many_tables(options: argparse.Namespace) -> int:
    """A made-up source of many tables: wall time and the most memory of the process."""
    good = True
    with tempfile.TemporaryDirectory() as place:
        source = Path(place, "synthetic.duckdb")
        write_duckdb(source, options.count)
        for technique in options.techniques:
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            used = _cpu()
            seconds = forge(source, Path(place, technique), technique)
            used = _cpu() - used
            most = max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024**2
            print(
                f"{options.count} tables, {technique:14}{seconds:6.1f} s (goal {TABLES_GOAL} s),"
                f" CPU {used:.1f} s, load {os.getloadavg()[0]:.1f},"
                f" at most {most:.2f} GB so far (goal {MEMORY_GOAL} GB)"
            )
            good = good and seconds <= TABLES_GOAL and most <= MEMORY_GOAL
    return 0 if good else 1


def vault(options: argparse.Namespace) -> int:
    """The SQL of a vault, run directly in DuckDB: the corpus' vault nearest to that size."""
    found = []
    for folder in databases(options):
        if sum(file.stat().st_size for file in (folder / "data").iterdir()) < 2_000_000:
            with open_source(folder / "data") as source:
                plan = transform_plan(build_model(profile_source(source), "data_vault_2"))
                found.append((abs(len(plan.builds) - options.models), folder))
    _, nearest = min(found)
    with open_source(nearest / "data") as source:
        plan = transform_plan(build_model(profile_source(source), "data_vault_2"))
        times = []
        for _ in range(options.runs):
            start = time.perf_counter()
            with built(source, plan):
                times.append(time.perf_counter() - start)
    print(
        f"{nearest.name}: {len(plan.builds)} models in {min(times):.3f} s at best,"
        f" median {statistics.median(times):.3f} s (goal {VAULT_GOAL} s)"
    )
    return 0 if min(times) <= VAULT_GOAL else 1


def dbt_demo(options: argparse.Namespace) -> int:
    """What a user does with the demo's vault: ``dbt build`` in its folder, each time from nothing.

    The processor time says more than the wall time where other work is going on.
    """
    times = []
    with tempfile.TemporaryDirectory() as place:
        shop, out = Path(place, "shop.db"), Path(place, "vault")
        build_shop(shop)
        forge(shop, out, "data_vault_2")
        print(_models(out))
        for _ in range(options.runs):
            for left in (*(out / "dbt").glob("*.duckdb"), *(out / "dbt").glob("target/*.msgpack")):
                left.unlink()
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            start = time.perf_counter()
            done = subprocess.run(
                [str(Path(sys.executable).with_name("dbt")), "build", "--no-use-colors"],
                cwd=out / "dbt",
                capture_output=True,
                text=True,
            )
            wall = time.perf_counter() - start
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            times.append((wall, processor))
            if done.returncode:
                print(done.stdout[-1500:])
                return 1
    found = next(line for line in done.stdout.splitlines() if " Found " in line)
    best, processor = min(times)
    print(
        f"{found.partition('Found ')[2]}: dbt build in {best:.1f} s at best, median"
        f" {statistics.median(wall for wall, _ in times):.1f} s, {processor:.1f} s of processor"
        f" time (goal {DBT_GOAL:.0f} s)"
    )
    return 0 if best <= DBT_GOAL else 1


def models(options: argparse.Namespace) -> int:
    """How many models people read of three sources, and how long they are."""
    with tempfile.TemporaryDirectory() as place:
        shop = Path(place, "shop.db")
        build_shop(shop)
        small = {name: options.corpus / name / "data" for name in ("chinook", "northwind")}
        for name, source in {"the demo": shop, **small}.items():
            for technique in options.techniques:
                out = Path(place, f"{name}_{technique}")
                forge(source, out, technique)
                print(f"{name:10} {technique:14} {_models(out)}")
    return 0


def _models(out: Path) -> str:
    """Return how many models a project has for a table of the source, and how long they are."""
    models = [path.read_text().splitlines() for path in (out / "dbt" / "models").rglob("*.sql")]
    tables = len(json.loads((out / "plan.json").read_text())["sources"])
    lines = sum(map(len, models))
    longest = max(len(line) for lines_of_model in models for line in lines_of_model)
    return (
        f"{len(models)} models, {len(models) / tables:.1f} a table of the source,"
        f" {lines / len(models):.1f} lines a model, the longest line has {longest} characters"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    measure = {
        "corpus": corpus,
        "bytes": same_bytes,
        "chinook": chinook,
        "demo": demo,
        "tables": many_tables,
        "vault": vault,
        "dbt-demo": dbt_demo,
        "models": models,
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=tuple(measure))
    parser.add_argument("--corpus", type=Path, default=SHARED / "corpus")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--dbt", action="store_true")
    parser.add_argument("--techniques", nargs="*", default=TECHNIQUES, choices=TECHNIQUES)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1, help="databases at once, for corpus")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--models", type=int, default=42)
    options = parser.parse_args(arguments)
    return measure[options.what](options)


if __name__ == "__main__":
    sys.exit(main())
