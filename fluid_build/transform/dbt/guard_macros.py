"""The macro that stops a table whose delivery lacks much of what the warehouse holds of it.

It runs right after the staging of the table is made: dbt then skips what reads it, and loads the
rest. What is compared is said by the plan (``Guard``).
"""

import re
from collections.abc import Mapping, Sequence

from fluid_build.sources.sql import literal
from fluid_build.transform.dbt.called_models import expression
from fluid_build.transform.dbt.dialects import TargetDialect
from fluid_build.transform.dbt.portable_paths import jinja_string
from fluid_build.transform.plan.elements import Guard, RowScope

MACRO_FILE = "macros/check_delivery.sql"
ALLOWED = "allow_loss"
"""The dbt variable with the tables of which a delivery may lack any number of keys."""
SHARE = "largest_loss"
"""The dbt variable with the share of a table's keys that a delivery may lack."""
DEFAULT_SHARE = 0.2
"""More than a source deletes between two loads, and less than a part that didn't arrive."""
LEAST_KEYS = 20
"""Of fewer, a handful of deletions is a large share."""
_STOPPED = re.compile(rf"{ALLOWED}: \[([^\]]+)\]")
"""The end of what the macro says of a table that it stops."""


def stopped_delivery(message: str) -> str:
    """Return the table that the macro stopped, by dbt's message of the failed node; "" for none."""
    found = _STOPPED.search(message)
    return found[1] if found else ""


def check_of(guard: Guard, dialect: TargetDialect) -> str:
    """Return the call by which a staging compares its rows with those held."""
    return f"{{{{ check_delivery({', '.join(_arguments(guard, dialect))}) }}}}"


def _arguments(guard: Guard, dialect: TargetDialect) -> list[str]:
    scope = guard.scope
    held, arriving = zip(*guard.keys, strict=True) if guard.keys else ((), ())
    arguments = [jinja_string(guard.table), jinja_string(guard.relation)]
    if held:
        arguments.append(_names(held))
    if arriving != held:
        arguments.append(f"arriving={_names(arriving)}")
    if scope.latest_of:
        arguments.append("is_history=true")
    if conditions := _conditions(scope):
        arguments.append(f"where={jinja_string(conditions)}")
    if not guard.exact:
        arguments.append("exact=false")
    if guard.is_kept:
        arguments.append("is_kept=true")
    if guard.marked:
        arguments.append(f"delivered={jinja_string(guard.delivered)}")
        arguments.append(f"marked={jinja_string(expression(guard.marked, dialect))}")
    if guard.quarantine:
        arguments.append(f"quarantine={jinja_string(guard.quarantine)}")
    if guard.types:
        types = ((name, dialect.type(type_)) for name, type_ in guard.types.items())
        pairs = (f"{jinja_string(name)}: {jinja_string(type_)}" for name, type_ in types)
        arguments.append(f"types={{{', '.join(pairs)}}}")
    return arguments


def _names(names: Sequence[str]) -> str:
    return f"[{', '.join(map(jinja_string, names))}]"


def _conditions(scope: RowScope) -> str:
    conditions = [f"{name} IS NOT NULL" for name in scope.filled]
    conditions += [f"{name} <> {literal(value)}" for name, value in scope.other_than]
    conditions += [scope.current] if scope.current else []
    conditions += [f"NOT {scope.gone}"] if scope.gone else []
    return " AND ".join(conditions)


