"""The labels of BigQuery's tables, and the policy tags of their columns."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fluid_build.sources.declarations.catalog_facts import TableFacts
from fluid_build.sources.declarations.catalog_labels import as_tags, domain_in, owners_in

if TYPE_CHECKING:
    from google.cloud.bigquery import Table


def labeled_facts(
    table: "Table", project: str, inherited: Mapping[str, str] | None = None
) -> TableFacts:
    """Return what a table's labels and policy tags say of it.

    ``inherited`` are the labels of its dataset, which name its owner and domain where its own
    don't.
    """
    labels, dataset_labels = dict(table.labels or {}), inherited or {}
    return TableFacts(
        address=f"{project}.{table.dataset_id}.{table.table_id}",
        owners=owners_in(labels) or owners_in(dataset_labels),
        domain=domain_in(labels) or domain_in(dataset_labels),
        tags=as_tags(labels),
        column_tags={
            field.name: tuple(
                f"policy-tag:{name.rpartition('/')[2]}" for name in field.policy_tags.names
            )
            for field in table.schema
            if field.policy_tags
        },
    )
