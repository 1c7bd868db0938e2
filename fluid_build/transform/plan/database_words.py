"""What databases write differently in the SQL of a star: moments, days, and their numbers.

A word is an SQL expression by a name, which the macros call (``macros/*.sql``). A plan puts its
arguments into DuckDB's SQL, and a dbt project has a macro for each, in the target's dialect.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fluid_build.transform.plan.elements import LOAD_DATE

BEGINNING = "TIMESTAMP '0001-01-01 00:00:00'"
END = "TIMESTAMP '9999-12-31 00:00:00'"
LAST_MOMENT = "TIMESTAMP '9999-12-30 00:00:00'"
"""A moment at which every current version is valid: for events without a day, or with a later one.
It's before ``END``, because ``valid_to`` is exclusive."""
LOAD_DAY = f"CAST({LOAD_DATE} AS DATE)"
_FOR_EVER = 99_999_999
"""The key of infinity (negative: minus infinity): no day has a month 99."""

PLACES = ("place_of_it", "place_of_other")
"""What stands for the arguments of a word in its SQL."""
_IT, _OTHER = PLACES


@dataclass(frozen=True, slots=True)
class Word:
    """An SQL expression with a name; ``says`` is what it is."""

    name: str
    arguments: tuple[str, ...]
    says: str
    sql: str

    def __call__(self, *values: object) -> str:
        """Return the SQL in DuckDB's dialect, with values for the arguments."""
        sql = self.sql
        for place, value in zip(PLACES, values, strict=False):
            sql = sql.replace(place, str(value))
        return sql


day_of_week = Word(
    "weekday_of",
    ("day",),
    "the weekday of a day, 1 for Monday to 7",
    f"((DATE_DIFF('day', DATE '1900-01-01', {_IT}) % 7) + 7) % 7 + 1",
)
_DIGITS = "\n    + ".join(
    f"CAST(\n        EXTRACT(\n            {part} FROM {_IT}\n        ) AS BIGINT\n    ){factor}"
    for part, factor in (("YEAR", " * 10000"), ("MONTH", " * 100"), ("DAY", ""))
)
day_key = Word(
    "day_key",
    ("day",),
    "the key of a day in the calendar, 20260131",
    # The day of a load takes most of a line.
    f"COALESCE(\n    {_DIGITS},\n"
    f"    CASE\n        WHEN {_IT} > DATE '1900-01-01'\n            THEN {_FOR_EVER}\n"
    f"        ELSE -{_FOR_EVER}\n    END\n"
    ")",
)
_DAY_WORDS = tuple(
    Word(name, ("day",), f"the {what} of a day", f"CAST(EXTRACT({part} FROM {_IT}) AS INTEGER)")
    for name, what, part in (
        ("year_of", "year", "YEAR"),
        ("quarter_of", "quarter", "QUARTER"),
        ("month_of", "month", "MONTH"),
        ("day_of_month", "number in its month", "DAY"),
    )
)
WORDS = (
    Word("load_day", (), "the day of the load", LOAD_DAY),
    Word("beginning", (), "since when the first version of a member is valid", BEGINNING),
    Word("end_of_time", (), "until when the last version of a member is valid", END),
    Word("last_moment", (), "a moment at which every last version is valid", LAST_MOMENT),
    Word(
        # Two plain comparisons find a version by it: an engine joins by hash with these, and row
        # by row with an OR.
        "within_versions",
        ("moment",),
        "a moment kept within the time that versions span",
        "GREATEST(\n"
        "    LEAST(\n"
        f"        COALESCE(CAST({_IT} AS TIMESTAMP), {LAST_MOMENT}),\n"
        f"        {LAST_MOMENT}\n"
        "    ),\n"
        f"    {BEGINNING}\n"
        ")",
    ),
    Word("as_day", ("moment",), "the day of a moment", f"CAST({_IT} AS DATE)"),
    *_DAY_WORDS,
    day_of_week,
    day_key,
    Word(
        "time_key",
        ("moment",),
        "the key of a time of the day, 1405 for 14:05",
        f"CAST(EXTRACT(HOUR FROM {_IT}) AS BIGINT) * 100\n"
        f"+ CAST(EXTRACT(MINUTE FROM {_IT}) AS BIGINT)",
    ),
    Word(
        "first_of_year",
        ("day",),
        "the first day of a day's year",
        f"CAST(DATE_TRUNC('YEAR', {_IT}) AS DATE)",
    ),
    Word(
        "is_of_four_digits",
        ("day",),
        "whether a day's year is one of 1 to 9999",
        f"EXTRACT(YEAR FROM {_IT}) BETWEEN 1 AND 9999",
    ),
    Word(
        "days_after",
        ("day", "days"),
        "the day so many days after another",
        f"CAST({_IT} + CAST({_OTHER} AS INTEGER) AS DATE)",
    ),
    Word(
        "days_between",
        ("first", "last"),
        "how many days one is after another",
        f"DATE_DIFF('day', {_IT}, {_OTHER})",
    ),
    Word("whole", ("number",), "a whole number", f"CAST({_IT} AS INTEGER)"),
    Word("remainder", ("number", "divisor"), "the rest of a division", f"{_IT} % {_OTHER}"),
    Word(
        # Without the remainder, every dialect divides exactly.
        "whole_part",
        ("number", "divisor"),
        "how often a number is in another",
        f"CAST(({_IT} - {_IT} % {_OTHER}) / {_OTHER} AS INTEGER)",
    ),
    Word("row_as_json", ("rows",), "a row as JSON", f"CAST(TO_JSON({_IT}) AS VARCHAR)"),
    Word(
        "json_text",
        ("document", "name"),
        "a value of a JSON document, as text",
        f"JSON_EXTRACT_STRING({_IT}, '$.{_OTHER}')",
    ),
)
TYPE_WORDS: Mapping[str, tuple[str, str]] = {
    "text_type": ("VARCHAR", "the type of texts"),
    "truth_type": ("BOOLEAN", "the type of what is true or false"),
}
"""The words for types: DuckDB's name of each, and what it is."""


def duckdb_words() -> dict[str, Callable[..., str]]:
    """Return what the words are in DuckDB's dialect, by their names."""
    types = {name: _constant(type_) for name, (type_, _) in TYPE_WORDS.items()}
    return {**{word.name: word for word in WORDS}, **types}


def _constant(text: str) -> Callable[[], str]:
    return lambda: text
