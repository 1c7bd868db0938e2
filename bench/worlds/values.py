"""Values of keys and attributes, by what the column is about."""

import datetime
import random
import string
import uuid
from decimal import Decimal

from bench.semantic_samples import GIVEN, LAST, SENTENCES, STREETS

Values = list[object]
WHOLE_NUMBERS = frozenset({"INTEGER", "BIGINT"})
_FIRST_DAY = datetime.date(2012, 1, 1)
_DAYS = 4000
_WORDS = (
    "north south blue prime alto nova vera luna terra delta mira solo arca vento porta kern"
    " stella marco rio sol rex lux omega tessa polar atlas ruby cobra hill lake stone"
).split()
_SPOKEN = ("EN", "DE", "FR", "ES", "IT", "PT")
_STATUSES = (
    ("open", "closed", "pending"), ("A", "I"), ("new", "active", "blocked", "done"), ("0", "1", "9")
)  # fmt: skip
_COLORS = ("red", "blue", "green", "black", "white", "grey")


def surrogates(rng: random.Random, habit: str, start: int, count: int) -> Values:
    """Return ``count`` values of a surrogate key; ``start`` keeps disjoint ranges apart."""
    if habit == "uuid":
        return [str(uuid.UUID(int=rng.getrandbits(128), version=4)) for _ in range(count)]
    if habit == "sparse":
        numbers, number = [], rng.randint(1, 50)
        for _ in range(count):
            numbers.append(number)
            number += 1 if rng.random() < 0.7 else rng.randint(2, 30)
        return list(numbers)
    first = {"dense": 1, "from zero": 0, "disjoint": start, "large": start * 7919}[habit]
    return list(range(first, first + count))


def codes(rng: random.Random, entity: str, count: int, lookup: bool) -> Values:
    """Return ``count`` distinct codes of one pattern."""
    initials = "".join(word[0] for word in entity.split("-")).upper() + entity[1].upper()
    letters = string.ascii_uppercase
    patterns = ["letters", "initials", "padded"] if lookup else ["initials", "padded", "mixed"]
    pattern = rng.choice(patterns)
    if pattern == "padded":
        width, step = len(str(count)) + rng.randint(0, 4), rng.choice((1, 1, 5, 10))
        return [f"{number * step:0{width + 1}d}" for number in range(1, count + 1)]
    if pattern == "initials":
        dash = rng.choice(("", "-"))
        width = max(3, len(str(count)))
        return [f"{initials}{dash}{number:0{width}d}" for number in range(1, count + 1)]
    used: dict[str, None] = {}
    length = 3 if lookup and count > 60 else 2 if lookup else 4
    while len(used) < count:
        code = "".join(rng.choices(letters, k=length))
        used[code if pattern == "letters" else f"{code}{rng.randint(1, 99)}"] = None
    return list(used)


