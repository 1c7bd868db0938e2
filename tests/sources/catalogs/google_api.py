"""BigQuery, Dataplex and its lineage as Google publishes their APIs, with one small dataset."""

from typing import Any

from tests.sources.catalogs.api_server import NOT_FOUND, Answer, Request

TOKEN = "ya29.a-token-of-the-test"
PROJECT = "my-project"

_LABELS = {"team": "order-desk", "domain": "sales"}
_DATASET = {"datasetReference": {"projectId": PROJECT, "datasetId": "shop"}}


def _reference(table: str) -> dict[str, str]:
    return {"projectId": PROJECT, "datasetId": "shop", "tableId": table}


TABLES: dict[str, dict[str, Any]] = {
    "orders": {
        "tableReference": _reference("orders"),
        "type": "TABLE",
        "description": "Every order",
        "labels": {"tier": "gold"},
        "schema": {
            "fields": [
                {"name": "order_id", "type": "INTEGER", "mode": "REQUIRED"},
                {"name": "customer_id", "type": "INTEGER", "description": "Who ordered"},
                {
                    "name": "lines",
                    "type": "RECORD",
                    "mode": "REPEATED",
                    "fields": [{"name": "sku", "type": "STRING"}],
                },
            ]
        },
        "tableConstraints": {
            "primaryKey": {"columns": ["order_id"]},
            "foreignKeys": [
                {
                    "name": "fk",
                    "referencedTable": _reference("customers"),
                    "columnReferences": [
                        {"referencingColumn": "customer_id", "referencedColumn": "customer_id"}
                    ],
                }
            ],
        },
    },
    "customers": {
        "tableReference": _reference("customers"),
        "type": "TABLE",
        "schema": {
            "fields": [
                {"name": "customer_id", "type": "INTEGER", "mode": "REQUIRED"},
                {
                    "name": "mailbox",
                    "type": "STRING",
                    "policyTags": {
                        "names": ["projects/p/locations/eu/taxonomies/1/policyTags/pii"]
                    },
                },
            ]
        },
        "tableConstraints": {"primaryKey": {"columns": ["customer_id"]}},
    },
}


def bigquery(request: Request) -> Answer:
    """Answer as BigQuery does."""
    match request.path.removeprefix(f"/bigquery/v2/projects/{PROJECT}").split("/")[1:]:
        case ["datasets"]:
            return Answer({"datasets": [_DATASET]})
        case ["datasets", "shop"]:
            return Answer({**_DATASET, "labels": _LABELS})
        case ["datasets", "shop", "tables"]:
            listed = [{"tableReference": _reference(name), "type": "TABLE"} for name in TABLES]
            return Answer({"tables": listed, "totalItems": len(listed)})
        case ["datasets", "shop", "tables", name] if name in TABLES:
            return Answer(TABLES[name])
    return Answer({"error": {"code": 404, "message": f"Not found: {request.path}"}}, 404)


_PLACE = f"projects/{PROJECT}/locations/eu"
_GROUP = f"/v1/{_PLACE}/entryGroups/@bigquery/entries"


def _entry(table: str, type_: str = "bigquery-table") -> dict[str, Any]:
    return {
        "name": f"{_PLACE}/entryGroups/@bigquery/entries/bigquery.googleapis.com/{table}",
        "entryType": f"projects/655216118709/locations/global/entryTypes/{type_}",
        "fullyQualifiedName": f"bigquery:{PROJECT}.shop.{table}",
        "entrySource": {"displayName": table, "labels": {"tier": "gold"}},
    }


ASPECTS: dict[str, dict[str, Any]] = {
    "orders": {
        "dataplex-types.global.schema": {
            "data": {
                "fields": [
                    {"name": "order_id", "mode": "REQUIRED", "dataType": "INT64"},
                    {"name": "amount", "dataType": "NUMERIC", "description": "In euros"},
                    {
                        "name": "lines",
                        "mode": "REPEATED",
                        "dataType": "RECORD",
                        "fields": [{"name": "sku", "dataType": "STRING"}],
                    },
                ]
            }
        },
        "dataplex-types.global.contacts": {
            "data": {"identities": [{"role": "owner", "name": "Order desk", "id": "o@x.org"}]}
        },
        "dataplex-types.global.overview": {"data": {"content": "Every order"}},
        "my-project.eu.governance": {"data": {"domain": "Sales"}},
        "my-project.eu.pii@Schema.amount": {"data": {}},
    }
}


def dataplex(request: Request) -> Answer:
    """Answer as Dataplex and its lineage do, one entry a page, to the token alone."""
    if request.headers.get("authorization") != f"Bearer {TOKEN}":
        return Answer({"error": {"code": 401, "message": "Invalid credentials"}}, 401)
    listed = [_entry("shop", "bigquery-dataset"), _entry("orders")]
    if request.path == _GROUP:
        number = int(request.parameters.get("pageToken", "0"))
        following = {"nextPageToken": str(number + 1)} if number + 1 < len(listed) else {}
        return Answer({"entries": listed[number : number + 1], **following})
    if request.path.startswith(f"{_GROUP}/"):
        name = request.path.rpartition("/")[2]
        return Answer({**_entry(name), "aspects": ASPECTS[name]})
    if request.path == f"/v1/{_PLACE}:searchLinks":
        return Answer({"links": [{"source": {"fullyQualifiedName": "kafka:orders"}}]})
    return NOT_FOUND
