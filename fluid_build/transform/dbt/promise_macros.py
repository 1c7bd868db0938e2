"""The generic tests that dbt doesn't have, and the report of broken ones.

Both use only SQL that all targets share, so that no adapter needs a version of its own.
https://docs.getdbt.com/best-practices/writing-custom-generic-tests
"""

import re
from dataclasses import dataclass

GENERIC_TEST = "promises"
QUARANTINE_TEST = "nothing_set_apart"
COMBINATION_TEST = "unique_combination_of_columns"
"""Named as in dbt_utils, which the project would need for nothing else."""
MACRO_FILE = "macros/promises.sql"
ON_RUN_END = "{{ report_broken_promises(results) }}"
_LINE = re.compile(
    r"(\w+): (\w+) \(([\w, ]*)\) is broken by (\d+) rows?, (\d+) known\..*", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class BrokenPromise:
    """A promise that more rows break than are known to; ``test`` is the dbt node.

    Of a test of dbt's own, ``rows`` are those that it returns: for ``unique`` the repeated values.
    Its name has its column, so ``columns`` are those of other promises.
    """

    test: str
    promise: str
    rows: int
    known: int
    columns: tuple[str, ...] = ()


def broken_promise(message: str) -> BrokenPromise | None:
    """Return the promise in a line of ``report_broken_promises``; None for any other line."""
    match = _LINE.fullmatch(message.strip())
    if match is None:
        return None
    test, promise, columns, rows, known = match.groups()
    return BrokenPromise(test, promise, int(rows), int(known), tuple(columns.split(", ")))


MACROS = """\
{#-
    Every promise of a relation that has no test of its own, in one test. A promise is one of
      - broken: a condition on a column that no row may meet;
      - unique: columns in which no two rows agree; rows with a null in one of them don't count;
      - columns, to, to_columns: a reference to a row that exists, unless a column is null.
    It may cover only some of the rows: those that meet `where`; with `latest`, for each value of
    `latest_of` only the row loaded last, unless it is marked as deleted.
    The test selects each promise that more rows break than are `allowed` to, with its columns.
-#}
{% test promises(model, promises, latest_of=none) %}
{%- set relations, sums, counts = [], [], [] -%}
{%- if latest_of -%}
    {%- do relations.append(latest_rows(model, latest_of)) -%}
{%- endif -%}
{%- for promise in promises -%}
    {%- set rows = 'latest' if promise.latest else model -%}
    {%- if promise.broken -%}
        {%- set sum = 'latest_sums' if promise.latest else 'sums' -%}
        {%- do sums.append((sum, loop.index, promise)) -%}
        {%- set count = 'SELECT COALESCE(promise_' ~ loop.index ~ ', 0) AS failures FROM ' ~ sum -%}
    {%- elif promise.unique -%}
        {%- set count = repeated_rows(rows, promise) -%}
    {%- else -%}
        {%- set count = orphaned_rows(rows, promise) -%}
    {%- endif -%}
    {%- do counts.append((promise, count)) -%}
{%- endfor -%}
{%- for name, rows in [('sums', model), ('latest_sums', 'latest')] -%}
    {%- set named = sums | selectattr(0, 'equalto', name) | list -%}
    {%- if named -%}
        {%- do relations.append(summed_promises(name, rows, named)) -%}
    {%- endif -%}
{%- endfor -%}
{%- if relations -%}
WITH {{ relations | join(',\\n') }}
{% endif -%}
SELECT promise, promised_columns, failures, allowed
FROM (
{%- for promise, count in counts %}
    {%- set columns = promise.columns or promise.unique or [promise.column] %}
    SELECT
        '{{ promise.name }}' AS promise,
        '{{ columns | join(', ') }}' AS promised_columns,
        failures,
        {{ promise.allowed or 0 }} AS allowed
    FROM ({{ count }}) AS counted_{{ loop.index }}
    {%- if not loop.last %}
    UNION ALL
    {%- endif %}
{%- endfor %}
) AS promised
WHERE failures > allowed
{% endtest %}


{% macro summed_promises(name, rows, promises) -%}
{{ name }} AS (
    SELECT
    {%- for _, number, promise in promises %}
        SUM(CASE WHEN {% if promise.where %}{{ promise.where }} AND {% endif -%}
        {{ promise.broken }} THEN 1 ELSE 0 END) AS promise_{{ number }}
        {{- ',' if not loop.last }}
    {%- endfor %}
    FROM {{ rows }}
)
{%- endmacro %}


{% macro latest_rows(model, latest_of) -%}
latest AS (
    SELECT *
    FROM (
        SELECT
            history.*,
            ROW_NUMBER() OVER (
                PARTITION BY {{ latest_of | join(', ') }} ORDER BY load_date DESC
            ) AS promised_recency
        FROM {{ model }} AS history
    ) AS ranked
    WHERE promised_recency = 1 AND NOT is_deleted
)
{%- endmacro %}


{% macro repeated_rows(rows, promise) %}
        SELECT COALESCE(SUM(n_records - 1), 0) AS failures
        FROM (
            SELECT COUNT(*) AS n_records
            FROM {{ rows }}
            WHERE {{ promise.unique | join(' IS NOT NULL AND ') }} IS NOT NULL
                {%- if promise.where %} AND {{ promise.where }}{% endif %}
            GROUP BY {{ promise.unique | join(', ') }}
            HAVING COUNT(*) > 1
        ) AS repeated
    {% endmacro %}


{% macro orphaned_rows(rows, promise) %}
        SELECT COUNT(*) AS failures
        FROM (
            SELECT {{ promise.columns | join(', ') }}
            FROM {{ rows }}
            WHERE {{ promise.columns | join(' IS NOT NULL AND ') }} IS NOT NULL
                {%- if promise.where %} AND {{ promise.where }}{% endif %}
        ) AS child
        LEFT JOIN {{ promise.to }} AS parent
            ON {% for column in promise.columns -%}
            {%- set to_column = promise.to_columns[loop.index0] -%}
            {%- if promise.as_text -%}
            CAST(parent.{{ to_column }} AS {{ api.Column.translate_type('string') }})
            {#- #} = CAST(child.{{ column }} AS {{ api.Column.translate_type('string') }})
            {%- else -%}
            parent.{{ to_column }} = child.{{ column }}
            {%- endif -%}
            {{ ' AND ' if not loop.last }}
            {%- endfor %}
        WHERE parent.{{ promise.to_columns[0] }} IS NULL
    {% endmacro %}


{#-
    No row of this load is in quarantine; selects each table and rule that has some, and how many.
-#}
{% test nothing_set_apart(model) %}
SELECT
    source_table AS promise,
    broken_rule AS promised_columns,
    COUNT(*) AS failures,
    0 AS allowed
FROM {{ model }}
WHERE load_date = {{ load_moment() }}
GROUP BY source_table, broken_rule
{% endtest %}


{#- No two rows agree in these columns; rows with a null in one of them don't count. -#}
{% test unique_combination_of_columns(model, combination_of_columns) %}
SELECT {{ combination_of_columns | join(', ') }}, COUNT(*) AS n_records
FROM {{ model }}
WHERE {{ combination_of_columns | join(' IS NOT NULL AND ') }} IS NOT NULL
GROUP BY {{ combination_of_columns | join(', ') }}
HAVING COUNT(*) > 1
{% endtest %}


{#- Log which promises are broken; dbt itself only counts them. -#}
{% macro report_broken_promises(results) %}
{%- if execute -%}
    {%- for result in results if result.status in ('fail', 'warn') -%}
        {%- set test = result.node -%}
        {%- if test.test_metadata is defined
            and test.test_metadata.name in ('promises', 'nothing_set_apart') -%}
            {%- set reasons = {} -%}
            {%- for promise in test.test_metadata.kwargs.promises or [] -%}
                {%- do reasons.update({promise.name: promise.reason or ''}) -%}
            {%- endfor -%}
            {%- for row in run_query(test.compiled_code).rows -%}
                {%- do log(
                    test.name ~ ': ' ~ row[0] ~ ' (' ~ row[1] ~ ') is broken by ' ~ row[2]
                    ~ (' row, ' if row[2] == 1 else ' rows, ') ~ row[3] ~ ' known. '
                    ~ reasons.get(row[0], ''), info=true
                ) -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
{%- endif -%}
{% endmacro %}
"""
