"""Whether SQL reads only a plan's relations: no file, no server, no other database.

DuckDB itself parses it (``json_serialize_sql``), so that it's checked exactly as it would run.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

import duckdb

from fluid_build.transform.plan.elements import TransformPlan

_ELSEWHERE = ("TABLE_FUNCTION", "SHOW_REF")
_PLACE = ("catalog_name", "schema_name", "table_name")
# Outside of the scope of a CTE, a name with a dot would be read as a file.
_CTE = re.compile(r"\w+")


def check_confined(queries: Iterable[str], plan: TransformPlan) -> None:
    """Raise ValueError unless every query is a single SELECT from relations of a plan."""
    relations = {
        *(("", "source", source.id) for source in plan.sources),
        *(("", "model", build.name) for build in plan.builds),
    }
    with duckdb.connect() as connection:
        for sql in dict.fromkeys(queries):
            nodes = list(_nodes(_parsed(connection, sql)))
            ctes = {("", "", name) for node in nodes for name in _cte_names(node)}
            _check(nodes, relations | ctes)


def _parsed(connection: duckdb.DuckDBPyConnection, sql: str) -> object:
    statements = duckdb.extract_statements(sql)
    row = connection.execute(
        "SELECT json_serialize_sql(?, skip_null := true, skip_empty := true)", [sql]
    ).fetchone()
    parsed = json.loads(row[0]) if row is not None else {"error": True}
    if len(statements) != 1 or parsed["error"]:
        raise ValueError("a build isn't a single SELECT")
    return parsed


def _check(nodes: Iterable[Mapping[str, object]], allowed: set[tuple[str, str, str]]) -> None:
    for node in nodes:
        if node.get("type") in _ELSEWHERE and not _is_unnest(node):
            raise ValueError("a build reads something other than its relations")
        if node.get("type") == "BASE_TABLE":
            catalog, schema, table = (str(node.get(part, "")) for part in _PLACE)
            if (catalog, schema, table) not in allowed:
                raise ValueError(f"a build reads {table!r}, which isn't one of its relations")


def _is_unnest(node: Mapping[str, object]) -> bool:
    """Whether a table function is ``unnest``, which only expands a value."""
    function = node.get("function")
    return isinstance(function, Mapping) and function.get("function_name") == "unnest"


def _cte_names(node: Mapping[str, object]) -> Iterator[str]:
    ctes = node.get("cte_map")
    if isinstance(ctes, Mapping):
        for entry in ctes.get("map", ()):
            if _CTE.fullmatch(entry["key"]):
                yield entry["key"]


def _nodes(parsed: object) -> Iterator[Mapping[str, object]]:
    """Return every object of a parsed query, without recursion: it may be nested deeply."""
    remaining = [parsed]
    while remaining:
        node = remaining.pop()
        if isinstance(node, dict):
            yield node
            remaining.extend(node.values())
        elif isinstance(node, list):
            remaining.extend(node)
