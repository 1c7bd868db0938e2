"""Primary keys that a target's database is told of, beside the tests that count what breaks them.

PostgreSQL enforces a primary key, and takes 4 s instead of 0.8 to load 300,000 new hashes: a table
of which it says that each key is there once is worth that. The warehouses only note a key, for
optimizers and for tools that draw or join tables
(https://docs.getdbt.com/reference/resource-properties/constraints). DuckDB gets none: with the
index of a key, inserting 10 million hashes with their load date took 102 s instead of 4, and 2.7 GB
of memory instead of 0.3.

There are no foreign keys: they would force an order on loads that a vault is made to do without.
"""

import re

from fluid_build.modeling.sql_names import fit
from fluid_build.transform.dbt.targets import Target
from fluid_build.transform.plan.elements import EVERY_ROW, Build, PlanColumn

NOT_ENFORCED: frozenset[Target] = frozenset({"snowflake", "bigquery", "databricks"})
"""Where a primary key is a note: a load that breaks it succeeds, and the key's test fails."""

_SMALL = re.compile(
    r"U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DECIMAL\(.*\)|DATE|TIME|TIMESTAMP|BOOLEAN|UUID"
)
"""Types of which a key is compared alike everywhere, and is never too long for an index."""


def primary_key(build: Build, target: Target) -> tuple[str, ...]:
    """Return the columns of the primary key to declare; () where there is none.

    It's the key that is tested of every row and without known exceptions. Hashes, numbers and dates
    can be in it. Text of the source can't: PostgreSQL indexes no value of more than 2,704 bytes.
    """
    if target == "duckdb" or build.layer == "staging" or build.materialization == "view":
        return ()
    columns = [build.column(name) for name in build.key]
    if not all(column.required and is_small(column) for column in columns):
        return ()
    is_tested = any(
        test.kind == "unique"
        and set(test.columns) == set(build.key)
        and test.severity == "error"
        and not test.allowed
        and test.scope == EVERY_ROW
        for test in build.tests
    )
    return build.key if is_tested else ()


def key_constraint(build: Build, target: Target) -> list[dict[str, object]]:
    """Return dbt's entry of the primary key of a model, if it has one to declare."""
    key = primary_key(build, target)
    if not key:
        return []
    entry: dict[str, object] = {"type": "primary_key", "columns": list(key)}
    if target in NOT_ENFORCED:
        # dbt would warn of each of them at each run; the README says it once.
        entry["warn_unenforced"] = False
    if target == "databricks":
        # Its adapter warns of a constraint without a name. PostgreSQL's names are of a schema,
        # where a new table is beside the old one until it takes its place.
        entry["name"] = fit(build.name, "pk")
    return [entry]


def is_small(column: PlanColumn) -> bool:
    """Return whether a column has only values that any index holds, and compares alike."""
    return "hash-key" in column.tags or _SMALL.fullmatch(column.type) is not None
