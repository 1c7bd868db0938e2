"""How a load is told apart from others: its date, and what a full refresh leaves alone."""

from fluid_build.transform.dbt.model_files import STAYS

LOAD_DATE_VARIABLE = "FLUID_LOAD_DATE"
REFRESHES = "refresh_history"
"""The dbt variable without which a full refresh leaves alone what holds a history."""
KEEPS_HISTORY = {"full_refresh": f"{{{{ none if var('{REFRESHES}', false) else false }}}}"}
"""The config of the models that do."""
LOAD_DATE_MACRO = f"""\
{{#-
    The same moment for a whole run, in UTC: when it started, unless {LOAD_DATE_VARIABLE} or the
    dbt variable load_date says otherwise. What is parsed doesn't depend on the environment
    variable, so another load date doesn't make dbt parse the project again.
-#}}
{{% macro load_date() -%}}
    {{%- set set_date = env_var('{LOAD_DATE_VARIABLE}', '') if execute else '' -%}}
    {{{{ var('load_date', set_date or run_started_at.strftime('%Y-%m-%d %H:%M:%S.%f')) }}}}
{{%- endmacro %}}
"""
STAYS_MACRO = f"""\
{{#- Whether a table exists, and the run is not a full refresh that makes it from nothing. -#}}
{{% macro {STAYS}() -%}}
    {{%- set found = load_cached_relation(this) if execute else none -%}}
    {{{{ return(found is not none and not should_full_refresh()) }}}}
{{%- endmacro %}}
"""
