"""The types that columns of text really have, judged over every value rather than a sample."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb

from fluid_build.sources.files.delimited.affixes import Affixes, bare_number, find_affixes
from fluid_build.sources.files.delimited.month_names import find_named_months
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_values.conventions import (
    DATE_FORMATS,
    NO_ANSWERS,
    TRUTHS_NOTE,
    Conventions,
    Decision,
    Reading,
    coincidence,
    contested,
    decide,
    decide_alone,
    is_spelled_in_two_ways,
    may_coincide,
    settling_classes,
    sole_spellings,
)
from fluid_build.sources.text_values.conventions import settling_classes as classes_settling
from fluid_build.sources.text_values.personal_text import quotable, spelled_like
from fluid_build.sources.text_values.text_classes import (
    CLASSES,
    DUMPED_NULL,
    NULL_WORD,
    NULL_WORDS,
    TEXT,
    UNDECIDED,
    class_sql,
    common_class_sql,
    filled,
    values_of,
)
from fluid_build.text import clip, counted

# What in a file settles how its numbers and dates are read: a value, or how many of them.


def outvoted_columns(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    texts: Sequence[str | None],
    masks: Sequence[int],
) -> set[int]:
    """Return the positions of contested columns that too few of their own values settle.

    ``texts`` are the columns' values as SQL, None for a column whose text is gone; such a column
    counts as outvoted, so that it's read again as text.
    """
    outvoted = set()
    for position, contest in contested(masks).items():
        text = texts[position]
        if text is None:
            outvoted.add(position)
            continue
        row = connection.execute(
            f"SELECT count_if(class & {contest.settling} <> 0),"
            f" count_if(class & {contest.either} <> 0)"
            f" FROM (SELECT {class_sql('v')} AS class FROM (SELECT {text} AS v FROM {relation}))"
        ).fetchone() or (0, 0)
        if row[0] < contest.clearly * row[1]:
            outvoted.add(position)
    return outvoted


def example_of(
    connection: duckdb.DuckDBPyConnection, relation: str, name: str, text: str, reading: Reading
) -> str:
    """Return how a value is spelled that allows only this reading; empty if there is none.

    ``name`` and ``text`` are SQL: the column, and its values as they're classed.
    """
    settling = classes_settling(reading)
    if not settling or reading.type == "DATE":
        return ""
    row = connection.execute(
        f"SELECT shown FROM (SELECT {name} AS shown, {text} AS v FROM {relation})"
        f" WHERE {class_sql('v')} & {settling} <> 0 LIMIT 1"
    ).fetchone()
    return spelled_like(row[0]) if row else ""


def evidence_of(reading: Reading, example: str) -> str:
    """Write a sentence on why a column's own values allow but one convention."""
    if reading.spelling in DATE_FORMATS["dmy"]:
        return "Day first: some of its dates have a day above 12."
    if reading.spelling in DATE_FORMATS["mdy"]:
        return "Month first: some of its dates have a day above 12."
    mark = "comma" if reading.spelling == "," else "point"
    values = f"values spelled like {example}" if example else "some values"
    return f"Decimal {mark}: {values} allow no other reading."


def with_evidence(decision: Decision, columns: Sequence[str], examples: Mapping[int, str]) -> str:
    """Return a decision's note with the column that settled it, and how that one is spelled."""
    if decision.settled_by is None:
        return decision.note
    column = f"`{clip(columns[decision.settled_by], 60)}`"
    example = examples.get(decision.settled_by, "")
    having = f" has values spelled like {example}" if example else ""
    return f"{decision.note.removesuffix('.')}: {column}{having}."


_SAMPLE_CELLS = 1_000_000
_SAMPLE_ROWS = (500, 10_000)
_PER_QUERY = 40
_FEW_CELLS = 50_000
"""Cells up to which preparing a query takes longer than running it."""
_WORTH_A_NOTE = 0.9
_CLASS = class_sql("v")

_TYPE_PHRASES = {
    "BIGINT": "a whole number",
    "DOUBLE": "a number",
    "DATE": "a date",
    "TIMESTAMP": "a date and time",
    "TIMESTAMP WITH TIME ZONE": "a date and time",
    "TIME": "a time",
    "BOOLEAN": "true or false",
}


