"""Data Mesh Manager's API as its documentation publishes it, with two products and a team."""

from typing import Any

from tests.sources.catalogs.api_server import NOT_FOUND, Answer, Request

KEY = "dmm_live_a_key_of_the_test"

PRODUCTS: list[dict[str, Any]] = [
    {
        "dataProductSpecification": "0.0.1",
        "id": "orders",
        "info": {"title": "Orders", "ownerId": "order-desk", "domain": "sales"},
        "tags": ["gold"],
        "inputPorts": [{"id": "in", "sourceSystemId": "webshop"}],
        "outputPorts": [
            {"id": "tables", "dataContractId": "orders-v1"},
            {"id": "files", "dataContractId": "orders-v1"},
        ],
    },
    {
        "apiVersion": "v1.0.0",
        "kind": "DataProduct",
        "id": "people",
        "name": "People",
        "domain": "crm",
        "team": {"name": "crm-team"},
        "outputPorts": [{"name": "tables", "contractId": "people-v3"}, {"contractId": "gone"}],
    },
]
ORDERS_CONTRACT = {
    "dataContractSpecification": "1.1.0",
    "id": "orders-v1",
    "info": {"title": "Orders", "owner": "order-desk"},
    "servers": {"production": {"type": "snowflake"}},
    "models": {
        "orders": {
            "description": "Every order",
            "fields": {
                "order_id": {"type": "long", "primaryKey": True, "required": True},
                "customer_id": {"type": "long", "references": "customers.customer_id"},
                "amount": {"type": "decimal", "precision": 10, "scale": 2},
                "placed": {"type": "timestamp_tz"},
                "place": {"type": "record", "fields": {"city": {"type": "string"}}},
            },
        },
        "customers": {
            "fields": {
                "customer_id": {"type": "long", "primary": True},
                "mailbox": {"type": "string", "pii": True, "description": "Where to write"},
            }
        },
    },
}
PEOPLE_CONTRACT = {
    "apiVersion": "v3.0.2",
    "kind": "DataContract",
    "id": "people-v3",
    "domain": "crm",
    "team": [],
    "servers": [{"server": "production", "type": "postgres"}],
    "schema": [
        {
            "name": "person",
            "physicalName": "tbl_person",
            "properties": [
                {
                    "name": "id",
                    "logicalType": "integer",
                    "physicalType": "bigint",
                    "primaryKey": True,
                    "primaryKeyPosition": 1,
                    "required": True,
                },
                {"name": "born", "logicalType": "date", "classification": "PII"},
                {"name": "names", "logicalType": "array", "items": {"logicalType": "string"}},
            ],
        }
    ],
}
_DOCUMENTS: dict[str, Any] = {
    "/api/datacontracts/orders-v1": ORDERS_CONTRACT,
    "/api/datacontracts/people-v3": PEOPLE_CONTRACT,
    "/api/dataproducts/orders": PRODUCTS[0],
    "/api/teams/order-desk": {
        "id": "order-desk",
        "name": "Order desk",
        "contact": {"email": "o@x.org"},
    },
}


def mesh(request: Request) -> Answer:
    """Answer one product a page, to the key alone."""
    if request.headers.get("x-api-key") != KEY:
        return Answer({"detail": "Unknown key"}, 403)
    if request.path == "/api/dataproducts":
        page = int(request.parameters.get("p", "0"))
        return Answer(PRODUCTS[page : page + 1])
    document = _DOCUMENTS.get(request.path)
    return NOT_FOUND if document is None else Answer(document)
