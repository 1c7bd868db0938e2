"""The macros of a project whose model evolved: they run migrations, and ask for them.

A project that loads a warehouse of an earlier model without them would fail in the middle of a
build. Here it ends before anything is built, and says what to run.
"""

from collections.abc import Collection, Mapping

from fluid_build.modeling.evolution import Evolution
from fluid_build.sources.schemas import MIGRATIONS
from fluid_build.sources.sql import literal
from fluid_build.transform.dbt.called_models import argument_text
from fluid_build.transform.dbt.dialects import TargetDialect
from fluid_build.transform.dbt.migrations import created_table, shown_type
from fluid_build.transform.dbt.targets import Target
from fluid_build.transform.plan.elements import Filling, TransformPlan
from fluid_build.transform.plan.stateful import StoredColumn

MACRO_FILE = "macros/migrations.sql"
ON_RUN_START = "{{ check_migrated() }}"
_MERGES: Collection[Target] = ("snowflake", "bigquery", "databricks")
"""Those in which a relation is updated from another one by a merge."""


def migration_macros(
    plan: TransformPlan,
    stored: Mapping[str, tuple[StoredColumn, ...]],
    evolution: Evolution,
    dialect: TargetDialect,
) -> str:
    """Return the file of macros that a project needs where its model evolved."""
    written = _written_columns(plan, stored, evolution, dialect)
    started = '{{ run_started_at.strftime("%Y-%m-%d %H:%M:%S") }}'
    text = _MACROS
    replaced = {
        "WRITTEN": argument_text("return(", written, dialect, ends=")"),
        "CREATED": created_table("{{ seen_migrations() }}", dialect),
        "MOMENT": f"CAST('{started}' AS {dialect.type('TIMESTAMP')})",
        "UPDATE": _MERGED if dialect.target in _MERGES else _UPDATED,
    }
    for place, with_ in replaced.items():
        text = text.replace(f"<{place}>", with_)
    return text


def fill_hooks(filling: Filling) -> str:
    """Return the setting of a model whose open rows take the values of added columns once."""
    keys, columns = (", ".join(map(literal, names)) for names in (filling.keys, filling.columns))
    fill = f"{{{{ fill_added_columns(ref('{filling.rows}'), [{keys}], [{columns}]) }}}}"
    return f'pre_hook=[\n        "{fill}",\n        "{{{{ mark_filled([{columns}]) }}}}",\n    ]'


def _written_columns(
    plan: TransformPlan,
    stored: Mapping[str, tuple[StoredColumn, ...]],
    evolution: Evolution,
    dialect: TargetDialect,
) -> dict[str, dict[str, str]]:
    """Return what relations of changed tables are to have, with the types that became wider."""
    changed = {column.table for column in (*evolution.added_columns, *evolution.retyped_columns)}
    changed |= set(evolution.dated_tables)
    retyped = set(evolution.retyped_columns)
    return {
        relation: {
            column.name: shown_type(dialect.type(column.type), dialect.target)
            if retyped.intersection(column.source_columns)
            else ""
            for column in columns
        }
        for relation, columns in stored.items()
        if changed.intersection(plan.build(relation).mapped_source_tables)
    }


