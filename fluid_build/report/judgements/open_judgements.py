"""All judgement calls about a model that no decision settles, in the order to ask them."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, starmap
from typing import Any, TypeAlias

from pydantic import TypeAdapter

from fluid_build.decisions.language import (
    AnyDecision,
    Domain,
    Owner,
    PersonalData,
    ProductName,
    TextType,
)
from fluid_build.decisions.subjects import subject
from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.suggested import open_claims
from fluid_build.report.judgements.claim_judgements import (
    open_readings,
    reading_judgement,
    with_claims,
)
from fluid_build.report.judgements.judgement import Choice, Judgement
from fluid_build.report.judgements.key_judgements import key_judgements
from fluid_build.report.judgements.model_judgements import model_judgements
from fluid_build.sources.declarations.catalog_facts import CatalogFacts, CatalogOwner
from fluid_build.sources.text_values.conventions import SHORT_YEAR_QUESTION
from fluid_build.text import clip, counted, free_name

# Judgement calls about columns of a profile: how text is read, and what is personal.

ProfileDocument: TypeAlias = Mapping[str, Any]
"""What ``profile.json`` holds; docs/json.md describes it."""

_COIN_TOSS = 0.5
"""How sure it is that text stays text: nothing in the data speaks for either convention."""
_NAMED_PERSONAL = 0.6
"""How sure a name alone is, set by hand: only to order the questions."""
_DATE = re.compile(r"\d{1,2}([./-])\d{1,2}\1(\d{4}|\d{2})")
_BARE_NUMBER = re.compile(r"[-0-9.,eE+]*")
_READ_AS_TEXT = "Read as text: "


def conventions(profile: ProfileDocument) -> Iterator[Judgement]:
    """Yield the columns whose text fits two conventions, which were left as text."""
    for table in profile["tables"]:
        for column in table["columns"]:
            for note in column["notes"]:
                if note.startswith(_READ_AS_TEXT):
                    yield from _convention(table["name"], column, note)


def _convention(table: str, column: Mapping[str, Any], note: str) -> Iterator[Judgement]:
    name = str(column["name"])

    def read_as(kind: str, **details: object) -> TextType:
        return TextType.model_validate({"table": table, "column": name, "read_as": kind, **details})

    if "--date-order" in note or note == SHORT_YEAR_QUESTION:
        dates = [_DATE.fullmatch(str(value["value"])) for value in column["top_values"]]
        match = next(filter(None, dates), None)
        if match is None:
            return
        mark, year = match[1], "%Y" if len(match[2]) == 4 else "%y"
        orders = [("the day first", f"%d{mark}%m{mark}{year}")]
        if mark != ".":
            orders.append(("the month first", f"%m{mark}%d{mark}{year}"))
        choices = tuple(
            Choice(label, "", read_as("date", date_format=date_format))
            for label, date_format in orders
        )
    elif "--decimal" in note and _are_bare(column):
        choices = (
            Choice("a decimal point", "", read_as("number", decimal="point")),
            Choice("a decimal comma", "", read_as("number", decimal="comma")),
        )
    else:
        return
    yield Judgement(
        f"text-{table}.{name}",
        "text",
        f"How is the text in {table}.{name} read?",
        _COIN_TOSS,
        note.partition(" Pass --")[0],
        (Choice("as text", "nothing in the data settles it", read_as("text")), *choices),
        table=table,
        column=name,
    )


def _are_bare(column: Mapping[str, Any]) -> bool:
    """Return whether the numbers of a column have nothing around them, such as a currency.

    Those that have can only be read as ``--decimal`` says, when the file is.
    """
    return all(_BARE_NUMBER.fullmatch(str(value["value"])) for value in column["top_values"])


def personal_data(
    profile: ProfileDocument, newly: Collection[SourceColumn] = ()
) -> Iterator[Judgement]:
    """Yield the columns that are taken for personal data by their names alone, or only since now.

    The model has those that are ``newly`` personal where it had them before.
    """
    for table in profile["tables"]:
        for column in table["columns"]:
            is_new = SourceColumn(table=table["name"], column=column["name"]) in newly
            if not column["pii"] or not (is_new or _is_by_name(column)):
                continue
            target = {"table": table["name"], "column": column["name"]}
            yield Judgement(
                f"personal-{table['name']}.{column['name']}",
                "personal data",
                f"Is {table['name']}.{column['name']} personal data?",
                _NAMED_PERSONAL,
                column["semantic_reason"],
                (
                    Choice("personal", "", PersonalData.model_validate(target)),
                    Choice(
                        "not personal",
                        "",
                        PersonalData.model_validate({**target, "is_personal": False}),
                    ),
                ),
                table=table["name"],
                column=column["name"],
            )


def _is_by_name(column: Mapping[str, Any]) -> bool:
    """Return whether no value speaks for it: there is none, or the reason gives no figure."""
    reason = str(column["semantic_reason"])
    return column["nulls"] == column["rows"] or not re.search(r"\d", reason)


# Judgement calls about a product as a whole: its domain, its owner and its name.

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


def open_judgements(
    profile: ProfileDocument, model: LogicalModel, decided: Collection[AnyDecision] = ()
) -> tuple[Judgement, ...]:
    """Return the questions that ``decided`` leaves open, the least certain first.

    ``profile`` is the content of ``profile.json``. Those of the same certainty are in the order of
    their subjects: relationships, keys, text, the model, measures, dates, personal data.
    """
    of_rules = chain(
        key_judgements(model.conceptual),
        conventions(profile),
        model_judgements(model),
        personal_data(profile, model.evolution.newly_personal if model.evolution else ()),
        ownership(profile),
    )
    of_meaning, of_text = open_claims(model, [*decided]), open_readings(profile, decided)
    questions = chain(with_claims(of_rules, model, of_meaning), starmap(reading_judgement, of_text))
    claims = [*of_meaning, *(claim for claim, _ in of_text)]
    settled = {_folded(subject(decision)) for decision in decided if decision not in claims}
    unsettled = [question for question in questions if not _subjects(question) & settled]
    ordered = sorted(unsettled, key=lambda question: _sort_key(question.certainty))
    return tuple(_with_ids(ordered))


def _sort_key(certainty: float | None) -> float:
    return 2.0 if certainty is None else certainty


def _subjects(question: Judgement) -> set[object]:
    if question.field:
        return {(question.field,)}
    return {_folded(subject(choice.decision)) for choice in question.choices if choice.decision}


def _folded(parts: object) -> object:
    """Return a subject in one case: a person may have written a table's name in another."""
    if isinstance(parts, tuple):
        return tuple(_folded(part) for part in parts)
    return parts.casefold() if isinstance(parts, str) else parts


def _with_ids(questions: Sequence[Judgement]) -> Iterator[Judgement]:
    """Yield the questions with ids that can be typed, each once."""
    used: set[str] = set()
    for question in questions:
        slug = re.sub(r"[^A-Za-z0-9_.]+", "-", question.id).strip("-")
        free = free_name(slug, used)
        used.add(free)
        yield replace(question, id=free)
