"""DataHub's GraphQL API as its documentation publishes it, with two datasets on two pages."""

from typing import Any

from tests.sources.catalogs.api_server import NOT_FOUND, Answer, Request

TOKEN = "a-personal-access-token"


def _tags(*names: str) -> dict[str, Any]:
    return {"tags": [{"tag": {"name": name, "properties": {"name": name}}} for name in names]}


def _field(path: str, native: str, type_: str, **more: object) -> dict[str, object]:
    return {"fieldPath": path, "nativeDataType": native, "type": type_, "nullable": True, **more}


def _urn(name: str) -> str:
    return f"urn:li:dataset:(urn:li:dataPlatform:postgres,{name},PROD)"


_SALES = {"domain": {"properties": {"name": "Sales"}}}
_OWNER = {
    "owners": [
        {
            "owner": {
                "name": "order-desk",
                "properties": {"displayName": "Order desk", "email": "o@x.org"},
            }
        }
    ]
}
ORDERS = {
    "urn": _urn("shop.public.orders"),
    "name": "shop.public.orders",
    "platform": {"name": "postgres"},
    "properties": {"description": "Orders", "customProperties": []},
    "editableProperties": {"description": "Every order of the shop"},
    "ownership": _OWNER,
    "domain": _SALES,
    "tags": _tags("gold"),
    "glossaryTerms": {"terms": [{"term": {"name": "Order", "properties": {"name": "Order"}}}]},
    "schemaMetadata": {
        "primaryKeys": ["order_id"],
        "foreignKeys": [
            {
                "sourceFields": [{"fieldPath": "customer_id"}],
                "foreignFields": [{"fieldPath": "id"}],
                "foreignDataset": {
                    "urn": _urn("shop.public.customers"),
                    "name": "shop.public.customers",
                },
            }
        ],
        "fields": [
            _field("order_id", "bigint", "NUMBER", nullable=False),
            _field("customer_id", "bigint", "NUMBER", description="Who ordered"),
            _field("[version=2.0].[type=struct].[type=struct].place", "jsonb", "STRUCT"),
            _field(
                "[version=2.0].[type=struct].[type=struct].place.[type=string].city",
                "text",
                "STRING",
            ),
            _field("weight", "a type of its own", "NUMBER"),
        ],
    },
    "upstream": {
        "relationships": [{"entity": {"name": "raw.orders", "platform": {"name": "kafka"}}}]
    },
}
CUSTOMERS = {
    "urn": _urn("shop.public.customers"),
    "name": "shop.public.customers",
    "platform": {"name": "postgres"},
    "ownership": _OWNER,
    "domain": _SALES,
    "schemaMetadata": {
        "fields": [
            _field("id", "integer", "NUMBER", isPartOfKey=True),
            _field("mailbox", "text", "STRING"),
        ]
    },
    "editableSchemaMetadata": {
        "editableSchemaFieldInfo": [
            {"fieldPath": "mailbox", "description": "Where to write", "tags": _tags("PII")}
        ]
    },
}


def datahub(request: Request) -> Answer:
    """Answer one dataset a page, to the token alone."""
    if request.headers.get("authorization") != f"Bearer {TOKEN}":
        return Answer({"message": "Unauthorized"}, 401)
    if (request.method, request.path) != ("POST", "/api/graphql"):
        return NOT_FOUND
    asked = request.body["variables"]["input"]
    if asked.get("orFilters") and "postgres" not in str(asked["orFilters"]):
        return _page([], None)
    if "scrollId" in asked:
        return _page([CUSTOMERS], None)
    return _page([ORDERS], "two")


def _page(datasets: list[dict[str, Any]], following: str | None) -> Answer:
    results = [{"entity": dataset} for dataset in datasets]
    page = {"nextScrollId": following, "searchResults": results}
    return Answer({"data": {"scrollAcrossEntities": page}})
