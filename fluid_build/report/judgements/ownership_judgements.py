"""Judgement calls about a product as a whole: its domain, its owner and its name."""

from collections.abc import Iterator, Mapping

from pydantic import TypeAdapter

from fluid_build.decisions.language import AnyDecision, Domain, Owner, ProductName
from fluid_build.report.judgements.column_judgements import ProfileDocument
from fluid_build.report.judgements.judgement import Choice, Judgement
from fluid_build.sources.declarations.catalog_facts import CatalogFacts, CatalogOwner
from fluid_build.text import clip, counted

_CATALOG: TypeAdapter[CatalogFacts] = TypeAdapter(CatalogFacts)
_NOTHING_KNOWN = "Nothing in the data says so."
_MOST_CHOICES = 5
_LONGEST_NAME = 200
"""Characters of a label in a decision."""


def ownership(profile: ProfileDocument) -> Iterator[Judgement]:
    """Yield the questions about the product; what a data catalog says is offered as the answer."""
    catalog = _catalog(profile)
    domains = {} if catalog is None else dict(catalog.domains())
    owners = {} if catalog is None else dict(catalog.owners())
    yield _question(
        "domain",
        "Which business domain does the product belong to?",
        tuple(
            Choice(domain, _reason(catalog, count), Domain(domain=_label(domain)))
            for domain, count in [*domains.items()][:_MOST_CHOICES]
        ),
        catalog,
    )
    yield _question(
        "owner",
        "Which team owns the product?",
        tuple(
            Choice(_owner_label(owner), _reason(catalog, count), _owner(owner))
            for owner, count in [*owners.items()][:_MOST_CHOICES]
        ),
        catalog,
    )
    if catalog is not None and catalog.product not in ("", profile["source_name"]):
        yield _name(str(profile["source_name"]), catalog)


def _catalog(profile: ProfileDocument) -> CatalogFacts | None:
    document = profile.get("catalog")
    return _CATALOG.validate_python(document) if isinstance(document, Mapping) else None


def _question(
    field: str, question: str, choices: tuple[Choice, ...], catalog: CatalogFacts | None
) -> Judgement:
    evidence = f"{catalog.catalog} says so." if catalog and choices else _NOTHING_KNOWN
    return Judgement(field, "ownership", question, None, evidence, choices, field=field)


def _name(source_name: str, catalog: CatalogFacts) -> Judgement:
    names = {source_name: "the name of the source", catalog.product: f"in {catalog.catalog}"}
    return Judgement(
        "name",
        "ownership",
        "What is the product called?",
        None,
        f"{catalog.catalog} calls it differently than the source is called.",
        tuple(
            Choice(name, reason, ProductName(name=_label(name))) for name, reason in names.items()
        ),
    )


def _reason(catalog: CatalogFacts | None, count: int) -> str:
    title = "" if catalog is None else catalog.catalog
    return f"on {counted(count, 'table')} in {title}" if count else f"of the whole in {title}"


def _owner(owner: CatalogOwner) -> AnyDecision:
    return Owner(team=_label(owner.name), email=_label(owner.email) if owner.email else None)


def _owner_label(owner: CatalogOwner) -> str:
    return f"{owner.name} ({owner.email})" if owner.email else owner.name


def _label(text: str) -> str:
    return clip(" ".join(filter(None, text.split())), _LONGEST_NAME)
