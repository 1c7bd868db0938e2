"""Unity Catalog as its open-source server and Databricks publish it, with one small shop."""

import base64

from tests.sources.catalogs.api_server import NOT_FOUND, Answer, Handler, Request

API = "/api/2.1/unity-catalog"
TOKEN = "dapi-a-token-of-the-test"
PRINCIPAL, PRINCIPAL_SECRET = "a-principal", "dose-a-secret-of-the-test"


def _column(name: str, type_text: str, position: int, **more: object) -> dict[str, object]:
    return {"name": name, "type_text": type_text, "position": position, "nullable": True, **more}


ORDERS = {
    "name": "orders",
    "catalog_name": "shop",
    "schema_name": "sales",
    "table_type": "MANAGED",
    "data_source_format": "DELTA",
    "storage_location": "s3://lake/orders",
    "comment": "Every order",
    "owner": "order-team@example.com",
    "properties": {"domain": "Sales"},
    "columns": [
        _column("customer_id", "bigint", 1),
        _column("order_id", "bigint", 0, nullable=False, comment="Its number"),
        _column("lines", "array<struct<sku:string,amount:decimal(10,2)>>", 2),
        _column("placed", "timestamp", 3),
    ],
}
CUSTOMERS = {
    "name": "customers",
    "catalog_name": "shop",
    "schema_name": "sales",
    "table_type": "EXTERNAL",
    "data_source_format": "PARQUET",
    "storage_location": "s3://lake/customers",
    "owner": "order-team@example.com",
    "columns": [_column("customer_id", "bigint", 0), _column("mailbox", "string", 1)],
}
BEST = {
    "name": "best_customers",
    "catalog_name": "shop",
    "schema_name": "sales",
    "table_type": "VIEW",
    "columns": [_column("customer_id", "bigint", 0)],
}
CONSTRAINTS = {
    "orders": [
        {"primary_key_constraint": {"name": "pk", "child_columns": ["order_id"]}},
        {
            "foreign_key_constraint": {
                "name": "fk",
                "child_columns": ["customer_id"],
                "parent_table": "shop.sales.customers",
                "parent_columns": ["customer_id"],
            }
        },
    ],
    "customers": [{"primary_key_constraint": {"name": "pk", "child_columns": ["customer_id"]}}],
}


def open_source_server(request: Request) -> Answer:
    """Answer as the open-source server does: it has neither constraints, tags nor lineage."""
    if request.parameters.get("catalog_name", "shop") != "shop":
        return NOT_FOUND
    match request.path.removeprefix(API):
        case "/catalogs":
            return Answer({"catalogs": [{"name": "shop"}], "next_page_token": None})
        case "/schemas":
            schemas = [{"name": "sales", "catalog_name": "shop", "properties": {"team": "Orders"}}]
            return Answer({"schemas": schemas, "next_page_token": ""})
        case "/tables":
            pages = {"": ([ORDERS], "two"), "two": ([CUSTOMERS, BEST], "")}
            tables, following = pages[request.parameters.get("page_token", "")]
            return Answer({"tables": tables, "next_page_token": following})
        case path if path.startswith("/tables/"):
            name = path.rpartition(".")[2]
            return Answer({t["name"]: t for t in (ORDERS, CUSTOMERS, BEST)}[name])
    return NOT_FOUND


def databricks(request: Request) -> Answer:
    """Answer as Databricks does, to its token alone."""
    if request.path == "/oidc/v1/token":
        login = base64.b64encode(f"{PRINCIPAL}:{PRINCIPAL_SECRET}".encode()).decode()
        is_known = request.headers.get("authorization") == f"Basic {login}"
        is_known = is_known and "grant_type=client_credentials" in request.body
        return Answer({"access_token": TOKEN}) if is_known else Answer({"error": "no"}, 401)
    if request.headers.get("authorization") != f"Bearer {TOKEN}":
        document = {"error_code": "UNAUTHENTICATED", "message": f"{TOKEN} isn't valid"}
        return Answer(document, 401)
    if request.path.endswith("/tags"):
        assignments = [{"tag_key": "tier", "tag_value": "gold"}] if "orders" in request.path else []
        return Answer({"tag_assignments": assignments})
    if request.path.endswith("/table-lineage"):
        upstream = {"name": "orders_raw", "catalog_name": "shop", "schema_name": "landing"}
        is_made = request.parameters["table_name"] == "shop.sales.orders"
        return Answer({"upstreams": [{"tableInfo": upstream}] if is_made else []})
    answer = open_source_server(request)
    name = request.path.rpartition(".")[2]
    if request.path.startswith(f"{API}/tables/") and name in CONSTRAINTS:
        return Answer({**answer.document, "table_constraints": CONSTRAINTS[name]})
    return answer


HANDLERS: dict[str, Handler] = {"open source": open_source_server, "databricks": databricks}
