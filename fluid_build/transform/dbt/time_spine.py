"""The calendar that dbt wants in a project with a semantic model, from version 1.12 on.

https://docs.getdbt.com/docs/build/metricflow-time-spine
"""

from collections.abc import Collection

from fluid_build.modeling.sql_names import free_identifier
from fluid_build.transform.dbt.properties_yml import yaml_file

FOLDER = "semantic"
FISCAL_YEAR = "fiscal_year"
_SQL = """\
SELECT
    {columns}
FROM (
    {{{{ dbt.date_spine('day', "CAST('1970-01-01' AS DATE)", "CAST('2070-01-01' AS DATE)") }}}}
) AS days
"""


def spine_name(used_names: Collection[str]) -> str:
    """Return what the calendar is called; other models of the project have ``used_names``."""
    return free_identifier("time_spine_daily", used_names)


def time_spine(used_names: Collection[str], fiscal_year_start: int | None = None) -> dict[str, str]:
    """Return the files of the calendar; ``used_names`` are those of the project's other models.

    With the month in which fiscal years start, metrics can be grouped by them as well.
    """
    name = spine_name(used_names)
    columns = ["CAST(date_day AS DATE) AS date_day"]
    described: list[dict[str, object]] = [
        {
            "name": "date_day",
            "description": "The day.",
            "granularity": "day",
            "data_tests": ["not_null", "unique"],
        }
    ]
    spine: dict[str, object] = {"standard_granularity_column": "date_day"}
    if fiscal_year_start is not None:
        columns.append(_fiscal_year(fiscal_year_start))
        described.append(
            {
                "name": FISCAL_YEAR,
                "description": "The fiscal year, by the calendar year in which it ends.",
            }
        )
        spine["custom_granularities"] = [{"name": FISCAL_YEAR, "column_name": FISCAL_YEAR}]
    properties = {
        "models": [
            {
                "name": name,
                "description": "One row for each day; dbt uses it to compare metrics over time.",
                "time_spine": spine,
                "columns": described,
            }
        ]
    }
    return {
        f"models/{FOLDER}/{name}.sql": _SQL.format(columns=",\n    ".join(columns)),
        f"models/{FOLDER}/_{FOLDER}.yml": yaml_file(properties),
    }


def _fiscal_year(start: int) -> str:
    next_year = f" + CASE WHEN EXTRACT(MONTH FROM date_day) >= {start} THEN 1 ELSE 0 END"
    year = f"EXTRACT(YEAR FROM date_day){next_year if start > 1 else ''}"
    return f"CAST({year} AS INTEGER) AS {FISCAL_YEAR}"
