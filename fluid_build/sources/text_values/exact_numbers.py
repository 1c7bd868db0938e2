"""The type that keeps every number of a column of text: each value can be written back from it.

A number in text may be a code: digits that nobody counts with. What tells is its spelling.

- A leading zero (``007``), a plus sign (``+49``), or an exponent that has neither a point before it
  nor a sign (``61E8``) makes the column codes.
- Zeros at the end of the decimals stay where all values have as many decimals (``1.50``, ``2.00``).
  ``1.10`` beside ``1.1`` or ``1.2`` is a version number, and so is ``5.0`` beside ``5``.

Numbers without decimals are BIGINT up to 18 digits, then HUGEINT; others are DOUBLE up to the 15
digits that it always keeps, then DECIMAL. What has no type with enough digits stays text.
"""

from dataclasses import dataclass

from fluid_build.sources.sql import literal

EXACT_DIGITS = 15
"""A DOUBLE gives so many digits back, whatever they are (IEEE 754)."""
_BIGINT_DIGITS = 18
"""Every number of so many digits is a BIGINT, and some of 19."""
_MOST_DIGITS = 38
"""The most digits of a DECIMAL in every warehouse, and the most that all fit a HUGEINT."""
_MOST_POWER = 290
"""A DOUBLE of 15 digits with a greater power of ten may lose some."""

_SPACES = "[ '\u00a0\u202f\u2019]"
_SPACED = f"^-?[0-9]{{1,3}}{_SPACES}[0-9]{{3}}"
_UNGROUPED_DIGITS = 3
"""Numbers of so many digits have no thousands to part."""

MOST_DECIMALS = 9
"""Where decimals are counted in bits, and where what was counted so is checked, more count as so
many: each count costs a bit."""

NUMBER_TYPES = ("BIGINT", "HUGEINT", "DOUBLE", "DECIMAL")
"""What the types of numbers in text begin with."""

PLAIN_NUMBER = "[-+]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)"
"""Digits are matched in one way only: in two, a long text takes the square of its length."""
NUMBER = f"{PLAIN_NUMBER}(?:[eE][-+]?[0-9]{{1,3}})?"
"""A DOUBLE has no exponent of more digits."""
CODE = "[-+]?0[0-9].*|[+].*|-?[0-9]+[eE][0-9]+"
"""A number that is written as only codes are."""


@dataclass(frozen=True, slots=True)
class NumberFacts:
    """What the numbers of a column of text are like, as far as it decides their type.

    ``digits`` and ``whole`` are the most digits of a value, and the most before its point, without
    leading zeros. ``fewest_decimals`` and ``most_decimals`` are of values with a point, None where
    there is none. ``power`` is the greatest exponent without its sign, None where there is none.
    ``is_padded`` says that decimals end in a zero, other than the one of ``2.0``.
    """

    digits: int
    whole: int
    fewest_decimals: int | None
    most_decimals: int | None
    power: int | None
    is_padded: bool
    has_codes: bool


def facts_sql(text: str) -> tuple[str, ...]:
    """Return SQL aggregates over a column of trimmed numbers in text, for ``read_facts``."""
    mantissa = f"regexp_replace({text}, '[eE].*', '')"
    digits = f"ltrim(translate({mantissa}, '-+.', ''), '0')"
    whole = f"ltrim(split_part(ltrim({mantissa}, '-+'), '.', 1), '0')"
    has_point = f"contains({text}, '.')"
    decimals = f"length(split_part({mantissa}, '.', 2))"
    power = f"abs(TRY_CAST(regexp_extract({text}, '[eE]([-+]?[0-9]+)$', 1) AS INTEGER))"
    return (
        f"coalesce(max(length({digits})), 0)",
        f"coalesce(max(length({whole})), 0)",
        f"min({decimals}) FILTER ({has_point})",
        f"max({decimals}) FILTER ({has_point})",
        f"max({power})",
        f"coalesce(bool_or(regexp_matches({mantissa}, '[.][0-9]+0$')), FALSE)",
        f"coalesce(bool_or(regexp_full_match({text}, {literal(CODE)})), FALSE)",
    )


