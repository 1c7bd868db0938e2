{#- The versions of a dimension's members: a row for each state, and one when a member is gone. -#}
{% macro dimension_versions(staging, keys, columns=[], text=[], hash_as={}, grouped_by=[],
                            names={}) -%}
{%- set arriving -%}
    SELECT
        {{ (keys + columns) | join(',\n        ') }},
        {{ hashed(columns, text, hash_as) }} AS row_hash,
        {{ load_moment() }} AS load_date,
        FALSE AS is_deleted
    FROM {{ staging }}
{%- endset -%}
{{ history(
    arriving,
    columns=keys + columns + ['row_hash', 'load_date', 'is_deleted'],
    keys=keys,
    grouped_by=grouped_by,
    compared=['row_hash'],
    names=names,
) }}
{%- endmacro %}
