{#-
    How the relations of a vault are loaded. Each model says what it's made of, and these macros say
    how, once for all. Every relation only ever gets rows added. `staging` is the relation with the
    columns that are named; of those that are hashed, `text` are text, and `hash_as` has the SQL of
    the ones that are hashed otherwise than as their text. `names` replaces names that the load
    uses where the relation has a column of that name. How a key is hashed is in hashing.sql.
-#}


{#-
    A hub: each business key once, from every staging that holds it. The first feed that has a key
    says where it's from. A feed with its own rows is read whole; of others, rows that have the key.
    `ghost` has the type of each column of the business key where there's a row for the zero key.
-#}
{% macro vault_hub(key, business_key, feeds, ghost={}, spelling=[], precedence='precedence',
                   rank='rank_of_row') -%}
WITH arriving AS (
    {%- if ghost %}
    SELECT
        {{ zero_key() }} AS {{ key }},
        {%- for name in business_key %}
        CAST(NULL AS {{ ghost[name] }}) AS {{ name }},
        {%- endfor %}
        {{ ghost_source() }} AS record_source,
        0 AS {{ precedence }}
    UNION ALL
    {%- endif %}
    {%- for feed in feeds %}
    {%- set columns = feed.columns or business_key %}
    SELECT{{ '' if feed.own else ' DISTINCT' }}
        {{ named(feed.key or key, key) }},
        {%- for name in business_key %}
        {{ named((feed.cast or {}).get(name, columns[loop.index0]), name) }},
        {%- endfor %}
        record_source,
        {{ loop.index }} AS {{ precedence }}
    FROM {{ feed.staging }}
    {%- if not feed.own %}
    WHERE {{ columns | join(' IS NOT NULL AND ') }} IS NOT NULL
    {%- endif %}
    {{- '\n    UNION ALL' if not loop.last }}
    {%- endfor %}
),
ranked AS (
    SELECT
        {{ key }},
        record_source,
        {{ business_key | join(', ') }},
        ROW_NUMBER() OVER (
            PARTITION BY {{ key }} ORDER BY {{ ([precedence] + spelling) | join(', ') }}
        ) AS {{ rank }}
    FROM arriving
)
SELECT
    ranked.{{ key }},
    {{ load_moment() }} AS load_date,
    ranked.record_source,
    ranked.{{ business_key | join(', ranked.') }}
FROM ranked
WHERE
    ranked.{{ rank }} = 1
{%- if is_incremental() %}
    AND {{ is_new(key, 'ranked') }}
{%- endif %}
{%- endmacro %}


{#- A link: each combination of hubs once. `columns` are the keys of its hubs, and its own. -#}
{% macro vault_link(staging, key, columns) -%}
SELECT DISTINCT
    arriving.{{ key }},
    {{ load_moment() }} AS load_date,
    arriving.record_source,
    arriving.{{ columns | join(', arriving.') }}
FROM {{ staging }} AS arriving
WHERE
    arriving.{{ key }} IS NOT NULL
{%- if is_incremental() %}
    AND {{ is_new(key, 'arriving') }}
{%- endif %}
{%- endmacro %}


{#-
    A satellite: a row for each state of a hub's or link's key, and one when it's gone. Without
    columns, it says when the key was there. `multi_active` are what tells apart the rows of a key.
    `distinct`: several rows of the staging say the same. `if_linked`: rows without the key are left
    out. `has_ghost`: there's a row that other tables lead to; `ghost` has the types of its columns.
-#}
{% macro vault_satellite(staging, key, columns=[], text=[], hash_as={}, multi_active=[],
                         grouped_by=[], distinct=false, if_linked=false, has_ghost=false, ghost={},
                         names={}) -%}
{%- set arriving -%}
    SELECT{{ ' DISTINCT' if distinct }}
        {{ key }},
        {{ load_moment() }} AS load_date,
        record_source,
        FALSE AS is_deleted
        {{- difference(columns, text, hash_as) }}
        {%- for column in multi_active + columns %},
        {{ column }}
        {%- endfor %}
    FROM {{ staging }}
    {%- if if_linked %}
    WHERE {{ key }} IS NOT NULL
    {%- endif %}
    {%- if has_ghost %}
    UNION ALL
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
    {%- endif %}
{%- endset -%}
{%- set compared = ['hash_diff'] if columns else [] -%}
{{ history(
    arriving,
    columns=[key, 'load_date', 'record_source', 'is_deleted'] + compared + multi_active + columns,
    keys=[key] + multi_active,
    grouped_by=grouped_by,
    compared=compared,
    never_null=key,
    has_ghost=has_ghost,
    names=names,
) }}
{%- endmacro %}


{#- A code list: a row for each state of a code, and one when it's gone. -#}
{% macro vault_reference_table(staging, keys, record_source, columns=[], text=[], hash_as={},
                               grouped_by=[], names={}) -%}
{%- set arriving -%}
    SELECT
        {{ keys[0] }},
        {{ load_moment() }} AS load_date,
        {{ record_source }} AS record_source,
        FALSE AS is_deleted
        {{- difference(columns, text, hash_as) }}
        {%- for column in keys[1:] + columns %},
        {{ column }}
        {%- endfor %}
    FROM {{ staging }}
{%- endset -%}
{%- set compared = ['hash_diff'] if columns else [] -%}
{{ history(
    arriving,
    columns=[keys[0], 'load_date', 'record_source', 'is_deleted'] + compared + keys[1:] + columns,
    keys=keys,
    grouped_by=grouped_by,
    compared=compared,
    names=names,
) }}
{%- endmacro %}


{#- Rows without a key: each different row once, with the history of how often it's there. -#}
{% macro vault_counted_rows(staging, key, columns, occurrence='occurrence', names={}) -%}
{%- set arriving -%}
    SELECT
        {{ key }},
        {{ load_moment() }} AS load_date,
        record_source,
        FALSE AS is_deleted,
        multiplicity,
        {{ columns | join(', ') }}
    FROM (
        SELECT
            {{ key }},
            record_source,
            {{ columns | join(', ') }},
            COUNT(*) OVER (PARTITION BY {{ key }}) AS multiplicity,
            ROW_NUMBER() OVER (PARTITION BY {{ key }} ORDER BY {{ key }}) AS {{ occurrence }}
        FROM {{ staging }}
    ) AS counted
    WHERE {{ occurrence }} = 1
{%- endset -%}
{{ history(
    arriving,
    columns=[key, 'load_date', 'record_source', 'is_deleted', 'multiplicity'] + columns,
    keys=[key],
    compared=['multiplicity'],
    never_null=key,
    on_deletion={'multiplicity': 'CAST(0 AS ' ~ whole_number() ~ ')'},
    names=names,
) }}
{%- endmacro %}


{#- The condition that no row of the relation has the key of a row. -#}
{% macro is_new(key, rows) -%}
NOT EXISTS (
        SELECT 1
        FROM {{ this }} AS known
        WHERE known.{{ key }} = {{ rows }}.{{ key }}
    )
{%- endmacro %}


{#- The hash of the columns that describe a row, selected after others; none if there are none. -#}
{% macro difference(columns, text, hash_as) -%}
{%- if columns %},
        {{ hashed(columns, text, hash_as) }} AS hash_diff
{%- endif %}
{%- endmacro %}
