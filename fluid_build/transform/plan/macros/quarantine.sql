{#-
    Rows that break a key are set apart, so that they stop no others. A key is broken by a row that
    lacks a part of it, and by rows that share it. Of rows that are the same in every column, one is
    loaded and the others are set apart; of different ones, all are, and what was loaded of their
    key before stays as it was. The rule of the former is the one in `same_row()`.

    What reads a quarantine joins it and looks for rows that found nothing, which costs next to
    nothing while it's empty. With NOT EXISTS, DuckDB would first collect the keys of all rows, and
    with several conditions instead of one CASE, it would expect so few rows that it joins what
    comes next the wrong way round.
-#}


{#-
    The rows of a table that break a key in this load. `columns` are its key columns as SQL of
    `whole_row`, `never_null` those that may not be null, `unique` the keys that no two rows share,
    and `as_json` the SQL of its key columns as JSON.
-#}
{% macro quarantined_rows(rows, table, columns, as_json, never_null=[], unique=[]) -%}
WITH broken AS (
    {%- for column in never_null %}
    SELECT
        'NULL {{ column }}' AS broken_rule,
        CAST(NULL AS {{ text_type() }}) AS shared_key,
        {{ as_json }} AS key_values,
        {{ row_as_json('whole_row') }} AS source_row,
        {{ loop.index }} AS rule_number
    FROM {{ rows }} AS whole_row
    WHERE {{ columns[column] }} IS NULL
    UNION ALL
    {%- endfor %}
    {%- for key in unique %}
    SELECT
        'repeated {{ key | join(', ') }}' AS broken_rule,
        {{ row_as_json('repeated') }} AS shared_key,
        {{ as_json }} AS key_values,
        {{ row_as_json('whole_row') }} AS source_row,
        {{ never_null | length + loop.index }} AS rule_number
    FROM {{ rows }} AS whole_row
    INNER JOIN (
        SELECT
            {{ key | join(',\n            ') }}
        FROM (
            SELECT
                {%- for column in key %}
                {{ columns[column] }} AS {{ column }}
                {{- ',' if not loop.last }}
                {%- endfor %}
            FROM {{ rows }} AS whole_row
        ) AS every_key
        WHERE
            {{ key | join(' IS NOT NULL\n            AND ') }} IS NOT NULL
        GROUP BY
            {{ key | join(',\n            ') }}
        HAVING COUNT(*) > 1
    ) AS repeated
        ON
            {%- for column in key %}
            {{ 'AND ' if not loop.first }}repeated.{{ column }} = {{ columns[column] }}
            {%- endfor %}
    {{- '\n    UNION ALL' if not loop.last }}
    {%- endfor %}
),
compared AS (
    SELECT
        broken_rule,
        key_values,
        source_row,
        rule_number,
        CASE
            WHEN shared_key IS NOT NULL
                THEN MIN(source_row) OVER (PARTITION BY broken_rule, shared_key)
        END AS first_row,
        MAX(source_row) OVER (PARTITION BY broken_rule, shared_key) AS last_row,
        ROW_NUMBER() OVER (
            PARTITION BY broken_rule, shared_key ORDER BY source_row
        ) AS copy_number
    FROM broken
),
judged AS (
    SELECT
        CASE
            WHEN first_row = last_row THEN {{ same_row() }} ELSE broken_rule
        END AS broken_rule,
        key_values,
        source_row,
        copy_number,
        RANK() OVER (
            PARTITION BY source_row
            ORDER BY CASE WHEN first_row = last_row THEN 1 ELSE 0 END, rule_number
        ) AS precedence
    FROM compared
)
SELECT
    {{ load_moment() }} AS load_date,
    '{{ table }}' AS source_table,
    broken_rule,
    key_values,
    source_row
FROM judged
WHERE
    precedence = 1
    AND (broken_rule <> {{ same_row() }} OR copy_number > 1)
{%- endmacro %}


{#- The rule of rows that are the same in every column, of which the others are loaded. -#}
{% macro same_row() -%}
'the same row again'
{%- endmacro %}


{#-
    The rows of a table without those in quarantine, of which the ones that are there again are once.
    `keys` are those by which the rows in quarantine are known, each with the types of its columns.
    With `marked`, the others come after them with the rule that they break, if no part of their key
    is null: a history has to know that their keys are still there.
-#}
{% macro sound_rows(rows, quarantine, keys, never_null=[], marked=false) -%}
SELECT
    arrived.*
    {%- if marked %},
    CAST(NULL AS {{ text_type() }}) AS broken_rule
    {%- endif %}
FROM {{ rows }} AS arrived
{%- for key in keys %}
LEFT JOIN {{ quarantined_keys(quarantine, key) }} AS quarantined_{{ loop.index }}
    ON {{ has_key('quarantined_' ~ loop.index, key) }}
{%- endfor %}
WHERE
    CASE
        {%- for column in never_null %}
        WHEN arrived.{{ column }} IS NULL THEN FALSE
        {%- endfor %}
        {%- for key in keys %}
        WHEN quarantined_{{ loop.index }}.broken_rule IS NOT NULL THEN FALSE
        {%- endfor %}
        ELSE TRUE
    END
UNION ALL
SELECT DISTINCT again.*
FROM (
    {%- for key in keys %}
    SELECT
        arrived.*
        {%- if marked %},
        CASE
            WHEN quarantined.broken_rule <> {{ same_row() }} THEN quarantined.broken_rule
        END AS broken_rule
        {%- endif %}
    FROM {{ rows }} AS arrived
    INNER JOIN {{ quarantined_keys(quarantine, key) | indent(4) }} AS quarantined
        ON {{ has_key('quarantined', key) | indent(4) }}
    {%- if not marked %}
    WHERE quarantined.broken_rule = {{ same_row() }}
    {%- endif %}
    {{- '\n    UNION ALL' if not loop.last }}
    {%- endfor %}
) AS again
{%- endmacro %}


{#- The condition that a row that arrived has the key of one in quarantine. -#}
{% macro has_key(quarantined, key) -%}
{%- for column in key -%}
{{ '\n    AND ' if not loop.first }}{{ quarantined }}.{{ column }} = arrived.{{ column }}
{%- endfor %}
{%- endmacro %}


{#- The keys of the rows that this load has put into quarantine, and the rules they break. -#}
{% macro quarantined_keys(quarantine, key) -%}
(
    SELECT DISTINCT
        {%- for column, type in key.items() %}
        CAST({{ json_text('key_values', column) }} AS {{ type }}) AS {{ column }},
        {%- endfor %}
        broken_rule
    FROM {{ quarantine }}
    WHERE load_date = {{ load_moment() }}
)
{%- endmacro %}


{#-
    The keys whose rows this load has put into quarantine, each once: what was loaded of them before
    stays as it was. `held` has the quarantine, and the key with the types of its columns.
-#}
{% macro held_keys(held) -%}
(
    SELECT DISTINCT
        {{ held.key | join(',\n        ') }}
    FROM {{ quarantined_keys(held.quarantine, held.key) | indent(4) }} AS quarantined
    WHERE broken_rule <> {{ same_row() }}
)
{%- endmacro %}
