"""The sentences of a model that claim something of the data, each with the query that shows it.

What is neither here nor among the decisions may not be said: a sentence that nobody has a query for
is untrue sooner or later.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import duckdb

from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.data_vault.elements import Link, Satellite
from fluid_build.modeling.element import ModelPart, SourceColumn
from fluid_build.modeling.logical import LogicalModel

_PROSE = frozenset({"reason", "grain", "variant_reason"})
_SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[A-Z])")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a model, with the part that has it, and what it's about."""

    text: str
    part: ModelPart
    table: str
    column: str
    references: tuple[Relationship, ...]
    """All relationships of the model, by which a query joins tables."""


def sentences(model: LogicalModel) -> Iterator[Sentence]:
    """Return what a model says, without the descriptions that the source gave.

    The reason of a relationship is said where it's used, too; it's checked where it stands.
    """
    references = {relationship.reason for relationship in model.conceptual.relationships}
    for part, text, table, column in _texts(model, "", ""):
        found = Sentence(text, part, table, column, model.conceptual.relationships)
        is_repeated = found.text in references and not isinstance(found.part, Relationship)
        if found.text and not is_repeated:
            yield found


def _texts(part: ModelPart, table: str, column: str) -> Iterator[tuple[ModelPart, str, str, str]]:
    table, column = _table(part) or table, _column(part) or column
    for name in type(part).model_fields:
        value = getattr(part, name)
        if name == "osi":
            continue
        if isinstance(value, str) and name in _PROSE:
            for text in _SENTENCE_END.split(value):
                yield part, text.strip(), table, column
        elif isinstance(value, ModelPart):
            yield from _texts(value, table, column)
        elif isinstance(value, tuple):
            for item in value:
                if isinstance(item, ModelPart):
                    yield from _texts(item, table, column)


def _table(part: ModelPart) -> str:
    """Return the table that a part was made of: its own, or that of its first column."""
    columns: Sequence[SourceColumn] = getattr(part, "source_columns", ())
    tables: Sequence[str] = getattr(part, "mapped_source_tables", ())
    for name in ("entity_name", "table"):
        if value := getattr(part, name, ""):
            return str(value)
    if tables:
        return tables[0]
    return columns[0].table if columns else str(getattr(part, "name", ""))


def _column(part: ModelPart) -> str:
    columns: Sequence[SourceColumn] = getattr(part, "source_columns", ())
    return columns[0].column if columns else str(getattr(part, "name", ""))


Query = Callable[[re.Match[str], Sentence], str]
"""Writes SQL for a sentence: one row with one value, true where the sentence is."""


