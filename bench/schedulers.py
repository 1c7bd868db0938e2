"""The files of `fluid generate`, run by the tools that they are for.

    python bench/schedulers.py                    # airflow, dagster, prefect, schemas of the CIs
    python bench/schedulers.py --only dagster

Each tool is installed from the package index into an environment of its own, in a folder that
``--envs`` keeps. The demo is forged as a star, and each scheduler runs its file on it twice: once
as it is, and once with an extract that renamed a column, which nobody has decided about. The first
run has to succeed. The second has to fail, and say why near the end of its log. The
files of GitHub, GitLab, CircleCI and Azure are checked against their vendors' schemas, as
check-jsonschema brings them. Jenkins has no checker without a server.
"""

import argparse
import os
import sqlite3
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLUID = (sys.executable, "-m", "fluid_build.cli.main")
NEEDS = {
    "airflow": ["apache-airflow==3.3.*", "apache-airflow-providers-standard"],
    "dagster": ["dagster==1.13.*"],
    "prefect": ["prefect==3.9.*"],
    "schemas": ["check-jsonschema==0.39.*"],
}
SCHEMAS = {
    "github": "vendor.github-workflows",
    "gitlab": "vendor.gitlab-ci",
    "circleci": "vendor.circle-ci",
    "azure": "vendor.azure-pipelines",
}
SECONDS = 900
REASON = "gets_newsletter"
"""The name that nobody has decided about: what says why has it."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=sorted(NEEDS), action="append")
    parser.add_argument("--envs", type=Path, help="where to keep the environments")
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as place:
        envs = options.envs or Path(place) / "envs"
        for tool in options.only or sorted(NEEDS):
            python = environment(envs / tool, NEEDS[tool])
            failures += not RUNS[tool](python, Path(place) / tool)
    return 1 if failures else 0


def environment(folder: Path, packages: list[str]) -> Path:
    """Return the Python of an environment with packages, which is made where it's missing."""
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        (folder / "complete").touch()
    return python


def shop(place: Path) -> tuple[Path, Mapping[str, str]]:
    """Forge the demo as a star, and return it with an environment in which `fluid` runs."""
    place.mkdir(parents=True)
    commands = place / "bin"
    commands.mkdir()
    script = commands / "fluid"
    script.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {" ".join(FLUID)} "$@"\n')
    script.chmod(0o755)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    known = {**clean, "PATH": f"{commands}:{os.environ['PATH']}", "FLUID_HOME": str(place / "home")}
    demo = place / "demo"
    forge = ["forge", "data-model", "from-source", "--uri", str(demo / "shop.db")]
    star = ["--technique", "star", "--out", str(demo / "shop-star")]
    for words in (["demo", "--out", str(demo)], [*forge, *star]):
        subprocess.run(["fluid", *words], env=known, check=True, capture_output=True)
    return demo / "shop-star", known


def generated(kind: str, tool: str, folder: Path, out: Path, known: Mapping[str, str]) -> None:
    command = ["fluid", "generate", kind, str(folder), "--for", tool, "--out", str(out)]
    subprocess.run(command, env=known, check=True, capture_output=True)


def rename_a_column(folder: Path) -> None:
    with closing(sqlite3.connect(folder.parent / "shop.db")) as database, database:
        database.execute("ALTER TABLE customers RENAME COLUMN newsletter TO gets_newsletter")


def twice(tool: str, folder: Path, run: Callable[[], subprocess.CompletedProcess[str]]) -> bool:
    """Run a scheduler on the shop as it is and as it was broken, and say what it did."""
    first = run()
    rename_a_column(folder)
    second = run()
    lines = (second.stdout + second.stderr).splitlines()
    told = [at for at, line in enumerate(reversed(lines), 1) if REASON in line]
    print(f"{tool}: ran to the end: {first.returncode == 0};", end=" ")
    print(f"a broken extract is red: {second.returncode != 0};", end=" ")
    print(f"the reason ends {told[0]} lines before the end" if told else "without its reason")
    if first.returncode or not second.returncode or not told:
        print((first.stdout + first.stderr)[-3_000:], *lines[-20:], sep="\n")
        return False
    return True


def airflow(python: Path, place: Path) -> bool:
    folder, known = shop(place)
    generated("schedule", "airflow", folder, place, known)
    home = {**known, "AIRFLOW_HOME": str(place / "airflow"), "AIRFLOW__CORE__LOAD_EXAMPLES": "0"}
    home["AIRFLOW__CORE__DAGS_FOLDER"] = str(place / "dags")
    command = [str(python.parent / "airflow")]
    subprocess.run([*command, "db", "migrate"], env=home, check=True, capture_output=True)
    return twice("airflow", folder, lambda: output([*command, "dags", "test", "shop_star"], home))


def dagster(python: Path, place: Path) -> bool:
    folder, known = shop(place)
    generated("schedule", "dagster", folder, place, known)
    home = {**known, "DAGSTER_HOME": str(place / "dagster")}
    Path(home["DAGSTER_HOME"]).mkdir()
    command = [str(python.parent / "dagster"), "job", "execute", "-f", str(place / "shop_star.py")]
    return twice("dagster", folder, lambda: output([*command, "-j", "shop_star_nightly"], home))


def prefect(python: Path, place: Path) -> bool:
    folder, known = shop(place)
    generated("schedule", "prefect", folder, place, known)
    home = {**known, "PREFECT_HOME": str(place / "prefect")}
    code = f"import sys; sys.path.insert(0, {str(place)!r}); import shop_star; shop_star.nightly()"
    return twice("prefect", folder, lambda: output([str(python), "-c", code], home))


def output(command: list[str], known: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=known, check=False, capture_output=True, text=True, timeout=SECONDS
    )


def schemas(python: Path, place: Path) -> bool:
    folder, known = shop(place)
    good = True
    for ci, schema in SCHEMAS.items():
        generated("ci", ci, folder, place / "demo", known)
        (file,) = {
            "github": (place / "demo" / ".github").rglob("*.yml"),
            "gitlab": (place / "demo" / ".gitlab").rglob("*.yml"),
            "circleci": (place / "demo" / ".circleci").rglob("*.yml"),
            "azure": (place / "demo").glob("azure-*.yml"),
        }[ci]
        command = [str(python), "-m", "check_jsonschema", "--builtin-schema", schema]
        command += ["--regex-variant", "nonunicode", str(file)]
        checked = subprocess.run(command, check=False, capture_output=True, text=True)
        print(f"{ci}: {checked.stdout.strip() or checked.stderr.strip()}")
        good = good and checked.returncode == 0
    return good


RUNS = {"airflow": airflow, "dagster": dagster, "prefect": prefect, "schemas": schemas}

if __name__ == "__main__":
    sys.exit(main())
