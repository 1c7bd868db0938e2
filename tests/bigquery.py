"""A server that answers BigQuery's REST API in its shapes, for tests; DuckDB is behind it.

https://cloud.google.com/bigquery/docs/reference/rest
"""

import base64
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import duckdb
import sqlglot
from duckdb.sqltypes import DuckDBPyType

Json = dict[str, Any]

_TYPES = {
    "bigint": "INTEGER", "integer": "INTEGER", "varchar": "STRING", "double": "FLOAT",
    "boolean": "BOOLEAN", "date": "DATE", "time": "TIME", "timestamp": "DATETIME",
    "timestamp with time zone": "TIMESTAMP", "decimal": "NUMERIC", "blob": "BYTES",
}  # fmt: skip
_SCANNED = 12_345_678


@dataclass
class BigQueryProject:
    """A project with one dataset; ``tables`` are the resources that ``tables.get`` returns.

    ``queries`` are those that were run, and ``dry_runs`` those that were only tried.
    """

    name: str
    dataset: str
    connection: duckdb.DuckDBPyConnection
    tables: dict[str, Json] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)
    dry_runs: list[str] = field(default_factory=list)
    jobs: dict[str, Json] = field(default_factory=dict)
    forbidden: set[str] = field(default_factory=set)
    scanned: int = _SCANNED
    address: str = ""

    @property
    def uri(self) -> str:
        """The dataset as a source."""
        return f"bigquery://{self.name}/{self.dataset}"

    def add(self, table: str, fields: list[Json], *rows: tuple[object, ...], **more: Any) -> None:
        """Add a table; ``fields`` as in a resource, and rows as DuckDB takes them."""
        place = f'"{self.name}"."{self.dataset}"."{table}"'
        columns = ", ".join(f'"{each["name"]}" {_duckdb_type(each)}' for each in fields)
        self.connection.execute(f"CREATE TABLE {place} ({columns})")
        for row in rows:
            marks = ", ".join("?" * len(row))
            self.connection.execute(f"INSERT INTO {place} VALUES ({marks})", row)
        self.tables[table] = {
            "kind": "bigquery#table",
            "tableReference": {
                "projectId": self.name, "datasetId": self.dataset, "tableId": table,
            },
            "type": "TABLE",
            "schema": {"fields": fields},
            "numRows": str(len(rows)),
            "numBytes": str(100 * len(rows)),
            **more,
        }  # fmt: skip

    def answer(self, method: str, path: str, body: Json) -> tuple[int, Json]:
        """Return the status and the body of an answer."""
        parts = path.removeprefix("/bigquery/v2/projects/").strip("/").split("/")
        match [method, *parts[1:]]:
            case ["GET", "datasets"]:
                reference = {"projectId": self.name, "datasetId": self.dataset}
                return 200, {"datasets": [{"datasetReference": reference}]}
            case ["GET", "datasets", self.dataset, "tables"]:
                listed = [
                    {"tableReference": t["tableReference"], "type": t["type"]}
                    for t in self.tables.values()
                ]
                return 200, {"tables": listed, "totalItems": len(listed)}
            case ["GET", "datasets", self.dataset, "tables", name] if name in self.tables:
                return 200, self.tables[name]
            case ["GET", "datasets", "_results", "tables", job, "data"]:
                return 200, {
                    "totalRows": self.jobs[job]["totalRows"],
                    "rows": self.jobs[job]["rows"],
                }
            case ["POST", "jobs"]:
                return self._run(body)
            case ["GET", "jobs", job] if job in self.jobs:
                return 200, self.jobs[job]["resource"]
            case ["GET", "queries", job] if job in self.jobs:
                known = self.jobs[job]
                reference = {"projectId": self.name, "jobId": job, "location": "US"}
                answer = {"jobComplete": True, "jobReference": reference, "schema": known["schema"]}
                return 200, {**answer, "totalRows": known["totalRows"], "rows": known["rows"]}
        return 404, _error(404, f"Not found: {'/'.join(parts)}", "notFound")

    def _run(self, body: Json) -> tuple[int, Json]:
        settings = body["configuration"]
        sql = settings["query"]["query"]
        if any(f"`{table}`" in sql for table in self.forbidden):
            return 403, _error(
                403, f"Access Denied: Table {self.name}: no permission", "accessDenied"
            )
        if settings.get("dryRun"):
            self.dry_runs.append(sql)
            statistics = {"query": {"totalBytesProcessed": str(self.scanned)}}
            return 200, {**body, "status": {"state": "DONE"}, "statistics": statistics}
        self.queries.append(sql)
        job = body["jobReference"]["jobId"]
        relation = self.connection.sql(_translated(sql))
        fields = [_field(n, t) for n, t in zip(relation.columns, relation.types, strict=True)]
        rows = [{"f": [{"v": _value(value)} for value in row]} for row in relation.fetchall()]
        destination = {"projectId": self.name, "datasetId": "_results", "tableId": job}
        settings["query"]["destinationTable"] = destination
        resource = {
            **body,
            "jobReference": {**body["jobReference"], "location": "US"},
            "status": {"state": "DONE"},
            "statistics": {"query": {"statementType": "SELECT"}},
        }
        self.jobs[job] = {
            "resource": resource, "schema": {"fields": fields}, "rows": rows,
            "totalRows": str(len(rows)),
        }  # fmt: skip
        return 200, resource


