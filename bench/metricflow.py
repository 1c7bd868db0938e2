"""The metrics of the demo's star, queried by MetricFlow itself.

The shop of the demo is forged as a star and built by dbt. Then ``mf`` (``--mf COMMAND``, of
dbt-metricflow 0.15 with dbt-duckdb) validates the semantic models against the built tables, and
queries metrics, whose results must be those of SQL on the source's own tables.

Usage: python bench/metricflow.py --mf COMMAND
"""

import argparse
import csv
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from fluid_build.block_yaml import block_yaml
from fluid_build.demo import build_shop
from fluid_build.forging import forge
from fluid_build.sources import open_source
from fluid_build.temporary import owned_folder
from fluid_build.transform.dbt.running import run_dbt

_Row = tuple[str, Decimal]


@dataclass(frozen=True, slots=True)
class Query:
    """A metric by what it's grouped by, and the same of the source: the group, and the figure."""

    metric: str
    group_by: str
    of_source: str


QUERIES = (
    Query(
        "sum_fct_payments_amount",
        "metric_time__month",
        "SELECT substr(paid_at, 1, 7), sum(amount) FROM payments GROUP BY 1",
    ),
    Query(
        "sum_fct_order_lines_qty",
        "product__category_name",
        "SELECT categories.name, sum(qty) FROM order_lines"
        " LEFT JOIN products ON product_id = prod_id"
        " LEFT JOIN categories ON category_id = cat_id GROUP BY 1",
    ),
    Query(
        "count_fct_shipments",
        "ship_to_address__city",
        "SELECT city, count(*) FROM shipments JOIN orders USING (order_id)"
        " JOIN addresses ON address_id = ship_to GROUP BY 1",
    ),
    Query(
        "last_fct_employee_snapshot_salary",
        "store__city",
        "SELECT city, sum(salary) FROM employees JOIN stores USING (store_id) GROUP BY 1",
    ),
)


def main() -> int:
    """Validate and query the demo's star, print what differs, and return 1 if anything does."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mf", required=True)
    mf = parser.parse_args().mf
    with owned_folder() as aside:
        shop = aside.path / "shop.db"
        build_shop(shop)
        with open_source(shop) as source:
            forge(source, technique="dimensional", out=aside.path / "star")
        project = aside.path / "star" / "dbt"
        result = run_dbt(project)
        print(f"dbt build: {len(result.nodes):,} nodes, {len(result.warnings):,} warnings")
        _own_profile(project, aside.path)
        # MetricFlow reads what dbt has parsed.
        _run(project, sys.executable, "-W", "ignore", "-m", "dbt.cli.main", "parse")
        _run(project, mf, "validate-configs")
        print("mf validate-configs: passed")
        differing = [query for query in QUERIES if not _agrees(mf, project, shop, query)]
    return min(len(differing) + len(result.warnings), 1)


def _own_profile(project: Path, folder: Path) -> None:
    """Write a profile of the built database alone: metrics are queried without the source."""
    output = {"type": "duckdb", "path": str(project / "shop.duckdb"), "schema": "main"}
    profile = {"shop": {"target": "dev", "outputs": {"dev": output}}}
    (folder / "profiles.yml").write_text(block_yaml(profile))


def _run(project: Path, *command: str) -> None:
    done = subprocess.run(
        command,
        cwd=project,
        env={**os.environ, "DBT_PROFILES_DIR": str(project.parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or "ERROR:" in done.stdout:
        raise SystemExit(f"{' '.join(command)}: {done.stdout[-3000:]}{done.stderr[-1000:]}")


def _agrees(mf: str, project: Path, shop: Path, query: Query) -> bool:
    result = project.parent / f"{query.metric}.csv"
    wanted = ("--metrics", query.metric, "--group-by", query.group_by, "--csv", str(result))
    _run(project, mf, "query", *wanted)
    with result.open(newline="") as file:
        _, *found = csv.reader(file)
    with closing(sqlite3.connect(shop)) as source:
        expected = source.execute(query.of_source).fetchall()
    differing = set(_rows(found)) ^ set(_rows(expected))
    print(f"{query.metric} by {query.group_by}: {len(found):,} rows, {len(differing):,} differ")
    for row in sorted(differing)[:10]:
        print(f"  {row}")
    return bool(found) and not differing


def _rows(rows: Iterable[Sequence[object]]) -> list[_Row]:
    """Return groups and figures in one spelling: a month by year and month, cents exactly."""
    cents = Decimal("0.01")
    return [(_group(group), Decimal(str(figure)).quantize(cents)) for group, figure in rows]


def _group(group: object) -> str:
    text = "" if group is None else str(group)
    return text[:7] if text[4:5] == "-" and text[:4].isdigit() else text


if __name__ == "__main__":
    raise SystemExit(main())
