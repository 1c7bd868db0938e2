"""Which columns hold data of persons, so that they have to go when a person is erased.

The profile marks whatever may be personal, so that its values are shown nowhere. A street, a
position or an account is a person's where the rows are people, or what happened to them; where each
row is a shop or a company, nobody is erased with it. A phone number or an e-mail address beside the
name of somebody to contact is taken for theirs.
"""

from collections.abc import Set

from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.data_vault.entity_evidence import naming_columns
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.profiling.names.concepts import read_concepts
from fluid_build.profiling.names.naming_words import names_people

_OF_A_PLACE = frozenset({"address", "iban", "latitude", "longitude", "postal_code"})
"""Types of what shops and companies have as well as people."""
_TO_REACH_SOMEBODY = frozenset({"email", "phone"})
_OF_A_PERSON = frozenset({"gender", "marital", "birth", "dob"})
"""What is about a person as soon as a name beside it says about whom."""
_NAMES_OF_PEOPLE = frozenset({"person_name", "username"})
_PEOPLE = frozenset({"person", "user", "contact"})


def personal_columns(
    tables: SourceTables, entity: Entity, events: Set[str], decided: Set[tuple[str, str]]
) -> frozenset[str]:
    """Return the columns of a table that hold data of persons.

    Somebody decided of the columns ``decided``, each with its table, that they do. What somebody
    split off from the table isn't the shop's or the company's.
    """
    marked = [attribute for attribute in entity.attributes if attribute.pii]
    if entity.name in events or not _lists_bodies(tables, entity):
        named = any(attribute.semantic_type in _NAMES_OF_PEOPLE for attribute in marked)
        traits = [a for a in entity.attributes if named and _OF_A_PERSON & _concepts(a)]
        return frozenset(attribute.name for attribute in (*marked, *traits))
    has_contact = any(a.semantic_type in _NAMES_OF_PEOPLE for a in entity.attributes)
    of_bodies = _OF_A_PLACE if has_contact else _OF_A_PLACE | _TO_REACH_SOMEBODY
    others = {c for s in tables.splits.values() if s.table == entity.name for c in s.attributes}
    return frozenset(
        attribute.name
        for attribute in marked
        if attribute.semantic_type not in of_bodies
        or (entity.name, attribute.name) in decided
        or attribute.name in others
        or _concepts(attribute) & _PEOPLE
    )


def _concepts(attribute: Attribute) -> Set[str]:
    return read_concepts(attribute.name).concepts


def _lists_bodies(tables: SourceTables, entity: Entity) -> bool:
    """Return whether each row is a shop, a company or another body that has a name of its own."""
    concepts = read_concepts(entity.own_name).concepts
    if concepts & _PEOPLE or names_people(attribute.name for attribute in entity.attributes):
        return False
    if "party" in concepts:
        # A customer or a supplier is a person or a company.
        return any(
            attribute.required and _names_company(attribute) for attribute in entity.attributes
        )
    names = map(entity.attribute, naming_columns(tables, entity))
    return any(name.required and name.semantic_type not in _NAMES_OF_PEOPLE for name in names)


def _names_company(attribute: Attribute) -> bool:
    is_text = attribute.type.startswith(("string", "varchar", "char"))
    is_company = "company" in _concepts(attribute)
    return attribute.semantic_type == "company_name" or (is_text and is_company)
