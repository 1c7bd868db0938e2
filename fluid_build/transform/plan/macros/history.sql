{#-
    Of the rows that arrive, those of keys whose rows are new or others than at their last load, and
    a row for each key that is gone. `rows` is where they are, and `condition` says which of them
    count. `compared` has the SQL of the columns by which rows are told apart, `values` of others
    that aren't there under their own name. Several rows of a key are a broken key, which a test
    reports, and are compared and added together. `recompared` has other SQL to tell rows apart by,
    on those that arrive and on those that are stored, where what is stored doesn't say it; '' where
    nothing tells them apart but the key. `applied` is the column that says from when a row holds:
    from its `stamp`, unless that's later than the load or not after the row before. Then, and for
    each deletion, it's the load.

    A next load groups what arrives and what is stored by key and hash: what is as often in both is
    as it was. Only for keys that are left, whole rows are read. Of stored rows, those count that no
    later one of their key follows: rows of the first load are only followed by those after it.

    A key whose rows are all in quarantine is neither changed nor gone. Where rows are `marked`,
    those are among them, with the rule that they break; otherwise, `held` says how they're found.
    They're looked for among keys that are left, which are few: among all, it would cost far more.
-#}
{% macro history(rows, columns, keys, compared={}, values={}, condition='', distinct=false,
                 marked=false, held={}, never_null='', on_deletion={}, ghost='', recompared=[],
                 surplus='surplus', applied='', stamp='', since='since') -%}
{%- if marked -%}
    {%- set condition = (condition ~ ' AND ' if condition) ~ 'broken_rule IS NULL' -%}
{%- endif -%}
{%- set values = dict(values, load_date=load_moment(), is_deleted='FALSE', **compared) -%}
{%- set margin = '    ' if is_incremental() else '' -%}
{%- if applied -%}
    {%- set holds_from = applied_moment(stamp, 'arriving.' ~ since if is_incremental() else '') -%}
    {%- set _ = values.update({applied: holds_from | indent(4 + margin | length)}) -%}
{%- endif -%}
{%- for column, sql in compared.items() -%}
    {%- set _ = values.update({column: sql | indent(4 + margin | length)}) -%}
{%- endfor -%}
{%- set select = 'SELECT DISTINCT' if distinct else 'SELECT' -%}
{%- set arriving = rows ~ ' AS arriving' if '(' in rows ~ '' else rows -%}
{%- set selected -%}
{{ select }}
{%- for column in columns %}
{{ margin }}    {{ named(values.get(column, column), column) }}
    {{- ',' if not loop.last }}
{%- endfor %}
{%- endset -%}
{%- if not is_incremental() -%}
{{ selected }}
FROM {{ arriving }}
    {%- if condition %}
WHERE {{ condition }}
    {%- endif %}
    {%- if ghost %}
UNION ALL
{{ ghost }}
    {%- endif %}
{%- else -%}
{%- set told_apart_by = [] if recompared == [''] else compared.keys() | list -%}
{%- set state = keys + told_apart_by -%}
{%- for column in told_apart_by if recompared -%}
    {%- set _ = values.update({column: recompared[0] | indent(8)}) -%}
{%- endfor -%}
{%- set last_of_its_key -%}
LEFT JOIN later
    ON {{ same_keys('later', 'stored', keys, never_null) }}
WHERE
    NOT stored.is_deleted
    AND (later.load_date IS NULL OR later.load_date <= stored.load_date)
{%- endset -%}
WITH later AS (
    SELECT
        stored.{{ keys | join(',\n        stored.') }},
        MAX(stored.load_date) AS load_date
    FROM {{ this }} AS stored
    WHERE
        stored.load_date > (
            SELECT MIN(earlier.load_date)
            FROM {{ this }} AS earlier
            WHERE NOT earlier.is_deleted
        )
    GROUP BY
        stored.{{ keys | join(',\n        stored.') }}
),
states AS (
    {{ select }}
    {%- for column in state %}
        {{ named(values.get(column, column), column) }},
    {%- endfor %}
        1 AS {{ surplus }}
    FROM {{ arriving }}
    {%- if condition %}
    WHERE {{ condition }}
    {%- endif %}
    UNION ALL
    {%- if recompared and told_apart_by %}
    SELECT
    {%- for column in state %}
        {{ named(values[column] if column in told_apart_by else column, column) }},
    {%- endfor %}
        -1 AS {{ surplus }}
    FROM (
        SELECT stored.*
        FROM {{ this }} AS stored
        {{ last_of_its_key | indent(8) }}
    ) AS stored
    {%- else %}
    SELECT
        stored.{{ state | join(',\n        stored.') }},
        -1 AS {{ surplus }}
    FROM {{ this }} AS stored
    {{ last_of_its_key | indent(4) }}
    {%- endif %}
),
differing AS (
    SELECT DISTINCT
        changes.{{ keys | join(',\n        changes.') }}
    FROM (
        SELECT
            {{ state | join(',\n            ') }},
            SUM(states.{{ surplus }}) AS {{ surplus }}
        FROM states
        GROUP BY
            {{ state | join(',\n            ') }}
        HAVING SUM(states.{{ surplus }}) <> 0
    ) AS changes
    {%- if marked or held %}
    LEFT JOIN {{ held_keys(held) | indent(4) if held else rows }} AS held
        ON {% for key in keys -%}
        {{ '\n        AND ' if not loop.first }}held.{{ key }} = changes.{{ key }}
        {%- endfor %}
        {%- if marked %}
        AND held.broken_rule IS NOT NULL
        {%- endif %}
    WHERE held.{{ keys[0] }} IS NULL OR changes.{{ surplus }} > 0
    {%- endif %}
),
{%- if applied and stamp %}
latest AS (
    SELECT
        stored.{{ keys | join(',\n        stored.') }},
        MAX(stored.{{ applied }}) AS {{ since }}
    FROM {{ this }} AS stored
    INNER JOIN differing
        ON {{ same_keys('differing', 'stored', keys, never_null) | indent(4) }}
    GROUP BY
        stored.{{ keys | join(',\n        stored.') }}
),
{%- endif %}
changed AS (
    {{ selected }}
    FROM (
        SELECT {{ 'arriving.*,\n            latest.' ~ since if applied and stamp else 'arriving.*' }}
        FROM {{ rows }} AS arriving
        INNER JOIN differing
            ON {{ same_keys('differing', 'arriving', keys, never_null) | indent(8) }}
        {%- if applied and stamp %}
        LEFT JOIN latest
            ON {{ same_keys('latest', 'arriving', keys, never_null) | indent(8) }}
        {%- endif %}
    ) AS arriving
    {%- if condition %}
    WHERE {{ condition }}
    {%- endif %}
)
SELECT
    {{ columns | join(',\n    ') }}
FROM changed
UNION ALL
SELECT
    {%- for column in columns %}
    {%- if column in ['load_date', applied] %}
    {{ load_moment() }} AS {{ column }}
    {%- elif column == 'is_deleted' %}
    TRUE AS is_deleted
    {%- else %}
    {{ named(on_deletion.get(column, 'stored.' ~ column), column) }}
    {%- endif %}
    {{- ',' if not loop.last }}
    {%- endfor %}
FROM {{ this }} AS stored
INNER JOIN differing
    ON {{ same_keys('differing', 'stored', keys, never_null) }}
{{ last_of_its_key }}
    AND NOT EXISTS (
        SELECT 1
        FROM changed
        WHERE
            {{ same_keys('changed', 'stored', keys, never_null) | indent(8) }}
    )
    {%- if ghost %}
UNION ALL
SELECT
    {{ columns | join(',\n    ') }}
FROM (
    {{ ghost | indent(4) }}
) AS ghost
WHERE
    NOT EXISTS (
        SELECT 1
        FROM {{ this }} AS known
        WHERE
            {%- for column in [never_null] + compared.keys() | list %}
            {{ 'AND ' if not loop.first }}known.{{ column }} = ghost.{{ column }}
            {%- endfor %}
    )
    {%- endif %}
{%- endif %}
{%- endmacro %}


{#-
    From when a row holds: from its stamp, unless it's later than the load, or not after `since`, when
    the row before began to hold. So the rows of a key follow each other as they were loaded.
-#}
{% macro applied_moment(stamp, since) -%}
{%- if not stamp -%}
{{ load_moment() }}
{%- else -%}
CASE
    WHEN
        {{ stamp }} <= {{ load_moment() }}
        {%- if since %}
        AND ({{ since }} IS NULL OR {{ stamp }} > {{ since }})
        {%- endif %}
        THEN {{ stamp }}
    ELSE {{ load_moment() }}
END
{%- endif -%}
{%- endmacro %}


{#- The condition that a row has the keys of another one, nulls included. -#}
{% macro same_keys(rows, others, keys, never_null) -%}
{%- for key in keys -%}
{{ '\n    AND ' if not loop.first }}
{%- if key == never_null %}{{ rows }}.{{ key }} = {{ others }}.{{ key }}
{%- else %}{{ is_same(rows ~ '.' ~ key, others ~ '.' ~ key) }}{% endif %}
{%- endfor %}
{%- endmacro %}


{#- SQL as a column of that name. -#}
{% macro named(sql, name) -%}
{{ sql }}{{ ' AS ' ~ name if sql.split('.')[-1] != name }}
{%- endmacro %}
