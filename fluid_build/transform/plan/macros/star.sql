{#-
    What the macros of a star have in common. `own` is the row of `staging`. A column without a dot
    is one of it, and `orders.placed_at` is one of the join that is called `orders`.
    `price AS list_price` names a column; one of a join is otherwise named after both.
-#}


{#- A column with the relation that it's of. -#}
{% macro qualified(column, rows='own', overwritten=[]) -%}
{{ column if '.' in column else ('own' if column in overwritten else rows) ~ '.' ~ column }}
{%- endmacro %}


{#- A column as the relation has it that it's read from. -#}
{% macro staged(column) -%}
{{ column.split(' AS ')[0] }}
{%- endmacro %}


{#- What a column is called in the star. -#}
{% macro name_of(column, join='') -%}
{{ column.split(' AS ')[1] if ' AS ' in column else (join ~ '_' if join else '') ~ column }}
{%- endmacro %}


{#-
    The joins that find what a row refers to. `on` pairs their columns with those that refer to
    them; the pairs of `as_text` are of different types, and are the same if their texts are.
-#}
{% macro joined(joins, rows='own', overwritten=[]) -%}
{%- for join, part in joins.items() %}
LEFT JOIN {{ part.staging }} AS {{ join }}
    ON {{ refers_to(join, part.on, part.as_text or [], rows, overwritten) }}
{%- endfor %}
{%- endmacro %}


{#- The condition that a row refers to one of a relation. -#}
{% macro refers_to(relation, pairs, compared_as_text, rows='own', overwritten=[], days=[]) -%}
{%- for theirs, ours in pairs.items() -%}
{%- set there = relation ~ '.' ~ theirs -%}
{%- set here = qualified(ours, rows, overwritten) -%}
{{ '\n    AND ' if not loop.first }}
{%- if theirs in compared_as_text %}{{ as_text(there) }} = {{ as_text(here) }}
{%- elif theirs in days %}{{ as_day(there) }} = {{ as_day(here) }}
{%- else %}{{ there }} = {{ here }}{% endif %}
{%- endfor %}
{%- endmacro %}


{#- The key of a member by its natural key, of which no part is null. -#}
{% macro member_key(values, types={}, hash_as={}) -%}
{%- if values | length > 1 -%}
{{ values_key(values, types, hash_as) }}
{%- else -%}
{{ hash_of(hash_as.get(values[0], as_text(values[0]))) }}
{%- endif -%}
{%- endmacro %}


{#- A key, or that of the unknown member where there is none; the column is called `name`. -#}
{% macro key_or_unknown(key, name) -%}
{%- set in_line = 'COALESCE(' ~ key ~ ', ' ~ zero_key() ~ ')' -%}
{%- if (in_line ~ ' AS ' ~ name) | length < 96 -%}
{{ in_line }}
{%- else -%}
COALESCE(
        {{ key }},
        {{ zero_key() }}
    )
{%- endif -%}
{%- endmacro %}


{#- The key of values that may be null; no other values have it. -#}
{% macro values_key(values, types, hash_as={}) -%}
{%- set text = [] -%}
{%- for value in values if types.get(value) == text_type() -%}
    {%- set _ = text.append(value) -%}
{%- endfor -%}
{{ hashed(values, text, hash_as) | indent(4) }}
{%- endmacro %}
