"""A plan's SQL as dbt reads it: relations and the load date become Jinja, the rest stays."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from fluid_build.transform.dbt.jinja import literally
from fluid_build.transform.plan.sql_references import references

LOAD_DATE = "{{ load_date() }}"


def with_references(
    sql: str,
    *,
    own: str,
    source: str,
    backslashes: bool = False,
    models: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return SQL with ``source.<id>``, ``model.<name>`` and the load date as Jinja.

    ``own`` is the build's own name, which becomes ``this``; ``source`` is the name of the dbt
    source. ``backslashes`` is as in ``references``. ``models`` are models that stand for a source,
    by its id.
    """
    pieces: list[str] = []
    start = 0
    for token in references(sql, backslashes=backslashes):
        if token["quoted"]:
            continue
        pieces += literally(sql[start : token.start()]), _jinja(token, own, source, models)
        start = token.end()
    pieces.append(literally(sql[start:]))
    return "".join(pieces)


def _jinja(token: re.Match[str], own: str, source: str, models: Mapping[str, str]) -> str:
    if token["load_date"]:
        return f"'{LOAD_DATE}'"
    name = token["name"]
    if token["kind"] == "source" and name in models:
        return f"{{{{ ref('{models[name]}') }}}}"
    if token["kind"] == "source":
        return f"{{{{ source('{source}', '{name}') }}}}"
    return "{{ this }}" if name == own else f"{{{{ ref('{name}') }}}}"