def counter_values(rng: random.Random, counter: str, runs: list[int]) -> tuple[str, Values]:
    """Return the type and values of a column that numbers the rows of runs of these lengths."""
    values: Values = []
    if counter == "year":
        for length in runs:
            first = rng.randint(1990, max(1990, 2024 - length))
            values += range(first, first + length)
        return "INTEGER", values
    if counter == "month":
        for length in runs:
            first = rng.randint(24_180, 24_290 - min(length, 100))
            values += [month // 12 * 100 + month % 12 + 1 for month in range(first, first + length)]
        return "INTEGER", values
    if counter == "date":
        step = rng.choice((1, 7, 30, 90))
        for length in runs:
            first = _FIRST_DAY + datetime.timedelta(days=rng.randint(0, _DAYS // 30) * 30)
            values += [first + datetime.timedelta(days=step * place) for place in range(length)]
        return "DATE", values
    if counter == "language":
        spoken = [_SPOKEN[: min(length, len(_SPOKEN))] for length in runs]
        return "VARCHAR", [language for languages in spoken for language in languages]
    if counter == "code":
        letters = rng.random() < 0.4 and max(runs, default=0) <= len(string.ascii_uppercase)
        for length in runs:
            values += string.ascii_uppercase[:length] if letters else _padded(length)
        return "VARCHAR", values
    step = rng.choice((1, 1, 1, 10)) if counter in {"line", "sequence"} else 1
    for length in runs:
        values += [step * place for place in range(1, length + 1)]
    return "INTEGER", values


def zero_padded(values: Values, width: int) -> Values:
    """Return whole numbers as text of at least this many digits."""
    return [None if value is None else f"{value:0{width}d}" if width else str(value)
            for value in values]  # fmt: skip


def _padded(length: int) -> list[str]:
    return [f"{place:03d}" for place in range(1, length + 1)]


def attribute_values(
    rng: random.Random, attribute: str, language: str, count: int
) -> tuple[str, Values]:
    """Return the type and values of an attribute, by the last word of its name."""
    word = attribute.rsplit("-", 1)[-1]
    if word in {"date", "time"}:
        return _moments(rng, is_time=word == "time" or rng.random() < 0.15, count=count)
    if word in _WHOLE:
        low, high = _WHOLE[word]
        high = rng.choice((high, max(low + 2, high // 4)))
        return "INTEGER", [_small(rng, low, high) for _ in range(count)]
    if word in _MONEY:
        top = rng.choice((90, 900, 9000, 90_000))
        if rng.random() < 0.5:
            return "DOUBLE", [round(rng.uniform(0, top), 2) for _ in range(count)]
        return "DECIMAL", [Decimal(rng.randint(0, top * 100)).scaleb(-2) for _ in range(count)]
    if word in {"status", "type", "sex", "relation", "color", "test", "operation"}:
        if rng.random() < 0.25:
            kinds = rng.randint(2, 6)
            return "INTEGER", [rng.randint(1, kinds) for _ in range(count)]
        pool = {"color": _COLORS, "sex": ("M", "F")}.get(word) or rng.choice(_STATUSES)
        return "VARCHAR", [rng.choice(pool) for _ in range(count)]
    if word in {"active", "deleted"}:
        return "BOOLEAN", [rng.random() < 0.8 for _ in range(count)]
    return "VARCHAR", [_text(rng, word, language, row) for row in range(count)]


_WHOLE = {
    "quantity": (1, 50), "age": (18, 90), "score": (0, 100), "count": (0, 300), "level": (1, 5),
    "year": (1950, 2024), "rank": (1, 20), "number": (1, 99), "capacity": (10, 500),
    "minutes": (1, 90), "points": (0, 120), "wins": (0, 30), "losses": (0, 30),
    "duration": (1, 240), "size": (1, 400), "version": (1, 9), "page": (40, 900),
    "population": (100, 90_000),
    "vote": (0, 60), "day": (0, 90), "position": (1, 90_000), "credit": (1, 12), "visit": (1, 8),
    "goals": (0, 40), "assists": (0, 40), "month": (1, 12), "grade": (1, 6),
}  # fmt: skip
_MONEY = frozenset(
    "price amount total cost salary budget balance premium limit income charge value weight height"
    " percent rate discount tax distance area dose reserve mean max min deaths".split()
)


def _small(rng: random.Random, low: int, high: int) -> int:
    """Draw from a range, small numbers more often."""
    return low + int((high - low + 1) * rng.random() ** 1.6)


def _moments(rng: random.Random, *, is_time: bool, count: int) -> tuple[str, Values]:
    days = [_FIRST_DAY + datetime.timedelta(days=rng.randint(0, _DAYS)) for _ in range(count)]
    if not is_time:
        return "DATE", list(days)
    midnight = datetime.time()
    return "TIMESTAMP", [
        datetime.datetime.combine(day, midnight) + datetime.timedelta(seconds=rng.randint(0, 86399))
        for day in days
    ]


def _text(rng: random.Random, word: str, language: str, row: int) -> str:
    names = language if language in GIVEN else "en"
    if word in {"email", "login"}:
        login = f"{rng.choice(_WORDS)}.{rng.choice(_WORDS)}{row}"
        return f"{login}@example.org" if word == "email" else login
    if word == "phone":
        return f"0{rng.randint(20, 99)} {rng.randint(100_000, 9_999_999)}"
    if word == "postcode":
        return f"{rng.randint(1000, 99_999):05d}"
    if word == "street":
        form = rng.choice(STREETS.get(language, STREETS["en"]))
        place = rng.choice(_WORDS).title()
        return form.format(n=rng.randint(1, 400), m=rng.randint(1, 60), w=place)
    if word in {"text", "description", "note", "reason"}:
        return rng.choice(SENTENCES)
    if word == "code":
        return f"{rng.choice(string.ascii_uppercase)}{rng.randint(1000, 99_999)}"
    if word in {"author", "person"}:
        return f"{rng.choice(GIVEN[names].split())} {rng.choice(LAST[names].split())}"
    if word in {"unit", "result"}:
        return rng.choice(("kg", "g", "l", "pc", "m"))
    suffix = f" {row}" if rng.random() < 0.7 else ""
    return f"{rng.choice(_WORDS)} {rng.choice(_WORDS)}".title() + suffix
