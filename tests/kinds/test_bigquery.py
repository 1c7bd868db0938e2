"""BigQuery, forged with what its catalog says."""

import json
from pathlib import Path

import yaml

from fluid_build.forging import forge
from fluid_build.sources import open_source
from tests.bigquery import BigQueryProject
from tests.sources.bigquery_shop import project as project


def test_labels_and_policy_tags_reach_the_contract(
    project: BigQueryProject, tmp_path: Path
) -> None:
    """Labels name an owner and a domain; a policy tag for personal data keeps the values out."""
    project.add(
        "people",
        [
            {"name": "id", "type": "INTEGER"},
            {"name": "color", "type": "STRING", "policyTags": {"names": ["eu/policyTags/pii"]}},
        ],
        (1, "green"), (2, "blue"), (3, "red"),
        labels={"team": "crm", "domain": "sales", "tier": "gold"},
    )  # fmt: skip
    with open_source(project.uri) as source:
        forged = forge(source, out=tmp_path / "shop")
    color = forged.profile.table("people").column("color")
    assert (color.pii, color.min, color.top_values) == (True, None, ())
    contract = yaml.safe_load((tmp_path / "shop/contract.fluid.yaml").read_text())
    expose = next(each for each in contract["exposes"] if each["exposeId"] == "people")
    assert "tier-gold" in expose["tags"]
    assert "policy-tag:pii" in json.dumps(expose)
