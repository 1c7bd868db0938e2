"""Databricks, profiled with its tags, and with a sample of its rows."""

from fluid_build.profiling.profiler import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.base import SampledRows
from fluid_build.sources.declarations.catalog_facts import CatalogOwner
from tests.databricks import DatabricksCatalog
from tests.sources.databricks_shop import URI
from tests.sources.databricks_shop import catalog as catalog
from tests.sources.databricks_shop import no_profile as no_profile


def test_a_tag_reaches_the_profile(catalog: DatabricksCatalog) -> None:
    """Tags name an owner, and a column tagged as personal keeps none of its values."""
    catalog.record(
        "table_tags",
        ("prod", "shop", "customers", "data_owner", "crm-team"),
        ("prod", "shop", "customers", "gold", ""),
        ("prod", "shop", "secrets", "gold", ""),
    )
    catalog.record("column_tags", ("prod", "shop", "customers", "credit", "pii", "true"))
    with open_source(URI) as source:
        profile = profile_source(source)
    assert profile.catalog is not None
    facts = profile.catalog.tables["customers"]
    assert (profile.catalog.catalog, facts.address) == ("Databricks", "prod.shop.customers")
    assert facts.tags == ("data_owner:crm-team", "gold")
    assert facts.owners == (CatalogOwner("crm-team"),)
    assert "secrets" not in profile.catalog.tables
    credit = profile.table("customers").column("credit")
    assert (credit.pii, credit.min, credit.top_values) == (True, None, ())


def test_the_parts_of_a_tagged_column_have_its_tags(catalog: DatabricksCatalog) -> None:
    """A list is a table of its own, whose values are as personal as the list."""
    catalog.record("column_tags", ("prod", "shop", "order lines", "tags", "pii", ""))
    with open_source(URI) as source:
        profile = profile_source(source)
    (child,) = [table for table in profile.tables if table.name.startswith("order lines__")]
    personal = {column.name for column in child.columns if column.pii}
    assert personal == {"value"}


def test_the_first_rows_are_a_sample_whose_keys_are_looked_up(catalog: DatabricksCatalog) -> None:
    """The warehouse is asked for the customers that the sample lacks."""
    with open_source(URI, sample=100) as source:
        profile = profile_source(source)
        customers = next(table for table in source.tables if table.name == "customers")
    assert customers.sampled == SampledRows(100)
    reference = next(key for key in profile.foreign_keys if key.from_columns == ("customer_id",))
    assert (reference.evidence.orphans, reference.evidence.is_measured) == (0, True)
    assert reference.evidence.sample is not None