@dataclass(frozen=True, slots=True)
class TextColumn:
    """The verdict on a column: its type, and a sentence for the user.

    ``template`` is the SQL that reads a value, with ``{c}`` where the column stands, and ``plain``
    says that it is but a cast. ``spelling`` is the convention of its text, as in ``Reading``, and
    ``evidence`` a sentence on the values that settle it. ``is_blank`` says that there is no value.
    """

    type: str
    template: str
    note: str = ""
    plain: bool = True
    spelling: str = ""
    evidence: str = ""
    is_blank: bool = False

    def of(self, column: str) -> str:
        """Return the SQL that reads a value of a column, which is given as SQL itself."""
        return filled(self.template, column)


@dataclass(frozen=True, slots=True)
class Guess:
    """What the start of a column settles: the classes of its values there, and their reading.

    ``example`` is how a value is spelled there that allows no other reading.
    """

    classes: int
    reading: Reading
    example: str = ""

    @property
    def type(self) -> str:
        """The type that values are read as."""
        return self.reading.type

    def attempt(self, column: str) -> str:
        """Return the SQL of what ``value`` starts from.

        The value if it can be cast, else the text.
        """
        return filled(self._attempt, column)

    def value(self, column: str, attempted: str, otherwise: str) -> str:
        """Return the SQL that reads a value if it passes a test, and ``otherwise`` if it doesn't.

        ``attempted`` is the column that holds ``attempt``: casting costs more than all else.
        """
        attempt, template = self._attempt, self.reading.template
        read = attempted if self._is_cast else template
        tests = [class_.test for class_ in CLASSES.values() if class_.bit & self.reading.classes]
        # The class that takes in most values of a type comes last, and the first test that passes
        # spares the others.
        arms = " ".join(
            f"WHEN {test.replace(attempt, attempted) if self._is_cast else test} THEN {read}"
            for test in reversed(tests)
        )
        if written := self.reading.written:
            written = written.replace(attempt, attempted) if self._is_cast else written
            arms = f"WHEN NOT ({written}) THEN {otherwise} {arms}"
        if self.reading.usual:
            arms = f"WHEN {self.reading.usual} THEN {read} {arms}"
        return filled(f"CASE WHEN {{c}} IS NULL THEN NULL {arms} ELSE {otherwise} END", column)

    @property
    def _is_cast(self) -> bool:
        return self.reading.template.startswith("CAST({c} ")

    @property
    def _attempt(self) -> str:
        return f"TRY_{self.reading.template}" if self._is_cast else "{c}"


def guess(
    connection: duckdb.DuckDBPyConnection, start: str, columns: Sequence[str]
) -> dict[str, Guess]:
    """Return the columns that the first rows of a table settle by themselves, as far as these go.

    Each later value has to pass the guess's test. Columns with words for a missing value are left
    out, since these have to be counted.
    """
    guesses = {}
    for name, mask in zip(columns, _masks(connection, start, _quoted(columns)), strict=True):
        reading = decide_alone(mask).reading
        if reading is None or mask & NULL_WORD:
            continue
        column = quote(name)
        if may_coincide(mask, reading):
            reading = _spelled_alike(connection, start, column, reading)
        if reading:
            example = ""
            if is_spelled_in_two_ways(mask, reading):
                example = example_of(connection, start, column, column, reading)
            guesses[name] = Guess(mask, reading, example)
    return guesses


def _spelled_alike(
    connection: duckdb.DuckDBPyConnection, start: str, column: str, reading: Reading
) -> Reading | None:
    """Return a reading of dates or moments that takes only what is spelled like a table's start.

    None where these are spelled in several ways, and of numbers.
    """
    tests = sole_spellings(reading)
    if not tests:
        return None
    shape = f"regexp_replace({column}, '[0-9]', '_', 'g')"
    questions = ", ".join(f"bool_and({filled(test, column)})" for test in tests)
    row = connection.execute(
        f"SELECT min({shape}), max({shape}), {questions} FROM {start}"
    ).fetchone()
    least, most, *alike = row or (None, None)
    test = next((test for test, passed in zip(tests, alike, strict=True) if passed), "")
    if test:
        return replace(reading, written=test)
    return replace(reading, written=f"{{c}} LIKE {literal(least)}") if least == most else None


