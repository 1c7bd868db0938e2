"""Small contracts and databases to hold against each other."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.live import CheckResult, LiveResult, check_live
from fluid_build.contract.validation import parse_contract
from fluid_build.sources import open_source

NOW = datetime(2024, 6, 15, 12)


def column(name: str, type_: str = "string", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, **more}


def rule(type_: str, selector: str | None = None, **more: Any) -> dict[str, Any]:
    named = {} if selector is None else {"selector": selector}
    return {"id": type_, "type": type_, "severity": "error", **named, **more}


def expose(
    id_: str, columns: Sequence[dict[str, Any]], *rules: dict[str, Any], **more: Any
) -> dict[str, Any]:
    return {
        "exposeId": id_,
        "kind": "table",
        "contract": {"schema": list(columns), "dq": {"rules": list(rules)}},
        "binding": {"platform": "local", "format": "other", "location": {}},
        **more,
    }


def document(*exposes: dict[str, Any]) -> dict[str, Any]:
    return {
        "fluidVersion": "0.7.2",
        "kind": "DataProduct",
        "id": "shop",
        "name": "Shop",
        "metadata": {"owner": {"team": "shop"}},
        "exposes": list(exposes),
    }


def promised(*exposes: dict[str, Any]) -> FluidContract:
    return parse_contract(document(*exposes))


def database(path: Path, *statements: str) -> Path:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def held(place: Path | str, *exposes: dict[str, Any], schemas: Sequence[str] = ()) -> LiveResult:
    with open_source(place, schemas=schemas) as source:
        return check_live(promised(*exposes), source, now=NOW)


def check(result: LiveResult, id_: str) -> CheckResult:
    return next(found for found in result.checks if found.id == id_)


def of_rule(
    place: Path, rule_: dict[str, Any], columns: Sequence[dict[str, Any]] | None = None
) -> CheckResult:
    """The result of one rule on the table ``t``, all of whose columns are promised."""
    with open_source(place) as source:
        table = next(table for table in source.tables if table.name == "t")
        every = columns or [column(c.name) for c in table.columns]
        result = check_live(promised(expose("t", every, rule_)), source, now=NOW)
    return check(result, rule_["id"])