def _translated(sql: str) -> str:
    sql = sql.replace("AS t ORDER BY FARM_FINGERPRINT(TO_JSON_STRING(t))", "AS t ORDER BY hash(t)")
    return sqlglot.transpile(sql, read="bigquery", write="duckdb")[0]


def _duckdb_type(each: Json) -> str:
    names = {
        "STRING": "VARCHAR", "BYTES": "BLOB", "INTEGER": "BIGINT", "FLOAT": "DOUBLE",
        "DATETIME": "TIMESTAMP", "TIMESTAMP": "TIMESTAMPTZ", "NUMERIC": "DECIMAL(38,9)",
        "BIGNUMERIC": "VARCHAR", "GEOGRAPHY": "VARCHAR",
    }  # fmt: skip
    name = names.get(each["type"], each["type"])
    if name == "RECORD":
        inner = ", ".join(f'"{part["name"]}" {_duckdb_type(part)}' for part in each["fields"])
        name = f"STRUCT({inner})"
    return f"{name}[]" if each.get("mode") == "REPEATED" else name


def _field(name: str, type_: DuckDBPyType) -> Json:
    if type_.id == "list":
        return {**_field(name, type_.children[0][1]), "mode": "REPEATED"}
    if type_.id == "struct":
        inner = [_field(part, each) for part, each in type_.children]
        return {"name": name, "type": "RECORD", "mode": "NULLABLE", "fields": inner}
    return {"name": name, "type": _TYPES.get(type_.id, "STRING"), "mode": "NULLABLE"}


def _value(value: object) -> object:
    match value:
        case None:
            return None
        case bool():
            return str(value).lower()
        case bytes():
            return base64.b64encode(value).decode()
        case dict():
            return {"f": [{"v": _value(part)} for part in value.values()]}
        case list():
            return [{"v": _value(part)} for part in value]
        case datetime() if value.tzinfo is not None:
            return str(round(value.timestamp() * 1_000_000))
        case datetime():
            return value.isoformat()
    return str(value)


def _error(code: int, message: str, why: str) -> Json:
    return {"error": {"code": code, "message": message, "errors": [{"reason": why}]}}


@contextmanager
def bigquery_project(name: str = "acme-data", dataset: str = "shop") -> Iterator[BigQueryProject]:
    """Yield an empty project, served as long as the block lasts."""
    connection = duckdb.connect()
    connection.execute(f"ATTACH ':memory:' AS \"{name}\"")
    connection.execute(f'CREATE SCHEMA "{name}"."{dataset}"')
    connection.execute("SET TimeZone = 'UTC'")
    project = BigQueryProject(name, dataset, connection)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            self._answer(json.loads(self.rfile.read(length)))

        def _answer(self, body: Json) -> None:
            path = re.sub("/+", "/", urlsplit(self.path).path)
            status, answer = project.answer(self.command, path, body)
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    project.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield project
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        connection.close()
