"""What the demo shop's rows are made of, read from ``shop.toml``."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Country:
    """A country's names and conventions; ``shop.toml`` explains the patterns."""

    code: str
    name: str
    currency: str
    share: float
    postcode: str
    phone: str
    address: str
    first_names: Sequence[str]
    last_names: Sequence[str]
    cities: Sequence[str]
    streets: Sequence[str]


@dataclass(frozen=True)
class Shelf:
    """A category of the shop: its number, its department, and its prices in euros."""

    number: int
    department: str
    name: str
    low: int
    high: int
    goods: Sequence[str]


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split(", "))


_DATA = tomllib.loads((files(__package__) / "shop.toml").read_text(encoding="utf-8"))

TABLES: Mapping[str, str] = _DATA["tables"]
COUNTRIES = {
    code: Country(
        code,
        **country["about"],
        first_names=_split(country["first_names"]),
        last_names=_split(country["last_names"]),
        cities=_split(country["cities"]),
        streets=_split(country["streets"]),
    )
    for code, country in _DATA["countries"].items()
}
SHIPPING_ONLY = [country.split(":") for country in _split(_DATA["shipping"]["without_customers"])]
"""Code, name and currency of the countries without a customer."""
DEPARTMENTS = tuple(_DATA["shelves"])
SHELVES = [
    Shelf(100 * at + number, department, name, shelf["low"], shelf["high"], _split(shelf["goods"]))
    for at, (department, shelves) in enumerate(_DATA["shelves"].items(), 1)
    for number, (name, shelf) in enumerate(shelves.items(), 1)
]
STORES: Sequence[tuple[str, str, float, float]] = [
    (city, *place) for city, place in _DATA["stores"].items()
]
"""City, country, latitude, longitude; a store's number is its place in this list."""
PRODUCT_LINES = _split(_DATA["products"]["lines"])
FINISHES = _split(_DATA["products"]["finishes"])
REVIEW_OPENINGS = {stars: _DATA["reviews"][str(stars)] for stars in range(1, 6)}
REVIEW_MIDDLES: Sequence[str] = _DATA["reviews"]["middles"]
REVIEW_CLOSINGS: Sequence[str] = _DATA["reviews"]["closings"]