def _q(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _names(text: str) -> list[str]:
    """Return the names of a list: "a, b and c"."""
    return [name for name in re.split(r", | and | or ", text) if name]


def _n(text: str) -> int:
    return int(text.replace(",", ""))


def _unique(table: str, columns: Sequence[str]) -> str:
    listed = ", ".join(map(_q, columns))
    return (
        f"select count(*) = count(distinct ({listed})) from {_q(table)}"
        f" where ({listed}) is not null"
    )


def _no_nulls(table: str, columns: Sequence[str]) -> str:
    anywhere = " or ".join(f"{_q(column)} is null" for column in columns)
    return f"select count(*) = 0 from {_q(table)} where {anywhere}"


def _both(first: str, second: str) -> str:
    return f"select ({first}) and ({second})"


def _in_order(table: str, earlier: str, later: str) -> str:
    """Nearly all rows, as the rule has it: a few dates are mistyped."""
    return (
        f"select count(*) filter ({_q(earlier)} <= {_q(later)})"
        f" >= 0.95 * count(*) from {_q(table)}"
        f" where {_q(earlier)} is not null and {_q(later)} is not null"
    )


def _measured(match: re.Match[str], sentence: Sentence) -> str:
    rows, about, days, date = match.groups()
    exact = f"count(distinct {_q(date)}) between {0.9 if about else 1} * {_n(days)}"
    exact += f" and {1.1 if about else 1} * {_n(days)}"
    return f"select count(*) = {_n(rows)} and {exact} from {_q(sentence.table)}"


def _milestone(match: re.Match[str], sentence: Sentence) -> str:
    later, nulls, rows, earlier = match.groups()
    counted = (
        f"select count(*) = {_n(rows)} and count(*) - count({_q(later)}) = {_n(nulls)}"
        f" from {_q(sentence.table)}"
    )
    return _both(counted, _in_order(sentence.table, earlier, later))


def _case(match: re.Match[str], sentence: Sentence) -> str:
    later, nulls, earlier = match.groups()
    counted = f"select count(*) - count({_q(later)}) = {_n(nulls)} from {_q(sentence.table)}"
    return _both(counted, _in_order(sentence.table, earlier, later))


def _begins(match: re.Match[str], sentence: Sentence) -> str:
    orders = [_in_order(sentence.table, match[1], later) for later in _names(match[2])]
    return f"select {' and '.join(f'({order})' for order in orders)}"


def _every_row(match: re.Match[str], sentence: Sentence) -> str:
    missing = " and ".join(f"count({_q(name)}) < count(*)" for name in _names(match[2]))
    return f"select count({_q(match[1])}) = count(*) and {missing} from {_q(sentence.table)}"


def _identified(match: re.Match[str], sentence: Sentence) -> str:
    columns = _names(match[1])
    return _both(_unique(sentence.table, columns), _no_nulls(sentence.table, columns))


def _natural(match: re.Match[str], sentence: Sentence) -> str:
    counted = f"select count(*) = {_n(match[2])} from {_q(sentence.table)}"
    return _both(_identified(match, sentence), counted)


def _key(match: re.Match[str], sentence: Sentence) -> str:
    columns = list(getattr(sentence.part, "attributes", ()))
    return _both(_unique(sentence.table, columns), _no_nulls(sentence.table, columns))


def _key_counted(match: re.Match[str], sentence: Sentence) -> str:
    return _both(
        _key(match, sentence), f"select count(*) = {_n(match[1])} from {_q(sentence.table)}"
    )


def _grain(match: re.Match[str], sentence: Sentence) -> str:
    return _unique(sentence.table, _names(match[1]))


def _reference(match: re.Match[str], sentence: Sentence) -> str:
    """Every value that isn't null has a match, or as many rows as the evidence says."""
    reference = sentence.part
    assert isinstance(reference, Relationship), sentence.text
    pairs = zip(reference.from_attributes, reference.to_attributes, strict=True)
    same = " and ".join(f"c.{_q(a)}::varchar = p.{_q(b)}::varchar" for a, b in pairs)
    filled = " and ".join(f"c.{_q(name)} is not null" for name in reference.from_attributes)
    orphans = (
        f"from {_q(reference.from_entity)} c where {filled} and not exists"
        f" (select 1 from {_q(reference.to_entity)} p where {same})"
    )
    return f"select count(*) = {reference.evidence.orphans} {orphans}"


def _whole_numbers(match: re.Match[str], sentence: Sentence) -> str:
    column = _q(sentence.column)
    return (
        f"select count(distinct {column}) = {_n(match[1])} and min({column}) = {_n(match[2])}"
        f" and max({column}) = {_n(match[3])} and count(*) filter ({column} % 1 <> 0) = 0"
        f" from {_q(sentence.table)}"
    )


def _shares(match: re.Match[str], sentence: Sentence) -> str:
    column = _q(sentence.column)
    return f"select min({column}) >= -100 and max({column}) <= 100 from {_q(sentence.table)}"


def _empty(match: re.Match[str], sentence: Sentence) -> str:
    return f"select count({_q(sentence.column)}) = 0 from {_q(sentence.table)}"


def _same(type_: str, match: re.Match[str], sentence: Sentence) -> str:
    return (
        f"select count(*) = 0 from {_q(sentence.table)}"
        f" where {_q(sentence.column)}::{type_} <> {_q(match[1])}::{type_}"
    )


def _product(match: re.Match[str], sentence: Sentence) -> str:
    """As many rows as the sentence says show the formula, to a cent or a rounded unit price."""
    table = _q(sentence.table)
    result, left, operator, right = match[1], match[2], match[3], match[4]
    sign = "*" if operator == "times" else "+"
    rows = _n(match[5] or match[6])
    return (
        f"select count(*) filter (abs({_q(result)} - {_q(left)} {sign} {_q(right)})"
        f" <= 0.01 * greatest(1, abs({_q(result)}))) >= {rows} from {table}"
    )


def _rows(match: re.Match[str], sentence: Sentence) -> str:
    return f"select count(*) = {_n(match[1])} from {_q(sentence.table)}"


def _levels(match: re.Match[str], sentence: Sentence) -> str:
    """Rows are followed from the top: no circle is entered."""
    columns, rows, levels, roots, circular = match.groups()
    names = tuple(name.removeprefix(f"{sentence.table}.") for name in _names(columns))
    (loop,) = (
        r
        for r in sentence.references
        if r.from_entity == r.to_entity == sentence.table and r.from_attributes == names
    )
    pairs = list(zip(loop.from_attributes, loop.to_attributes, strict=True))
    same = " and ".join(f"c.{_q(ours)} = p.{_q(theirs)}" for ours, theirs in pairs)
    other = " or ".join(f"c.{_q(theirs)} <> p.{_q(theirs)}" for _, theirs in pairs)
    table = f"(select rowid as row_number, * from {_q(sentence.table)})"
    steps = (
        "select c.row_number as child, p.row_number as parent"
        f" from {table} c left join {table} p on {same} and ({other})"
    )
    return (
        f"with recursive steps as ({steps}), reached as ("
        "select child, 1 as level from steps where parent is null union all"
        " select s.child, r.level + 1 from steps s join reached r on s.parent = r.child)"
        f" select count(*) = {_n(rows)} - {_n(circular or '0')} and max(level) = {_n(levels)}"
        f" and count(*) filter (level = 1) = {_n(roots)} from reached"
    )


def _listed_days(match: re.Match[str], _sentence: Sentence) -> str:
    day = f"{_q(match[2])}::date"
    return (
        f"select count(distinct {day}) = datediff('day', min({day}), max({day})) + 1"
        f" from {_q(match[1])}"
    )


def _times(match: re.Match[str], sentence: Sentence) -> str:
    moment = f"{_q(match[1])}::timestamp"
    finite = f"filter (where isfinite({moment}))"
    return (
        f"select count(distinct (hour({moment}), minute({moment}))) {finite} = {_n(match[2])}"
        f" and count(distinct hour({moment})) {finite} = {_n(match[3])}"
        f" from {_q(sentence.table)}"
    )


def _several(match: re.Match[str], sentence: Sentence) -> str:
    table, one, others = match.groups()
    listed = ", ".join(map(_q, _names(one)))
    repeats = f"select count(*) > count(distinct ({listed})) from {_q(table)}"
    return _both(repeats, _unique(table, [*_names(one), *_names(others)]))


def _repeats(match: re.Match[str], sentence: Sentence) -> str:
    return f"select count(*) > count(distinct {_q(match[1])}) from {_q(sentence.table)}"


def _in_link(match: re.Match[str], sentence: Sentence) -> str:
    part = sentence.part
    if isinstance(part, Link):
        columns = [column.column for column in part.source_columns]
    else:
        assert isinstance(part, Satellite) and part.via is not None, sentence.text
        columns = [*part.via.columns, *part.multi_active_keys]
    return _unique(sentence.table, columns)


def _parts(match: re.Match[str], sentence: Sentence) -> str:
    return _unique(sentence.table, [*_names(match[1]), *_names(match[2])])


def _nulls(match: re.Match[str], sentence: Sentence) -> str:
    nulls, rows = match.groups() if match.re.groups == 2 else (None, match[1])
    expected = _n(nulls) if nulls else (_n(rows) if match[0].startswith("All") else 0)
    return (
        f"select count(*) = {_n(rows)} and count(*) - count({_q(sentence.column)}) = {expected}"
        f" from {_q(sentence.table)}"
    )


def _sum_of_lines(match: re.Match[str], sentence: Sentence) -> str:
    """As many headers of several lines as the sentence says have the sum of their lines."""
    lines, amount, rows = match[1], match[2], _n(match[3] or match[4])
    joined = next(
        reference
        for reference in sentence.references
        if (reference.from_entity, reference.to_entity) == (lines, sentence.table)
    )
    pairs = zip(joined.from_attributes, joined.to_attributes, strict=True)
    on = " and ".join(f"l.{_q(a)} = h.{_q(b)}" for a, b in pairs)
    return (
        f"select count(*) >= {rows} from (select any_value(h.{_q(sentence.column)}) as total,"
        f" sum(l.{_q(amount)}) as summed from {_q(lines)} l join {_q(sentence.table)} h on {on}"
        " group by h.rowid having count(*) > 1) where abs(total - summed) <= 0.01"
    )


def _steps(table: str, before: str, step: str) -> str:
    """The rows of a table, each with what a column was in the period before."""
    period, members = step.rstrip(".").split(" for each ")
    order = f"partition by {', '.join(map(_q, _names(members)))} order by {_q(period)}"
    return f"(select *, lag({_q(before)}) over ({order}) as before from {_q(table)})"


def _carried(match: re.Match[str], sentence: Sentence) -> str:
    column, carried, rows, step = match[1], match[2], _n(match[3] or match[4]), match[5]
    same = f"abs({_q(column)} - before) <= 0.01"
    steps = _steps(sentence.table, carried, step)
    return f"select count(*) filter ({same}) >= {rows} from {steps}"


def _steady(match: re.Match[str], sentence: Sentence) -> str:
    column = _q(sentence.column)
    change = f"avg(abs({column} - before)) <= 0.15 * avg(abs({column}))"
    steps = _steps(sentence.table, sentence.column, match[2])
    return f"select count(before) = {_n(match[1])} and {change} from {steps}"


def _shared_out(match: re.Match[str], sentence: Sentence) -> str:
    columns, share, whole, rows = match[1], match[2], match[3], _n(match[4] or match[5])
    return (
        f"select count(*) >= {rows} from (select sum({_q(share)}) as total from"
        f" {_q(sentence.table)} group by {', '.join(map(_q, _names(columns)))}"
        f" having count(*) > 1) where abs(total - {whole}) <= 0.005 * {whole}"
    )


_ADDITIVITY = r"^(?:(?:Additive|Semi-additive|Non-additive)(?: within one \S+)?: )?"

CLAIMS: tuple[tuple[str, Query], ...] = (
    (r"^Its ([\d,]+) rows? measure members at (about )?([\d,]+) values? of (\S+)\.$", _measured),
    (r"milestones: (.+), null in ([\d,]+) of ([\d,]+) rows?, comes after (.+)\.$", _milestone),
    (
        r"^A case: .+ how far it has come, and (.+), null in ([\d,]+) rows?, comes after (.+)\.$",
        _case,
    ),
    (r"^The event begins with (.+); (.+) comes? later\.$", _begins),
    (r"^Every row has (.+), but not (.+)\.$", _every_row),
    (r"^(.+) identif(?:y|ies) its rows(?:: unique|: declared|$)", _identified),
    (
        r"^The natural key (.+) is preferred to .+: it's unique and never null in ([\d,]+) rows?,",
        _natural,
    ),
    (r"^unique (?:and never null|together)", _key),
    (r"^Unique (?:together )?and never null in ([\d,]+) rows?\.$", _key_counted),
    (r"^One row for each [^:]+: (.+)\.$", _grain),
    (r"^No two rows have the same ([^,]+(?:, [^,]+)*?)(?:, so that .+)?\.$", _grain),
    (r"^the names .+ (?:match|of the rows have a match)$", _reference),
    (
        _ADDITIVITY + r"([\d,]+) different whole numbers from (-?[\d,]+) to (-?[\d,]+) look",
        _whole_numbers,
    ),
    (_ADDITIVITY + r"its values are shares", _shares),
    (r"^It's empty\.$", _empty),
    (r"^The same moment as (.+) in all ([\d,]+) rows\.$", partial(_same, "timestamp")),
    (
        r"as (\S+) is (\S+) (times|plus) (\S+) in"
        r" (?:all ([\d,]+) rows|([\d,]+) of [\d,]+ rows) that show it\.?$",
        _product,
    ),
    (
        r"the sum of (\S+?)\.(\S+) in (?:all ([\d,]+) rows|([\d,]+) of [\d,]+ rows) with several",
        _sum_of_lines,
    ),
    (
        r"a level, as (\S+) is the (\S+) before it in"
        r" (?:all ([\d,]+)|([\d,]+) of [\d,]+) steps of (.+)$",
        _carried,
    ),
    (r"a level, as it changes little in ([\d,]+) steps of (.+)$", _steady),
    (
        r"^It shares out each (.+): (\S+) adds up to (\d+) in"
        r" (?:all ([\d,]+)|([\d,]+) of [\d,]+) with several rows\.$",
        _shared_out,
    ),
    (r"^A code list of ([\d,]+) rows?: a short key and its meaning\.", _rows),
    (r"^They identify each of the ([\d,]+) rows, but no key is declared\.$", _rows),
    (r"all ([\d,]+) rows are the closure of the hierarchy", _rows),
    (
        r"^By (.+), ([\d,]+) rows are on ([\d,]+) levels below ([\d,]+) without a parent\."
        r"(?: ([\d,]+) of its rows lead into a circle, which is cut: is_cyclic says where\.)?$",
        _levels,
    ),
    (r"^All ([\d,]+) rows? (?:is|are) null\.$", _nulls),
    (r"^([\d,]+) of ([\d,]+) rows? (?:is|are) null\.$", _nulls),
    (r"^Never null in ([\d,]+) rows?\.$", _nulls),
    (r"^(?:Its rows link|Several rows belong to) .*; .+ distinguish(?:es)? them\.$", _in_link),
    (r"^(.+) identif(?:y|ies) what its rows are parts of, and (.+) distinguish", _parts),
    (r"^The time of (.+), which is in the calendar: the same moment\.$", partial(_same, "date")),
    (r"^The time of (\S+): ([\d,]+) different minutes in (\d+) hours of the day\.$", _times),
    (r"^The day of (.+) in all rows\.$", partial(_same, "date")),
    (r"^(\S+)\.(\S+) has each day from its first to its last\.$", _listed_days),
    (r"^(\S+) has several rows for one (.+); (.+) tells? them apart\.$", _several),
    (r"^(?:Overwritten: )?(\S+) repeats, and rows with the same one are read as", _repeats),
)
DECISIONS = (
    # What the model's own structure shows.
    r"refers? to it\.$",
    r"^It refers to \w+\.$",
    r"refers? to .+: (?:declared by the source|the names .+ ha(?:s|ve) a match)\.$",
    r"^[Dd]eclared (?:by the source|NOT NULL\.|as a key\.)$",
    r"^No table refers to it(?:\.|, and it links .+)$",
    r"names its rows, so it's there to be looked up",
    r"^(?:The|One) (?:day|month's first day|entity|columns|version|key|original|full|parent|date) ",
    r"^The weighting factor: ",
    r"^One (?:calendar|dimension|fact|row for each (?:pair|row|.+ on which it runs)) ?",
    r"^One row for each .+ and each one above it, and itself\.$|^It's in a key stored as text",
    r"^\d+ facts(?: share conformed dimensions|, each with its own dimensions)",
    r"^A (?:column|junk dimension|property|snowflake) ",
    r"^It (?:has|links|only links|adds details|describes|keeps|identifies|pairs) ",
    r"^it would have the same",
    r"^Inherited from .+, by the reference to it\.$",
    r"^Its key consists of the keys of ",
    r"^Its columns are copied into the dimensions|^It's also kept as a dimension",
    r"^The business key is looked up in ",
    r"^The table (?:has its own key|holds only references, to )",
    r"^All (?:other )?descriptive columns of ",
    r"^Personal data of .+ in a satellite of its own, ",
    r"has no descriptive columns; this records when",
    r"^The driving key is |^what belongs to one event would have to be ",
    r"^The (?:proof|source has its own calendar|calendar that runs|combination is the member)",
    r"^[Ii]ts rows link .+; nothing refers to |^Other tables refer to .+, and none to ",
    r"^Its rows link .+ with what .+ identif(?:y|ies)\.$|^only the name suggests it, and the rows",
    r"^all rows of one .+ would be loaded again with each new one$",
    r"^its rows link |^they can't be joined with a calendar|^Each day from ",
    r"^The member (?:above, by .+|that is below, or the same)\.$",
    r"^each query of what is below a member would|^the levels have no names of their own",
    # What was read into names and types, and what follows from that.
    r"is (?:the only date of the row that is|read as)",
    r"^Each row is (?:an event that links .+; nothing refers to|one event with its measures)",
    r"^(?:Overwritten|Versioned): ",
    r"^One load can't show ",
    r"^It's read as ",
    r"is a day of its own, and .+ bound a period\.$",
    r"^It ends what starts at ",
    r"^A calendar: each row is a period of time, the same for everybody\.$",
    r"^The parts of a calendar and what they're called, the same for everybody\.$",
    r"^An event with lines: .* are read as its lines\.$",
    r"^The (?:other )?descriptive columns of .*split by the rate of change that they're expected",
    r"looks? generated by the source, and (?:no other unique column|.* may be unique only within)",
    r"^The natural key .+ (?:identifies its rows too, but only .+ is shared"
    r"|is preferred to .+: it's declared unique)",
    r"shows? .+ without a date, so each load records it\.$",
    r"^The keys of .+ are of the same kind|^A kind of what ",
    r"^Its rows are totals of |^An aggregate of ",
    r"^Several rows belong to one row of .+; nothing refers to ",
    _ADDITIVITY + r"'\w+' (?:adds up|is|of one period|says what moved)",
    _ADDITIVITY + r"(?:a sum of|a '\w+' may be|a level adds up|each row is read as)",
    _ADDITIVITY + r"the table holds a state",
    r"^(?:no column counts|no name, formula|the key names|the table's name says a state)",
    r"^(?:a part isn't known by itself|such a number means little|each row shows one value)",
    r"is more credible$|^the evidence isn't strong enough$",
    # What was counted by a query that stands beside it.
    r"Named alike, and [\d,]+ rows of [\d,]+ have a value that occurs there\.$",
    r"has a flag for each weekday ",
)
"""Sentences that state a decision, or what the model itself shows: there is no query for them."""

_DECISIONS = tuple(map(re.compile, DECISIONS))
_CLAIMS = tuple((re.compile(pattern), query) for pattern, query in CLAIMS)


def claim(sentence: Sentence) -> str | None:
    """Return the query that shows what a sentence claims of the data; None where it claims none."""
    for pattern, query in _CLAIMS:
        if match := pattern.search(sentence.text):
            return query(match, sentence)
    return None


def is_true(connection: duckdb.DuckDBPyConnection, query: str) -> bool:
    row = connection.execute(query).fetchone()
    return row is not None and bool(row[0])


def is_decision(sentence: Sentence) -> bool:
    return any(pattern.search(sentence.text) for pattern in _DECISIONS)
