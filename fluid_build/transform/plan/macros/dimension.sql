{#-
    The dimensions of a star. `columns` have the columns of the member's own row with their types,
    and each of the `joins` those that are copied from the row that it finds; `is_there` names a
    column that says whether there is one. `links` are the keys of other dimensions, each with what
    it's made of. Each dimension has the unknown member, which rows without a member lead to:
    `unknown` has what it says instead of null. `hash_as` and its like have the SQL of the parts of
    keys that are hashed otherwise than as their text. The columns that are `retired` are no longer
    in the source: a member keeps what it had.
-#}


{#-
    A dimension with its members as they are now. One that the source no longer has stays as it
    was, marked as deleted, because facts refer to it.
-#}
{% macro dimension(staging, key, natural_key, columns, joins={}, links={}, unknown={},
                   retired=[], hash_as={}, hash_links_as={}, held={}) -%}
{%- set parts, same = [], [] -%}
{%- set types = {} -%}
{%- for column in natural_key -%}
    {%- set _ = parts.append('own.' ~ staged(column)) -%}
    {%- set _ = same.append('own.' ~ staged(column) ~ ' = before.' ~ name_of(column)) -%}
{%- endfor -%}
{%- for column, type in columns.items() -%}
    {%- set _ = types.update({'own.' ~ staged(column): type}) -%}
{%- endfor -%}
{{ unknown_member([key], columns, joins, links, unknown) }},
    FALSE AS is_deleted
UNION ALL
SELECT
    {{ member_key(parts, types, hash_as) }} AS {{ key }},
    {{ member_columns(columns, joins, links, hash_links_as, retired=retired) }},
    FALSE AS is_deleted
FROM {{ staging }} AS own
{{- joined(joins) }}
{%- if is_there_already() %}
{%- if retired %}
LEFT JOIN {{ this }} AS before
    ON {{ same | join('\n    AND ') }}
    AND before.{{ key }} <> {{ zero_key() }}
{%- endif %}
UNION ALL
SELECT
    before.{{ key }},
    {{ columns_before(columns, joins) }}
    {%- for link in links %},
    before.{{ link }}
    {%- endfor %},
    {{ is_gone(natural_key, held, 'before.is_deleted') }}
FROM {{ this }} AS before
LEFT JOIN {{ staging }} AS own
    ON {{ same | join('\n    AND ') }}
{{- held_members(natural_key, held, 'before') }}
WHERE
    {{ parts[0] }} IS NULL
    AND before.{{ key }} <> {{ zero_key() }}
{%- endif %}
{%- endmacro %}


{#-
    A dimension with every version of its members. `history` has the versions, of the columns that
    aren't `overwritten`: these are as they are today, and so is what a version leads to. The first
    version is valid from the beginning, the others from `holds_from`. A deletion ends the version
    before it, and is none.
-#}
{% macro versioned_dimension(staging, history, key, durable_key, natural_key, columns,
                             overwritten=[], joins={}, links={}, unknown={}, retired=[],
                             grouped_by=[], hash_as={}, hash_durable_key_as={},
                             hash_links_as={}, held={}, holds_from='load_date') -%}
{%- set kept, identity, parts, same = [], [], [], [] -%}
{%- set types = {'members.valid_from': ''} -%}
{%- for column in natural_key -%}
    {%- set _ = identity.append(staged(column)) -%}
    {%- set _ = parts.append('members.' ~ staged(column)) -%}
    {%- set _ = same.append('own.' ~ staged(column) ~ ' = members.' ~ staged(column)) -%}
{%- endfor -%}
{%- for column, type in columns.items() -%}
    {%- set _ = types.update({'members.' ~ staged(column): type}) -%}
    {%- if staged(column) not in overwritten -%}
        {%- set _ = kept.append(staged(column)) -%}
    {%- endif -%}
{%- endfor -%}
{%- set version = values_key(parts + ['members.valid_from'], types, hash_as) -%}
{%- set validity -%}
members.valid_from,
    members.valid_to,
    members.is_current
{%- endset -%}
{%- set by_load -%}
PARTITION BY {{ (grouped_by or identity) | join(', ') }}
            ORDER BY load_date
{%- endset -%}
WITH versions AS (
    SELECT
        {{ kept | join(',\n        ') }},
        {{ holds_from }},
        is_deleted,
        ROW_NUMBER() OVER (
            {{ by_load }}
        ) AS version_number,
        LEAD({{ holds_from }}) OVER (
            {{ by_load }}
        ) AS replaced_at
    FROM {{ history }}
),
members AS (
    SELECT
        {{ kept | join(',\n        ') }},
        CASE
            WHEN version_number = 1 THEN {{ beginning() }} ELSE {{ holds_from }}
        END AS valid_from,
        COALESCE(replaced_at, {{ end_of_time() }}) AS valid_to,
        replaced_at IS NULL AS is_current
    FROM versions
    WHERE NOT is_deleted
)
{{ unknown_member([key, durable_key], columns, joins, links, unknown) }},
    {{ beginning() }} AS valid_from,
    {{ end_of_time() }} AS valid_to,
    TRUE AS is_current,
    FALSE AS is_deleted
UNION ALL
SELECT
    {{ version }} AS {{ key }},
    {{ member_key(parts, types, hash_durable_key_as) }} AS {{ durable_key }},
    {{ member_columns(columns, joins, links, hash_links_as, 'members', overwritten, retired) }},
    {{ validity }},
    own.{{ identity[0] }} IS NULL AS is_deleted
FROM members
LEFT JOIN {{ staging }} AS own
    ON {{ same | join('\n    AND ') }}
{{- joined(joins, 'members', overwritten) }}
{%- if is_there_already() %}
{%- if retired %}
LEFT JOIN (
    SELECT
        {{ durable_key }},
        {{ retired | join(',\n        ') }},
        valid_from,
        LEAD(valid_from, 1, {{ end_of_time() }}) OVER (
            PARTITION BY {{ durable_key }} ORDER BY valid_from
        ) AS replaced_at
    FROM {{ this }}
) AS before
    ON
        before.{{ durable_key }} = {{ member_key(parts, types, hash_durable_key_as) | indent(8) }}
        AND before.valid_from <= members.valid_from
        AND before.replaced_at > members.valid_from
{%- endif %}
{%- set as_before = columns_before(columns, joins, overwritten, 'members') %}
WHERE own.{{ identity[0] }} IS NOT NULL
UNION ALL
SELECT
    {{ version }} AS {{ key }},
    {{ member_key(parts, types, hash_durable_key_as) }} AS {{ durable_key }},
    {{ as_before }}
    {%- for link in links %},
    {{ key_or_unknown('before.' ~ link, link) }} AS {{ link }}
    {%- endfor %},
    {{ validity }},
    {{ is_gone(natural_key, held) }}
FROM members
LEFT JOIN {{ staging }} AS own
    ON {{ same | join('\n    AND ') }}
{{- held_members(natural_key, held, 'members', staged_names=true) }}
{%- if links or 'before.' in as_before %}
LEFT JOIN {{ this }} AS before
    ON before.{{ key }} = {{ version }}
{%- endif %}
WHERE own.{{ identity[0] }} IS NULL
{%- endif %}
{%- endmacro %}


{#- Whether a member that doesn't arrive is gone: not while its rows are in quarantine. -#}
{% macro is_gone(natural_key, held, before='') -%}
{%- if held -%}
{{ before ~ ' OR ' if before }}held.{{ staged(natural_key[0]) }} IS NULL AS is_deleted
{%- else -%}
TRUE AS is_deleted
{%- endif -%}
{%- endmacro %}


{#- The join of the members whose rows are in quarantine. -#}
{% macro held_members(natural_key, held, rows, staged_names=false) -%}
{%- if held %}
LEFT JOIN {{ held_keys(held) }} AS held
    ON {% for column in natural_key -%}
    {{ '\n    AND ' if not loop.first }}held.{{ staged(column) }} = {{ rows }}.
    {{- staged(column) if staged_names else name_of(column) }}
    {%- endfor %}
{%- endif %}
{%- endmacro %}


{#- A dimension of what facts say themselves, such as flags: each combination once. -#}
{% macro junk_dimension(staging, key, columns, hash_as={}) -%}
{%- set values = [] -%}
{%- set types = {} -%}
{%- for column, type in columns.items() -%}
    {%- set _ = values.append('own.' ~ staged(column)) -%}
    {%- set _ = types.update({'own.' ~ staged(column): type}) -%}
{%- endfor -%}
SELECT DISTINCT
    {{ values_key(values, types, hash_as) }} AS {{ key }},
    {{ member_columns(columns, {}, {}, {}) }}
FROM {{ staging }} AS own
UNION ALL
{{ unknown_member([key], columns, {}, {}, {}) }}
{%- endmacro %}


{#-
    The versions of a dimension's members: a row for each state, and one when a member is gone.
    `retired` columns are no longer in the source: null in new versions, and not compared. Stored
    versions have `other_hashes` where columns were added or had narrower types since then. Where
    there's the column `applied`, a version holds from its `stamp`.
-#}
{% macro dimension_versions(staging, keys, columns=[], text=[], hash_as={}, retired=[],
                            other_hashes=false, held={}, surplus='surplus', applied='', stamp='',
                            since='since') -%}
{%- set there = columns | reject('in', retired) | list -%}
{{ history(
    staging,
    columns=keys + columns + ['row_hash', 'load_date', 'is_deleted'] + ([applied] if applied else []),
    keys=keys,
    compared={'row_hash': hashed(columns, text, hash_as)},
    recompared=[hashed(there, text, hash_as) if there else ''] if retired or other_hashes else [],
    held=held,
    surplus=surplus,
    applied=applied,
    stamp=stamp,
    since=since,
) }}
{%- endmacro %}


{#- The select of the unknown member, to which its last columns can be added. -#}
{% macro unknown_member(own_keys, columns, joins, links, unknown) -%}
SELECT
    {{ zero_key() }} AS {{ own_keys | join(',\n    ' ~ zero_key() ~ ' AS ') }}
    {%- for column, type in columns.items() %},
    {{ unknown.get(name_of(column), 'CAST(NULL AS ' ~ type ~ ')') }} AS {{ name_of(column) }}
    {%- endfor %}
    {%- for join, part in joins.items() %}
    {%- if part.is_there %},
    CAST(NULL AS {{ truth_type() }}) AS {{ part.is_there }}
    {%- endif %}
    {%- for column, type in (part.columns or {}).items() %},
    CAST(NULL AS {{ type }}) AS {{ name_of(column, join) }}
    {%- endfor %}
    {%- endfor %}
    {%- for link in links %},
    {{ zero_key() }} AS {{ link }}
    {%- endfor %}
{%- endmacro %}


{#- The columns of a member: its own, those of its joins, and the keys of other dimensions. -#}
{% macro member_columns(columns, joins, links, hash_links_as, rows='own', overwritten=[],
                        retired=[]) -%}
{%- set selected = [] -%}
{%- set kept = retired if retired and is_there_already() else [] -%}
{%- for column in columns -%}
    {%- set own = qualified(staged(column), rows, overwritten) -%}
    {%- set own = 'before.' ~ name_of(column) if name_of(column) in kept else own -%}
    {%- set _ = selected.append(named(own, name_of(column))) -%}
{%- endfor -%}
{%- for join, part in joins.items() -%}
    {%- if part.is_there -%}
        {%- set found = join ~ '.' ~ (part.on | first) -%}
        {%- set _ = selected.append('before.' ~ part.is_there if part.is_there in kept
            else found ~ ' IS NOT NULL AS ' ~ part.is_there) -%}
    {%- endif -%}
    {%- for column in part.columns or {} -%}
        {%- set name = name_of(column, join) -%}
        {%- set theirs = 'before.' ~ name if name in kept else join ~ '.' ~ staged(column) -%}
        {%- set _ = selected.append(named(theirs, name)) -%}
    {%- endfor -%}
{%- endfor -%}
{%- for link, types in links.items() -%}
    {%- set values = [] -%}
    {%- set types_of_values = {} -%}
    {%- for column, type in types.items() -%}
        {%- set value = qualified(column, rows, overwritten) -%}
        {%- set _ = values.append(value) -%}
        {%- set _ = types_of_values.update({value: type}) -%}
    {%- endfor -%}
    {%- set leads_to = member_key(values, types_of_values, hash_links_as.get(link, {})) -%}
    {%- set is_missing = values | join(' IS NULL\n            OR ') ~ ' IS NULL' -%}
    {%- set before = key_or_unknown('before.' ~ link, link) -%}
    {%- set leads_to = before if link in kept else key_unless(is_missing, leads_to) -%}
    {%- set _ = selected.append(leads_to ~ ' AS ' ~ link) -%}
{%- endfor -%}
{{ selected | join(',\n    ') }}
{%- endmacro %}


{#- A key, or that of the unknown member where a condition holds. -#}
{% macro key_unless(is_missing, key) -%}
CASE
        WHEN {{ '\n            ' if '\n' in is_missing }}{{ is_missing }}
            THEN {{ zero_key() }}
        ELSE {{ key | indent(4) }}
    END
{%- endmacro %}


{#- The columns that a member had before; those of its versions are in their rows. -#}
{% macro columns_before(columns, joins, overwritten=[], rows='') -%}
{%- set selected = [] -%}
{%- for column in columns -%}
    {%- if rows and staged(column) not in overwritten -%}
        {%- set _ = selected.append(named(rows ~ '.' ~ staged(column), name_of(column))) -%}
    {%- else -%}
        {%- set _ = selected.append('before.' ~ name_of(column)) -%}
    {%- endif -%}
{%- endfor -%}
{%- for join, part in joins.items() -%}
    {%- if part.is_there -%}
        {%- set _ = selected.append('before.' ~ part.is_there) -%}
    {%- endif -%}
    {%- for column in part.columns or {} -%}
        {%- set _ = selected.append('before.' ~ name_of(column, join)) -%}
    {%- endfor -%}
{%- endfor -%}
{{ selected | join(',\n    ') }}
{%- endmacro %}
