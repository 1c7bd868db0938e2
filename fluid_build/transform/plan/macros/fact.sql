{#-
    The facts of a star: the rows of `staging`, each with the keys of its dimensions. A key has how
    it's found, one of
      - in, by: the dimension, and its columns with those that refer to them (as in joins); the
        pairs of `as_days` are moments that refer to days. `key` names the dimension's key where it
        isn't called as here. Of one with `versions`, which says the member's key that its versions
        share, the version `as_of` the fact's moment; without one, the last. `meant` is for values
        that several members had: one of those that live is meant, or else one of the deleted.
         Where they're `ambiguous`, no member is meant: the key that they were isn't one any more.
      - day: the day in the `calendar`. One that has become text is found where it begins with a day
        that is there (`in_text`).
      - time: the moment whose hour and minute it is; of one `in_text`, they aren't known.
      - of: the values that it's made of, with their types; `if_there` is null where the row that
        has them is missing.
      - of_load: the day of the load.
    `carries` names columns of a dimension that a wide fact repeats. `rows` is what the dimension is
    called in the query. What is `retired` isn't found in the source any more: a row, which is told
    from others by `same_row`, keeps what it had there.
-#}


{#- A fact at the grain of its staging, with its keys as of its own moment. -#}
{% macro fact(staging, keys={}, columns=[], measures=[], joins={}, as_of='', calendar='',
              calendar_key='date_key', day_of_load='', retired=[], same_row=[]) -%}
{%- set selected = [] -%}
{%- set kept = retired if retired and is_there_already() else [] -%}
{%- for key, found in keys.items() -%}
    {%- set leads_to = fact_key(key, found, calendar_key) -%}
    {%- set unknown = '-1' if found.day or found.time else zero_key() -%}
    {%- set leads_to = key_before(key, leads_to, unknown) if key in kept else leads_to -%}
    {%- set _ = selected.append(leads_to ~ ' AS ' ~ key) -%}
{%- endfor -%}
{%- for column in columns + measures -%}
    {%- set name = name_of(column) -%}
    {%- set value = 'before.' ~ name if name in kept else qualified(staged(column)) -%}
    {%- set _ = selected.append(named(value, name)) -%}
{%- endfor -%}
{%- if day_of_load -%}
    {%- set _ = selected.append(load_day() ~ ' AS ' ~ day_of_load) -%}
{%- endif -%}
{%- for key, found in keys.items() -%}
    {%- for column, name in (found.carries or {}).items() -%}
        {%- set value = 'before.' ~ name if name in kept else carried(key, found, column) -%}
        {%- set _ = selected.append(named(value, name)) -%}
    {%- endfor -%}
{%- endfor -%}
SELECT
    {{ selected | join(',\n    ') }}
FROM {{ staging }} AS own
{{- joined(joins) }}
{%- for key, found in keys.items() %}
{{- lookup(key, found, as_of, calendar, calendar_key) }}
{%- endfor %}
{%- if kept %}
LEFT JOIN {{ this }} AS before
    ON {% for column in same_row -%}
    {{ '\n    AND ' if not loop.first }}own.{{ staged(column) }} = before.{{ name_of(column) }}
    {%- endfor %}
{%- endif %}
{%- endmacro %}


{#-
    A fact that records the members of a dimension at each load: a row for each of them and day. The
    days before stay as they are; a hook of the model takes out what a load of the same day added.
-#}
{% macro periodic_snapshot(staging, day, keys={}, columns=[], measures=[], calendar='',
                           calendar_key='date_key') -%}
{{ fact(staging, keys, columns, measures, calendar=calendar, calendar_key=calendar_key,
        day_of_load=day) }}
{%- endmacro %}


{#- What belongs to what, where a member of one dimension has several of another. -#}
{% macro bridge(staging, keys={}, columns=[], retired=[], same_row=[]) -%}
{{ fact(staging, keys, columns, retired=retired, same_row=same_row) }}
{%- endmacro %}


{#- The key that a row had before; where it had none, or the unknown member's, the one found now. -#}
{% macro key_before(key, leads_to, unknown) -%}
COALESCE(
        NULLIF(before.{{ key }}, {{ unknown }}),
        {{ leads_to | indent(4) }}
    )
{%- endmacro %}


{#- What a dimension is called in a fact's query: the key's name without its last word. -#}
{% macro rows_of(key, found) -%}
{{ found.rows or key.rsplit('_', 1)[0] }}
{%- endmacro %}


{#- The key that a row refers to a member by; the unknown member's where there is none. -#}
{% macro fact_key(key, found, calendar_key) -%}
{%- if found.of_load -%}
{{ day_key(load_day()) | indent(4) }}
{%- elif found.day -%}
COALESCE({{ rows_of(key, found) }}.{{ calendar_key }}, -1)
{%- elif found.time and found.in_text -%}
-1
{%- elif found.time -%}
COALESCE(
        {{ time_key(qualified(found.time)) | indent(8) }},
        -1
    )
{%- elif found['in'] and not found['of'] -%}
{{ key_or_unknown(rows_of(key, found) ~ '.' ~ (found.key or key), key) }}
{%- else -%}
{%- set values = [] -%}
{%- set types = {} -%}
{%- for column, type in found['of'].items() -%}
    {%- set _ = values.append(qualified(column)) -%}
    {%- set _ = types.update({qualified(column): type}) -%}
{%- endfor -%}
{%- set made = values_key(values, types, found.hash_as or {}) -%}
{{ key_unless(found.if_there ~ ' IS NULL', made) if found.if_there else made }}
{%- endif -%}
{%- endmacro %}


{#- The join that finds the member that a row refers to. -#}
{% macro lookup(key, found, as_of, calendar, calendar_key) -%}
{%- set rows = rows_of(key, found) -%}
{%- if found.day %}
LEFT JOIN {{ calendar }} AS {{ rows }}
    ON {% if found.in_text -%}
    {{ as_text(rows ~ '.full_date') }} = LEFT({{ qualified(found.day) }}, 10)
    {%- else -%}
    {{ rows }}.full_date = {{ as_day(qualified(found.day)) }}
    {%- endif %}
{%- elif found['in'] and (found['of'] or found.time) %}
LEFT JOIN {{ found['in'] }} AS {{ rows }}
    ON {{ rows }}.{{ found.key or key }} = {{ fact_key(key, found, calendar_key) }}
{%- elif found['in'] %}
{%- set names = found.names or {} -%}
{%- set replaced_at = names.get('replaced_at', 'replaced_at') -%}
{%- set is_meant = names.get('is_meant', 'is_meant') %}
LEFT JOIN {% if found.versions or found.meant -%}
(
    SELECT
        *
        {%- if found.versions %},
        LEAD(valid_from, 1, {{ end_of_time() }}) OVER (
            PARTITION BY {{ found.versions }} ORDER BY valid_from
        ) AS {{ replaced_at }}
        {%- endif %}
        {%- if found.meant %},
        {%- set same = 'OVER (PARTITION BY ' ~ found.shared | join(', ') ~ ')' %}
        NOT is_deleted OR (
            MIN(CASE WHEN is_deleted THEN 1 ELSE 0 END) {{ same }} = 1
            AND {{ found.meant }} = MAX({{ found.meant }}) {{ same }}
        ) AS {{ is_meant }}
        {%- endif %}
    FROM {{ found['in'] }}
)
{%- else -%}
{{ found['in'] }}
{%- endif %} AS {{ rows }}
    ON {{ 'FALSE' if found.ambiguous else refers_to(rows, found.by, found.as_text or [], days=found.as_days or []) }}
    {%- if found.versions %}
    {%- if as_of %}
    AND {{ rows }}.valid_from <= {{ within_versions(qualified(as_of)) | indent(4) }}
    AND {{ rows }}.{{ replaced_at }} > {{ within_versions(qualified(as_of)) | indent(4) }}
    {%- else %}
    AND {{ rows }}.{{ replaced_at }} > {{ last_moment() }}
    {%- endif %}
    {%- endif %}
    {%- if found.meant %}
    AND {{ rows }}.{{ is_meant }}
    {%- endif %}
{%- endif %}
{%- endmacro %}


{#- A column of a member that a wide fact repeats, or what the unknown member has there. -#}
{% macro carried(key, found, column) -%}
{%- set rows = rows_of(key, found) -%}
{%- set unknown = (found.unknown or {}).get(column) -%}
{%- if unknown -%}
CASE
        WHEN {{ rows }}.{{ found.dimension_key }} IS NULL THEN {{ unknown }}
        ELSE {{ rows }}.{{ column }}
    END
{%- else -%}
{{ rows }}.{{ column }}
{%- endif -%}
{%- endmacro %}
