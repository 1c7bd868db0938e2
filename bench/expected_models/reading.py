"""Expected models as written in YAML; ``tests/modeling/expected/README.md`` has the format."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from bench.expected_models.elements import (
    KINDS,
    Column,
    ExpectedElement,
    ExpectedMeasure,
    ExpectedModel,
    Layer,
)

_ABSENT_KINDS = {"star": {"collapsed", "left_out"}, "vault": {"left_out"}}
_FACT_TYPES = frozenset({"transaction", "periodic_snapshot", "accumulating_snapshot", "factless"})
_TYPES = {
    "fact": _FACT_TYPES,
    "link": frozenset({"standard", "hierarchical", "same_as", "transactional"}),
    "satellite": frozenset({"standard", "multi_active"}),
}
_ADDITIVITIES = frozenset({"additive", "semi-additive", "non-additive"})
_FIELDS = frozenset("table kind why columns type grain date measures key parents".split())


class ExpectationError(ValueError):
    """A file that isn't an expected model."""


def read_expected_models(folder: Path) -> list[ExpectedModel]:
    """Return the models of the YAML files in a folder, by their names."""
    return [read_expected_model(path) for path in sorted(folder.glob("*.yaml"))]


def read_expected_model(path: Path) -> ExpectedModel:
    """Return the model of a file; raise ExpectationError where it breaks the format."""
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    if document.keys() != {"database", "literature", "star", "vault"}:
        raise ExpectationError(f"{path.name}: has the sections {', '.join(document)}.")
    try:
        return ExpectedModel(
            database=document["database"],
            literature=tuple(document["literature"]),
            star=_elements("star", document["star"]),
            vault=_elements("vault", document["vault"]),
        )
    except ExpectationError as error:
        raise ExpectationError(f"{path.name}: {error}") from error


def _elements(layer: Layer, entries: Sequence[Mapping]) -> tuple[ExpectedElement, ...]:
    tables = {entry.get("table", "") for entry in entries}
    return tuple(_element(layer, entry, tables) for entry in entries)


def _element(layer: Layer, entry: Mapping, tables: Collection[str]) -> ExpectedElement:
    table, kinds = entry.get("table", ""), tuple(_listed(entry["kind"]))
    label = f"{layer} {table or kinds}"
    _check(label, entry.keys(), _FIELDS)
    _check(label, kinds, {*KINDS[layer], *_ABSENT_KINDS[layer]})
    if not entry.get("why"):
        raise ExpectationError(f"{label}: doesn't say why.")
    types = tuple(_listed(entry.get("type", ())))
    _check(label, types, frozenset().union(*(_TYPES.get(kind, ()) for kind in kinds)))
    return ExpectedElement(
        table=table,
        kinds=kinds,
        why=entry["why"],
        columns=frozenset(Column(table, name) for name in entry.get("columns", ())),
        types=types,
        grains=tuple(map(frozenset, _alternatives(entry.get("grain", ())))),
        dates=tuple(_event_date(table, name, tables) for name in _listed(entry.get("date", ()))),
        measures=tuple(_measures(label, table, entry.get("measures", {}))),
        keys=tuple(map(frozenset, _alternatives(entry.get("key", ())))),
        parents=tuple(map(tuple, _alternatives(entry.get("parents", ())))),
    )


def _measures(label: str, table: str, entries: Mapping) -> Iterator[ExpectedMeasure]:
    for name, words in entries.items():
        listed = set(_listed(words))
        additivities = tuple(word for word in _listed(words) if word != "optional")
        _check(label, additivities, _ADDITIVITIES)
        yield ExpectedMeasure(Column(table, name), additivities, "optional" in listed)


def _event_date(table: str, name: str, tables: Collection[str]) -> Column | None:
    """Return a column of the table, or of another one where the name is ``table.column``."""
    if name == "none":
        return None
    other, _, column = name.partition(".")
    return Column(other, column) if other in tables else Column(table, name)


def _listed(value: str | list[str] | tuple[str, ...]) -> Iterable[str]:
    return [value] if isinstance(value, str) else value


def _alternatives(value: list) -> list[list[str]]:
    """Return a list of lists: what one list says is the only alternative."""
    return [list(value)] if value and isinstance(value[0], str) else list(value)


def _check(label: str, words: Iterable[str], known: Iterable[str]) -> None:
    if unknown := sorted(set(words) - set(known)):
        raise ExpectationError(f"{label}: {', '.join(unknown)} isn't known here.")