VARIABLES: Mapping[str, object] = {SHARE: DEFAULT_SHARE}
"""What the project sets, where its reader changes it."""
MACROS = f"""\
{{#-
    Stop a table of which more than the share `{SHARE}` of the keys is missing that `relation`
    held at the last load: its staging fails, what reads that is skipped, and the rest is loaded.
    `keys` are the columns of the relation, and `arriving` those of the staging where they're
    called otherwise. Of a history, the last row of a key says whether it's there. Keys that aren't
    `exact` are only counted, and rows are where there are none. Fewer than {LEAST_KEYS} may all go.
    Where all deliveries of a table are kept (`is_kept`), each key is there, unless the first of
    them had only a part of the table, or rows of `delivered` say that they're deleted (`marked`).
    Rows in `quarantine` have arrived, by their key, which has these `types`, or by their number.
    `--vars '{ALLOWED}: [TABLE]'` lets a table pass.
-#}}
{{% macro check_delivery(table, relation, keys=[], arriving=[], is_history=false, where='',
                        exact=true, is_kept=false, delivered='', marked='',
                        quarantine='', types={{}}) -%}}
{{%- set allowed = var('{ALLOWED}', []) -%}}
{{%- set allowed = [allowed] if allowed is string else allowed -%}}
{{%- set held = held_relation(relation) if execute and table not in allowed else none -%}}
{{%- if held is not none -%}}
    {{%- set there = keys_there(held, keys, is_history, where) -%}}
    {{%- if keys and exact -%}}
        {{%- set lacked = keys_missing(held, keys, arriving or keys, is_history, where) -%}}
        {{%- set missing = count_rows(lacked) | int -%}}
    {{%- else -%}}
        {{%- set arrived = count_rows(keys_arriving(arriving or keys)) | int -%}}
        {{%- set missing = count_rows(there) | int - arrived -%}}
    {{%- endif -%}}
    {{%- set share = var('{SHARE}', {DEFAULT_SHARE}) | float -%}}
    {{#- So few are a large share of fewer than {LEAST_KEYS} only: then, nothing is counted. -#}}
    {{%- set few = 0 if is_kept else share * {LEAST_KEYS} -%}}
    {{%- if quarantine and missing > few -%}}
        {{%- set missing = missing - count_rows(
            keys_set_apart(lacked, keys, held_relation(quarantine), types)
        ) | int -%}}
    {{%- endif -%}}
    {{%- set there = count_rows(there) | int if missing > few else 0 -%}}
    {{%- set gone = marked_rows(delivered, marked) | int if marked and there else 0 -%}}
    {{%- set most = gone if is_kept else there * share -%}}
    {{%- if (is_kept or there >= {LEAST_KEYS}) and missing > most -%}}
        {{{{ exceptions.raise_compiler_error(
            ('What was delivered of ' if is_kept else 'The delivery of ') ~ table ~ ' lacks '
            ~ missing ~ ' of the ' ~ there ~ ' ' ~ ('keys' if keys and exact else 'rows')
            ~ ' that ' ~ relation ~ ' holds, so it is not loaded: '
            ~ ('deliver the whole table once; ' if is_kept
                else 'if the source has only what changed, say so with `fluid decide DIR delivery '
                ~ table ~ ' delta`; ')
            ~ "if they are gone, build with --vars '{ALLOWED}: [" ~ table ~ "]'."
        ) }}}}
    {{%- endif -%}}
{{%- endif -%}}
{{%- endmacro %}}


{{#- How many of the delivered rows say that they're deleted. -#}}
{{% macro marked_rows(delivered, marked) -%}}
{{%- set selected = 'SELECT 1 AS deleted FROM ' ~ held_relation(delivered) ~ ' WHERE ' ~ marked -%}}
{{{{ return(count_rows(selected)) }}}}
{{%- endmacro %}}


{{#- How many rows a query has. -#}}
{{% macro count_rows(selected) -%}}
{{%- set counted -%}}
SELECT COUNT(*) AS counted_rows
FROM (
    {{{{ selected | indent(4) }}}}
) AS selected
{{%- endset -%}}
{{{{ return(run_query(counted).rows[0][0] | int) }}}}
{{%- endmacro %}}


{{#- The keys that a relation had at the last load, or a row for each of its rows. -#}}
{{% macro keys_there(held, keys, is_history, where) -%}}
SELECT
    {{{{ keys | join(',\n    ') or '1 AS was_there' }}}}
FROM {{{{ held }}}} AS held
{{%- if where %}}
WHERE {{{{ where }}}}
{{%- endif %}}
{{%- if is_history %}}
GROUP BY
    {{{{ keys | join(',\n    ') }}}}
HAVING {{{{ was_there() }}}}
{{%- endif %}}
{{%- endmacro %}}


{{#- The keys that arrive, or a row for each row. -#}}
{{% macro keys_arriving(arriving) -%}}
SELECT {{{{ 'DISTINCT ' ~ arriving | join(', ') if arriving else '1 AS arrived' }}}}
FROM {{{{ this }}}}
{{%- endmacro %}}


{{#-
    The keys that a relation had at the last load and that don't arrive. Which they are is found
    before it's asked whether they were there: most nights there is none.
-#}}
{{% macro keys_missing(held, keys, arriving, is_history, where) -%}}
SELECT
    held.{{{{ keys | join(',\n    held.') }}}}
FROM (
    SELECT
        {{{{ (keys + (['load_date', 'is_deleted'] if is_history else [])) | join(',\n        ') }}}}
    FROM {{{{ held }}}}
    {{%- if where %}}
    WHERE {{{{ where }}}}
    {{%- endif %}}
) AS held
LEFT JOIN {{{{ this }}}} AS arriving
    ON
    {{%- for key in keys %}}
    {{{{ 'AND ' if not loop.first }}}}arriving.{{{{ arriving[loop.index0] }}}} = held.{{{{ key }}}}
    {{%- endfor %}}
WHERE
    arriving.{{{{ arriving[0] }}}} IS NULL
{{%- if is_history %}}
GROUP BY
    held.{{{{ keys | join(',\n    held.') }}}}
HAVING {{{{ was_there() }}}}
{{%- endif %}}
{{%- endmacro %}}


{{#- The missing keys whose rows this load has put into quarantine, or these rows. -#}}
{{% macro keys_set_apart(lacked, keys, quarantine, types) -%}}
{{%- if types -%}}
SELECT 1 AS set_apart
FROM (
    {{{{ lacked | indent(4) }}}}
) AS lacked
INNER JOIN {{{{ held_keys({{'quarantine': quarantine, 'key': types}}) }}}} AS arrived
    ON
    {{%- for key in types %}}
    {{{{ 'AND ' if not loop.first }}}}arrived.{{{{ key }}}} = lacked.{{{{ keys[loop.index0] }}}}
    {{%- endfor %}}
{{%- else -%}}
SELECT 1 AS set_apart
FROM {{{{ quarantine }}}}
WHERE
    load_date = {{{{ load_moment() }}}}
    AND broken_rule <> {{{{ same_row() }}}}
{{%- endif -%}}
{{%- endmacro %}}


{{#- The condition that the last row of a key in a history doesn't say that it's deleted. -#}}
{{% macro was_there() -%}}
MAX(held.load_date) = MAX(CASE WHEN NOT held.is_deleted THEN held.load_date END)
{{%- endmacro %}}


{{#- The relation of a model as earlier loads left it, if there is one. -#}}
{{% macro held_relation(name) -%}}
{{%- set node = graph.nodes.get('model.' ~ model.package_name ~ '.' ~ name) -%}}
{{{{ return(none if node is none else adapter.get_relation(
    database=node.database, schema=node.schema, identifier=node.alias
)) }}}}
{{%- endmacro %}}
"""
