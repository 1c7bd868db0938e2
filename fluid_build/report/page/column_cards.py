"""A column as the page shows it: its figures, its distribution, and the rules that hold for it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fluid_build.modeling.conceptual import EntityKey, Relationship
from fluid_build.profiling.profile import ColumnProfile, HistogramBin, is_code
from fluid_build.report.means import shorten_number
from fluid_build.report.page.lineage import Lineage, RelationColumn
from fluid_build.report.view import ColumnView, TableView
from fluid_build.text import as_sentence, clip, counted

BAR_HEIGHT = 24
"""Pixels of the highest bar of a histogram; the page scales the drawing."""
HISTOGRAM_WIDTH = 120
_LEAST_BAR = 1
"""Pixels of the bar of a bin with few rows: they are to be seen."""
_LONGEST_VALUE = 60
_LONGEST_PARENT = 40
_MOST_RELATIONS = 12
"""Columns of the model that are named; a calendar's key is part of every fact."""
_MOST_ACCEPTED = 20
_FEW_VALUES = 12
"""Up to so many distinct values are shown one by one, numbers too."""


@dataclass(frozen=True, slots=True)
class FrequentValue:
    """A value, how many rows have it, and the same as a share of the rows counted (0 to 100)."""

    value: str
    count: int
    percent: float


@dataclass(frozen=True, slots=True)
class ColumnCard:
    """A column. ``labels`` are short words with a style; ``figures`` are names with values.

    ``bars`` is an SVG path of its histogram, "" where there is none. ``counted_on`` says how many
    rows the distribution was counted on, "" for all.
    """

    name: str
    new_name: str
    type: str
    labels: tuple[tuple[str, str], ...]
    nulls: str
    distinct: str
    range: tuple[str, str] | None
    bars: str
    tallest: int
    values: tuple[FrequentValue, ...]
    counted_on: str
    figures: tuple[tuple[str, str], ...]
    rules: tuple[str, ...]
    remarks: tuple[str, ...]
    sql: str
    becomes: tuple[RelationColumn, ...]


def column_cards(
    table: TableView, references: Sequence[Relationship], becomes: Lineage
) -> Iterator[ColumnCard]:
    """Yield the cards of a table's columns in the order of the source.

    ``references`` are those of the table to its parents, ``becomes`` says what the model makes of
    each column.
    """
    parents: dict[str, list[str]] = defaultdict(list)
    for reference in references:
        for name in () if reference.implied else reference.from_attributes:
            parents[name].append(reference.to_entity)
    for column in table.columns:
        name = column.measured.name
        relations = becomes.get((table.name, name), ())[:_MOST_RELATIONS]
        yield _card(column, table.entity.keys, parents[name], relations)


def _card(
    column: ColumnView,
    keys: Sequence[EntityKey],
    parents: Sequence[str],
    becomes: Sequence[RelationColumn],
) -> ColumnCard:
    measured, attribute = column.measured, column.attribute
    bins = () if measured.pii else measured.histogram
    return ColumnCard(
        name=measured.name,
        new_name=attribute.new_name or "",
        type=measured.type,
        labels=tuple(_labels(column, keys, parents)),
        nulls=_null_share(measured),
        distinct=_distinct(measured),
        range=_range(measured),
        bars=histogram_path(bins),
        tallest=max((bin_.count for bin_ in bins), default=0),
        values=tuple(_frequent_values(measured)),
        counted_on=_counted_on(measured),
        figures=tuple(_figures(measured)),
        rules=tuple(_rules(column, keys)),
        remarks=tuple(_remarks(column)),
        sql=attribute.evidence.sql,
        becomes=tuple(becomes),
    )