def sampled_rows(columns: int) -> int:
    """Say how many rows of a table with so many columns are enough for a guess."""
    least, most = _SAMPLE_ROWS
    return max(least, min(most, _SAMPLE_CELLS // max(1, columns)))


def infer(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    columns: Sequence[str],
    labels: Sequence[str],
    answers: Conventions = NO_ANSWERS,
    proven: Mapping[str, Guess] | None = None,
    text: Collection[str] = (),
) -> list[TextColumn]:
    """Return the type of each text column of a relation, such that every value of it fits.

    ``labels`` are what notes call the columns. ``proven`` are the columns that are no text any
    more: all their values passed a guess's test. Digits with a leading zero, and numbers of more
    digits than a type keeps, stay text, and so does what could be read in two ways
    (``conventions``). ``text`` are columns that stay text.
    """
    guessed = proven or {}
    masks = {name: guess.classes for name, guess in guessed.items()} | dict.fromkeys(text, TEXT)
    open_ = [name for name in columns if name not in masks]
    masks |= _classes_of(connection, relation, open_)
    affixes = _affixed(connection, relation, [name for name in open_ if masks[name] & TEXT], masks)
    texts = [_text_of(name, affixes) if name in open_ else None for name in columns]
    all_masks = [masks[name] for name in columns]
    outvoted = outvoted_columns(connection, relation, texts, all_masks)
    decisions = decide(all_masks, answers, outvoted)
    if any(decision.settled_by is not None for decision in decisions):
        # What one column says of another must hold against every number of the file.
        all_masks = _with_numbers_in_text(connection, relation, texts, all_masks)
        decisions = decide(all_masks, answers, outvoted)
    decisions = _without_coinciding(connection, relation, texts, all_masks, decisions)
    named = find_named_months(
        connection, relation, [name for name in open_ if values_of(masks[name]) == TEXT]
    )
    decisions = [
        Decision(named[name]) if name in named else decision
        for name, decision in zip(columns, decisions, strict=True)
    ]
    examples = {
        i: guessed[name].example
        if value is None
        else example_of(connection, relation, quote(name), value, decision.reading)
        for i, (name, value, decision) in enumerate(zip(columns, texts, decisions, strict=True))
        if decision.reading and is_spelled_in_two_ways(all_masks[i], decision.reading)
    }
    verdicts = []
    for i, (name, decision) in enumerate(zip(columns, decisions, strict=True)):
        described = replace(decision, note=with_evidence(decision, labels, examples))
        verdict = _verdict(connection, relation, name, masks[name], described, affixes.get(name))
        reading = decision.reading
        if reading and i in examples and masks[name] & settling_classes(reading):
            verdict = replace(verdict, evidence=evidence_of(reading, examples[i]))
        verdicts.append(verdict)
    return verdicts


def _without_coinciding(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    texts: Sequence[str | None],
    masks: Sequence[int],
    decisions: Sequence[Decision],
) -> list[Decision]:
    """Return the decisions, with text where values in two spellings would become one.

    Of truth values in several spellings it's only noted.
    """
    open_ = {
        i: coincidence(text, decision.reading)
        for i, (text, mask, decision) in enumerate(zip(texts, masks, decisions, strict=True))
        if text and decision.reading and may_coincide(mask, decision.reading)
    }
    if not open_:
        return list(decisions)
    questions = ", ".join(question for question, _ in open_.values())
    row = connection.execute(f"SELECT {questions} FROM {relation}").fetchone()
    notes = {
        i: replace(decisions[i], note=note) if note == TRUTHS_NOTE else Decision(note=note)
        for (i, (_, note)), coincide in zip(open_.items(), row or (), strict=True)
        if coincide
    }
    return [notes.get(i, decision) for i, decision in enumerate(decisions)]


def _with_numbers_in_text(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    texts: Sequence[str | None],
    masks: Sequence[int],
) -> list[int]:
    """Return the columns' classes with those of the numbers among text, such as ``46,88 EUR``."""
    of_text = [i for i, text in enumerate(texts) if text is not None and masks[i] & TEXT]
    numbers = _masks(connection, relation, [bare_number(texts[i] or "") for i in of_text])
    in_text = dict(zip(of_text, numbers, strict=True))
    return [mask | in_text.get(i, 0) for i, mask in enumerate(masks)]


def _quoted(columns: Sequence[str]) -> list[str]:
    return [quote(name) for name in columns]


def _text_of(name: str, affixes: Mapping[str, Affixes]) -> str:
    """Return the SQL of what a column's values are classed by."""
    return bare_number(quote(name)) if name in affixes else quote(name)


def _classes_of(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: Sequence[str]
) -> dict[str, int]:
    """Return the classes of each column's values: of a sample, and of all where that's open."""
    sampled = sampled_rows(len(columns))
    rows = _count_of(connection, relation, "true")
    if rows * len(columns) <= _FEW_CELLS:
        return _classes_of_few(connection, relation, columns)
    start = _masks(connection, f"(FROM {relation} LIMIT {sampled})", _quoted(columns))
    masks = dict(zip(columns, start, strict=True))
    if rows > sampled:
        again = _unsettled(connection, relation, columns, start)
        masks |= zip(again, _masks(connection, relation, _quoted(again)), strict=True)
    return masks


def _classes_of_few(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: Sequence[str]
) -> dict[str, int]:
    """Return the classes of each column's values; all tests are put to what few leave open."""
    common = _masks(connection, relation, _quoted(columns), common_class_sql("v"))
    masks = dict(zip(columns, common, strict=True))
    again = [name for name, mask in masks.items() if mask == UNDECIDED]
    return masks | dict(zip(again, _masks(connection, relation, _quoted(again)), strict=True))


def _affixed(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    columns: Sequence[str],
    masks: dict[str, int],
) -> dict[str, Affixes]:
    """Return the columns that are numbers but for what surrounds them, and update their classes."""
    affixes = find_affixes(connection, relation, columns)
    bare = [bare_number(quote(name)) for name in affixes]
    numbers = dict(zip(affixes, _masks(connection, relation, bare), strict=True))
    masks |= numbers
    return {name: found for name, found in affixes.items() if not numbers[name] & TEXT}


def _unsettled(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    columns: Sequence[str],
    masks: Sequence[int],
) -> list[str]:
    """Return the columns that the sample leaves open, or about which it was wrong."""
    guesses = [
        (name, decide_alone(mask), bool(mask & NULL_WORD))
        for name, mask in zip(columns, masks, strict=True)
    ]
    guessed = [
        (name, decision.reading, words) for name, decision, words in guesses if decision.reading
    ]
    wrong = [
        name
        for start in range(0, len(guessed), _PER_QUERY)
        for name in _misfitting(connection, relation, guessed[start : start + _PER_QUERY])
    ]
    return [name for name, decision, _ in guesses if decision.open or name in wrong]


def _masks(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    columns: Sequence[str],
    class_: str = _CLASS,
) -> list[int]:
    """For each column, given as SQL, the classes that its values belong to, as a sum of bits.

    ``class_`` is SQL for the class of ``v``.
    """
    if not columns:
        return []
    # One expression over all values, however many columns: compiling it is what takes time.
    cells = ", ".join(columns)
    rows = connection.execute(
        f"SELECT i, bit_or({class_}) FROM (SELECT unnest(range({len(columns)})) AS i,"
        f" unnest([{cells}]) AS v FROM {relation}) WHERE v IS NOT NULL GROUP BY i"
    ).fetchall()
    masks = {int(i): int(mask) for i, mask in rows}
    return [masks.get(i, 0) for i in range(len(columns))]


def _misfitting(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    guessed: Sequence[tuple[str, Reading, bool]],
) -> list[str]:
    """Return the columns for which the guess from the sample does not fit the whole.

    The last part of a guess says whether words for a missing value were met in the sample.
    """
    words = ", ".join(literal(word) for word in NULL_WORDS)
    tests = ", ".join(
        f"coalesce(bool_or(NOT ({_fits(reading, quote(name))})"
        + (f" AND {quote(name)} NOT IN ({words})), false)" if with_words else "), false)")
        for name, reading, with_words in guessed
    )
    row = connection.execute(f"SELECT {tests} FROM {relation}").fetchone()
    return [name for (name, _, _), wrong in zip(guessed, row or (), strict=True) if wrong]


def _fits(reading: Reading, column: str) -> str:
    """Return the test for a value of any class that a reading takes; ``column`` is SQL."""
    tests = " OR ".join(
        filled(class_.test, column) for class_ in CLASSES.values() if class_.bit & reading.classes
    )
    return f"({tests}) AND {filled(reading.written, column)}" if reading.written else tests


def _verdict(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    name: str,
    mask: int,
    decision: Decision,
    affixes: Affixes | None,
) -> TextColumn:
    column = quote(name)
    chosen = decision.reading
    if chosen is not None and affixes is not None:
        template = filled(chosen.template, bare_number("{c}"))
        chosen = replace(chosen, template=template, spelling=chosen.spelling or ".")
        decision = replace(decision, note=" ".join(filter(None, (affixes.note, decision.note))))
    if chosen is None:
        note = decision.note or _note_on_text(connection, relation, name, mask)
        if not mask & NULL_WORD:
            return TextColumn("VARCHAR", "{c}", note, is_blank=not mask)
        absent = _count_of(connection, relation, f"{column} = {literal(DUMPED_NULL)}")
        missing = _missing(absent, [DUMPED_NULL]) if absent else ""
        notes = " ".join(filter(None, (note, missing)))
        if not absent:
            return TextColumn("VARCHAR", "{c}", notes)
        return TextColumn("VARCHAR", f"nullif({{c}}, {literal(DUMPED_NULL)})", notes, plain=False)
    if not mask & NULL_WORD:
        plain = chosen.template.startswith("CAST({c} ")
        return TextColumn(chosen.type, chosen.template, decision.note, plain, chosen.spelling)
    words = ", ".join(literal(word) for word in NULL_WORDS)
    row = connection.execute(
        f"SELECT count(*), list(DISTINCT {column} ORDER BY {column}) FROM {relation}"
        f" WHERE {column} IN ({words})"
    ).fetchone()
    count, present = row or (0, [])
    template = f"CASE WHEN {{c}} NOT IN ({words}) THEN {{c}} END"
    note = " ".join(filter(None, (decision.note, _missing(count, present))))
    return TextColumn(chosen.type, filled(chosen.template, template), note, False, chosen.spelling)


def _missing(number: int, words: Sequence[str]) -> str:
    quoted = ", ".join(f"'{word}'" for word in words)
    verb = "was" if number == 1 else "were"
    return f"{counted(number, 'value')} ({quoted}) {verb} read as null."


def _count_of(connection: duckdb.DuckDBPyConnection, relation: str, condition: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {relation} WHERE {condition}").fetchone()
    return int(row[0]) if row else 0


def _note_on_text(
    connection: duckdb.DuckDBPyConnection, relation: str, name: str, mask: int
) -> str:
    """Return a sentence on the few values that keep a column from having a type."""
    values = values_of(mask)
    reading = decide_alone(mask & ~NULL_WORD & ~TEXT).reading
    if not values & TEXT or reading is None:
        return ""
    start = _odd_values(connection, f"(FROM {relation} LIMIT {_SAMPLE_ROWS[1]})", name)
    if not start.are_few:
        return ""
    odd = _odd_values(connection, relation, name)
    if not odd.are_few:
        return ""
    verb = "is" if odd.odd == 1 else "are"
    quoted = quotable(odd.example, is_personal=None)
    example = f" (such as {quoted!r})" if quoted else ""
    return (
        f"Read as text: {odd.odd:,} of {odd.total:,} values {verb}n't "
        f"{_TYPE_PHRASES[reading.type]}{example}."
    )


@dataclass(frozen=True, slots=True)
class _Odd:
    """How many values of a column are but text, of how many, and one of them."""

    total: int
    odd: int
    example: str

    @property
    def are_few(self) -> bool:
        return self.odd <= (1 - _WORTH_A_NOTE) * self.total


def _odd_values(connection: duckdb.DuckDBPyConnection, relation: str, name: str) -> _Odd:
    column = quote(name)
    row = connection.execute(
        f"SELECT count(*), count(*) FILTER (kind = {TEXT}),"
        f" coalesce(min({column}) FILTER (kind = {TEXT}), '') FROM"
        f" (SELECT {column}, {class_sql(column)} AS kind FROM {relation}"
        f" WHERE {column} IS NOT NULL)"
    ).fetchone()
    return _Odd(*row) if row else _Odd(0, 0, "")