_MACROS = """\
{#-
    Relations that were loaded before the source changed get the columns that models write now by
    what is in `migrations/`. `dbt run-operation migrate` runs what the warehouse hasn't seen yet.
-#}


{#-
    Run the migrations that the warehouse hasn't seen, all of them or none where it can. What it
    has is asked first: such questions may end a transaction.
-#}
{% macro migrate() -%}
{%- set steps = [] -%}
{%- set seen = steps_seen() -%}
{%- for name in context.keys() | sort if name.startswith('migration_') and name[10:].isdigit() -%}
    {%- set _ = context[name](steps, seen) -%}
{%- endfor -%}
{%- set _ = adapter.create_schema(seen_migrations().without_identifier()) -%}
{%- call statement('migrations') -%}
<CREATED>
{%- endcall -%}
{#- DuckDB alters no table that the same transaction has written to. -#}
{%- for text in (steps | sum('alters', [])) + (steps | sum('writes', [])) -%}
    {%- call statement('step') -%}{{ text }}{%- endcall -%}
{%- endfor -%}
{%- set _ = adapter.commit() -%}
{%- endmacro %}


{#-
    Add a step of a migration to `steps`, unless it's in `seen`. The block that calls it has its
    statements: the first alters the relation, others write to it. One that `adds` a column which
    is there already changes nothing, and neither does one of a relation that isn't there.
-#}
{% macro migration_step(steps, seen, migration, relation, column, adds=false) -%}
{%- if (migration, relation, column) not in seen -%}
    {%- set stored = stored_relation(relation) -%}
    {%- set there = columns_there(stored) if adds and stored is not none else {} -%}
    {%- for step in steps if step.relation == relation and step.adds -%}
        {%- set _ = there.update({step.adds: ''}) -%}
    {%- endfor -%}
    {%- set is_new = adds and stored is not none and column not in there -%}
    {%- set statements = [] -%}
    {%- if is_new or (stored is not none and not adds) -%}
        {%- set statements = caller(stored).strip().split(';') -%}
    {%- endif -%}
    {%- set filled = 'NULL' if is_new else migrated_at() -%}
    {%- set record -%}
INSERT INTO {{ seen_migrations() }} (name, relation, column_name, applied_at, filled_at)
VALUES ('{{ migration }}', '{{ relation }}', '{{ column }}', {{ migrated_at() }}, {{ filled }})
    {%- endset -%}
    {%- set _ = steps.append({
        'relation': relation,
        'adds': column if is_new else '',
        'alters': statements[:1],
        'writes': statements[1:] + [record],
    }) -%}
{%- endif -%}
{%- endmacro %}


{#- The steps of migrations that the warehouse has seen. -#}
{% macro steps_seen() -%}
{%- set found = [] -%}
{%- if are_migrations_known() -%}
    {%- set asked -%}
SELECT name, relation, column_name FROM {{ seen_migrations() }}
    {%- endset -%}
    {%- for row in run_query(asked).rows -%}
        {%- set _ = found.append((row[0], row[1], row[2] or '')) -%}
    {%- endfor -%}
{%- endif -%}
{{ return(found) }}
{%- endmacro %}


{#- Whether the warehouse says which migrations it has seen. -#}
{% macro are_migrations_known() -%}
{%- set table = seen_migrations() -%}
{{ return(execute and adapter.get_relation(
    database=table.database, schema=table.schema, identifier=table.identifier
) is not none) }}
{%- endmacro %}


{#- End the run where a relation isn't as the models write it, before anything is built. -#}
{% macro check_migrated() -%}
{%- set behind = [] -%}
{%- for relation, columns in written_columns().items() if execute -%}
    {%- set stored = stored_relation(relation) -%}
    {%- if stored is not none -%}
        {%- set there = columns_there(stored) -%}
        {%- for column, type in columns.items() -%}
            {%- if column not in there or (type and there[column] != type) -%}
                {%- set _ = behind.append(relation ~ '.' ~ column) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
{%- endfor -%}
{%- if behind -%}
    {%- set more = ' and ' ~ (behind | length - 1) ~ ' more' if behind | length > 1 else '' -%}
    {{ exceptions.raise_compiler_error(
        'The warehouse has no ' ~ behind[0] ~ more ~ ' as this project writes since the source'
        ~ ' changed: run `fluid apply` or `dbt run-operation migrate`, then build again.'
    ) }}
{%- endif -%}
{%- endmacro %}


{#- The columns of relations whose source changed, with the types that became wider. -#}
{% macro written_columns() -%}
{{ <WRITTEN> }}
{%- endmacro %}


{#-
    Columns that joined a history take the values of today in versions that are valid now: once,
    at the first load after the migration that added them. `rows` are the members of today.
-#}
{% macro fill_added_columns(rows, keys, columns) -%}
{%- set unfilled = unfilled_columns(columns) -%}
{%- if unfilled and is_incremental() -%}
{%- set today -%}
SELECT
    arriving.{{ (keys + unfilled) | join(',\\n    arriving.') }},
    latest.load_date
FROM {{ rows }} AS arriving
INNER JOIN (
    SELECT
        {{ keys | join(',\\n        ') }},
        MAX(load_date) AS load_date
    FROM {{ this }}
    GROUP BY
        {{ keys | join(',\\n        ') }}
) AS latest
    ON {{ equal_keys('latest', 'arriving', keys) }}
{%- endset -%}
<UPDATE>
{%- endif -%}
{%- endmacro %}


{#- The condition that a row has the keys of another one. Nothing is known of those with a null. -#}
{% macro equal_keys(rows, others, keys) -%}
{%- for key in keys -%}
{{ '\\n    AND ' if not loop.first }}{{ rows }}.{{ key }} = {{ others }}.{{ key }}
{%- endfor %}
{%- endmacro %}


{#- Say that columns of a history have been filled, in the load that does it. -#}
{% macro mark_filled(columns) -%}
{%- set unfilled = unfilled_columns(columns) -%}
{%- if unfilled -%}
UPDATE {{ seen_migrations() }}
SET filled_at = {{ migrated_at() }}
WHERE
    relation = '{{ model.name }}'
    AND column_name IN ('{{ unfilled | join("', '") }}')
    AND filled_at IS NULL
{%- endif -%}
{%- endmacro %}


{#- Those columns of a history that a migration added and no load has filled. -#}
{% macro unfilled_columns(columns) -%}
{%- set found = [] -%}
{%- if are_migrations_known() -%}
    {%- set asked -%}
SELECT column_name FROM {{ seen_migrations() }}
WHERE filled_at IS NULL AND relation = '{{ model.name }}'
    {%- endset -%}
    {%- for row in run_query(asked).rows if row[0] in columns and row[0] not in found -%}
        {%- set _ = found.append(row[0]) -%}
    {%- endfor -%}
{%- endif -%}
{{ return(found) }}
{%- endmacro %}


{#- The table in which the warehouse says which migrations it has seen. -#}
{% macro seen_migrations() -%}
{{ return(api.Relation.create(
    database=target.database, schema=target.schema, identifier='<TABLE>'
)) }}
{%- endmacro %}


{#- The moment of a migration: when the run started. -#}
{% macro migrated_at() -%}
<MOMENT>
{%- endmacro %}


{#- The relation of a model, if the warehouse has it. -#}
{% macro stored_relation(name) -%}
{%- for node in graph.nodes.values() if node.resource_type == 'model' and node.name == name -%}
    {{ return(adapter.get_relation(
        database=node.database, schema=node.schema, identifier=node.alias
    )) }}
{%- endfor -%}
{{ return(none) }}
{%- endmacro %}


{#- The columns that a relation has in the warehouse, each with its type. -#}
{% macro columns_there(relation) -%}
{%- set there = {} -%}
{%- for column in adapter.get_columns_in_relation(relation) -%}
    {%- set type = column.dtype | lower | replace(' ', '') -%}
    {%- if type == 'numeric' and column.numeric_precision -%}
        {%- set type = type ~ '(' ~ column.numeric_precision ~ ',' ~ column.numeric_scale ~ ')' -%}
    {%- endif -%}
    {%- set _ = there.update({column.name | lower: type}) -%}
{%- endfor -%}
{{ return(there) }}
{%- endmacro %}
""".replace("<TABLE>", MIGRATIONS)
_UPDATED = """\
UPDATE {{ this }} AS stored
SET
    {%- for column in unfilled %}
    {{ column }} = present.{{ column }}{{ ',' if not loop.last }}
    {%- endfor %}
FROM (
    {{ today | indent(4) }}
) AS present
WHERE
    {{ equal_keys('present', 'stored', keys) | indent(4) }}
    AND stored.load_date = present.load_date
    AND NOT stored.is_deleted"""
_MERGED = """\
MERGE INTO {{ this }} AS stored
USING (
    {{ today | indent(4) }}
) AS present
    ON {{ equal_keys('present', 'stored', keys) | indent(4) }}
    AND stored.load_date = present.load_date
    AND NOT stored.is_deleted
WHEN MATCHED THEN UPDATE SET
    {%- for column in unfilled %}
    {{ column }} = present.{{ column }}{{ ',' if not loop.last }}
    {%- endfor %}"""
