{#-
    The calendar of a star: every day of each year that occurs in `days`. That are columns of
    relations, and services that run `from` a day `to` another. A date far away, such as
    9999-12-31, adds its own year and not the millennia before it; with more years than can be
    filled, only the days that occur are there. A fiscal year starts in the month of that number.
    `keeps_days`: it has those that it had, because rows that the source dropped refer to them. So
    it has where dbt's variable `stopped` names relations, which aren't loaded and aren't read.
-#}
{% macro calendar(key, days, columns, keeps_days=false, month_names=[
    "'January'", "'February'", "'March'", "'April'", "'May'", "'June'",
    "'July'", "'August'", "'September'", "'October'", "'November'", "'December'",
], day_names=[
    "'Monday'", "'Tuesday'", "'Wednesday'", "'Thursday'", "'Friday'", "'Saturday'", "'Sunday'",
], fiscal_year_start=0) -%}
{%- set stopped = var('stopped', []) -%}
{%- set days = days | rejectattr('in.identifier', 'in', stopped) | list -%}
{%- set month = month_of('full_date') -%}
{%- set months_before = remainder('(' ~ month ~ ' + ' ~ (12 - fiscal_year_start) ~ ')', 12) -%}
{%- set is_next_year = 'CASE WHEN ' ~ month ~ ' >= ' ~ fiscal_year_start ~ ' THEN 1 ELSE 0 END' -%}
{%- set expressions = {
    'full_date': 'full_date',
    'year_number': year_of('full_date'),
    'quarter_number': quarter_of('full_date'),
    'month_number': month,
    'month_name': name_by_number(month, month_names),
    'day_of_month': day_of_month('full_date'),
    'day_of_week': whole('day_of_week'),
    'day_name': name_by_number('day_of_week', day_names),
    'iso_year': year_of('thursday'),
    'iso_week': whole_part('days_to_thursday', 7) ~ ' + 1',
    'week_start_date': days_after('full_date', '1 - day_of_week'),
    'is_weekend': 'day_of_week >= 6',
    'fiscal_year': year_of('full_date') ~ (' + ' ~ is_next_year if fiscal_year_start > 1 else ''),
    'fiscal_quarter': whole_part('(' ~ months_before ~ ')', 3) ~ ' + 1',
    'fiscal_period': months_before ~ ' + 1',
} -%}
WITH {{ digits() }},
occurring AS (
    {%- for found in days %}
    {%- if found['from'] %}
    SELECT {{ days_after(as_day(found['from']), '365 * digits.digit') }} AS full_date
    FROM {{ found['in'] }}
    CROSS JOIN digits
    WHERE {{ days_between(as_day(found['from']), as_day(found.to)) }} >= 365 * digits.digit
    {%- endif %}
    {%- for column in found.columns or [] %}
    SELECT {{ as_day(column) }} AS full_date
    FROM {{ found['in'] }}
    {{- '\n    UNION ALL' if not loop.last }}
    {%- endfor %}
    {{- '\n    UNION ALL' if not loop.last }}
    {%- endfor %}
    {%- if (keeps_days or stopped) and is_there_already() %}
    UNION ALL
    SELECT full_date
    FROM {{ this }}
    WHERE full_date IS NOT NULL
    {%- endif %}
),
year_days AS (
    SELECT 100 * hundreds.digit + 10 * tens.digit + ones.digit AS days
    FROM digits AS hundreds
    CROSS JOIN digits AS tens
    CROSS JOIN digits AS ones
    WHERE 100 * hundreds.digit + 10 * tens.digit + ones.digit < 366
),
years AS (
    SELECT DISTINCT
        {{ first_of_year('full_date') }} AS first_day,
        {{ year_of('full_date') }} AS year_number
    FROM occurring
    WHERE {{ is_of_four_digits('full_date') }}
),
calendar_days AS (
    SELECT DISTINCT full_date
    FROM (
        SELECT full_date
        FROM occurring
        UNION ALL
        SELECT {{ days_after('years.first_day', 'year_days.days') }} AS full_date
        FROM years
        CROSS JOIN year_days
        WHERE
            (
                year_days.days < 365
                OR (
                    {{ remainder('years.year_number', 4) }} = 0
                    AND (
                        {{ remainder('years.year_number', 100) }} <> 0
                        OR {{ remainder('years.year_number', 400) }} = 0
                    )
                )
            )
            AND (SELECT COUNT(filled.first_day) FROM years AS filled) <= 400
    ) AS days
    WHERE full_date IS NOT NULL
),
weekdays AS (
    SELECT
        full_date,
        {{ weekday_of('full_date') }} AS day_of_week
    FROM calendar_days
),
weeks AS (
    SELECT
        full_date,
        day_of_week,
        {{ days_after('full_date', '4 - day_of_week') }} AS thursday
    FROM weekdays
),
week_days AS (
    SELECT
        full_date,
        day_of_week,
        thursday,
        {{ days_between(first_of_year('thursday'), 'thursday') }} AS days_to_thursday
    FROM weeks
)
SELECT
    {{ day_key('full_date') | indent(4) }} AS {{ key }}
    {%- for column in columns %},
    {{ named(expressions[column], column) }}
    {%- endfor %}
FROM week_days
{{- no_day_or_time(key, columns) }}
{%- endmacro %}


{#- The times of a day: every minute of it, and the unknown one. -#}
{% macro times_of_day(key, columns) -%}
{%- set expressions = {
    'time_of_day': "hour_text || ':' || minute_text",
    'hour_of_day': whole('hour_of_day'),
    'minute_of_hour': whole('minute_of_hour'),
    'hour_label': "hour_text || ':00 to ' || hour_text || ':59'",
    'part_of_day': "CASE
        WHEN hour_of_day < 6 THEN 'Night'
        WHEN hour_of_day < 12 THEN 'Morning'
        WHEN hour_of_day < 18 THEN 'Afternoon'
        ELSE 'Evening'
    END",
} -%}
WITH {{ digits() }},
minutes AS (
    SELECT
        10 * hour_tens.digit + hour_ones.digit AS hour_of_day,
        10 * minute_tens.digit + minute_ones.digit AS minute_of_hour,
        {{ as_text('hour_tens.digit') }} || {{ as_text('hour_ones.digit') }} AS hour_text,
        {{ as_text('minute_tens.digit') }} || {{ as_text('minute_ones.digit') }} AS minute_text
    FROM digits AS hour_tens
    CROSS JOIN digits AS hour_ones
    CROSS JOIN digits AS minute_tens
    CROSS JOIN digits AS minute_ones
    WHERE
        10 * hour_tens.digit + hour_ones.digit < 24
        AND minute_tens.digit < 6
)
SELECT
    CAST(100 * hour_of_day + minute_of_hour AS {{ whole_number() }}) AS {{ key }}
    {%- for column in columns %},
    {{ named(expressions[column], column) }}
    {%- endfor %}
FROM minutes
{{- no_day_or_time(key, columns) }}
{%- endmacro %}


{#- The numbers 0 to 9, of which series are made. -#}
{% macro digits() -%}
digits AS (
    SELECT 0 AS digit
    {%- for digit in range(1, 10) %}
    UNION ALL
    SELECT {{ digit }}
    {%- endfor %}
)
{%- endmacro %}


{#- The row for what has no day or time. -#}
{% macro no_day_or_time(key, columns) %}
UNION ALL
SELECT
    CAST(-1 AS {{ whole_number() }}) AS {{ key }}
    {%- for column, type in columns.items() %},
    CAST(NULL AS {{ type }}) AS {{ column }}
    {%- endfor %}
{%- endmacro %}


{#- The name of a month or weekday, whose numbers begin with 1. -#}
{% macro name_by_number(number, names) -%}
CASE {{ number }}
        {%- for name in names %}
        WHEN {{ loop.index }} THEN {{ name }}
        {%- endfor %}
    END
{%- endmacro %}
