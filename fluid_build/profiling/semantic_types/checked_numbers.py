"""Identifiers that their form gives away, under whatever name: check digits, and licence plates.

A number has a right check digit by chance once in ten. Twelve different ones that all have it are
no chance, whatever their column is called.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from stdnum import luhn

from fluid_build.profiling.semantic_types.column_facts import PreparedColumn, SemanticType
from fluid_build.profiling.semantic_types.patterns import Test, is_valid_number, share

_FEWEST_CHECKED: Final = 12
"""Different values: that so many have one right digit of ten is chance once in 10^10 columns."""
_FEWEST_PLATES: Final = 30
"""Different values: a form leaves out letters, so that of random codes one in two fits."""
_PASSING: Final = 0.95
"""The share that must pass: a few are mistyped."""
_GLANCE: Final = 3
_CONFIDENCE: Final = 0.9  # Nothing says whose numbers they are.
_LENGTHS: Final = 3
"""Of German plates; codes of one kind are as long as each other."""
_NAMED_OTHERWISE: Final = frozenset({"isbn", "ean", "iban", "money", "phone", "percent", "vin"})
"""Concepts of names that say what the numbers are."""


@dataclass(frozen=True, slots=True)
class _Form:
    """Identifiers of one kind: their type, what to call them, their shape, and a test for one.

    ``fewest`` different values are needed, of so many ``lengths``.
    """

    type: str
    what: str
    shape: re.Pattern[str]
    test: Callable[[str], bool]
    pii: bool = True
    fewest: int = _FEWEST_CHECKED
    lengths: int = 1


_WEIGHTS_OF_TRAVEL: Final = (7, 3, 1)


def _travel_digit(text: str) -> str:
    """Return the check digit of passports and identity cards (ICAO 9303)."""
    values = (0 if char == "<" else int(char, 36) for char in text.upper())
    weighted = (value * _WEIGHTS_OF_TRAVEL[i % 3] for i, value in enumerate(values))
    return str(sum(weighted) % 10)


def _is_travel_line(value: str) -> bool:
    """Return whether a value is the second line of a passport, with three check digits right."""
    parts = (value[:9], value[9]), (value[13:19], value[19]), (value[21:27], value[27])
    return all(_travel_digit(part) == digit for part, digit in parts)


def _is_travel_number(value: str) -> bool:
    return _travel_digit(value[:-1]) == value[-1]


def _is_health_insurance(value: str) -> bool:
    """Return whether a German health insurance number has its check digit right."""
    digits = f"{int(value[0], 36) - 9:02d}{value[1:9]}"
    products = (int(digit) * (1 + i % 2) for i, digit in enumerate(digits))
    return sum(product // 10 + product % 10 for product in products) % 10 == int(value[9])


def _compact(test: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda value: test(re.sub(r"[ .-]", "", value))


def _any(_: str) -> bool:
    return True


def _form(type_: str, what: str, shape: str, test: Test | str = _any) -> _Form:
    check = partial(is_valid_number, test) if isinstance(test, str) else _compact(_as_bool(test))
    return _Form(type_, what, re.compile(shape, re.IGNORECASE), check)


def _as_bool(test: Test) -> Callable[[str], bool]:
    return lambda value: bool(test(value))


def _national(country: str, shape: str, module: str) -> _Form:
    return _form("national_id", f"national numbers ({country})", shape, module)


def _plate(shape: str, *, lengths: int = 1) -> _Form:
    pattern = re.compile(shape)
    return _Form("license_plate", "licence plates", pattern, _any, True, _FEWEST_PLATES, lengths)


_TRAVEL_LETTERS: Final = "CFGHJKLMNPRTVWXYZ"
_FRENCH: Final = "[A-HJ-NP-TV-Z]"
_ITALIAN: Final = "[A-HJ-NPR-TV-Z]"
_INDIAN_STATES: Final = (
    "AN|AP|AR|AS|BR|CG|CH|DD|DL|DN|GA|GJ|HP|HR|JH|JK|KA|KL|LA|LD|MH|ML|MN|MP|MZ|NL|OD|OR|PB|PY|RJ"
    "|SK|TN|TR|TS|UK|UP|WB"
)
_FORMS: Final = (
    # Device numbers begin with the two digits of the body that gave them out.
    _form(
        "device_id",
        "device numbers (IMEI)",
        r"(?:0[0-9]|10|3[0-9]|4[459]|5[0-4]|86|91|9[89])\d{4}[ -]?\d{2}[ -]?\d{6}[ -]?\d",
        luhn.is_valid,
    ),
    _form("device_id", "numbers of SIM cards", r"89\d{16,18}", luhn.is_valid),
    _form("national_id", "German health insurance numbers", r"[A-Z]\d{9}", _is_health_insurance),
    # England's begin with 4, 6 or 7; book numbers have the same check digit and mostly don't.
    _form("national_id", "NHS numbers", r"[467]\d{2}([ -]?)\d{3}\1\d{4}", "gb.nhs"),
    _form(
        "national_id",
        "lines of passports",
        r"[A-Z\d<]{9}\d[A-Z<]{3}\d{7}[MFX<]\d{7}[A-Z\d<]{14}[\d<]\d",
        _is_travel_line,
    ),
    _form(
        "national_id",
        "numbers of German passports or identity cards",
        rf"[{_TRAVEL_LETTERS}][{_TRAVEL_LETTERS}\d]{{8}}\d",
        _is_travel_number,
    ),
    _national("Poland", r"\d{11}", "pl.pesel"),
    _national("Germany, tax", r"[1-9]\d{10}", "de.idnr"),
    _national("Turkey", r"[1-9]\d{10}", "tr.tckimlik"),
    _national("Brazil", r"\d{11}", "br.cpf"),
    _national("Norway", r"\d{11}", "no.fodselsnummer"),
    _national("Belgium", r"\d{11}", "be.nn"),
    _national("Netherlands", r"\d{9}", "nl.bsn"),
    _national("India", r"[2-9]\d{3} ?\d{4} ?\d{4}", "in_.aadhaar"),
    _national("South Africa", r"\d{13}", "za.idnr"),
    _national("Korea", r"\d{6}-?[1-8]\d{6}", "kr.rrn"),
    _national("France", r"[12]\d{12}(?:\d{2})?", "fr.nir"),
    _national("China", r"\d{17}[\dX]", "cn.ric"),
    _plate(r"[A-ZÄÖÜ]{1,3}[- ][A-Z]{1,2} \d{1,4}[EH]?", lengths=_LENGTHS),
    _plate(r"[A-HJ-PR-Y][A-HJ-PR-Y](?:0[2-9]|[1-7]\d) [A-HJ-PR-Z]{3}"),
    _plate(rf"{_FRENCH}{{2}}-\d{{3}}-{_FRENCH}{{2}}"),
    _plate(r"\d{4} ?[BCDFGHJ-NPR-TV-Z]{3}"),
    _plate(rf"{_ITALIAN}{{2}} ?\d{{3}} ?{_ITALIAN}{{2}}"),
    _plate(rf"(?:{_INDIAN_STATES})[ -]?\d{{1,2}}[ -]?[A-Z]{{1,3}}[ -]?\d{{4}}"),
)
_WRITTEN: Final = (
    _national("Brazil", r"\d{3}\.\d{3}\.\d{3}-\d{2}", "br.cpf"),
    _national("Italy", r"[A-Z]{6}\d{2}[A-EHLMPR-T]\d{2}[A-Z]\d{3}[A-Z]", "it.codicefiscale"),
    _national("Spain", r"\d{8}-?[A-HJ-NP-TV-Z]", "es.dni"),
    _national("Spain, foreigners", r"[XYZ]-?\d{7}-?[A-Z]", "es.nie"),
    _national("Mexico", r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z\d]\d", "mx.curp"),
    _national("France", r"[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?\d[\dAB] ?\d{3} ?\d{3} ?\d{2}", "fr.nir"),
    _national("Switzerland", r"756\.?\d{4}\.?\d{4}\.?\d{2}", "ch.ssn"),
    _national("China", r"\d{17}[\dX]", "cn.ric"),
    _national("Finland", r"\d{6}[-+A]\d{3}[\dA-Z]", "fi.hetu"),
    _national("Sweden", r"(?:\d{2})?\d{6}[-+]\d{4}", "se.personnummer"),
    _national("Belgium", r"\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}", "be.nn"),
    _national("Chile", r"\d{1,2}\.\d{3}\.\d{3}-[\dK]", "cl.rut"),
)
"""National numbers that few other numbers look like: a few with right check digits are enough."""
_OTHERS: Final = (
    _Form("ean", "article numbers", re.compile(r"\d{8}|\d{12,14}"), partial(is_valid_number, "ean"),
          pii=False),
    _Form("checked_number", "numbers that end in a check digit", re.compile(r"\d{9,19}"),
          luhn.is_valid, pii=False),
)  # fmt: skip
"""Numbers of things: nobody is known by them, and nobody adds them up."""


def find_personal_number(column: PreparedColumn) -> SemanticType | None:
    """Return the type of a column whose values have the form of people's or devices' numbers."""
    return _find(column, _FORMS)


def national_numbers(values: Sequence[str], *, bare: bool) -> tuple[str, float]:
    """Return which national numbers most of the values are, and the share of them.

    ``bare`` allows numbers of digits alone, which only the check digit tells from others.
    """
    sample = values[:_MOST_SAMPLED]
    forms = (*_WRITTEN, *(form for form in _FORMS if bare and form.type == "national_id"))
    shares = (
        (form.what, share(partial(_has_form, form), sample))
        for form in forms
        if any(map(form.shape.fullmatch, sample[:_GLANCE]))
    )
    return max(shares, key=lambda found: found[1], default=("national numbers", 0.0))


_MOST_SAMPLED: Final = 30


def find_checked_number(column: PreparedColumn) -> SemanticType | None:
    """Return the type of a column whose values all end in a check digit."""
    return _find(column, _OTHERS)


def _find(column: PreparedColumn, forms: tuple[_Form, ...]) -> SemanticType | None:
    values = column.values
    if column.family not in ("text", "integer") or len(values) < _FEWEST_CHECKED:
        return None
    if column.name.concepts & _NAMED_OTHERWISE:
        return None
    glance = values[:_GLANCE]
    for form in forms:
        # One look at a few values spares most tests.
        if len(values) < form.fewest or not any(map(form.shape.fullmatch, glance)):
            continue
        passing = share(partial(_has_form, form), values)
        if passing >= _PASSING and len({len(value) for value in values}) >= form.lengths:
            reason = f"{round(passing * len(values))} of {len(values)} values are {form.what}."
            return SemanticType(form.type, form.pii, _CONFIDENCE, reason)
    return None


def _has_form(form: _Form, value: str) -> bool:
    return form.shape.fullmatch(value) is not None and form.test(value)
