"""What reads the models, as dbt's exposures: as a person said it in a decision.

Properties: https://docs.getdbt.com/reference/exposure-properties.
"""

from collections.abc import Iterable

from fluid_build.decisions.language import Exposure
from fluid_build.transform.dbt.properties_yml import filled, yaml_file

EXPOSURES_FILE = "models/exposures.yml"


def exposure_files(exposures: Iterable[Exposure]) -> dict[str, str]:
    """Return the file of the exposures by its path; none where nobody said what reads a model."""
    entries = [_entry(exposure) for exposure in exposures]
    return {EXPOSURES_FILE: yaml_file({"exposures": entries})} if entries else {}


def _entry(exposure: Exposure) -> dict[str, object]:
    return filled(
        {
            "name": exposure.name,
            "label": exposure.title,
            "type": exposure.type,
            "url": exposure.url,
            "description": exposure.text,
            "depends_on": [f"ref('{model}')" for model in exposure.models],
            "owner": filled({"name": exposure.owner, "email": exposure.email}),
        }
    )