def read_facts(row: tuple[object, ...]) -> NumberFacts:
    """Return the facts from a row of ``facts_sql``."""
    digits, whole, fewest, most, power, is_padded, has_codes = row
    return NumberFacts(
        digits=_figure(digits) or 0,
        whole=_figure(whole) or 0,
        fewest_decimals=_figure(fewest),
        most_decimals=_figure(most),
        power=_figure(power),
        is_padded=bool(is_padded),
        has_codes=bool(has_codes),
    )


def _figure(value: object) -> int | None:
    return None if value is None else int(str(value))


def are_versions(facts: NumberFacts) -> bool:
    """Return whether zeros at the end of the decimals tell values apart, as in versions."""
    return facts.is_padded and facts.fewest_decimals != facts.most_decimals


def coincide_sql(text: str, mark: str = ".") -> str:
    """Return an SQL aggregate: whether the column has one number whole and with zeros, 5 and 5.0.

    ``mark`` is its decimal mark.
    """
    is_round = f"regexp_full_match({text}, {literal(f'-?[0-9]+(?:[{mark}]0*)?')})"
    number = f"split_part({text}, {literal(mark)}, 1)"
    spellings = f"count(DISTINCT {text}) FILTER ({is_round})"
    return f"{spellings} > count(DISTINCT {number}) FILTER ({is_round})"


def are_unevenly_spaced_sql(text: str) -> str:
    """Return an SQL aggregate: whether only some long numbers of a column are grouped by spaces.

    One program groups all numbers above 999, or none. ``123 456`` beside ``5551234`` are numbers
    that people dial, and ``1 000`` beside ``1000`` two spellings of one value.
    """
    is_spaced = f"regexp_matches({text}, {literal(_SPACED)})"
    whole = f"regexp_extract({text}, '[0-9]+')"
    bare = f"regexp_replace({text}, {literal(_SPACES)}, '', 'g')"
    return (
        f"coalesce(bool_or({is_spaced}) AND (bool_or(length({whole}) > {_UNGROUPED_DIGITS})"
        f" OR count(DISTINCT {text}) > count(DISTINCT {bare})), FALSE)"
    )


def are_codes_sql(text: str, mark: str = ".") -> str:
    """Return an SQL aggregate: whether numbers in text are codes, as their spelling tells.

    ``mark`` is their decimal mark. It asks the same as ``NumberFacts``, but takes all numbers of
    ``MOST_DECIMALS`` and more decimals for numbers of so many.
    """
    after = f"regexp_extract({text}, {literal(f'[{mark}]([0-9]*)')}, 1)"
    decimals = f"least(greatest(length({after}), 1), {MOST_DECIMALS})"
    has_mark = f"FILTER (contains({text}, {literal(mark)}))"
    is_padded = f"regexp_matches({text}, {literal(f'[{mark}][0-9]+0([eE]|$)')})"
    return (
        f"(coalesce(bool_or(regexp_full_match({text}, {literal(CODE)})), FALSE)"
        f" OR coalesce(bool_or({is_padded}) AND"
        f" min({decimals}) {has_mark} <> max({decimals}) {has_mark}, FALSE)"
        f" OR {coincide_sql(text, mark)})"
    )


def exact_type(facts: NumberFacts) -> str | None:
    """Return the type that keeps all digits of numbers with these facts; None if none does."""
    if facts.most_decimals is None and facts.power is None:
        if facts.digits <= _BIGINT_DIGITS:
            return "BIGINT"
        return "HUGEINT" if facts.digits <= _MOST_DIGITS else None
    if facts.digits <= EXACT_DIGITS:
        return "DOUBLE" if (facts.power or 0) <= _MOST_POWER else None
    scale = facts.most_decimals or 0
    if facts.power is not None or facts.whole + scale > _MOST_DIGITS:
        return None
    return f"DECIMAL({_MOST_DIGITS},{scale})"
