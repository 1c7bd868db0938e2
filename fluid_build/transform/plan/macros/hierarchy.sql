{#-
    The pairs of a hierarchy: each member of a dimension with all that are above it, and with
    itself at depth 0. The members are those of today, and a parent that isn't one ends the way up;
    so does one that was passed already (`is_cyclic`). `parent` is the key of the parent in the
    dimension. `hierarchy_path` has from the top what members are called, by `named_by` or else by
    their natural key; a > in a name is doubled.
-#}
{% macro hierarchy_bridge(dimension, key, parent, natural_key, ancestor, descendant,
                          named_by='', is_versioned=false) -%}
{%- set parts = [] -%}
{%- for column in natural_key -%}
    {%- set _ = parts.append(as_text(column)) -%}
{%- endfor -%}
{%- set label = parts | join(" || ' ' || ") -%}
WITH RECURSIVE members AS (
    SELECT
        {{ key }} AS member,
        {{ parent }} AS parent,
        {%- if named_by %}
        REPLACE(COALESCE({{ as_text(named_by) }}, {{ label }}), '>', '>>') AS label
        {%- else %}
        REPLACE({{ label }}, '>', '>>') AS label
        {%- endif %}
    FROM {{ dimension }}
    WHERE
        {{ key }} <> {{ zero_key() }}
        AND NOT is_deleted
        {%- if is_versioned %}
        AND is_current
        {%- endif %}
),
steps AS (
    SELECT
        members.member,
        members.label,
        above.member AS parent,
        above.label AS parent_label
    FROM members
    LEFT JOIN members AS above
        ON above.member = members.parent AND above.member <> members.member
),
pairs{{ recursive_columns(['ancestor', 'descendant', 'depth', 'passed', 'labels']) }} AS (
    SELECT
        {{ as_text('member') }} AS ancestor,
        {{ as_text('member') }} AS descendant,
        {{ whole('0') }} AS depth,
        {{ as_text('member') }} AS passed,
        {{ as_text('label') }} AS labels
    FROM steps
    UNION ALL
    SELECT
        {{ as_text('steps.parent') }} AS ancestor,
        pairs.descendant,
        {{ whole('pairs.depth + 1') }} AS depth,
        {{ as_text("(pairs.passed || ' ' || steps.parent)") }} AS passed,
        {{ as_text("(steps.parent_label || ' > ' || pairs.labels)") }} AS labels
    FROM pairs
    INNER JOIN steps
        ON steps.member = pairs.ancestor
    WHERE
        steps.parent IS NOT NULL
        AND NOT pairs.passed LIKE '%' || steps.parent || '%'
),
parents AS (
    SELECT DISTINCT parent
    FROM steps
    WHERE parent IS NOT NULL
),
ends AS (
    SELECT
        pairs.descendant,
        pairs.depth + 1 AS hierarchy_level,
        pairs.labels AS hierarchy_path
    FROM pairs
    INNER JOIN steps
        ON steps.member = pairs.ancestor
    WHERE
        steps.parent IS NULL
        OR pairs.passed LIKE '%' || steps.parent || '%'
)
SELECT
    pairs.ancestor AS {{ ancestor }},
    pairs.descendant AS {{ descendant }},
    pairs.depth,
    steps.parent IS NULL AS is_root,
    parents.parent IS NULL AS is_leaf,
    steps.parent IS NOT NULL AND pairs.depth + 1 = ends.hierarchy_level AS is_cyclic,
    {{ whole('ends.hierarchy_level') }} AS hierarchy_level,
    ends.hierarchy_path
FROM pairs
INNER JOIN steps
    ON steps.member = pairs.ancestor
INNER JOIN ends
    ON ends.descendant = pairs.descendant
LEFT JOIN parents
    ON parents.parent = pairs.descendant
{%- endmacro %}
