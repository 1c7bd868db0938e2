"""The calendar that dbt wants in a project with a semantic model, from version 1.12 on.

https://docs.getdbt.com/docs/build/metricflow-time-spine
"""

from collections.abc import Collection

from fluid_build.modeling.sql_names import free_identifier
from fluid_build.transform.dbt.properties_yml import yaml_file

FOLDER = "semantic"
_SQL = """\
SELECT CAST(date_day AS DATE) AS date_day
FROM (
    {{ dbt.date_spine('day', "CAST('1970-01-01' AS DATE)", "CAST('2070-01-01' AS DATE)") }}
) AS days
"""


def time_spine(used_names: Collection[str]) -> dict[str, str]:
    """Return the files of the calendar; ``used_names`` are those of the project's other models."""
    name = free_identifier("time_spine_daily", used_names)
    properties = {
        "models": [
            {
                "name": name,
                "description": "One row for each day; dbt uses it to compare metrics over time.",
                "time_spine": {"standard_granularity_column": "date_day"},
                "columns": [{"name": "date_day", "description": "The day.", "granularity": "day"}],
            }
        ]
    }
    return {
        f"models/{FOLDER}/{name}.sql": _SQL,
        f"models/{FOLDER}/_{FOLDER}.yml": yaml_file(properties),
    }
