"""The dbt projects of the demo, reviewed by the community's own tools.

The shop of the demo is forged in each technique and built by dbt, and then reviewed:

- by dbt_project_evaluator, the package itself, from a checkout (``--evaluator DIR``, with
  dbt_utils in ``--dbt-utils DIR``): every fact table of its rules is counted;
- by sqlfluff (``--sqlfluff COMMAND``) on the compiled SQL, by the settings that are in the project:
  sqlfluff's defaults but for the rules that it leaves out with a reason.

Usage: python bench/dbt_review.py --evaluator DIR --dbt-utils DIR --sqlfluff COMMAND
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import yaml

from fluid_build.demo import build_shop
from fluid_build.forging import forge
from fluid_build.sources import open_source
from fluid_build.temporary import owned_folder

TECHNIQUES = ("flat", "dimensional", "dv2")
VARIABLES = {
    # The project has no package, so its test of several columns is its own. The evaluator tells
    # tests apart by their last name, so dbt_utils' test of that name can't be listed beside it.
    "primary_key_test_macros": [
        ["dbt.test_unique", "dbt.test_not_null"],
        ["shop.test_unique_combination_of_columns"],
    ],
    "marts_prefixes": ["fct_", "dim_", "bridge_"],
    "other_prefixes": [
        "rpt_",
        "hub_",
        "lnk_",
        "hal_",
        "tl_",
        "sal_",
        "sat_",
        "msat_",
        "eff_",
        "ref_",
    ],
}
"""What the package asks of a project: its conventions."""
EXPLAINED = {
    "fct_documentation_coverage": "a figure and no finding: all models are documented",
    "fct_test_coverage": "a figure and no finding",
    "fct_model_directories": "one source: a folder for each source would be the only one",
    "fct_source_directories": "as fct_model_directories",
    "fct_model_naming_conventions": "a flat model has the names of the source's own tables",
    "fct_model_fanout": "a dimension is shared by its facts, and a hashed staging by its hubs",
    "fct_too_many_joins": "a fact looks up one key for each of its dimensions",
    "fct_rejoining_of_upstream_concepts": "a dimension of type 2 joins its history with today's",
    "fct_staging_dependent_on_staging": "a hashed business key may be in another table",
    "sources without a date": "nothing says when a row was written: the source's meta says so",
    "columns without a description": "a description made of a column's name says nothing",
    "generated calendars": "hours and days are generated, and come from no source",
    "fct_direct_join_to_source": "as fct_staging_dependent_on_staging",
}
"""Rules that these techniques break by design; all others are findings."""
GENERATED = frozenset({"dim_date", "dim_time_of_day", "time_spine_daily"})
_SHOWN = 8


def main() -> int:
    """Review each project, print what was found, and return how many findings there are."""
    arguments = _arguments()
    found = 0
    with owned_folder() as aside:
        shop = aside.path / "shop.db"
        build_shop(shop)
        for technique in arguments.technique or TECHNIQUES:
            folder = aside.path / technique
            with open_source(shop) as source:
                forge(source, technique=technique, out=folder)
            project = folder / "dbt"
            if arguments.evaluator:
                found += _report(
                    f"{technique}, dbt_project_evaluator", _evaluated(project, arguments)
                )
            if arguments.sqlfluff:
                found += _report(f"{technique}, sqlfluff", _linted(project, arguments.sqlfluff))
    return min(found, 1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--technique", choices=TECHNIQUES, action="append")
    parser.add_argument("--evaluator", type=Path)
    parser.add_argument("--dbt-utils", type=Path)
    parser.add_argument("--sqlfluff")
    return parser.parse_args()


def _report(title: str, findings: Iterator[tuple[str, str]]) -> int:
    everything = list(findings)
    counts = Counter(rule for rule, _ in everything)
    unexplained = sum(count for rule, count in counts.items() if rule not in EXPLAINED)
    print(f"{title}: {unexplained:,} findings, {len(everything) - unexplained:,} explained")
    for rule, count in sorted(counts.items()):
        print(f"  {rule}: {count:,}{_reason(rule)}")
        shown = [] if rule in EXPLAINED else [text for name, text in everything if name == rule]
        for text in shown[:_SHOWN]:
            print(f"    {text}")
    return unexplained


def _reason(rule: str) -> str:
    return f" (explained: {EXPLAINED[rule]})" if rule in EXPLAINED else ""


def _evaluated(project: Path, arguments: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yield the rows of every rule of the package, which dbt installs from local folders."""
    reviewed = project.parent / "reviewed"
    shutil.copytree(project, reviewed)
    for name, package in (
        ("dbt_utils", arguments.dbt_utils),
        ("dbt_project_evaluator", arguments.evaluator),
    ):
        # dbt reads what is installed here; to install it, dbt would ask its hub for dbt_utils.
        installed = reviewed / "dbt_packages" / name
        shutil.copytree(package, installed, ignore=shutil.ignore_patterns("integration_tests*"))
        (installed / "packages.yml").unlink(missing_ok=True)
    variables = ("--vars", json.dumps(VARIABLES))
    _dbt(reviewed, "build", "--exclude", "package:dbt_project_evaluator", *variables)
    _dbt(reviewed, "run", "--select", "package:dbt_project_evaluator", *variables)
    (file,) = reviewed.glob("*.duckdb")
    undated = _undated(reviewed)
    with duckdb.connect(str(file), read_only=True) as database:
        rules = database.execute(
            "SELECT table_schema, table_name FROM information_schema.tables"
            " WHERE table_name IN (SELECT unnest(?)) ORDER BY 2",
            [_rules(arguments.evaluator)],
        ).fetchall()
        for schema, rule in rules:
            for row in database.execute(f'SELECT * FROM "{schema}"."{rule}"').fetchall():
                yield _kind(rule, row, undated), " | ".join(map(str, row))[:160]


