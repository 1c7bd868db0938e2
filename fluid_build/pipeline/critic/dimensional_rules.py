"""Rules for a dimensional model: facts with measures, dimensions and a date."""

from collections.abc import Iterator

from fluid_build.copilot.scratchpad import CriticFinding, Severity
from fluid_build.pipeline.critic.findings import LogicalRule, examples, finding
from fluid_build.pipeline.critic.reading import has, name_of, part, parts, text
from fluid_build.text import counted

_WITHOUT_MEASURES = frozenset({"factless", "accumulating_snapshot"})
"""Types of facts that may be counted alone; a process in steps is measured by its dates."""


def check_measures(logical: object) -> Iterator[CriticFinding]:
    """Find facts that measure nothing, and aren't meant to."""
    for fact in parts(logical, "dimensional", "facts"):
        if not parts(fact, "measures") and text(fact, "fact_type") not in _WITHOUT_MEASURES:
            name = name_of(fact)
            yield _star_finding(
                "warning",
                f"{name}: fact has no measures",
                f"facts.{name}.measures",
                "name a column to aggregate, or make it a factless fact",
            )


def check_aggregations(logical: object) -> Iterator[CriticFinding]:
    """Find measures that are summed although they don't add up."""
    for fact in parts(logical, "dimensional", "facts"):
        for measure in parts(fact, "measures"):
            additivity = text(measure, "additivity").replace("_", "-")
            if additivity in ("non-additive", "semi-additive") and _is_summed(measure):
                name = f"{name_of(fact)}.{name_of(measure)}"
                yield _star_finding(
                    "warning",
                    f"{name} is {additivity} and summed",
                    f"facts.{name_of(fact)}.measures.{name_of(measure)}",
                    "aggregate it by its average or its last value",
                )


def check_fact_dimensions(logical: object) -> Iterator[CriticFinding]:
    """Find facts that nothing groups, and dimensions of facts that aren't there."""
    dimensions = {name_of(item) for item in parts(logical, "dimensional", "dimensions")}
    for fact in parts(logical, "dimensional", "facts"):
        name = name_of(fact)
        if not has(fact, "dimensions"):
            continue
        references = [_dimension(reference) for reference in parts(fact, "dimensions")]
        if not references and not parts(fact, "attributes"):
            yield _star_finding("warning", f"{name} has no dimensions", f"facts.{name}.dimensions")
        for missing in dict.fromkeys(
            item for item in references if dimensions and item not in dimensions
        ):
            yield _star_finding(
                "error",
                f"{name} refers to {missing}, which isn't a dimension",
                f"facts.{name}.dimensions",
            )


def check_fact_dates(logical: object) -> Iterator[CriticFinding]:
    """Find facts that no date places in time."""
    dates = {
        name_of(item)
        for item in parts(logical, "dimensional", "dimensions")
        if text(item, "dimension_type") == "date"
    }
    facts = parts(logical, "dimensional", "facts")
    names = [
        name_of(fact)
        for fact in facts
        if has(fact, "dated_by")
        and part(fact, "dated_by") is None
        and not any(_dimension(reference) in dates for reference in parts(fact, "dimensions"))
    ]
    if names:
        yield _star_finding(
            "info",
            f"{counted(len(names), 'fact')} without a date: {examples(names)}",
            f"facts.{names[0]}.dated_by",
            "choose the date of the event if the source has one",
        )


def check_unused_dimensions(logical: object) -> Iterator[CriticFinding]:
    """Find dimensions that no fact, bridge or other dimension refers to."""
    layer = part(logical, "dimensional")
    used = {
        name
        for owner in (*parts(layer, "facts"), *parts(layer, "bridges"), *parts(layer, "dimensions"))
        for name in _referenced(owner)
    }
    facts = parts(layer, "facts")
    unused = [name_of(item) for item in parts(layer, "dimensions") if name_of(item) not in used]
    if facts and unused:
        yield _star_finding(
            "info",
            f"{counted(len(unused), 'dimension')} that no fact refers to: {examples(unused)}",
            f"dimensions.{unused[0]}",
            "check whether a fact lacks a reference to it",
        )


DIMENSIONAL_RULES: tuple[LogicalRule, ...] = (
    check_measures,
    check_aggregations,
    check_fact_dimensions,
    check_fact_dates,
    check_unused_dimensions,
)


def _star_finding(
    severity: Severity, message: str, target: str, suggestion: str = ""
) -> CriticFinding:
    return finding("logical", severity, message, f"dimensional.{target}", suggestion)


def _is_summed(measure: object) -> bool:
    return (text(measure, "aggregation") or text(measure, "agg")).lower() == "sum"


def _dimension(reference: object) -> str:
    return reference if isinstance(reference, str) else text(reference, "dimension")


def _referenced(owner: object) -> Iterator[str]:
    for attribute in ("dimensions", "references", "links"):
        for reference in parts(owner, attribute):
            if _dimension(reference) != name_of(owner):
                yield _dimension(reference)
    yield from (text(owner, "left"), text(owner, "right"), text(owner, "snapshot_of"))
