{#-
    Of the arriving rows, those that are new or that differ from the last load of their keys, and a
    row for each key that is gone. A single row is its own lowest and highest; several are a broken
    key, which a test reports, and are compared and added together.
-#}
{% macro history(arriving, columns, keys, compared, grouped_by=[], never_null='', on_deletion={},
                 has_ghost=false, names={}) -%}
{%- set count = names.get('row_count', 'row_count') -%}
{%- set recency = names.get('recency', 'recency') -%}
{%- set bounds = [] -%}
{%- for column in compared -%}
    {%- set _ = bounds.append(['MIN(' ~ column ~ ')', names.get('lowest', 'lowest')]) -%}
    {%- set _ = bounds.append(['MAX(' ~ column ~ ')', names.get('highest', 'highest')]) -%}
{%- endfor -%}
{%- set summary -%}
{{ keys | join(', ') }},
        COUNT(*) AS {{ count }}
        {%- for bound, name in bounds %},
        {{ bound }} AS {{ name }}
        {%- endfor %}
{%- endset -%}
{%- set by_load -%}
PARTITION BY {{ (grouped_by or keys) | join(', ') }} ORDER BY load_date DESC
{%- endset -%}
WITH arriving AS (
    {{ arriving }}
)
SELECT
    arriving.{{ columns | join(',\n    arriving.') }}
FROM arriving
{%- if is_incremental() %}
JOIN (
    SELECT
        {{ summary }}
    FROM arriving
    GROUP BY {{ keys | join(', ') }}
) AS incoming
    ON {{ same_keys('incoming', keys, never_null) }}
LEFT JOIN (
    SELECT
        {{ summary }}
    FROM (
        SELECT
            {{ (keys + compared + ['is_deleted']) | join(', ') }},
            RANK() OVER ({{ by_load }}) AS {{ recency }}
        FROM {{ this }}
    ) AS history
    WHERE
        {{ recency }} = 1
        AND {{ '(NOT is_deleted OR ' ~ never_null ~ ' = ' ~ zero_key() ~ ')' if has_ghost
               else 'NOT is_deleted' }}
    GROUP BY {{ keys | join(', ') }}
) AS stored
    ON {{ same_keys('stored', keys, never_null) }}
WHERE
    stored.{{ count }} IS NULL
    OR stored.{{ count }} <> incoming.{{ count }}
    {%- for _, name in bounds %}
    OR stored.{{ name }} <> incoming.{{ name }}
    {%- endfor %}
UNION ALL
SELECT
    {%- for column in columns %}
    {%- if column == 'load_date' %}
    {{ load_moment() }} AS load_date
    {%- elif column == 'is_deleted' %}
    TRUE AS is_deleted
    {%- else %}
    {{ named(on_deletion.get(column, 'latest.' ~ column), column) }}
    {%- endif %}
    {{- ',' if not loop.last }}
    {%- endfor %}
FROM (
    SELECT
        {{ columns | join(',\n        ') }},
        RANK() OVER ({{ by_load }}) AS {{ recency }}
    FROM {{ this }}
) AS latest
WHERE
    latest.{{ recency }} = 1
    AND NOT latest.is_deleted
    AND NOT EXISTS (
        SELECT 1
        FROM arriving
        WHERE {{ same_keys('latest', keys, never_null) }}
    )
{%- endif %}
{%- endmacro %}


{#- The condition that a row has the keys of an arriving one, nulls included. -#}
{% macro same_keys(rows, keys, never_null) -%}
{%- for key in keys -%}
{{ ' AND ' if not loop.first }}
{%- if key == never_null %}{{ rows }}.{{ key }} = arriving.{{ key }}
{%- else %}{{ is_same(rows ~ '.' ~ key, 'arriving.' ~ key) }}{% endif %}
{%- endfor %}
{%- endmacro %}


{#- SQL as a column of that name. -#}
{% macro named(sql, name) -%}
{{ sql }}{{ ' AS ' ~ name if sql.split('.')[-1] != name }}
{%- endmacro %}