def _kind(rule: str, row: tuple[object, ...], undated: set[str]) -> str:
    """Return the rule that a row breaks, or by which name its exception is explained."""
    if rule == "fct_sources_without_freshness" and row[0] in undated:
        return "sources without a date"
    # A model that itself has no description, or no columns, stays a finding.
    if rule == "fct_undocumented_public_models" and row[2] and row[3]:
        return "columns without a description"
    if rule == "fct_root_models" and str(row[0]) in GENERATED:
        return "generated calendars"
    return rule


def _undated(project: Path) -> set[str]:
    """Return the sources that have no freshness, with the reason."""
    text = (project / "models" / "staging" / "_sources.yml").read_text("utf-8")
    return {
        f"{source['name']}.{table['name']}"
        for source in yaml.safe_load(text)["sources"]
        for table in source["tables"]
        if table["config"]["freshness"] is None and table["config"]["meta"]["freshness"]
    }


def _rules(package: Path) -> list[str]:
    """Return the package's fact tables, each of which lists what breaks a rule."""
    return [path.stem for path in (package / "models" / "marts").rglob("fct_*.sql")]


def _dbt(project: Path, *command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dbt.cli.main", *command, "--profiles-dir", "."],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"dbt {command[0]}: {done.stdout[-3000:]}{done.stderr[-1000:]}")


def _linted(project: Path, command: str) -> Iterator[tuple[str, str]]:
    """Yield what's found in the SQL of a first load, and in that of the next ones."""
    _dbt(project, "compile")
    yield from _linted_files(project, command)
    _dbt(project, "run")
    _dbt(project, "compile")
    yield from _linted_files(project, command)


def _linted_files(project: Path, command: str) -> Iterator[tuple[str, str]]:
    (compiled,) = (project / "target" / "compiled").iterdir()
    for settings in (".sqlfluff", ".sqlfluffignore"):
        shutil.copy(project / settings, compiled)
    # dbt compiles a test below the name of its YAML file; it's of dbt's own making.
    models = [
        str(path.relative_to(compiled))
        for path in compiled.rglob("*.sql")
        if path.parent.suffix != ".yml"
    ]
    done = subprocess.run(
        [command, "lint", "--format", "json", "--processes", "2", "--templater", "raw", *models],
        cwd=compiled,
        capture_output=True,
        text=True,
        check=False,
    )
    for file in json.loads(done.stdout):
        for each in file["violations"]:
            place = f"{file['filepath']}:{each.get('start_line_no', each.get('line_no'))}"
            yield each["code"], f"{place} {each['description']}"


if __name__ == "__main__":
    raise SystemExit(main())
