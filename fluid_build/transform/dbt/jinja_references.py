"""A plan's SQL as dbt reads it: relations and the load date become Jinja, the rest stays."""

import re
from collections.abc import Mapping

from fluid_build.transform.dbt.jinja import literally
from fluid_build.transform.plan.sql_references import references

LOAD_DATE = "{{ load_date() }}"


def with_references(
    sql: str,
    *,
    own: str,
    sources: Mapping[str, str],
    backslashes: bool = False,
) -> str:
    """Return SQL with ``source.<id>``, ``model.<name>`` and the load date as Jinja.

    ``own`` is the build's own name, which becomes ``this``; ``sources`` is what dbt calls
    each source of the plan, by its id. ``backslashes`` is as in ``references``.
    """
    pieces: list[str] = []
    start = 0
    for token in references(sql, backslashes=backslashes):
        if token["quoted"]:
            continue
        pieces += literally(sql[start : token.start()]), _jinja(token, own, sources)
        start = token.end()
    pieces.append(literally(sql[start:]))
    return "".join(pieces)


def _jinja(token: re.Match[str], own: str, sources: Mapping[str, str]) -> str:
    if token["load_date"]:
        return f"'{LOAD_DATE}'"
    name = token["name"]
    if token["kind"] == "source":
        return f"{{{{ {sources[name]} }}}}"
    return "{{ this }}" if name == own else f"{{{{ ref('{name}') }}}}"
