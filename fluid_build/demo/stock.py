"""Everything the shop has before anybody orders: categories, products, stores, vouchers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fluid_build.demo.chance import Chance, by_rank, with_ean_digit
from fluid_build.demo.data import (
    COUNTRIES,
    DEPARTMENTS,
    FINISHES,
    PRODUCT_LINES,
    SHELVES,
    SHIPPING_ONLY,
    STORES,
    Shelf,
)
from fluid_build.demo.days import DAYS, date
from fluid_build.demo.people import ascii_letters

_OCCASIONS = ("SPRING", "SUMMER", "HELLO", "BACK", "XMAS", "VIP", "GARDEN", "TEA", "LUMEN", "MOVE")


@dataclass(frozen=True, slots=True)
class Product:
    """A product; ``deleted`` ones were removed from the table although they had been sold."""

    id: int
    name: str
    shelf: Shelf
    cents: int
    deleted: bool


def country_rows() -> Iterator[Sequence[object]]:
    """Yield the countries."""
    for country in COUNTRIES.values():
        yield country.code, country.name, country.currency
    yield from SHIPPING_ONLY


def category_rows() -> Iterator[Sequence[object]]:
    """Yield the departments, then their shelves."""
    for number, name in enumerate(DEPARTMENTS, 1):
        yield number, None, name, ascii_letters(name)
    for shelf in SHELVES:
        slug = ascii_letters(f"{shelf.department}/{shelf.name.replace(' & ', '-')}")
        yield shelf.number, shelf.number // 100, shelf.name, slug


def make_products(chance: Chance) -> list[Product]:
    """Return all products that were ever sold, in the order of their numbers."""
    products = []
    number = 1_000
    for _ in range(1_500):
        number += 1 if chance.happens(0.8) else chance.between(2, 12)
        shelf = chance.pick(SHELVES)
        parts = chance.pick(PRODUCT_LINES), chance.pick(shelf.goods), chance.pick(FINISHES)
        name, cents = " ".join(filter(None, parts)), _price(chance, shelf)
        products.append(Product(number, name, shelf, cents, deleted=chance.happens(0.004)))
    return products


def _price(chance: Chance, shelf: Shelf) -> int:
    """Return a price in cents, more often low, that ends as shops like it."""
    share = chance.between(0, 999) * chance.between(0, 999) / 1_000_000
    whole = int(shelf.low + (shelf.high - shelf.low) * share)
    return whole * 100 + chance.pick((99, 99, 95, 50, 0))


def product_rows(
    chance: Chance, products: Sequence[Product], supplier_numbers: Sequence[object]
) -> Iterator[Sequence[object]]:
    """Yield the products that weren't deleted."""
    suppliers = by_rank(supplier_numbers, 0.7)
    for product in products:
        if product.deleted:
            continue
        grams = chance.between(2, 90) * chance.between(5, 90)
        ean, supplier = with_ean_digit(f"40{chance.digits(10)}"), chance.pick_weighted(suppliers)
        cost = product.cents * chance.between(38, 71) // 100
        # Some were never weighed, and SQLite takes text in a column of numbers.
        weight = "n/a" if chance.happens(0.006) else grams
        identity = product.id, ean, product.name, product.shelf.number, supplier
        launched, active = date(chance.between(-1_500, 700)), chance.happens(0.87)
        yield *identity, product.cents / 100, cost / 100, weight, launched, active


def store_rows(chance: Chance) -> Iterator[Sequence[object]]:
    """Yield the stores, opened in the years before."""
    for number, store in enumerate(STORES, 1):
        yield number, f"{store[0]} store", *store, date(-chance.between(90, 6_000))


def voucher_rows(chance: Chance) -> Iterator[Sequence[object]]:
    """Yield the vouchers with the weeks in which they are valid."""
    for number in range(90):
        series, occasion = divmod(number, len(_OCCASIONS))
        code = f"{_OCCASIONS[occasion]}{chance.digits(2)}{'ABCDEFGHI'[series]}"
        start = chance.between(0, DAYS - 60)
        end = start + chance.pick((7, 14, 30, 60))
        yield code, chance.pick((5, 10, 10, 15, 20, 25)), date(start), date(end)
