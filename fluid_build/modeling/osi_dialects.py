"""OSI expressions in further dialects, translated by sqlglot.

A quoted column, alone or in a common aggregate, is by far the most frequent expression, and only
its quotes differ. It's written here without sqlglot, whose import takes a third of a second.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import get_args

from fluid_build.modeling.osi import (
    Dataset,
    Dialect,
    DialectExpression,
    Expression,
    OsiDocument,
    OsiField,
    SemanticModel,
)
from fluid_build.text import clip

OSI_SUPPORTED_DIALECTS: tuple[Dialect, ...] = ("ANSI_SQL", "SNOWFLAKE", "DATABRICKS")
"""Dialects of OSI 0.1.1 that are SQL; MDX, Tableau and MAQL are languages of their own."""

_SQLGLOT_NAMES: Mapping[Dialect, str] = {
    "ANSI_SQL": "",
    "SNOWFLAKE": "snowflake",
    "DATABRICKS": "databricks",
}
_QUOTED = r'"(?:[^"]|"")+"'
_COLUMN = rf"(?:[A-Za-z_]\w*|{_QUOTED}(?:\.{_QUOTED})?)"
_PLAIN = re.compile(
    rf"{_COLUMN}"
    rf"|(?:SUM|AVG|MIN|MAX|COUNT)\({_COLUMN}\)"
    rf"|COUNT\(\*\)|COUNT\(DISTINCT {_COLUMN}\)"
    rf"|PERCENTILE_CONT\(0\.5\) WITHIN GROUP \(ORDER BY {_COLUMN}\)",
    re.ASCII,
)
"""What all three dialects write alike, up to the quotes."""
_PLAIN_QUOTED = re.compile(_QUOTED)
_LONGEST_EXPRESSION = 10_000
"""Characters of an expression that is translated; sqlglot's time grows faster than the text."""
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class MappedDocument:
    """A document with the dialects filled in, and the expressions that stayed as they were.

    ``untranslated`` has the place of each of them, and why.
    """

    document: OsiDocument
    untranslated: tuple[tuple[str, str], ...] = ()


def check_dialects(dialects: Iterable[str]) -> tuple[Dialect, ...]:
    """Return dialects in their usual order; ValueError for one that isn't SQL in OSI 0.1.1."""
    requested = set(dialects)
    unknown = sorted(requested.difference(OSI_SUPPORTED_DIALECTS))
    if unknown:
        why = "isn't SQL" if unknown[0] in get_args(Dialect) else "isn't a dialect of OSI 0.1.1"
        raise ValueError(f"{unknown[0]} {why}; use {', '.join(OSI_SUPPORTED_DIALECTS)}")
    return tuple(dialect for dialect in OSI_SUPPORTED_DIALECTS if dialect in requested)


def with_dialects(
    document: OsiDocument, dialects: Iterable[str] = OSI_SUPPORTED_DIALECTS
) -> MappedDocument:
    """Return the document with each expression in all of the dialects that it can be written in.

    What is there already stays. Raises ValueError as ``check_dialects`` does.
    """
    requested = check_dialects(dialects)
    untranslated: dict[tuple[str, str], None] = {}

    def mapped(expression: Expression, place: str) -> Expression:
        existing = {item.dialect: item.expression for item in expression.dialects}
        added, failed = missing_expressions(existing, requested)
        if failed:
            untranslated[place, failed] = None
        if not added:
            return expression
        items = (DialectExpression(dialect=d, expression=text) for d, text in added.items())
        return Expression(dialects=(*expression.dialects, *items))

    models = tuple(_mapped_model(model, mapped) for model in document.semantic_model)
    used = {item.dialect for model in models for item in _dialects_used(model)}
    names = tuple(dict.fromkeys((*(document.dialects or ()), *(d for d in requested if d in used))))
    copied = document.model_copy(update={"semantic_model": models, "dialects": names or None})
    return MappedDocument(copied, tuple(untranslated))


def missing_expressions(
    existing: Mapping[Dialect, str], dialects: Sequence[Dialect]
) -> tuple[dict[Dialect, str], str]:
    """Return an expression in the dialects that it lacks, and why some of them stay away."""
    missing = [dialect for dialect in dialects if dialect not in existing]
    if not missing:
        return {}, ""
    source = next((dialect for dialect in OSI_SUPPORTED_DIALECTS if dialect in existing), None)
    if source is None:
        return {}, f"there is no SQL to translate to {', '.join(missing)}"
    expression = existing[source]
    texts = {dialect: translated(expression, source, dialect) for dialect in missing}
    failed = [dialect for dialect, text in texts.items() if text is None]
    added = {dialect: text for dialect, text in texts.items() if text is not None}
    if not failed:
        return added, ""
    shown = clip(expression, _SHOWN)
    return added, f"`{shown}` can't be translated to {', '.join(failed)}"


@lru_cache(maxsize=65_536)
def translated(expression: str, source: Dialect, target: Dialect) -> str | None:
    """Return an expression of one dialect in another, None where sqlglot can't be sure of it."""
    if source == "ANSI_SQL" and _PLAIN.fullmatch(expression):
        return _requoted(expression) if target == "DATABRICKS" else expression
    if len(expression) > _LONGEST_EXPRESSION:
        return None
    # Most documents have plain columns only, and do without sqlglot.
    from fluid_build.modeling.sqlglot_expressions import translate

    return translate(expression, _SQLGLOT_NAMES[source], _SQLGLOT_NAMES[target])


def _requoted(expression: str) -> str:
    """Return a plain expression with the names in backticks, as Databricks quotes them."""

    def backticks(name: re.Match[str]) -> str:
        inner = name.group()[1:-1].replace('""', '"').replace("`", "``")
        return f"`{inner}`"

    return _PLAIN_QUOTED.sub(backticks, expression)


_Mapped = Callable[[Expression, str], Expression]


def _mapped_model(model: SemanticModel, mapped: _Mapped) -> SemanticModel:
    datasets = tuple(_mapped_dataset(dataset, mapped) for dataset in model.datasets)
    metrics = tuple(
        metric.model_copy(update={"expression": mapped(metric.expression, metric.name)})
        for metric in model.metrics or ()
    )
    return model.model_copy(update={"datasets": datasets, "metrics": metrics or model.metrics})


def _mapped_dataset(dataset: Dataset, mapped: _Mapped) -> Dataset:
    def mapped_field(field: OsiField) -> OsiField:
        place = f"{dataset.name}.{field.name}"
        return field.model_copy(update={"expression": mapped(field.expression, place)})

    fields = tuple(mapped_field(field) for field in dataset.fields or ())
    return dataset.model_copy(update={"fields": fields or dataset.fields})


def _dialects_used(model: SemanticModel) -> Iterable[DialectExpression]:
    for dataset in model.datasets:
        for field in dataset.fields or ():
            yield from field.expression.dialects
    for metric in model.metrics or ():
        yield from metric.expression.dialects
