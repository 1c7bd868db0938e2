"""Whether exported contracts run: ``datacontract test`` on what dbt built, and on broken data.

    python3 -m venv /tmp/dc && /tmp/dc/bin/pip install 'datacontract-cli[duckdb]'
    python bench/exports.py --datacontract /tmp/dc/bin/datacontract [--only NAME ...]

Each database is forged in each technique and built by dbt; its contract is exported as ODCS and as
DCS, and the public command line of https://cli.datacontract.com must find nothing wrong. Then one
promise of each kind is broken in the built database, and it must find that. The command line is
half a gigabyte with what it needs, so it is no dependency: it lives in an environment of its own.
``demo`` is the shop of ``fluid demo``; the corpus is read from ``../shared/corpus`` beside the
checkout. Exit code 1 where a figure misses its goal.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import yaml

from fluid_build.demo import build_shop
from fluid_build.sources.sql import quote

SHARED = Path(__file__).parents[2] / "shared"
FLUID = str(Path(sys.executable).with_name("fluid"))
DBT = str(Path(sys.executable).with_name("dbt"))
TECHNIQUES = ("flat", "data_vault_2", "dimensional")
DATABASES = ("demo", "chinook", "northwind", "sakila")
FORMATS = ("odcs", "dcs")


@dataclass(frozen=True)
class Tested:
    """What ``datacontract test`` said of one document: warnings of a check count as failed."""

    passed: int
    failed: tuple[str, ...]


def tested(command: str, document: Path, folder: Path) -> Tested:
    """Run it as a user does, in the folder that the document's paths are told from."""
    report = folder / "report.json"
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [command, "test", str(document), "--output", str(report), "--output-format", "json"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    if not report.is_file():
        return Tested(0, (f"exit {done.returncode}: {done.stdout[-400:]}{done.stderr[-400:]}",))
    checks = json.loads(report.read_text())["checks"]
    report.unlink()
    results = [str(check["result"]) for check in checks]
    failed = [
        f"{check['model']}.{check['field']}: {check['name']}: {check['reason']}"
        for check in checks
        if check["result"] != "passed" and check["model"]
    ]
    if done.returncode and not failed:
        failed = [f"exit {done.returncode}"]
    return Tested(results.count("passed"), tuple(failed))


def forged(source: Path, out: Path, technique: str) -> None:
    """Forge a source and let dbt build it."""
    command = [FLUID, "forge", "data-model", "from-source", "--uri", str(source)]
    subprocess.run(
        [*command, "--technique", technique, "-o", str(out)], check=True, capture_output=True
    )
    subprocess.run([DBT, "build"], cwd=out / "dbt", check=True, capture_output=True)


def breakages(contract: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """One statement that breaks a promise for each kind of rule, with the rule's id."""
    seen = set()
    for expose in contract["exposes"]:
        table = quote(expose["exposeId"])
        for rule in expose["contract"].get("dq", {}).get("rules", ()):
            labels = rule.get("labels", {})
            columns = rule["selector"].split(", ")
            column = quote(columns[0])
            statement = {
                "completeness": f"INSERT INTO {table} BY NAME SELECT * REPLACE"
                f" (NULL AS {column}) FROM {table}",
                "uniqueness": f"INSERT INTO {table} SELECT * FROM {table}",
                "accuracy": f"UPDATE {table} SET {column} = {column}",
                "valid_values": f"UPDATE {table} SET {column} = 'no such value'",
            }[rule["type"]]
            if rule["type"] == "accuracy":
                parent, theirs = labels["to-table"], json.loads(labels["to-columns"])[0]
                statement = f"DELETE FROM {quote(parent)} WHERE {quote(theirs)} IS NOT NULL"
            if rule["type"] in seen or rule["severity"] == "info":
                continue
            if rule["type"] == "valid_values" and not _is_text(expose, columns[0]):
                continue
            seen.add(rule["type"])
            yield rule["id"], statement


def _is_text(expose: dict[str, Any], name: str) -> bool:
    types = {column["name"]: column["type"] for column in expose["contract"]["schema"]}
    return bool(re.match(r"string|varchar|text", types[name]))


def not_noticed(command: str, out: Path) -> list[str]:
    """The breakages that nobody notices."""
    (database,) = (out / "dbt").glob("*.duckdb")
    whole = database.with_suffix(".whole")
    shutil.copy(database, whole)
    missed = []
    contract = yaml.safe_load((out / "contract.fluid.yaml").read_text())
    for rule, statement in breakages(contract):
        shutil.copy(whole, database)
        with duckdb.connect(str(database)) as connection:
            rows = connection.execute(statement).fetchone()
        if rows is None or not rows[0]:
            continue
        for format_ in FORMATS:
            if not tested(command, out / f"{format_}.yaml", out).failed:
                missed.append(f"{format_}: {rule} ({statement})")
    shutil.move(whole, database)
    return missed


def main(arguments: Sequence[str] | None = None) -> int:
    """Every database in every technique and format."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datacontract", default="datacontract")
    parser.add_argument("--corpus", type=Path, default=SHARED / "corpus")
    parser.add_argument("--only", nargs="*", default=DATABASES)
    parser.add_argument("--techniques", nargs="*", default=TECHNIQUES, choices=TECHNIQUES)
    options = parser.parse_args(arguments)
    good = True
    print(f"{'database':14}{'technique':14}{'format':8}{'passed':>8}{'failed':>8}  breakages")
    for name in options.only:
        for technique in options.techniques:
            with tempfile.TemporaryDirectory() as place:
                out = Path(place, "out")
                source = (
                    Path(place, "shop.db") if name == "demo" else options.corpus / name / "data"
                )
                if name == "demo":
                    build_shop(source)
                forged(source, out, technique)
                good &= _row(options.datacontract, name, technique, out)
    return 0 if good else 1


def _row(command: str, name: str, technique: str, out: Path) -> bool:
    good = True
    for format_ in FORMATS:
        subprocess.run(
            [FLUID, "export", format_, "contract.fluid.yaml", "-o", f"{format_}.yaml"],
            cwd=out,
            check=True,
            capture_output=True,
        )
        found = tested(command, out / f"{format_}.yaml", out)
        good &= bool(found.passed) and not found.failed
        print(f"{name:14}{technique:14}{format_:8}{found.passed:>8}{len(found.failed):>8}", end="")
        print("  " if format_ == FORMATS[0] else "", flush=True)
        for finding in found.failed[:20]:
            print(f"    {finding}")
    missed = not_noticed(command, out)
    print(f"{'':14}{'':14}{'':8}{'':8}{'':8}  {'all noticed' if not missed else 'NOT NOTICED'}")
    for finding in missed:
        print(f"    {finding}")
    return good and not missed


if __name__ == "__main__":
    sys.exit(main())
