"""A small valid contract to break in tests."""

from typing import Any


def contract(**changes: Any) -> dict[str, Any]:
    """A valid contract with one table of two columns; ``changes`` replace keys at the top."""
    return {
        "fluidVersion": "0.7.2",
        "kind": "DataProduct",
        "id": "bronze.shop",
        "name": "Shop",
        "metadata": {"owner": {"team": "shop"}},
        "exposes": [expose()],
        **changes,
    }


def expose(**changes: Any) -> dict[str, Any]:
    """A valid table ``orders``."""
    return {
        "exposeId": "orders",
        "kind": "table",
        "contract": {
            "schema": [
                {"name": "order_id", "type": "integer", "required": True},
                {"name": "placed_on", "type": "date"},
            ]
        },
        "binding": {"platform": "local", "format": "csv", "location": {"path": "orders.csv"}},
        **changes,
    }
