"""What the dbt project is called."""

from fluid_build.transform.plan.plan import TransformPlan


def project_name(plan: TransformPlan) -> str:
    """The name of the project and of its profile; dbt's own packages are called ``dbt_...``."""
    return f"{plan.name}_project" if plan.name.partition("_")[0] == "dbt" else plan.name
