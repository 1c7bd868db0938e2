{#-
    How the relations of a vault are loaded. Each model says what it's made of, and these macros say
    how, once for all. Every relation only ever gets rows added. `staging` is the relation with the
    columns that are named; of those that are hashed, `text` are text, and `hash_as` has the SQL of
    the ones that are hashed otherwise than as their text. A `marked` staging has rows in quarantine
    with the rule that they break, which aren't loaded. `surplus`, `rank` and the like are names
    that the load uses. How a key is hashed is in hashing.sql.
-#}


{#-
    A hub: each business key once, from every staging that holds it. The first feed that has a key
    says where it's from. A feed with its own rows is read whole; of others, rows that have the key.
    dbt's variable `stopped` has the stagings whose tables aren't loaded, so nothing is read of them.
    `ghost` has the type of each column of the business key where there's a row for the zero key:
    always, or with the first row of `needed_by` that has this key.
-#}
{% macro vault_hub(key, business_key, feeds, ghost={}, needed_by=[], spelling=[],
                   precedence='precedence', rank='rank_of_row') -%}
{%- set feeds = feeds | rejectattr('staging.identifier', 'in', var('stopped', [])) | list -%}
{%- set ghost_row %}
        {{ zero_key() }} AS {{ key }},
        {%- for name in business_key %}
        CAST(NULL AS {{ ghost[name] }}) AS {{ name }},
        {%- endfor %}
        {{ ghost_source() }} AS record_source,
        0 AS {{ precedence }}
{%- endset -%}
WITH arriving AS (
    {%- if ghost and not needed_by %}
    SELECT
        {{- ghost_row }}
    UNION ALL
    {%- endif %}
    {%- for rows in needed_by | rejectattr('staging.identifier', 'in', var('stopped', [])) %}
    SELECT DISTINCT
        {{- ghost_row }}
    FROM {{ rows.staging }}
    WHERE
        {{ rows.key }} = {{ zero_key() }}
        {%- if rows.marked %}
        AND broken_rule IS NULL
        {%- endif %}
    UNION ALL
    {%- endfor %}
    {%- for feed in feeds %}
    {%- set columns = feed.columns or business_key %}
    SELECT{{ '' if feed.own or is_incremental() else ' DISTINCT' }}
        {{ named(feed.key or key, key) }},
        {%- for name in business_key %}
        {{ named((feed.cast or {}).get(name, columns[loop.index0]), name) }},
        {%- endfor %}
        record_source,
        {{ loop.index }} AS {{ precedence }}
    FROM {{ feed.staging }}
    {%- set needed = [] -%}
    {%- if feed.marked -%}
        {%- set _ = needed.append('broken_rule IS NULL') -%}
    {%- endif -%}
    {%- for column in columns if not feed.own -%}
        {%- set _ = needed.append(column ~ ' IS NOT NULL') -%}
    {%- endfor -%}
    {%- if needed %}
    WHERE
        {{ needed | join('\n        AND ') }}
    {%- endif %}
    {{- '\n    UNION ALL' if not loop.last }}
    {%- endfor %}
),
ranked AS (
    SELECT
        arriving.{{ key }},
        arriving.record_source,
        arriving.{{ business_key | join(',\n        arriving.') }},
        ROW_NUMBER() OVER (
            PARTITION BY arriving.{{ key }}
            ORDER BY arriving.{{ ([precedence] + spelling) | join(', arriving.') }}
        ) AS {{ rank }}
    FROM arriving
    {%- if is_incremental() %}
    {{ with_known(key) | indent(4) }}
    WHERE known.{{ key }} IS NULL
    {%- endif %}
)
SELECT
    ranked.{{ key }},
    {{ load_moment() }} AS load_date,
    ranked.record_source,
    ranked.{{ business_key | join(',\n    ranked.') }}
FROM ranked
WHERE
    ranked.{{ rank }} = 1
{%- endmacro %}


{#-
    A link: each combination of hubs once. `columns` are the keys of its hubs, and its own. Where
    `key` of `earlier` says what a row was under an earlier key, it's linked with what its hub `in`
    has, once, and only by a value that no other row has today. `hub_key` is what that hub calls it.
-#}
{% macro vault_link(staging, key, columns, marked=false, earlier={}) -%}
SELECT DISTINCT
    arriving.{{ key }},
    {{ load_moment() }} AS load_date,
    arriving.record_source,
    arriving.{{ columns | join(',\n    arriving.') }}
FROM {{ staging }} AS arriving
{%- if is_incremental() %}
{{ with_known(earlier.key or key) }}
{%- endif %}
WHERE
    arriving.{{ key }} IS NOT NULL
{%- if marked %}
    AND arriving.broken_rule IS NULL
{%- endif %}
{%- if earlier %}
    AND EXISTS (
        SELECT 1
        FROM {{ earlier['in'] }} AS before
        WHERE before.{{ earlier.hub_key or earlier.key }} = arriving.{{ earlier.key }}
    )
    AND NOT EXISTS (
        SELECT 1
        FROM {{ staging }} AS other
        WHERE
            other.{{ earlier.key }} = arriving.{{ earlier.key }}
            AND other.{{ key }} <> arriving.{{ key }}
    )
{%- endif %}
{%- if is_incremental() %}
    AND known.{{ earlier.key or key }} IS NULL
{%- endif %}
{%- endmacro %}


{#-
    A satellite: a row for each state of a hub's or link's key, and one when it's gone. Without
    columns, it says when the key was there. `multi_active` are what tells apart the rows of a key.
    `distinct`: several rows of the staging say the same. `if_linked`: rows without the key are left
    out. `has_ghost`: there's a row that other tables lead to; `ghost` has the types of its columns.
    `retired` columns are no longer in the source: null in new rows, and not compared. Stored rows
    have `other_hashes` where columns were of narrower types. Then rows are compared as they are.
    Where there's the column `applied`, a row holds from its `stamp`.
-#}
{% macro vault_satellite(staging, key, columns=[], text=[], hash_as={}, multi_active=[],
                         distinct=false, if_linked=false, marked=false, has_ghost=false, ghost={},
                         retired=[], other_hashes=false, surplus='surplus', applied='', stamp='',
                         since='since') -%}
{%- set compared = {'hash_diff': hashed(columns, text, hash_as)} if columns else {} -%}
{%- set there = columns | reject('in', retired) | list -%}
{%- set ghost_row -%}
SELECT
    {{ zero_key() }} AS {{ key }},
    {{ before_any_load() }} AS load_date,
    {{ ghost_source() }} AS record_source,
    TRUE AS is_deleted
    {%- if columns %},
    {{ zero_key() }} AS hash_diff
    {%- endif %}
    {%- for column in columns %},
    CAST(NULL AS {{ ghost[column] }}) AS {{ column }}
    {%- endfor %}
    {%- if applied %},
    {{ before_any_load() }} AS {{ applied }}
    {%- endif %}
{%- endset -%}
{{ history(
    staging,
    columns=[key, 'load_date', 'record_source', 'is_deleted'] + compared.keys() | list
        + multi_active + columns + ([applied] if applied else []),
    keys=[key] + multi_active,
    compared=compared,
    condition=key ~ ' IS NOT NULL' if if_linked else '',
    distinct=distinct,
    marked=marked,
    never_null=key,
    ghost=ghost_row if has_ghost else '',
    recompared=[hashed(there, text, hash_as) if there else ''] if retired or other_hashes else [],
    surplus=surplus,
    applied=applied,
    stamp=stamp,
    since=since,
) }}
{%- endmacro %}


{#-
    A code list: a row for each state of a code, and one when it's gone. `retired`, `other_hashes`
    and `applied` are as in a satellite.
-#}
{% macro vault_reference_table(staging, keys, record_source, columns=[], text=[], hash_as={},
                               marked=false, retired=[], other_hashes=false, surplus='surplus',
                               applied='', stamp='', since='since') -%}
{%- set compared = {'hash_diff': hashed(columns, text, hash_as)} if columns else {} -%}
{%- set there = columns | reject('in', retired) | list -%}
{{ history(
    staging,
    columns=[keys[0], 'load_date', 'record_source', 'is_deleted'] + compared.keys() | list
        + keys[1:] + columns + ([applied] if applied else []),
    keys=keys,
    compared=compared,
    values={'record_source': record_source},
    marked=marked,
    recompared=[hashed(there, text, hash_as) if there else ''] if retired or other_hashes else [],
    surplus=surplus,
    applied=applied,
    stamp=stamp,
    since=since,
) }}
{%- endmacro %}


{#- Rows without a key: each different row once, with the history of how often it's there. -#}
{% macro vault_counted_rows(staging, key, columns, marked=false, occurrence='occurrence',
                            surplus='surplus') -%}
{%- set counted -%}
(
    SELECT
        {{ key }},
        record_source,
        {{ columns | join(',\n        ') }},
        COUNT(*) OVER (PARTITION BY {{ key }}) AS multiplicity,
        ROW_NUMBER() OVER (PARTITION BY {{ key }} ORDER BY {{ key }}) AS {{ occurrence }}
    FROM {{ staging }}
    {%- if marked %}
    WHERE broken_rule IS NULL
    {%- endif %}
)
{%- endset -%}
{{ history(
    counted,
    columns=[key, 'load_date', 'record_source', 'is_deleted', 'multiplicity'] + columns,
    keys=[key],
    compared={'multiplicity': 'multiplicity'},
    condition=occurrence ~ ' = 1',
    never_null=key,
    on_deletion={'multiplicity': 'CAST(0 AS ' ~ whole_number() ~ ')'},
    surplus=surplus,
) }}
{%- endmacro %}


{#- The join of arriving rows with those whose key is known: new ones find none. -#}
{% macro with_known(key) -%}
LEFT JOIN {{ this }} AS known
    ON known.{{ key }} = arriving.{{ key }}
{%- endmacro %}