def _labels(
    column: ColumnView, keys: Sequence[EntityKey], parents: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield what a reader looks for first, each with the style of its label."""
    name = column.measured.name
    for key in keys:
        if name in key.attributes and key.kind == "primary":
            yield "key" if len(key.attributes) == 1 else "part of the key", "key"
    for parent in dict.fromkeys(parents):
        yield f"→ {clip(parent, _LONGEST_PARENT)}", "key"
    if column.measured.pii or column.attribute.pii:
        yield "personal", "warn"
    if _is_disguised(column.measured):
        yield f"really {column.measured.measured_type}", ""
    meaning = column.attribute.semantic_type
    if meaning and meaning != column.measured.type.lower():
        yield meaning.replace("_", " "), ""
    if column.attribute.measure is not None:
        yield f"{column.attribute.measure.additivity} measure", ""


def _is_disguised(column: ColumnProfile) -> bool:
    """Return whether every value really has another type than the one that it's stored in."""
    return (
        bool(column.measured_type) and column.measured_type != column.type and not is_code(column)
    )


def _null_share(column: ColumnProfile) -> str:
    if not column.rows:
        return "no rows"
    if not column.nulls:
        return "never null"
    if column.nulls == column.rows:
        return "always null"
    percent = 100 * column.nulls / column.rows
    # What isn't nothing and isn't everything never looks like it.
    shown = "<1" if percent < 1 else ">99" if percent > 99 else f"{percent:.0f}"
    return f"{shown}% null"


def _distinct(column: ColumnProfile) -> str:
    about = "" if column.distinct_exact else "about "
    present = column.rows - column.nulls
    if column.distinct_exact and 1 < column.distinct == present:
        return "all distinct"
    return f"{about}{column.distinct:,} distinct"


def _range(column: ColumnProfile) -> tuple[str, str] | None:
    if column.pii or column.min is None or column.max is None:
        return None
    return clip(column.min, _LONGEST_VALUE), clip(column.max, _LONGEST_VALUE)


def histogram_path(bins: Sequence[HistogramBin]) -> str:
    """Return the bars of a histogram as the data of an SVG path, in a fixed box."""
    tallest = max((bin_.count for bin_ in bins), default=0)
    if not tallest:
        return ""
    width = HISTOGRAM_WIDTH / len(bins)
    return "".join(
        f"M{place * width:.4g} {BAR_HEIGHT}v-{_bar_height(bin_.count, tallest):.3g}"
        f"h{width * 0.9:.3g}V{BAR_HEIGHT}z"
        for place, bin_ in enumerate(bins)
        if bin_.count
    )


def _bar_height(count: int, tallest: int) -> float:
    return max(_LEAST_BAR, BAR_HEIGHT * count / tallest)


def _frequent_values(column: ColumnProfile) -> Iterator[FrequentValue]:
    """Yield the most frequent values, unless each is as frequent as the others or it's personal."""
    if column.pii or (column.histogram and column.distinct > _FEW_VALUES):
        return
    rows = column.sample or column.rows
    for top in column.top_values:
        if top.count > 1:
            percent = 100 * top.count / rows if rows else 0.0
            yield FrequentValue(clip(top.value, _LONGEST_VALUE), top.count, percent)


def _counted_on(column: ColumnProfile) -> str:
    sample = column.statistics_sample if column.histogram else column.sample
    return "" if sample is None else f"counted on {counted(sample, 'sampled row')}"


def _figures(column: ColumnProfile) -> Iterator[tuple[str, str]]:
    yield "Rows", f"{column.rows:,}"
    yield "Null", f"{column.nulls:,}"
    yield "Distinct", f"{'' if column.distinct_exact else 'about '}{column.distinct:,}"
    if column.max_length is not None:
        shortest, longest = column.min_length, column.max_length
        length = f"{longest}" if shortest == longest else f"{shortest} to {longest}"
        average = "" if column.avg_length is None else f", {column.avg_length:g} on average"
        yield "Characters", f"{length}{average}"
    if column.pii:
        return
    for name, value in (("Minimum", column.min), ("Maximum", column.max)):
        if value is not None:
            yield name, clip(value, _LONGEST_VALUE)
    if column.mean is not None:
        yield "Mean", f"{'about ' if column.statistics_sample else ''}{shorten_number(column.mean)}"
    if (quantiles := column.quantiles) is not None:
        for name, value in (
            ("5%", quantiles.p05),
            ("25%", quantiles.p25),
            ("Median", quantiles.p50),
            ("75%", quantiles.p75),
            ("95%", quantiles.p95),
        ):
            is_exact = column.statistics_sample is None
            yield name, value if is_exact else f"about {shorten_number(value)}"


def _rules(column: ColumnView, keys: Sequence[EntityKey]) -> Iterator[str]:
    attribute = column.attribute
    if attribute.required:
        yield "It must not be null."
    for key in keys:
        if key.attributes == (attribute.name,) and key.kind != "candidate":
            yield "Each value occurs once."
            break
    if attribute.accepted_values and not column.measured.pii:
        values = ", ".join(attribute.accepted_values[:_MOST_ACCEPTED])
        left = len(attribute.accepted_values) - _MOST_ACCEPTED
        yield f"It must be one of: {values}{f' and {left:,} more' if left > 0 else ''}."
    if (conversion := attribute.conversion) is not None:
        spelled = f" ({conversion.format})" if conversion.format else ""
        yield f"It's converted to {conversion.to_type}{spelled}."


def _remarks(column: ColumnView) -> Iterator[str]:
    measured, attribute = column.measured, column.attribute
    if attribute.description:
        yield attribute.description
    if attribute.reason:
        yield attribute.reason
    if measured.semantic_reason and attribute.semantic_type:
        meaning = attribute.semantic_type.replace("_", " ")
        yield as_sentence(f"{meaning.capitalize()}: {measured.semantic_reason}")
    if attribute.measure is not None:
        additivity = attribute.measure.additivity.capitalize()
        yield as_sentence(f"{additivity} measure: {attribute.measure.reason}")
    if _is_disguised(measured):
        yield f"Every value is really {measured.measured_type}."
    if measured.pii:
        yield "Its values are hidden, since they are personal data."
    yield from measured.notes
