"""Two versions of a document to compare."""

from copy import deepcopy
from pathlib import Path
from typing import Any

from fluid_build.contract.differences import Comparable, Differences, DocumentChange, differences
from fluid_build.contract.validation import parse_contract


def parted(old: Any, new: Any) -> Differences:
    """The differences of two contracts, both of them valid."""
    for document in (old, new):
        parse_contract(document)
    return differences(
        Comparable("contract", Path("old"), old), Comparable("contract", Path("new"), new)
    )


def only(old: Any, new: Any) -> DocumentChange:
    """The only change between two contracts."""
    found = parted(old, new).changes
    assert len(found) == 1, found
    return found[0]


def with_(document: Any, *path: str | int, value: Any = None) -> Any:
    """A copy with another value at a path; without the key where the value is None."""
    changed = deepcopy(document)
    at = changed
    for part in path[:-1]:
        at = at.setdefault(part, {}) if isinstance(at, dict) else at[part]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return changed


def full() -> dict[str, Any]:
    """A contract with something of everything that readers count on."""
    rules = [
        {
            "id": "orders.total.not_null",
            "type": "completeness",
            "selector": "total",
            "threshold": 0.9,
            "operator": ">=",
            "severity": "warn",
            "labels": {"max-violations": "3", "rows": "30"},
        },
        {
            "id": "orders.state.values",
            "type": "valid_values",
            "selector": "state",
            "severity": "error",
            "labels": {"accepted-values": '["new", "paid"]'},
        },
        {
            "id": "fresh",
            "type": "freshness",
            "selector": "day",
            "severity": "error",
            "window": "P1D",
        },
    ]
    columns = [
        {"name": "id", "type": "bigint", "required": True, "tags": ["primary-key"]},
        {"name": "total", "type": "decimal(10,2)", "sensitivity": "internal"},
        {"name": "state", "type": "varchar(10)", "semanticType": "status"},
        {"name": "day", "type": "date"},
    ]
    semantics = {
        "name": "orders",
        "entities": [{"name": "order", "type": "primary", "expr": "id"}],
        "measures": [{"name": "total", "agg": "sum", "expr": "total"}],
        "dimensions": [{"name": "state", "type": "categorical"}],
        "metrics": [{"name": "revenue", "type": "simple", "measure": "total"}],
    }
    expose = {
        "exposeId": "orders",
        "title": "Orders",
        "version": "1.2.3",
        "kind": "table",
        "contract": {"schema": columns, "dq": {"rules": rules}},
        "qos": {"availability": "99.9%", "freshnessSLO": "PT1H", "errorBudget": 0.1},
        "policy": {"authz": {"readers": ["sales"]}},
        "binding": {"platform": "local", "format": "other", "location": {"table": "orders"}},
        "lifecycle": {"state": "active", "retention": "P1Y"},
        "semantics": semantics,
        "labels": {"rows": "30"},
    }
    return {
        "fluidVersion": "0.7.2",
        "kind": "DataProduct",
        "id": "shop",
        "name": "Shop",
        "description": "A shop.",
        "metadata": {"owner": {"team": "shop"}},
        "exposes": [expose, {**deepcopy(expose), "exposeId": "returns"}],
        "lifecycle": {"state": "active"},
    }
