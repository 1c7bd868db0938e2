"""The dimensional technique's builds, and how they are compared with the source."""

from fluid_build.transform.plan.dimensional.builds import (
    mart_builds,
    mart_relation_carriers,
    mart_relied_keys,
)
from fluid_build.transform.plan.dimensional.checks import mart_checks
from fluid_build.transform.plan.dimensional.orphans import orphan_tests
from fluid_build.transform.plan.dimensional.rebuilds import mart_rebuilds

__all__ = [
    "mart_builds",
    "mart_checks",
    "mart_rebuilds",
    "mart_relation_carriers",
    "mart_relied_keys",
    "orphan_tests",
]
